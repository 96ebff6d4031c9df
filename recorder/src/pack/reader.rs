//! Reads a packed bundle: the index when it is opened, blocks when they are needed.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::blocks::{BlockProblem, BlockStore, CACHE_BYTES, read_exact_at};
use super::error::PackedError;
use super::format::{FOOTER_BYTES, Footer, HEADER_BYTES, version_of};
use super::index::{Entry, Index, IndexProblem, Limits, Lost, Slice};
use super::limits::MAX_PACKED_LOG_BYTES;
use crate::payloads::{MAX_PAYLOAD_BYTES, PayloadError};

/// Smallest file whose blocks are decompressed in parallel.
const PARALLEL_BYTES: u64 = 8 << 20;

/// Most slices of a file that is read slice by slice. For a file with more slices, the reader first groups them by block:
/// they may alternate between more blocks than the cache holds, and then each slice would decompress a block again.
const MAX_STREAMED_SLICES: usize = 64;

/// Number of bytes that are gathered from many slices before they are passed on.
const GATHERED_BYTES: u64 = 16 << 20;

/// Most parts that are gathered before they are passed on.
const GATHERED_PARTS: usize = 1 << 18;

/// Parts of a file: the block of each, its bytes in the content, and its offset in the gathered bytes.
#[derive(Debug, Default)]
struct Gathering {
    parts: Vec<(usize, Slice, usize)>,
    bytes: u64,
}

impl Gathering {
    fn push(&mut self, block: usize, slice: Slice) {
        self.parts.push((block, slice, self.bytes as usize));
        self.bytes += slice.bytes;
    }

    fn is_full(&self) -> bool {
        self.bytes == GATHERED_BYTES || self.parts.len() == GATHERED_PARTS
    }
}

/// A packed bundle.
///
/// Opening reads only the index. Every block is checked when it is read, so reading returns the bytes that were packed or
/// an error.
#[derive(Debug)]
pub struct PackedBundle {
    path: PathBuf,
    index: Index,
    index_offset: u64,
    modified: Option<SystemTime>,
    blocks: BlockStore,
    /// The files that are lost with each block. Computed when the first damaged block is found.
    lost: OnceLock<Vec<Lost>>,
}

/// A file in a packed bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedFile<'a> {
    /// Path relative to the bundle.
    pub path: &'a str,
    /// Size of the file.
    pub bytes: u64,
}

