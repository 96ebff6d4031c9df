//! The lock on a bundle: an exclusive lock on its `recorder.json`.
//!
//! A recorder holds it while it works, as a [`RecorderLock`](crate::write). Everything else that changes a bundle holds a
//! [`BundleLock`], so that no recorder continues the bundle meanwhile. Whatever changes the files of an existing bundle takes
//! one of the two locks as a parameter, and gets the directory from it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{create_closed_file, open_to_owner};
use crate::hidden::{hidden_name, remove};
use crate::recording::{RECORDER_FILE, Recording, is_being_recorded};

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
pub(crate) struct BundleLock {
    bundle: PathBuf,
    /// `None` if no lock file could be created, and none is needed.
    file: Option<LockedFile>,
}

#[derive(Debug)]
struct LockedFile {
    path: PathBuf,
    /// Holds the lock until it is closed.
    _file: File,
    origin: Origin,
}

impl BundleLock {
    /// Locks the bundle directory at `bundle`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`io::ErrorKind::WouldBlock`] if a recorder or another `BundleLock` has the lock, and any
    /// other error of creating, opening or locking the file.
    pub(crate) fn take(bundle: &Path) -> io::Result<Self> {
        let path = bundle.join(RECORDER_FILE);
        let (file, origin) = lock_file(&path, OpenOptions::new().read(true))?;
        if origin == Origin::Made {
            // If this process dies, the file looks like one of a dead recorder, which is correct. An empty file means the
            // same but says it less clearly, so a full disk must not prevent the lock.
            let recording = Recording { pid: std::process::id(), opened_at_unix_ms: 0, stopped: None };
            if let Err(error) = serde_json::to_writer(&file, &recording) {
                tracing::debug!(path = %path.display(), %error, "the lock file of a bundle stays empty");
            }
        }
        Ok(Self { bundle: bundle.to_owned(), file: Some(LockedFile { path, _file: file, origin }) })
    }

    /// Locks a bundle to make room on the disk. No lock file is needed if no recorder can be at work: the bundle is packed,
    /// something other than a file has the name of the lock file, or the file system has no locks. A full disk is no error
    /// either.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`take`](Self::take).
    pub(crate) fn take_to_make_room(bundle: &Path) -> io::Result<Self> {
        let without_file = Self { bundle: bundle.to_owned(), file: None };
        if !bundle.is_dir() {
            return Ok(without_file);
        }
        let error = match Self::take(bundle) {
            Err(error) => error,
            taken => return taken,
        };
        match error.kind() {
            io::ErrorKind::Unsupported => Ok(without_file),
            io::ErrorKind::InvalidInput | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                if is_being_recorded(bundle)? {
                    Err(io::ErrorKind::WouldBlock.into())
                } else {
                    Ok(without_file)
                }
            }
            _ => Err(error),
        }
    }

    /// Returns the path of the locked bundle.
    pub(crate) fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Returns whether a lock file is held. If none is, a recorder may begin to work on the bundle.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.file.is_some()
    }

    /// Returns whether the lock file did not exist before it was locked.
    pub(crate) fn has_made_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.origin == Origin::Made)
    }

    /// Removes the lock file while the lock is held, even if this guard did not create it.
    pub(crate) fn remove_file(mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => {
                file.origin = Origin::Found;
                fs::remove_file(&file.path)
            }
            None => Ok(()),
        }
    }

    /// Renames the bundle to a hidden name beside it, so that nobody finds a partly deleted bundle.
    pub(crate) fn hide(mut self) -> io::Result<HiddenBundle> {
        // The path may be that of a symlink to the bundle.
        let path = self.bundle.canonicalize()?;
        let hidden = hidden_name(&path)?;
        if !cfg!(unix) {
            // Other systems do not rename a directory with an open file.
            self.file = None;
        }
        fs::rename(&path, &hidden)?;
        Ok(HiddenBundle { lock: self, path, hidden })
    }
}

/// A bundle with a hidden name, whose lock is held.
#[derive(Debug)]
pub(crate) struct HiddenBundle {
    lock: BundleLock,
    path: PathBuf,
    hidden: PathBuf,
}

impl HiddenBundle {
    /// Returns the hidden path.
    pub(crate) fn hidden_path(&self) -> &Path {
        &self.hidden
    }

    pub(crate) fn lock(&self) -> &BundleLock {
        &self.lock
    }

    /// Gives the bundle its name back.
    pub(crate) fn give_back(self) -> io::Result<()> {
        fs::rename(&self.hidden, &self.path)
    }

    /// Removes the bundle. If only a part of it can be removed, the rest keeps the hidden name.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        if let Some(file) = &mut self.lock.file {
            // The lock file is removed with the directory.
            file.origin = Origin::Found;
        }
        remove(&self.hidden)
    }
}

impl Drop for LockedFile {
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
        let lock = BundleLock::take(root.path()).expect("locks");
        assert!(is_being_recorded(root.path()).expect("asks"));
        let second = BundleLock::take(root.path()).expect_err("is held");
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
        assert!(path.exists(), "whoever is refused removes nothing");
        drop(lock);
        assert!(!path.exists());

        fs::write(&path, "of a dead recorder").expect("writes");
        drop(BundleLock::take(root.path()).expect("locks"));
        assert_eq!(fs::read(&path).expect("stays"), b"of a dead recorder");
        BundleLock::take(root.path()).expect("locks").remove_file().expect("removes");
        assert!(!path.exists());
    }
}
