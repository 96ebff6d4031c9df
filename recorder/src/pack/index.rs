//! The index, which tells how each file is composed of bytes of the blocks.
//!
//! The concatenation of all decompressed blocks is the *content*. A file is a list of slices of the content. Slices may
//! overlap and repeat, which is how requests share their common parts. No file depends on another one, so each file can be
//! read on its own.
//!
//! A growing bundle has *lanes* instead of one content: each has its own addresses, and bytes are appended to any of them
//! in any order. [`Lanes`] knows in which blocks they are. A slice of a lane has the number of the lane in the high bits of
//! its start.

use super::format::{MAX_BLOCK_BYTES, MAX_INDEX_BYTES};
use super::lanes::{Lanes, RECORDER_LANE, address, place_of};
use super::names::{MAX_DIRECTORIES, NameProblem, Named, Names};
use super::paths::{self, PathProblem};
use super::slice::Slice;
use super::wire::{Cursor, push};
use crate::format::PAYLOADS_DIR;
use crate::header::HEADER_BYTES;

/// Most blocks of a packed bundle.
pub const MAX_BLOCKS: usize = 1 << 20;

/// Most files of a packed bundle.
pub const MAX_FILES: usize = 1 << 20;

/// Most bytes of all paths of files together, and of all paths of directories together. A path that continues the one
/// before takes one byte in the index but thousands in memory.
pub const MAX_PATHS_BYTES: usize = 64 << 20;

/// Most slices of all files together.
pub const MAX_SLICES: usize = 1 << 24;

/// Number of slices that a file of any size may have. Reading each slice may require decompressing a block.
pub const MIN_FILE_SLICES: u64 = 2048;

/// For each of this many bytes, a file may have one slice more than [`MIN_FILE_SLICES`].
pub const BYTES_PER_SLICE: u64 = 128;

/// Size that all files of any packed bundle may have together.
pub const MIN_BYTES: u64 = 256 << 20;

/// For each byte of a packed bundle, the total size of its files may exceed [`MIN_BYTES`] by this many bytes. Real sessions
/// need at most a few thousand.
pub const MAX_EXPANSION: u64 = 100_000;

/// Most parts of slices that are looked at to count the files that are lost with a block of a growing bundle.
const MAX_PARTS_FOR_LOST: usize = 1 << 23;

/// Number of recent slice ends that a slice can refer to as its start. There are few streams of content, and each stream
/// usually continues where it ended.
const RECENT_ENDS: usize = 16;

/// A block of the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Offset of its bytes in the content.
    pub(super) start: u64,
    /// Number of its bytes after decompression.
    pub(super) bytes: u32,
    /// Offset of the block in the file.
    pub(super) offset: u64,
    /// Number of its bytes in the file.
    pub(super) packed_bytes: u32,
    /// Checksum of its bytes in the file.
    pub(super) checksum: u64,
    /// Where its bytes are in the file of a growing bundle, in whose blocks other bytes lie between them. Empty for a block
    /// whose bytes are contiguous.
    pub(super) chunks: Vec<Chunk>,
}

/// A contiguous part of a block in the file of a growing bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Offset of the part in the file.
    pub(super) offset: u64,
    /// Number of its bytes in the file.
    pub(super) packed_bytes: u32,
    /// Checksum of its bytes in the file.
    pub(super) checksum: u64,
}

/// The bytes of a block that belong to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the block.
    pub(super) block: usize,
    /// First byte in the block.
    pub(super) from: usize,
    /// Number of bytes.
    pub(super) bytes: usize,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Box<str>,
    pub(super) bytes: u64,
    /// Low half of the XXH3 hash of the bytes of the file.
    pub(super) checksum: u32,
    first_slice: u32,
    slices: u32,
}

impl Named for Entry {
    fn path(&self) -> &str {
        &self.path
    }
}

impl Entry {
    /// Returns whether the file has at most as many slices as its size allows.
    fn has_few_slices(&self) -> bool {
        u64::from(self.slices) <= MIN_FILE_SLICES + self.bytes / BYTES_PER_SLICE
    }
}

/// The decoded index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) blocks: Vec<Block>,
    pub(super) entries: Vec<Entry>,
    slices: Vec<Slice>,
    /// Directories without files. Sorted once the index is complete.
    pub(super) directories: Vec<Box<str>>,
    names: Names,
    /// Where the bytes of slices are, for a growing bundle. `None` if the blocks are one content.
    pub(super) lanes: Option<Lanes>,
}

