//! Finds what is new in a file. Everything else is stored as slices of earlier content.
//!
//! About 98 % of the bytes of a request repeat the request before it in its thread. So a file is first compared with
//! earlier files (*bases*). The part that both begin with is stored as pieces of the base. The bytes that follow it, up to
//! where the base continues, are new: the *growth*. Bytes that are not in the base are searched for in all recent content
//! of the bundle. This module knows nothing about requests, threads or JSON. It only compares bytes.
//!
//! Files that continue one another form a *line*, such as the requests of one thread. New bytes are appended to *streams*:
//! each line has one stream for its growth and one for the changing ends of its files. So a conversation stays a contiguous
//! run of bytes, and each of its requests needs only a few slices. All streams fill the same block: content that
//! was recorded at the same time is compressed together, and only a few blocks are in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::format::MAX_BLOCK_BYTES;
use super::slice::Slice;

/// Bytes of earlier content that are kept in memory to find repetitions.
const WINDOW_BYTES: usize = 128 << 20;

/// Most bases. A file is compared with each of them.
const MAX_BASES: usize = 32;

/// Most bytes of all bases together.
const MAX_BASE_BYTES: usize = 64 << 20;

/// Smallest file that becomes a base.
const MIN_BASE_BYTES: usize = 16 << 10;

/// Shortest common beginning that is stored as a slice. The compressor also finds shorter ones, without a slice in the
/// index.
const MIN_PREFIX_BYTES: usize = 1 << 10;

/// Shortest repetition that is stored as a slice. The compressor also finds shorter ones.
const MIN_REPEAT_BYTES: usize = 1 << 10;

/// Shortest repetition within a growth that is stored as a slice. All later files of the line get this slice, too, so only
/// large repetitions are worth it: an image, but not the output of a command.
const MIN_GROWTH_REPEAT_BYTES: usize = 64 << 10;

/// Number of bytes that must match where a base continues behind a growth.
const ANCHOR_BYTES: usize = 64;

/// Number of bytes that are hashed to recognize a repetition.
const WINDOW: usize = 64;

/// One position in 2 to the power of this number is sampled.
const SAMPLE_BITS: u32 = 7;

/// Smallest distance between sampled positions, so that monotonous bytes do not fill the table.
const SAMPLE_DISTANCE: usize = 32;

/// The table has 2 to the power of this number of entries. A new position overwrites an old one.
const TABLE_BITS: u32 = 20;

/// Most pieces of one file. If a file has more, it is stored as a whole and starts a new line.
const MAX_PIECES: usize = 1024;

/// A range of bytes of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    part: u32,
    offset: u32,
    bytes: u32,
}

/// The bytes of one stream in one block.
#[derive(Debug)]
struct Part {
    /// Number of the block, and offset of the part in the block. `None` until the block is complete.
    place: Option<(u32, u32)>,
    /// The bytes, as long as repetitions of them are searched for.
    bytes: Vec<u8>,
}

/// A block that is being filled. The log and similar files have their own blocks, so that listing bundles does not require
/// reading blocks with payloads.
#[derive(Debug, Default)]
struct Area {
    /// Pairs of stream and part, sorted by stream.
    parts: Vec<(u32, u32)>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Records,
    Payloads,
}

/// A file that later ones are compared with.
#[derive(Debug)]
struct Base {
    bytes: Vec<u8>,
    pieces: Arc<Vec<Piece>>,
    line: Line,
}

/// The streams of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    growth: u32,
    ends: u32,
}

/// Stream of bytes that belong to no line.
const OTHERS: u32 = 0;

/// Takes files one after the other. Returns blocks with the new content, and for each file the pieces that it consists of.
#[derive(Debug)]
pub(super) struct Novelty {
    records: Area,
    payloads: Area,
    parts: Vec<Part>,
    /// Parts in complete blocks whose bytes are still in memory, the oldest first.
    old_parts: VecDeque<u32>,
    old_bytes: usize,
    blocks: u32,
    full: Vec<Vec<u8>>,
    bases: VecDeque<Base>,
    base_bytes: usize,
    /// Most of these bytes.
    most_base_bytes: usize,
    next_stream: u32,
    table: Table,
}

