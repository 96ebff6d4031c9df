//! Finds what a payload repeats of earlier ones, so that a growing bundle gets only what is new.
//!
//! Pieces that documents share are known by their address: nothing is compared, and nothing hashed. Of a conversation the
//! pieces of its last document are held, so no address is used again while it is known. Documents that come as one text are
//! compared with some of the large ones before them, and only by their beginnings and ends.

use std::collections::{HashMap, VecDeque};

use super::body::{Piece, Pieces, Text};
use super::lanes::{LaneWriter, push_slice};
use crate::pack::ContentSlice as Slice;
use crate::pack::lanes::SINGLE_LANE;
use crate::pack::novelty::{common_prefix, common_suffix};

/// Most conversations whose last document is held. Another one takes the place of the one that was silent longest.
pub(crate) const MAX_CONVERSATIONS: usize = 1024;

/// Most bytes of the pieces of all conversations. While a session runs, its history has them as well.
pub(crate) const MAX_HELD_BYTES: usize = 256 << 20;

/// Smallest text that later ones are compared with.
pub(crate) const MIN_BASE_BYTES: usize = 16 << 10;

/// Most texts that a text is compared with.
pub(crate) const MAX_BASES: usize = 32;

/// Most bytes of these texts together.
pub(crate) const MAX_BASE_BYTES: usize = 64 << 20;

/// Shortest common beginning or end that is not stored again.
const MIN_SHARED_BYTES: usize = 1 << 10;

/// Most slices of a file. One with more is stored anew, and those behind it continue it.
pub(crate) const MAX_FILE_SLICES: usize = 256;

/// How much is known of earlier payloads.
#[derive(Debug, Clone, Copy)]
struct Limits {
    conversations: usize,
    held_bytes: usize,
    bases: usize,
    base_bytes: usize,
    file_slices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            conversations: MAX_CONVERSATIONS,
            held_bytes: MAX_HELD_BYTES,
            bases: MAX_BASES,
            base_bytes: MAX_BASE_BYTES,
            file_slices: MAX_FILE_SLICES,
        }
    }
}

/// What is known of earlier payloads.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    limits: Limits,
    conversations: HashMap<u64, Conversation>,
    /// Where shared pieces are stored that a conversation holds, by their addresses, and how often they are held.
    known: HashMap<usize, (Slice, usize)>,
    /// Bytes of the pieces of all conversations. Pieces of several conversations count for each.
    held_bytes: usize,
    bases: VecDeque<Base>,
    base_bytes: usize,
    documents: u64,
}

/// The pieces of the last document of a conversation.
#[derive(Debug, Default)]
struct Conversation {
    pieces: Vec<(Piece, Slice)>,
    /// Bytes of the pieces.
    bytes: usize,
    /// Number of the document.
    document: u64,
}

/// A text that later ones may repeat.
#[derive(Debug)]
struct Base {
    text: Text,
    slices: Vec<Slice>,
}

impl Repeats {
    /// Stores a payload of a conversation: appends what is new to lanes, and returns the slices that it consists of.
    pub(crate) fn store(&mut self, conversation: u64, document: Pieces, lanes: &mut LaneWriter) -> Vec<Slice> {
        match document {
            Pieces::Many(pieces) => self.store_pieces(conversation, pieces, lanes),
            Pieces::One(text) if text.as_ref().len() >= MIN_BASE_BYTES => self.store_text(text, lanes),
            Pieces::One(text) => {
                let mut slices = Vec::new();
                push_slice(&mut slices, lanes.append(SINGLE_LANE, text.as_ref()));
                slices
            }
        }
    }

