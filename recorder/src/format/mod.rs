//! The bundle format: manifest, event log and payload references of schema 1 and 2.
//!
//! The types of this module mirror the contents of the files. They neither open files nor interpret the contents.

pub mod event;
pub mod import;
pub mod manifest;
pub mod payload;
pub mod tagged;
pub mod text;
pub mod version;

pub use event::{CellStatus, Event, EventPayload, ExecutionStatus, RolloutStatus};
pub use import::{IMPORT_FILE, ImportNote, ImportRecord, ImportSource};
pub use manifest::{
    COMPACT_STATE_FILE, EVENT_LOG_FILE, MANIFEST_FILE, Manifest, PAYLOADS_DIR, RECORDER_FILE, RECORDER_FILE_BYTES,
    STATE_FILE,
};
pub use payload::{PayloadKind, PayloadRef};
pub use tagged::{Requester, ToolKind, ToolSummary};
pub use text::Text;
pub use version::SchemaVersion;