impl Novelty {
    pub(super) fn new() -> Self {
        Self {
            records: Area::default(),
            payloads: Area::default(),
            parts: Vec::new(),
            old_parts: VecDeque::new(),
            old_bytes: 0,
            blocks: 0,
            full: Vec::new(),
            bases: VecDeque::new(),
            base_bytes: 0,
            most_base_bytes: MAX_BASE_BYTES,
            next_stream: OTHERS + 1,
            table: Table::new(),
        }
    }

    /// Stores bytes of a file that is often read without payloads, such as the log or the manifest.
    pub(super) fn store_record(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        self.append(Kind::Records, OTHERS, bytes, pieces);
    }

    /// Stores a part of a file that is too large to be processed at once.
    pub(super) fn store_part(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        self.cover(bytes, OTHERS, MIN_REPEAT_BYTES, pieces);
    }

    /// Stores a file.
    pub(super) fn store(&mut self, bytes: Vec<u8>) -> Arc<Vec<Piece>> {
        let mut pieces = Vec::new();
        if bytes.len() < MIN_PREFIX_BYTES {
            self.append(Kind::Payloads, OTHERS, &bytes, &mut pieces);
            return Arc::new(pieces);
        }
        if bytes.len() < MIN_BASE_BYTES {
            self.cover(&bytes, OTHERS, MIN_REPEAT_BYTES, &mut pieces);
            return Arc::new(pieces);
        }
        let line = match self.best_base(&bytes) {
            Some((base, prefix)) => self.store_upon(base, prefix, &bytes, &mut pieces),
            None => {
                let line = self.new_line();
                self.cover(&bytes, line.growth, MIN_REPEAT_BYTES, &mut pieces);
                line
            }
        };
        let line = if pieces.len() > MAX_PIECES {
            pieces.clear();
            let line = self.new_line();
            self.append(Kind::Payloads, line.growth, &bytes, &mut pieces);
            line
        } else {
            line
        };
        let pieces = Arc::new(pieces);
        self.remember_base(Base { bytes, pieces: Arc::clone(&pieces), line });
        pieces
    }

    /// Completes the blocks that are being filled.
    pub(super) fn finish(&mut self) {
        self.close(Kind::Records);
        self.close(Kind::Payloads);
    }

