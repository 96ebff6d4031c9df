//! The records of a growing bundle: how each is written, and how it is checked and read.
//!
//! `docs/growing-format.md` describes them. A record holds what one write of the recorder added: bytes of a block, the lanes
//! to which they belong, and the files that are made of them.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::format::MAX_BLOCK_BYTES;
use super::lanes::{address, place_of};
use super::slice::Slice;
use super::wire::{Cursor, push};

/// Size of the head of a record in bytes.
pub(crate) const RECORD_HEAD_BYTES: usize = 32;

/// Most bytes of the list of lanes and files in a record.
pub(crate) const MAX_LIST_BYTES: usize = 16 << 20;

/// Most bytes of the file from the beginning of a block to its end. All of it is read for one byte of the block.
pub(crate) const MAX_SPAN_BYTES: u64 = 16 << 20;

/// Runs that a bundle of any size may have.
pub(crate) const MIN_RUNS: u64 = 1 << 20;

/// For each of this many bytes, a bundle may have one run more than [`MIN_RUNS`]. A run takes two bytes in a list, and more in memory.
pub(crate) const BYTES_PER_RUN: u64 = 16;

/// First bytes of a record that continues a block.
const CONTINUES: [u8; 4] = *b"rec\n";

/// First bytes of a record that begins a block.
const BEGINS: [u8; 4] = *b"REC\n";

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    /// Whether the record begins a block.
    pub(crate) begins_block: bool,
    /// Bytes of the list.
    pub(crate) list_bytes: u32,
    /// Bytes of the compressed content.
    pub(crate) packed_bytes: u32,
    /// Bytes of the content before compression.
    pub(crate) bytes: u32,
    /// Checksum of the compressed content.
    pub(crate) checksum: u64,
}

impl RecordHead {
    /// Encodes the head of a record at an offset of the file, with the checksum of head and list.
    pub(crate) fn encode(&self, list: &[u8], offset: u64) -> [u8; RECORD_HEAD_BYTES] {
        let mut head = [0; RECORD_HEAD_BYTES];
        head[..4].copy_from_slice(if self.begins_block { &BEGINS } else { &CONTINUES });
        head[4..8].copy_from_slice(&self.list_bytes.to_le_bytes());
        head[8..12].copy_from_slice(&self.packed_bytes.to_le_bytes());
        head[12..16].copy_from_slice(&self.bytes.to_le_bytes());
        head[16..24].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = checksum(&head, list, offset);
        head[24..].copy_from_slice(&checksum.to_le_bytes());
        head
    }

    /// Decodes a head. Returns `None` if it is not that of a record, or claims more than a record may have. The list behind it
    /// is checked by [`is_intact`].
    pub(super) fn decode(head: &[u8; RECORD_HEAD_BYTES]) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let begins_block = head[..4] == BEGINS;
        if !begins_block && head[..4] != CONTINUES {
            return None;
        }
        let mut checksum = [0; 8];
        checksum.copy_from_slice(&head[16..24]);
        let record = Self {
            begins_block,
            list_bytes: number(4),
            packed_bytes: number(8),
            bytes: number(12),
            checksum: u64::from_le_bytes(checksum),
        };
        let fits = record.list_bytes as usize <= MAX_LIST_BYTES
            && record.packed_bytes as usize <= 2 * MAX_BLOCK_BYTES
            && record.bytes as usize <= MAX_BLOCK_BYTES
            && (record.bytes == 0) == (record.packed_bytes == 0);
        fits.then_some(record)
    }
}

/// Returns whether the head and the list of a record at an offset are what was written, and so is its content.
pub(super) fn is_intact(
    head: &[u8; RECORD_HEAD_BYTES],
    record: &RecordHead,
    list: &[u8],
    content: &[u8],
    offset: u64,
) -> bool {
    head[24..] == checksum(head, list, offset).to_le_bytes() && xxh3_64(content) == record.checksum
}

/// Returns the checksum of a head and a list. It depends on the offset, so that a record counts only where it was written.
fn checksum(head: &[u8; RECORD_HEAD_BYTES], list: &[u8], offset: u64) -> u64 {
    let of_list = xxh3_64_with_seed(list, offset);
    xxh3_64_with_seed(&head[..24], of_list)
}

/// What a record says about its content.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct RecordList {
    /// The lanes that the bytes of the content are appended to, in the order of the bytes, with the number of bytes of each.
    pub(crate) runs: Vec<(usize, u32)>,
    /// Payload files that are complete, with their numbers.
    pub(crate) files: Vec<(u64, Vec<Slice>)>,
}

