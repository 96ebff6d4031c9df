//! Schema versions of a bundle.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The schema number that a manifest and every event carry.
///
/// The number selects the rules of the reduction. Releases with the same number still differ in details, so readers are
/// tolerant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SchemaVersion(pub u32);

impl SchemaVersion {
    /// Schema of bundles up to Codex CLI 0.164.
    pub const V1: Self = Self(1);
    /// Schema of bundles since Codex CLI 0.165.
    pub const V2: Self = Self(2);
    /// The schema that the recorder of this crate writes.
    pub const CURRENT: Self = Self::V2;

    /// Checks that this crate knows the schema.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownSchema`] for any number except 1 and 2.
    pub fn check_readable(self) -> Result<(), UnknownSchema> {
        match self {
            Self::V1 | Self::V2 => Ok(()),
            Self(found) => Err(UnknownSchema { found }),
        }
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for a schema that this crate does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("schema {found} is unknown; the known schemas are 1 and 2")]
pub struct UnknownSchema {
    /// The number that was found.
    pub found: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemas_are_readable_and_no_other() {
        assert_eq!(SchemaVersion::V1.check_readable(), Ok(()));
        assert_eq!(SchemaVersion::V2.check_readable(), Ok(()));
        for found in [0, 3, u32::MAX] {
            assert_eq!(SchemaVersion(found).check_readable(), Err(UnknownSchema { found }));
        }
    }
}