    /// Returns the complete blocks in the order of their numbers, and forgets them.
    pub(super) fn take_full(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.full)
    }

    /// Converts pieces to slices of the content. All blocks must be complete. Adjacent pieces become one slice.
    pub(super) fn resolve(&self, pieces: &[Piece], block_starts: &[u64], slices: &mut Vec<Slice>) {
        slices.clear();
        for piece in pieces {
            let (block, start) = self.parts[piece.part as usize].place.expect("all blocks are full");
            let start = block_starts[block as usize] + u64::from(start) + u64::from(piece.offset);
            match slices.last_mut() {
                Some(last) if last.end() == start => last.bytes += u64::from(piece.bytes),
                _ => slices.push(Slice { start, bytes: u64::from(piece.bytes) }),
            }
        }
    }

    /// Finds the base with the longest common beginning, if that is long enough. Returns its index and the length.
    fn best_base(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let (mut best, mut longest) = (None, MIN_PREFIX_BYTES.max(bytes.len() / 16));
        for (index, base) in self.bases.iter().enumerate() {
            // A base that is shorter than the longest common beginning so far, or differs at its last byte, cannot be
            // better.
            let can_be_better = |at: usize| base.bytes.get(at).is_some_and(|byte| bytes.get(at) == Some(byte));
            if !can_be_better(longest - 1) {
                continue;
            }
            let prefix = common_prefix(&base.bytes, bytes);
            if prefix > longest || (best.is_none() && prefix == longest) {
                (best, longest) = (Some(index), prefix);
            }
        }
        best.map(|index| (index, longest))
    }

    /// Stores a file that begins like a base. Returns the line of the file.
    fn store_upon(&mut self, index: usize, prefix: usize, bytes: &[u8], pieces: &mut Vec<Piece>) -> Line {
        let Some(base) = self.bases.remove(index) else { return self.new_line() };
        copy_pieces(&base.pieces, 0, prefix, pieces);
        let (base_rest, rest) = (&base.bytes[prefix..], &bytes[prefix..]);
        let resumed = base_rest.get(..ANCHOR_BYTES).and_then(|anchor| memchr::memmem::find(rest, anchor));
        // A file that diverges from the middle of its base starts a new line, because both may be continued.
        let goes_on = resumed.is_some() || base_rest.len() < ANCHOR_BYTES || prefix >= base.bytes.len() / 8 * 7;
        let line = if goes_on { base.line } else { self.new_line() };
        let (growth, resumed_bytes) = match resumed {
            Some(at) => (at, common_prefix(base_rest, &rest[at..])),
            None => (rest.len() - common_suffix(base_rest, rest), 0),
        };
        self.cover(&rest[..growth], line.growth, MIN_GROWTH_REPEAT_BYTES, pieces);
        copy_pieces(&base.pieces, prefix, resumed_bytes, pieces);
        let (base_end, end) = (&base_rest[resumed_bytes..], &rest[growth + resumed_bytes..]);
        // A common end that is too short for a slice is stored again.
        let suffix = Some(common_suffix(base_end, end)).filter(|bytes| *bytes >= ANCHOR_BYTES).unwrap_or(0);
        self.cover(&end[..end.len() - suffix], line.ends, MIN_REPEAT_BYTES, pieces);
        copy_pieces(&base.pieces, base.bytes.len() - suffix, suffix, pieces);
        if goes_on {
            self.base_bytes -= base.bytes.len();
        } else {
            self.bases.push_front(base);
        }
        line
    }

    fn remember_base(&mut self, base: Base) {
        self.base_bytes += base.bytes.len();
        self.bases.push_front(base);
        while self.bases.len() > MAX_BASES || (self.base_bytes > self.most_base_bytes && self.bases.len() > 1) {
            let Some(oldest) = self.bases.pop_back() else { break };
            self.base_bytes -= oldest.bytes.len();
        }
    }

    fn new_line(&mut self) -> Line {
        let growth = self.next_stream;
        self.next_stream += 2;
        Line { growth, ends: growth + 1 }
    }

    /// Stores bytes as repetitions of earlier content and new bytes in between.
    fn cover(&mut self, bytes: &[u8], stream: u32, min_repeat: usize, pieces: &mut Vec<Piece>) {
        let samples = sample(bytes);
        // All bytes before this offset are stored.
        let mut done = 0;
        let mut new = Vec::new();
        for (at, hash) in samples {
            if at < done {
                continue;
            }
            let Some((start, piece)) =
                self.find(bytes, at, hash, done).filter(|(_, piece)| piece.bytes as usize >= min_repeat)
            else {
                new.push((at, hash));
                continue;
            };
            new.retain(|(at, _)| at + WINDOW <= start);
            self.append_new(stream, bytes, done..start, &mut new, pieces);
            push_piece(pieces, piece);
            done = start + piece.bytes as usize;
        }
        self.append_new(stream, bytes, done..bytes.len(), &mut new, pieces);
    }

    /// Searches earlier content for the bytes around a sampled position. Does not extend the match to before `done`.
    fn find(&self, bytes: &[u8], at: usize, hash: u64, done: usize) -> Option<(usize, Piece)> {
        let (part, offset) = self.table.get(hash)?;
        let known = &self.parts.get(part as usize)?.bytes;
        let offset = offset as usize;
        if known.get(offset..offset + WINDOW)? != &bytes[at..at + WINDOW] {
            return None;
        }
        let before = common_suffix(&known[..offset], &bytes[done..at]);
        let behind = common_prefix(&known[offset..], &bytes[at..]);
        let piece = Piece { part, offset: (offset - before) as u32, bytes: (before + behind) as u32 };
        Some((at - before, piece))
    }

    /// Appends new bytes and enters the sampled positions in them into the table.
    fn append_new(
        &mut self,
        stream: u32,
        bytes: &[u8],
        range: std::ops::Range<usize>,
        samples: &mut Vec<(usize, u64)>,
        pieces: &mut Vec<Piece>,
    ) {
        let mut start = range.start;
        let mut appended = Vec::new();
        self.append(Kind::Payloads, stream, &bytes[range], &mut appended);
        let mut samples = samples.drain(..).peekable();
        for piece in appended {
            let end = start + piece.bytes as usize;
            while let Some((at, hash)) = samples.next_if(|(at, _)| *at < end) {
                if at + WINDOW <= end && at >= start {
                    self.table.insert(hash, piece.part, piece.offset + (at - start) as u32);
                }
            }
            push_piece(pieces, piece);
            start = end;
        }
    }

    /// Appends bytes to a stream.
    fn append(&mut self, kind: Kind, stream: u32, mut bytes: &[u8], pieces: &mut Vec<Piece>) {
        while !bytes.is_empty() {
            let room = MAX_BLOCK_BYTES - self.area(kind).bytes;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            let part = self.open_part(kind, stream);
            let held = &mut self.parts[part as usize].bytes;
            push_piece(pieces, Piece { part, offset: held.len() as u32, bytes: now.len() as u32 });
            held.extend_from_slice(now);
            self.area(kind).bytes += now.len();
            if self.area(kind).bytes == MAX_BLOCK_BYTES {
                self.close(kind);
            }
            bytes = later;
        }
    }

    fn area(&mut self, kind: Kind) -> &mut Area {
        match kind {
            Kind::Records => &mut self.records,
            Kind::Payloads => &mut self.payloads,
        }
    }

    fn open_part(&mut self, kind: Kind, stream: u32) -> u32 {
        let next = self.parts.len() as u32;
        let parts = &mut self.area(kind).parts;
        match parts.binary_search_by_key(&stream, |(stream, _)| *stream) {
            Ok(found) => parts[found].1,
            Err(place) => {
                parts.insert(place, (stream, next));
                self.parts.push(Part { place: None, bytes: Vec::new() });
                next
            }
        }
    }

    /// Makes a block of all parts of an area, in the order of their streams.
    fn close(&mut self, kind: Kind) {
        let area = std::mem::take(self.area(kind));
        if area.bytes == 0 {
            return;
        }
        let mut block = Vec::with_capacity(area.bytes);
        for (_, number) in area.parts {
            let part = &mut self.parts[number as usize];
            part.place = Some((self.blocks, block.len() as u32));
            block.extend_from_slice(&part.bytes);
            if kind == Kind::Records {
                part.bytes = Vec::new();
            } else {
                self.old_bytes += part.bytes.len();
                self.old_parts.push_back(number);
            }
        }
        self.blocks += 1;
        self.full.push(block);
        while self.old_bytes > WINDOW_BYTES {
            let Some(oldest) = self.old_parts.pop_front() else { break };
            let bytes = std::mem::take(&mut self.parts[oldest as usize].bytes);
            self.old_bytes -= bytes.len();
        }
    }
}

