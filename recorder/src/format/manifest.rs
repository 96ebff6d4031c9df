//! `manifest.json`: what a bundle says about itself before its first event.

use serde::{Deserialize, Serialize};

use super::version::SchemaVersion;

/// Name of the manifest file in a bundle.
pub const MANIFEST_FILE: &str = "manifest.json";
/// Name of the event log in a bundle. Readers always use this name and ignore [`Manifest::raw_event_log`], as the peer
/// does.
pub const EVENT_LOG_FILE: &str = "trace.jsonl";
/// Name of the payload directory in a bundle. The paths of payload references begin with it.
pub const PAYLOADS_DIR: &str = "payloads";

/// Name of the recorder's own file in a bundle. It is not part of the format, and other readers ignore it.
pub const RECORDER_FILE: &str = "recorder.json";

/// Size in bytes that the file has from its creation on. The space is reserved so that the recorder can write its reason
/// for stopping to a full disk. A file system that copies on write may still refuse.
pub const RECORDER_FILE_BYTES: usize = 4096;
/// Name of the file with the reduced graph, which readers put into the bundle directory.
pub const STATE_FILE: &str = "state.json";
/// Name of the file with the reduced graph in its compact form, which readers put into the bundle directory.
pub const COMPACT_STATE_FILE: &str = "state.compact.json";

/// The manifest of a bundle. Every field is required; unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Schema of the bundle.
    pub schema_version: SchemaVersion,
    /// Id of the trace.
    pub trace_id: String,
    /// Id of the rollout. Under schema 2 every event repeats it.
    pub rollout_id: String,
    /// First thread of the session.
    pub root_thread_id: String,
    /// Wall clock at the start, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// File name of the event log (always [`EVENT_LOG_FILE`]).
    pub raw_event_log: String,
    /// Directory of the payloads (always [`PAYLOADS_DIR`]).
    pub payloads_dir: String,
}

impl Manifest {
    /// Returns a manifest of the current schema.
    pub fn new(trace_id: &str, rollout_id: &str, root_thread_id: &str, started_at_unix_ms: i64) -> Self {
        Self {
            schema_version: SchemaVersion::CURRENT,
            trace_id: trace_id.to_owned(),
            rollout_id: rollout_id.to_owned(),
            root_thread_id: root_thread_id.to_owned(),
            started_at_unix_ms,
            raw_event_log: EVENT_LOG_FILE.to_owned(),
            payloads_dir: PAYLOADS_DIR.to_owned(),
        }
    }
}
