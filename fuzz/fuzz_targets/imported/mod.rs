//! What every session that an importer reads must hold to.

// Each target uses some of these functions.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use trace_import::{Format, SessionRef, recognize, sessions};
use trace_reducer::{Options, reduce};

/// Reads a session. An answer must come, what is imported must be a bundle that a strict reduction takes, and lists must count
/// the turns and calls that the bundle has.
pub fn check(session: &SessionRef) {
    let summary = trace_import::summarize(session);
    let Ok(bundle) = trace_import::open(session) else { return };
    let summary = summary.expect("what can be opened can be summarized");
    let strict = Options { strict: true, verify: false };
    let reduction = reduce(&bundle, strict).expect("an imported bundle is whole");
    assert_eq!(summary.turns as usize, reduction.trace.turns.len());
    assert_eq!(summary.tool_calls as usize, reduction.trace.tools.len());
    let record = bundle.import().expect("an import");
    assert!(record.notes.iter().all(|note| note.count > 0 && !note.message.is_empty()));
}

/// Checks the sessions of bytes that are a file with this name.
pub fn read(name: &str, data: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = write(folder.path(), name, data);
    let _ = recognize(&path).expect("reads").map(Format::name);
    sessions(&path).unwrap_or_default().iter().for_each(check);
}

/// Returns the files that an input stands for. A zero byte separates them.
pub fn files(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|byte| *byte == 0)
}

/// Writes a file below a folder, with the folders on the way.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, bytes).expect("writes");
    path
}
