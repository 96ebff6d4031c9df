//! Writes a recording to a directory: a file for each payload, and the log.

use std::io;
use std::sync::Arc;

use super::append::{BundleFiles, payload_path};
use super::body::Pieces;
use super::lock::RecorderLock;
use super::options::Durability;
use super::storage::{Storage, StorageFile};
use super::target::{Failure, Target};
use crate::format::{EVENT_LOG_FILE, PAYLOADS_DIR};
use crate::recording::{RECORDER_FILE, Stopped};

/// After this many bytes of payloads, the lines that refer to them are written, so that large payloads do not delay them.
const BODY_BYTES_BETWEEN_LINES: usize = 4 << 20;

/// Most payload files that wait for their sync. Each of them is an open file of the session's process.
pub(crate) const MAX_UNSYNCED_FILES: usize = 64;

/// A bundle directory that is being written.
#[derive(Debug)]
pub(crate) struct DirectoryTarget {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) files: BundleFiles,
    pub(crate) lock: RecorderLock,
    pub(crate) durability: Durability,
    /// Payload files that were written since the last commit and are not synced.
    pub(crate) unsynced: Vec<Box<dyn StorageFile>>,
    /// Bytes of payloads since the last commit.
    pub(crate) uncommitted_bytes: usize,
}

impl Target for DirectoryTarget {
    fn payload(&mut self, ordinal: u64, _conversation: u64, document: Pieces) -> Result<(), Failure> {
        let text = document.into_text();
        let file = self.files.payload(ordinal, text.as_ref()).map_err(Failure::new(payload_path(ordinal)))?;
        self.uncommitted_bytes += text.as_ref().len();
        if self.durability == Durability::Synced {
            self.unsynced.push(file);
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.uncommitted_bytes >= BODY_BYTES_BETWEEN_LINES || self.unsynced.len() >= MAX_UNSYNCED_FILES
    }

    fn commit(&mut self, lines: &[u8]) -> Result<(), Failure> {
        self.uncommitted_bytes = 0;
        if !self.unsynced.is_empty() {
            for mut file in self.unsynced.drain(..) {
                file.sync_data().map_err(Failure::new(PAYLOADS_DIR))?;
            }
            self.files.sync_payload_names().map_err(Failure::new(PAYLOADS_DIR))?;
        }
        self.files.append(lines, self.durability).map_err(Failure::new(EVENT_LOG_FILE))
    }

    fn rest(&mut self) {}

    fn mark_stopped(&mut self, stopped: Stopped) -> io::Result<()> {
        self.lock.mark_stopped(stopped)
    }

    fn complete(self: Box<Self>) -> Result<(), Failure> {
        self.lock.release(&*self.storage).map_err(Failure::new(RECORDER_FILE))
    }
}
