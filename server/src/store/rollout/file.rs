//! Appends lines to a rollout.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trace_protocol::thread::ThreadHistoryMode;

use super::line::NewLine;
use super::scan::Scan;
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
            fs::create_dir_all(folder).map_err(StoreError::io("make the folder", folder))?;
        }
        let file = OpenOptions::new()
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
        let mut written = line.written(self.next_ordinal);
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
