//! A session as a timeline of slices, marks and arrows: what Perfetto and Chrome are given, before it has a format.
//!
//! Making a [`Scene`] takes memory and time (n log n) proportional to the graph; names and arguments are made one by one
//! while a format is written.

mod arguments;
mod arrows;
mod lanes;
mod marks;
mod pieces;
mod walk;

pub(crate) use arguments::{Argument, Value, agent_name, session_status};
pub(crate) use arrows::Arrow;
pub(crate) use marks::{Mark, MarkKind, found as marks_of};
pub(crate) use pieces::{Insides, Piece, Slots, What, in_order, parent, slices};
pub(crate) use walk::Step;

use trace_explain::clock::Clock;
use trace_explain::{Family, Session};
use trace_reducer::model::{Handle, ThreadIdx, Trace};


/// A session, laid out.
#[derive(Debug)]
pub(crate) struct Scene<'s> {
    session: &'s Session,
    clock: Clock,
    family: Family,
    /// Slices by slot, then marks.
    pieces: Vec<Piece>,
    marks: Vec<Mark>,
    /// Where each piece is drawn in its thread: 0 is the thread's own track.
    lanes: Vec<u32>,
    /// How many lanes each thread has.
    lane_counts: Vec<u32>,
    /// Pieces in the order in which they begin.
    order: Vec<usize>,
    arrows: Vec<Arrow>,
    /// Arrows by the piece that they come from, and by the piece that they go to.
    arrows_out: Vec<(usize, usize)>,
    arrows_in: Vec<(usize, usize)>,
}

impl<'s> Scene<'s> {
    /// Lays out a session.
    pub(crate) fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let family = Family::new(trace);
        let slots = Slots::new(trace);
        let mut pieces = slices(trace, &clock, &slots);
        let mut marks = marks::found(session);
        let arrows = arrows::found(trace, &family, &slots, &pieces, &mut marks);
        pieces.extend(marks.iter().enumerate().map(|(index, mark)| pieces::of_mark(index, mark)));
        let order = in_order(&pieces);
        let (lanes, lane_counts) = lanes::placed(trace, &slots, &pieces, &order);
        let mut arrows_out: Vec<_> = arrows.iter().enumerate().map(|(index, arrow)| (arrow.from, index)).collect();
        let mut arrows_in: Vec<_> = arrows.iter().enumerate().map(|(index, arrow)| (arrow.to, index)).collect();
        arrows_out.sort_unstable();
        arrows_in.sort_unstable();
        Self { session, clock, family, pieces, marks, lanes, lane_counts, order, arrows, arrows_out, arrows_in }
    }

    pub(crate) fn trace(&self) -> &'s Trace {
        self.session.trace()
    }

    pub(crate) fn family(&self) -> &Family {
        &self.family
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn piece(&self, index: usize) -> &Piece {
        &self.pieces[index]
    }

    /// Returns the lane of its thread in which a piece is drawn.
    pub(crate) fn lane(&self, index: usize) -> u32 {
        self.lanes[index]
    }

    /// Returns how many lanes a thread has, its own track among them.
    pub(crate) fn lane_count(&self, thread: ThreadIdx) -> u32 {
        self.lane_counts[thread.index()].max(1)
    }

    /// Returns the arrows that begin at a piece.
    pub(crate) fn arrows_from(&self, piece: usize) -> impl Iterator<Item = &Arrow> {
        among(&self.arrows_out, piece).map(|(_, arrow)| &self.arrows[*arrow])
    }

    /// Returns the arrows that end at a piece.
    pub(crate) fn arrows_to(&self, piece: usize) -> impl Iterator<Item = &Arrow> {
        among(&self.arrows_in, piece).map(|(_, arrow)| &self.arrows[*arrow])
    }

    /// Returns the time of an event in nanoseconds since the start of the session. What no trace can show, a session of
    /// centuries, is moved to the last moment that one can.
    pub(crate) fn nanoseconds(&self, seq: u64) -> u64 {
        self.clock.at(seq).saturating_mul(1_000_000).min(MAX_NANOSECONDS)
    }
}

/// The last moment that fits the signed times of the readers, with room for the start of the session.
const MAX_NANOSECONDS: u64 = 1 << 62;

fn among(pairs: &[(usize, usize)], piece: usize) -> std::slice::Iter<'_, (usize, usize)> {
    let from = pairs.partition_point(|(at, _)| *at < piece);
    let until = pairs.partition_point(|(at, _)| *at <= piece);
    pairs[from..until].iter()
}
