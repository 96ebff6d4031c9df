//! Every view of every available session, in every language.

use std::path::{Path, PathBuf};

use trace_explain::Session;
use trace_viz::diagram::render::{self, Fonts, mermaid, png};
use trace_viz::diagram::{Diagram, DiagramError, Options, View};

use super::{dot, mermaid as parser, svg};

/// Returns the test cases of the reducer, the samples, and real recordings.
fn bundles() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bundles = below(&root.join("reducer/tests/cases"));
    bundles.extend(below(&root.join("samples")));
    bundles.extend(trace_needs::recordings("pictures").into_iter().map(|recording| recording.bundle));
    bundles
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_view_of_every_session_is_a_picture() {
    let (program, modules) = (dot::program(), parser::modules());
    // Each program reads all files in one run, because starting it takes longer than reading a file.
    let (graphs, texts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut pictures = 0;
    for (number, path) in bundles().iter().enumerate() {
        // Some folders are no bundles, and some test cases are bundles that cannot be opened.
        let Ok(session) = Session::open(path) else { continue };
        for &view in View::ALL {
            let name = view.as_str();
            let diagram = match Diagram::new(&session, &Options::new(view)) {
                Ok(diagram) => diagram,
                Err(DiagramError::NothingWrong { .. }) if view == View::Causal => continue,
                Err(error) => panic!("{}, {name}: {error}", path.display()),
            };
            let picture = svg::hold(&diagram);
            std::fs::write(graphs.path().join(format!("{number:03}-{name}.dot")), render::dot(&diagram))
                .expect("writes");
            let text = mermaid(&diagram).unwrap_or_else(|error| panic!("{}, {name}: {error}", path.display()));
            std::fs::write(texts.path().join(format!("{number:03}-{name}")), text).expect("writes");
            // Drawing pixels is slow, so only the samples are drawn.
            if path.components().any(|part| part.as_os_str() == "samples") {
                png(&picture, Fonts::Own).unwrap_or_else(|error| panic!("{}, {name}: {error}", path.display()));
                if let Some(program) = &program {
                    dot::hold(program, &diagram);
                }
            }
            pictures += 1;
        }
    }
    assert!(pictures >= 9, "the samples alone have more than {pictures}");
    if let Some(program) = program {
        dot::hold_files(&program, graphs.path());
    }
    if let Some(modules) = modules {
        parser::hold(&modules, texts.path());
    }
}
