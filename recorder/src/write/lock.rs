//! The recorder's own file, `recorder.json`, and the lock on it.

use std::io;
use std::path::{Path, PathBuf};

use super::error::WriteError;
use super::storage::{LockOrigin, Storage, StorageFile};
use crate::recording::{RECORDER_FILE, RECORDER_FILE_BYTES, Recording, Stopped};

/// Longest reason in bytes. With the other fields it fits into the file, however it is escaped.
const REASON_BYTES: usize = 512;

/// The lock on a bundle that is being recorded.
#[derive(Debug)]
pub(crate) struct RecorderLock {
    bundle: PathBuf,
    path: PathBuf,
    file: Box<dyn StorageFile>,
    origin: LockOrigin,
    recording: Recording,
}

impl RecorderLock {
    /// Locks the bundle directory at `bundle`. If a recorder died and left the file, the lock is taken over, and the
    /// content of the file stays until [`begin`](Self::begin).
    pub(crate) fn acquire(storage: &dyn Storage, bundle: &Path, opened_at_unix_ms: i64) -> Result<Self, WriteError> {
        let path = bundle.join(RECORDER_FILE);
        let (file, origin) = storage.lock_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => WriteError::Locked { path: bundle.to_owned() },
            _ => WriteError::io(&path, error),
        })?;
        let recording = Recording { pid: std::process::id(), opened_at_unix_ms, stopped: None };
        Ok(Self { bundle: bundle.to_owned(), path, file, origin, recording })
    }

    /// Returns the directory of the locked bundle.
    pub(crate) fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Writes the file for this recorder.
    pub(crate) fn begin(&mut self) -> Result<(), WriteError> {
        self.write().map_err(|error| WriteError::io(&self.path, error))
    }

    /// Writes the reason why the recording stopped into the file.
    pub(crate) fn mark_stopped(&mut self, stopped: Stopped) -> io::Result<()> {
        self.recording.stopped = Some(shortened(stopped));
        self.write()
    }

    /// Releases the lock without recording anything. The file is left as it was found.
    pub(crate) fn give_up(self, storage: &dyn Storage) {
        if self.origin == LockOrigin::Made {
            // An error can be ignored: a file that stays looks like that of a recorder that died.
            let _ = storage.remove_file(&self.path);
        }
    }

    /// Releases the lock after a complete recording, and removes the file.
    pub(crate) fn release(self, storage: &dyn Storage) -> io::Result<()> {
        // The file is removed before the lock is released, so that nobody can lock it in between.
        storage.remove_file(&self.path)
    }

    fn write(&mut self) -> io::Result<()> {
        // The text always has the size of the existing file: overwriting works even if the disk is full.
        let mut text = serde_json::to_vec(&self.recording)?;
        text.resize(RECORDER_FILE_BYTES - 1, b' ');
        text.push(b'\n');
        self.file.overwrite(&text)
    }
}

/// Cuts the reason so that it fits into the recorder's file.
pub(crate) fn shortened(mut stopped: Stopped) -> Stopped {
    while stopped.reason.len() > REASON_BYTES {
        stopped.reason.pop();
    }
    stopped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{is_being_recorded, read_recording};
    use crate::write::storage::OsStorage;

    #[test]
    fn one_recorder_holds_a_bundle_and_a_dead_one_is_followed() {
        let root = tempfile::tempdir().expect("a directory");
        let mut lock = RecorderLock::acquire(&OsStorage, root.path(), 5).expect("locks");
        lock.begin().expect("writes");
        assert!(is_being_recorded(root.path()).expect("asks"));
        let second = RecorderLock::acquire(&OsStorage, root.path(), 6);
        assert!(matches!(second, Err(WriteError::Locked { .. })), "{second:?}");
        drop(lock);
        assert!(!is_being_recorded(root.path()).expect("asks"));
        let mut lock = RecorderLock::acquire(&OsStorage, root.path(), 7).expect("takes over");
        lock.begin().expect("writes");
        assert_eq!(read_recording(root.path()).expect("reads").expect("is there").opened_at_unix_ms, 7);
        lock.release(&OsStorage).expect("releases");
        assert_eq!(read_recording(root.path()).expect("reads"), None);
    }

    #[test]
    fn any_reason_fits() {
        let root = tempfile::tempdir().expect("a directory");
        let mut lock = RecorderLock::acquire(&OsStorage, root.path(), i64::MIN).expect("locks");
        // Each of these characters takes six bytes when escaped, which is the maximum.
        let reason = "\u{1}".repeat(10_000);
        let stopped = Stopped {
            after_seq: u64::MAX,
            at_unix_ms: i64::MIN,
            lost_events: u64::MAX,
            dropped_bodies: u64::MAX,
            reason,
        };
        lock.mark_stopped(stopped).expect("writes");
        let bytes = std::fs::metadata(root.path().join(RECORDER_FILE)).expect("is there").len();
        assert_eq!(bytes, RECORDER_FILE_BYTES as u64);
        let read = read_recording(root.path()).expect("reads").expect("is there").stopped.expect("stopped");
        assert_eq!(read.reason.len(), REASON_BYTES);
    }
}
