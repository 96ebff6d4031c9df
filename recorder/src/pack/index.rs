//! The index: which bytes of which blocks make which file.
//!
//! The blocks, decompressed and one after the other, are the *content*. A file is a list of slices of it. Slices may
//! overlap and repeat: that is how requests share what they have in common. Nothing refers to another file, so each one
//! can be read by itself.

use super::format::{HEADER_BYTES, MAX_BLOCK_BYTES, MAX_INDEX_BYTES};
use super::paths::{self, PathProblem};
use super::wire::{Cursor, push};

/// Most blocks of a packed bundle.
pub const MAX_BLOCKS: usize = 1 << 20;

/// Most files of a packed bundle.
pub const MAX_FILES: usize = 1 << 20;

/// Most directories of a packed bundle: those that hold nothing, and those that paths of files name.
pub const MAX_DIRECTORIES: usize = 1 << 16;

/// Most bytes of all paths of files, and of all paths of directories. A path that goes on from the one before takes one
/// byte in the index and thousands in memory.
pub const MAX_PATHS_BYTES: usize = 64 << 20;

/// Most slices of all files together.
pub const MAX_SLICES: usize = 1 << 24;

/// Slices that any file may have. Each may cost the decompression of a block.
pub const MIN_FILE_SLICES: u64 = 2048;

/// Bytes of a file that allow it one more slice than [`MIN_FILE_SLICES`].
pub const BYTES_PER_SLICE: u64 = 128;

/// Bytes that all files of any packed bundle may have together.
pub const MIN_BYTES: u64 = 256 << 20;

/// Bytes of files that one byte of a packed bundle may stand for, on top of [`MIN_BYTES`]. Real sessions have reached
/// some thousands.
pub const MAX_EXPANSION: u64 = 100_000;

/// Ends of recent slices that a slice may go on from. Streams of content are few, and each goes on where it ended.
const RECENT_ENDS: usize = 16;

/// A block of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Where its bytes begin in the content.
    pub(super) start: u64,
    /// Number of its bytes.
    pub(super) bytes: u32,
    /// Where it begins in the file.
    pub(super) offset: u64,
    /// Number of bytes in the file.
    pub(super) packed_bytes: u32,
    /// Checksum of the bytes in the file.
    pub(super) checksum: u64,
}

/// A part of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Slice {
    pub(super) fn end(self) -> u64 {
        self.start + self.bytes
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Box<str>,
    pub(super) bytes: u64,
    /// Low half of the XXH3 hash of its bytes.
    pub(super) checksum: u32,
    first_slice: u32,
    slices: u32,
}

impl Entry {
    /// Says whether the file is in no more slices than a file of its size may be.
    fn has_few_slices(&self) -> bool {
        u64::from(self.slices) <= MIN_FILE_SLICES + self.bytes / BYTES_PER_SLICE
    }
}

/// All that is known about the content.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) blocks: Vec<Block>,
    pub(super) entries: Vec<Entry>,
    slices: Vec<Slice>,
    /// Directories that hold no file, sorted once the index is whole.
    pub(super) directories: Vec<Box<str>>,
    /// Positions in `entries`, by path.
    by_path: Vec<u32>,
}

/// Follows the blocks that belong to a file to the next that belongs to none, and shortens the way.
fn free_from(next: &mut [u32], from: u32) -> u32 {
    let mut at = from;
    while next[at as usize] != at {
        let further = next[next[at as usize] as usize];
        next[at as usize] = further;
        at = further;
    }
    at
}

/// What is lost with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Number of files that have bytes in it.
    pub(super) files: u32,
    /// Position of the first of them, if there is any.
    pub(super) first: u32,
}

/// What is wrong with an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndexProblem {
    Damaged(&'static str),
    Path { entry: String, problem: PathProblem },
}

impl From<&'static str> for IndexProblem {
    fn from(what: &'static str) -> Self {
        Self::Damaged(what)
    }
}

/// What a packed bundle may ask for. Zeros compress without end, so a few hundred bytes could ask for all that the
/// constants above allow; a small file has to be content with less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of the index after decompression.
    pub(super) index_bytes: u64,
    files: u64,
    paths_bytes: u64,
    slices: u64,
    bytes: u64,
}

