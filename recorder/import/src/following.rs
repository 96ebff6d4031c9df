//! Reads a session again whenever its files have changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace_recorder::Bundle;
use trace_recorder::format::ImportSource;

use crate::error::ImportError;
use crate::format::SessionRef;
use crate::sessions;

/// A session that may still be written.
///
/// It has changed if one of its files has another size or time, or if a folder in which one of its files is got or lost a
/// file: a child may have begun. Looking costs one query of the file system per file and folder, and no file is read. A
/// file system with coarse times may hide a change that keeps the size; no agent makes such changes.
#[derive(Debug)]
pub struct Following {
    session: SessionRef,
    /// The files of the last reading.
    sources: Vec<ImportSource>,
    /// What was seen before the last reading. `None` if the session was not read yet.
    seen: Option<Seen>,
}

/// Readings until the files of the session are known. The first one finds the files of children.
const MAX_READINGS: usize = 3;

impl Following {
    /// Follows a session. It is read by the first call of [`newer`](Self::newer).
    pub fn new(session: SessionRef) -> Self {
        Self { session, sources: Vec::new(), seen: None }
    }

    /// Returns the session as its files now have it, or `None` if they are as they were at the last call.
    ///
    /// # Errors
    ///
    /// Returns an error if the session's file cannot be read. The next call tries again.
    pub fn newer(&mut self) -> Result<Option<Bundle>, ImportError> {
        if self.seen.as_ref().is_some_and(|seen| !seen.has_changed()) {
            return Ok(None);
        }
        self.seen = None;
        for reading in 1.. {
            // A file that is written while the session is read counts as changed at the next call.
            let seen = Seen::of(&self.session, &self.sources);
            let bundle = sessions::open(&self.session)?;
            let sources = bundle.import().map(|record| record.sources.clone()).unwrap_or_default();
            let has_all = sources.iter().all(|source| seen.0.contains_key(Path::new(&source.path)));
            self.sources = sources;
            if has_all || reading == MAX_READINGS {
                self.seen = Some(seen);
                return Ok(Some(bundle));
            }
        }
        Ok(None)
    }

    /// Returns when a file of the session was last written to, as of the last reading.
    pub fn written(&self) -> Option<SystemTime> {
        let files = self.seen.as_ref()?.0.iter().filter(|(path, _)| !path.is_dir());
        files.filter_map(|(_, state)| state.as_ref()?.written).max()
    }
}

/// The states of files and folders. A file that is not there has none.
#[derive(Debug)]
struct Seen(BTreeMap<PathBuf, Option<State>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    bytes: u64,
    written: Option<SystemTime>,
}

/// Suffix of the file beside an SQLite database that has what was written last.
const WRITE_AHEAD_LOG: &str = "-wal";

impl Seen {
    fn of(session: &SessionRef, sources: &[ImportSource]) -> Self {
        let sources = sources.iter().map(|source| PathBuf::from(&source.path));
        let mut seen = BTreeMap::new();
        for file in sources.chain([session.path.clone()]) {
            // Claude Code keeps children in a folder with the name of the file.
            let folders = [file.parent().map(Path::to_owned), Some(file.with_extension(""))];
            let mut log = file.clone().into_os_string();
            log.push(WRITE_AHEAD_LOG);
            for path in folders.into_iter().flatten().chain([PathBuf::from(log), file]) {
                // The folder of a file that is named without one is the current one.
                let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
                seen.entry(path).or_insert_with_key(|path| State::of(path));
            }
        }
        Self(seen)
    }

    fn has_changed(&self) -> bool {
        self.0.iter().any(|(path, seen)| State::of(path) != *seen)
    }
}

impl State {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { bytes: metadata.len(), written: metadata.modified().ok() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn growth_and_new_files_are_noticed() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("session.jsonl");
        fs::write(&path, "{}\n").expect("writes");
        let session = SessionRef::file("claude-code", &path);
        let seen = Seen::of(&session, &[]);
        assert!(!seen.has_changed());
        fs::write(&path, "{}\n{}\n").expect("writes");
        assert!(seen.has_changed());
        let seen = Seen::of(&session, &[]);
        fs::create_dir(folder.path().join("session")).expect("creates");
        assert!(seen.has_changed(), "the folder of children");
        let seen = Seen::of(&session, &[]);
        fs::write(folder.path().join("session.jsonl-wal"), "x").expect("writes");
        assert!(seen.has_changed(), "the log beside a database");
        let seen = Seen::of(&session, &[]);
        fs::remove_file(&path).expect("removes");
        assert!(seen.has_changed());
    }
}
