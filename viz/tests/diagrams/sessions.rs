//! Sessions to draw.

use std::path::Path;

use trace_explain::Session;
use trace_samples::bench::{Shape, generate};

/// Records a session and opens it.
pub(crate) fn recorded<T>(record: impl FnOnce(&Path) -> std::io::Result<T>) -> Session {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bundle");
    record(&path).expect("records");
    Session::open(&path).expect("opens")
}

/// Records a tree of agents.
pub(crate) fn tree(width: usize, depth: usize, steps: usize) -> Session {
    recorded(|path| generate(path, &Shape::tree(width, depth, steps)))
}

/// Calls `ask` with the samples, and with real recordings where they lie beside the repository.
#[expect(clippy::print_stderr, reason = "what is skipped is said aloud")]
pub(crate) fn for_each_recording(mut ask: impl FnMut(&Path, &Session)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bundles = below(&root.join("samples"));
    bundles.extend(below(&root.join("reducer/tests/cases")));
    let corpus = root.join("../shared/corpus");
    if corpus.is_dir() {
        bundles.extend(below(&corpus).into_iter().map(|path| path.join("bundle")));
    } else {
        eprintln!("SKIPPED: no real recordings at {}", corpus.display());
    }
    for path in bundles {
        // Some folders are no bundles, and some cases are bundles that nobody can open.
        if let Ok(session) = Session::open(&path) {
            ask(&path, &session);
        }
    }
}

fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
