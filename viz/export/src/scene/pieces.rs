//! The pieces of a timeline: slices, which take time, and marks, which are moments.

use std::cmp::Reverse;

use trace_explain::activity::Activities;
use trace_explain::clock::Clock;
use trace_reducer::model::{CellIdx, Handle, Object, ThreadIdx, ToolIdx, Trace};

use super::marks::Mark;

/// What a piece of the timeline stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The whole session.
    Session,
    /// A thread, turn, inference call, tool call, code cell or request for a compaction.
    Object(Object),
    /// A moment, by its index among the marks.
    Mark(usize),
}

/// A piece of the timeline. Its place is given by sequence numbers, because times may be equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) what: What,
    /// Its thread. `None` if it belongs to the session as a whole.
    pub(crate) thread: Option<ThreadIdx>,
    pub(crate) start: u64,
    /// The end, never before the start. A mark ends where it begins.
    pub(crate) end: u64,
}

impl Piece {
    /// Returns the sort key of a piece. Of pieces that begin at the same event, the one that ends last comes first, and
    /// one that can contain others comes before them.
    pub(crate) fn key(&self) -> (u64, Reverse<u64>, u8) {
        let rank = match self.what {
            What::Session => 0,
            What::Object(Object::Thread(_)) => 1,
            What::Object(Object::Turn(_)) => 2,
            What::Object(Object::Inference(_) | Object::CompactionRequest(_)) => 3,
            What::Object(Object::Tool(_)) => 4,
            What::Object(_) => 5,
            What::Mark(_) => 6,
        };
        (self.start, Reverse(self.end), rank)
    }

    /// Returns whether the piece is a moment.
    pub(crate) fn is_mark(&self) -> bool {
        matches!(self.what, What::Mark(_))
    }
}

/// Assigns the slices of objects to indexes: the session first, then type by type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    turns: usize,
    inferences: usize,
    requests: usize,
    tools: usize,
    cells: usize,
    end: usize,
}

impl Slots {
    pub(crate) fn new(trace: &Trace) -> Self {
        let turns = 1 + trace.threads.len();
        let inferences = turns + trace.turns.len();
        let requests = inferences + trace.inferences.len();
        let tools = requests + trace.compaction_requests.len();
        let cells = tools + trace.tools.len();
        Self { turns, inferences, requests, tools, cells, end: cells + trace.cells.len() }
    }

    /// Returns the index of an object's slice. If the object has no slice, returns the index of
    /// the session's slice.
    pub(crate) fn of(self, object: Object) -> usize {
        match object {
            Object::Thread(thread) => 1 + thread.index(),
            Object::Turn(turn) => self.turns + turn.index(),
            Object::Inference(inference) => self.inferences + inference.index(),
            Object::CompactionRequest(request) => self.requests + request.index(),
            Object::Tool(tool) => self.tools + tool.index(),
            Object::Cell(cell) => self.cells + cell.index(),
            _ => 0,
        }
    }

    /// Returns the number of slices.
    pub(crate) fn count(self) -> usize {
        self.end
    }
}

