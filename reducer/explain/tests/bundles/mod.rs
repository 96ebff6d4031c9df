//! All available bundles: the cases of the reducer, the samples, and real recordings.

use std::path::{Path, PathBuf};

use trace_explain::Session;

/// Calls `ask` with every available session. Returns the number of sessions.
pub(crate) fn for_each(mut ask: impl FnMut(&Path, &Session)) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut bundles = below(&root.join("reducer/tests/cases"));
    bundles.extend(below(&root.join("samples")));
    bundles.extend(trace_needs::recordings("answers").into_iter().map(|recording| recording.bundle));
    let mut count = 0;
    for path in bundles {
        // Some folders are not bundles, and some cases are bundles that cannot be opened.
        if let Ok(session) = Session::open(&path) {
            ask(&path, &session);
            count += 1;
        }
    }
    count
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