impl PackedBundle {
    /// Opens the packed bundle at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not a packed bundle, has another version, or its index or footer is
    /// damaged.
    pub fn open(path: &Path) -> Result<Self, PackedError> {
        let io = |source| PackedError::Io { path: path.to_owned(), source };
        // The type is checked before the file is opened, because opening a named pipe blocks.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(PackedError::NotPacked { path: path.to_owned() });
        }
        Self::from_file(File::open(path).map_err(io)?, path)
    }

    /// Reads the packed bundle in an open file. `path` is used in error messages.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`PackedBundle::open`].
    pub fn from_file(file: File, path: &Path) -> Result<Self, PackedError> {
        let io = |source| PackedError::Io { path: path.to_owned(), source };
        let not_packed = || PackedError::NotPacked { path: path.to_owned() };
        let footer_error = |what| PackedError::Footer { path: path.to_owned(), what };
        let metadata = file.metadata().map_err(io)?;
        let file_bytes = metadata.len();
        if file_bytes < HEADER_BYTES as u64 {
            return Err(not_packed());
        }
        let mut header = [0; HEADER_BYTES];
        read_exact_at(&file, &mut header, 0).map_err(io)?;
        let version = version_of(&header).ok_or_else(not_packed)?;
        version.check_readable().map_err(|source| PackedError::Version { path: path.to_owned(), source })?;
        let footer_offset = file_bytes
            .checked_sub(FOOTER_BYTES as u64)
            .filter(|offset| *offset >= HEADER_BYTES as u64)
            .ok_or_else(|| footer_error("it is cut off"))?;
        let mut bytes = [0; FOOTER_BYTES];
        read_exact_at(&file, &mut bytes, footer_offset).map_err(io)?;
        let footer = Footer::from_bytes(&bytes, &header, file_bytes).map_err(footer_error)?;
        let index = read_index(&file, &footer, path)?;
        let blocks = BlockStore::new(file, index.blocks.len(), CACHE_BYTES);
        let lost = OnceLock::new();
        Ok(Self {
            path: path.to_owned(),
            index,
            index_offset: footer.index_offset,
            modified: metadata.modified().ok(),
            blocks,
            lost,
        })
    }

    /// Returns the path of the packed bundle.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns when the packed bundle was last modified, which is when its log was. Returns `None` if the system does not
    /// tell.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Returns the size of all files in the bundle.
    pub fn bytes(&self) -> u64 {
        self.index.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Returns the files, in the order in which they were packed.
    pub fn files(&self) -> impl ExactSizeIterator<Item = PackedFile<'_>> {
        self.index.entries.iter().map(|entry| PackedFile { path: &entry.path, bytes: entry.bytes })
    }

    /// Returns the directories without files.
    pub fn empty_directories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.index.directories.iter().map(|path| &**path)
    }

    /// Returns the file with exactly this path.
    pub fn file(&self, path: &str) -> Option<PackedFile<'_>> {
        self.index.find(path).map(|entry| PackedFile { path: &entry.path, bytes: entry.bytes })
    }

    /// Reads the file at `path`, an exact path of the index, into `buffer`, which is cleared first. A caller that cannot
    /// handle a file of any size should check [`PackedBundle::file`] first.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file or a block of it cannot be read. The content of `buffer` is then
    /// unspecified.
    pub fn read(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), PackedError> {
        buffer.clear();
        self.read_entry(self.entry(path)?, buffer)
    }

    /// Reads the last bytes of the file at `path`, at most `max_bytes` of them.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file or a block of it cannot be read.
    pub fn read_end(&self, path: &str, max_bytes: u64) -> Result<Vec<u8>, PackedError> {
        let entry = self.entry(path)?;
        let mut bytes = Vec::new();
        let skipped = entry.bytes.saturating_sub(max_bytes);
        self.visit(entry, skipped..entry.bytes, |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Writes the file at `path` to `out` and checks its checksum.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, a block of it cannot be read, its checksum does not match, or `out`
    /// returns an error. Parts of the file may have been written then.
    pub fn copy(&self, path: &str, out: &mut impl Write) -> Result<(), PackedError> {
        self.copy_entry(self.entry(path)?, out)
    }

    fn copy_entry(&self, entry: &Entry, out: &mut impl Write) -> Result<(), PackedError> {
        let mut hash = Xxh3Default::new();
        self.visit(entry, 0..entry.bytes, |part| {
            hash.update(part);
            out.write_all(part)
        })?;
        if hash.digest() as u32 != entry.checksum {
            return Err(PackedError::Content { path: self.path.clone(), file: entry.path.to_string() });
        }
        Ok(())
    }

    /// Reads the file of a payload reference, with the same rules and limits as in a bundle directory.
    pub(crate) fn read_payload(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        buffer.clear();
        let path = self.resolve(path)?;
        let Some(entry) = self.index.find(&path) else {
            return Err(if self.index.is_directory(&path) || path.is_empty() {
                PayloadError::NotAFile
            } else {
                io::Error::from(io::ErrorKind::NotFound).into()
            });
        };
        if entry.bytes > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLarge { bytes: entry.bytes });
        }
        Ok(self.read_entry(entry, buffer)?)
    }

    /// Reads the event log.
    pub(crate) fn read_log(&self, path: &str) -> Result<Vec<u8>, PackedError> {
        let entry = self.entry(path)?;
        if entry.bytes > MAX_PACKED_LOG_BYTES {
            return Err(PackedError::LargeLog { path: self.path.clone(), bytes: entry.bytes });
        }
        let mut log = Vec::new();
        self.read_entry(entry, &mut log)?;
        Ok(log)
    }

    fn entry(&self, path: &str) -> Result<&Entry, PackedError> {
        self.index.find(path).ok_or_else(|| PackedError::NoFile { path: self.path.clone(), file: path.to_owned() })
    }

    /// Converts the path of a reference to a path of the index, by the rules by which a file system resolves a path.
    fn resolve(&self, path: &str) -> Result<String, PayloadError> {
        if let Some(entry) = self.index.find(path) {
            return Ok(entry.path.to_string());
        }
        if path.starts_with('/') {
            return Err(PayloadError::OutsideBundle);
        }
        if path.is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        let mut resolved = String::new();
        for name in path.split('/') {
            // Whatever follows a name, even an empty name or `..`, requires the name to be that of a directory.
            if !resolved.is_empty() && !self.index.is_directory(&resolved) {
                let is_file = self.index.find(&resolved).is_some();
                let kind = if is_file { io::ErrorKind::NotADirectory } else { io::ErrorKind::NotFound };
                return Err(io::Error::from(kind).into());
            }
            match name {
                "" | "." => {}
                ".." if resolved.is_empty() => return Err(PayloadError::OutsideBundle),
                ".." => resolved.truncate(resolved.rfind('/').unwrap_or(0)),
                name => {
                    if !resolved.is_empty() {
                        resolved.push('/');
                    }
                    resolved.push_str(name);
                }
            }
        }
        Ok(resolved)
    }

    fn read_entry(&self, entry: &Entry, buffer: &mut Vec<u8>) -> Result<(), PackedError> {
        if entry.bytes >= PARALLEL_BYTES {
            self.load_in_parallel(entry);
        }
        buffer.reserve(usize::try_from(entry.bytes).unwrap_or(usize::MAX).min(MAX_PAYLOAD_BYTES as usize));
        self.visit(entry, 0..entry.bytes, |part| {
            buffer.extend_from_slice(part);
            Ok(())
        })
    }

    /// Decompresses the first blocks of a large file in parallel. Errors are ignored here; reading the blocks reports them.
    fn load_in_parallel(&self, entry: &Entry) {
        let slices = self.index.slices(entry);
        let mut wanted: Vec<usize> = slices
            .iter()
            .take(256)
            .flat_map(|slice| (self.index.block_at(slice.start)..=self.index.block_at(slice.end() - 1)).take(16))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        // At most 64 MiB, half of the cache, so that no block is evicted before it is read.
        wanted.truncate(16);
        wanted.par_iter().with_max_len(1).for_each(|number| {
            let _ = self.blocks.get(*number, &self.index.blocks[*number]);
        });
    }

    /// Passes the bytes of a file in `range` to `take`, in order and in pieces.
    fn visit(
        &self,
        entry: &Entry,
        range: Range<u64>,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), PackedError> {
        let mut gathering = (self.index.slices(entry).len() > MAX_STREAMED_SLICES).then(Gathering::default);
        let mut skip = range.start;
        let mut left = range.end - range.start;
        for slice in self.index.slices(entry) {
            if left == 0 {
                break;
            }
            if skip >= slice.bytes {
                skip -= slice.bytes;
                continue;
            }
            let mut wanted = Slice { start: slice.start + skip, bytes: (slice.bytes - skip).min(left) };
            skip = 0;
            left -= wanted.bytes;
            let Some(gathering) = &mut gathering else {
                self.visit_slice(wanted, &mut take)?;
                continue;
            };
            while wanted.bytes > 0 {
                let number = self.index.block_at(wanted.start);
                let block = &self.index.blocks[number];
                let in_block = block.start + u64::from(block.bytes) - wanted.start;
                let bytes = wanted.bytes.min(in_block).min(GATHERED_BYTES - gathering.bytes);
                gathering.push(number, Slice { bytes, ..wanted });
                wanted = Slice { start: wanted.start + bytes, bytes: wanted.bytes - bytes };
                if gathering.is_full() {
                    self.gather(gathering, &mut take)?;
                }
            }
        }
        match &mut gathering {
            Some(gathering) => self.gather(gathering, &mut take),
            None => Ok(()),
        }
    }

    /// Reads the gathered parts block by block, each block once, and passes their bytes on in the order of the file.
    fn gather(
        &self,
        gathering: &mut Gathering,
        take: &mut impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), PackedError> {
        let mut buffer = vec![0; gathering.bytes as usize];
        gathering.parts.sort_unstable_by_key(|(number, ..)| *number);
        for parts in gathering.parts.chunk_by(|a, b| a.0 == b.0) {
            let number = parts[0].0;
            let block = &self.index.blocks[number];
            let bytes = self.blocks.get(number, block).map_err(|problem| self.describe(number, problem))?;
            for (_, slice, target) in parts {
                let from = (slice.start - block.start) as usize;
                let length = slice.bytes as usize;
                buffer[*target..*target + length].copy_from_slice(&bytes[from..from + length]);
            }
        }
        *gathering = Gathering::default();
        take(&buffer).map_err(|source| PackedError::Write { path: self.path.clone(), source })
    }

    fn visit_slice(&self, slice: Slice, take: &mut impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), PackedError> {
        let mut position = slice.start;
        let mut number = self.index.block_at(position);
        while position < slice.end() {
            let block = &self.index.blocks[number];
            let bytes = self.blocks.get(number, block).map_err(|problem| self.describe(number, problem))?;
            let from = (position - block.start) as usize;
            let to = (slice.end() - block.start).min(u64::from(block.bytes)) as usize;
            take(&bytes[from..to]).map_err(|source| PackedError::Write { path: self.path.clone(), source })?;
            position += (to - from) as u64;
            number += 1;
        }
        Ok(())
    }

    fn describe(&self, number: usize, problem: BlockProblem) -> PackedError {
        let block = &self.index.blocks[number];
        match problem {
            BlockProblem::Io(source) => PackedError::Io { path: self.path.clone(), source },
            BlockProblem::Fault(fault) => {
                let lost = self.lost.get_or_init(|| self.index.lost());
                let Lost { files, first } = lost[number];
                let first = if files == 0 { "" } else { &self.index.entries[first as usize].path };
                PackedError::Block {
                    path: self.path.clone(),
                    block: number as u32,
                    offset: block.offset,
                    packed_bytes: u64::from(block.packed_bytes),
                    fault,
                    files: files as usize,
                    first: first.to_owned(),
                }
            }
        }
    }

    /// Checks every block and every file. Returns the damage that it found, that of blocks first. Only a few blocks and
    /// parts of files are in memory at the same time.
    ///
    /// # Errors
    ///
    /// Returns an error if the packed bundle cannot be read at all. Damage is not an error here.
    pub fn verify(&self) -> Result<Vec<PackedError>, PackedError> {
        let in_blocks: Vec<Option<PackedError>> = (0..self.index.blocks.len())
            .into_par_iter()
            .map(|number| match self.blocks.get(number, &self.index.blocks[number]) {
                Ok(_) => Ok(None),
                Err(BlockProblem::Io(source)) => Err(PackedError::Io { path: self.path.clone(), source }),
                Err(problem @ BlockProblem::Fault(_)) => Ok(Some(self.describe(number, problem))),
            })
            .collect::<Result<_, _>>()?;
        let in_files: Vec<Option<PackedError>> = (self.index.entries.par_iter())
            .map(|entry| match self.copy_entry(entry, &mut io::sink()) {
                // The damage of the block is reported already.
                Ok(()) | Err(PackedError::Block { .. }) => Ok(None),
                Err(damage @ PackedError::Content { .. }) => Ok(Some(damage)),
                Err(error) => Err(error),
            })
            .collect::<Result<_, _>>()?;
        Ok(in_blocks.into_iter().chain(in_files).flatten().collect())
    }

    /// Returns the offset of the index in the file, which is the end of the blocks.
    pub fn index_offset(&self) -> u64 {
        self.index_offset
    }
}

