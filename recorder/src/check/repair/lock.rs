//! The lock that keeps recorders away from a bundle while it is repaired.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::plan::RecorderFile;
use super::run::{RepairError, at};
use crate::files::create_private_file;
use crate::recording::{RECORDER_FILE, Recording};

/// The lock that keeps recorders away. A file that was made for it is gone when the value is.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
    is_ours: bool,
}

impl Lock {
    pub(super) fn take(bundle: &Path) -> Result<Self, RepairError> {
        let path = bundle.join(RECORDER_FILE);
        let recording = Recording { pid: std::process::id(), opened_at_unix_ms: 0, stopped: None };
        let (file, is_ours) = match create_private_file(&path) {
            Ok(mut file) => {
                // Whoever finds the file after we died takes it for that of a dead recorder, and that is right.
                serde_json::to_writer(&mut file, &recording).map_err(|error| at(&path)(error.into()))?;
                (file, true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (File::open(&path).map_err(at(&path))?, false)
            }
            Err(error) => return Err(at(&path)(error)),
        };
        match file.try_lock() {
            // Whoever removed the file between our opening and our locking it holds a lock on another one now.
            Ok(()) if is_at(&file, &path) => Ok(Self { path, _file: file, is_ours }),
            Ok(()) => Err(RepairError::BeingRecorded { path: bundle.to_owned() }),
            Err(fs::TryLockError::WouldBlock) => Err(RepairError::BeingRecorded { path: bundle.to_owned() }),
            Err(fs::TryLockError::Error(error)) => Err(at(&path)(error)),
        }
    }

    /// Looks at what the file says that was there before the lock was taken.
    pub(super) fn recorder_file(&self, bundle: &Path) -> RecorderFile {
        if self.is_ours { RecorderFile::Fine } else { RecorderFile::look(bundle) }
    }

    /// Removes the file of a recorder that died, while the lock is held.
    pub(super) fn remove(mut self) -> Result<(), RepairError> {
        self.is_ours = false;
        fs::remove_file(&self.path).map_err(at(&self.path))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the lock of a repair is left behind");
        }
    }
}

/// Says whether an open file is still the one at a path, as far as the system can tell.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        file.metadata().ok().map(place) == fs::symlink_metadata(path).ok().map(place)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
