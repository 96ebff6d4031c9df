//! Locks that allow a thread only one writer.
//!
//! Servers of this release use a [`Claim`], which a process that can only read the files can neither take nor block.
//! Earlier releases and the Codex CLI lock a file with `flock`. A writer locks this file too, and respects the lock of
//! another program. But every process that can read the file can hold such a lock. It therefore counts only if its
//! holder has opened the file for writing and is not a command that runs for an agent.

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

/// Folder of the lock files in the server home.
pub(crate) const LOCKS: &str = "thread-writer-locks";
/// Folder of the claims in the folder of the lock files.
const CLAIMS: &str = "claims";
const COORDINATION: &str = ".coordination.lock";

/// How long to wait for programs that are creating or removing a lock file. That takes some microseconds, so a program
/// that takes longer is probably holding the lock on purpose.
const COORDINATION_TIMEOUT: Duration = Duration::from_millis(20);
const COORDINATION_PAUSE: Duration = Duration::from_millis(1);

/// How often to try again after the owner of a lock file has removed it between opening and locking it.
const FILE_ATTEMPTS: usize = 8;

/// The exclusive right to write a thread. Dropping it releases the right.
#[derive(Debug)]
pub(crate) struct WriterLock {
    folder: PathBuf,
    path: PathBuf,
    /// The lock for other programs. `None` if a process holds it whose lock does not count.
    file: Option<LockedFile>,
    _claim: ClaimFolder,
}

/// A file that this process has locked. Dropping it releases the lock. Closing the file would not be enough, because a child
/// process shares the lock from the moment in which it is forked until it starts its program.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// A claim in a separate folder, so that taking it does not require reading the claims on other threads. The folder is
/// removed with the claim.
#[derive(Debug)]
struct ClaimFolder {
    path: PathBuf,
    claim: Option<Claim>,
}

impl WriterLock {
    /// Takes the lock of a thread. Waits for a few hundredths of a second at most.
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
                tracing::warn!(path = %path.display(), "a lock is ignored, because its holder cannot write the thread");
                None
            }
            Legacy::Held => return Err(busy()),
        };
        Ok(Self { folder, path, file, _claim: claim })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A lock file that stays does no harm, because the lock is released. It is removed only if no other program can have
        // opened it without locking it yet.
        if let (Some(file), Some(_turn)) = (self.file.take(), coordinate(&self.folder)) {
            let _ = fs::remove_file(&self.path);
            drop(file);
        }
    }
}

impl ClaimFolder {
    /// Takes the claim. Returns `None` if another process has it.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..FILE_ATTEMPTS {
            private::create_folders(path)?;
            match Claim::take(path, "writer") {
                Ok(claim) => return Ok(claim.map(|claim| Self { path: path.to_owned(), claim: Some(claim) })),
                // The previous owner has just removed the folder.
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
        // If another process has a claim in the folder, this fails and the folder stays.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The state of the lock file that other programs use.
enum Legacy {
    /// This process has the lock.
    Locked(LockedFile),
    /// Another writer has it.
    Held,
    /// A process has the lock whose lock does not count.
    HeldByReader,
}

fn lock_for_others(folder: &Path, path: &Path) -> io::Result<Legacy> {
    let _turn = coordinate(folder);
    for _ in 0..FILE_ATTEMPTS {
        let file = private::options().create(true).truncate(false).write(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&file, path)? => return Ok(Legacy::Locked(LockedFile(file))),
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) if is_held_by_reader(&file)? => return Ok(Legacy::HeldByReader),
            Err(Errno::WOULDBLOCK) => return Ok(Legacy::Held),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Legacy::Held)
}

/// Returns whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a lock on a file is held only by processes that cannot be writers of the thread.
fn is_held_by_reader(file: &File) -> io::Result<bool> {
    // A writer's lock is exclusive. If a shared lock can be taken, no writer holds one.
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

    /// Returns whether the holder of a file's lock has not opened the file for writing, or is a confined command. If
    /// that cannot be determined, the holder is assumed to be a writer.
    pub(super) fn is_reader(file: &File) -> bool {
        let Some(pid) = holder(file) else { return false };
        let is_command = own_pid().and_then(|own| lineage(pid, own)).is_ok_and(|lineage| match lineage {
            Lineage::Descendant | Lineage::ConfinedElsewhere => true,
            Lineage::Own | Lineage::Outside => false,
        });
        is_command || may_write(pid, file) == Some(false)
    }

    /// Returns the id of the process that holds the exclusive lock.
    fn holder(file: &File) -> Option<u32> {
        let inode = file.metadata().ok()?.ino().to_string();
        let locks = fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            // A line with an arrow is a process that waits for the lock.
            let is_held = fields.next()? == "FLOCK";
            let (_advisory, kind) = (fields.next()?, fields.next()?);
            let pid = fields.next()?.parse().ok()?;
            let is_here = fields.next()?.rsplit(':').next()? == inode;
            (is_held && kind == "WRITE" && is_here).then_some(pid)
        })
    }

    /// Returns whether a process has opened a file for writing, or `None` if that cannot be determined.
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

/// Waits until no program is creating or removing a lock file. Returns `None` if the wait takes too long. The caller
/// continues in that case, because servers of this release do not depend on this lock.
fn coordinate(folder: &Path) -> Option<LockedFile> {
    let file = private::options().create(true).truncate(false).write(true).open(folder.join(COORDINATION)).ok()?;
    let start = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(LockedFile(file)),
            Err(Errno::WOULDBLOCK) if start.elapsed() < COORDINATION_TIMEOUT => {
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
    fn a_lock_is_released_though_a_forked_child_still_shares_it() {
        let home = tempfile::tempdir().unwrap();
        let thread = ThreadId::from("one");
        let lock = WriterLock::take(home.path(), &thread).unwrap();
        // A duplicate of the descriptor shares the lock, as the child does before it starts its program.
        let _of_child = lock.file.as_ref().unwrap().0.try_clone().unwrap();
        // The lock file stays, as on a busy machine.
        let _coordination = coordinate(&home.path().join(LOCKS)).unwrap();
        drop(lock);
        assert!(home.path().join(LOCKS).join("one.lock").exists());
        drop(WriterLock::take(home.path(), &thread).unwrap());
    }

    #[test]
    fn an_id_that_is_a_path_locks_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert!(matches!(WriterLock::take(home.path(), &ThreadId::from("../x")), Err(StoreError::Unknown { .. })));
    }

    #[test]
    fn this_program_and_another_one_exclude_each_other() {
        let home = tempfile::tempdir().unwrap();
        let (locks, thread) = (home.path().join(LOCKS), ThreadId::from("t"));
        fs::create_dir_all(&locks).unwrap();
        let path = locks.join("t.lock");
        // The way of earlier releases and of the Codex CLI.
        let theirs = File::options().create(true).write(true).truncate(false).open(&path).unwrap();
        flock(&theirs, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(matches!(WriterLock::take(home.path(), &thread), Err(StoreError::Busy { .. })));
        drop(theirs);
        let ours = WriterLock::take(home.path(), &thread).unwrap();
        let theirs = File::options().write(true).open(&path).unwrap();
        assert_eq!(flock(&theirs, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK));
        drop(ours);
    }

    /// Takes every lock that is possible on a file that is open only for reading, on every file of the folder.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_can_only_read_cannot_block_a_thread() {
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
            // A server that was killed leaves these files.
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
