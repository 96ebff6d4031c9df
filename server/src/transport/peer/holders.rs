//! Which processes hold a socket.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{CWD, Dir, Mode, OFlags};

use crate::lineage::pids;

/// Returns the processes that hold a socket, as far as this one may look into them. A program may forbid that, as those do
/// that handle keys; one of another user does.
///
/// # Errors
///
/// The list of processes cannot be read.
pub(super) fn holders(inode: u64) -> io::Result<Vec<u32>> {
    Ok(pids()?.filter(|pid| holds(*pid, inode)).collect())
}

/// Says whether a process holds a socket, and lets this one see that.
pub(super) fn holds(pid: u32, inode: u64) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(CWD, format!("/proc/{pid}/fd"), flags, Mode::empty()) else { return false };
    let Ok(entries) = Dir::read_from(&folder) else { return false };
    let wanted = format!("socket:[{inode}]");
    entries.filter_map(Result::ok).any(|entry| {
        let mut buffer = [MaybeUninit::uninit(); 64];
        let target = rustix::fs::readlinkat_raw(folder.as_fd(), entry.file_name(), &mut buffer);
        target.is_ok_and(|(target, _)| target == wanted.as_bytes())
    })
}
