//! Keeps two writers from one thread.
//!
//! Among servers of this release the right is a [`Claim`], which nobody can take or hold up who can only read. Earlier ones
//! and the Codex CLI lock a file with `flock`; the file is locked for them too, and one that they hold is respected. But such
//! a lock can be had by anybody who can read the file, so it counts only if its holder is no command and could write.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use trace_runtime::ThreadId;

use super::place;
use crate::claim::Claim;
use crate::private;
use crate::store::error::StoreError;

/// Folder of the locks, below the home.
pub(crate) const LOCKS: &str = "thread-writer-locks";
/// Folder of the claims, below that of the locks.
const CLAIMS: &str = "claims";
const COORDINATION: &str = ".coordination.lock";

/// How long programs that make or remove a lock file are waited for. They take some microseconds; who takes longer is somebody
/// who does not let go.
const COORDINATION_PATIENCE: Duration = Duration::from_millis(20);
const COORDINATION_PAUSE: Duration = Duration::from_millis(1);

/// How often a lock file may be removed by its owner between its opening and its locking.
const FILE_ATTEMPTS: usize = 8;

/// The right to write a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct WriterLock {
    folder: PathBuf,
    path: PathBuf,
    /// The lock for other programs. `None` if it is held by somebody who does not count.
    file: Option<File>,
    _claim: ClaimFolder,
}

/// A claim in a folder of its own, so that the claims of others need not be looked through. The folder goes with it.
#[derive(Debug)]
struct ClaimFolder {
    path: PathBuf,
    claim: Option<Claim>,
}

impl WriterLock {
    /// Takes the lock of a thread. Waits for no more than some hundredths of a second.
    pub(crate) fn take(home: &Path, thread: &ThreadId) -> Result<Self, StoreError> {
        if !place::is_id(thread.as_str()) {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let busy = || StoreError::Busy { thread: thread.clone() };
        let folder = home.join(LOCKS);
        let claims = folder.join(CLAIMS).join(thread.as_str());
        let claim = ClaimFolder::take(&claims).map_err(StoreError::io("claim the thread in", &claims))?;
        let claim = claim.ok_or_else(busy)?;
        let path = folder.join(format!("{thread}.lock"));
        let file = match lock_for_others(&folder, &path).map_err(StoreError::io("lock", &path))? {
            Legacy::Locked(file) => Some(file),
            Legacy::HeldByReader => {
                tracing::warn!(path = %path.display(), "a lock is held by somebody who may not write it, and ignored");
                None
            }
            Legacy::Held => return Err(busy()),
        };
        Ok(Self { folder, path, file, _claim: claim })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A lock file that stays is no harm: the lock itself is gone with the file's handle. It is removed only when nobody
        // can have opened it and not locked it yet.
        if let (Some(file), Some(_turn)) = (self.file.take(), coordinate(&self.folder)) {
            let _ = fs::remove_file(&self.path);
            drop(file);
        }
    }
}

impl ClaimFolder {
    /// Claims what a folder stands for; `None` if somebody else has.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..FILE_ATTEMPTS {
            private::create_folders(path)?;
            match Claim::take(path, "writer") {
                Ok(claim) => return Ok(claim.map(|claim| Self { path: path.to_owned(), claim: Some(claim) })),
                // Whoever had the thread last has just removed the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Drop for ClaimFolder {
    fn drop(&mut self) {
        drop(self.claim.take());
        // Somebody else's claim keeps it.
        let _ = fs::remove_dir(&self.path);
    }
}

/// What became of the lock that other programs look at.
enum Legacy {
    /// It is ours.
    Locked(File),
    /// Another writer has it.
    Held,
    /// Somebody has it who could not write.
    HeldByReader,
}

fn lock_for_others(folder: &Path, path: &Path) -> io::Result<Legacy> {
    let _turn = coordinate(folder);
    for _ in 0..FILE_ATTEMPTS {
        let file = private::options().create(true).truncate(false).write(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&file, path)? => return Ok(Legacy::Locked(file)),
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) if is_held_by_reader(&file)? => return Ok(Legacy::HeldByReader),
            Err(Errno::WOULDBLOCK) => return Ok(Legacy::Held),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Legacy::Held)
}

/// Says whether a path still names an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Says whether nobody holds a lock on a file but those that cannot be writers of the thread.
fn is_held_by_reader(file: &File) -> io::Result<bool> {
    // Writers never share. If a lock can be shared, only such locks are held.
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => return Ok(true),
        Err(Errno::WOULDBLOCK) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(holder::is_reader(file))
}

#[cfg(target_os = "linux")]
mod holder {
    use std::fs::{self, File};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;

    use crate::lineage::{Lineage, lineage, own_pid};

    /// Says whether the one who holds a lock on a file has not opened it for writing, or is a command that is shut in. Where
    /// that cannot be seen, it is a writer.
    pub(super) fn is_reader(file: &File) -> bool {
        let Some(pid) = holder(file) else { return false };
        let is_command = own_pid().and_then(|own| lineage(pid, own)).is_ok_and(|lineage| match lineage {
            Lineage::Descendant | Lineage::ConfinedElsewhere => true,
            Lineage::Own | Lineage::Outside => false,
        });
        is_command || may_write(pid, file) == Some(false)
    }

