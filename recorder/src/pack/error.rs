//! Errors of reading, packing and unpacking.

use std::io;
use std::path::PathBuf;

use super::limits::MAX_PACKED_LOG_BYTES;
use super::paths::PathProblem;
use crate::header::UnknownPackVersion;

/// Why a packed bundle, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PackedError {
    /// The file does not begin like a packed bundle.
    #[error("{} is not a packed bundle", path.display())]
    NotPacked {
        /// The file.
        path: PathBuf,
    },
    /// The file has a version of the format that this crate does not know.
    #[error("cannot read {}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version.
        source: UnknownPackVersion,
    },
    /// It is a growing bundle, which can be read only from a file.
    #[error("{} is a growing bundle, which can be read only from a file", path.display())]
    NeedsFile {
        /// The bundle.
        path: PathBuf,
    },
    /// The end of the file is damaged. Without the index there, nothing tells which bytes belong to which file.
    #[error("the end of {} is damaged: {what}; its index is lost", path.display())]
    Footer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The index is damaged or breaks a rule of the format.
    #[error("the index of {} (byte {offset}) is damaged: {what}", path.display())]
    Index {
        /// The file.
        path: PathBuf,
        /// Offset of the index in the file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A record of a growing bundle is what was written, but breaks a rule of the format.
    #[error("the record at byte {offset} of {} is damaged: {what}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Offset of the record in the file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The index has a path that must not be written, such as one that leads out of the target directory.
    #[error("the index of {} has a path that is refused: {problem}: {entry}", path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// The path in the index.
        entry: String,
        /// What is wrong with it.
        problem: PathProblem,
    },
    /// A block is damaged. Files without bytes in it can still be read.
    #[error(
        "block {block} of {} (bytes {offset} to {}) is damaged: {fault}; it holds bytes of {}",
        path.display(), offset + packed_bytes, lost_files(*files, first)
    )]
    Block {
        /// The file.
        path: PathBuf,
        /// Number of the block, from 0.
        block: u32,
        /// Offset of the block in the file.
        offset: u64,
        /// Size of the block in the file.
        packed_bytes: u64,
        /// What is wrong.
        fault: BlockFault,
        /// Number of files that have bytes in the block and are lost.
        files: usize,
        /// Path of the first of these files.
        first: String,
    },
    /// All blocks are intact, but the checksum of a file does not match.
    #[error("{file} in {} is not what was packed: its checksum is wrong", path.display())]
    Content {
        /// The packed bundle.
        path: PathBuf,
        /// The file in it.
        file: String,
    },
    /// The event log is too large to be read without unpacking the bundle.
    #[error("the log in {} has {bytes} bytes, more than the {MAX_PACKED_LOG_BYTES} that are read from a packed bundle", path.display())]
    LargeLog {
        /// The packed bundle.
        path: PathBuf,
        /// Size of the log.
        bytes: u64,
    },
    /// There is no such file in the packed bundle.
    #[error("{} has no {file}", path.display())]
    NoFile {
        /// The packed bundle.
        path: PathBuf,
        /// The file that was asked for.
        file: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The bytes of a file cannot be written to where the caller wants them.
    #[error("cannot write what was read from {}", path.display())]
    Write {
        /// The packed bundle.
        path: PathBuf,
        /// The error of the writer.
        source: io::Error,
    },
}

fn lost_files(files: usize, first: &str) -> String {
    match files {
        0 => "no file".to_owned(),
        1 => first.to_owned(),
        _ => format!("{files} files, {first} first"),
    }
}

impl PackedError {
    /// Returns whether the packed bundle or a file in it does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::NoFile { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

/// What is wrong with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// The checksum of the compressed bytes does not match.
    #[error("its checksum is wrong")]
    Checksum,
    /// The checksum matches, but the bytes do not decompress to the size in the index.
    #[error("it does not decompress to what the index says")]
    Content,
}

/// Why a bundle was not packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The bundle is packed already, so there is nothing to finish.
    #[error("{} is finished already", path.display())]
    Finished {
        /// The bundle.
        path: PathBuf,
    },
    /// A recorder is at work on the bundle.
    #[error("{} is being recorded", path.display())]
    BeingRecorded {
        /// The bundle.
        path: PathBuf,
    },
    /// The directory has neither a manifest nor an event log.
    #[error("{} is not a bundle directory", path.display())]
    NotABundle {
        /// The directory.
        path: PathBuf,
    },
    /// The bundle has something that is neither a plain file nor a directory, which a packed bundle cannot contain.
    #[error("{} is neither a plain file nor a directory", path.display())]
    NotAFile {
        /// Path of it.
        path: PathBuf,
    },
    /// The bundle has a name that a packed bundle cannot contain.
    #[error("{} cannot be packed: {problem}", path.display())]
    Path {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with its name.
        problem: PathProblem,
    },
    /// The event log is so large that readers could not read it from a packed bundle.
    #[error("{} has {bytes} bytes, more than the {MAX_PACKED_LOG_BYTES} that are read from a packed bundle", path.display())]
    LargeLog {
        /// The log.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The bundle has more of something than a packed bundle may have.
    #[error("{} is too large to be packed: {what}", path.display())]
    TooLarge {
        /// The bundle.
        path: PathBuf,
        /// What the bundle has too much of.
        what: &'static str,
    },
    /// The bundle changed while it was packed.
    #[error("{} changed while the bundle was packed", path.display())]
    Changed {
        /// The file or directory.
        path: PathBuf,
    },
    /// A file that is read back from the packed bundle differs from its source.
    #[error("{} differs from its copy in the packed bundle", path.display())]
    Different {
        /// The file.
        path: PathBuf,
    },
    /// The packed bundle that was just written cannot be read.
    #[error("the packed bundle cannot be read back")]
    ReadBack(#[from] PackedError),
    /// A file or directory of the bundle cannot be read or removed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What the program tried to do, as a verb such as "read".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The packed bundle cannot be written.
    #[error("cannot write the packed bundle")]
    Write(#[source] io::Error),
}

/// Why a packed bundle was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The packed bundle is damaged or cannot be read.
    #[error(transparent)]
    Packed(#[from] PackedError),
    /// The files of the bundle have more bytes than the caller allows.
    #[error("{} holds {bytes} bytes, more than the {max} that may be written", path.display())]
    TooLarge {
        /// The packed bundle.
        path: PathBuf,
        /// Size of all its files.
        bytes: u64,
        /// Number of bytes that may be written.
        max: u64,
    },
    /// A file or directory cannot be written.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}
