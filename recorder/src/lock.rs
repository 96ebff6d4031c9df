//! The lock on a bundle: an exclusive lock on its `recorder.json`.
//!
//! A recorder holds it while it works. A process that repairs or deletes a bundle also holds it, so that no recorder
//! continues the bundle meanwhile.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{create_closed_file, open_to_owner};
use crate::recording::{RECORDER_FILE, Recording};

/// Most attempts to take a lock. An attempt fails if the file is removed between opening and locking, or is locked.
const LOCK_ATTEMPTS: usize = 16;

/// Pause between two attempts at a lock that is held.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Whether a file existed before it was locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The file existed.
    Found,
    /// The file was created for the lock.
    Made,
}

/// Locks the file at `path` until the returned file is closed. Opens it with `existing`, or creates it if it is missing.
///
/// # Errors
///
/// Returns an error of kind [`io::ErrorKind::WouldBlock`] if the lock is held in this process or another one. Returns any
/// other error of creating, opening or locking the file, and `InvalidInput` if `path` is not a plain file.
pub(crate) fn lock_file(path: &Path, existing: &OpenOptions) -> io::Result<(File, Origin)> {
    // A recorder removes the file when it finishes. A process that opened the file just before locks a removed file. It
    // must open the path again.
    let mut was_made = false;
    for _ in 0..LOCK_ATTEMPTS {
        // The file is created without any permissions: nobody can open it, and so lock it, before this function does.
        let file = match create_closed_file(path) {
            Ok(file) => {
                was_made = true;
                file
            }
            // A bundle may come from a stranger. The target of a symlink in it must not be written to.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_other_than_file(path) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match existing.open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // The process that created the file has not granted the permissions yet, or died before it did.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_closed(path) => {
                    std::thread::sleep(LOCK_PAUSE);
                    open_to_owner_by_path(path)?;
                    continue;
                }
                opened => opened?,
            },
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) if was_made => open_to_owner(&file)?,
            Ok(()) => {}
            // `is_being_recorded` takes the lock for a moment.
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(LOCK_PAUSE);
                continue;
            }
            Err(TryLockError::Error(error)) => {
                if was_made {
                    // The error of the lock matters more than a file left behind.
                    let _ = fs::remove_file(path);
                }
                return Err(error);
            }
        }
        if is_at(&file, path)? {
            // Another process may have locked the new file for a moment. An empty file was not used by it.
            let is_ours = was_made && file.metadata()?.len() == 0;
            return Ok((file, if is_ours { Origin::Made } else { Origin::Found }));
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Returns whether a plain file has no permissions at all, not even for its owner.
#[cfg(unix)]
fn is_closed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o777 == 0)
}

#[cfg(unix)]
fn open_to_owner_by_path(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    match fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => opened,
    }
}

#[cfg(not(unix))]
fn is_closed(_: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn open_to_owner_by_path(_: &Path) -> io::Result<()> {
    Ok(())
}

fn is_other_than_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// Returns whether `path` still names the open file.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok(named.ino() == opened.ino() && named.dev() == opened.dev()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns true: other systems do not remove a file that is open.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// A guard that keeps recorders away from a bundle. If it created the lock file, dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Hold {
    path: PathBuf,
    file: File,
    origin: Origin,
}

impl Hold {
    /// Locks the bundle directory at `bundle`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`io::ErrorKind::WouldBlock`] if a recorder or another `Hold` has the lock, and any other
    /// error of creating, opening or locking the file.
    pub(crate) fn take(bundle: &Path) -> io::Result<Self> {
        let path = bundle.join(RECORDER_FILE);
        let (file, origin) = lock_file(&path, OpenOptions::new().read(true))?;
        let hold = Self { path, file, origin };
        if origin == Origin::Made {
            // If this process dies, the file looks like one of a dead recorder, which is correct. An empty file means the
            // same but says it less clearly, so a full disk must not prevent the lock.
            let recording = Recording { pid: std::process::id(), opened_at_unix_ms: 0, stopped: None };
            if let Err(error) = serde_json::to_writer(&hold.file, &recording) {
                tracing::debug!(path = %hold.path.display(), %error, "the lock file of a bundle stays empty");
            }
        }
        Ok(hold)
    }

    /// Returns whether the lock file existed before it was locked.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Removes the lock file while the lock is held, even if this guard did not create it.
    pub(crate) fn remove_file(mut self) -> io::Result<()> {
        self.origin = Origin::Found;
        fs::remove_file(&self.path)
    }

    /// Keeps the lock file when the guard is dropped, even if this guard created it.
    pub(crate) fn leave_file(&mut self) {
        self.origin = Origin::Found;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The file is removed before the lock is released, so that nobody can lock it in between.
        if self.origin == Origin::Made
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the lock file of a bundle cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::is_being_recorded;

    #[cfg(unix)]
    #[test]
    fn a_file_whose_maker_died_before_it_was_opened_to_anybody_is_taken_over() {
        use std::os::unix::fs::PermissionsExt;

        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join(RECORDER_FILE);
        drop(create_closed_file(&path).expect("creates"));
        assert!(is_closed(&path));
        drop(lock_file(&path, OpenOptions::new().write(true)).expect("locks"));
        fs::remove_file(&path).expect("removes");
        let (_file, origin) = lock_file(&path, OpenOptions::new().write(true)).expect("locks");
        assert_eq!(origin, Origin::Made);
        assert_eq!(fs::metadata(&path).expect("is there").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_was_made_for_a_lock_goes_with_it() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join(RECORDER_FILE);
        let hold = Hold::take(root.path()).expect("locks");
        assert!(is_being_recorded(root.path()).expect("asks"));
        let second = Hold::take(root.path()).expect_err("is held");
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
        assert!(path.exists(), "whoever is refused removes nothing");
        drop(hold);
        assert!(!path.exists());

        fs::write(&path, "of a dead recorder").expect("writes");
        drop(Hold::take(root.path()).expect("locks"));
        assert_eq!(fs::read(&path).expect("stays"), b"of a dead recorder");
        Hold::take(root.path()).expect("locks").remove_file().expect("removes");
        assert!(!path.exists());
        Hold::take(root.path()).expect("locks").leave_file();
        assert!(path.exists());
    }
}
