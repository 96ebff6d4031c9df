//! Tests pictures without Graphviz.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use resvg::usvg::roxmltree::Document;
use trace_viz::diagram::Diagram;
use trace_viz::diagram::render::{
    Fonts, Graphviz, GraphvizError, MAX_PNG_SIDE, PngError, dot, mermaid, png, svg, svg_by_graphviz,
};

use super::diagrams::{any_diagram, everything, wide};

/// The beginning of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Elements that a picture may contain. None of them runs or fetches anything.
const ELEMENTS: [&str; 10] = ["svg", "style", "g", "a", "title", "text", "rect", "path", "polygon", "polyline"];

/// Attributes that these elements may have.
const ATTRIBUTES: [&str; 24] = [
    "aria-hidden",
    "aria-label",
    "class",
    "d",
    "fill",
    "font-family",
    "font-size",
    "font-weight",
    "height",
    "href",
    "id",
    "paint-order",
    "points",
    "role",
    "rx",
    "stroke",
    "stroke-dasharray",
    "stroke-width",
    "viewBox",
    "width",
    "x",
    "y",
    "xmlns",
    "text-anchor",
];

/// Checks the promises of the SVG renderer on a diagram, and returns the SVG.
pub(crate) fn hold(diagram: &Diagram) -> String {
    let text = svg(diagram);
    assert_eq!(svg(diagram), text, "equal diagrams make equal bytes");
    let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        assert!(ELEMENTS.contains(&name), "<{name}> in\n{text}");
        for attribute in node.attributes() {
            assert!(ATTRIBUTES.contains(&attribute.name()), "{} in\n{text}", attribute.name());
            if attribute.name() == "href" {
                assert!(attribute.value().starts_with('#'), "a link to {}", attribute.value());
            }
        }
    }
    let has_class = |class: &str| {
        let elements = document.descendants().filter(|node| node.attribute("id").is_some());
        elements
            .filter(|node| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class)))
            .count()
    };
    assert_eq!(has_class("node"), diagram.nodes.len());
    assert_eq!(has_class("cluster"), diagram.groups.len());
    text
}

#[test]
fn everything_is_a_picture() {
    let text = hold(&everything());
    assert!(png(&text, Fonts::Own).expect("a picture").starts_with(PNG));
    hold(&wide(500));
}

#[test]
fn nothing_is_a_picture() {
    let mut nothing = everything();
    (nothing.groups, nothing.nodes, nothing.edges, nothing.notes) = (vec![], vec![], vec![], vec![]);
    nothing.title.clear();
    assert!(png(&hold(&nothing), Fonts::Own).expect("a picture").starts_with(PNG));
    assert_eq!(mermaid(&nothing).as_deref(), Ok("flowchart LR\n"));
}

#[test]
fn deep_boxes_are_a_picture() {
    let mut deep = everything();
    deep.edges.clear();
    let group = deep.groups[1].clone();
    deep.groups = (0..5000)
        .map(|index: u32| {
            let parent = index.checked_sub(1).map(trace_viz::diagram::GroupIdx);
            trace_viz::diagram::Group { id: format!("g{index}"), parent, ..group.clone() }
        })
        .collect();
    for node in &mut deep.nodes {
        node.group = Some(trace_viz::diagram::GroupIdx(4999));
    }
    hold(&deep);
    assert!(dot(&deep).lines().all(|line| line.len() < 4000), "groups beyond the limit are not indented further");
}

#[test]
fn pictures_that_are_too_large_are_no_png() {
    let error = png(&svg(&wide(500)), Fonts::Own).expect_err("is too large");
    let PngError::TooLarge { height, .. } = error else { panic!("{error}") };
    assert!(height > MAX_PNG_SIDE, "{height}");
    assert!(matches!(png("<svg", Fonts::Own), Err(PngError::NotSvg { .. })));
}

#[test]
fn letters_are_there_without_fonts_of_the_machine() {
    let with =
        png("<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><text y='15'>✗ a</text></svg>", Fonts::Own);
    let without = png("<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/>", Fonts::Own);
    assert_ne!(with.expect("a picture"), without.expect("a picture"));
}

#[test]
fn a_missing_program_is_an_error() {
    let program = Path::new("/nowhere/dot");
    let error = svg_by_graphviz(&everything(), Graphviz { program, time_limit: Duration::from_secs(1) });
    assert!(matches!(error, Err(GraphvizError::CannotRun { .. })), "{error:?}");
}

#[cfg(unix)]
mod odd_programs {
    //! Programs that are not Graphviz.

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn run(script: &str, time_limit: Duration) -> GraphvizError {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("dot");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writes");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("sets");
        loop {
            let error = svg_by_graphviz(&everything(), Graphviz { program: &program, time_limit });
            match error.expect_err("no picture") {
                // A process that another test is just starting may still have the file open.
                GraphvizError::CannotRun { source, .. } if source.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                error => return error,
            }
        }
    }

    #[test]
    fn they_are_errors() {
        let long = Duration::from_secs(60);
        let failed = run("printf 'bad\\033[31m\\n' >&2; exit 3", long);
        let GraphvizError::Failed { status, complaint, .. } = failed else { panic!("{failed}") };
        assert_eq!((status.code(), &*complaint), (Some(3), r"bad\u{1b}[31m"));
        assert!(matches!(run("echo Error: lost >&2; echo '<svg></svg>'", long), GraphvizError::Failed { .. }));
        assert!(matches!(run("echo hello", long), GraphvizError::NotSvg { .. }));
        assert!(matches!(run("exec sleep 60", Duration::from_millis(50)), GraphvizError::TooSlow { .. }));
        assert!(matches!(run("exec 1>&-; exec sleep 60", Duration::from_millis(50)), GraphvizError::TooSlow { .. }));
        assert!(matches!(run("exec cat /dev/zero", long), GraphvizError::TooLarge { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_diagram_is_a_picture(diagram in any_diagram()) {
        hold(&diagram);
    }
}

/// Otherwise there would be two heavy borders around each other, which say no more than one.
#[test]
fn a_box_leaves_its_border_to_the_node_that_stands_for_the_same() {
    let mut diagram = everything();
    let heavy = |diagram: &Diagram| {
        let in_mermaid = mermaid(diagram).expect("is small");
        [
            dot(diagram).matches("class=\"group degraded\"").count(),
            svg(diagram).matches("class=\"cluster group degraded\"").count(),
            in_mermaid.lines().filter(|line| line.starts_with("  class g0") && line.ends_with(" degraded")).count(),
        ]
    };
    assert_eq!(heavy(&diagram), [1, 1, 1]);
    diagram.nodes[0].object = diagram.groups[0].object.clone();
    assert_eq!(heavy(&diagram), [0, 0, 0]);
    assert!(svg(&diagram).contains(">! root<"), "the heading keeps its sign");
}
