//! Snapshots of the diagram with everything in it, in each language.

use trace_viz::diagram::View;
use trace_viz::diagram::render::{dot, mermaid, svg};

use super::diagrams::everything;

#[test]
fn everything_in_dot() {
    insta::assert_snapshot!(dot(&everything()));
}

#[test]
fn everything_in_mermaid() {
    insta::assert_snapshot!(mermaid(&everything()).expect("fits"));
}

#[test]
fn everything_in_svg() {
    insta::assert_snapshot!(svg(&everything()));
}

#[test]
fn chains_run_down() {
    let mut chain = everything();
    chain.view = View::Calls;
    assert!(dot(&chain).contains("rankdir=\"TB\""));
    assert!(mermaid(&chain).expect("fits").starts_with("flowchart TB\n"));
}
