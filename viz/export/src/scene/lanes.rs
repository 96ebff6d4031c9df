//! Where each piece is drawn: slices lie on slices that they are part of, and side by side where they overlap.
//!
//! A reader of traces takes one slice above another as a part of it. So a slice goes onto the track of its thread only if
//! what is open there is what it belongs to; otherwise it gets a lane of its own beside it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trace_reducer::model::{Handle, Trace};

use super::pieces::{Insides, Piece, Slots, parent};

/// Most steps from a slice to the one that it is looked for in. Code that runs code that runs code is deeper than that
/// only in a made-up bundle; its calls get lanes of their own.
pub(super) const MAX_NESTING: usize = 32;

/// The lane of a piece that has none yet.
const NOWHERE: u32 = u32::MAX;

/// The lanes of one thread.
#[derive(Debug, Default, Clone)]
struct Lanes {
    /// What is open in each lane, outermost first.
    open: Vec<Vec<usize>>,
    /// Lanes beside the thread's own track in which nothing is open, smallest first.
    free: BinaryHeap<Reverse<u32>>,
    /// The others, by the end of the outermost slice in them.
    busy: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Returns the lane of each piece, and how many each thread has.
pub(crate) fn placed(trace: &Trace, slots: &Slots, pieces: &[Piece], order: &[usize]) -> (Vec<u32>, Vec<u32>) {
    let inside = Insides::new(trace);
    let parents: Vec<Option<usize>> = pieces.iter().map(|piece| parent(trace, slots, &inside, piece)).collect();
    let is_part = |part: usize, whole: usize| {
        let mut above = parents[part];
        for _ in 0..MAX_NESTING {
            match above {
                Some(slot) if slot == whole => return true,
                Some(slot) => above = parents[slot],
                None => return false,
            }
        }
        false
    };
    let mut lanes = vec![NOWHERE; pieces.len()];
    let mut threads = vec![Lanes::default(); trace.threads.len()];
    for index in order.iter().copied() {
        let piece = &pieces[index];
        let Some(thread) = piece.thread.filter(|_| !piece.is_mark()) else {
            lanes[index] = 0;
            continue;
        };
        let of_thread = &mut threads[thread.index()];
        of_thread.release(piece.start);
        let beside = parents[index].filter(|parent| pieces[*parent].thread == Some(thread));
        let beside = beside.map(|parent| lanes[parent]).filter(|lane| *lane != NOWHERE);
        let fits = |lane: &u32| {
            let open = &mut of_thread.open[*lane as usize];
            while open.last().is_some_and(|top| pieces[*top].end <= piece.start) {
                open.pop();
            }
            match open.last() {
                Some(top) => piece.end <= pieces[*top].end && is_part(index, *top),
                None => *lane == 0,
            }
        };
        let lane = beside.into_iter().chain([0]).find(fits);
        let lane = lane.unwrap_or_else(|| of_thread.begin_lane(piece.end));
        of_thread.open[lane as usize].push(index);
        lanes[index] = lane;
    }
    let counts = threads.iter().map(|lanes| u32::try_from(lanes.open.len()).unwrap_or(NOWHERE)).collect();
    (lanes, counts)
}

impl Lanes {
    /// Frees the lanes in which all has ended, and makes sure that the thread's own track is there.
    fn release(&mut self, seq: u64) {
        if self.open.is_empty() {
            self.open.push(Vec::new());
        }
        while let Some(Reverse((_, lane))) = self.busy.peek().copied().filter(|Reverse((end, _))| *end <= seq) {
            self.busy.pop();
            self.open[lane as usize].clear();
            self.free.push(Reverse(lane));
        }
    }

    /// Takes a free lane, or a new one, for a slice that ends at `end`.
    fn begin_lane(&mut self, end: u64) -> u32 {
        let lane = self.free.pop().map_or_else(
            || {
                self.open.push(Vec::new());
                u32::try_from(self.open.len() - 1).unwrap_or(NOWHERE)
            },
            |Reverse(lane)| lane,
        );
        self.busy.push(Reverse((end, lane)));
        lane
    }
}
