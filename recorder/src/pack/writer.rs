//! Packs a bundle directory, and verifies that the packed bundle equals the directory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};
use zstd::stream::raw::CParameter;

use super::error::PackError;
use super::format::{FOOTER_BYTES, Footer, MAX_BLOCK_BYTES, header};
use super::index::{Index, IndexProblem, Limits, MAX_SLICES};
use super::novelty::{Novelty, Piece};
use super::reader::PackedBundle;
use super::slice::Slice;
use super::source::{self, Source, SourceFile};
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, RECORDER_FILE};
use crate::parts::Part;

/// The compression level that is used by default.
pub const DEFAULT_LEVEL: Level = Level(19);

/// Largest part of a file that is in memory. Larger files are stored in parts of this size.
const PART_BYTES: u64 = 32 << 20;

/// A compression level, from 1 (fast) to 22 (small).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(i32);

impl Level {
    /// See [`FINISHED_LEVEL`](super::FINISHED_LEVEL).
    pub(super) const FINISHED: Self = Self(4);

    /// Returns the level with this number.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownLevel`] for any number except 1 to 22.
    pub fn new(level: i32) -> Result<Self, UnknownLevel> {
        if (1..=22).contains(&level) { Ok(Self(level)) } else { Err(UnknownLevel { found: level }) }
    }
}

/// The error for a compression level that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("compression level {found} does not exist; the levels are 1 to 22")]
pub struct UnknownLevel {
    /// The number.
    pub found: i32,
}

/// Sizes of a bundle and its packed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackStats {
    /// Number of files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of the packed bundle.
    pub packed_bytes: u64,
}

/// Writes the files of a bundle directory as a packed bundle.
///
/// # Errors
///
/// Returns an error if a file cannot be read or changed since the directory was listed, if the bundle exceeds a limit of
/// packed bundles, or if `out` returns an error.
pub fn pack(source: &Source, out: impl Write, level: Level) -> Result<PackStats, PackError> {
    let mut packer = Packer {
        source,
        novelty: Novelty::new(),
        files: source.files().iter().map(|_| Packed::default()).collect(),
        blocks: BlockWriter::new(out, level),
    };
    packer.blocks.write(&header())?;
    // Listing bundles reads the end of the log, the manifest and the recorder's file. They are stored one after the other,
    // so that they share the last of the blocks without payloads.
    for record in [EVENT_LOG_FILE, MANIFEST_FILE, RECORDER_FILE] {
        if let Some(at) = source.files().iter().position(|file| file.path == record) {
            packer.add_in_parts(at, Novelty::store_record)?;
        }
    }
    for (at, file) in source.files().iter().enumerate() {
        match file.path.as_str() {
            path if Part::of_file(path).is_some_and(Part::is_record) => {}
            _ if file.bytes > PART_BYTES => packer.add_in_parts(at, Novelty::store_part)?,
            _ => packer.add(at)?,
        }
    }
    packer.finish()
}

/// Checksum and pieces of a file that is stored.
#[derive(Debug, Default)]
struct Packed {
    checksum: u32,
    pieces: Arc<Vec<Piece>>,
}

struct Packer<'s, W> {
    source: &'s Source,
    novelty: Novelty,
    /// One entry for each file of the source.
    files: Vec<Packed>,
    blocks: BlockWriter<W>,
}