impl Limits {
    /// Returns what a packed bundle of so many bytes may ask for.
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
    /// Checks that a packed bundle may have this index, before it is written.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), &'static str> {
        let length = |paths: &mut dyn Iterator<Item = &Box<str>>| paths.map(|path| path.len() as u64).sum::<u64>();
        let file_paths = length(&mut self.entries.iter().map(|entry| &entry.path));
        if self.blocks.len() > MAX_BLOCKS {
            return Err("it has too many bytes");
        }
        if self.entries.len() as u64 > limits.files {
            return Err("it has too many files that are alike");
        }
        if file_paths.max(length(&mut self.directories.iter())) > limits.paths_bytes {
            return Err("its paths are too long");
        }
        if self.slices.len() as u64 > limits.slices || self.entries.iter().any(|entry| !entry.has_few_slices()) {
            return Err("its files are made of too many slices");
        }
        if self.entries.iter().map(|entry| entry.bytes).fold(0, u64::saturating_add) > limits.bytes {
            return Err("its files repeat more than a packed bundle can say");
        }
        Ok(())
    }

    /// Adds a block behind those that are there.
    pub(super) fn push_block(&mut self, bytes: u32, packed_bytes: u32, checksum: u64) {
        let (start, offset) = self.ends();
        self.blocks.push(Block { start, bytes, offset, packed_bytes, checksum });
    }

    /// Returns where the content ends, and where the blocks end in the file.
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

    /// Returns the slices of a file, in their order.
    pub(super) fn slices(&self, entry: &Entry) -> &[Slice] {
        &self.slices[entry.first_slice as usize..][..entry.slices as usize]
    }

    /// Returns the file of a path.
    pub(super) fn find(&self, path: &str) -> Option<&Entry> {
        let found = self.by_path.binary_search_by(|entry| (*self.entries[*entry as usize].path).cmp(path)).ok()?;
        Some(&self.entries[self.by_path[found] as usize])
    }

    /// Says whether a path is that of a directory.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        let next = |after: &str| self.directories.get(self.directories.partition_point(|found| **found < *after));
        let is_listed = next(path).is_some_and(|found| **found == *path);
        if is_listed || next(&inside).is_some_and(|found| found.starts_with(&inside)) {
            return true;
        }
        let first = self.by_path.partition_point(|entry| *self.entries[*entry as usize].path < *inside);
        self.by_path.get(first).is_some_and(|entry| self.entries[*entry as usize].path.starts_with(&inside))
    }

    /// Returns the number of the block that holds a byte of the content.
    pub(super) fn block_at(&self, position: u64) -> usize {
        self.blocks.partition_point(|block| block.start + u64::from(block.bytes) <= position)
    }

    /// Returns for each block what is lost with it. One pass, whatever the slices are: a damaged file may have many
    /// broken blocks, and a hostile one many slices too.
    pub(super) fn lost(&self) -> Vec<Lost> {
        // Where the number of files grows or shrinks from one block to the next.
        let mut changes = vec![0_i32; self.blocks.len() + 1];
        let mut first = vec![0; self.blocks.len()];
        // The next block from here on that belongs to no file yet.
        let mut next: Vec<u32> = (0..=self.blocks.len() as u32).collect();
        for (number, entry) in self.entries.iter().enumerate() {
            let ends = |slice: &Slice| (self.block_at(slice.start) as u32, self.block_at(slice.end() - 1) as u32 + 1);
            let mut runs: Vec<(u32, u32)> = self.slices(entry).iter().map(ends).collect();
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

    /// Writes the index, column by column: numbers of one kind compress best among themselves.
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

    /// Reads an index whose blocks end at `index_offset`, and checks it whole: whoever has it may rely on it.
    pub(super) fn decode(bytes: &[u8], index_offset: u64, limits: &Limits) -> Result<Self, IndexProblem> {
        let mut cursor = Cursor(bytes);
        let mut index = Self::default();
        index.decode_blocks(&mut cursor)?;
        let (content_bytes, blocks_end) = index.ends();
        if blocks_end != index_offset {
            return Err("its blocks are not those of the file".into());
        }
        index.decode_files(&mut cursor, content_bytes, limits)?;
        let directories = cursor.count(MAX_DIRECTORIES)?;
        index.directories = read_paths(&mut cursor, directories, limits)?;
        if !cursor.0.is_empty() {
            return Err("it does not end where it should".into());
        }
        index.sort_paths()?;
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
        // The columns of lengths and starts follow each other, so the lengths have to be looked up ahead.
        let mut lengths = Cursor(cursor.0);
        for _ in 0..slices {
            lengths.number()?;
        }
        let mut recent = RecentEnds::default();
        for _ in 0..slices {
            let (code, bytes) = (cursor.number()?, lengths.number()?);
            let start = recent.decode(code).ok_or("a slice goes on from nowhere")?;
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
            entry.bytes = total.ok_or("a file is larger than any file")?;
            entry.checksum = u32::from_le_bytes(cursor.fixed()?);
            if !entry.has_few_slices() {
                return Err("a file is made of more slices than it may be".into());
            }
            bytes = bytes.saturating_add(entry.bytes);
        }
        if bytes > limits.bytes {
            return Err("its files are larger than a file of this size may stand for".into());
        }
        Ok(())
    }

    /// Makes paths findable, and checks that each is one file or one directory.
    pub(super) fn sort_paths(&mut self) -> Result<(), IndexProblem> {
        let twice = |path: &str| IndexProblem::Path { entry: path.to_owned(), problem: PathProblem::Twice };
        self.by_path = (0..self.entries.len() as u32).collect();
        self.by_path.sort_unstable_by(|a, b| self.entries[*a as usize].path.cmp(&self.entries[*b as usize].path));
        self.directories.sort_unstable();
        let files = self.by_path.iter().map(|entry| &*self.entries[*entry as usize].path);
        let mut sorted: Vec<&str> = files.chain(self.directories.iter().map(|path| &**path)).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(twice(pair[0]));
        }
        if self.directories.len() + count_parents(&sorted) > MAX_DIRECTORIES {
            return Err("it has more directories than it may have".into());
        }
        match self.entries.iter().find(|entry| self.is_directory(&entry.path)) {
            Some(entry) => Err(twice(&entry.path)),
            None => Ok(()),
        }
    }
}

