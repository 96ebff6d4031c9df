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

/// A rollout that is written to. Every line is one write, so a process that dies leaves whole lines and at most one torn
/// one at the end.
#[derive(Debug)]
pub(crate) struct RolloutFile {
    path: PathBuf,
    file: File,
    mode: ThreadHistoryMode,
    /// What the rollout says about its thread; the catalogue looks at it too.
    scan: Arc<Mutex<Scan>>,
    /// The number of the next line; nothing in threads whose lines have none.
    next_ordinal: Option<u64>,
    /// Whether the last line has no end: it gets one before anything is appended.
    torn: bool,
}

impl RolloutFile {
    /// Makes a rollout.
    pub(crate) fn create(path: PathBuf, mode: ThreadHistoryMode) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            private::create_folders(folder).map_err(StoreError::io("make the folder", folder))?;
        }
        let file = private::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(StoreError::io("make the rollout", &path))?;
        let next_ordinal = (mode == ThreadHistoryMode::Paginated).then_some(0);
        Ok(Self { path, file, mode, scan: Arc::default(), next_ordinal, torn: false })
    }

    /// Opens a rollout to append to it.
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let scan = Scan::of(&path).map_err(StoreError::io("read the rollout", &path))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::io("open the rollout", &path))?;
        let mode = scan.meta.as_ref().map(|meta| meta.history_mode).unwrap_or_default();
        let next_ordinal =
            (mode == ThreadHistoryMode::Paginated).then(|| scan.last_ordinal.map_or(0, |last| last.saturating_add(1)));
        let torn = scan.open;
        Ok(Self { path, file, mode, scan: Arc::new(Mutex::new(scan)), next_ordinal, torn })
    }

    /// Appends a line.
    pub(crate) fn append(&mut self, line: &NewLine) -> Result<(), StoreError> {
        self.write(line.written(self.next_ordinal))
    }

    /// Appends a line of another rollout, which was written at `at_ms` if it does not say when.
    pub(crate) fn copy(&mut self, line: &Line<'_>, at_ms: i64) -> Result<(), StoreError> {
        self.write(line.copied(at_ms, self.next_ordinal))
    }

    fn write(&mut self, mut written: String) -> Result<(), StoreError> {
        if self.torn {
            written.insert(0, '\n');
        }
        // If this fails half way, the next line has to begin on its own.
        let result = self.file.write_all(written.as_bytes());
        self.torn = result.is_err();
        result.map_err(StoreError::io("append to", &self.path))?;
        self.scan.lock().unwrap_or_else(PoisonError::into_inner).appended(&written);
        self.next_ordinal = self.next_ordinal.map(|ordinal| ordinal.saturating_add(1));
        Ok(())
    }

    /// Returns where the rollout is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the rollout says about its thread, shared with whoever appends to it.
    pub(crate) fn scan(&self) -> &Arc<Mutex<Scan>> {
        &self.scan
    }

    /// Returns how the history of the thread is kept.
    pub(crate) fn history_mode(&self) -> ThreadHistoryMode {
        self.mode
    }
}

/// Begins the name of a rollout that is not whole yet, so that nobody takes it for one.
const DRAFT: &str = ".unfinished-";

/// A rollout that nobody finds before all of its beginning is there: a process that dies on the way, or a full disk, leaves
/// no thread that lacks its end. It is removed again unless it is published.
#[derive(Debug)]
pub(crate) struct Draft {
    file: Option<RolloutFile>,
    path: PathBuf,
}

impl Draft {
    /// Begins a rollout that will be at a path.
    pub(crate) fn create(path: PathBuf, mode: ThreadHistoryMode) -> Result<Self, StoreError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let file = RolloutFile::create(path.with_file_name(format!("{DRAFT}{name}")), mode)?;
        Ok(Self { file: Some(file), path })
    }

    /// Returns the file, to append to it.
    pub(crate) fn file(&mut self) -> &mut RolloutFile {
        self.file.as_mut().expect("a draft has its file until it is published")
    }

    /// Puts the rollout where it is found.
    pub(crate) fn publish(mut self) -> Result<RolloutFile, StoreError> {
        let to = std::mem::take(&mut self.path);
        let draft = self.file();
        // The name must not be on the disk before what it names: the newest file of a thread is the one that counts.
        let moved = draft.file.sync_data().and_then(|()| fs::rename(&draft.path, &to));
        moved.map_err(StoreError::io("make the rollout", &to))?;
        draft.path = to;
        Ok(self.file.take().expect("a draft has its file until it is published"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(file) = &self.file
            && let Err(error) = fs::remove_file(&file.path)
        {
            tracing::warn!(path = %file.path.display(), %error, "half a rollout is left");
        }
    }
}

/// Returns the name that a file will have if it is a rollout that is not whole.
pub(crate) fn draft_of(name: &str) -> Option<&str> {
    name.strip_prefix(DRAFT)
}
