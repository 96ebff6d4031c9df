//! Code cells.
//!
//! A cell starts when the runtime gets its code, which can be before the response with the code is recorded. A cell is
//! queued with its events until its call is seen.

use trace_recorder::format::event::{CodeCellEnded, CodeCellInitialResponse, CodeCellStarted};
use trace_recorder::format::{CellStatus, ExecutionStatus, PayloadRef};

use super::draft::{Draft, Step, Table, push_unique};
use super::items::{Items, item_id_order};
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::shapes::Invocation;
use crate::model::{
    CellIdx, CodeCell, ItemIdx, ItemKind, Moment, Producer, Requester, Symbol, ThreadIdx, ToolIdx, ToolKind, TurnIdx,
    Window,
};

/// A code cell whose call has not been seen yet.
#[derive(Debug, Clone)]
struct QueuedCell {
    id: Symbol,
    /// Id of the thread, which need not exist before the call is seen.
    thread: Symbol,
    turn: Option<Symbol>,
    call_id: Symbol,
    runtime_cell_id: Symbol,
    started: Moment,
    source_js: Box<str>,
}

/// Kind of an event of a code cell after its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellStep {
    FirstResponse,
    End,
}

/// An event of a code cell after its start.
#[derive(Debug, Clone, Copy)]
struct CellEvent {
    at: Moment,
    runtime_cell_id: Option<Symbol>,
    status: CellStatus,
    payload_id: Option<Symbol>,
    step: CellStep,
}

/// Code cells, also those whose call has not been seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    by_id: Table<Symbol, CellIdx>,
    by_turn: Table<TurnIdx, Vec<CellIdx>>,
    /// For each thread id, the ids of cells by their id in the runtime.
    by_runtime_id: Table<Symbol, Table<Symbol, Symbol>>,
    queued: Vec<QueuedCell>,
    /// Events of cells that do not exist yet, by cell id.
    queued_events: Table<Symbol, Vec<CellEvent>>,
    /// Tool calls that the code of a cell made, by cell id.
    nested_tools: Table<Symbol, Vec<ToolIdx>>,
}

impl Cells {
    pub(super) fn started(&mut self, draft: &mut Draft, items: &mut Items, event: &CodeCellStarted<'_>) -> Step {
        let Some(thread) = cell_thread(draft)? else { return Ok(()) };
        let call_id = draft.intern(&event.model_visible_call_id);
        let id = cell_id(draft, &event.model_visible_call_id);
        let runtime_cell_id = draft.intern(&event.runtime_cell_id);
        let known = self.of_runtime_id(thread, runtime_cell_id);
        if known.is_some_and(|known| known != id) {
            let message = format!("runtime cell {} runs the code of two calls", event.runtime_cell_id);
            draft.odd(Code::CellContradicted, message)?;
        }
        let source = draft.threads_by_id.get(&thread).and_then(|thread| cell_source(draft, items, *thread, call_id));
        let is_queued = source.is_none() && self.queued.iter().any(|cell| cell.id == id);
        if is_queued || self.by_id.contains_key(&id) {
            let message = format!("the code cell of call {} starts twice", event.model_visible_call_id);
            return draft.odd(Code::StartedTwice, message);
        }
        let cell = QueuedCell {
            id,
            thread,
            turn: draft.event.turn,
            call_id,
            runtime_cell_id,
            started: draft.event.at,
            source_js: event.source_js.as_str().into(),
        };
        self.by_runtime_id.entry(thread).or_default().insert(runtime_cell_id, id);
        match source {
            Some(source) => self.materialise(draft, items, cell, source),
            None => {
                self.queued.push(cell);
                Ok(())
            }
        }
    }

    /// Returns the id of the cell that has this id in its thread's runtime.
    pub(super) fn of_runtime_id(&self, thread: Symbol, runtime_cell_id: Symbol) -> Option<Symbol> {
        self.by_runtime_id.get(&thread)?.get(&runtime_cell_id).copied()
    }

