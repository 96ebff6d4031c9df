//! The sessions of files and folders: which format they are of, and the way from there to a bundle.

use std::io::{self, Read};
use std::path::Path;

use trace_recorder::Bundle;

use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, HEAD_BYTES, SessionRef, Source};
use crate::formats::FORMATS;
use crate::records::{self, START_BYTES};
use crate::summary::{Reads, Summary};

/// Folders below a folder that are searched for sessions. The deepest known layout (`sessions/YYYY/MM/DD`) has four.
pub const MAX_DEPTH: usize = 8;

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Returns the format of a file or folder, or `None` if no format recognizes it.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn recognize(path: &Path) -> Result<Option<&'static dyn Format>, ImportError> {
    let data = std::fs::metadata(path).map_err(|source| ImportError::io(path, source))?;
    let found = |head: &[u8]| {
        let source = Source { path, head, is_dir: data.is_dir() };
        FORMATS.iter().copied().find(|format| format.recognizes(&source))
    };
    if data.is_dir() {
        return Ok(found(&[]));
    }
    if !data.is_file() {
        return Ok(None);
    }
    let mut reader = records::open_plain(path, START_BYTES).map_err(|source| ImportError::io(path, source))?;
    let mut head = Vec::new();
    let mut read = |bytes: usize, head: &mut Vec<u8>| match reader.by_ref().take(bytes as u64).read_to_end(head) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(ImportError::io(path, error)),
        // Damaged compressed data is no known format.
        _ => Ok(()),
    };
    // Most files of lines say what they are in the first ones.
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        read(START_BYTES, &mut head)?;
        let lines = memchr::memrchr(b'\n', &head).map_or(0, |end| end + 1);
        if let Some(format) = Some(&head[..lines]).filter(|lines| !lines.is_empty()).and_then(found) {
            return Ok(Some(format));
        }
    }
    read(HEAD_BYTES - head.len(), &mut head)?;
    Ok(found(&head))
}

/// Returns the sessions of a file, of a store, or of all files below a folder, in the order of their paths.
///
/// # Errors
///
/// Returns an error if `path` itself cannot be read. Files and folders below it that cannot be read are skipped with a warning.
pub fn sessions(path: &Path) -> Result<Vec<SessionRef>, ImportError> {
    let mut found = Vec::new();
    search(path, 0, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

fn search(path: &Path, depth: usize, found: &mut Vec<SessionRef>) -> Result<(), ImportError> {
    if let Some(format) = recognize(path)? {
        found.extend(format.sessions(path)?);
        return Ok(());
    }
    if depth >= MAX_DEPTH || !path.is_dir() {
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|source| ImportError::io(path, source))?;
    for entry in entries {
        let searched = match entry {
            Ok(entry) if may_hold_sessions(&entry) => search(&entry.path(), depth + 1, found),
            Ok(_) => Ok(()),
            Err(source) => Err(ImportError::io(path, source)),
        };
        if let Err(error) = searched {
            tracing::warn!(path = %path.display(), %error, "skipped");
        }
    }
    Ok(())
}

/// Extensions of the files in which agents keep sessions.
pub(crate) const EXTENSIONS: [&str; 6] = ["jsonl", "json", "zst", "db", "pb", "log"];

fn may_hold_sessions(entry: &std::fs::DirEntry) -> bool {
    let Ok(kind) = entry.file_type() else { return false };
    // A link could lead in a circle.
    if kind.is_dir() {
        return !entry.file_name().to_string_lossy().starts_with('.');
    }
    let path = entry.path();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    kind.is_file() && EXTENSIONS.contains(&extension)
}

/// Reads a session into a bundle in memory.
///
/// # Errors
///
/// Returns an error if its file cannot be read, or holds no session.
pub fn open(session: &SessionRef) -> Result<Bundle, ImportError> {
    read(session, Draft::new(session.format))?.finish(&session.path)
}

/// Reads what lists show of a session. That is faster than [`open()`], because no bundle is made.
///
/// # Errors
///
/// Returns an error if its file cannot be read.
pub fn summarize(session: &SessionRef) -> Result<Summary, ImportError> {
    Ok(read(session, Draft::for_summary(session.format))?.into_summary())
}

/// Reads what lists show of a session, and tells which files that was read from.
///
/// # Errors
///
/// Returns an error if its file cannot be read.
pub(crate) fn summarize_from(session: &SessionRef) -> Result<(Summary, Reads), ImportError> {
    let draft = read(session, Draft::for_summary(session.format))?;
    let reads = draft.reads();
    Ok((draft.into_summary(), reads))
}

fn read(session: &SessionRef, mut draft: Draft) -> Result<Draft, ImportError> {
    let format = format(session.format).ok_or_else(|| ImportError::UnknownFormat { path: session.path.clone() })?;
    format.read(session, &mut draft)?;
    Ok(draft)
}
