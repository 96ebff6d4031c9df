//! The errors of a repair.

use std::io;
use std::path::{Path, PathBuf};

use crate::bundle::BundleError;
use crate::format::version::UnknownSchema;

/// Why a bundle was not repaired. The bundle is then unchanged, unless writing failed after some files were replaced. In
/// that case another repair completes the work.
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
    /// The schema of the bundle is unknown, so a repair does not know its rules.
    #[error("{}: {schema}", path.display())]
    UnknownSchema {
        /// The bundle.
        path: PathBuf,
        /// Its schema.
        schema: UnknownSchema,
    },
    /// A part of the bundle is a symlink or has another unexpected file type, which a repair does not touch.
    #[error("{} has another file type than a recorder gives it", path.display())]
    Odd {
        /// Path of the part.
        path: PathBuf,
    },
    /// A file cannot be read, written or replaced.
    #[error("cannot repair {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> RepairError + '_ {
    |source| RepairError::Io { path: path.to_owned(), source }
}