    /// Returns the process that holds the exclusive lock.
    fn holder(file: &File) -> Option<u32> {
        let inode = file.metadata().ok()?.ino().to_string();
        let locks = fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            // A line that begins with an arrow is somebody who waits.
            let is_held = fields.next()? == "FLOCK";
            let (_advisory, kind) = (fields.next()?, fields.next()?);
            let pid = fields.next()?.parse().ok()?;
            let is_here = fields.next()?.rsplit(':').next()? == inode;
            (is_held && kind == "WRITE" && is_here).then_some(pid)
        })
    }

    /// Says whether a process has a file open for writing; `None` if it cannot be seen.
    fn may_write(pid: u32, file: &File) -> Option<bool> {
        let metadata = file.metadata().ok()?;
        let own = (pid == std::process::id()).then(|| file.as_raw_fd().to_string());
        let mut is_open = false;
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).ok()? {
            let entry = entry.ok()?;
            let is_same = fs::metadata(entry.path())
                .is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()));
            let number = entry.file_name().to_str()?.to_owned();
            if !is_same || own.as_ref() == Some(&number) {
                continue;
            }
            is_open = true;
            let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
            let access = u32::from_str_radix(flags.trim(), 8).ok()? & 0o3;
            if access != 0 {
                return Some(true);
            }
        }
        is_open.then_some(false)
    }
}

#[cfg(not(target_os = "linux"))]
mod holder {
    pub(super) fn is_reader(_: &std::fs::File) -> bool {
        false
    }
}

/// Waits for a moment until nobody makes or removes a lock file. `None` if somebody does not let go; then it is done without,
/// since nothing between servers of this release depends on it.
fn coordinate(folder: &Path) -> Option<File> {
    let file = private::options().create(true).truncate(false).write(true).open(folder.join(COORDINATION)).ok()?;
    let start = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(file),
            Err(Errno::WOULDBLOCK) if start.elapsed() < COORDINATION_PATIENCE => {
                std::thread::sleep(COORDINATION_PAUSE);
            }
            Err(error) => {
                tracing::debug!(folder = %folder.display(), %error, "lock files are changed without coordination");
                return None;
            }
        }
    }
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
        assert_eq!(fs::read_dir(home.path().join(LOCKS).join(CLAIMS)).unwrap().count(), 0);
        drop(WriterLock::take(home.path(), &one).unwrap());
    }

    #[test]
    fn an_id_that_is_a_path_locks_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert!(matches!(WriterLock::take(home.path(), &ThreadId::from("../x")), Err(StoreError::Unknown { .. })));
    }

    #[test]
    fn another_program_and_this_one_keep_each_other_out() {
        let home = tempfile::tempdir().unwrap();
        let (locks, thread) = (home.path().join(LOCKS), ThreadId::from("t"));
        fs::create_dir_all(&locks).unwrap();
        let path = locks.join("t.lock");
        // As earlier servers and the Codex CLI do it.
        let theirs = File::options().create(true).write(true).truncate(false).open(&path).unwrap();
        flock(&theirs, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(matches!(WriterLock::take(home.path(), &thread), Err(StoreError::Busy { .. })));
        drop(theirs);
        let ours = WriterLock::take(home.path(), &thread).unwrap();
        let theirs = File::options().write(true).open(&path).unwrap();
        assert_eq!(flock(&theirs, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK));
        drop(ours);
    }

    /// Every lock that can be had on a file that is open for reading only, on every file of the folder.
    #[cfg(target_os = "linux")]
    #[test]
    fn who_can_only_read_keeps_nobody_from_a_thread() {
        use nix::fcntl::{FcntlArg, fcntl};
        use nix::libc;

        let shared = |file: &File| flock(file, FlockOperation::NonBlockingLockShared).map_err(io::Error::from);
        let exclusive = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from);
        let ranges = |file: &File| {
            let lock = libc::flock { l_type: libc::F_RDLCK as i16, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
            fcntl(file, FcntlArg::F_OFD_SETLK(&lock)).map(drop).map_err(io::Error::from)
        };
        type Take<'a> = &'a dyn Fn(&File) -> io::Result<()>;
        let table: [(&str, Take<'_>); 3] = [("shared", &shared), ("exclusive", &exclusive), ("fcntl", &ranges)];
        for (name, take) in table {
            let home = tempfile::tempdir().unwrap();
            let locks = home.path().join(LOCKS);
            let thread = ThreadId::from("t");
            drop(WriterLock::take(home.path(), &thread).unwrap());
            // What a server leaves that was killed.
            fs::write(locks.join("t.lock"), "").unwrap();
            fs::create_dir_all(locks.join(CLAIMS).join("t")).unwrap();
            fs::write(locks.join(CLAIMS).join("t/writer.00.claim"), "").unwrap();
            let files = [".coordination.lock", "t.lock", "claims/t/writer.00.claim", ".", "claims", "claims/t"];
            let readers: Vec<File> = files.iter().map(|file| File::open(locks.join(file)).unwrap()).collect();
            for (reader, file) in readers.iter().zip(files) {
                let taken = take(reader);
                assert!(taken.is_ok() || !reader.metadata().unwrap().is_file(), "{name} {file}: {taken:?}");
            }
            let start = Instant::now();
            let lock = WriterLock::take(home.path(), &thread).expect(name);
            assert!(WriterLock::take(home.path(), &thread).is_err(), "{name}: it still keeps writers out");
            drop(lock);
            drop(WriterLock::take(home.path(), &thread).expect(name));
            assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
        }
    }
}
