//! Packed bundles: one file instead of thousands, without the bytes that requests repeat.
//!
//! `docs/packed-format.md` describes the file. [`PackedBundle`] reads it, [`pack`] writes it and [`unpack`] makes the
//! directory again.

mod blocks;
mod error;
mod format;
mod index;
mod limits;
mod novelty;
mod paths;
mod reader;
mod source;
mod unpack;
mod wire;
mod writer;

pub use blocks::CACHE_BYTES;
pub use error::{BlockFault, PackError, PackedError, UnpackError};
pub use format::{MAX_BLOCK_BYTES, MAX_INDEX_BYTES, PACKED_EXTENSION, PackVersion, UnknownPackVersion, is_packed};
pub use index::{
    BYTES_PER_SLICE, MAX_BLOCKS, MAX_DIRECTORIES, MAX_EXPANSION, MAX_FILES, MAX_PATHS_BYTES, MAX_SLICES, MIN_BYTES,
    MIN_FILE_SLICES,
};
pub use limits::MAX_PACKED_LOG_BYTES;
pub use paths::{MAX_NAME_BYTES, MAX_PATH_BYTES, MAX_PATH_NAMES, PathProblem};
pub use reader::{PackedBundle, PackedFile};
pub use source::{MAX_SOURCE_DEPTH, Source};
pub use unpack::{MAX_UNPACKED_BYTES, unpack};
pub use writer::{DEFAULT_LEVEL, Level, PackStats, UnknownLevel, pack, verify};