/// Returns the first block at or behind `from` to which no file is assigned yet. `next` is a union-find structure: an
/// assigned block refers to a later one, and this function halves the chains that it follows.
fn free_from(next: &mut [u32], from: u32) -> u32 {
    let mut at = from;
    while next[at as usize] != at {
        let further = next[next[at as usize] as usize];
        next[at as usize] = further;
        at = further;
    }
    at
}

/// The files that are lost if a block is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Number of files with bytes in the block.
    pub(super) files: u32,
    /// Index of the first of these files. Has no meaning if there are none.
    pub(super) first: u32,
}

/// What is wrong with an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndexProblem {
    Damaged(&'static str),
    Path { entry: String, problem: PathProblem },
}

impl From<NameProblem> for IndexProblem {
    fn from(problem: NameProblem) -> Self {
        match problem {
            NameProblem::Twice(entry) => Self::Path { entry, problem: PathProblem::Twice },
            NameProblem::TooManyDirectories => Self::Damaged("it has more directories than it may have"),
            NameProblem::LongDirectories => Self::Damaged("the paths of its directories are too long"),
        }
    }
}

impl From<&'static str> for IndexProblem {
    fn from(what: &'static str) -> Self {
        Self::Damaged(what)
    }
}

/// Limits that depend on the size of a packed bundle. Zeros compress almost without limit, so a file of a few hundred bytes
/// could need as many resources as the constants above allow. Smaller files get lower limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Size of the index after decompression.
    pub(super) index_bytes: u64,
    files: u64,
    paths_bytes: u64,
    slices: u64,
    bytes: u64,
}

impl Limits {
    /// Returns the limits of a packed bundle of this size.
    pub(super) fn of(packed_bytes: u64) -> Self {
        let allow = |least: u64, each: u64| least.saturating_add(each.saturating_mul(packed_bytes));
        Self {
            index_bytes: allow(8 << 20, 4096).min(MAX_INDEX_BYTES),
            files: allow(1 << 17, 16).min(MAX_FILES as u64),
            paths_bytes: allow(8 << 20, 256).min(MAX_PATHS_BYTES as u64),
            slices: allow(1 << 20, 256).min(MAX_SLICES as u64),
            bytes: allow(MIN_BYTES, MAX_EXPANSION),
        }
    }
}

