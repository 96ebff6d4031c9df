//! The right to a name among the processes of a machine, which nobody can take or hold up who can only read.
//!
//! A lock on a file does not do: `flock` works on a file that is open for reading, and so does a shared lock of `fcntl`, which
//! keeps an exclusive one away. Here everybody who claims a name has a file of his own, write-locked before it gets the
//! name by which others find it. Whether its owner lives is asked as *could somebody lock this for reading?*, which only a
//! write lock denies, and that takes a descriptor that is open for writing. A claim counts if nobody else's lives when it
//! has been published; of two that are published at once both see each other, give way, and try again.
//!
//! File names are never used twice, so the file of one who died can be removed by anybody, at any time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the names of claims end.
const CLAIM: &str = ".claim";
/// How the names of claims begin before they are locked. Nobody looks at them.
const UNPUBLISHED: &str = ".new-";

/// How often a claim is tried that meets another one.
const ATTEMPTS: u32 = 8;
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// The right to a name, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Claim {
    /// Claims a name in a folder, which is there and which those can write to who may claim. Returns `None` if somebody else
    /// has the name. Waits for no more than some hundredths of a second.
    ///
    /// # Errors
    ///
    /// Returns the error of the system when files cannot be made, listed or locked there.
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

    /// Puts a file there that says that somebody wants the name. `None` if somebody locked the file before.
    fn publish(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let own = format!("{name}.{:032x}{CLAIM}", u128::from_ne_bytes(random()?));
        let hidden = folder.join(format!("{UNPUBLISHED}{own}"));
        let file = crate::private::options().read(true).write(true).create_new(true).open(&hidden)?;
        // Dropped, it removes the file, under whatever name it has.
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
        // The lock goes with the file. A file that stays is that of one who died.
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "the file of a claim is left behind");
        }
    }
}

/// Says whether somebody lives who has a claim on a name, and removes the claims of those who do not.
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
            // That of another user, of whom nothing can be said.
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

/// Locks a file for writing, for as long as it is open. Says whether nobody else had it locked.
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

/// Says whether somebody has a file locked for writing.
#[cfg(target_os = "linux")]
fn is_write_locked(file: &File) -> io::Result<bool> {
    use nix::fcntl::{FcntlArg, fcntl};

    let mut lock = whole(nix::libc::F_RDLCK);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != nix::libc::F_UNLCK)
}

/// Returns a lock of some kind on all of a file.
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

/// Elsewhere whoever can read a claim can make it look alive.
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
    fn a_name_has_one_owner_and_is_free_when_he_goes() {
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
    fn what_one_left_who_died_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.0123.claim"), "").unwrap();
        let claim = Claim::take(folder.path(), "a").unwrap().unwrap();
        assert_eq!(files(folder.path()), std::slice::from_ref(&claim.path));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_can_only_read_neither_takes_a_name_nor_keeps_it_from_others() {
        use nix::fcntl::{FcntlArg, fcntl};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.0123.claim");
        fs::write(&path, "").unwrap();
        let (first, second) = (File::open(&path).unwrap(), File::open(&path).unwrap());
        first.lock().unwrap();
        fcntl(&second, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_RDLCK))).unwrap();
        assert!(fcntl(&second, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_WRLCK))).is_err(), "it takes a writer");
        let claim = Claim::take(folder.path(), "a").unwrap().expect("readers do not count");

        // Nor do those count that lock what is claimed.
        let reader = File::open(&claim.path).unwrap();
        reader.lock().unwrap();
        assert!(fcntl(&reader, FcntlArg::F_OFD_SETLK(&whole(nix::libc::F_RDLCK))).is_err());
        assert!(Claim::take(folder.path(), "a").unwrap().is_none());
        drop(claim);
        assert!(Claim::take(folder.path(), "a").unwrap().is_some(), "the reader still has the file open and locked");
    }

    #[test]
    fn of_many_at_once_never_two_have_the_name() {
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
