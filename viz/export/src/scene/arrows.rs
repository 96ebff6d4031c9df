//! Arrows: from the slice that hands something over to the slice that has it first.
//!
//! Readers of traces draw an arrow from the first thing they read to the second, so a slice can only be the end of an arrow
//! if it begins after the one at its start. Where it does not, as with a message to an agent that is at work already, a mark
//! at the moment of the arrival stands for it.

use trace_explain::Family;
use trace_reducer::model::{EdgeIdx, Trace};

use super::marks::{Mark, MarkKind};
use super::pieces::{Piece, Slots};
use crate::hand_overs::HandOvers;

/// A hand-over, drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrow {
    pub(crate) edge: EdgeIdx,
    /// The piece that it comes from.
    pub(crate) from: usize,
    /// The piece that it goes to, which comes later in the order of pieces.
    pub(crate) to: usize,
}

/// Finds the arrow of each edge, and makes the marks that some need; marks come after the slices.
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
            // Never before what it comes from, whatever the log says.
            let seq = hand_overs.arrived(known).max(slices[from].start);
            let thread = Some(hand_overs.target_thread(known));
            marks.push(Mark { thread, seq, kind: MarkKind::Arrival(edge) });
            slices.len() + marks.len() - 1
        });
        arrows.push(Arrow { edge, from, to });
    }
    arrows
}
