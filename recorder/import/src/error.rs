//! Why a session cannot be imported.

use std::io;
use std::path::{Path, PathBuf};

/// Why a session cannot be imported. Damage inside of a file is no such error: it is noted in the import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or directory cannot be read or written.
    #[error("cannot access {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The file is of a known format, but holds no session.
    #[error("{} holds no session: {reason}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: &'static str,
    },
    /// No format recognizes the file.
    #[error("{} is not a session file of an agent that trace knows", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A store has no session with this id.
    #[error("{} has no session {id}", path.display())]
    NoSuchSession {
        /// The store.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// A store has several sessions, and none was named.
    #[error("{} holds {count} sessions; name one of them", path.display())]
    SeveralSessions {
        /// The store.
        path: PathBuf,
        /// How many sessions it holds.
        count: usize,
    },
    /// A file whose content is not what its format requires.
    #[error("{} cannot be read: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl ImportError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
