//! Sessions to draw.

use std::ops::Deref;
use std::path::Path;

use tempfile::TempDir;
use trace_explain::Session;
use trace_samples::bench::{Burden, Shape, generate};

/// A session with its bundle, which must exist as long as the session: verdicts read payloads after it was opened.
pub(crate) struct Recorded {
    session: Session,
    _directory: TempDir,
}

impl Deref for Recorded {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// Records a session and opens it.
pub(crate) fn recorded<T>(record: impl FnOnce(&Path) -> std::io::Result<T>) -> Recorded {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bundle");
    record(&path).expect("records");
    Recorded { session: Session::open(&path).expect("opens"), _directory: directory }
}

/// Records a tree of agents.
pub(crate) fn tree(width: usize, depth: usize, steps: usize) -> Recorded {
    recorded(|path| generate(path, &Shape::tree(width, depth, steps)))
}

/// Records a session of 500 children with parallel calls, in few bytes.
pub(crate) fn fleet() -> Recorded {
    let shape = Shape { commands: 4, output_bytes: 8, burden: Burden::Light, ..Shape::tree(500, 1, 1) };
    recorded(|path| generate(path, &shape))
}

/// Calls `ask` with the samples, and with real recordings.
pub(crate) fn for_each_recording(mut ask: impl FnMut(&Path, &Session)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bundles = below(&root.join("samples"));
    bundles.extend(below(&root.join("reducer/tests/cases")));
    bundles.extend(trace_needs::recordings("laws of diagrams").into_iter().map(|recording| recording.bundle));
    for path in bundles {
        // Some folders are no bundles, and some test cases are bundles that cannot be opened.
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
