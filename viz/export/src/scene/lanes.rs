//! Assigns lanes to pieces: a slice is stacked on the slice that it is part of, and slices that overlap otherwise get
//! different lanes.
//!
//! Readers of traces show a slice on top of another one as a part of it. So a slice goes onto the track of its thread
//! only if the innermost open slice there contains it. Otherwise it gets another lane beside the track.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trace_reducer::model::{Handle, Trace};

use super::pieces::{Insides, Piece, Slots, parent};

/// Most ancestors of a slice that are searched. Only a forged bundle has code that runs code at this depth; its calls
/// get lanes of their own.
pub(super) const MAX_NESTING: usize = 32;

/// The lane of a piece that has none yet.
const NOWHERE: u32 = u32::MAX;

/// The lanes of one thread.
#[derive(Debug, Default, Clone)]
struct Lanes {
    /// The open slices of each lane, outermost first.
    open: Vec<Vec<usize>>,
    /// Lanes beside the thread's own track without open slices, smallest first.
    free: BinaryHeap<Reverse<u32>>,
    /// The other lanes, ordered by the end of their outermost slice.
    busy: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Returns the lane of each piece, and the number of lanes of each thread.
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
    /// Frees the lanes whose slices have all ended. Creates the thread's own track if it does not exist yet.
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

    /// Takes a free or a new lane for a slice that ends at `end`.
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
