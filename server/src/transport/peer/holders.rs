//! The sockets that a process holds.

use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

use rustix::fs::{CWD, Dir, Mode, OFlags};

/// Calls a function with the inode number of each socket that a process holds. Stops when the function breaks or when
/// `most` open files were examined. Returns the number of examined files. A process that has ended, or that hides its
/// files from other processes (as programs with keys do), shows none.
pub(super) fn each_socket(pid: u32, most: usize, mut on_socket: impl FnMut(u64) -> ControlFlow<()>) -> usize {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(CWD, format!("/proc/{pid}/fd"), flags, Mode::empty()) else { return 0 };
    let Ok(entries) = Dir::read_from(&folder) else { return 0 };
    let mut looked_at = 0;
    for entry in entries.filter_map(Result::ok).take(most) {
        looked_at += 1;
        let mut buffer = [MaybeUninit::uninit(); 64];
        let target = rustix::fs::readlinkat_raw(folder.as_fd(), entry.file_name(), &mut buffer);
        let number = target.ok().and_then(|(target, _)| socket_number(target));
        if number.is_some_and(|number| on_socket(number).is_break()) {
            break;
        }
    }
    looked_at
}

fn socket_number(target: &[u8]) -> Option<u64> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Returns the number of open files of a process. Before Linux 6.2, the result is always 0.
pub(super) fn open_files(pid: u32) -> u64 {
    std::fs::metadata(format!("/proc/{pid}/fd")).map_or(0, |folder| folder.len())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn own_sockets_are_found_and_the_search_stops_on_break() {
        let sockets: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("an address")).collect();
        let numbers: Vec<u64> = sockets
            .iter()
            .map(|socket| std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd())).expect("open").ino())
            .collect();
        let mut seen = Vec::new();
        each_socket(std::process::id(), usize::MAX, |number| {
            seen.push(number);
            ControlFlow::Continue(())
        });
        assert!(numbers.iter().all(|number| seen.contains(number)), "{numbers:?} {seen:?}");
        let mut calls = 0;
        each_socket(std::process::id(), usize::MAX, |_| {
            calls += 1;
            ControlFlow::Break(())
        });
        assert_eq!(calls, 1);
        assert_eq!(each_socket(std::process::id(), 2, |_| ControlFlow::Continue(())), 2);
        assert_eq!(each_socket(u32::MAX, usize::MAX, |_| ControlFlow::Continue(())), 0);
    }

    #[test]
    fn other_files_are_not_sockets() {
        for (target, number) in
            [("socket:[12]", Some(12)), ("socket:[]", None), ("pipe:[12]", None), ("/tmp/socket:[12]", None)]
        {
            assert_eq!(socket_number(target.as_bytes()), number, "{target}");
        }
    }
}
