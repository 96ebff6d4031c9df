//! The lock on a bundle: an exclusive lock on its `recorder.json`.
//!
//! A recorder holds it while it works, as a [`RecorderLock`](crate::write). A repair holds a [`BundleLock`], so that no
//! recorder continues the bundle meanwhile. Whatever changes the record in an existing bundle takes one of these locks as a
//! parameter, and gets the directory from it. A deletion takes a [`DeletionLock`], which holds a `BundleLock` wherever one
//! can be taken. Only `state.json` and `state.compact.json`, which can be made again, are replaced without a lock.

use std::borrow::Borrow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{create_closed_file, open_to_owner};
use crate::header::is_growing;
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

/// A file that is locked until it is dropped.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl Borrow<File> for LockedFile {
    fn borrow(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process shares the lock from the moment in which it is forked until it
        // starts its program.
        let _ = self.0.unlock();
    }
}

/// Locks the file at `path` until the returned file is dropped. Opens it with `existing`, or creates it if it is missing.
///
/// # Errors
///
/// Returns an error of kind [`io::ErrorKind::WouldBlock`] if the lock is held in this process or another one. Returns any
/// other error of creating, opening or locking the file, and `InvalidInput` if `path` is not a plain file.
pub(crate) fn lock_file(path: &Path, existing: &OpenOptions) -> io::Result<(LockedFile, Origin)> {
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
            return Ok((LockedFile(file), if is_ours { Origin::Made } else { Origin::Found }));
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
    /// The path of the lock file.
    path: PathBuf,
    file: LockedFile,
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
            if let Err(error) = serde_json::to_writer(&file.0, &recording) {
                tracing::debug!(path = %path.display(), %error, "the lock file of a bundle stays empty");
            }
        }
        Ok(Self { bundle: bundle.to_owned(), path, file, origin })
    }

    /// Returns the path of the locked bundle.
    pub(crate) fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Returns whether the lock file did not exist before it was locked.
    pub(crate) fn has_made_file(&self) -> bool {
        self.origin == Origin::Made
    }

    /// Removes the lock file while the lock is held, even if this guard did not create it.
    pub(crate) fn remove_file(mut self) -> io::Result<()> {
        self.origin = Origin::Found;
        fs::remove_file(&self.path)
    }

    /// Notes that the bundle was renamed.
    fn moved_to(&mut self, bundle: &Path) {
        self.bundle = bundle.to_owned();
        self.path = bundle.join(RECORDER_FILE);
    }
}

impl Drop for BundleLock {
    fn drop(&mut self) {
        if self.origin == Origin::Found {
            return;
        }
        // The file is removed before the lock is released, so that nobody can lock it in between. If the bundle was moved
        // away, the path may be that of another bundle's lock file.
        let removed = is_at(&self.file.0, &self.path)
            .and_then(|is_there| if is_there { fs::remove_file(&self.path) } else { Ok(()) });
        if let Err(error) = removed {
            tracing::warn!(path = %self.path.display(), %error, "the lock file of a bundle cannot be removed");
        }
    }
}

/// Locks the file of a growing bundle, which is the lock that its recorder takes.
fn lock_growing(path: &Path) -> io::Result<LockedFile> {
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(LockedFile(file)),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The right to delete a bundle, and to pack it before.
///
/// It has a lock unless none can be taken and no recorder was at work: the bundle is packed, something other than a file has
/// the name of the lock file, the disk is full, or the file system has no locks. Without a lock, a recorder may begin to work
/// on the bundle later.
#[derive(Debug)]
pub(crate) struct DeletionLock {
    bundle: PathBuf,
    lock: Option<BundleLock>,
    /// The file of a growing bundle, which is its own lock.
    growing: Option<LockedFile>,
}

impl DeletionLock {
    /// Locks the bundle at `bundle`.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`BundleLock::take`], except for the cases without a lock.
    pub(crate) fn take(bundle: &Path) -> io::Result<Self> {
        let lock = if bundle.is_dir() { Self::lock_if_possible(bundle)? } else { None };
        let growing = if is_growing(bundle)? { Some(lock_growing(bundle)?) } else { None };
        Ok(Self { bundle: bundle.to_owned(), lock, growing })
    }

    fn lock_if_possible(bundle: &Path) -> io::Result<Option<BundleLock>> {
        let error = match BundleLock::take(bundle) {
            Err(error) => error,
            Ok(lock) => return Ok(Some(lock)),
        };
        match error.kind() {
            io::ErrorKind::Unsupported => Ok(None),
            io::ErrorKind::InvalidInput | io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                if is_being_recorded(bundle)? {
                    Err(io::ErrorKind::WouldBlock.into())
                } else {
                    Ok(None)
                }
            }
            _ => Err(error),
        }
    }

    /// Returns whether a lock is held. If none is, a recorder may begin to work on the bundle.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.lock.is_some() || self.growing.is_some()
    }

    /// Returns whether the lock file did not exist before it was locked.
    pub(crate) fn has_made_file(&self) -> bool {
        self.lock.as_ref().is_some_and(BundleLock::has_made_file)
    }

    /// Renames the bundle to a hidden name beside it, so that nobody finds a partly deleted bundle.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be renamed, or if its path is now a symlink. It then keeps its name.
    pub(crate) fn hide(mut self) -> io::Result<HiddenBundle> {
        let hidden = hidden_name(&self.bundle)?;
        if !cfg!(unix) {
            // Other systems do not rename a directory with an open file.
            self.lock = None;
        }
        fs::rename(&self.bundle, &hidden)?;
        let bundle = HiddenBundle::new(self, hidden);
        if fs::symlink_metadata(&bundle.hidden).is_ok_and(|metadata| metadata.is_symlink()) {
            bundle.give_back()?;
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a symlink took the place of the bundle"));
        }
        Ok(bundle)
    }
}