impl Index {
    /// Checks that a packed bundle may have this index, before the index is written.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), &'static str> {
        let length = |paths: &mut dyn Iterator<Item = &Box<str>>| paths.map(|path| path.len() as u64).sum::<u64>();
        let file_paths = length(&mut self.entries.iter().map(|entry| &entry.path));
        if self.blocks.len() > MAX_BLOCKS {
            return Err("it has too many bytes");
        }
        if self.entries.len() as u64 > limits.files {
            return Err("it has too many files for its packed size");
        }
        if file_paths.max(length(&mut self.directories.iter())) > limits.paths_bytes {
            return Err("its paths are too long");
        }
        if self.slices.len() as u64 > limits.slices || self.entries.iter().any(|entry| !entry.has_few_slices()) {
            return Err("its files are made of too many slices");
        }
        if self.entries.iter().map(|entry| entry.bytes).fold(0, u64::saturating_add) > limits.bytes {
            return Err("its files are too large for its packed size");
        }
        Ok(())
    }

    /// Adds a block behind the others.
    pub(super) fn push_block(&mut self, bytes: u32, packed_bytes: u32, checksum: u64) {
        let (start, offset) = self.ends();
        self.blocks.push(Block { start, bytes, offset, packed_bytes, checksum, chunks: Vec::new() });
    }

    /// Returns the end of the content, and the end of the blocks in the file.
    pub(super) fn ends(&self) -> (u64, u64) {
        self.blocks.last().map_or((0, HEADER_BYTES as u64), |block| {
            (block.start + u64::from(block.bytes), block.offset + u64::from(block.packed_bytes))
        })
    }

    /// Adds a file.
    pub(super) fn push_file(&mut self, path: Box<str>, checksum: u32, slices: &[Slice]) {
        let first_slice = self.slices.len() as u32;
        self.slices.extend_from_slice(slices);
        let bytes = slices.iter().map(|slice| slice.bytes).sum();
        self.entries.push(Entry { path, bytes, checksum, first_slice, slices: slices.len() as u32 });
    }

    /// Makes this the index of a growing bundle, with this many lanes.
    pub(super) fn begin_lanes(&mut self, count: usize) {
        self.lanes = Some(Lanes::new(count));
    }

    /// Appends bytes of a block to a lane.
    pub(super) fn append_to_lane(
        &mut self,
        lane: usize,
        bytes: u32,
        block: u32,
        from: u32,
    ) -> Result<(), &'static str> {
        self.lanes.get_or_insert_default().append(lane, bytes, block, from)
    }

    /// Adds a file that is a whole lane, see [`grow_file`](Self::grow_file).
    pub(super) fn push_growing_file(&mut self, path: &str) {
        let first_slice = self.slices.len() as u32;
        self.slices.push(Slice { start: 0, bytes: 0 });
        self.entries.push(Entry { path: path.into(), bytes: 0, checksum: 0, first_slice, slices: 0 });
    }

    /// Gives a file all bytes of a lane.
    pub(super) fn grow_file(&mut self, entry: usize, lane: usize) {
        let bytes = self.lanes.as_ref().map_or(0, |lanes| lanes.bytes(lane));
        let entry = &mut self.entries[entry];
        self.slices[entry.first_slice as usize] = Slice { start: address(lane, 0), bytes };
        (entry.bytes, entry.slices) = (bytes, u32::from(bytes > 0));
    }

    /// Returns whether a growing bundle may have another file of this many slices.
    fn has_room_for(&self, slices: usize) -> bool {
        self.entries.len() < MAX_FILES && self.slices.len() + slices <= MAX_SLICES
    }

    /// Adds a payload file of a growing bundle, and checks its slices.
    pub(super) fn push_growing_payload(&mut self, ordinal: u64, slices: &[Slice]) -> Result<(), &'static str> {
        let Some(lanes) = &self.lanes else { return Err("it has no lanes") };
        if !self.has_room_for(slices.len()) {
            return Err("it has too many files");
        }
        if slices.iter().any(|slice| place_of(slice.start).0 == RECORDER_LANE) {
            return Err("a payload has bytes of the recorder's file");
        }
        if !slices.iter().all(|slice| lanes.has(*slice)) {
            return Err("a slice is outside of its lane");
        }
        let path = format!("{PAYLOADS_DIR}/{ordinal}.json");
        self.push_file(path.into(), 0, slices);
        if self.entries.last().is_some_and(|entry| !entry.has_few_slices()) {
            return Err("a file has more slices than it may have");
        }
        Ok(())
    }

    /// Returns whether files were added whose paths are not known yet.
    pub(super) fn has_unnamed(&self) -> bool {
        self.names.len() < self.entries.len()
    }

    /// Makes the new files of a growing bundle known by their paths, and checks that no file is there twice. `directory`, which
    /// has no files at first, is not an empty one any more when it has.
    pub(super) fn name_growing(&mut self, directory: &str) -> Result<(), IndexProblem> {
        if self.names.len() == 0 {
            self.names.add_directories(&self.directories)?;
        }
        self.names.add_files(&self.entries)?;
        if self.entries.iter().any(|entry| entry.path.starts_with(directory)) {
            self.directories.clear();
        }
        Ok(())
    }

    /// Returns the number of runs of all lanes.
    pub(super) fn run_count(&self) -> usize {
        self.lanes.as_ref().map_or(0, Lanes::run_count)
    }

    /// Returns the number of slices of all files.
    pub(super) fn slice_count(&self) -> usize {
        self.slices.len()
    }

    /// Returns the slices of a file in order.
    pub(super) fn slices(&self, entry: &Entry) -> &[Slice] {
        &self.slices[entry.first_slice as usize..][..entry.slices as usize]
    }

    /// Returns the file with this path.
    pub(super) fn find(&self, path: &str) -> Option<&Entry> {
        self.names.find(&self.entries, path).map(|entry| &self.entries[entry])
    }

    /// Returns whether a path is that of a directory.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        self.names.is_directory(path)
    }

    /// Returns the parts of blocks that a slice consists of, in order.
    pub(super) fn parts(&self, slice: Slice) -> impl Iterator<Item = Part> {
        let mut rest = slice;
        let mut number = match &self.lanes {
            Some(lanes) => lanes.run_at(rest.start),
            None => self.block_at(rest.start),
        };
        std::iter::from_fn(move || {
            if rest.bytes == 0 {
                return None;
            }
            let (block, from, in_block) = match &self.lanes {
                Some(lanes) => lanes.place(rest.start, number),
                None => {
                    let block = &self.blocks[number];
                    (number, rest.start - block.start, block.start + u64::from(block.bytes) - rest.start)
                }
            };
            number += 1;
            let bytes = rest.bytes.min(in_block);
            rest = Slice { start: rest.start + bytes, bytes: rest.bytes - bytes };
            Some(Part { block, from: from as usize, bytes: bytes as usize })
        })
    }

    /// Returns the number of the block that contains a byte of the content.
    fn block_at(&self, position: u64) -> usize {
        self.blocks.partition_point(|block| block.start + u64::from(block.bytes) <= position)
    }

    /// Returns for each block which files are lost if it is damaged. This takes one pass over all slices, because a damaged
    /// bundle may have many damaged blocks, and a malicious one many slices too.
    pub(super) fn lost(&self) -> Vec<Lost> {
        // By how much the number of files changes from one block to the next.
        let mut changes = vec![0_i32; self.blocks.len() + 1];
        let mut first = vec![0; self.blocks.len()];
        // See `free_from`.
        let mut next: Vec<u32> = (0..=self.blocks.len() as u32).collect();
        // A hostile file can have more parts than anybody could look at. The numbers of files are lower limits then.
        let mut looked_at = MAX_PARTS_FOR_LOST;
        for (number, entry) in self.entries.iter().enumerate() {
            let mut runs: Vec<(u32, u32)> = if self.lanes.is_some() {
                let parts = self.slices(entry).iter().flat_map(|slice| self.parts(*slice));
                let mut found: Vec<(u32, u32)> = Vec::new();
                for part in parts.take(looked_at) {
                    looked_at -= 1;
                    let block = (part.block as u32, part.block as u32 + 1);
                    if found.last() != Some(&block) {
                        found.push(block);
                    }
                }
                found
            } else {
                let ends =
                    |slice: &Slice| (self.block_at(slice.start) as u32, self.block_at(slice.end() - 1) as u32 + 1);
                self.slices(entry).iter().map(ends).collect()
            };
            runs.sort_unstable();
            let mut counted = 0;
            for (from, to) in runs {
                let from = from.max(counted);
                if from >= to {
                    continue;
                }
                counted = to;
                changes[from as usize] += 1;
                changes[to as usize] -= 1;
                let mut block = free_from(&mut next, from);
                while block < to {
                    first[block as usize] = number as u32;
                    next[block as usize] = block + 1;
                    block = free_from(&mut next, block + 1);
                }
            }
        }
        let mut files = 0;
        let of_block = |(change, first): (&i32, u32)| {
            files += change;
            Lost { files: files as u32, first }
        };
        changes.iter().zip(first).map(of_block).collect()
    }

    /// Encodes the index by columns, because numbers of the same kind compress best next to each other.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(&mut bytes, self.blocks.len() as u64);
        for block in &self.blocks {
            push(&mut bytes, u64::from(block.bytes));
        }
        for block in &self.blocks {
            push(&mut bytes, u64::from(block.packed_bytes));
        }
        for block in &self.blocks {
            bytes.extend_from_slice(&block.checksum.to_le_bytes());
        }
        push(&mut bytes, self.entries.len() as u64);
        push_paths(&mut bytes, self.entries.iter().map(|entry| &*entry.path));
        for entry in &self.entries {
            push(&mut bytes, u64::from(entry.slices));
        }
        let mut recent = RecentEnds::default();
        for slice in &self.slices {
            push(&mut bytes, recent.encode(*slice));
        }
        for slice in &self.slices {
            push(&mut bytes, slice.bytes);
        }
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.checksum.to_le_bytes());
        }
        push(&mut bytes, self.directories.len() as u64);
        push_paths(&mut bytes, self.directories.iter().map(|path| &**path));
        bytes
    }

    /// Decodes an index whose blocks end at `index_offset`, and checks all of it, so that callers can rely on its values.
    pub(super) fn decode(bytes: &[u8], index_offset: u64, limits: &Limits) -> Result<Self, IndexProblem> {
        let mut cursor = Cursor(bytes);
        let mut index = Self::default();
        index.decode_blocks(&mut cursor)?;
        let (content_bytes, blocks_end) = index.ends();
        if blocks_end != index_offset {
            return Err("its blocks do not end where the index begins".into());
        }
        index.decode_files(&mut cursor, content_bytes, limits)?;
        let directories = cursor.count(MAX_DIRECTORIES)?;
        index.directories = read_paths(&mut cursor, directories, limits)?;
        if !cursor.0.is_empty() {
            return Err("it has bytes behind its end".into());
        }
        index.name_files()?;
        Ok(index)
    }

    fn decode_blocks(&mut self, cursor: &mut Cursor<'_>) -> Result<(), IndexProblem> {
        let count = cursor.count(MAX_BLOCKS)?;
        let read = |cursor: &mut Cursor<'_>| (0..count).map(|_| cursor.number()).collect::<Result<Vec<_>, _>>();
        let sizes = read(cursor)?;
        let packed_sizes = read(cursor)?;
        for (bytes, packed_bytes) in sizes.into_iter().zip(packed_sizes) {
            // Incompressible bytes grow by less than this.
            let max_packed = MAX_BLOCK_BYTES as u64 * 2;
            if bytes == 0 || bytes > MAX_BLOCK_BYTES as u64 || packed_bytes == 0 || packed_bytes > max_packed {
                return Err("a block is larger or smaller than it may be".into());
            }
            let checksum = 0;
            self.push_block(bytes as u32, packed_bytes as u32, checksum);
        }
        for block in &mut self.blocks {
            block.checksum = u64::from_le_bytes(cursor.fixed()?);
        }
        Ok(())
    }

    fn decode_files(
        &mut self,
        cursor: &mut Cursor<'_>,
        content_bytes: u64,
        limits: &Limits,
    ) -> Result<(), IndexProblem> {
        let count = cursor.count(limits.files as usize)?;
        let paths = read_paths(cursor, count, limits)?;
        let mut slices = 0_u64;
        for path in paths {
            let first_slice = slices as u32;
            let own = cursor.number()?;
            slices = slices.saturating_add(own);
            if slices > limits.slices || slices > cursor.0.len() as u64 {
                return Err("it has more slices than it may have".into());
            }
            self.entries.push(Entry { path, bytes: 0, checksum: 0, first_slice, slices: own as u32 });
        }
        // The column of lengths follows the column of starts, so a second cursor reads the lengths.
        let mut lengths = Cursor(cursor.0);
        for _ in 0..slices {
            lengths.number()?;
        }
        let mut recent = RecentEnds::default();
        for _ in 0..slices {
            let (code, bytes) = (cursor.number()?, lengths.number()?);
            let start = recent.decode(code).ok_or("a slice continues a missing slice")?;
            if bytes == 0 || start.checked_add(bytes).is_none_or(|end| end > content_bytes) {
                return Err("a slice is empty or outside of the content".into());
            }
            let slice = Slice { start, bytes };
            recent.note(slice);
            self.slices.push(slice);
        }
        *cursor = lengths;
        let mut bytes = 0_u64;
        for entry in &mut self.entries {
            let own = &self.slices[entry.first_slice as usize..][..entry.slices as usize];
            let total = own.iter().try_fold(0_u64, |sum, slice| sum.checked_add(slice.bytes));
            entry.bytes = total.ok_or("the size of a file is too large")?;
            entry.checksum = u32::from_le_bytes(cursor.fixed()?);
            if !entry.has_few_slices() {
                return Err("a file has more slices than it may have".into());
            }
            bytes = bytes.saturating_add(entry.bytes);
        }
        if bytes > limits.bytes {
            return Err("its files are larger than the size of the packed bundle allows".into());
        }
        Ok(())
    }

    /// Makes files and directories known by their paths, and checks that each path is that of only one file or one directory.
    pub(super) fn name_files(&mut self) -> Result<(), IndexProblem> {
        self.directories.sort_unstable();
        self.names = Names::default();
        self.names.add_directories(&self.directories)?;
        Ok(self.names.add_files(&self.entries)?)
    }
}

