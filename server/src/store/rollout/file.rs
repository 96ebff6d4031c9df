//! Appends lines to a rollout.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trace_protocol::thread::ThreadHistoryMode;

use super::line::{Line, NewLine};
use super::scan::Scan;
use crate::private;
use crate::store::error::StoreError;

/// A rollout that is open for writing. Every line is one write, so a process that dies leaves at most one incomplete
/// line, at the end.
#[derive(Debug)]
pub(crate) struct RolloutFile {
    path: PathBuf,
    file: File,
    mode: ThreadHistoryMode,
    /// The summary of the rollout, which the catalogue shares.
    scan: Arc<Mutex<Scan>>,
    /// The number of the next line. `None` in threads whose lines have no numbers.
    next_ordinal: Option<u64>,
    /// Whether the last line is incomplete. It is ended before the next line is appended.
    torn: bool,
}

impl RolloutFile {
    pub(crate) fn create(path: PathBuf, mode: ThreadHistoryMode) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            private::create_folders(folder).map_err(StoreError::io("create the folder", folder))?;
        }
        let file = private::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(StoreError::io("create the rollout", &path))?;
        let next_ordinal = (mode == ThreadHistoryMode::Paginated).then_some(0);
        Ok(Self { path, file, mode, scan: Arc::default(), next_ordinal, torn: false })
    }

    /// Opens a rollout for appending.
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let scan = Scan::of(&path).map_err(StoreError::io("read the rollout", &path))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::io("open the rollout", &path))?;
        let mode = scan.meta.as_ref().map(|meta| meta.history_mode).unwrap_or_default();
        let next_ordinal =
            (mode == ThreadHistoryMode::Paginated).then(|| scan.last_ordinal.map_or(0, |last| last.saturating_add(1)));
        let torn = scan.open;
        Ok(Self { path, file, mode, scan: Arc::new(Mutex::new(scan)), next_ordinal, torn })
    }

    pub(crate) fn append(&mut self, line: &NewLine) -> Result<(), StoreError> {
        self.write(line.written(self.next_ordinal))
    }

    /// Appends a line of another rollout. A line without a time gets `at_ms`.
    pub(crate) fn copy(&mut self, line: &Line<'_>, at_ms: i64) -> Result<(), StoreError> {
        self.write(line.copied(at_ms, self.next_ordinal))
    }

    fn write(&mut self, mut written: String) -> Result<(), StoreError> {
        if self.torn {
            written.insert(0, '\n');
        }
        // If the write fails, a part of the line may have been written, so the next line has to start with a line
        // break.
        let result = self.file.write_all(written.as_bytes());
        self.torn = result.is_err();
        result.map_err(StoreError::io("append to", &self.path))?;
        self.scan.lock().unwrap_or_else(PoisonError::into_inner).appended(&written);
        self.next_ordinal = self.next_ordinal.map(|ordinal| ordinal.saturating_add(1));
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the summary of the rollout, shared with the catalogue.
    pub(crate) fn scan(&self) -> &Arc<Mutex<Scan>> {
        &self.scan
    }

    /// Returns the format in which the history of the thread is stored.
    pub(crate) fn history_mode(&self) -> ThreadHistoryMode {
        self.mode
    }
}

/// Prefix of the file name of an incomplete rollout. Such a name is not that of a rollout.
const DRAFT: &str = ".unfinished-";

/// A rollout that is not found before its beginning is complete. Therefore, if the process dies or the disk is full, no
/// thread appears whose last turns are missing. Dropping a draft that was not published deletes it.
#[derive(Debug)]
pub(crate) struct Draft {
    file: Option<RolloutFile>,
    path: PathBuf,
}

impl Draft {
    /// Starts a rollout that will have the path `path` after it is published.
    pub(crate) fn create(path: PathBuf, mode: ThreadHistoryMode) -> Result<Self, StoreError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let file = RolloutFile::create(path.with_file_name(format!("{DRAFT}{name}")), mode)?;
        Ok(Self { file: Some(file), path })
    }

    pub(crate) fn file(&mut self) -> &mut RolloutFile {
        self.file.as_mut().expect("a draft has its file until it is published")
    }

    /// Moves the rollout to its path, where it is found.
    pub(crate) fn publish(mut self) -> Result<RolloutFile, StoreError> {
        let to = std::mem::take(&mut self.path);
        let draft = self.file();
        // Sync the data first. Otherwise the renamed file could be empty after a crash, and the newest file of a thread
        // is the one that is read.
        let moved = draft.file.sync_data().and_then(|()| fs::rename(&draft.path, &to));
        moved.map_err(StoreError::io("create the rollout", &to))?;
        draft.path = to;
        Ok(self.file.take().expect("a draft has its file until it is published"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(file) = &self.file
            && let Err(error) = fs::remove_file(&file.path)
        {
            tracing::warn!(path = %file.path.display(), %error, "an incomplete rollout is left");
        }
    }
}

/// Returns the name that an incomplete rollout will have when it is published. Returns `None` for other names.
pub(crate) fn draft_of(name: &str) -> Option<&str> {
    name.strip_prefix(DRAFT)
}
