//! Marks confined commands and their descendants so that any process can recognise them.
//!
//! The mark is a resource limit that the kernel has ignored since Linux 2.4.25: the number of file locks (`RLIMIT_LOCKS`).
//! Child processes inherit it, raising it again takes a privilege that no command has, and every user can read it in
//! `/proc/PID/limits`. So the mark also identifies processes that a killed server left behind, when nothing else tells
//! where they come from.
//!
//! A command with network access has the lower of two values, so that it cannot lower its limit to pass for a command
//! without network access.

use std::fs;
use std::io;

use rustix::process::{Resource, getrlimit};

use super::error::SandboxError;
use super::resource_limit::limit;
use crate::settings::Network;

/// Limit for commands with network access. The value is arbitrary, but unlikely to be set by another program: its bytes are
/// "trac".
const OPEN: u64 = 0x7472_6163;

/// Limit for commands without network access.
const CLOSED: u64 = OPEN + 1;

/// Marks the calling process.
///
/// # Errors
///
/// Returns an error if the system refuses the limit.
pub(super) fn mark_self(network: Network) -> Result<(), SandboxError> {
    limit(Resource::Locks, if network == Network::Open { OPEN } else { CLOSED })
}

/// Returns whether the marked process `pid` may use the network. Returns `None` if the process has no mark, or if the
/// calling process has the same mark and so cannot tell them apart.
///
/// # Errors
///
/// Returns an error of kind [`io::ErrorKind::NotFound`] if there is no such process.
pub fn marked(pid: u32) -> io::Result<Option<Network>> {
    let limits = fs::read(format!("/proc/{pid}/limits")).map_err(|error| {
        // The process ended between opening and reading the file.
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

/// Parses the second column of the row about file locks. Returns `None` if the process has no limit.
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
