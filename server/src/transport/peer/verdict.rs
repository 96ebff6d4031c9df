//! Decides whether a process may be a client.

use std::io;

use super::memory::Process;
use super::refused::Refused;
use crate::lineage::{self, Lineage};

/// Returns an error if a process must not be a client of this server, whose process id is `own`.
pub(super) fn judge_process(pid: u32, own: u32) -> Result<(), Refused> {
    match lineage::lineage(pid, own) {
        Ok(Lineage::Own | Lineage::Outside) => Ok(()),
        Ok(Lineage::Descendant) => Err(Refused::OwnProcess),
        Ok(Lineage::ConfinedElsewhere) => Err(Refused::ConfinedElsewhere),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::Gone),
        Err(error) => Err(Refused::unknown(error)),
    }
}

/// Returns whether a process is still running.
pub(super) fn is_there((pid, start): Process) -> bool {
    lineage::stat(pid).is_ok_and(|stat| stat.start == start && !stat.is_zombie)
}
