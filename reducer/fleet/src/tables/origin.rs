//! What is known of a session beside its graph.

use serde::{Deserialize, Serialize};

/// Version of the columns and of their meaning. Sessions of a lake with another version are reduced again. It grows whenever
/// a table gets a column, or the reducer or an answer changes what a column says.
pub const TABLES_VERSION: u32 = 1;

/// Where a session came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What tells whether the session changed: its ETag, or its size and time.
    pub fingerprint: String,
    /// Size of what was read, in bytes, as far as the listing tells it.
    pub bytes: Option<u64>,
    /// When it was written last, in milliseconds since the Unix epoch.
    pub modified_unix_ms: Option<i64>,
    /// Working directory, if the file of the session tells it and the graph does not.
    pub cwd: Option<String>,
}

/// Why a session cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Stable code, which `diagnostics` shows.
    pub code: &'static str,
    /// The error.
    pub message: String,
}
