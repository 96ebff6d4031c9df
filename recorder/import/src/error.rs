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
}

impl ImportError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
