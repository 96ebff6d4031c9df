//! Limits of packed bundles that several modules use.

use crate::log::MAX_LOG_BYTES;

/// Largest event log that is read from a packed bundle. Such a log is always read into memory, while a log in a directory
/// can be mapped.
pub const MAX_PACKED_LOG_BYTES: u64 = MAX_LOG_BYTES;
