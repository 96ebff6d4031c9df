//! The order in which texts were written.
//!
//! The log records a response when it is complete, but a tool call of the response may have started, or even ended,
//! before. So the texts of a response count as written before the first event that the response caused.

use std::collections::HashMap;

use trace_reducer::model::{CellIdx, Handle, InferenceIdx, ItemIdx, Producer, ThreadIdx, ToolIdx, Trace};

use super::calls::Calls;

/// Position of a text in the order of causes. A text that was written earlier has a smaller value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Birth {
    /// Sequence number of the first event that proves that the text existed.
    seq: u64,
    /// A response comes before the event that it caused.
    stage: Stage,
    /// Position within a response or a request.
    position: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Response,
    Event,
}

impl Birth {
    /// Returns the position of a text that an event introduces.
    pub(super) fn event(seq: u64) -> Self {
        Self { seq, stage: Stage::Event, position: 0 }
    }
}

/// Positions of the texts in responses.
#[derive(Debug)]
pub(super) struct Births<'t> {
    trace: &'t Trace,
    calls: &'t Calls,
    /// For each inference call, the sequence number of the first event that its response caused.
    responses: Vec<Option<u64>>,
    /// For each item, the response of its thread that contains it, and the position there.
    places: HashMap<ItemIdx, (InferenceIdx, u32)>,
}

impl<'t> Births<'t> {
    pub(super) fn new(trace: &'t Trace, calls: &'t Calls) -> Self {
        let mut places = HashMap::new();
        let mut responses = Vec::with_capacity(trace.inferences.len());
        for (inference, call) in trace.inferences.iter() {
            for (position, item) in (0u32..).zip(&call.response_items) {
                let it = &trace.items[*item];
                if it.thread == call.thread && it.produced_by.contains(&Producer::Inference(inference)) {
                    places.entry(*item).or_insert((inference, position));
                }
            }
            responses.push(call.execution.ended.map(|moment| moment.seq));
        }
        let mut births = Self { trace, calls, responses, places };
        for (tool, call) in trace.tools.iter() {
            births.caused(births.request_of_tool(tool), call.execution.started.seq);
        }
        for (cell, it) in trace.cells.iter() {
            births.caused(births.request_of_cell(cell), it.execution.started.seq);
        }
        births
    }

    /// Returns an index without responses, for callers that do not need the order.
    pub(super) fn unknown(trace: &'t Trace, calls: &'t Calls) -> Self {
        Self { trace, calls, responses: Vec::new(), places: HashMap::new() }
    }

    fn caused(&mut self, by: Option<(InferenceIdx, u32)>, seq: u64) {
        if let Some((inference, _)) = by {
            let response = &mut self.responses[inference.index()];
            *response = Some(response.map_or(seq, |known| known.min(seq)));
        }
    }

    fn request_of_tool(&self, tool: ToolIdx) -> Option<(InferenceIdx, u32)> {
        let call = &self.trace.tools[tool];
        self.request(call.thread, self.calls.items_of_tool(tool))
    }

    fn request_of_cell(&self, cell: CellIdx) -> Option<(InferenceIdx, u32)> {
        let cell = &self.trace.cells[cell];
        self.request(cell.thread, &[cell.source_item])
    }

    fn request(&self, thread: ThreadIdx, items: &[ItemIdx]) -> Option<(InferenceIdx, u32)> {
        let own = items.iter().filter(|item| self.trace.items[**item].thread == thread);
        own.filter_map(|item| self.places.get(item)).copied().min()
    }

    fn response(&self, (inference, position): (InferenceIdx, u32)) -> Option<Birth> {
        let seq = self.responses[inference.index()]?;
        Some(Birth { seq, stage: Stage::Response, position })
    }

    /// Returns whether a response of the item's own thread contains it.
    pub(super) fn is_written_here(&self, item: ItemIdx) -> bool {
        self.places.contains_key(&item)
    }

    pub(super) fn item(&self, item: ItemIdx) -> Birth {
        let written = self.places.get(&item).and_then(|place| self.response(*place));
        written.unwrap_or_else(|| Birth {
            seq: item_seq(self.trace, item),
            stage: Stage::Event,
            position: u32::try_from(item.index()).unwrap_or(u32::MAX),
        })
    }

    pub(super) fn arguments(&self, tool: ToolIdx) -> Birth {
        let written = self.request_of_tool(tool).and_then(|place| self.response(place));
        written.unwrap_or(Birth::event(self.trace.tools[tool].execution.started.seq))
    }

    pub(super) fn source(&self, cell: CellIdx) -> Birth {
        let written = self.request_of_cell(cell).and_then(|place| self.response(place));
        written.unwrap_or(Birth::event(self.trace.cells[cell].execution.started.seq))
    }
}

/// Returns the sequence number of the first event that shows an item.
pub(super) fn item_seq(trace: &Trace, item: ItemIdx) -> u64 {
    let item = &trace.items[item];
    item.accepted.map_or(item.first_seen.seq, |accepted| accepted.seq.min(item.first_seen.seq))
}
