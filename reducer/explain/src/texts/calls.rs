//! Links between items and tool calls within a thread.
//!
//! The links in the graph follow the call id alone, as in `state.json`, and so lead from the inherited history of a
//! child to the calls of its parent. Here a call and its items are in the same thread.

use std::collections::HashMap;

use trace_reducer::model::{CellIdx, ItemIdx, Symbol, ThreadIdx, ToolIdx, Trace};

/// Tool calls and code cells of a session by thread and call id.
#[derive(Debug)]
pub struct Calls {
    tools: HashMap<(ThreadIdx, Symbol), ToolIdx>,
    cells: HashMap<(ThreadIdx, Symbol), CellIdx>,
    /// For each tool call, the items of its thread that contain the call.
    call_items: HashMap<ToolIdx, Vec<ItemIdx>>,
    /// For each tool call that waited for later output of a code cell, that cell.
    waits: HashMap<ToolIdx, CellIdx>,
}

impl Calls {
    /// Links the calls of a session. Takes time proportional to the graph.
    pub fn new(trace: &Trace) -> Self {
        let mut tools = HashMap::new();
        for (tool, call) in trace.tools.iter() {
            if let Some(id) = call.model_visible_call_id {
                tools.entry((call.thread, id)).or_insert(tool);
            }
        }
        let mut cells = HashMap::new();
        let mut waits = HashMap::new();
        for (cell, it) in trace.cells.iter() {
            cells.entry((it.thread, it.model_visible_call_id)).or_insert(cell);
            waits.extend(it.wait_tools.iter().map(|tool| (*tool, cell)));
        }
        let mut call_items: HashMap<ToolIdx, Vec<ItemIdx>> = HashMap::new();
        for (item, it) in trace.items.iter().filter(|(_, item)| item.kind.is_call()) {
            if let Some(tool) = it.call_id.and_then(|id| tools.get(&(it.thread, id))) {
                call_items.entry(*tool).or_default().push(item);
            }
        }
        Self { tools, cells, call_items, waits }
    }

    /// Returns the tool call that an item makes, or whose output it is.
    pub fn tool_of(&self, trace: &Trace, item: ItemIdx) -> Option<ToolIdx> {
        let item = &trace.items[item];
        self.tools.get(&(item.thread, item.call_id?)).copied()
    }

    /// Returns the tool call that started a code cell.
    pub fn tool_of_cell(&self, trace: &Trace, cell: CellIdx) -> Option<ToolIdx> {
        let cell = &trace.cells[cell];
        self.tools.get(&(cell.thread, cell.model_visible_call_id)).copied()
    }

    /// Returns the code cell that an item's call started.
    pub fn cell_of(&self, trace: &Trace, item: ItemIdx) -> Option<CellIdx> {
        let item = &trace.items[item];
        self.cells.get(&(item.thread, item.call_id?)).copied()
    }

    /// Returns the code cell that a call of a thread started.
    pub fn cell_by_id(&self, thread: ThreadIdx, call_id: Symbol) -> Option<CellIdx> {
        self.cells.get(&(thread, call_id)).copied()
    }

    /// Returns the items of a tool call's thread that contain the call.
    pub fn items_of_tool(&self, tool: ToolIdx) -> &[ItemIdx] {
        self.call_items.get(&tool).map_or(&[], Vec::as_slice)
    }

    /// Returns the code cell that a tool call waited for.
    pub fn waited_for(&self, tool: ToolIdx) -> Option<CellIdx> {
        self.waits.get(&tool).copied()
    }
}
