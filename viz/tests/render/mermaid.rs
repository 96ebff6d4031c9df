//! Tests Mermaid with its own parser.

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use trace_viz::diagram::render::{MAX_MERMAID_CHARS, MAX_MERMAID_EDGES, MermaidError, mermaid};

use super::diagrams::{any_diagram, everything, wide};

/// Number of random diagrams that the parser reads.
const RANDOM_DIAGRAMS: usize = 300;

/// Returns the folder of Node modules with Mermaid's parser. If there is none, reports that tests are skipped.
pub(crate) fn modules() -> Option<PathBuf> {
    let what = "Mermaid does not judge the texts";
    trace_needs::node(what)?;
    trace_needs::node_modules(&["mermaid", "jsdom"], what)
}

/// Checks all files of a folder with Mermaid's parser.
pub(crate) fn hold(modules: &Path, folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render/mermaid.mjs");
    let output = Command::new("node").arg(script).arg(modules).arg(folder).output().expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn any_diagram_is_valid_mermaid() {
    let Some(modules) = modules() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: String, text: String| std::fs::write(folder.path().join(name), text).expect("writes");
    write("everything".to_owned(), mermaid(&everything()).expect("fits"));
    write("wide".to_owned(), mermaid(&wide(100)).expect("fits"));
    let mut runner = TestRunner::deterministic();
    for index in 0..RANDOM_DIAGRAMS {
        let diagram = any_diagram().new_tree(&mut runner).expect("a diagram").current();
        write(format!("random-{index:03}"), mermaid(&diagram).expect("fits"));
    }
    hold(&modules, folder.path());
}

#[test]
fn what_mermaid_would_not_draw_is_an_error() {
    let many = wide(400);
    assert_eq!(mermaid(&many), Err(MermaidError::TooManyEdges { edges: 798 }));
    let mut long = wide(250);
    assert!(long.edges.len() <= MAX_MERMAID_EDGES);
    for node in &mut long.nodes {
        node.label = vec!["\"".repeat(50)];
    }
    let Err(MermaidError::TooLong { chars }) = mermaid(&long) else { panic!("is too long") };
    assert!(chars > MAX_MERMAID_CHARS);
}
