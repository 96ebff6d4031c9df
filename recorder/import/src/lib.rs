//! What the importers of foreign sessions share.
//!
//! Coding agents keep their sessions in files of their own. An importer reads such files and makes of each session the bundle
//! that a recorder would have written. It reads lines with [`Records`] and tells a [`Draft`] what happened, per thread and
//! in the order of the file. The draft brings the threads into one order, keeps for each event the line that it comes
//! from, and makes a bundle in memory, which [`write()`] puts on disk.
//!
//! Nothing is invented. What a file does not hold is missing in the bundle, and what was rebuilt or concluded is said by a
//! [`Code`] in the bundle's [`ImportRecord`](trace_recorder::format::ImportRecord).

mod body;
mod catalog;
mod draft;
mod error;
mod event;
mod following;
mod format;
mod formats;
mod item;
mod merge;
mod note;
mod paths;
mod records;
mod sessions;
mod summary;
mod surrogates;
mod text;
mod thread;
mod time;
mod write;

pub use body::{History, ItemText};
pub use catalog::{Catalog, Listed};
pub use draft::{Draft, Lane};
pub use error::ImportError;
pub use event::{EventRef, Stamp, Time};
pub use following::Following;
pub use format::{Format, HEAD_BYTES, Homes, Knowledge, Known, MIN_NAME_CHARS, SessionRef, Source, is_id_in};
pub use formats::FORMATS;
pub use item::{Content, Item, Output, Role};
pub use note::Code;
pub use records::{MAX_RECORD_BYTES, Record, Records};
pub use sessions::{MAX_DEPTH, format, open, recognize, sessions, summarize};
pub use summary::{MAX_PROMPT_CHARS, Reads, Spent, Summary, Usage};
pub use thread::{
    Answer, Awaited, Call, CallResult, InferenceId, Request, ThreadInfo, ThreadWriter, ToolId, agent_path,
    child_thread_id, tool_kind,
};
pub use time::millis;
pub use write::write;