impl RecordList {
    /// Returns the list as a record has it.
    #[cfg(test)]
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes);
        bytes
    }

    /// Appends the list as a record has it.
    pub(crate) fn append_to(&self, to: &mut Vec<u8>) {
        push(to, self.runs.len() as u64);
        for (lane, run_bytes) in &self.runs {
            push(to, *lane as u64);
            push(to, u64::from(*run_bytes));
        }
        push(to, self.files.len() as u64);
        for (ordinal, slices) in &self.files {
            push(to, *ordinal);
            push(to, slices.len() as u64);
            for slice in slices {
                let (lane, position) = place_of(slice.start);
                push(to, lane as u64);
                push(to, position);
                push(to, slice.bytes);
            }
        }
    }

    /// Decodes a list. Whether the lanes and slices exist is the caller's to check.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut cursor = Cursor(bytes);
        let mut list = Self::default();
        let lane = |cursor: &mut Cursor<'_>| {
            let lane = cursor.number()?;
            usize::try_from(lane).ok().filter(|lane| *lane < super::lanes::MAX_LANES).ok_or("it has a lane too many")
        };
        let short = |number: u64| u32::try_from(number).map_err(|_| "a run is too long");
        for _ in 0..cursor.count(MAX_LIST_BYTES)? {
            let lane = lane(&mut cursor)?;
            list.runs.push((lane, short(cursor.number()?)?));
        }
        for _ in 0..cursor.count(MAX_LIST_BYTES)? {
            let ordinal = cursor.number()?;
            let count = cursor.count(MAX_LIST_BYTES)?;
            let mut slices = Vec::with_capacity(count.min(bytes.len() / 3));
            for _ in 0..count {
                let (lane, position, bytes) = (lane(&mut cursor)?, cursor.number()?, cursor.number()?);
                if position >= super::lanes::MAX_LANE_BYTES {
                    return Err("a slice is outside of its lane");
                }
                slices.push(Slice { start: address(lane, position), bytes });
            }
            list.files.push((ordinal, slices));
        }
        if cursor.0.is_empty() { Ok(list) } else { Err("it has bytes behind its end") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_only_where_and_as_it_was_written() {
        let list = RecordList {
            runs: vec![(0, 300), (7, 1)],
            files: vec![
                (9, vec![Slice { start: address(7, 70_000), bytes: 3 }, Slice { start: 0, bytes: 1 }]),
                (10, vec![]),
            ],
        };
        let encoded = list.encode();
        assert_eq!(RecordList::decode(&encoded), Ok(list));
        for length in 0..encoded.len() {
            RecordList::decode(&encoded[..length]).expect_err("cut");
        }
        let content = b"content";
        let record = RecordHead {
            begins_block: true,
            list_bytes: encoded.len() as u32,
            packed_bytes: content.len() as u32,
            bytes: 301,
            checksum: xxh3_64(content),
        };
        let head = record.encode(&encoded, 4096);
        assert_eq!(RecordHead::decode(&head), Some(record));
        assert!(is_intact(&head, &record, &encoded, content, 4096));
        assert!(
            !is_intact(&head, &record, &encoded, content, 4097) && !is_intact(&head, &record, &encoded, b"other", 4096)
        );
        for at in 0..RECORD_HEAD_BYTES {
            let mut wrong = head;
            wrong[at] ^= 1;
            let accepted =
                RecordHead::decode(&wrong).is_some_and(|found| is_intact(&wrong, &found, &encoded, content, 4096));
            assert!(!accepted, "byte {at}");
        }
    }

    #[test]
    fn a_record_that_claims_too_much_is_none() {
        let head = RecordHead { begins_block: false, list_bytes: 2, packed_bytes: 1, bytes: 1, checksum: 0 };
        let decode = |head: RecordHead| RecordHead::decode(&head.encode(&[], 0));
        assert_eq!(decode(head), Some(head));
        for wrong in [
            RecordHead { list_bytes: MAX_LIST_BYTES as u32 + 1, ..head },
            RecordHead { bytes: MAX_BLOCK_BYTES as u32 + 1, ..head },
            RecordHead { packed_bytes: 2 * MAX_BLOCK_BYTES as u32 + 1, ..head },
            RecordHead { bytes: 0, ..head },
            RecordHead { packed_bytes: 0, ..head },
        ] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
        let mut many = Vec::new();
        push(&mut many, u64::MAX);
        RecordList::decode(&many).expect_err("more runs than bytes");
        let lane = RecordList { runs: vec![(super::super::lanes::MAX_LANES, 1)], files: vec![] };
        RecordList::decode(&lane.encode()).expect_err("a lane too many");
        for (position, is_accepted) in
            [(super::super::lanes::MAX_LANE_BYTES - 1, true), (super::super::lanes::MAX_LANE_BYTES, false)]
        {
            let mut file = Vec::new();
            // No runs, and one file with one slice: its number, and the lane, position and bytes of the slice.
            [0, 1, 7, 1, 3, position, 1].into_iter().for_each(|number| push(&mut file, number));
            assert_eq!(RecordList::decode(&file).is_ok(), is_accepted, "{position}");
        }
    }
}