/// Counts the directories that sorted paths lie in. All paths in one directory follow each other, so each directory is
/// new at one path.
fn count_parents(sorted: &[&str]) -> usize {
    let mut before = "";
    let mut count = 0;
    for path in sorted {
        let common = before.bytes().zip(path.bytes()).take_while(|(before, own)| before == own).count();
        count += path.as_bytes()[common..].iter().filter(|byte| **byte == b'/').count();
        before = path;
    }
    count
}

/// Writes paths. One that is like the path before with the next number takes one byte.
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
                let last = paths.last().ok_or("a path goes on from nowhere")?;
                paths::successor(last).ok_or("a path goes on from one without a number")?
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

/// Where recent slices ended, the latest first. A start is written as a position among them where it can be.
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
        // What goes on from an end takes its place; an end is there once.
        self.0.retain(|end| *end != slice.start && *end != slice.end());
        self.0.truncate(RECENT_ENDS - 1);
        self.0.insert(0, slice.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits of a packed bundle of many bytes.
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
        index.sort_paths().expect("no path is there twice");
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
        // One file of too many slices, and one of a slice behind the end.
        for slices in [MAX_SLICES as u64 + 1, 1] {
            let mut bytes = vec![0, 1, 1, b'a'];
            push(&mut bytes, slices);
            bytes.extend([16, 1, 0, 0, 0, 0, 0]);
            assert!(Index::decode(&bytes, HEADER_BYTES as u64, &wide()).is_err());
        }
    }

    /// Returns an index of a block of 100 bytes with one file of these slices.
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
        // Many slices of a byte, each of which may be in another block.
        let most = MIN_FILE_SLICES + MIN_FILE_SLICES / BYTES_PER_SLICE;
        Index::decode(&of_slices(most, 1), HEADER_BYTES as u64 + 1, &small).expect("as many as there may be");
        let what = "a file is made of more slices than it may be";
        assert_eq!(refused(&of_slices(most + 1, 1), &wide()), what);
        // Slices that take a few bits each in the file.
        assert_eq!(refused(&of_slices(small.slices + 1, 1), &small), "it has more slices than it may have");
        // Content that repeats without end.
        let tight = Limits { bytes: 1000, ..small };
        Index::decode(&of_slices(10, 100), HEADER_BYTES as u64 + 1, &tight).expect("as large as it may be");
        let what = "its files are larger than a file of this size may stand for";
        assert_eq!(refused(&of_slices(11, 100), &tight), what);
        assert_eq!((small.bytes, wide().slices), (MIN_BYTES + 1000 * MAX_EXPANSION, MAX_SLICES as u64));
        // Files, and paths of them.
        let mut many = vec![1, 100, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        push(&mut many, small.files + 1);
        many.resize(many.len() + small.files as usize + 10, 0);
        assert_eq!(refused(&many, &small), "it has more entries than it may have");
        // The writer asks for no more.
        let index = Index::decode(&of_slices(11, 100), HEADER_BYTES as u64 + 1, &small).expect("it may");
        index.check(&small).expect("it may");
        index.check(&tight).expect_err("too large");
        index.check(&Limits { slices: 10, ..small }).expect_err("too many slices");
        index.check(&Limits { files: 0, ..small }).expect_err("too many files");
        index.check(&Limits { paths_bytes: 0, ..small }).expect_err("long paths");
    }

    #[test]
    fn directories_are_counted_once() {
        let count = |paths: &[&str]| {
            let mut sorted = paths.to_vec();
            sorted.sort_unstable();
            count_parents(&sorted)
        };
        assert_eq!(count(&["a", "b"]), 0);
        assert_eq!(count(&["a/b", "a/c", "a-/c", "a0/x", "a/b-/c"]), 4);
        assert_eq!(count(&["a/b/c", "a/b/d", "a/bb/d", "b/a/b/c"]), 6);
    }

    #[test]
    fn more_directories_than_there_may_be_are_refused() {
        // As a file of some hundred bytes can say it: each path in thirty directories of its own.
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