impl<W: Write> Packer<'_, W> {
    fn add(&mut self, at: usize) -> Result<(), PackError> {
        let file = &self.source.files()[at];
        let mut bytes = Vec::with_capacity(file.bytes as usize + 1);
        let input = source::open(self.source, file)?;
        (&input).take(file.bytes + 1).read_to_end(&mut bytes).map_err(|error| self.cannot_read(file, error))?;
        if bytes.len() as u64 != file.bytes {
            return Err(self.changed(file));
        }
        let checksum = xxh3_64(&bytes) as u32;
        let pieces = self.novelty.store(bytes);
        self.files[at] = Packed { checksum, pieces };
        self.write_full()
    }

    fn add_in_parts(
        &mut self,
        at: usize,
        store: impl Fn(&mut Novelty, &[u8], &mut Vec<Piece>),
    ) -> Result<(), PackError> {
        let file = &self.source.files()[at];
        let input = source::open(self.source, file)?;
        let (mut hash, mut pieces, mut bytes) = (Xxh3Default::new(), Vec::new(), 0);
        let mut part = Vec::new();
        loop {
            part.clear();
            (&input).take(PART_BYTES).read_to_end(&mut part).map_err(|error| self.cannot_read(file, error))?;
            bytes += part.len() as u64;
            if part.is_empty() || bytes > file.bytes {
                break;
            }
            hash.update(&part);
            store(&mut self.novelty, &part, &mut pieces);
            self.write_full()?;
        }
        if bytes != file.bytes {
            return Err(self.changed(file));
        }
        self.files[at] = Packed { checksum: hash.digest() as u32, pieces: Arc::new(pieces) };
        Ok(())
    }

    fn cannot_read(&self, file: &SourceFile, source: io::Error) -> PackError {
        PackError::Io { action: "read", path: self.source.path().join(&file.path), source }
    }

    fn changed(&self, file: &SourceFile) -> PackError {
        PackError::Changed { path: self.source.path().join(&file.path) }
    }

    fn write_full(&mut self) -> Result<(), PackError> {
        self.blocks.waiting.append(&mut self.novelty.take_full());
        // Enough blocks for all cores are compressed at once, but no more are kept in memory.
        if self.blocks.waiting.len() >= rayon::current_num_threads() { self.blocks.write_waiting() } else { Ok(()) }
    }

    fn finish(mut self) -> Result<PackStats, PackError> {
        self.novelty.finish();
        self.blocks.waiting.append(&mut self.novelty.take_full());
        self.blocks.write_waiting()?;
        let too_large = |what| PackError::TooLarge { path: self.source.path().to_owned(), what };
        let mut index = self.blocks.take_index();
        let starts: Vec<u64> = index.blocks.iter().map(|block| block.start).collect();
        let (mut slices, mut count): (Vec<Slice>, usize) = (Vec::new(), 0);
        for (file, Packed { checksum, pieces }) in self.source.files().iter().zip(&self.files) {
            self.novelty.resolve(pieces, &starts, &mut slices);
            count += slices.len();
            if count > MAX_SLICES {
                return Err(too_large("its files are made of too many slices"));
            }
            index.push_file(file.path.as_str().into(), *checksum, &slices);
        }
        index.directories = self.source.empty_directories().iter().map(|path| path.as_str().into()).collect();
        self.blocks.finish(index, self.source.path())
    }
}

/// Compresses several blocks in parallel and writes them in order.
pub(super) struct BlockWriter<W> {
    out: W,
    level: Level,
    index: Index,
    waiting: Vec<Vec<u8>>,
}

impl<W: Write> BlockWriter<W> {
    pub(super) fn new(out: W, level: Level) -> Self {
        Self { out, level, index: Index::default(), waiting: Vec::new() }
    }

    /// Returns the number of bytes of all blocks, before compression.
    pub(super) fn content_bytes(&self) -> u64 {
        self.index.ends().0 + self.waiting.iter().map(|block| block.len() as u64).sum::<u64>()
    }

    /// Adds a block. Enough blocks for all cores are compressed at once, but no more are kept in memory.
    pub(super) fn push(&mut self, block: Vec<u8>) -> Result<(), PackError> {
        self.waiting.push(block);
        if self.waiting.len() >= rayon::current_num_threads() { self.write_waiting() } else { Ok(()) }
    }

    /// Returns the index with the blocks that were written, for the caller to add the files.
    pub(super) fn take_index(&mut self) -> Index {
        std::mem::take(&mut self.index)
    }

    /// Writes the index and the footer. `path` is that of the bundle, for messages.
    pub(super) fn finish(mut self, mut index: Index, path: &Path) -> Result<PackStats, PackError> {
        let too_large = |what| PackError::TooLarge { path: path.to_owned(), what };
        index.name_files().map_err(|problem| match problem {
            IndexProblem::Damaged(_) => too_large("it has too many directories"),
            IndexProblem::Path { entry, problem } => PackError::Path { path: path.join(entry), problem },
        })?;
        let bytes = index.encode();
        let packed = compress(&bytes, self.level).map_err(PackError::Write)?;
        let (_, index_offset) = index.ends();
        // A bundle that readers would refuse is not written.
        let limits = Limits::of(index_offset + (packed.len() + FOOTER_BYTES) as u64);
        index.check(&limits).map_err(too_large)?;
        if bytes.len() as u64 > limits.index_bytes {
            return Err(too_large("its index is too large"));
        }
        let footer = Footer {
            index_offset,
            packed_bytes: packed.len() as u64,
            bytes: bytes.len() as u64,
            checksum: xxh3_64(&packed),
        };
        let footer = footer.to_bytes(&header());
        self.write(&packed)?;
        self.write(&footer)?;
        self.out.flush().map_err(PackError::Write)?;
        Ok(PackStats {
            files: index.entries.len() as u64,
            bytes: index.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes)),
            packed_bytes: index_offset + (packed.len() + footer.len()) as u64,
        })
    }

    pub(super) fn write_waiting(&mut self) -> Result<(), PackError> {
        let level = self.level;
        let waiting = std::mem::take(&mut self.waiting);
        let packed: io::Result<Vec<Vec<u8>>> =
            waiting.par_iter().with_max_len(1).map(|block| compress(block, level)).collect();
        for (block, packed) in waiting.iter().zip(packed.map_err(PackError::Write)?) {
            assert!(block.len() <= MAX_BLOCK_BYTES, "blocks are closed when they are full");
            self.index.push_block(block.len() as u32, packed.len() as u32, xxh3_64(&packed));
            self.write(&packed)?;
        }
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), PackError> {
        self.out.write_all(bytes).map_err(PackError::Write)
    }
}

