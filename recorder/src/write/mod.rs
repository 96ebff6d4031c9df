//! Records bundles. This is the part of the recorder that runs inside a live process.
//!
//! A [`TraceRoot`] is a directory of bundles. Starting a session in it returns a [`BundleWriter`], from which the caller
//! gets handles for threads, turns, inference calls, tool calls and so on. A handle knows its thread and turn, so all
//! threads of a session record into the same bundle and no event can be recorded in the wrong place.
//!
//! ```
//! use trace_recorder::write::{Json, NewSession, NewThread, TraceRoot, WriterOptions};
//! use trace_recorder::format::{ExecutionStatus, RolloutStatus};
//! # fn main() -> Result<(), trace_recorder::write::WriteError> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path();
//!
//! let root = TraceRoot::new(path, WriterOptions::default());
//! let session = root.start(&NewSession::new("thread-1"))?;
//! let metadata = serde_json::json!({ "model": "example-large" });
//! let thread = session.start_thread(NewThread::new("thread-1", "/root"), Some(Json(&metadata)));
//! let turn = thread.start_turn("turn-1");
//! turn.accept_item("msg_1");
//! turn.end(ExecutionStatus::Completed);
//! thread.end(RolloutStatus::Completed);
//! session.end(RolloutStatus::Completed);
//! session.complete()?;
//! # Ok(())
//! # }
//! ```
//!
//! **Recording never fails the session.** The methods that record an event return nothing and do not wait for the disk.
//! Events and payloads go through a bounded queue to one writer thread per bundle. If the disk is too slow and the queue is
//! full, a caller waits for up to [`WriterOptions::max_block`]. Then the content of payloads is dropped: a small document
//! of the same shape with the member [`DROPPED_MEMBER`] replaces it, and an event of the type [`GAP_EVENT`] reports it.
//! Single events are never dropped. If there is no room even for events, or if the disk is full or fails, the recording
//! stops for good. `recorder.json` then says where and why, and the session continues. [`BundleWriter::stats`] has the
//! counts.
//!
//! **Acknowledged events are safe.** When [`BundleWriter::flush`] returns, everything recorded before it survives what
//! [`Durability`] promises. A payload is complete before the event that refers to it is written, so wherever a log ends,
//! at most its last line is incomplete.
//!
//! [`TraceRoot::start`], [`TraceRoot::reopen`], [`BundleWriter::flush`], [`BundleWriter::complete`] and dropping the last
//! handle wait for the disk. Do not call them on a thread that must not block, such as one that runs async tasks.
//!
//! A disabled handle records nothing and costs one branch. It does not even create the events and payloads.

mod append;
mod body;
mod cell;
mod compaction;
mod directory;
mod error;
mod gap;
mod growing;
mod inference;
mod lanes;
mod lock;
mod open_turn;
mod options;
mod queue;
mod recorder;
#[cfg(feature = "regrow")]
mod regrow;
mod reopen;
mod repeats;
mod root;
mod skeleton;
mod stats;
pub mod storage;
mod sync;
mod target;
mod thread;
mod tool;
mod turn;
mod worker;
mod writer;

pub(crate) use append::payload_ref;
pub use append::{BundleAppender, Context};
pub use body::{Body, IntoBody, JoinedJson, Json, Later, NO_BODY, Piece, RawJson, SharedJson};
pub use cell::{CellTrace, NewCell};
pub use compaction::{CompactionTrace, NewCompactionRequest};
pub use error::WriteError;
pub use gap::{GAP_EVENT, Gap, GapReason};
pub use growing::finish_growing;
pub use inference::{InferenceTrace, NewInference};
pub use options::{
    Durability, Form, MAX_BLOCK, MAX_CLOSE, MAX_LINGER, MAX_QUEUED_BODY_BYTES, MAX_QUEUED_LINE_BYTES, SMALL_BODY_BYTES,
    WriterOptions,
};
pub use recorder::MAX_EVENT_BYTES;
#[cfg(feature = "regrow")]
pub use regrow::{End, RegrowError, regrow};
pub use root::{NewSession, TraceRoot};
pub(crate) use skeleton::is_dropped;
pub use skeleton::{DROPPED_MEMBER, KEPT_TEXT_BYTES, KEPT_VALUE_BYTES, SKELETON_BYTES};
pub use stats::{RecordingState, Stats};
pub use thread::{NewThread, ThreadTrace};
pub use tool::{NewToolCall, ToolTrace};
pub use turn::{AgentResult, TurnTrace};
pub use writer::BundleWriter;