/// A bundle with a hidden name. Its lock is still held, if there is one.
#[derive(Debug)]
pub(crate) struct HiddenBundle {
    lock: DeletionLock,
    hidden: PathBuf,
}

impl HiddenBundle {
    fn new(mut lock: DeletionLock, hidden: PathBuf) -> Self {
        if let Some(lock) = &mut lock.lock {
            lock.moved_to(&hidden);
        }
        Self { lock, hidden }
    }

    /// Returns the hidden path.
    pub(crate) fn hidden_path(&self) -> &Path {
        &self.hidden
    }

    pub(crate) fn lock(&self) -> &DeletionLock {
        &self.lock
    }

    /// Gives the bundle its name back.
    ///
    /// # Errors
    ///
    /// Returns an error that names the hidden path if the bundle cannot be renamed.
    pub(crate) fn give_back(mut self) -> io::Result<()> {
        fs::rename(&self.hidden, &self.lock.bundle).map_err(|error| self.with_path(&error, "the bundle"))?;
        if let Some(lock) = &mut self.lock.lock {
            lock.moved_to(&self.lock.bundle);
        }
        Ok(())
    }

    /// Removes the bundle. If only a part of it can be removed, the rest keeps the hidden name.
    ///
    /// # Errors
    ///
    /// Returns an error that names the hidden path if something cannot be removed.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        if let Some(lock) = &mut self.lock.lock {
            // The lock file is removed with the directory.
            lock.origin = Origin::Found;
        }
        remove(&self.hidden).map_err(|error| self.with_path(&error, "what is left of the bundle"))
    }

    fn with_path(&self, error: &io::Error, what: &str) -> io::Error {
        io::Error::new(error.kind(), format!("{error}; {what} is now {}", self.hidden.display()))
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

    #[test]
    fn a_lock_is_released_though_a_forked_child_still_shares_it() {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join(RECORDER_FILE), "of a dead recorder").expect("writes");
        let lock = BundleLock::take(root.path()).expect("locks");
        // A duplicate of the descriptor shares the lock, as the child does before it starts its program.
        let _of_child = lock.file.0.try_clone().expect("duplicates");
        drop(lock);
        BundleLock::take(root.path()).expect("nobody holds the lock");
    }

    /// A directory with the bundle `one`, which is locked for its deletion.
    fn scene() -> (tempfile::TempDir, PathBuf, DeletionLock) {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("one");
        fs::create_dir(&path).expect("creates");
        let lock = DeletionLock::take(&path).expect("locks");
        assert!(lock.is_exclusive() && lock.has_made_file());
        (place, path, lock)
    }

    #[test]
    #[cfg(unix)]
    fn the_lock_file_of_another_bundle_with_the_same_path_stays() {
        let (_place, path, lock) = scene();
        let hidden = lock.hide().expect("hides");
        let hidden_path = hidden.hidden_path().to_owned();
        // Meanwhile another session takes the path.
        fs::create_dir(&path).expect("creates");
        let other = BundleLock::take(&path).expect("locks");
        let error = hidden.give_back().expect_err("the path is taken").to_string();
        assert!(error.ends_with(&format!("; the bundle is now {}", hidden_path.display())), "{error}");
        assert!(path.join(RECORDER_FILE).exists());
        assert!(hidden_path.is_dir() && !hidden_path.join(RECORDER_FILE).exists());
        drop(other);

        let (_place, path, lock) = scene();
        fs::rename(&path, path.with_file_name("moved")).expect("renames");
        fs::create_dir(&path).expect("creates");
        let _other = BundleLock::take(&path).expect("locks");
        drop(lock);
        assert!(path.join(RECORDER_FILE).exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_gets_its_name_back_loses_the_file_that_was_made_for_the_lock() {
        let (place, path, lock) = scene();
        lock.hide().expect("hides").give_back().expect("renames");
        assert_eq!(fs::read_dir(place.path()).expect("lists").count(), 1);
        assert!(path.is_dir() && !path.join(RECORDER_FILE).exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_deletion_that_fails_says_where_the_rest_is() {
        let (place, _, lock) = scene();
        let hidden = lock.hide().expect("hides");
        let hidden_path = hidden.hidden_path().to_owned();
        fs::rename(&hidden_path, place.path().join("elsewhere")).expect("renames");
        let error = hidden.remove().expect_err("is not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let end = format!("; what is left of the bundle is now {}", hidden_path.display());
        assert!(error.to_string().ends_with(&end), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_symlink_that_took_the_place_of_a_bundle_is_not_deleted() {
        let (place, path, lock) = scene();
        let target = place.path().join("target");
        fs::rename(&path, &target).expect("renames");
        std::os::unix::fs::symlink(&target, &path).expect("links");
        lock.hide().expect_err("a symlink");
        assert!(path.is_symlink() && target.is_dir());
        assert_eq!(fs::read_dir(place.path()).expect("lists").count(), 2);
        assert!(!target.join(RECORDER_FILE).exists());
    }
}
