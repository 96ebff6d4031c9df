//! A mark by which every process can see that another one is a confined command, or descends from one.
//!
//! The mark is a limit that the kernel has not looked at since Linux 2.4.25: the number of file locks (`RLIMIT_LOCKS`). Processes that
//! are started inherit it, it can be lowered but not raised without rights that no command has, and everybody can read it in
//! `/proc/PID/limits`. So it stays on what a server left running that was killed, when nothing else tells where it comes from.
//!
//! A command with an open network has the lower value, so that it cannot pass for one with a closed network.

use std::fs;
use std::io;

use rustix::process::{Resource, getrlimit};

use super::error::SandboxError;
use super::resource_limit::limit;
use crate::settings::Network;

/// The limit of commands with an open network. Any number that nobody else would set serves; this one reads "trac".
const OPEN: u64 = 0x7472_6163;

/// The limit of commands with a closed network.
const CLOSED: u64 = OPEN + 1;

/// Puts the mark on the calling process.
///
/// # Errors
///
/// Returns an error if the system refuses.
pub(super) fn put_on(network: Network) -> Result<(), SandboxError> {
    limit(Resource::Locks, if network == Network::Open { OPEN } else { CLOSED })
}

/// Returns whether a process bears the mark of a confined command, and whether that may use the network. `None` if it does not bear it,
/// or if this process bears the same, so that the mark does not tell them apart.
///
/// # Errors
///
/// Returns an error of kind [`io::ErrorKind::NotFound`] if there is no such process.
pub fn marked(pid: u32) -> io::Result<Option<Network>> {
    let limits = fs::read(format!("/proc/{pid}/limits")).map_err(|error| {
        // A process that ends between opening and reading.
        match error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) {
            true => io::ErrorKind::NotFound.into(),
            false => error,
        }
    })?;
    let own = getrlimit(Resource::Locks).maximum.unwrap_or(u64::MAX);
    Ok(hard_limit(&String::from_utf8_lossy(&limits)).and_then(|limit| read(limit, own)))
}

fn read(limit: u64, own: u64) -> Option<Network> {
    match limit {
        ..=OPEN if OPEN < own => Some(Network::Open),
        CLOSED if CLOSED < own => Some(Network::Closed),
        _ => None,
    }
}

/// Reads the second column of the row about file locks. Without a limit it is no number.
fn hard_limit(limits: &str) -> Option<u64> {
    let row = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    row.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_limit_is_a_mark_and_cannot_pass_for_a_closed_network() {
        let row =
            |hard: &str| format!("Limit  Soft Limit  Hard Limit\nMax file locks            5     {hard}     locks\n");
        for (hard, expected) in [
            ("unlimited".to_owned(), None),
            ((CLOSED + 1).to_string(), None),
            (CLOSED.to_string(), Some(Network::Closed)),
            (OPEN.to_string(), Some(Network::Open)),
            ("0".to_owned(), Some(Network::Open)),
        ] {
            let read = hard_limit(&row(&hard)).and_then(|limit| read(limit, u64::MAX));
            assert_eq!(read, expected, "{hard}");
        }
        assert_eq!((read(OPEN, OPEN), read(CLOSED, CLOSED)), (None, None), "a server in a sandbox");
        assert_eq!(read(OPEN, CLOSED), Some(Network::Open));
    }

    #[test]
    fn this_process_bears_no_mark_of_its_own() {
        assert_eq!(marked(std::process::id()).expect("it runs"), None);
        assert_eq!(marked(u32::MAX).expect_err("nobody").kind(), io::ErrorKind::NotFound);
    }
}
