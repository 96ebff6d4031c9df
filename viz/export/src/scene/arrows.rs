//! Arrows from the slice that hands something over to the slice that receives it first.
//!
//! Readers of traces draw an arrow from the end that they read first to the other one, so an arrow can end at a slice
//! only if that slice begins after the slice at its start. If it does not, as for a message to an agent that is already
//! working, the arrow ends at a mark at the time of the arrival.

use trace_explain::Family;
use trace_reducer::model::{EdgeIdx, Trace};

use super::marks::{Mark, MarkKind};
use super::pieces::{Piece, Slots};
use crate::hand_overs::HandOvers;

/// The arrow of a hand-over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrow {
    pub(crate) edge: EdgeIdx,
    /// Index of the piece at its start.
    pub(crate) from: usize,
    /// Index of the piece at its end, which comes later in the order of pieces.
    pub(crate) to: usize,
}

/// Finds the arrow of each edge. Adds the marks at which some of them end; the indexes of marks follow those of slices.
pub(crate) fn found(
    trace: &Trace,
    family: &Family,
    slots: &Slots,
    slices: &[Piece],
    marks: &mut Vec<Mark>,
) -> Vec<Arrow> {
    let hand_overs = HandOvers::new(trace, family);
    let mut arrows = Vec::with_capacity(trace.edges.len());
    for (edge, known) in trace.edges.iter() {
        let from = slots.of(hand_overs.source(known));
        let later = |to: &usize| slices[from].key() < slices[*to].key();
        let slice = hand_overs.target(known).map(|object| slots.of(object)).filter(later);
        let to = slice.unwrap_or_else(|| {
            // The arrow must not go back in time, even if the event log says so.
            let seq = hand_overs.arrived(known).max(slices[from].start);
            let thread = Some(hand_overs.target_thread(known));
            marks.push(Mark { thread, seq, kind: MarkKind::Arrival(edge) });
            slices.len() + marks.len() - 1
        });
        arrows.push(Arrow { edge, from, to });
    }
    arrows
}