fn compress(bytes: &[u8], level: Level) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(level.0)?;
    // What is repeated in a block may be at its other end, because each conversation is one run. Levels below 9 would look back half of
    // a block, and make a block of a session with long outputs a third larger than with this.
    if bytes.len() <= MAX_BLOCK_BYTES {
        compressor.set_parameter(CParameter::WindowLog(MAX_BLOCK_BYTES.ilog2()))?;
    }
    compressor.compress(bytes)
}

/// Reads a packed bundle back and compares it with its source. Both must have the same files with the same bytes, and the
/// same empty directories. The source must not have changed since it was listed.
///
/// # Errors
///
/// Returns an error at the first difference, or if one of both cannot be read.
pub fn verify(bundle: &PackedBundle, source: &Source) -> Result<(), PackError> {
    let different = |path: &str| PackError::Different { path: source.path().join(path) };
    let are_alike = bundle.files().len() == source.files().len()
        && bundle.empty_directories().eq(source.empty_directories().iter().map(String::as_str));
    if !are_alike {
        return Err(different(""));
    }
    source.files().par_iter().try_for_each(|file| {
        if bundle.file(&file.path).is_none_or(|packed| packed.bytes != file.bytes) {
            return Err(different(&file.path));
        }
        let path = source.path().join(&file.path);
        let mut comparison = Comparison::new(source::open(source, file)?);
        match bundle.copy(&file.path, &mut comparison) {
            Ok(()) if comparison.is_equal().map_err(|error| cannot_compare(&path, error))? => Ok(()),
            Ok(()) => Err(different(&file.path)),
            Err(error) => match comparison.failed {
                Some(error) => Err(cannot_compare(&path, error)),
                None if comparison.differs => Err(different(&file.path)),
                None => Err(error.into()),
            },
        }
    })?;
    source.check_unchanged()
}

fn cannot_compare(path: &Path, source: io::Error) -> PackError {
    PackError::Io { action: "read", path: path.to_owned(), source }
}

/// A writer that compares the written bytes with those of a file.
struct Comparison {
    file: File,
    buffer: Vec<u8>,
    differs: bool,
    failed: Option<io::Error>,
}

impl Comparison {
    fn new(file: File) -> Self {
        Self { file, buffer: Vec::new(), differs: false, failed: None }
    }

    /// Returns whether all written bytes were equal and the file has no more bytes.
    fn is_equal(&mut self) -> io::Result<bool> {
        Ok(!self.differs && self.file.read(&mut [0])? == 0)
    }
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(1 << 18)];
        self.buffer.resize(bytes.len(), 0);
        match self.file.read_exact(&mut self.buffer) {
            Ok(()) if self.buffer == bytes => Ok(bytes.len()),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                self.failed = Some(error);
                Err(io::Error::other("the source cannot be read"))
            }
            _ => {
                self.differs = true;
                Err(io::Error::other("the bytes differ"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_at_the_other_end_of_a_block_is_stored_once() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u8
        };
        let mut block: Vec<u8> = (0..200_000).map(|_| next()).collect();
        let repeated_bytes = block.len();
        block.resize(MAX_BLOCK_BYTES - repeated_bytes, b' ');
        block.extend_from_within(..repeated_bytes);
        let packed = compress(&block, Level::FINISHED).expect("compresses");
        let most = repeated_bytes / 10 * 11;
        assert!(packed.len() < most, "{} bytes, and {most} would be too many", packed.len());
        assert!(zstd::bulk::decompress(&packed, MAX_BLOCK_BYTES).expect("decompresses") == block);
    }
}