/// Encodes paths. A path that equals the one before except for a number that is one higher takes one byte.
fn push_paths<'a>(bytes: &mut Vec<u8>, paths: impl Iterator<Item = &'a str>) {
    let mut expected = None;
    for path in paths {
        if expected.as_deref() == Some(path) {
            push(bytes, 0);
        } else {
            push(bytes, path.len() as u64);
            bytes.extend_from_slice(path.as_bytes());
        }
        expected = paths::successor(path);
    }
}

fn read_paths(cursor: &mut Cursor<'_>, count: usize, limits: &Limits) -> Result<Vec<Box<str>>, IndexProblem> {
    let mut paths: Vec<Box<str>> = Vec::with_capacity(count.min(1 << 16));
    let mut bytes = 0;
    for _ in 0..count {
        let path = match cursor.number()? {
            0 => {
                let last = paths.last().ok_or("a path continues a missing path")?;
                paths::successor(last).ok_or("a path continues a path without a number")?
            }
            length => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let text = std::str::from_utf8(cursor.bytes(length)?).map_err(|_| "a path is not UTF-8")?;
                text.to_owned()
            }
        };
        if let Err(problem) = paths::check(&path) {
            return Err(IndexProblem::Path { entry: path, problem });
        }
        bytes += path.len() as u64;
        if bytes > limits.paths_bytes {
            return Err("its paths are longer than they may be".into());
        }
        paths.push(path.into());
    }
    Ok(paths)
}

