//! Reads a packed bundle: the index when it is opened, blocks when they are needed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::blocks::{BlockProblem, BlockStore, CACHE_BYTES};
use super::error::PackedError;
use super::format::{FOOTER_BYTES, Footer, is_packed};
use super::index::{Entry, Index, IndexProblem, Limits, Lost, Part};
use super::limits::MAX_PACKED_LOG_BYTES;
use super::positioned::{ReadAt, Storage};
use super::scan::{Mark, RECORDER_BLOCK, Scan, ScanProblem};
use super::slice::Slice;
use crate::header::{HEADER_BYTES, PackVersion, is_growing, recorder_file_of, version_of};
use crate::lock::is_at;
use crate::memory::Memory;
use crate::payloads::{MAX_PAYLOAD_BYTES, PayloadError};

/// Smallest file whose blocks are decompressed in parallel.
const PARALLEL_BYTES: u64 = 8 << 20;

/// Most slices of a file that is read slice by slice. For a file with more slices, the reader first groups them by block:
/// they may alternate between more blocks than the cache holds, and then each slice would decompress a block again.
const MAX_STREAMED_SLICES: usize = 64;

/// Number of bytes that are gathered from many slices before they are passed on.
const GATHERED_BYTES: usize = 16 << 20;

/// Most parts that are gathered before they are passed on.
const GATHERED_PARTS: usize = 1 << 18;

/// Parts of a file, each with its offset in the gathered bytes.
#[derive(Debug, Default)]
struct Gathering {
    parts: Vec<(Part, usize)>,
    bytes: usize,
}

impl Gathering {
    fn push(&mut self, part: Part) {
        self.parts.push((part, self.bytes));
        self.bytes += part.bytes;
    }

    fn is_full(&self) -> bool {
        self.bytes == GATHERED_BYTES || self.parts.len() == GATHERED_PARTS
    }
}

/// A packed bundle.
///
/// Opening reads only the index, or all records of a growing bundle. Every block is checked when it is read, so reading returns the bytes that were packed or
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
    /// How far a growing bundle was read. `None` for a finished one.
    scan: Option<Scan>,
}

