//! Code cells.
//!
//! A cell starts when the runtime gets its code, which can be before the response with the code is recorded. A cell is
//! queued with its events until its call is seen.

use trace_recorder::format::event::CodeCellStarted;
use trace_recorder::format::{CellStatus, ExecutionStatus, PayloadRef};

use super::draft::{Step, push_unique};
use super::state::{CellEvent, QueuedCell, Replay, item_id_order};
use crate::diagnostic::Code;
use crate::model::{CellIdx, CodeCell, ItemIdx, ItemKind, Producer, Symbol, ThreadIdx, TurnIdx, Window};

impl Replay {
    pub(super) fn cell_started(&mut self, event: &CodeCellStarted<'_>) -> Step {
        let Some(thread) = self.cell_thread()? else { return Ok(()) };
        let call_id = self.draft.intern(&event.model_visible_call_id);
        let id = self.cell_id(&event.model_visible_call_id);
        let runtime_cell_id = self.draft.intern(&event.runtime_cell_id);
        let known = self.cell_of_runtime_id(thread, runtime_cell_id);
        if known.is_some_and(|known| known != id) {
            let message = format!("runtime cell {} runs the code of two calls", event.runtime_cell_id);
            self.draft.odd(Code::CellContradicted, message)?;
        }
        let source = self.draft.threads_by_id.get(&thread).and_then(|thread| self.cell_source(*thread, call_id));
        let is_queued = source.is_none() && self.queued_cells.iter().any(|cell| cell.id == id);
        if is_queued || self.cells_by_id.contains_key(&id) {
            let message = format!("the code cell of call {} starts twice", event.model_visible_call_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let cell = QueuedCell {
            id,
            thread,
            turn: self.draft.event.turn,
            call_id,
            runtime_cell_id,
            started: self.draft.event.at,
            source_js: event.source_js.as_str().into(),
        };
        self.cells_by_runtime_id.entry(thread).or_default().insert(runtime_cell_id, id);
        match source {
            Some(source) => self.materialise(cell, source),
            None => {
                self.queued_cells.push(cell);
                Ok(())
            }
        }
    }

    /// Returns the id of the cell that has this id in its thread's runtime.
    pub(super) fn cell_of_runtime_id(&self, thread: Symbol, runtime_cell_id: Symbol) -> Option<Symbol> {
        self.cells_by_runtime_id.get(&thread)?.get(&runtime_cell_id).copied()
    }

    fn cell_id(&mut self, call_id: &str) -> Symbol {
        let id = format!("code_cell:{call_id}");
        self.draft.intern(&id)
    }

    /// Returns the id of the thread of a cell's event. The thread need not exist until the cell's call is seen.
    fn cell_thread(&mut self) -> Step<Option<Symbol>> {
        if self.draft.event.thread.is_some() {
            return Ok(self.draft.event.thread);
        }
        let turn = self.draft.event.turn.and_then(|turn| self.draft.turns_by_id.get(&turn).copied());
        let thread = turn.map(|turn| self.draft.trace.threads[self.draft.trace.turns[turn].thread].id);
        if thread.is_none() {
            self.draft.odd(Code::ContextMissing, "the event of a code cell names no thread and no known turn")?;
        }
        Ok(thread)
    }

    /// Returns the item that contains the code of a cell.
    fn cell_source(&self, thread: ThreadIdx, call_id: Symbol) -> Option<ItemIdx> {
        let mut calls = self
            .items_by_call
            .get(&(thread, call_id))
            .filter(|item| self.draft.trace.items[*item].kind == ItemKind::CustomToolCall);
        if self.draft.is_v1() { calls.min_by_key(|item| item_id_order(*item)) } else { calls.next() }
    }

    fn materialise(&mut self, queued: QueuedCell, source_item: ItemIdx) -> Step {
        if self.cells_by_id.contains_key(&queued.id) {
            let message = format!("the code cell of call {} starts twice", self.draft.trace.text(queued.call_id));
            return self.draft.odd(Code::StartedTwice, message);
        }
        let thread = self.draft.trace.items[source_item].thread;
        let Some(turn) = self.cell_turn(thread, &queued)? else { return Ok(()) };
        let mut nested_tools = self.tools_by_cell.get(&queued.id).cloned().unwrap_or_default();
        nested_tools.sort_by_key(|tool| self.draft.trace.text(self.draft.trace.tools[*tool].id));
        let cell = self.draft.trace.cells.push(CodeCell {
            id: queued.id,
            model_visible_call_id: queued.call_id,
            thread,
            turn,
            source_item,
            output_items: Vec::new(),
            runtime_cell_id: Some(queued.runtime_cell_id),
            execution: Window::running(queued.started),
            runtime_status: CellStatus::Starting,
            initial_response: None,
            initial_response_status: None,
            initial_response_payload_id: None,
            result_payload_id: None,
            yielded: None,
            source_js: queued.source_js,
            nested_tools,
            wait_tools: Vec::new(),
        });
        self.cells_by_id.insert(queued.id, cell);
        self.cells_by_turn.entry(turn).or_default().push(cell);
        let mut outputs: Vec<ItemIdx> = self
            .items_by_call
            .get(&(thread, queued.call_id))
            .filter(|item| self.draft.trace.items[*item].kind == ItemKind::CustomToolCallOutput)
            .collect();
        if self.draft.is_v1() {
            outputs.sort_by_key(|item| item_id_order(*item));
        }
        for item in outputs {
            self.add_cell_output(cell, item);
        }
        let elsewhere: Vec<ItemIdx> = self
            .items_by_call_anywhere
            .get(&queued.call_id)
            .filter(|item| self.draft.trace.items[*item].thread != thread)
            .collect();
        for item in elsewhere {
            self.mark_stale(item);
        }
        let mut events = self.queued_cell_events.remove(&queued.id).unwrap_or_default();
        events.sort_by_key(|event| event.at.seq);
        for event in events {
            self.apply_cell_event(cell, event);
        }
        Ok(())
    }

    fn cell_turn(&mut self, thread: ThreadIdx, queued: &QueuedCell) -> Step<Option<TurnIdx>> {
        match queued.turn {
            Some(turn) => self.draft.turn_of(thread, turn).map(Some),
            None => {
                self.draft.odd(Code::ContextMissing, "the start of a code cell names no turn")?;
                Ok(None)
            }
        }
    }

    /// Adds the queued cells of a thread whose call was just seen to the graph.
    pub(super) fn materialise_cells(&mut self, thread: ThreadIdx) -> Step {
        if !std::mem::take(&mut self.has_new_code) {
            return Ok(());
        }
        let thread_id = self.draft.trace.threads[thread].id;
        if self.queued_cells.iter().all(|cell| cell.thread != thread_id) {
            return Ok(());
        }
        let mut ready: Vec<(QueuedCell, ItemIdx)> = Vec::new();
        for cell in std::mem::take(&mut self.queued_cells) {
            match self.cell_source(thread, cell.call_id).filter(|_| cell.thread == thread_id) {
                Some(source) => ready.push((cell, source)),
                None => self.queued_cells.push(cell),
            }
        }
        ready.sort_by(|(a, _), (b, _)| self.draft.trace.text(a.id).cmp(self.draft.trace.text(b.id)));
        for (cell, source) in ready {
            self.materialise(cell, source)?;
        }
        Ok(())
    }

    /// Links an output item with the cell of its call id, which may belong to another thread.
    pub(super) fn link_cell_output(&mut self, item: ItemIdx, call_id: Symbol) {
        if self.draft.trace.items[item].kind != ItemKind::CustomToolCallOutput || self.cells_by_id.is_empty() {
            return;
        }
        let id = format!("code_cell:{}", self.draft.trace.text(call_id));
        let cell = self.draft.trace.symbols.get(&id).and_then(|id| self.cells_by_id.get(&id).copied());
        if let Some(cell) = cell {
            self.add_cell_output(cell, item);
        }
    }

    fn add_cell_output(&mut self, cell: CellIdx, item: ItemIdx) {
        push_unique(&mut self.draft.trace.cells[cell].output_items, item);
        push_unique(&mut self.draft.trace.items[item].produced_by, Producer::Cell(cell));
    }

    /// Handles the first response or the end of a cell.
    pub(super) fn cell_event(
        &mut self,
        runtime_cell_id: &str,
        status: CellStatus,
        payload: Option<&PayloadRef<'_>>,
        is_end: bool,
    ) -> Step {
        let Some(thread) = self.cell_thread()? else { return Ok(()) };
        let runtime_cell_id = self.draft.intern(runtime_cell_id);
        let Some(id) = self.cell_of_runtime_id(thread, runtime_cell_id) else {
            let message = format!("code cell {} was never started", self.draft.trace.text(runtime_cell_id));
            return self.draft.odd(Code::CellUnknown, message);
        };
        let event = CellEvent {
            at: self.draft.event.at,
            runtime_cell_id: Some(runtime_cell_id),
            // An unknown status of a later release counts as the end of the cell.
            status: if status == CellStatus::Unknown { CellStatus::Terminated } else { status },
            payload_id: payload.map(|reference| self.draft.intern(&reference.raw_payload_id)),
            is_end,
        };
        match self.cells_by_id.get(&id).copied() {
            Some(cell) => self.apply_cell_event(cell, event),
            None => self.queued_cell_events.entry(id).or_default().push(event),
        }
        Ok(())
    }

    pub(super) fn apply_cell_event(&mut self, cell: CellIdx, event: CellEvent) {
        let is_v1 = self.draft.is_v1();
        let cell = &mut self.draft.trace.cells[cell];
        if event.is_end {
            cell.initial_response.get_or_insert(event.at);
            let status = match event.status {
                CellStatus::Completed => ExecutionStatus::Completed,
                CellStatus::Failed => ExecutionStatus::Failed,
                CellStatus::Terminated => ExecutionStatus::Cancelled,
                CellStatus::Starting | CellStatus::Running | CellStatus::Yielded | CellStatus::Unknown => {
                    ExecutionStatus::Running
                }
            };
            cell.execution.end(event.at, status);
            cell.result_payload_id = event.payload_id;
        } else {
            cell.runtime_cell_id = event.runtime_cell_id;
            let first = if is_v1 { cell.initial_response.is_none() } else { cell.initial_response_status.is_none() };
            if first {
                cell.initial_response = Some(event.at);
                cell.initial_response_status = Some(event.status);
                cell.initial_response_payload_id = event.payload_id;
            }
            if event.status == CellStatus::Yielded {
                cell.yielded = Some(event.at);
            }
        }
        cell.runtime_status = event.status;
    }

    /// Links a tool call that waits for a code cell with that cell.
    pub(super) fn link_wait(&mut self, tool: crate::model::ToolIdx) -> Step {
        let Some(invocation) = &self.tools[tool].invocation else { return Ok(()) };
        if invocation.tool_name.as_deref() != Some("wait") {
            return Ok(());
        }
        let cell_id = invocation
            .arguments
            .as_deref()
            .and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
            .and_then(|arguments| arguments.get("cell_id").and_then(|id| id.as_str().map(str::to_owned)));
        let Some(cell_id) = cell_id else {
            return self.draft.odd(Code::CellContradicted, "a tool waits for a code cell, but names none");
        };
        let thread = self.draft.trace.threads[self.draft.trace.tools[tool].thread].id;
        let cell = self
            .draft
            .trace
            .symbols
            .get(&cell_id)
            .and_then(|id| self.cell_of_runtime_id(thread, id))
            .and_then(|id| self.cells_by_id.get(&id).copied());
        if let Some(cell) = cell {
            push_unique(&mut self.draft.trace.cells[cell].wait_tools, tool);
        }
        Ok(())
    }
}