/// Appends a piece. If it continues the last piece, extends that piece instead.
fn push_piece(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        _ if piece.bytes == 0 => {}
        Some(last) if last.part == piece.part && last.offset + last.bytes == piece.offset => last.bytes += piece.bytes,
        _ => pieces.push(piece),
    }
}

/// Appends the pieces for `bytes` bytes of a file, starting at `start`.
fn copy_pieces(of: &[Piece], start: usize, bytes: usize, pieces: &mut Vec<Piece>) {
    let (mut skip, mut left) = (start, bytes);
    for piece in of {
        let all = piece.bytes as usize;
        if skip >= all {
            skip -= all;
            continue;
        }
        let taken = (all - skip).min(left);
        push_piece(pieces, Piece { part: piece.part, offset: piece.offset + skip as u32, bytes: taken as u32 });
        skip = 0;
        left -= taken;
        if left == 0 {
            break;
        }
    }
}

/// Returns the length of the common beginning.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let equal = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

/// Returns the length of the common end.
pub(crate) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let equal = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let (a, b) = (&a[..a.len() - equal], &b[..b.len() - equal]);
    equal + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Selects positions by the bytes that follow them, so that equal bytes get equal positions wherever they are. Returns each
/// position with the hash of those bytes.
fn sample(bytes: &[u8]) -> Vec<(usize, u64)> {
    let mut samples = Vec::new();
    let mut rolling = 0_u64;
    let mut next = WINDOW;
    for (end, byte) in bytes.iter().enumerate() {
        // Each byte is shifted out after 64 more, so the value depends only on the last 64 bytes.
        rolling = (rolling << 1).wrapping_add(GEAR[usize::from(*byte)]);
        if rolling >> (64 - SAMPLE_BITS) == 0 && end + 1 >= next {
            let at = end + 1 - WINDOW;
            samples.push((at, xxh3_64(&bytes[at..=end])));
            next = end + 1 + SAMPLE_DISTANCE;
        }
    }
    samples
}

