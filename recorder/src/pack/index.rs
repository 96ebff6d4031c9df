//! The index: which bytes of which blocks make which file.
//!
//! The blocks, decompressed and one after the other, are the *content*. A file is a list of slices of it. Slices may
//! overlap and repeat: that is how requests share what they have in common. Nothing refers to another file, so each one
//! can be read by itself.

use std::collections::HashSet;

use super::format::{HEADER_BYTES, MAX_BLOCK_BYTES};
use super::paths::{self, PathProblem};
use super::wire::{Cursor, push};

/// Most blocks of a packed bundle.
pub const MAX_BLOCKS: usize = 1 << 20;

/// Most files, and most empty directories, of a packed bundle.
pub const MAX_FILES: usize = 1 << 20;

/// Most bytes of all paths of files, and of all paths of directories. A path that goes on from the one before takes one byte in
/// the index and thousands in memory.
pub const MAX_PATHS_BYTES: usize = 64 << 20;

/// Most slices of all files together.
pub const MAX_SLICES: usize = 1 << 24;

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

impl Index {
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

    /// Returns the files that have bytes in a block.
    pub(super) fn files_in(&self, block: &Block) -> impl Iterator<Item = &Entry> {
        let (start, end) = (block.start, block.start + u64::from(block.bytes));
        self.entries
            .iter()
            .filter(move |entry| self.slices(entry).iter().any(|slice| slice.start < end && slice.end() > start))
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
    pub(super) fn decode(bytes: &[u8], index_offset: u64) -> Result<Self, IndexProblem> {
        let mut cursor = Cursor(bytes);
        let mut index = Self::default();
        index.decode_blocks(&mut cursor)?;
        let (content_bytes, blocks_end) = index.ends();
        if blocks_end != index_offset {
            return Err("its blocks are not those of the file".into());
        }
        index.decode_files(&mut cursor, content_bytes)?;
        let directories = cursor.count(MAX_FILES)?;
        index.directories = read_paths(&mut cursor, directories)?;
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

    fn decode_files(&mut self, cursor: &mut Cursor<'_>, content_bytes: u64) -> Result<(), IndexProblem> {
        let count = cursor.count(MAX_FILES)?;
        let paths = read_paths(cursor, count)?;
        let mut slices = 0_u64;
        for path in paths {
            let first_slice = slices as u32;
            let own = cursor.number()?;
            slices = slices.saturating_add(own);
            if slices > MAX_SLICES as u64 || slices > cursor.0.len() as u64 {
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
        for entry in &mut self.entries {
            let own = &self.slices[entry.first_slice as usize..][..entry.slices as usize];
            let total = own.iter().try_fold(0_u64, |sum, slice| sum.checked_add(slice.bytes));
            entry.bytes = total.ok_or("a file is larger than any file")?;
            entry.checksum = u32::from_le_bytes(cursor.fixed()?);
        }
        Ok(())
    }

    /// Makes paths findable, and checks that each is one file or one directory.
    pub(super) fn sort_paths(&mut self) -> Result<(), IndexProblem> {
        let twice = |path: &str| IndexProblem::Path { entry: path.to_owned(), problem: PathProblem::Twice };
        self.by_path = (0..self.entries.len() as u32).collect();
        self.by_path.sort_unstable_by(|a, b| self.entries[*a as usize].path.cmp(&self.entries[*b as usize].path));
        if let Some(pair) = self
            .by_path
            .windows(2)
            .find(|pair| self.entries[pair[0] as usize].path == self.entries[pair[1] as usize].path)
        {
            return Err(twice(&self.entries[pair[0] as usize].path));
        }
        self.directories.sort_unstable();
        let mut seen = HashSet::new();
        if let Some(path) = self.directories.iter().find(|path| !seen.insert(&***path)) {
            return Err(twice(path));
        }
        let paths = self.entries.iter().map(|entry| &*entry.path).chain(seen.iter().copied());
        let mut directories: HashSet<&str> = seen.clone();
        for path in paths {
            // A directory that is known has its parents known.
            for parent in paths::parents(path) {
                if !directories.insert(parent) {
                    break;
                }
            }
        }
        match self.entries.iter().find(|entry| directories.contains(&*entry.path)) {
            Some(entry) => Err(twice(&entry.path)),
            None => Ok(()),
        }
    }
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

fn read_paths(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<Box<str>>, IndexProblem> {
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
        bytes += path.len();
        if bytes > MAX_PATHS_BYTES {
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
        assert_eq!(Index::decode(&bytes, 116), Ok(Index { ..index }));
        assert!(Index::decode(&bytes, 117).is_err(), "blocks that end elsewhere");
        for length in 0..bytes.len() {
            assert!(Index::decode(&bytes[..length], 116).is_err(), "cut at {length}");
        }
        assert!(Index::decode(&[bytes, vec![0]].concat(), 116).is_err(), "a byte too many");
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
        let refused = Index::decode(&bytes, HEADER_BYTES as u64);
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
        let in_second: Vec<_> = index.files_in(&index.blocks[1]).map(|entry| &*entry.path).collect();
        assert_eq!(in_second, ["payloads/9.json", "payloads/11.json"]);
    }

    fn refused(files: &[&str], directories: &[&str]) -> Option<(String, PathProblem)> {
        let mut index = Index::default();
        for path in files {
            index.push_file((*path).into(), 0, &[]);
        }
        index.directories = directories.iter().map(|path| (*path).into()).collect();
        match Index::decode(&index.encode(), HEADER_BYTES as u64) {
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
                Index::decode(&bytes, HEADER_BYTES as u64),
                Err(IndexProblem::Damaged("it has more entries than it may have")),
                "{max}"
            );
        }
        // One file of too many slices, and one of a slice behind the end.
        for slices in [MAX_SLICES as u64 + 1, 1] {
            let mut bytes = vec![0, 1, 1, b'a'];
            push(&mut bytes, slices);
            bytes.extend([16, 1, 0, 0, 0, 0, 0]);
            assert!(Index::decode(&bytes, HEADER_BYTES as u64).is_err());
        }
    }
}
