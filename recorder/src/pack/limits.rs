//! Limits of packed bundles that more than one room needs.

use crate::log::MAX_LOG_BYTES;

/// Largest event log that is read from a packed bundle. A log in a directory is mapped; this one has to be in memory.
pub const MAX_PACKED_LOG_BYTES: u64 = MAX_LOG_BYTES;