    fn store_pieces(&mut self, conversation: u64, pieces: Vec<Piece>, lanes: &mut LaneWriter) -> Vec<Slice> {
        self.documents += 1;
        let known = self.conversations.remove(&conversation).unwrap_or_default();
        let Conversation { pieces: mut stored, bytes: bytes_before, .. } = known;
        let same = |(held, _): &(Piece, Slice), piece: &Piece| is_same(held, piece);
        let kept = stored.iter().zip(&pieces).take_while(|(held, piece)| same(held, piece)).count();
        let ends = stored[kept..].iter().rev().zip(pieces[kept..].iter().rev());
        let kept_at_end = ends.take_while(|(held, piece)| same(held, piece)).count();
        let end = stored.split_off(stored.len() - kept_at_end);
        let dropped = stored.split_off(kept);
        let mut bytes = bytes_before - held(&dropped);
        let count = pieces.len();
        for piece in pieces.into_iter().take(count - kept_at_end).skip(kept) {
            let slice = self.place(&piece, stored.last().map(|(_, slice)| *slice), &dropped, lanes);
            self.hold(&piece, slice);
            bytes += piece.as_ref().len();
            stored.push((piece, slice));
        }
        dropped.iter().for_each(|(piece, _)| self.release(piece));
        stored.extend(end);
        let mut slices = Vec::new();
        stored.iter().for_each(|(_, slice)| push_slice(&mut slices, *slice));
        if slices.len() > self.limits.file_slices {
            slices = self.store_anew(&mut stored, lanes);
        }
        if slices.len() > self.limits.file_slices {
            // Single pieces stand between shared ones. The document is stored by itself, and later ones are compared with it no more.
            let lane = lanes.behind(None);
            slices = Vec::new();
            stored.iter().for_each(|(piece, _)| push_slice(&mut slices, lanes.append(lane, piece.as_ref())));
        }
        self.held_bytes = self.held_bytes.saturating_sub(bytes_before) + bytes;
        self.make_room();
        self.conversations.insert(conversation, Conversation { pieces: stored, bytes, document: self.documents });
        slices
    }

    /// Returns where a piece is stored, and stores it if it is nowhere. `before` is the piece in front of it, and `dropped` are
    /// those that the document before had in its place.
    fn place(&self, piece: &Piece, before: Option<Slice>, dropped: &[(Piece, Slice)], lanes: &mut LaneWriter) -> Slice {
        let bytes = piece.as_ref();
        if !piece.is_shared() {
            // The members around the items of a request are written anew for each, and mostly the same.
            let equal = dropped.iter().find(|(held, _)| !held.is_shared() && held.as_ref() == bytes);
            return equal.map_or_else(|| lanes.append(SINGLE_LANE, bytes), |(_, slice)| *slice);
        }
        match self.known.get(&piece.address()) {
            Some((slice, _)) if slice.bytes == bytes.len() as u64 => *slice,
            _ => {
                let lane = lanes.behind(before);
                lanes.append(lane, bytes)
            }
        }
    }

    /// Stores all pieces of a document behind each other in a new lane.
    fn store_anew(&mut self, stored: &mut [(Piece, Slice)], lanes: &mut LaneWriter) -> Vec<Slice> {
        let lane = lanes.behind(None);
        let mut slices = Vec::new();
        for (piece, slice) in stored {
            let lane = if piece.is_shared() { lane } else { SINGLE_LANE };
            *slice = lanes.append(lane, piece.as_ref());
            if let Some((known, _)) = self.known.get_mut(&piece.address()).filter(|_| piece.is_shared()) {
                *known = *slice;
            }
            push_slice(&mut slices, *slice);
        }
        slices
    }

    fn hold(&mut self, piece: &Piece, slice: Slice) {
        if piece.is_shared() && slice.bytes > 0 {
            self.known.entry(piece.address()).or_insert((slice, 0)).1 += 1;
        }
    }

    fn release(&mut self, piece: &Piece) {
        if !piece.is_shared() || piece.as_ref().is_empty() {
            return;
        }
        let Some((_, holders)) = self.known.get_mut(&piece.address()) else { return };
        *holders -= 1;
        if *holders == 0 {
            self.known.remove(&piece.address());
        }
    }

    /// Forgets the conversations that were silent longest if there are too many, or if they hold too much.
    fn make_room(&mut self) {
        while self.conversations.len() >= self.limits.conversations || self.held_bytes > self.limits.held_bytes {
            let silent = self.conversations.iter().min_by_key(|(_, known)| known.document).map(|(id, _)| *id);
            let Some(known) = silent.and_then(|id| self.conversations.remove(&id)) else { return };
            self.held_bytes = self.held_bytes.saturating_sub(known.bytes);
            known.pieces.iter().for_each(|(piece, _)| self.release(piece));
        }
    }