/// Makes the slices of a session, each at its index. An object without an end in the event log lasts as long as it can
/// have lasted: until the end of its runtime, of its turn, or of the session.
pub(crate) fn slices(trace: &Trace, clock: &Clock, slots: &Slots) -> Vec<Piece> {
    let activities = Activities::new(trace, clock);
    let last = clock.last_seq();
    let session = Piece { what: What::Session, thread: None, start: 0, end: last };
    let mut pieces = vec![session; slots.count()];
    for (index, thread) in trace.threads.iter() {
        let window = &thread.execution;
        let end = window.ended.map_or(last, |ended| ended.seq);
        pieces[slots.of(Object::Thread(index))] = piece(Object::Thread(index), index, window.started.seq, end);
    }
    for (index, turn) in trace.turns.iter() {
        let (start, end) = (turn.execution.started.seq, activities.turn_end(index));
        pieces[slots.of(Object::Turn(index))] = piece(Object::Turn(index), turn.thread, start, end);
    }
    for (index, cell) in trace.cells.iter() {
        let window = &cell.execution;
        let end = window.ended.map_or_else(|| activities.turn_end(cell.turn), |ended| ended.seq);
        pieces[slots.of(Object::Cell(index))] = piece(Object::Cell(index), cell.thread, window.started.seq, end);
    }
    for activity in activities.all() {
        // Cells have their own windows above. The activity of a cell ends at its first answer, but the cell may run on.
        if !matches!(activity.object, Object::Cell(_)) {
            pieces[slots.of(activity.object)] = piece(activity.object, activity.thread, activity.start, activity.end);
        }
    }
    // A thread lasts as long as anything happens in it. A resumed thread has work after its first end.
    for slot in slots.turns..slots.end {
        let Piece { thread: Some(thread), start, end, .. } = pieces[slot] else { continue };
        let around = &mut pieces[slots.of(Object::Thread(thread))];
        around.start = around.start.min(start);
        around.end = around.end.max(end);
    }
    pieces
}

fn piece(object: Object, thread: ThreadIdx, start: u64, end: u64) -> Piece {
    Piece { what: What::Object(object), thread: Some(thread), start, end: end.max(start) }
}

/// Makes the piece of a mark.
pub(crate) fn of_mark(index: usize, mark: &Mark) -> Piece {
    Piece { what: What::Mark(index), thread: mark.thread, start: mark.seq, end: mark.seq }
}

/// Returns the indexes of pieces, ordered by their starts.
pub(crate) fn in_order(pieces: &[Piece]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|index| pieces[*index].key());
    order
}

/// Returns the index of the slice that a piece is part of, in the same thread. `None` for the session, for threads and
/// for marks.
pub(crate) fn parent(trace: &Trace, slots: &Slots, inside: &Insides, piece: &Piece) -> Option<usize> {
    let What::Object(object) = piece.what else { return None };
    match object {
        Object::Turn(turn) => Some(slots.of(Object::Thread(trace.turns[turn].thread))),
        Object::Inference(call) => Some(slots.of(Object::Turn(trace.inferences[call].turn))),
        Object::CompactionRequest(request) => Some(slots.of(Object::Turn(trace.compaction_requests[request].turn))),
        Object::Tool(tool) => {
            let call = &trace.tools[tool];
            let around = inside.cell_of_tool[tool.index()].map(|cell| slots.of(Object::Cell(cell)));
            Some(around.unwrap_or_else(|| {
                call.turn.map_or(slots.of(Object::Thread(call.thread)), |turn| slots.of(Object::Turn(turn)))
            }))
        }
        Object::Cell(cell) => {
            let starter = inside.tool_of_cell[cell.index()].map(|tool| slots.of(Object::Tool(tool)));
            Some(starter.unwrap_or_else(|| slots.of(Object::Turn(trace.cells[cell].turn))))
        }
        _ => None,
    }
}

/// Which code cells and tool calls contain each other.
#[derive(Debug)]
pub(crate) struct Insides {
    /// For each tool call, the cell that made it.
    pub(crate) cell_of_tool: Vec<Option<CellIdx>>,
    /// For each cell, the call that started it.
    pub(crate) tool_of_cell: Vec<Option<ToolIdx>>,
}

impl Insides {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut cell_of_tool = vec![None; trace.tools.len()];
        let mut tool_of_cell = vec![None; trace.cells.len()];
        for (cell, code) in trace.cells.iter() {
            for tool in &code.nested_tools {
                cell_of_tool[tool.index()] = Some(cell);
            }
        }
        for (tool, call) in trace.tools.iter() {
            if let Some(cell) = call.started_code_cell {
                tool_of_cell[cell.index()].get_or_insert(tool);
            }
        }
        Self { cell_of_tool, tool_of_cell }
    }
}
