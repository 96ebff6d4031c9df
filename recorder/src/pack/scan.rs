//! Reads the records of a growing bundle into an index.
//!
//! A record that is cut off or damaged ends the bundle: what follows it was never acknowledged, or cannot be relied on. So a
//! crash at any moment leaves a bundle that is whole up to a record.

use std::fs::File;
use std::io;

use super::format::MAX_BLOCK_BYTES;
use super::index::{Block, Chunk, Index, IndexProblem, Limits, MAX_BLOCKS};
use super::lanes::{FIRST_LANE, LOG_LANE, MANIFEST_LANE, RECORDER_LANE, address};
use super::positioned::read_exact_at;
use super::record::{BYTES_PER_RUN, MAX_SPAN_BYTES, MIN_RUNS, RECORD_HEAD_BYTES, RecordHead, RecordList, is_intact};
use super::slice::Slice;
use crate::format::{EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR, RECORDER_FILE, RECORDER_FILE_BYTES};
use crate::header::GROWING_HEADER_BYTES;

/// Bytes of the file that are read at once. A longer record is read by itself.
const READ_BYTES: usize = 1 << 20;

/// The block that is the recorder's file. Its bytes are in the header, not in a record.
pub(super) const RECORDER_BLOCK: usize = 0;

/// Place of the log in the list of files.
const LOG_ENTRY: usize = 0;

/// Place of the manifest in the list of files.
const MANIFEST_ENTRY: usize = 1;

/// How far the records of a growing bundle were read.
#[derive(Debug)]
pub(super) struct Scan {
    /// Offset behind the last record that was read.
    pub(super) end: u64,
    /// Size of the file when it was looked at last.
    pub(super) file_bytes: u64,
    /// The last record that was read. `None` before the first one.
    last: Option<Mark>,
}

/// A record that was read. Its head has the checksums of its list and its content, so another record in its place shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    offset: u64,
    head: [u8; RECORD_HEAD_BYTES],
}

