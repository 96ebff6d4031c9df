//! Identifies a file or folder independently of its name.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Device, inode and creation time of a file or folder. The creation time distinguishes files that get the same inode
/// number one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Identity(u64, u64, u64);

impl Identity {
    /// Returns the identity of the file or folder with this metadata.
    pub(super) fn of(data: &Metadata) -> Self {
        let born = data.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        // Some file systems do not store the creation time.
        let born = born.map_or(0, |born| u64::try_from(born.as_nanos()).unwrap_or(u64::MAX));
        Self(data.dev(), data.ino(), born)
    }
}

#[cfg(test)]
impl From<u64> for Identity {
    /// Returns an identity that no file has.
    fn from(number: u64) -> Self {
        Self(0, number, 0)
    }
}
