//! Packed bundles: one file instead of thousands, which stores the bytes that requests repeat only once.
//!
//! `docs/packed-format.md` describes the format. [`PackedBundle`] reads a packed bundle, [`pack`] writes one, and
//! [`unpack`] restores the directory.

mod blocks;
mod checksums;
mod error;
mod finish;
mod format;
mod index;
pub(crate) mod lanes;
mod limits;
mod names;
pub(crate) mod novelty;
mod paths;
mod piped;
mod positioned;
mod reader;
pub(crate) mod record;
mod scan;
pub(crate) mod slice;
mod source;
mod unpack;
mod wire;
mod writer;

pub use crate::header::{PackVersion, UnknownPackVersion, is_growing};
pub use blocks::CACHE_BYTES;
pub use error::{BlockFault, PackError, PackedError, UnpackError};
pub use finish::{FINISHED_LEVEL, finish};
pub use format::{MAX_BLOCK_BYTES, MAX_INDEX_BYTES, PACKED_EXTENSION, is_packed};
pub use index::{
    BYTES_PER_SLICE, MAX_BLOCKS, MAX_EXPANSION, MAX_FILES, MAX_PATHS_BYTES, MAX_SLICES, MIN_BYTES, MIN_FILE_SLICES,
};
pub use limits::MAX_PACKED_LOG_BYTES;
pub use names::MAX_DIRECTORIES;
pub use paths::{MAX_NAME_BYTES, MAX_PATH_BYTES, MAX_PATH_NAMES, PathProblem};
pub use piped::{LENDING_VERSION, LendingError, MAX_LENT_AT_ONCE, MAX_LENT_BYTES, PipedBytes, lend};
pub use positioned::ReadAt;
pub(crate) use reader::GrowingState;
pub use reader::{PackedBundle, PackedFile};
pub(crate) use slice::Slice as ContentSlice;
pub use source::{MAX_SOURCE_DEPTH, Source};
pub use unpack::{MAX_UNPACKED_BYTES, unpack};
pub use writer::{DEFAULT_LEVEL, Level, PackStats, UnknownLevel, pack, verify};
