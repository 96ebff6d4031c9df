//! Exclusive claims to names among the processes of a machine. A process that can only read the files can neither take
//! nor block a claim.
//!
//! An ordinary file lock is not sufficient: `flock` works on a file that is open for reading, and a shared lock of
//! `fcntl`, which also does, blocks an exclusive one. Here, every process that claims a name creates its own file, and
//! takes a write lock on it before the file gets a name that others look for. To find out whether the owner of a file
//! is alive, a process tests whether the file could be locked for reading. Only a write lock prevents that, and taking
//! a write lock requires a descriptor that is open for writing. A claim is valid if no other claim is alive after it
//! was published. If two claims are published at the same time, both see each other, give up, and try again.
//!
//! File names are never reused, so any process can remove the file of a dead owner at any time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Suffix of the file names of claims.
const CLAIM: &str = ".claim";
/// Prefix of the file names of claims before they are locked. Other processes ignore them.
const UNPUBLISHED: &str = ".new-";

/// How often to try again if another claim is met.
const ATTEMPTS: u32 = 8;
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// An exclusive claim to a name, held until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// The open file, which holds the lock.
    _file: File,
}

impl Claim {
    /// Claims a name in a folder. The folder must exist, and only processes that may claim names can be able to write
    /// to it. Returns `None` if another process has the name. Waits for a few hundredths of a second at most.
    ///
    /// # Errors
    ///
    /// Returns an error if files cannot be created, listed or locked in the folder.
    pub(crate) fn take(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(
                    LONGEST_PAUSE.mul_f64(f64::from(u16::from_ne_bytes(random()?)) / f64::from(u16::MAX)),
                );
            }
            if is_taken(folder, name, None)? {
                continue;
            }
            let Some(claim) = Self::publish(folder, name)? else { continue };
            if !is_taken(folder, name, Some(&claim.path))? {
                return Ok(Some(claim));
            }
        }
        Ok(None)
    }

    /// Creates and publishes the file of a claim. Returns `None` if another process has locked the file before.
    fn publish(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let own = format!("{name}.{:032x}{CLAIM}", u128::from_ne_bytes(random()?));
        let hidden = folder.join(format!("{UNPUBLISHED}{own}"));
        let file = crate::private::options().read(true).write(true).create_new(true).open(&hidden)?;
        // Dropping the claim removes the file, under whichever name it has.
        let mut claim = Self { path: hidden, _file: file };
        if !lock(&claim._file)? {
            return Ok(None);
        }
        let path = folder.join(own);
        fs::rename(&claim.path, &path)?;
        claim.path = path;
        Ok(Some(claim))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Closing the file releases the lock. If the file cannot be removed, it counts as that of a dead owner.
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "the file of a claim is left behind");
        }
    }
}

/// Returns whether a living process has a claim to a name. Removes the claims of dead processes.
fn is_taken(folder: &Path, name: &str, own: Option<&Path>) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let is_claim = file_name.to_str().is_some_and(|file| {
            file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest.ends_with(CLAIM))
        });
        let path = entry.path();
        if !is_claim || own == Some(path.as_path()) {
            continue;
        }
        match File::open(&path) {
            Ok(file) if is_write_locked(&file)? => return Ok(true),
            Ok(_) => drop(fs::remove_file(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // The file belongs to another user, so its state is unknown.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(true),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Takes a write lock on a file, which lasts as long as the file is open. Returns whether that succeeded.
#[cfg(target_os = "linux")]
fn lock(file: &File) -> io::Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};

    match fcntl(file, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_WRLCK))) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether another process has a write lock on a file.
#[cfg(target_os = "linux")]
fn is_write_locked(file: &File) -> io::Result<bool> {
    use nix::fcntl::{FcntlArg, fcntl};

    let mut lock = whole(nix::libc::F_RDLCK);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != nix::libc::F_UNLCK)
}

/// Returns a description of a lock of the whole file.
#[cfg(target_os = "linux")]
fn whole(kind: i32) -> nix::libc::flock {
    nix::libc::flock {
        l_type: i16::try_from(kind).expect("a small number"),
        l_whence: i16::try_from(nix::libc::SEEK_SET).expect("a small number"),
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// On other systems, a process that can read a claim can make it look alive.
#[cfg(not(target_os = "linux"))]
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_write_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(fs::TryLockError::WouldBlock) => Ok(true),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_name_has_one_owner_and_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::take(folder.path(), "a").unwrap().unwrap();
        assert!(Claim::take(folder.path(), "a").unwrap().is_none());
        assert!(Claim::take(folder.path(), "b").unwrap().is_some());
        assert!(Claim::take(folder.path(), "a.b").unwrap().is_some(), "a name that begins like another");
        drop(claim);
        assert!(files(folder.path()).is_empty());
        assert!(Claim::take(folder.path(), "a").unwrap().is_some());
    }

    #[test]
    fn claims_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.0123.claim"), "").unwrap();
        let claim = Claim::take(folder.path(), "a").unwrap().unwrap();
        assert_eq!(files(folder.path()), std::slice::from_ref(&claim.path));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_can_only_read_neither_takes_nor_blocks_a_name() {
        use nix::fcntl::{FcntlArg, fcntl};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.0123.claim");
        fs::write(&path, "").unwrap();
        let (first, second) = (File::open(&path).unwrap(), File::open(&path).unwrap());
        first.lock().unwrap();
        fcntl(&second, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_RDLCK))).unwrap();
        assert!(fcntl(&second, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_WRLCK))).is_err(), "it takes a writer");
        let claim = Claim::take(folder.path(), "a").unwrap().expect("readers do not count");

        // Locks of a process on the claim's file do not count either if it is open for reading.
        let reader = File::open(&claim.path).unwrap();
        reader.lock().unwrap();
        assert!(fcntl(&reader, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_RDLCK))).is_err());
        assert!(Claim::take(folder.path(), "a").unwrap().is_none());
        drop(claim);
        assert!(Claim::take(folder.path(), "a").unwrap().is_some(), "the reader still has the file open and locked");
    }

    #[test]
    fn a_contended_name_never_has_two_owners() {
        let folder = tempfile::tempdir().unwrap();
        let (owners, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..50 {
                        let Some(claim) = Claim::take(folder.path(), "a").unwrap() else { continue };
                        assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0, "two owners");
                        std::thread::yield_now();
                        owners.fetch_sub(1, Ordering::SeqCst);
                        taken.fetch_add(1, Ordering::SeqCst);
                        drop(claim);
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
        assert!(files(folder.path()).is_empty());
    }
}