    fn store_text(&mut self, text: Text, lanes: &mut LaneWriter) -> Vec<Slice> {
        let bytes = text.as_ref();
        let shared = |base: &Base| common_prefix(base.text.as_ref(), bytes);
        let best =
            self.bases.iter().enumerate().map(|(index, base)| (shared(base), index)).max_by_key(|(prefix, _)| *prefix);
        let mut slices = Vec::new();
        let found = best.filter(|(prefix, _)| *prefix >= MIN_SHARED_BYTES);
        match found {
            Some((prefix, index)) => {
                let base = &self.bases[index];
                let held = base.text.as_ref();
                let suffix = common_suffix(&held[prefix..], &bytes[prefix..]);
                let suffix = if suffix >= MIN_SHARED_BYTES { suffix } else { 0 };
                copy_slices(&base.slices, 0, prefix, &mut slices);
                let new = &bytes[prefix..bytes.len() - suffix];
                let lane = lanes.behind(slices.last().copied());
                push_slice(&mut slices, lanes.append(lane, new));
                copy_slices(&base.slices, held.len() - suffix, suffix, &mut slices);
                // A text that diverges in the middle of another one does not take its place: both may be continued.
                if prefix + suffix >= held.len() / 8 * 7
                    && let Some(base) = self.bases.remove(index)
                {
                    self.base_bytes -= base.text.as_ref().len();
                }
            }
            None => {
                let lane = lanes.behind(None);
                push_slice(&mut slices, lanes.append(lane, bytes));
            }
        }
        if slices.len() > self.limits.file_slices {
            let lane = lanes.behind(None);
            slices = vec![lanes.append(lane, bytes)];
        }
        self.base_bytes += bytes.len();
        self.bases.push_front(Base { text, slices: slices.clone() });
        let Limits { bases, base_bytes, .. } = self.limits;
        while self.bases.len() > bases || (self.base_bytes > base_bytes && self.bases.len() > 1) {
            let Some(oldest) = self.bases.pop_back() else { break };
            self.base_bytes -= oldest.text.as_ref().len();
        }
        slices
    }

    /// Forgets everything but what pieces need. Called when a session rests.
    pub(crate) fn rest(&mut self) {
        self.bases.clear();
        self.base_bytes = 0;
    }
}

/// Returns how many bytes pieces have.
fn held(pieces: &[(Piece, Slice)]) -> usize {
    pieces.iter().map(|(piece, _)| piece.as_ref().len()).sum()
}

/// Returns whether two pieces have the same bytes: shared ones by their places, others by a comparison.
fn is_same(held: &Piece, piece: &Piece) -> bool {
    let (a, b) = (held.as_ref(), piece.as_ref());
    let is_same_place = a.len() == b.len() && held.address() == piece.address();
    is_same_place || (!held.is_shared() && !piece.is_shared() && a == b)
}

