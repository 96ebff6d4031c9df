//! Errors of stored threads.

use std::io;
use std::path::PathBuf;

use serde_json::json;
use trace_protocol::RpcError;
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
    /// The thread has another writer, in this process or in another one.
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
        /// The turn, as the client named it.
        turn: String,
    },
    /// The thread has no rollout yet.
    #[error("thread {thread} is not materialized yet")]
    NotMaterialized {
        /// The thread.
        thread: ThreadId,
    },
    /// The rollout of the thread is not in the server home.
    #[error("thread {thread} is stored outside of the server home, in {}: it can be neither archived nor deleted", path.display())]
    Outside {
        /// The thread.
        thread: ThreadId,
        /// The path of its rollout.
        path: PathBuf,
    },
    /// The server home contains another rollout of the thread.
    #[error("thread {thread} is stored in {}: resume it by its id, or fork the other file", path.display())]
    Elsewhere {
        /// The thread.
        thread: ThreadId,
        /// The path of the rollout in the server home.
        path: PathBuf,
    },
    /// The history of another thread begins in this thread.
    #[error("cannot delete thread {thread}: forked history still references it")]
    Referenced {
        /// The thread.
        thread: ThreadId,
    },
    /// A cursor that does not come from this server.
    #[error("invalid cursor: {cursor}")]
    InvalidCursor {
        /// The cursor, shortened to [`crate::store::page::MAX_SHOWN_CURSOR_CHARS`].
        cursor: String,
    },
    /// A cursor names an item without its turn.
    #[error("turnId is required when cursor is an item anchor")]
    AnchorWithoutTurn,
    /// A search term is empty.
    #[error("searchTerm must not be empty")]
    EmptyTerm,
    /// A name has no visible character.
    #[error("thread name must not be empty")]
    EmptyName,
    /// A file is not a rollout.
    #[error("{} is not a rollout: {reason}", path.display())]
    NoRollout {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file operation failed.
    #[error("could not {action} {}", path.display())]
    Io {
        /// The operation, as it continues "could not ...".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Returns whether the error says that a file does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns a function that converts an I/O error. `action` continues the phrase "could not ...".
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.into(), source }
    }
}

/// Value of `thread_error_code` in the data of the error that a client gets if a thread has another writer.
pub const ACTIVE_WRITER: &str = "activeWriter";

impl From<StoreError> for RpcError {
    /// Tells a client why a thread could not be stored, found or read.
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Io { source, .. } => Self::internal(format!("{error}: {source}")),
            StoreError::Busy { .. } => {
                Self::invalid_request(&error).with_data(json!({ "thread_error_code": ACTIVE_WRITER }))
            }
            _ => Self::invalid_request(&error),
        }
    }
}
