//! Threads on disk.
//!
//! A thread is stored in a *rollout*: a file with one line for each event, appended when the event happens. Rollouts
//! are the source of truth, and everything else here is derived from them. The layout of the server home and the format
//! of the lines are those of the Codex CLI. Each program can therefore continue the threads that the other one recorded
//! (see `docs/rollout-format.md`).
//!
//! - [`Store`] knows all threads of a server home: it lists, finds, moves, names and deletes them.
//! - [`ThreadWriter`] appends to one thread. A thread has at most one writer, in all processes together.
//! - [`StoredThread`] is the content of a rollout: turns and items for clients, the history for the model, the
//!   settings.
//! - [`page`] splits turns and items into pages.
//!
//! All functions block on disk I/O. Appending a line is fast. Functions that read whole threads ([`Store::load`],
//! [`Store::search`]) should run on a blocking thread.

mod catalogue;
mod error;
mod home;
mod index;
mod list;
mod load;
mod names;
pub mod page;
mod query;
mod queues;
mod rollout;
mod search;
mod shared;
mod stored;
mod summary;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests;
mod thread_writer;

pub use error::{ACTIVE_WRITER, StoreError};
pub use home::Store;
pub use query::{DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT};
pub use query::{Page, SearchQuery, SourceFilter, ThreadListQuery};
pub use rollout::cap::MAX_OUTPUT_BYTES;
pub use rollout::chain::MAX_PARTS;
pub use rollout::line::MAX_LINE_BYTES;
pub use search::{MAX_TERM_CHARS, SNIPPET_CHARS};
pub use search::{Occurrence, SearchHit};
pub use stored::{Damage, ForkPoint, StoredMail, StoredSettings, StoredThread};
pub use summary::MAX_PREVIEW_CHARS;
pub use summary::{EdgeStatus, GitChange, NewThread, Resolution, ThreadSummary};
pub use thread_writer::ThreadWriter;
