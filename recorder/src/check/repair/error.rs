//! Why a bundle was not repaired.

use std::io;
use std::path::{Path, PathBuf};

use crate::bundle::BundleError;
use crate::format::version::UnknownSchema;

/// Why a bundle was not repaired. It is then as it was, unless a later file could not be written; another repair
/// finishes what this one began.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// The bundle cannot be opened.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Only a directory can be repaired.
    #[error("{} is not a directory, and only a directory can be repaired", path.display())]
    NotADirectory {
        /// The bundle.
        path: PathBuf,
    },
    /// A recorder is at work on the bundle.
    #[error("{} is being recorded", path.display())]
    BeingRecorded {
        /// The bundle.
        path: PathBuf,
    },
    /// Nothing is known about what the bundle should look like.
    #[error("{} has {schema}", path.display())]
    UnknownSchema {
        /// The bundle.
        path: PathBuf,
        /// Its schema.
        schema: UnknownSchema,
    },
    /// A part of the bundle is a symbolic link or another thing that a repair does not follow.
    #[error("{} is not what a recorder makes there", path.display())]
    Odd {
        /// The part.
        path: PathBuf,
    },
    /// A file cannot be read, written or replaced.
    #[error("cannot repair {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> RepairError + '_ {
    |source| RepairError::Io { path: path.to_owned(), source }
}