/// A pseudorandom number for each byte.
const GEAR: [u64; 256] = {
    let mut gear = [0; 256];
    let mut state = 0_u64;
    let mut byte = 0;
    while byte < 256 {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[byte] = value ^ (value >> 31);
        byte += 1;
    }
    gear
};

/// Maps hashes of sampled bytes to their positions. A result may be wrong and must be confirmed by comparing the bytes.
///
/// An entry is the number of the part plus one in the high half and the offset in the low half, or zero if it is empty. The
/// operating system allocates pages of zeros only when they are written, so a small bundle uses little memory.
#[derive(Debug)]
struct Table(Vec<u64>);

impl Table {
    fn new() -> Self {
        Self(vec![0; 1 << TABLE_BITS])
    }

    fn slot(hash: u64) -> usize {
        (hash >> (64 - TABLE_BITS)) as usize
    }

    fn get(&self, hash: u64) -> Option<(u32, u32)> {
        let entry = self.0[Self::slot(hash)];
        Some((((entry >> 32) as u32).checked_sub(1)?, entry as u32))
    }

    fn insert(&mut self, hash: u64, part: u32, offset: u32) {
        self.0[Self::slot(hash)] = (u64::from(part) + 1) << 32 | u64::from(offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores files. Returns the number of new bytes, and the number of slices of each file.
    fn store(files: &[Vec<u8>]) -> (usize, Vec<usize>) {
        let mut novelty = Novelty::new();
        let pieces: Vec<_> = files.iter().map(|file| novelty.store(file.clone())).collect();
        novelty.finish();
        let blocks = novelty.take_full();
        let content = blocks.concat();
        let starts: Vec<u64> =
            blocks.iter().scan(0, |start, block| Some(std::mem::replace(start, *start + block.len() as u64))).collect();
        let mut slices = Vec::new();
        let counts = pieces.iter().zip(files).map(|(pieces, file)| {
            novelty.resolve(pieces, &starts, &mut slices);
            let back: Vec<u8> =
                slices.iter().flat_map(|slice| &content[slice.start as usize..slice.end() as usize]).copied().collect();
            assert!(back == *file, "the file comes back");
            slices.len()
        });
        let counts = counts.collect();
        (content.len(), counts)
    }

    fn noise(seed: u64, bytes: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let step = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            b'a' + (state >> 32) as u8 % 26
        };
        (0..bytes).map(step).collect()
    }

    /// Returns the requests of a conversation: each has a beginning, items, and an end whose last bytes always differ.
    fn requests(seed: u64, count: usize, item_bytes: usize) -> Vec<Vec<u8>> {
        let (head, tail) = (noise(1, 20_000), noise(2, 20_000));
        let mut items = Vec::new();
        let request = |number: usize| {
            items.push(noise(seed * 1000 + number as u64 + 10, item_bytes));
            [head.clone(), items.join(&b",\n  "[..]), tail.clone(), noise(number as u64 + 500, 300)].concat()
        };
        (0..count).map(request).collect()
    }

    #[test]
    fn a_conversation_costs_its_growth_and_stays_in_a_few_slices() {
        let (bytes, counts) = store(&requests(1, 200, 1000));
        assert!(bytes < 40_000 + 200 * 1_310, "{bytes}");
        assert!(counts.iter().all(|count| *count <= 5), "{counts:?}");
    }

    #[test]
    fn conversations_in_turns_share_what_they_have_in_common() {
        let lines: Vec<_> = (1..=3).map(|seed| requests(seed, 50, 1000)).collect();
        let turns: Vec<_> = (0..50).flat_map(|turn| lines.iter().map(move |line| line[turn].clone())).collect();
        let (bytes, counts) = store(&turns);
        assert!(bytes < 40_000 + 150 * 1_400, "{bytes}");
        assert!(counts.iter().all(|count| *count <= 6), "{counts:?}");
    }

    #[test]
    fn what_moved_is_found_again() {
        let parts: Vec<_> = (0..6).map(|part| noise(part + 40, 9_000)).collect();
        let order = |order: [usize; 6]| order.map(|part| parts[part].clone()).concat();
        let (bytes, _) = store(&[order([0, 1, 2, 3, 4, 5]), order([5, 3, 1, 0, 2, 4]), order([4, 4, 4, 0, 1, 5])]);
        assert!(bytes < 54_000 + 4_000, "{bytes}");
    }

    #[test]
    fn a_line_in_too_many_pieces_begins_anew() {
        // Each repetition is a piece, and so are the new bytes before it.
        let known = noise(7, 100_000);
        let repeating = |numbers: std::ops::Range<u64>| {
            let part = |number: u64| {
                let at = number as usize * 997 % 90_000;
                [&noise(number + 900, 50), &known[at..at + 2 * MIN_REPEAT_BYTES]].concat()
            };
            numbers.flat_map(part).collect::<Vec<u8>>()
        };
        let (few, many) = (repeating(0..100), repeating(100..100 + MAX_PIECES as u64));
        let longer = [&many[..], &few[..]].concat();
        let (_, counts) = store(&[known.clone(), few, many, longer]);
        assert!((150..=200).contains(&counts[1]), "{counts:?}");
        assert_eq!(counts[2..], [1, 1]);
    }

    #[test]
    fn so_many_files_are_compared_with_and_no_more() {
        let mut novelty = Novelty::new();
        assert_eq!(novelty.most_base_bytes, 64 << 20);
        for seed in 0..MAX_BASES as u64 + 3 {
            novelty.store(noise(seed, MIN_BASE_BYTES));
            assert_eq!(novelty.bases.len(), MAX_BASES.min(seed as usize + 1));
        }
        assert_eq!(novelty.base_bytes, MAX_BASES * MIN_BASE_BYTES);
        assert!(
            novelty.best_base(&noise(3, MIN_BASE_BYTES)).is_some()
                && novelty.best_base(&noise(2, MIN_BASE_BYTES)).is_none()
        );
        let files: Vec<_> = (0..MAX_BASES as u64 + 3).chain([0, 1]).map(|seed| noise(seed, MIN_BASE_BYTES)).collect();
        let (_, counts) = store(&files);
        assert_eq!(counts.len(), files.len(), "and every file comes back");

        let mut novelty = Novelty { most_base_bytes: 3 * MIN_BASE_BYTES, ..Novelty::new() };
        for seed in 0..5 {
            novelty.store(noise(seed, MIN_BASE_BYTES));
        }
        assert_eq!((novelty.bases.len(), novelty.base_bytes), (3, 3 * MIN_BASE_BYTES));
        novelty.store(noise(9, 5 * MIN_BASE_BYTES));
        assert_eq!(novelty.bases.len(), 1, "one that is larger than all may be is kept by itself");
    }

    #[test]
    fn blocks_are_never_too_large() {
        let mut novelty = Novelty::new();
        let mut pieces = Vec::new();
        novelty.store_record(&noise(3, MAX_BLOCK_BYTES + 5), &mut pieces);
        novelty.store(noise(4, 2 * MAX_BLOCK_BYTES + 7));
        novelty.store_part(&noise(5, 1000), &mut pieces);
        novelty.finish();
        let sizes: Vec<_> = novelty.take_full().iter().map(Vec::len).collect();
        assert_eq!(sizes, [MAX_BLOCK_BYTES, MAX_BLOCK_BYTES, MAX_BLOCK_BYTES, 5, 1007]);
    }

    #[test]
    fn beginnings_and_ends_are_measured() {
        for (bytes, at) in [(0, 0), (1, 0), (5000, 4096), (10_000, 9_999), (10_000, 17)] {
            let a = noise(1, bytes);
            let mut b = a.clone();
            assert_eq!((common_prefix(&a, &b), common_suffix(&a, &b)), (bytes, bytes));
            if let Some(byte) = b.get_mut(at) {
                *byte = 0;
                assert_eq!((common_prefix(&a, &b), common_suffix(&a, &b)), (at, bytes - at - 1));
            }
        }
        assert_eq!((common_prefix(b"abc", b"ab"), common_suffix(b"abc", b"bc")), (2, 2));
    }
}