    fn materialise(&mut self, draft: &mut Draft, items: &mut Items, queued: QueuedCell, source_item: ItemIdx) -> Step {
        if self.by_id.contains_key(&queued.id) {
            let message = format!("the code cell of call {} starts twice", draft.trace.text(queued.call_id));
            return draft.odd(Code::StartedTwice, message);
        }
        let thread = draft.trace.items[source_item].thread;
        let Some(turn) = cell_turn(draft, thread, &queued)? else { return Ok(()) };
        let mut nested_tools = self.nested_tools.get(&queued.id).cloned().unwrap_or_default();
        nested_tools.sort_by_key(|tool| draft.trace.text(draft.trace.tools[*tool].id));
        let cell = draft.trace.cells.push(CodeCell {
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
        self.by_id.insert(queued.id, cell);
        self.by_turn.entry(turn).or_default().push(cell);
        let mut outputs: Vec<ItemIdx> = items
            .by_call
            .get(&(thread, queued.call_id))
            .filter(|item| draft.trace.items[*item].kind == ItemKind::CustomToolCallOutput)
            .collect();
        if draft.is_v1() {
            outputs.sort_by_key(|item| item_id_order(*item));
        }
        for item in outputs {
            add_output(draft, cell, item);
        }
        let elsewhere: Vec<ItemIdx> = items
            .by_call_anywhere
            .get(&queued.call_id)
            .filter(|item| draft.trace.items[*item].thread != thread)
            .collect();
        for item in elsewhere {
            items.mark_stale(draft, item);
        }
        let mut events = self.queued_events.remove(&queued.id).unwrap_or_default();
        events.sort_by_key(|event| event.at.seq);
        for event in events {
            apply(draft, cell, event);
        }
        Ok(())
    }

    /// Adds the queued cells of a thread whose call was just seen to the graph.
    pub(super) fn look_for_code(&mut self, draft: &mut Draft, items: &mut Items, thread: ThreadIdx) -> Step {
        if !std::mem::take(&mut items.has_new_code) {
            return Ok(());
        }
        let thread_id = draft.trace.threads[thread].id;
        if self.queued.iter().all(|cell| cell.thread != thread_id) {
            return Ok(());
        }
        let mut ready: Vec<(QueuedCell, ItemIdx)> = Vec::new();
        for cell in std::mem::take(&mut self.queued) {
            match cell_source(draft, items, thread, cell.call_id).filter(|_| cell.thread == thread_id) {
                Some(source) => ready.push((cell, source)),
                None => self.queued.push(cell),
            }
        }
        ready.sort_by(|(a, _), (b, _)| draft.trace.text(a.id).cmp(draft.trace.text(b.id)));
        for (cell, source) in ready {
            self.materialise(draft, items, cell, source)?;
        }
        Ok(())
    }

    /// Links an output item with the cell of its call id, which may belong to another thread.
    pub(super) fn link_output(&self, draft: &mut Draft, item: ItemIdx, call_id: Symbol) {
        if draft.trace.items[item].kind != ItemKind::CustomToolCallOutput || self.by_id.is_empty() {
            return;
        }
        let id = format!("code_cell:{}", draft.trace.text(call_id));
        let cell = draft.trace.symbols.get(&id).and_then(|id| self.by_id.get(&id).copied());
        if let Some(cell) = cell {
            add_output(draft, cell, item);
        }
    }

    pub(super) fn first_response(&mut self, draft: &mut Draft, event: &CodeCellInitialResponse<'_>) -> Step {
        let payload = event.response_payload.as_ref();
        self.step(draft, &event.runtime_cell_id, event.status, payload, CellStep::FirstResponse)
    }

    pub(super) fn ended(&mut self, draft: &mut Draft, event: &CodeCellEnded<'_>) -> Step {
        let payload = event.response_payload.as_ref();
        self.step(draft, &event.runtime_cell_id, event.status, payload, CellStep::End)
    }

    fn step(
        &mut self,
        draft: &mut Draft,
        runtime_cell_id: &str,
        status: CellStatus,
        payload: Option<&PayloadRef<'_>>,
        step: CellStep,
    ) -> Step {
        let Some(thread) = cell_thread(draft)? else { return Ok(()) };
        let runtime_cell_id = draft.intern(runtime_cell_id);
        let Some(id) = self.of_runtime_id(thread, runtime_cell_id) else {
            let message = format!("code cell {} was never started", draft.trace.text(runtime_cell_id));
            return draft.odd(Code::CellUnknown, message);
        };
        let event = CellEvent {
            at: draft.event.at,
            runtime_cell_id: Some(runtime_cell_id),
            // An unknown status of a later release counts as the end of the cell.
            status: if status == CellStatus::Unknown { CellStatus::Terminated } else { status },
            payload_id: payload.map(|reference| draft.payload_id(reference)),
            step,
        };
        match self.by_id.get(&id).copied() {
            Some(cell) => apply(draft, cell, event),
            None => self.queued_events.entry(id).or_default().push(event),
        }
        Ok(())
    }

    /// Links a tool call that waits for a code cell with that cell.
    pub(super) fn link_wait(&self, draft: &mut Draft, tool: ToolIdx, invocation: &Invocation) -> Step {
        if invocation.tool_name.as_deref() != Some("wait") {
            return Ok(());
        }
        let Some(cell_id) = invocation.cell_id() else {
            return draft.odd(Code::CellContradicted, "a tool waits for a code cell, but names none");
        };
        let thread = draft.trace.threads[draft.trace.tools[tool].thread].id;
        let cell = draft
            .trace
            .symbols
            .get(&cell_id)
            .and_then(|id| self.of_runtime_id(thread, id))
            .and_then(|id| self.by_id.get(&id).copied());
        if let Some(cell) = cell {
            push_unique(&mut draft.trace.cells[cell].wait_tools, tool);
        }
        Ok(())
    }

    /// Records that the code of a cell made a tool call.
    pub(super) fn nest(&mut self, draft: &mut Draft, cell: Symbol, tool: ToolIdx) {
        self.nested_tools.entry(cell).or_default().push(tool);
        if let Some(cell) = self.by_id.get(&cell) {
            draft.trace.cells[*cell].nested_tools.push(tool);
        }
    }

    /// Ends the running cells of a turn.
    pub(super) fn end_of_turn(&mut self, draft: &mut Draft, turn: TurnIdx, status: CellStatus) {
        for cell in self.by_turn.get(&turn).into_iter().flatten() {
            if draft.trace.cells[*cell].execution.is_running() {
                let at = draft.event.at;
                apply(
                    draft,
                    *cell,
                    CellEvent { at, runtime_cell_id: None, status, payload_id: None, step: CellStep::End },
                );
            }
        }
    }

    /// Forgets the cells of a thread whose runtime starts its numbering again.
    pub(super) fn forget_runtime(&mut self, thread: Symbol) {
        self.by_runtime_id.remove(&thread);
    }

    /// Reports the cells whose call was never seen. Called at the end of the log.
    pub(super) fn remark_queued(&self, draft: &mut Draft) {
        for cell in &self.queued {
            let call_id = draft.trace.text(cell.call_id);
            let message = format!("call {call_id} of a code cell was never seen; the cell is left out");
            draft.remark(Diagnostic::new(Code::CellWithoutCall, message).at_seq(cell.started.seq));
        }
    }

    /// Links the calls that ran code with the cells that they started. Called at the end of the log.
    pub(super) fn link_started(&self, draft: &mut Draft) {
        let exec = draft.trace.symbols.get("exec");
        for tool in draft.trace.tools.handles() {
            let call = &draft.trace.tools[tool];
            let is_exec = matches!(call.kind, ToolKind::Other { name } if Some(name) == exec);
            let Some(call_id) = call.model_visible_call_id else { continue };
            if !is_exec || call.requester != Requester::Model {
                continue;
            }
            let id = format!("code_cell:{}", draft.trace.text(call_id));
            let cell = draft.trace.symbols.get(&id).and_then(|id| self.by_id.get(&id).copied());
            let Some(cell) = cell else { continue };
            let started = &draft.trace.cells[cell];
            if started.thread == call.thread && call.turn.is_none_or(|turn| turn == started.turn) {
                draft.trace.tools[tool].started_code_cell = Some(cell);
            }
        }
    }
}

fn cell_id(draft: &mut Draft, call_id: &str) -> Symbol {
    let id = format!("code_cell:{call_id}");
    draft.intern(&id)
}

/// Returns the id of the thread of a cell's event. The thread need not exist until the cell's call is seen.
fn cell_thread(draft: &mut Draft) -> Step<Option<Symbol>> {
    if draft.event.thread.is_some() {
        return Ok(draft.event.thread);
    }
    let turn = draft.event.turn.and_then(|turn| draft.turns_by_id.get(&turn).copied());
    let thread = turn.map(|turn| draft.trace.threads[draft.trace.turns[turn].thread].id);
    if thread.is_none() {
        draft.odd(Code::ContextMissing, "the event of a code cell names no thread and no known turn")?;
    }
    Ok(thread)
}

/// Returns the item that contains the code of a cell.
fn cell_source(draft: &Draft, items: &Items, thread: ThreadIdx, call_id: Symbol) -> Option<ItemIdx> {
    let mut calls =
        items.by_call.get(&(thread, call_id)).filter(|item| draft.trace.items[*item].kind == ItemKind::CustomToolCall);
    if draft.is_v1() { calls.min_by_key(|item| item_id_order(*item)) } else { calls.next() }
}

fn cell_turn(draft: &mut Draft, thread: ThreadIdx, queued: &QueuedCell) -> Step<Option<TurnIdx>> {
    match queued.turn {
        Some(turn) => draft.turn_of(thread, turn).map(Some),
        None => {
            draft.odd(Code::ContextMissing, "the start of a code cell names no turn")?;
            Ok(None)
        }
    }
}

fn add_output(draft: &mut Draft, cell: CellIdx, item: ItemIdx) {
    push_unique(&mut draft.trace.cells[cell].output_items, item);
    push_unique(&mut draft.trace.items[item].produced_by, Producer::Cell(cell));
}

fn apply(draft: &mut Draft, cell: CellIdx, event: CellEvent) {
    let is_v1 = draft.is_v1();
    let cell = &mut draft.trace.cells[cell];
    if event.step == CellStep::End {
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
