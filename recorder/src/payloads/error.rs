//! The errors of reading a payload file, and the limit of its size.

use std::io;

use crate::pack::PackedError;

/// Largest payload file that is read. A model request has a few megabytes at most; a larger file is not a payload.
pub const MAX_PAYLOAD_BYTES: u64 = 1 << 30;

/// Why a payload file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// The path leaves the bundle directory.
    #[error("path leads out of the bundle")]
    OutsideBundle,
    /// The path names a directory, a pipe or another thing that is not a plain file.
    #[error("not a plain file")]
    NotAFile,
    /// The file is larger than [`MAX_PAYLOAD_BYTES`].
    #[error("file of {bytes} bytes is larger than the {MAX_PAYLOAD_BYTES} that a payload may have")]
    TooLarge {
        /// Size of the file.
        bytes: u64,
    },
    /// The bytes are in a part of a packed bundle that is damaged or cannot be read.
    #[error(transparent)]
    Packed(#[from] PackedError),
    /// An error of the file system, such as a missing file.
    #[error(transparent)]
    Io(#[from] io::Error),
}
