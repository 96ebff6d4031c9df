//! Which file or folder something is.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Which file or folder it is, whatever its name: device, inode, and time of its birth. Numbers of inodes are used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Identity(u64, u64, u64);

impl Identity {
    /// Returns what identifies a file or folder.
    pub(super) fn of(data: &Metadata) -> Self {
        let born = data.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        // Some file systems do not know it.
        let born = born.map_or(0, |born| u64::try_from(born.as_nanos()).unwrap_or(u64::MAX));
        Self(data.dev(), data.ino(), born)
    }
}

#[cfg(test)]
impl From<u64> for Identity {
    /// Returns one that no file has.
    fn from(number: u64) -> Self {
        Self(0, number, 0)
    }
}