/// Where a growing bundle ends.
#[derive(Debug, Clone)]
pub(crate) struct GrowingState {
    /// Offset behind the last whole record.
    pub(crate) end: u64,
    /// Number of bytes of each lane.
    pub(crate) lane_bytes: Vec<u64>,
    /// Number of files.
    pub(crate) files: usize,
    /// Number of slices of all files.
    pub(crate) slices: usize,
    /// Bytes of all files.
    pub(crate) file_bytes: u64,
    /// Number of runs of all lanes.
    pub(crate) runs: usize,
    /// Number of blocks.
    pub(crate) blocks: usize,
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
        let metadata = file.metadata().map_err(|source| PackedError::Io { path: path.to_owned(), source })?;
        Self::from_storage(Storage::File(file), metadata.len(), metadata.modified().ok(), path)
    }

    /// Reads the packed bundle in bytes that are read at positions. `path` is used in error messages.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`PackedBundle::open`], and if it is a growing bundle.
    pub fn from_positioned(bytes: Arc<dyn ReadAt>, path: &Path) -> Result<Self, PackedError> {
        let (length, modified) = (bytes.bytes(), bytes.modified());
        Self::from_storage(Storage::Positioned(bytes), length, modified, path)
    }

    fn from_storage(
        storage: Storage,
        file_bytes: u64,
        modified: Option<SystemTime>,
        path: &Path,
    ) -> Result<Self, PackedError> {
        let io = |source| PackedError::Io { path: path.to_owned(), source };
        let not_packed = || PackedError::NotPacked { path: path.to_owned() };
        let footer_error = |what| PackedError::Footer { path: path.to_owned(), what };
        if file_bytes < HEADER_BYTES as u64 {
            return Err(not_packed());
        }
        let mut header = [0; HEADER_BYTES];
        storage.read_exact_at(&mut header, 0).map_err(io)?;
        let version = version_of(&header).ok_or_else(not_packed)?;
        version.check_readable().map_err(|source| PackedError::Version { path: path.to_owned(), source })?;
        if version == PackVersion::GROWING {
            return match storage {
                Storage::File(file) => Self::growing(file, path, modified),
                Storage::Positioned(_) => Err(PackedError::NeedsFile { path: path.to_owned() }),
            };
        }
        let footer_offset = file_bytes
            .checked_sub(FOOTER_BYTES as u64)
            .filter(|offset| *offset >= HEADER_BYTES as u64)
            .ok_or_else(|| footer_error("it is cut off"))?;
        let mut bytes = [0; FOOTER_BYTES];
        storage.read_exact_at(&mut bytes, footer_offset).map_err(io)?;
        let footer = Footer::from_bytes(&bytes, &header, file_bytes).map_err(footer_error)?;
        let index = read_index(&storage, &footer, path)?;
        let blocks = BlockStore::new(storage, index.blocks.len(), CACHE_BYTES);
        let lost = OnceLock::new();
        Ok(Self { path: path.to_owned(), index, index_offset: footer.index_offset, modified, blocks, lost, scan: None })
    }

    /// Reads the growing bundle in an open file, up to the last record that is whole.
    fn growing(file: File, path: &Path, modified: Option<SystemTime>) -> Result<Self, PackedError> {
        let io = |source| PackedError::Io { path: path.to_owned(), source };
        let recorder = recorder_file_of(&file).map_err(io)?;
        let mut index = Index::default();
        let scan = Scan::new(&mut index, recorder.is_some());
        let blocks = BlockStore::new(Storage::File(file), 0, CACHE_BYTES);
        let index_offset = scan.end;
        let (path, lost) = (path.to_owned(), OnceLock::new());
        let mut bundle = Self { path, index, index_offset, modified, blocks, lost, scan: Some(scan) };
        bundle.catch_up()?;
        bundle.blocks.preload(RECORDER_BLOCK, recorder.unwrap_or_default());
        Ok(bundle)
    }

    /// Reads what was appended to a growing bundle since it was opened. Returns whether it has grown. A finished bundle does
    /// not grow. A growing bundle whose file was replaced by the finished one still has everything.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if a record breaks a rule of the format.
    pub fn catch_up(&mut self) -> Result<bool, PackedError> {
        let Some(scan) = &mut self.scan else { return Ok(false) };
        let file = self.blocks.storage().file();
        let advanced = file.map_err(ScanProblem::Io).and_then(|file| scan.advance(file, &mut self.index));
        self.index_offset = scan.end;
        self.blocks.grow_to(self.index.blocks.len());
        self.lost = OnceLock::new();
        advanced.map_err(|problem| match problem {
            ScanProblem::Io(source) => PackedError::Io { path: self.path.clone(), source },
            ScanProblem::Damaged { offset, problem: IndexProblem::Damaged(what) } => {
                PackedError::Record { path: self.path.clone(), offset, what }
            }
            ScanProblem::Damaged { problem: IndexProblem::Path { entry, problem }, .. } => {
                PackedError::Path { path: self.path.clone(), entry, problem }
            }
        })
    }

    /// Returns the first error of reading a block, other than damage: files that were read since may be missing bytes that the bundle
    /// has. A store that answers requests fails more often than a disk, so who reads from one asks for this before relying on what
    /// was concluded from payloads that could not be read.
    pub fn failure(&self) -> Option<io::Error> {
        self.blocks.failure()
    }

    /// Keeps at most this many bytes of decompressed blocks in memory, instead of [`CACHE_BYTES`].
    pub(crate) fn limit_cache(&mut self, bytes: usize) {
        self.blocks.limit(bytes);
    }

    /// Removes all decompressed blocks from memory.
    pub(crate) fn forget(&self) {
        self.blocks.forget();
    }

    /// Returns the last record that was read of a growing bundle.
    pub(crate) fn last_record(&self) -> Option<Mark> {
        self.scan.as_ref().and_then(Scan::last)
    }

    /// Returns whether the file still has a record, with its whole content behind it as far as it was read.
    pub(crate) fn has_record(&self, record: Option<Mark>) -> io::Result<bool> {
        let (Some(scan), Some(record)) = (&self.scan, record) else { return Ok(true) };
        let file = self.blocks.storage().file()?;
        Ok(file.metadata()?.len() >= scan.end && record.is_in(file)?)
    }

    /// Returns whether `path` still names this file, or the finished bundle that took the place of a growing one.
    pub(crate) fn is_still_at(&self, path: &Path) -> io::Result<bool> {
        let Some(file) = self.scan.as_ref().map(|_| self.blocks.storage().file()) else { return Ok(true) };
        Ok(is_at(file?, path)? || is_packed(path) && !is_growing(path)?)
    }

    /// Returns whether this is a growing bundle: one that is being recorded, or whose recorder died.
    pub fn is_growing(&self) -> bool {
        self.scan.is_some()
    }

    /// Returns the number of bytes behind the last whole record of a growing bundle. They are a record that is being written, or
    /// that a crash cut off. A finished bundle has none.
    pub fn torn_bytes(&self) -> u64 {
        self.scan.as_ref().map_or(0, |scan| scan.file_bytes.saturating_sub(scan.end))
    }

    /// Returns whether whole records lie behind the end of a growing bundle: then a record between them is damaged, and what was
    /// recorded after it is lost.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of reading the file.
    pub fn has_records_behind_damage(&self) -> io::Result<bool> {
        let Some(scan) = &self.scan else { return Ok(false) };
        scan.has_records_behind(self.blocks.storage().file()?)
    }

    /// Returns what a recorder needs to continue a growing bundle. Returns `None` for a finished one.
    pub(crate) fn growing_state(&self) -> Option<GrowingState> {
        let (scan, lanes) = (self.scan.as_ref()?, self.index.lanes.as_ref()?);
        Some(GrowingState {
            end: scan.end,
            lane_bytes: (0..lanes.len()).map(|lane| lanes.bytes(lane)).collect(),
            files: self.index.entries.len(),
            slices: self.index.slice_count(),
            file_bytes: self.bytes(),
            runs: self.index.run_count(),
            blocks: self.index.blocks.len(),
        })
    }

    /// Returns the index, for the module that finishes a growing bundle.
    pub(super) fn index(&self) -> &Index {
        &self.index
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
        self.read_entry(self.entry(path)?, 0, buffer)
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

    /// Appends a part of the file at `path` to `buffer`, as much as the file has of it.
    pub(crate) fn read_range(&self, path: &str, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<(), PackedError> {
        let entry = self.entry(path)?;
        self.visit(entry, range.start.min(entry.bytes)..range.end.min(entry.bytes), |part| {
            buffer.extend_from_slice(part);
            Ok(())
        })
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
        // A growing bundle has checksums of its records only.
        if self.scan.is_none() && hash.digest() as u32 != entry.checksum {
            return Err(PackedError::Content { path: self.path.clone(), file: entry.path.to_string() });
        }
        Ok(())
    }

    /// Reads the file of a payload reference from byte `start` on, with the same rules and limits as in a bundle directory.
    pub(crate) fn read_payload(&self, path: &str, start: u64, buffer: &mut Vec<u8>) -> Result<(), PayloadError> {
        buffer.clear();
        let entry = match self.index.find(path) {
            Some(entry) => entry,
            None => self.resolve(path)?,
        };
        if entry.bytes > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLarge { bytes: entry.bytes });
        }
        Ok(self.read_entry(entry, start.min(entry.bytes), buffer)?)
    }

    /// Returns with how many equal bytes two files begin, as far as their slices tell: slices of the same place are equal without a
    /// look at their bytes. Returns 0 for a path that is not exactly one of the index.
    pub(crate) fn known_prefix(&self, one: &str, other: &str) -> u64 {
        let (Some(one), Some(other)) = (self.index.find(one), self.index.find(other)) else { return 0 };
        common_start(self.index.slices(one), self.index.slices(other))
    }

    /// Returns where the first byte of a file is. Returns `None` for an empty file, and for a path that is not exactly one of the
    /// index.
    pub(crate) fn start_of(&self, path: &str) -> Option<u64> {
        Some(self.index.slices(self.index.find(path)?).first()?.start)
    }

    /// Reads the event log.
    pub(crate) fn read_log(&self, path: &str) -> Result<Vec<u8>, PackedError> {
        self.unpack_log(path).map(|(memory, part)| memory[part].to_vec())
    }

    /// Reads the event log without a copy. Returns memory, and where in it the log is.
    pub(crate) fn unpack_log(&self, path: &str) -> Result<(Arc<Memory>, Range<usize>), PackedError> {
        let entry = self.entry(path)?;
        if entry.bytes > MAX_PACKED_LOG_BYTES {
            return Err(PackedError::LargeLog { path: self.path.clone(), bytes: entry.bytes });
        }
        let log = self.gather_log(entry);
        // The log stays in memory, and nothing else is in its blocks that is read again.
        self.blocks.forget();
        log
    }

    fn gather_log(&self, entry: &Entry) -> Result<(Arc<Memory>, Range<usize>), PackedError> {
        let slices = self.index.slices(entry);
        let parts = || slices.iter().flat_map(|slice| self.index.parts(*slice));
        if let (Some(only), None) = (parts().next(), parts().nth(1)) {
            return Ok((self.block(only.block)?, only.from..only.from + only.bytes));
        }
        let mut log = Memory::zeroed(entry.bytes as usize);
        let everything = 0..log.len();
        let mut rest = &mut *log;
        if parts().nth(GATHERED_PARTS).is_some() {
            self.visit(entry, 0..entry.bytes, |part| rest.write_all(part))?;
            return Ok((Arc::new(log), everything));
        }
        let (mut whole, mut others) = (Vec::new(), Vec::new());
        let mut known = HashSet::new();
        for part in parts() {
            let (target, behind) = rest.split_at_mut(part.bytes);
            rest = behind;
            // A block that stands in the log again is not decompressed again.
            let is_whole = part.bytes == self.index.blocks[part.block].bytes as usize && known.insert(part.block);
            if is_whole { &mut whole } else { &mut others }.push((part, target));
        }
        // A block that is all log is decompressed where the log shall be.
        let read = |(part, target): (Part, &mut [u8])| {
            let read = self.blocks.read_into(part.block, &self.index.blocks[part.block], target);
            read.map_err(|problem| self.describe(part.block, problem))
        };
        if entry.bytes >= PARALLEL_BYTES {
            whole.into_par_iter().with_max_len(1).try_for_each(read)?;
        } else {
            whole.into_iter().try_for_each(read)?;
        }
        // Each block once, whatever the order of the slices is.
        others.sort_by_key(|(part, _)| part.block);
        for (part, target) in others {
            target.copy_from_slice(&self.block(part.block)?[part.from..part.from + part.bytes]);
        }
        Ok((Arc::new(log), everything))
    }

    fn entry(&self, path: &str) -> Result<&Entry, PackedError> {
        self.index.find(path).ok_or_else(|| PackedError::NoFile { path: self.path.clone(), file: path.to_owned() })
    }

    /// Returns the file of a reference that is not exactly a path of the index, by the rules by which a file system resolves a path.
    fn resolve(&self, path: &str) -> Result<&Entry, PayloadError> {
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
        match self.index.find(&resolved) {
            Some(entry) => Ok(entry),
            None if self.index.is_directory(&resolved) || resolved.is_empty() => Err(PayloadError::NotAFile),
            None => Err(io::Error::from(io::ErrorKind::NotFound).into()),
        }
    }

    /// Appends the bytes of a file from `start` on to `buffer`.
    fn read_entry(&self, entry: &Entry, start: u64, buffer: &mut Vec<u8>) -> Result<(), PackedError> {
        let bytes = entry.bytes - start;
        // The lock of a growing bundle is held, and a thread that waits for others may be given a job that needs it.
        if start == 0 && bytes >= PARALLEL_BYTES && self.scan.is_none() {
            self.load_in_parallel(entry);
        }
        buffer.reserve(usize::try_from(bytes).unwrap_or(usize::MAX).min(MAX_PAYLOAD_BYTES as usize));
        self.visit(entry, start..entry.bytes, |part| {
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
            .flat_map(|slice| self.index.parts(*slice).map(|part| part.block).take(16))
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
    pub(super) fn visit(
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
            let wanted = Slice { start: slice.start + skip, bytes: (slice.bytes - skip).min(left) };
            skip = 0;
            left -= wanted.bytes;
            let Some(gathering) = &mut gathering else {
                self.visit_slice(wanted, &mut take)?;
                continue;
            };
            for mut part in self.index.parts(wanted) {
                while part.bytes > 0 {
                    let bytes = part.bytes.min(GATHERED_BYTES - gathering.bytes);
                    gathering.push(Part { bytes, ..part });
                    part = Part { from: part.from + bytes, bytes: part.bytes - bytes, ..part };
                    if gathering.is_full() {
                        self.gather(gathering, &mut take)?;
                    }
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
        let mut buffer = vec![0; gathering.bytes];
        gathering.parts.sort_unstable_by_key(|(part, _)| part.block);
        for parts in gathering.parts.chunk_by(|a, b| a.0.block == b.0.block) {
            let bytes = self.block(parts[0].0.block)?;
            for (part, target) in parts {
                buffer[*target..*target + part.bytes].copy_from_slice(&bytes[part.from..part.from + part.bytes]);
            }
        }
        *gathering = Gathering::default();
        take(&buffer).map_err(|source| PackedError::Write { path: self.path.clone(), source })
    }

    fn visit_slice(&self, slice: Slice, take: &mut impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), PackedError> {
        for part in self.index.parts(slice) {
            let bytes = self.block(part.block)?;
            take(&bytes[part.from..part.from + part.bytes])
                .map_err(|source| PackedError::Write { path: self.path.clone(), source })?;
        }
        Ok(())
    }

    /// Returns the decompressed bytes of a block.
    pub(super) fn block(&self, number: usize) -> Result<Arc<Memory>, PackedError> {
        self.blocks.get(number, &self.index.blocks[number]).map_err(|problem| self.describe(number, problem))
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

    /// Returns the offset of the index in the file, which is the end of the blocks.
    pub fn index_offset(&self) -> u64 {
        self.index_offset
    }
}

/// Returns the number of bytes at the beginning of two lists of slices that are of the same places.
pub(super) fn common_start(one: &[Slice], other: &[Slice]) -> u64 {
    let (mut one, mut other) = (one.iter().copied(), other.iter().copied());
    let (mut a, mut b) = (one.next(), other.next());
    let mut common = 0;
    while let (Some(of_one), Some(of_other)) = (a, b) {
        if of_one.start != of_other.start {
            break;
        }
        // One list may divide a place where the other does not.
        let bytes = of_one.bytes.min(of_other.bytes);
        common += bytes;
        let rest = |slice: Slice| Slice { start: slice.start + bytes, bytes: slice.bytes - bytes };
        a = Some(rest(of_one)).filter(|rest| rest.bytes > 0).or_else(|| one.next());
        b = Some(rest(of_other)).filter(|rest| rest.bytes > 0).or_else(|| other.next());
    }
    common
}

fn read_index(storage: &Storage, footer: &Footer, path: &Path) -> Result<Index, PackedError> {
    let io = |source| PackedError::Io { path: path.to_owned(), source };
    let damaged = |what| PackedError::Index { path: path.to_owned(), offset: footer.index_offset, what };
    let limits = Limits::of(footer.index_offset + footer.packed_bytes + FOOTER_BYTES as u64);
    if footer.bytes > limits.index_bytes {
        return Err(damaged("it is larger than the size of the file allows"));
    }
    // The footer was checked: the file has these bytes, and their number is within the limit of an index.
    let mut packed = vec![0; footer.packed_bytes as usize];
    storage.read_exact_at(&mut packed, footer.index_offset).map_err(io)?;
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
        packed.blocks = BlockStore::new(Storage::File(file), 8, BLOCK as usize);
        let mut buffer = Vec::new();
        packed.read("a", &mut buffer).expect("reads");
        let expected: Vec<u8> = slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect();
        assert!(buffer == expected);
        assert_eq!(packed.blocks.decompressed(), 8);
        assert!(packed.read_end("a", 30_000).expect("reads") == expected[expected.len().saturating_sub(30_000)..]);
        assert!(packed.read_end("a", 20_007).expect("reads") == expected[expected.len() - 20_007..]);
    }

    #[test]
    fn a_log_that_repeats_a_block_decompresses_it_twice_at_most() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let whole = |block: u64| Slice { start: block * BLOCK, bytes: BLOCK };
        let slices: Vec<Slice> = std::iter::repeat_n(whole(1), 100).chain([whole(0)]).collect();
        let content = write(&path, 2, &[("trace.jsonl", slices.clone())]);
        let packed = PackedBundle::open(&path).expect("opens");
        let before = packed.blocks.decompressed();
        let log = packed.read_log("trace.jsonl").expect("reads");
        assert!(log == slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect::<Vec<u8>>());
        // Once to where the log is, and once more into the cache for its repetitions.
        assert_eq!(packed.blocks.decompressed() - before, 3);
    }

    #[test]
    fn files_larger_than_what_is_gathered_come_out_whole() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let slices: Vec<Slice> =
            (0..900).map(|number| Slice { start: number % 7, bytes: 2 * BLOCK - number % 5 }).collect();
        let content = write(&path, 3, &[("a", slices.clone())]);
        let packed = PackedBundle::open(&path).expect("opens");
        assert!(packed.bytes() > GATHERED_BYTES as u64 && !packed.bytes().is_multiple_of(GATHERED_BYTES as u64));
        let mut out = Vec::new();
        packed.copy("a", &mut out).expect("its checksum is right");
        assert!(out == slices.iter().flat_map(|slice| &content[range(*slice)]).copied().collect::<Vec<u8>>());
    }

    #[test]
    fn files_are_read_behind_what_they_share() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let slice = |start, bytes| Slice { start, bytes };
        let one = vec![slice(0, 100), slice(100, BLOCK), slice(5, 10)];
        let two = vec![slice(0, BLOCK + 110), slice(5, 20)];
        let content = write(&path, 3, &[("1", one), ("2", two.clone()), ("3", vec![slice(1, 50)])]);
        let packed = PackedBundle::open(&path).expect("opens");
        assert_eq!((packed.known_prefix("1", "2"), packed.known_prefix("2", "1")), (BLOCK + 100, BLOCK + 100));
        assert_eq!((packed.known_prefix("2", "2"), packed.known_prefix("2", "3")), (BLOCK + 130, 0));
        assert_eq!((packed.known_prefix("1", "none"), packed.known_prefix("./1", "1")), (0, 0));
        let whole: Vec<u8> = two.iter().flat_map(|slice| &content[range(*slice)]).copied().collect();
        let mut rest = vec![7];
        for start in [0, 99, BLOCK + 100, BLOCK + 129, BLOCK + 130, BLOCK + 999] {
            packed.read_payload("2", start, &mut rest).expect("reads");
            assert_eq!(rest, whole[whole.len().min(start as usize)..], "from {start}");
        }
    }

    /// Bytes in memory, and how often they are read. Reads fail while `fails` is set.
    #[derive(Debug, Default)]
    struct Bytes {
        bytes: Vec<u8>,
        read: std::sync::Mutex<Vec<Range<u64>>>,
        fails: std::sync::atomic::AtomicBool,
    }

    impl ReadAt for Bytes {
        fn bytes(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn modified(&self) -> Option<SystemTime> {
            Some(SystemTime::UNIX_EPOCH)
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            if self.fails.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the store is away"));
            }
            let end = offset + buffer.len() as u64;
            let wanted = self.bytes.get(offset as usize..end as usize).ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer.copy_from_slice(wanted);
            self.read.lock().expect("no panic").push(offset..end);
            Ok(())
        }
    }

    #[test]
    fn bytes_that_are_no_file_are_read_where_they_are_needed() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        let content = write(&path, 3, &[("a", vec![Slice { start: 2 * BLOCK, bytes: 10 }])]);
        let bytes = Arc::new(Bytes { bytes: std::fs::read(&path).expect("reads"), ..Bytes::default() });
        let store: Arc<dyn ReadAt> = Arc::clone(&bytes) as _;
        let packed = PackedBundle::from_positioned(store, Path::new("store/a")).expect("opens");
        assert_eq!((packed.path(), packed.modified()), (Path::new("store/a"), Some(SystemTime::UNIX_EPOCH)));
        let length = bytes.bytes.len() as u64;
        let end = packed.index_offset();
        let opened = [0..16, length - FOOTER_BYTES as u64..length, end..length - FOOTER_BYTES as u64];
        assert_eq!(*bytes.read.lock().expect("no panic"), opened, "header, footer and index");
        // An error is told, and does not stay.
        bytes.fails.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut buffer = Vec::new();
        assert!(packed.failure().is_none());
        assert!(matches!(packed.read("a", &mut buffer), Err(PackedError::Io { .. })));
        bytes.fails.store(false, std::sync::atomic::Ordering::Relaxed);
        packed.read("a", &mut buffer).expect("reads");
        assert!(buffer == content[2 * BLOCK as usize..][..10]);
        assert_eq!(bytes.read.lock().expect("no panic").len(), 4, "one block");
        let failure = packed.failure().expect("it is remembered");
        assert_eq!((failure.kind(), failure.to_string().as_str()), (io::ErrorKind::TimedOut, "the store is away"));
    }

    #[test]
    fn a_growing_bundle_is_read_from_a_file_only() {
        let mut header = crate::header::header_of(PackVersion::GROWING).to_vec();
        header.resize(crate::header::GROWING_HEADER_BYTES, b' ');
        let bytes = Arc::new(Bytes { bytes: header, ..Bytes::default() });
        let refused = PackedBundle::from_positioned(bytes, Path::new("a")).expect_err("is refused");
        assert!(matches!(refused, PackedError::NeedsFile { .. }), "{refused:?}");
        // Its reader makes a file of it.
        let bytes = Bytes { bytes: (0..(5 << 19)).map(|at: u32| at as u8).collect(), ..Bytes::default() };
        let mut copy = Vec::new();
        bytes.copy_to(&mut copy).expect("copies");
        assert!(copy == bytes.bytes);
    }

    #[test]
    fn a_log_that_is_too_large_is_refused_before_it_is_read() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("packed");
        write(&path, 1, &[("trace.jsonl", vec![Slice { start: 0, bytes: BLOCK }])]);
        let mut packed = PackedBundle::open(&path).expect("opens");
        assert_eq!(packed.read_log("trace.jsonl").expect("reads").len(), BLOCK as usize);
        packed.index.entries[0].bytes = MAX_PACKED_LOG_BYTES + 1;
        let refused = packed.read_log("trace.jsonl").expect_err("is refused");
        assert!(matches!(refused, PackedError::LargeLog { .. }), "{refused:?}");
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
