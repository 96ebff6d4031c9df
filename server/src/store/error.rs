//! What can go wrong with stored threads.

use std::io;
use std::path::PathBuf;

use trace_runtime::ThreadId;

/// Why a thread could not be stored, found or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no thread with this id.
    #[error("no rollout found for thread id {thread}")]
    Unknown {
        /// The id.
        thread: ThreadId,
    },
    /// There is no archived thread with this id.
    #[error("no archived rollout found for thread id {thread}")]
    NotArchived {
        /// The id.
        thread: ThreadId,
    },
    /// The thread is archived.
    #[error("thread {thread} is archived; it must be unarchived first")]
    Archived {
        /// The id.
        thread: ThreadId,
    },
    /// Somebody else writes the thread: another process, or another part of this one.
    #[error("thread {thread} already has an active writer")]
    Busy {
        /// The id.
        thread: ThreadId,
    },
    /// The writer was closed.
    #[error("the writer of thread {thread} is closed")]
    Closed {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread exists already.
    #[error("thread {thread} exists already")]
    Exists {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread has no such turn.
    #[error("turn not found: {turn}")]
    UnknownTurn {
        /// The turn, as it was asked for.
        turn: String,
    },
    /// The thread has nothing on disk yet.
    #[error("thread {thread} is not materialized yet")]
    NotMaterialized {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread is not among those of the home.
    #[error("thread {thread} is kept outside of the home, in {}: it can neither be archived nor deleted here", path.display())]
    Outside {
        /// The thread.
        thread: ThreadId,
        /// Where it is kept.
        path: PathBuf,
    },
    /// The home has the thread in another file.
    #[error("thread {thread} is kept in {}: resume it by its id, or fork the other file", path.display())]
    Elsewhere {
        /// The thread.
        thread: ThreadId,
        /// Where it is kept.
        path: PathBuf,
    },
    /// The beginning of another thread is in this one.
    #[error("cannot delete thread {thread}: forked history still references it")]
    Referenced {
        /// The thread.
        thread: ThreadId,
    },
    /// A cursor that no page gave.
    #[error("invalid cursor: {cursor}")]
    InvalidCursor {
        /// The cursor, cut to [`crate::store::page::MAX_SHOWN_CURSOR_CHARS`].
        cursor: String,
    },
    /// An item was named without its turn.
    #[error("turnId is required when cursor is an item anchor")]
    AnchorWithoutTurn,
    /// A search for nothing.
    #[error("searchTerm must not be empty")]
    EmptyTerm,
    /// A name without a character that shows.
    #[error("thread name must not be empty")]
    EmptyName,
    /// A rollout does not say whose it is.
    #[error("{} is no rollout: {reason}", path.display())]
    NoRollout {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file could not be worked with.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Tells whether a file is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns a function that says what was tried with a file when it failed.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.into(), source }
    }
}
