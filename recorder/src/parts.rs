//! The parts of a bundle directory: which entries belong to a bundle, and what each of them is.
//!
//! This is the only list of them. Checking, repairing, packing, redacting and deleting bundles all ask here.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::format::{
    COMPACT_STATE_FILE, EVENT_LOG_FILE, IMPORT_FILE, MANIFEST_FILE, PAYLOADS_DIR, RECORDER_FILE, STATE_FILE,
};

/// Prefix of the names of directories with copies made by a repair. A number follows.
pub const BACKUP_PREFIX: &str = "before-repair-";

/// Most entries of a bundle directory that are looked at. A bundle has seven, beside copies of repairs and what programs that died left.
pub const MAX_DIRECTORY_ENTRIES: usize = 10_000;

/// What an entry of a bundle directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The manifest.
    Manifest,
    /// The event log.
    Log,
    /// The directory of the payloads.
    Payloads,
    /// Where the events of an imported session come from.
    Import,
    /// The graph that the reducer wrote, `state.json` or `state.compact.json`. It can be made again.
    State,
    /// The recorder's own file, `recorder.json`.
    Recorder,
    /// A directory with copies of the files that a repair changed.
    Backup,
    /// A file left by a program that died while it replaced another file.
    Temporary,
}

/// The file type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
    SymbolicLink,
    Other,
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::SymbolicLink
        } else {
            Self::Other
        }
    }
}

/// The parts that have a name of their own.
const NAMED: [(&str, EntryKind, Part); 7] = [
    (MANIFEST_FILE, EntryKind::File, Part::Manifest),
    (EVENT_LOG_FILE, EntryKind::File, Part::Log),
    (PAYLOADS_DIR, EntryKind::Directory, Part::Payloads),
    (IMPORT_FILE, EntryKind::File, Part::Import),
    (STATE_FILE, EntryKind::File, Part::State),
    (COMPACT_STATE_FILE, EntryKind::File, Part::State),
    (RECORDER_FILE, EntryKind::File, Part::Recorder),
];

impl Part {
    /// Returns what an entry is, by its name and file type, or `None` if it does not belong to a bundle. No symlink does,
    /// whatever its name.
    pub fn of(name: &OsStr, kind: FileType) -> Option<Self> {
        Self::of_kind(name.to_str()?, kind.into())
    }

    pub(crate) fn of_kind(name: &str, kind: EntryKind) -> Option<Self> {
        if let Some((_, right, part)) = NAMED.iter().find(|(known, ..)| *known == name) {
            return (kind == *right).then_some(*part);
        }
        if name.starts_with('.') && name.ends_with(".tmp") && kind != EntryKind::SymbolicLink {
            return Some(Self::Temporary);
        }
        let number = name.strip_prefix(BACKUP_PREFIX)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && kind == EntryKind::Directory).then_some(Self::Backup)
    }

    /// Returns what the file at a path in a bundle is, or `None` if it is below a directory or does not belong to a bundle.
    pub(crate) fn of_file(path: &str) -> Option<Self> {
        if path.contains('/') { None } else { Self::of_kind(path, EntryKind::File) }
    }

    /// Returns whether this is one of the files that describe the session as a whole: the log, the manifest or the
    /// recorder's file. Readers look at them before anything else.
    pub(crate) fn is_record(self) -> bool {
        matches!(self, Self::Log | Self::Manifest | Self::Recorder)
    }
}

/// Returns the path of the first of these parts that is not of its file type, such as a symlink. A part that does not exist
/// is fine.
///
/// # Errors
///
/// Returns the path of a part that cannot be examined, with the I/O error.
pub(crate) fn odd_part(
    bundle: &Path,
    is_asked: impl Fn(Part) -> bool,
) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    for (name, right, _) in NAMED.into_iter().filter(|(.., part)| is_asked(*part)) {
        let path = bundle.join(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if EntryKind::from(metadata.file_type()) == right => {}
            Ok(_) => return Ok(Some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err((path, error)),
        }
    }
    Ok(None)
}

/// Returns the directory with the copies of a repair, complete or not, that a path in a bundle leads into.
pub(crate) fn backup_of(path: &str) -> Option<&str> {
    let first = path.split('/').next()?;
    first.trim_start_matches('.').starts_with(BACKUP_PREFIX).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_told_by_name_and_type() {
        use EntryKind::{Directory, File, SymbolicLink};
        for (name, kind, part) in [
            ("trace.jsonl", File, Some(Part::Log)),
            ("trace.jsonl", Directory, None),
            ("payloads", Directory, Some(Part::Payloads)),
            ("payloads", SymbolicLink, None),
            ("import.json", File, Some(Part::Import)),
            ("state.json", File, Some(Part::State)),
            ("state.compact.json", File, Some(Part::State)),
            ("state.other.json", File, None),
            (".trace.jsonl.tmp", File, Some(Part::Temporary)),
            (".before-repair-1.tmp", Directory, Some(Part::Temporary)),
            (".trace.jsonl.tmp", SymbolicLink, None),
            ("before-repair-12", Directory, Some(Part::Backup)),
            ("before-repair-12", File, None),
            ("before-repair-", Directory, None),
            ("notes.txt", File, None),
        ] {
            assert_eq!(Part::of_kind(name, kind), part, "{name}");
        }
        assert_eq!(Part::of_file(".trace.jsonl.tmp"), Some(Part::Temporary));
        assert_eq!(Part::of_file(".a/b.tmp"), None);
        assert_eq!(backup_of(".before-repair-3.tmp/payloads/1.json"), Some(".before-repair-3.tmp"));
        assert_eq!(backup_of("payloads/before-repair-3"), None);
    }

    #[test]
    fn a_part_of_another_type_is_found() {
        let root = tempfile::tempdir().expect("a directory");
        assert_eq!(odd_part(root.path(), |_| true).expect("is examined"), None);
        fs::create_dir(root.path().join(EVENT_LOG_FILE)).expect("creates");
        assert_eq!(
            odd_part(root.path(), Part::is_record).expect("is examined"),
            Some(root.path().join(EVENT_LOG_FILE))
        );
        assert_eq!(odd_part(root.path(), |part| part == Part::Payloads).expect("is examined"), None);
    }
}
