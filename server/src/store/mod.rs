//! Threads on disk.
//!
//! A thread is a *rollout*: a file of lines, one for each thing that happened, appended while it happens. Rollouts are the
//! truth; everything else here is worked out from them. The layout of the home folder and the lines are those of the Codex
//! CLI, so that a thread that it recorded goes on here, and one of ours goes on there (see `docs/rollout-format.md`).
//!
//! - [`Store`] knows all threads of a home: lists, finds, moves, names and removes them.
//! - [`ThreadWriter`] appends to one thread; at most one process has one for a thread.
//! - [`StoredThread`] is what a rollout says: turns and items for clients, the history for the model, the settings.
//! - [`page`] cuts turns and items into pages.
//!
//! All of it is blocking file work. Appending a line is short; what reads whole threads ([`Store::load`],
//! [`Store::search`]) belongs on a thread that may block.

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

pub use error::StoreError;
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