impl Mark {
    /// Returns whether the record is still in the file.
    pub(super) fn is_in(&self, file: &File) -> io::Result<bool> {
        let mut head = [0; RECORD_HEAD_BYTES];
        match read_exact_at(file, &mut head, self.offset) {
            Ok(()) => Ok(head == self.head),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Scan {
    /// Starts behind the header. The index gets what every growing bundle has, and the recorder's file if the header has it.
    pub(super) fn new(index: &mut Index, has_recorder_file: bool) -> Self {
        index.begin_lanes(FIRST_LANE);
        // Only the recorder's file refers to its lane.
        index.push_block(RECORDER_FILE_BYTES as u32, RECORDER_FILE_BYTES as u32, 0);
        index.append_to_lane(RECORDER_LANE, RECORDER_FILE_BYTES as u32, RECORDER_BLOCK as u32, 0).unwrap_or_default();
        index.push_growing_file(EVENT_LOG_FILE);
        index.push_growing_file(MANIFEST_FILE);
        if has_recorder_file {
            let slice = Slice { start: address(RECORDER_LANE, 0), bytes: RECORDER_FILE_BYTES as u64 };
            index.push_file(RECORDER_FILE.into(), 0, &[slice]);
        }
        index.directories.push(PAYLOADS_DIR.into());
        Self { end: GROWING_HEADER_BYTES as u64, file_bytes: 0, last: None }
    }

    /// Returns the last record that was read.
    pub(super) fn last(&self) -> Option<Mark> {
        self.last
    }

    /// Reads the records behind the last one. Returns whether there were any.
    pub(super) fn advance(&mut self, file: &File, index: &mut Index) -> Result<bool, ScanProblem> {
        self.file_bytes = file.metadata()?.len();
        let start = self.end;
        if self.file_bytes < start {
            return Err(ScanProblem::Damaged { offset: self.file_bytes, problem: "records were cut off".into() });
        }
        let mut window = Window { file, file_bytes: self.file_bytes, start: 0, bytes: Vec::new() };
        while let Some((mark, end)) = self.next(&mut window, index)? {
            (self.last, self.end) = (Some(mark), end);
        }
        let has_grown = self.end > start;
        if has_grown || index.has_unnamed() {
            index.grow_file(LOG_ENTRY, LOG_LANE);
            index.grow_file(MANIFEST_ENTRY, MANIFEST_LANE);
            index.name_growing(PAYLOADS_DIR).map_err(|problem| ScanProblem::Damaged { offset: start, problem })?;
            let limits = Limits::of(self.file_bytes);
            index.check(&limits).map_err(|what| ScanProblem::Damaged { offset: start, problem: what.into() })?;
        }
        Ok(has_grown)
    }

    /// Returns whether there is a whole record somewhere behind the last one that was read.
    pub(super) fn has_records_behind(&self, file: &File) -> io::Result<bool> {
        let file_bytes = file.metadata()?.len();
        let mut window = Window { file, file_bytes, start: 0, bytes: Vec::new() };
        // The record at the end does not count, so the search begins behind its first byte.
        let mut offset = self.end + 1;
        while offset < file_bytes {
            let length = (file_bytes - offset).min(READ_BYTES as u64) as usize;
            let Some(bytes) = window.at(offset, length)? else { return Ok(false) };
            let is_begin = |at: &usize| *at >= 3 && matches!(&bytes[at - 3..*at], b"REC" | b"rec");
            let begins: Vec<u64> =
                memchr::memchr_iter(b'\n', bytes).filter(is_begin).map(|at| offset + at as u64 - 3).collect();
            for begin in begins {
                if read_record(&mut window, begin)?.is_some() {
                    return Ok(true);
                }
            }
            // The first bytes of a record may be divided between two parts.
            offset += if length > 3 { length as u64 - 3 } else { 4 };
        }
        Ok(false)
    }

    /// Reads a record into the index. Returns it and the offset behind it, or `None` if there is no whole record.
    fn next(&self, window: &mut Window<'_>, index: &mut Index) -> Result<Option<(Mark, u64)>, ScanProblem> {
        let offset = self.end;
        let Some((head, record, list)) = read_record(window, offset)? else { return Ok(None) };
        let damaged = |what: &'static str| ScanProblem::Damaged { offset, problem: what.into() };
        let list = RecordList::decode(&list).map_err(damaged)?;
        let content = offset + RECORD_HEAD_BYTES as u64 + u64::from(record.list_bytes);
        let chunk = Chunk { offset: content, packed_bytes: record.packed_bytes, checksum: record.checksum };
        apply(&record, chunk, &list, index).map_err(damaged)?;
        let end = content + u64::from(record.packed_bytes);
        if index.run_count() as u64 > MIN_RUNS + end / BYTES_PER_RUN {
            return Err(damaged("it has more runs than its size allows"));
        }
        Ok(Some((Mark { offset, head }, end)))
    }
}

/// The bytes of a head, what they say, and the list behind them.
type Read = ([u8; RECORD_HEAD_BYTES], RecordHead, Vec<u8>);

/// Reads the record at an offset and checks it. Returns `None` if there is no whole record.
fn read_record(window: &mut Window<'_>, offset: u64) -> io::Result<Option<Read>> {
    let Some(head) = window.at(offset, RECORD_HEAD_BYTES)?.and_then(|bytes| bytes.first_chunk().copied()) else {
        return Ok(None);
    };
    let Some(record) = RecordHead::decode(&head) else { return Ok(None) };
    let length = record.list_bytes as usize + record.packed_bytes as usize;
    let Some(body) = window.at(offset + RECORD_HEAD_BYTES as u64, length)? else { return Ok(None) };
    let (list, content) = body.split_at(record.list_bytes as usize);
    Ok(is_intact(&head, &record, list, content, offset).then(|| (head, record, list.to_vec())))
}

/// Adds what a record has to the index.
fn apply(record: &RecordHead, chunk: Chunk, list: &RecordList, index: &mut Index) -> Result<(), &'static str> {
    let mut from = if record.bytes > 0 { add_chunk(record, chunk, index)? } else { 0 };
    let block = index.blocks.len() as u32 - 1;
    let total: u64 = list.runs.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
    if total != u64::from(record.bytes) {
        return Err("the content of a record is not that of its lanes");
    }
    for (lane, bytes) in &list.runs {
        if *bytes == 0 || *lane == RECORDER_LANE {
            return Err(if *bytes == 0 { "a run is empty" } else { "a record appends to the recorder's file" });
        }
        index.append_to_lane(*lane, *bytes, block, from)?;
        from += bytes;
    }
    for (ordinal, slices) in &list.files {
        index.push_growing_payload(*ordinal, slices)?;
    }
    Ok(())
}

/// Adds the content of a record to the last block or to a new one. Returns its offset in the block.
fn add_chunk(record: &RecordHead, chunk: Chunk, index: &mut Index) -> Result<u32, &'static str> {
    if record.begins_block {
        if index.blocks.len() >= MAX_BLOCKS {
            return Err("it has too many bytes");
        }
        index.blocks.push(Block {
            start: 0,
            bytes: record.bytes,
            offset: chunk.offset,
            packed_bytes: chunk.packed_bytes,
            checksum: 0,
            chunks: vec![chunk],
        });
        return Ok(0);
    }
    if index.blocks.len() - 1 == RECORDER_BLOCK {
        return Err("its first record continues a missing block");
    }
    let Some(block) = index.blocks.last_mut() else { return Err("it has no blocks") };
    let from = block.bytes;
    let span = chunk.offset + u64::from(chunk.packed_bytes) - block.offset;
    if from as usize + record.bytes as usize > MAX_BLOCK_BYTES || span > MAX_SPAN_BYTES {
        return Err("a block is larger than it may be");
    }
    block.bytes += record.bytes;
    block.packed_bytes = span as u32;
    block.chunks.push(chunk);
    Ok(from)
}

/// Why the records of a growing bundle cannot be read.
#[derive(Debug)]
pub(super) enum ScanProblem {
    Io(io::Error),
    /// A record is intact, but breaks a rule of the format.
    Damaged {
        offset: u64,
        problem: IndexProblem,
    },
}

impl From<io::Error> for ScanProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A part of the file in memory.
struct Window<'f> {
    file: &'f File,
    file_bytes: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// Returns bytes of the file, or `None` if it has less.
    fn at(&mut self, offset: u64, length: usize) -> io::Result<Option<&[u8]>> {
        if offset.checked_add(length as u64).is_none_or(|end| end > self.file_bytes) {
            return Ok(None);
        }
        let is_there = offset >= self.start && offset + length as u64 <= self.start + self.bytes.len() as u64;
        if !is_there {
            let wanted = (self.file_bytes - offset).min(length.max(READ_BYTES) as u64) as usize;
            self.bytes.resize(wanted, 0);
            self.start = offset;
            match read_exact_at(self.file, &mut self.bytes, offset) {
                Ok(()) => {}
                // A recorder truncated what it failed to write.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.bytes.clear();
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        let from = (offset - self.start) as usize;
        Ok(Some(&self.bytes[from..from + length]))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::header::{PackVersion, header_of};

    fn record(begins_block: bool, bytes: u32) -> RecordHead {
        RecordHead { begins_block, list_bytes: 0, packed_bytes: 1, bytes, checksum: 0 }
    }

    fn chunk(offset: u64, packed_bytes: u32) -> Chunk {
        Chunk { offset, packed_bytes, checksum: 0 }
    }

    fn begun() -> Index {
        let mut index = Index::default();
        Scan::new(&mut index, true);
        index
    }

    #[test]
    fn a_block_has_so_many_bytes_and_takes_so_much_of_the_file_and_no_more() {
        let mut index = begun();
        assert!(add_chunk(&record(false, 1), chunk(9_000, 1), &mut index).is_err(), "it continues nothing");
        assert_eq!(add_chunk(&record(true, 1), chunk(5_000, 10), &mut index), Ok(0));
        // The first byte of the block is at 5,000, so its last may be this far behind it.
        let end = 5_000 + MAX_SPAN_BYTES;
        assert_eq!(
            add_chunk(&record(false, 1), chunk(end - 9, 10), &mut index),
            Err("a block is larger than it may be"),
            "one byte too far"
        );
        assert_eq!(add_chunk(&record(false, 1), chunk(end - 10, 10), &mut index), Ok(1));
        let rest = MAX_BLOCK_BYTES as u32 - 2;
        let mut index = begun();
        add_chunk(&record(true, 2), chunk(5_000, 10), &mut index).expect("begins");
        let refused = add_chunk(&record(false, rest + 1), chunk(5_010, 10), &mut index);
        assert_eq!(refused, Err("a block is larger than it may be"));
        assert_eq!(add_chunk(&record(false, rest), chunk(5_010, 10), &mut index), Ok(2));
    }

    #[test]
    fn there_are_so_many_blocks_and_no_more() {
        let mut index = begun();
        let offset = |index: &Index| 4_096 + index.blocks.len() as u64;
        while index.blocks.len() < MAX_BLOCKS - 1 {
            index.push_block(1, 1, 0);
        }
        let at = chunk(offset(&index), 1);
        assert_eq!(add_chunk(&record(true, 1), at, &mut index), Ok(0));
        let at = chunk(offset(&index), 1);
        add_chunk(&record(true, 1), at, &mut index).expect_err("a block too many");
        assert_eq!(index.blocks.len(), MAX_BLOCKS);
    }

    /// Writes a growing bundle with one record of this many runs of one byte, and reads it.
    fn read_runs(runs: usize) -> Result<bool, ScanProblem> {
        let mut lanes = [FIRST_LANE, FIRST_LANE + 1].into_iter().cycle();
        let list =
            RecordList { runs: lanes.by_ref().take(runs).map(|lane| (lane, 1)).collect(), files: vec![] }.encode();
        let content = zstd::bulk::compress(&vec![b'x'; runs], 1).expect("compresses");
        let head = RecordHead {
            begins_block: true,
            list_bytes: list.len() as u32,
            packed_bytes: content.len() as u32,
            bytes: runs as u32,
            checksum: xxh3_64(&content),
        };
        let mut header = header_of(PackVersion::GROWING).to_vec();
        header.resize(GROWING_HEADER_BYTES, b' ');
        let mut file = tempfile::tempfile().expect("a file");
        let head = head.encode(&list, GROWING_HEADER_BYTES as u64);
        [&header[..], &head, &list, &content].into_iter().for_each(|part| file.write_all(part).expect("writes"));
        let mut index = Index::default();
        let mut scan = Scan::new(&mut index, false);
        scan.advance(&file, &mut index)
    }

    #[test]
    fn a_small_file_has_so_many_runs_and_no_more() {
        // The list takes two bytes for each run, so the file allows an eighth more, and a little for what stands around it.
        let allowed = MIN_RUNS as usize;
        assert!(read_runs(allowed).expect("is accepted"));
        let refused = read_runs(allowed + allowed / 8 * 2).expect_err("is refused");
        let ScanProblem::Damaged { offset, problem: IndexProblem::Damaged(what) } = refused else {
            panic!("{refused:?}")
        };
        assert_eq!((offset, what), (GROWING_HEADER_BYTES as u64, "it has more runs than its size allows"));
    }

    #[test]
    fn a_record_is_known_again() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&[7; 100]).expect("writes");
        let mark = Mark { offset: 20, head: [7; RECORD_HEAD_BYTES] };
        assert!(mark.is_in(file.as_file()).expect("reads"));
        assert!(!Mark { head: [8; RECORD_HEAD_BYTES], ..mark }.is_in(file.as_file()).expect("reads"));
        assert!(!Mark { offset: 69, ..mark }.is_in(file.as_file()).expect("reads"), "the file is too short");
    }
}
