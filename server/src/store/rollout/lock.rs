//! Keeps two writers from one thread.
//!
//! The lock is one of the system's on a file of its own, so it goes with the process that holds it. The file is removed when
//! the lock is given back; a second lock, held for that moment only, keeps others from locking a file that is going away.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use trace_runtime::ThreadId;

use super::place;
use crate::store::error::StoreError;

/// Folder of the locks, below the home.
pub(crate) const LOCKS: &str = "thread-writer-locks";
const COORDINATION: &str = ".coordination.lock";

/// The right to write a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct WriterLock {
    folder: PathBuf,
    path: PathBuf,
    file: Option<File>,
}

impl WriterLock {
    /// Takes the lock of a thread.
    pub(crate) fn take(home: &Path, thread: &ThreadId) -> Result<Self, StoreError> {
        if !place::is_id(thread.as_str()) {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let folder = home.join(LOCKS);
        crate::private::create_folders(&folder).map_err(StoreError::io("make the folder", &folder))?;
        let path = folder.join(format!("{thread}.lock"));
        let _turn = coordinate(&folder).map_err(StoreError::io("lock", folder.join(COORDINATION)))?;
        let file = open(&path).map_err(StoreError::io("open the lock", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { folder, path, file: Some(file) }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::Busy { thread: thread.clone() }),
            Err(error) => Err(StoreError::io("lock", &path)(error.into())),
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A lock file that stays is no harm: the lock itself is gone with the file's handle.
        if let Ok(_turn) = coordinate(&self.folder) {
            let _ = fs::remove_file(&self.path);
            drop(self.file.take());
        }
    }
}

fn coordinate(folder: &Path) -> io::Result<File> {
    let file = open(&folder.join(COORDINATION))?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn open(path: &Path) -> io::Result<File> {
    crate::private::options().create(true).truncate(false).write(true).open(path)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    #[test]
    fn one_writer_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (ThreadId::from("one"), ThreadId::from("other"));
        let lock = WriterLock::take(home.path(), &one).unwrap();
        let refused = WriterLock::take(home.path(), &one).unwrap_err();
        assert_eq!(refused.to_string(), "thread one already has an active writer");
        drop(WriterLock::take(home.path(), &other).unwrap());
        drop(lock);
        assert!(!home.path().join(LOCKS).join("one.lock").exists());
        drop(WriterLock::take(home.path(), &one).unwrap());
    }

    #[test]
    fn an_id_that_is_a_path_locks_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert!(matches!(WriterLock::take(home.path(), &ThreadId::from("../x")), Err(StoreError::Unknown { .. })));
    }
}