fn read_index(file: &File, footer: &Footer, path: &Path) -> Result<Index, PackedError> {
    let io = |source| PackedError::Io { path: path.to_owned(), source };
    let damaged = |what| PackedError::Index { path: path.to_owned(), offset: footer.index_offset, what };
    let limits = Limits::of(footer.index_offset + footer.packed_bytes + FOOTER_BYTES as u64);
    if footer.bytes > limits.index_bytes {
        return Err(damaged("it is larger than the size of the file allows"));
    }
    // The footer was checked: the file has these bytes, and their number is within the limit of an index.
    let mut packed = vec![0; footer.packed_bytes as usize];
    read_exact_at(file, &mut packed, footer.index_offset).map_err(io)?;
    if xxh3_64(&packed) != footer.checksum {
        return Err(damaged("its checksum is wrong"));
    }
    let bytes = zstd::bulk::decompress(&packed, footer.bytes as usize)
        .ok()
        .filter(|bytes| bytes.len() as u64 == footer.bytes)
        .ok_or_else(|| damaged("it does not decompress to what the footer says"))?;
    Index::decode(&bytes, footer.index_offset, &limits).map_err(|problem| match problem {
        IndexProblem::Damaged(what) => damaged(what),
        IndexProblem::Path { entry, problem } => PackedError::Path { path: path.to_owned(), entry, problem },
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::pack::format::header;

    const BLOCK: u64 = 10_000;

    /// Writes a packed bundle with the given number of blocks and with files of any slices. Returns the content.
    fn write(path: &Path, blocks: u8, files: &[(&str, Vec<Slice>)]) -> Vec<u8> {
        let mut index = Index::default();
        let (mut out, mut content) = (header().to_vec(), Vec::new());
        for number in 0..blocks {
            let block: Vec<u8> = (0..BLOCK).map(|at| (at as u8).wrapping_mul(7) ^ number).collect();
            let packed = zstd::bulk::compress(&block, 1).expect("compresses");
            index.push_block(BLOCK as u32, packed.len() as u32, xxh3_64(&packed));
            out.extend_from_slice(&packed);
            content.extend(block);
        }
        for (name, slices) in files {
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect();
            index.push_file((*name).into(), xxh3_64(&bytes) as u32, slices);
        }
        let bytes = index.encode();
        let packed = zstd::bulk::compress(&bytes, 1).expect("compresses");
        let footer = Footer {
            index_offset: out.len() as u64,
            packed_bytes: packed.len() as u64,
            bytes: bytes.len() as u64,
            checksum: xxh3_64(&packed),
        };
        out.extend(packed);
        out.extend(footer.to_bytes(&header()));
        File::create(path).and_then(|mut file| file.write_all(&out)).expect("writes");
        content
    }

    fn range(slice: Slice) -> Range<usize> {
        slice.start as usize..slice.end() as usize
    }

    #[test]
    fn slices_that_go_back_and_forth_cost_each_block_once() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let slices: Vec<Slice> = (0..2000_u64)
            .map(|number| Slice { start: number % 8 * BLOCK + number * 4, bytes: 1 + number % 3 })
            .chain([Slice { start: BLOCK - 5, bytes: 2 * BLOCK }])
            .collect();
        let content = write(&path, 8, &[("a", slices.clone())]);
        let mut packed = PackedBundle::open(&path).expect("opens");
        let file = File::open(&path).expect("opens");
        // The cache holds one block.
        packed.blocks = BlockStore::new(file, 8, BLOCK as usize);
        let mut buffer = Vec::new();
        packed.read("a", &mut buffer).expect("reads");
        let expected: Vec<u8> = slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect();
        assert!(buffer == expected);
        assert_eq!(packed.blocks.decompressed(), 8);
        assert!(packed.read_end("a", 30_000).expect("reads") == expected[expected.len().saturating_sub(30_000)..]);
        assert!(packed.read_end("a", 20_007).expect("reads") == expected[expected.len() - 20_007..]);
    }

    #[test]
    fn files_larger_than_what_is_gathered_come_out_whole() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let slices: Vec<Slice> =
            (0..900).map(|number| Slice { start: number % 7, bytes: 2 * BLOCK - number % 5 }).collect();
        let content = write(&path, 3, &[("a", slices.clone())]);
        let packed = PackedBundle::open(&path).expect("opens");
        assert!(packed.bytes() > GATHERED_BYTES && !packed.bytes().is_multiple_of(GATHERED_BYTES));
        let mut out = Vec::new();
        packed.copy("a", &mut out).expect("its checksum is right");
        assert!(out == slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect::<Vec<u8>>());
    }

    #[test]
    fn verifying_tells_all_damage() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let of = |block: u64| vec![Slice { start: block * BLOCK, bytes: 10 }];
        write(&path, 3, &[("a", of(0)), ("b", of(1)), ("c", of(1))]);
        let mut packed = PackedBundle::open(&path).expect("opens");
        assert!(packed.verify().expect("reads").is_empty());
        let mut bytes = std::fs::read(&path).expect("reads");
        // No file has bytes in the last block.
        for block in &packed.index.blocks[1..] {
            bytes[block.offset as usize + 3] ^= 1;
        }
        std::fs::write(&path, bytes).expect("writes");
        packed = PackedBundle::open(&path).expect("opens");
        packed.index.entries[0].checksum ^= 1;
        let told: Vec<String> = packed.verify().expect("reads").iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("block 1 of ") && told[0].ends_with("2 files, b first"), "{told:?}");
        assert!(told[1].starts_with("block 2 of ") && told[1].ends_with("bytes of no file"), "{told:?}");
        assert!(told[2].starts_with("a in "), "{told:?}");
    }
}