/// Appends the slices of a part of a file.
fn copy_slices(of: &[Slice], start: usize, bytes: usize, to: &mut Vec<Slice>) {
    let (mut skip, mut left) = (start as u64, bytes as u64);
    for slice in of {
        if skip >= slice.bytes {
            skip -= slice.bytes;
            continue;
        }
        let part = Slice { start: slice.start + skip, bytes: (slice.bytes - skip).min(left) };
        skip = 0;
        left -= part.bytes;
        push_slice(to, part);
        if left == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pack::lanes::{FIRST_LANE, place_of};

    /// Documents that are stored, and the lanes that they are in.
    struct Scene {
        repeats: Repeats,
        lanes: LaneWriter,
    }

    impl Scene {
        fn new(limits: Limits) -> Self {
            let repeats = Repeats { limits, ..Repeats::default() };
            Self { repeats, lanes: LaneWriter::new(Vec::new()) }
        }

        /// Stores a document, and checks that its slices have it. Returns how many bytes are new, and how many slices it has.
        fn store(&mut self, conversation: u64, document: Pieces, text: &[u8]) -> (usize, usize) {
            let before = self.lanes.content.len();
            let slices = self.repeats.store(conversation, document, &mut self.lanes);
            assert!(self.read(&slices) == text, "the document is what was stored");
            (self.lanes.content.len() - before, slices.len())
        }

        fn store_items(&mut self, conversation: u64, items: &[Arc<[u8]>]) -> (usize, usize) {
            let pieces = items.iter().map(|item| Piece::shared(Arc::clone(item), 0)).collect();
            self.store(conversation, Pieces::Many(pieces), &items.concat())
        }

        fn store_text(&mut self, text: &[u8]) -> (usize, usize) {
            self.store(0, Pieces::One(Text::Owned(text.to_vec())), text)
        }

        fn read(&self, slices: &[Slice]) -> Vec<u8> {
            let mut lanes: HashMap<usize, Vec<u8>> = HashMap::new();
            let mut rest = &self.lanes.content[..];
            for (lane, bytes) in &self.lanes.runs {
                let (now, later) = rest.split_at(*bytes as usize);
                lanes.entry(*lane).or_default().extend_from_slice(now);
                rest = later;
            }
            let bytes_of = |slice: &Slice| {
                let (lane, position) = place_of(slice.start);
                lanes[&lane][position as usize..][..slice.bytes as usize].to_vec()
            };
            slices.iter().flat_map(bytes_of).collect()
        }
    }

    fn item(text: &str) -> Arc<[u8]> {
        text.as_bytes().to_vec().into()
    }

    /// Returns bytes that no other seed gives.
    fn noise(seed: u64, bytes: usize) -> Vec<u8> {
        let mut state = seed + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn the_limits_are_those_that_the_documents_name() {
        let Limits { conversations, held_bytes, bases, base_bytes, file_slices } = Limits::default();
        assert_eq!((conversations, held_bytes, bases), (1024, 256 << 20, 32));
        assert_eq!((base_bytes, file_slices), (64 << 20, 256));
    }

    #[test]
    fn the_conversation_that_was_silent_longest_is_forgotten_first() {
        let mut scene = Scene::new(Limits { conversations: 2, ..Limits::default() });
        let histories: Vec<_> = (0..3).map(|number| vec![item(&format!("item {number}"))]).collect();
        for (number, history) in (0..).zip(&histories) {
            assert_eq!(scene.store_items(number, history), (6, 1));
        }
        assert_eq!(scene.repeats.conversations.len(), 2, "never more than there may be");
        assert_eq!(scene.store_items(2, &histories[2]), (0, 1), "the newest is known");
        assert_eq!(scene.store_items(1, &histories[1]), (0, 1), "and the one before");
        assert_eq!(scene.store_items(0, &histories[0]), (6, 1), "the first is stored again, and whole");
        assert_eq!((scene.repeats.conversations.len(), scene.repeats.known.len()), (2, 2));
    }

    #[test]
    fn conversations_hold_so_many_bytes_and_no_more() {
        let mut scene = Scene::new(Limits { held_bytes: 100, ..Limits::default() });
        let (first, second) = ([item(&"a".repeat(60))], [item(&"b".repeat(60))]);
        assert_eq!(scene.store_items(1, &first), (60, 1));
        assert_eq!(scene.repeats.held_bytes, 60);
        assert_eq!(scene.store_items(2, &second), (60, 1));
        assert!(!scene.repeats.conversations.contains_key(&1), "the older one had to go");
        assert_eq!(scene.repeats.held_bytes, 60);
        assert_eq!(scene.store_items(1, &first), (60, 1));
        let large = [item(&"c".repeat(200))];
        assert_eq!(scene.store_items(3, &large), (200, 1), "one that is too large by itself is stored");
        assert_eq!(scene.store_items(3, &large), (0, 1), "and known until another one comes");
        assert_eq!(scene.store_items(4, &[item("d")]), (1, 1));
        assert_eq!((scene.repeats.held_bytes, scene.repeats.known.len()), (1, 1));
    }

    #[test]
    fn a_text_is_compared_with_so_many_before_it_and_no_more() {
        let limits = Limits { bases: 2, ..Limits::default() };
        let texts: Vec<_> = (0..3).map(|seed| noise(seed, MIN_BASE_BYTES)).collect();
        let longer = |text: &[u8]| [text, b"more"].concat();
        let mut scene = Scene::new(limits);
        texts.iter().for_each(|text| assert_eq!(scene.store_text(text), (MIN_BASE_BYTES, 1)));
        assert_eq!(scene.repeats.bases.len(), 2);
        assert_eq!(scene.store_text(&longer(&texts[1])), (4, 1), "the second is known");
        assert_eq!(scene.store_text(&longer(&texts[0])), (MIN_BASE_BYTES + 4, 1), "the first is not");
        assert_eq!((scene.repeats.bases.len(), scene.repeats.base_bytes), (2, 2 * MIN_BASE_BYTES + 8));
        let short = noise(9, MIN_BASE_BYTES - 1);
        scene.store_text(&short);
        assert_eq!(scene.store_text(&short), (MIN_BASE_BYTES - 1, 1), "a short text is never compared");
    }

    #[test]
    fn the_texts_that_are_compared_have_so_many_bytes_and_no_more() {
        let mut scene = Scene::new(Limits { base_bytes: 2 * MIN_BASE_BYTES, ..Limits::default() });
        let texts: Vec<_> = (0..3).map(|seed| noise(seed, MIN_BASE_BYTES)).collect();
        texts.iter().for_each(|text| assert_eq!(scene.store_text(text), (MIN_BASE_BYTES, 1)));
        assert_eq!(scene.repeats.base_bytes, 2 * MIN_BASE_BYTES);
        assert_eq!(scene.store_text(&texts[0]), (MIN_BASE_BYTES, 1), "the oldest had to go");
        let large = noise(7, 5 * MIN_BASE_BYTES);
        assert_eq!(scene.store_text(&large), (large.len(), 1));
        assert_eq!(scene.repeats.bases.len(), 1, "a text that is larger than all may be is kept by itself");
        assert_eq!(scene.store_text(&large), (0, 1));
    }

    #[test]
    fn a_document_in_too_many_slices_is_stored_anew_and_goes_on() {
        let mut scene = Scene::new(Limits { file_slices: 4, ..Limits::default() });
        // Every other item is of another conversation, so the items are not behind each other.
        let items: Vec<_> = (0..12).map(|number| item(&format!("item {number:02}"))).collect();
        let every_other: Vec<_> = items.iter().step_by(2).cloned().collect();
        assert_eq!(scene.store_items(1, &every_other[..3]), (21, 1));
        assert_eq!(scene.store_items(2, &items[..3]), (7, 3), "one item is new");
        let (new, slices) = scene.store_items(2, &items[..6]);
        assert_eq!((new, slices), (14 + 42, 1), "what is new comes first, then everything behind each other");
        assert_eq!(scene.store_items(2, &items[..7]), (7, 1), "and the next one continues it");
    }

    #[test]
    fn single_pieces_between_shared_ones_do_not_make_more_slices_than_there_may_be() {
        let mut scene = Scene::new(Limits { file_slices: 4, ..Limits::default() });
        let pieces = |shared: &[Arc<[u8]>]| -> Vec<Piece> {
            shared.iter().flat_map(|item| [Piece::shared(Arc::clone(item), 0), Piece::single(item.clone())]).collect()
        };
        let items: Vec<_> = (0..6).map(|number| item(&format!("item {number}"))).collect();
        let text = |pieces: &[Piece]| pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect::<Vec<_>>();
        for count in [2, 6, 6, 5] {
            let document = pieces(&items[..count]);
            let whole = text(&document);
            let (_, slices) = scene.store(1, Pieces::Many(document), &whole);
            assert!(slices <= 4, "{slices} slices of {count} items");
        }
    }

    #[test]
    fn a_text_in_too_many_slices_is_stored_anew() {
        let mut scene = Scene::new(Limits { file_slices: 2, ..Limits::default() });
        let base = noise(1, 4 * MIN_BASE_BYTES);
        scene.store_text(&base);
        // A new middle makes three slices: the beginning, the middle and the end.
        let changed = [&base[..MIN_BASE_BYTES], b"new", &base[MIN_BASE_BYTES..]].concat();
        let (new, slices) = scene.store_text(&changed);
        assert_eq!((new, slices), (3 + changed.len(), 1), "what was new is there twice, and nothing is missing");
        assert!(scene.lanes.runs.iter().all(|(lane, _)| *lane >= FIRST_LANE));
    }

    #[test]
    fn with_all_lanes_in_use_documents_are_still_whole() {
        let mut scene = Scene::new(Limits::default());
        scene.lanes = LaneWriter::with_most(FIRST_LANE + 1);
        let histories: Vec<Vec<_>> =
            (0..3).map(|number| (0..9).map(|at| item(&format!("item {at} of {number}"))).collect()).collect();
        for count in 1..=9 {
            for (number, history) in (0..).zip(&histories) {
                assert_eq!(scene.store_items(number, &history[..count]).0, 11, "only the new item");
            }
        }
        let text = noise(3, MIN_BASE_BYTES);
        assert_eq!(scene.store_text(&text), (MIN_BASE_BYTES, 1));
        assert_eq!(scene.store_text(&text), (0, 1));
    }
}