/// Ends of recent slices, the latest first. If a slice starts at one of them, its start is encoded as a position in this
/// list.
#[derive(Debug, Default)]
struct RecentEnds(Vec<u64>);

impl RecentEnds {
    fn encode(&mut self, slice: Slice) -> u64 {
        let known = self.0.iter().position(|end| *end == slice.start);
        let code = known.map_or(slice.start + RECENT_ENDS as u64, |index| index as u64);
        self.note(slice);
        code
    }

    fn decode(&self, code: u64) -> Option<u64> {
        match code.checked_sub(RECENT_ENDS as u64) {
            Some(start) => Some(start),
            None => self.0.get(code as usize).copied(),
        }
    }

    fn note(&mut self, slice: Slice) {
        // The end of the new slice replaces the end at which the slice starts. No end is in the list twice.
        self.0.retain(|end| *end != slice.start && *end != slice.end());
        self.0.truncate(RECENT_ENDS - 1);
        self.0.insert(0, slice.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the limits of a large packed bundle.
    fn wide() -> Limits {
        Limits::of(1 << 30)
    }

    fn index() -> Index {
        let mut index = Index::default();
        index.push_block(100, 40, 1);
        index.push_block(50, 60, u64::MAX);
        let slice = |start, bytes| Slice { start, bytes };
        index.push_file("manifest.json".into(), 1, &[slice(0, 10)]);
        index.push_file("payloads/9.json".into(), 2, &[slice(10, 20), slice(0, 150), slice(30, 5)]);
        index.push_file("payloads/10.json".into(), 3, &[]);
        index.push_file("payloads/11.json".into(), 4, &[slice(35, 1), slice(140, 10)]);
        index.directories.extend(["empty/one".into(), "empty-too".into()]);
        index.name_files().expect("no path is there twice");
        index
    }

    #[test]
    fn an_index_reads_back() {
        let index = index();
        let bytes = index.encode();
        assert_eq!(Index::decode(&bytes, 116, &wide()), Ok(Index { ..index }));
        assert!(Index::decode(&bytes, 117, &wide()).is_err(), "blocks that end elsewhere");
        for length in 0..bytes.len() {
            assert!(Index::decode(&bytes[..length], 116, &wide()).is_err(), "cut at {length}");
        }
        assert!(Index::decode(&[bytes, vec![0]].concat(), 116, &wide()).is_err(), "a byte too many");
    }

    #[test]
    fn paths_that_would_fill_the_memory_are_refused() {
        let long = vec!["n".repeat(250); 16].join("/") + "/1";
        let count = MAX_PATHS_BYTES / long.len() + 1;
        let mut bytes = vec![0];
        push(&mut bytes, count as u64);
        push(&mut bytes, long.len() as u64);
        bytes.extend_from_slice(long.as_bytes());
        bytes.resize(bytes.len() + count * 6, 0);
        let refused = Index::decode(&bytes, HEADER_BYTES as u64, &wide());
        assert_eq!(refused, Err(IndexProblem::Damaged("its paths are longer than they may be")));
    }

    #[test]
    fn files_and_blocks_are_found() {
        let index = index();
        assert_eq!(index.find("payloads/9.json").map(|entry| entry.bytes), Some(175));
        assert_eq!(index.find("payloads"), None);
        assert!(index.is_directory("payloads") && index.is_directory("empty") && index.is_directory("empty/one"));
        assert!(!index.is_directory("pay") && !index.is_directory("manifest.json") && !index.is_directory("emp"));
        assert_eq!([0, 99, 100, 149, 150].map(|position| index.block_at(position)), [0, 0, 1, 1, 2]);
        assert_eq!(index.lost(), [Lost { files: 3, first: 0 }, Lost { files: 2, first: 1 }]);
    }

    fn refused(files: &[&str], directories: &[&str]) -> Option<(String, PathProblem)> {
        let mut index = Index::default();
        for path in files {
            index.push_file((*path).into(), 0, &[]);
        }
        index.directories = directories.iter().map(|path| (*path).into()).collect();
        match Index::decode(&index.encode(), HEADER_BYTES as u64, &wide()) {
            Err(IndexProblem::Path { entry, problem }) => Some((entry, problem)),
            other => {
                other.expect("any other problem is none here");
                None
            }
        }
    }

    #[test]
    fn hostile_paths_are_refused() {
        let twice = |path: &str| Some((path.to_owned(), PathProblem::Twice));
        assert_eq!(refused(&["a", "b/c"], &["d/e"]), None);
        assert_eq!(refused(&["a", "a"], &[]), twice("a"));
        assert_eq!(refused(&["a"], &["a"]), twice("a"));
        assert_eq!(refused(&["a"], &["a/b"]), twice("a"));
        assert_eq!(refused(&["a/b", "a"], &[]), twice("a"));
        assert_eq!(refused(&[], &["a", "a"]), twice("a"));
        assert_eq!(refused(&["/a"], &[]), Some(("/a".to_owned(), PathProblem::EmptyName)));
        assert_eq!(refused(&[], &["../a"]), Some(("../a".to_owned(), PathProblem::Dots)));
    }

    #[test]
    fn what_claims_too_much_is_refused() {
        for (count, max) in [(MAX_BLOCKS, "blocks"), (MAX_FILES, "files")] {
            let mut bytes = if max == "files" { vec![0] } else { Vec::new() };
            push(&mut bytes, count as u64 + 1);
            bytes.resize(bytes.len() + count + 10, 1);
            assert_eq!(
                Index::decode(&bytes, HEADER_BYTES as u64, &wide()),
                Err(IndexProblem::Damaged("it has more entries than it may have")),
                "{max}"
            );
        }
        // One file with too many slices, and one with a slice behind the end of the content.
        for slices in [MAX_SLICES as u64 + 1, 1] {
            let mut bytes = vec![0, 1, 1, b'a'];
            push(&mut bytes, slices);
            bytes.extend([16, 1, 0, 0, 0, 0, 0]);
            assert!(Index::decode(&bytes, HEADER_BYTES as u64, &wide()).is_err());
        }
    }

    /// Returns an index with one block of 100 bytes and one file of `count` slices.
    fn of_slices(count: u64, bytes: u64) -> Vec<u8> {
        let mut index = Index::default();
        index.push_block(100, 1, 0);
        index.push_file("a".into(), 0, &vec![Slice { start: 0, bytes }; count as usize]);
        index.encode()
    }

    #[test]
    fn small_files_ask_for_little() {
        let small = Limits::of(1000);
        let refused = |bytes: &[u8], limits: &Limits| match Index::decode(bytes, HEADER_BYTES as u64 + 1, limits) {
            Err(IndexProblem::Damaged(what)) => what,
            other => panic!("{:?}", other.map(|index| index.entries.len())),
        };
        // Many slices of one byte, each of which may be in another block.
        let most = MIN_FILE_SLICES + MIN_FILE_SLICES / BYTES_PER_SLICE;
        Index::decode(&of_slices(most, 1), HEADER_BYTES as u64 + 1, &small).expect("as many as there may be");
        let what = "a file has more slices than it may have";
        assert_eq!(refused(&of_slices(most + 1, 1), &wide()), what);
        // Many slices, each of which takes a few bits in the file.
        assert_eq!(refused(&of_slices(small.slices + 1, 1), &small), "it has more slices than it may have");
        // Content that is repeated many times.
        let tight = Limits { bytes: 1000, ..small };
        Index::decode(&of_slices(10, 100), HEADER_BYTES as u64 + 1, &tight).expect("as large as it may be");
        let what = "its files are larger than the size of the packed bundle allows";
        assert_eq!(refused(&of_slices(11, 100), &tight), what);
        assert_eq!((small.bytes, wide().slices), (MIN_BYTES + 1000 * MAX_EXPANSION, MAX_SLICES as u64));
        // Many files with long paths.
        let mut many = vec![1, 100, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        push(&mut many, small.files + 1);
        many.resize(many.len() + small.files as usize + 10, 0);
        assert_eq!(refused(&many, &small), "it has more entries than it may have");
        // The check of the writer has the same limits.
        let index = Index::decode(&of_slices(11, 100), HEADER_BYTES as u64 + 1, &small).expect("it may");
        index.check(&small).expect("it may");
        index.check(&tight).expect_err("too large");
        index.check(&Limits { slices: 10, ..small }).expect_err("too many slices");
        index.check(&Limits { files: 0, ..small }).expect_err("too many files");
        index.check(&Limits { paths_bytes: 0, ..small }).expect_err("long paths");
    }

    #[test]
    fn an_index_with_more_than_it_may_have_is_not_written() {
        let few = Limits { files: 2, paths_bytes: 30, slices: 3, bytes: 100, ..wide() };
        let slice = Slice { start: 0, bytes: 20 };
        let check = |files: &[(&str, usize)], limits: &Limits| {
            let mut index = Index::default();
            index.push_block(100, 40, 1);
            files.iter().for_each(|(path, slices)| index.push_file((*path).into(), 0, &vec![slice; *slices]));
            index.check(limits)
        };
        assert_eq!(check(&[("one", 2), ("two", 1)], &few), Ok(()));
        assert_eq!(check(&[("1", 1), ("2", 1), ("3", 1)], &few), Err("it has too many files for its packed size"));
        assert_eq!(check(&[(&"n".repeat(31), 1)], &few), Err("its paths are too long"));
        assert_eq!(check(&[("one", 2), ("two", 2)], &few), Err("its files are made of too many slices"));
        let wider = Limits { slices: 9, ..few };
        assert_eq!(check(&[("one", 6)], &wider), Err("its files are too large for its packed size"));
        let mut index = Index::default();
        (0..=MAX_BLOCKS).for_each(|_| index.push_block(1, 1, 0));
        assert_eq!(index.check(&wide()), Err("it has too many bytes"));
    }

    #[test]
    fn a_growing_bundle_has_so_many_files_and_slices_and_no_more() {
        let slice = Slice { start: address(4, 0), bytes: 1 };
        let mut index = Index::default();
        index.begin_lanes(4);
        index.push_block(1, 1, 0);
        index.append_to_lane(4, 1, 0, 0).expect("appends");
        index.push_growing_payload(0, &[slice, slice]).expect("has room");
        assert!(index.has_room_for(MAX_SLICES - 2) && !index.has_room_for(MAX_SLICES - 1));
        for ordinal in 1..MAX_FILES as u64 {
            index.push_growing_payload(ordinal, &[]).expect("has room");
        }
        assert_eq!(index.push_growing_payload(u64::MAX, &[]), Err("it has too many files"));
        assert_eq!(index.entries.len(), MAX_FILES);
    }

    #[test]
    fn so_many_parts_are_looked_at_for_what_is_lost() {
        // Each file is a lane of 65,536 runs, which are in two blocks by turns.
        let runs = 1 << 16;
        let mut index = Index::default();
        index.begin_lanes(4);
        index.push_block(MAX_BLOCK_BYTES as u32, 1, 0);
        index.push_block(MAX_BLOCK_BYTES as u32, 1, 0);
        (0..runs).for_each(|run| index.append_to_lane(3, 1, run % 2, run).expect("appends"));
        let lane = Slice { start: address(3, 0), bytes: u64::from(runs) };
        let files = MAX_PARTS_FOR_LOST as u32 / runs;
        for ordinal in 0..files + 5 {
            index.push_growing_payload(ordinal.into(), &[lane]).expect("has room");
        }
        let lost: Vec<_> = index.lost().iter().map(|lost| (lost.files, lost.first)).collect();
        assert_eq!(lost, [(files, 0), (files, 0)], "what is not looked at any more is not counted");
    }

    #[test]
    fn more_directories_than_there_may_be_are_refused() {
        // A file of a few hundred bytes can have such an index: each path is in thirty directories of its own.
        let files = MAX_DIRECTORIES / 31 + 1;
        let inner = "/a".repeat(31);
        let names: Vec<String> = (0..files).map(|number| format!("{number}{inner}")).collect();
        let decode = |names: &[String]| {
            let mut index = Index::default();
            names.iter().for_each(|name| index.push_file(name.as_str().into(), 0, &[]));
            Index::decode(&index.encode(), HEADER_BYTES as u64, &wide())
        };
        let refused = IndexProblem::Damaged("it has more directories than it may have");
        assert_eq!(decode(&names), Err(refused));
        decode(&names[1..]).expect("as many as there may be");
    }

    proptest::proptest! {
        #[test]
        fn what_is_lost_is_what_touches_a_block(
            blocks in proptest::collection::vec(1_u32..9, 1..12),
            files in proptest::collection::vec(proptest::collection::vec((0_u64..60, 1_u64..30), 0..6), 0..8),
        ) {
            let mut index = Index::default();
            blocks.iter().for_each(|bytes| index.push_block(*bytes, 1, 0));
            let end = index.ends().0;
            for (number, slices) in files.iter().enumerate() {
                let inside = |(start, bytes): &(u64, u64)| {
                    let start = start % end;
                    Slice { start, bytes: (*bytes).min(end - start) }
                };
                let slices: Vec<Slice> = slices.iter().map(inside).collect();
                index.push_file(number.to_string().into(), 0, &slices);
            }
            for (block, lost) in index.blocks.iter().zip(index.lost()) {
                let end = block.start + u64::from(block.bytes);
                let touches = |slice: &Slice| slice.start < end && slice.end() > block.start;
                let files: Vec<u32> = (0..index.entries.len() as u32)
                    .filter(|number| index.slices(&index.entries[*number as usize]).iter().any(touches))
                    .collect();
                let expected = Lost { files: files.len() as u32, first: files.first().copied().unwrap_or(0) };
                proptest::prop_assert_eq!(lost, expected);
            }
        }
    }
}
