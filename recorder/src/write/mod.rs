//! Records bundles: the half of the system that runs inside somebody's live process.
//!
//! A [`TraceRoot`] is a directory of bundles. Starting a session in it gives a [`BundleWriter`], which hands out cheap
//! handles for threads, turns, inference calls, tool calls and so on. A handle knows where its events belong, so that the
//! threads of one session share one bundle and no event can be recorded under the wrong one.
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
//! **Nothing here fails the session.** Recording an event returns nothing and waits for no disk: events and payloads go
//! through a bounded queue to one writer thread per bundle. When the disk cannot keep up, a caller waits for up to
//! [`WriterOptions::max_block`]; then bodies of payloads are dropped, and leave a document of their shape behind
//! ([`DROPPED_MEMBER`]), and an event of the type [`GAP_EVENT`] says so. Events are never dropped from the middle: when not
//! even they find room, or the disk is full or broken, the recording stops for good, `recorder.json` says where and why,
//! and the session goes on. [`BundleWriter::stats`] counts all of it.
//!
//! **What is acknowledged is there.** [`BundleWriter::flush`] returns when everything recorded before it survives what
//! [`Durability`] promises. A payload is complete before the event that names it is written, so that a bundle that ends
//! anywhere is a whole one but for its last line.
//!
//! [`TraceRoot::start`], [`TraceRoot::reopen`], [`BundleWriter::flush`], [`BundleWriter::complete`] and dropping the last
//! handle wait for the disk, and have no place on a thread that runs tasks.
//!
//! A disabled handle records nothing and costs one branch: neither its events nor its payloads are made.

mod append;
mod body;
mod cell;
mod compaction;
mod error;
mod gap;
mod inference;
mod lock;
mod open_turn;
mod options;
mod queue;
mod recorder;
mod reopen;
mod root;
mod skeleton;
mod stats;
pub mod storage;
mod sync;
mod thread;
mod tool;
mod turn;
mod worker;
mod writer;

pub(crate) use append::payload_ref;
pub use append::{BundleAppender, Context};
pub use body::{Body, IntoBody, Json, Later, NO_BODY, RawJson, SharedJson};
pub use cell::{CellTrace, NewCell};
pub use compaction::{CompactionTrace, NewCompactionRequest};
pub use error::WriteError;
pub use gap::{GAP_EVENT, Gap, GapReason};
pub use inference::{InferenceTrace, NewInference};
pub use options::{
    Durability, MAX_BLOCK, MAX_CLOSE, MAX_LINGER, MAX_QUEUED_BODY_BYTES, MAX_QUEUED_LINE_BYTES, SMALL_BODY_BYTES,
    WriterOptions,
};
pub use recorder::MAX_EVENT_BYTES;
pub use root::{NewSession, TraceRoot};
pub(crate) use skeleton::is_dropped;
pub use skeleton::{DROPPED_MEMBER, KEPT_TEXT_BYTES, KEPT_VALUE_BYTES, SKELETON_BYTES};
pub use stats::{RecordingState, Stats};
pub use thread::{NewThread, ThreadTrace};
pub use tool::{NewToolCall, ToolTrace};
pub use turn::{AgentResult, TurnTrace};
pub use writer::BundleWriter;
