//! Tool calls, and their links to the items that show them.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use trace_recorder::format::event::{
    McpToolCallCorrelationAssigned, StdinTargetResolved, ToolCallEnded, ToolCallRuntimeEnded, ToolCallRuntimeStarted,
    ToolCallStarted,
};
use trace_recorder::format::{
    EventPayload, PayloadRef, Requester as EventRequester, ToolKind as EventKind, ToolSummary as EventSummary,
};

use super::agents::{self, Source};
use super::cells::Cells;
use super::draft::{Draft, Step, Table, known_status, push_unique};
use super::edges::Edges;
use super::items::Items;
use super::terminals::{Terminals, observe};
use crate::diagnostic::Code;
use crate::ingest::Ingested;
use crate::ingest::shapes::{Invocation, RuntimeEnd};
use crate::model::{
    Arena, InferenceIdx, ItemIdx, Producer, Requester, Symbol, ThreadIdx, ToolCall, ToolIdx, ToolKind, ToolSummary,
    Window,
};

/// State of a tool call that is not part of the graph.
#[derive(Debug, Clone, Default)]
struct ToolState {
    invocation: Option<Invocation>,
    /// Inference calls whose response contained a call item of the tool, and that were not linked since.
    unlinked: Vec<InferenceIdx>,
}

/// Tool calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools {
    states: Arena<ToolIdx, ToolState>,
    by_id: Table<Symbol, ToolIdx>,
    by_call: Table<Symbol, ToolIdx>,
    by_invocation: Table<Symbol, Vec<ToolIdx>>,
    /// Pairs that are already in [`InferenceCall::tools_started`](crate::model::InferenceCall::tools_started).
    told_starts: HashSet<(InferenceIdx, ToolIdx), FixedState>,
}

impl Tools {
    pub(super) fn started(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        cells: &mut Cells,
        terminals: &mut Terminals,
        event: &ToolCallStarted<'_>,
        ingested: Ingested,
    ) -> Step {
        let id = draft.intern(&event.tool_call_id);
        let known = self.by_id.get(&id).copied();
        if known.is_some_and(|tool| !draft.trace.tools[tool].implied) {
            let message = format!("tool call {} starts twice; the second start is passed over", event.tool_call_id);
            return draft.odd(Code::StartedTwice, message);
        }
        let visible = self.free_call_id(draft, known, event.model_visible_call_id.as_deref())?;
        let Some((thread, turn)) = draft.thread_and_turn()? else { return Ok(()) };
        let requester = requester(draft, cells, thread, &event.requester)?;
        let (calls, outputs) = match visible {
            Some(call_id) => items.of_call(draft, thread, call_id),
            None => (Vec::new(), Vec::new()),
        };
        let payload = event.invocation_payload.as_ref().map(|reference| draft.payload_id(reference));
        let invocation = match payload {
            Some(payload) => as_invocation(draft.readable(payload, ingested)?),
            None => None,
        };
        let call = ToolCall {
            model_visible_call_id: visible,
            code_mode_runtime_tool_id: event.code_mode_runtime_tool_id.as_deref().map(|id| draft.intern(id)),
            turn,
            requester,
            kind: tool_kind(draft, &event.kind),
            call_items: calls.clone(),
            summary: tool_summary(draft, &event.summary),
            invocation_payload_id: payload,
            implied: false,
            ..implied_call(draft, id, thread)
        };
        let tool = match known {
            None => self.add(draft, items, call),
            Some(known) => self.declare(draft, items, known, call),
        };
        if let Some(payload) = payload {
            self.by_invocation.entry(payload).or_default().push(tool);
        }
        self.states[tool].invocation = invocation;
        self.follow_invocation(draft, cells, terminals, tool)?;
        if let Requester::CodeCell(cell) = requester {
            cells.nest(draft, cell, tool);
        }
        for item in calls {
            items[item].tool = Some(tool);
            let calls = items[item].response_of.clone();
            self.states[tool].unlinked.extend(calls);
        }
        self.link_inferences(draft, items, tool);
        for item in outputs {
            link_output(draft, items, tool, item);
        }
        observe(draft, tool);
        Ok(())
    }

    /// Applies what the invocation of a tool call says about a terminal or a code cell.
    fn follow_invocation(&self, draft: &mut Draft, cells: &Cells, terminals: &mut Terminals, tool: ToolIdx) -> Step {
        let Some(invocation) = &self.states[tool].invocation else { return Ok(()) };
        let call = &draft.trace.tools[tool];
        if let Some(payload) = call.invocation_payload_id
            && call.kind == ToolKind::WriteStdin
            && call.operation.is_none()
        {
            terminals.begin_from_invocation(draft, tool, payload, invocation)?;
        }
        cells.link_wait(draft, tool, invocation)
    }

    /// Returns the call id that an event gives a tool call, without one that another tool call has. Reports the latter.
    fn free_call_id(&self, draft: &mut Draft, tool: Option<ToolIdx>, call_id: Option<&str>) -> Step<Option<Symbol>> {
        let Some(call_id) = call_id.map(|id| draft.intern(id)) else { return Ok(None) };
        if self.by_call.get(&call_id).is_none_or(|owner| Some(*owner) == tool) {
            return Ok(Some(call_id));
        }
        let message = format!(
            "call id {} belongs to another tool call already; this one is kept without it",
            draft.trace.text(call_id)
        );
        draft.odd(Code::ToolContradicted, message)?;
        Ok(None)
    }

    /// Replaces the invocation of the tool calls whose payload id an event gave another file.
    pub(super) fn repoint_invocations(&mut self, draft: &mut Draft, payload: &EventPayload<'_>, ingested: Ingested) {
        let Some(reference) = payload.payload_refs().first() else { return };
        let id = draft.payload_id(reference);
        let invocation = as_invocation(ingested);
        for tool in self.by_invocation.get(&id).into_iter().flatten() {
            self.states[*tool].invocation.clone_from(&invocation);
        }
    }

    fn add(&mut self, draft: &mut Draft, items: &mut Items, call: ToolCall) -> ToolIdx {
        let (id, thread, visible) = (call.id, call.thread, call.model_visible_call_id);
        let tool = draft.trace.tools.push(call);
        self.states.push(ToolState::default());
        self.by_id.insert(id, tool);
        if let Some(call_id) = visible {
            self.claim_call(draft, items, tool, Some(thread), call_id);
        }
        tool
    }

    /// Gives a tool call its call id. Items with this id in threads other than `linked` are linked when they are seen
    /// again.
    fn claim_call(
        &mut self,
        draft: &Draft,
        items: &mut Items,
        tool: ToolIdx,
        linked: Option<ThreadIdx>,
        call_id: Symbol,
    ) {
        self.by_call.insert(call_id, tool);
        let shown: Vec<ItemIdx> = items.by_call_anywhere.get(&call_id).collect();
        for item in shown {
            if Some(draft.trace.items[item].thread) != linked {
                items.mark_stale(draft, item);
            }
        }
    }

    /// Completes a tool call that other events referred to before its start. What they set is kept.
    fn declare(&mut self, draft: &mut Draft, items: &mut Items, tool: ToolIdx, start: ToolCall) -> ToolIdx {
        let known = &mut draft.trace.tools[tool];
        known.execution.started = start.execution.started;
        known.code_mode_runtime_tool_id = start.code_mode_runtime_tool_id;
        known.turn = start.turn;
        known.requester = start.requester;
        known.kind = start.kind;
        known.invocation_payload_id = start.invocation_payload_id;
        known.implied = false;
        if known.operation.is_none() {
            known.summary = start.summary;
        }
        for item in start.call_items {
            push_unique(&mut known.call_items, item);
        }
        if known.model_visible_call_id.is_none()
            && let Some(call_id) = start.model_visible_call_id
        {
            known.model_visible_call_id = Some(call_id);
            self.claim_call(draft, items, tool, None, call_id);
        }
        tool
    }

    /// Links a sighted item with the tool call of its call id, which may belong to another thread.
    pub(super) fn link_item(&mut self, draft: &mut Draft, items: &mut Items, item: ItemIdx, call_id: Symbol) {
        let Some(tool) = self.by_call.get(&call_id).copied() else { return };
        let kind = draft.trace.items[item].kind;
        if kind.is_call() {
            if items[item].tool.is_none() {
                items[item].tool = Some(tool);
                draft.trace.tools[tool].call_items.push(item);
                let calls = items[item].response_of.clone();
                self.states[tool].unlinked.extend(calls);
            }
            self.link_inferences(draft, items, tool);
        } else if kind.is_output() {
            link_output(draft, items, tool, item);
        } else {
            return;
        }
        observe(draft, tool);
    }

    /// Adds the tool call to the inference calls whose response contains it.
    fn link_inferences(&mut self, draft: &mut Draft, items: &Items, tool: ToolIdx) {
        for inference in std::mem::take(&mut self.states[tool].unlinked) {
            // A later response may have replaced the one that contained the call.
            let calls = &draft.trace.tools[tool].call_items;
            let shows = calls.iter().any(|item| items[*item].response_of.contains(&inference));
            if shows && self.told_starts.insert((inference, tool)) {
                draft.trace.inferences[inference].tools_started.push(tool);
            }
        }
    }

    pub(super) fn stdin_target_resolved(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        terminals: &mut Terminals,
        event: &StdinTargetResolved<'_>,
    ) -> Step {
        let Some(write) = self.find(draft, items, &event.tool_call_id)? else { return Ok(()) };
        let Some(exec) = self.find(draft, items, &event.exec_tool_call_id)? else { return Ok(()) };
        terminals.redirect(draft, write, exec);
        Ok(())
    }

    pub(super) fn mcp_correlated(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        event: &McpToolCallCorrelationAssigned<'_>,
    ) -> Step {
        let Some(tool) = self.find(draft, items, &event.tool_call_id)? else { return Ok(()) };
        if draft.trace.tools[tool].mcp_call_id.is_some() {
            let message = format!("tool call {} has an MCP call id already", event.tool_call_id);
            return draft.odd(Code::ToolContradicted, message);
        }
        draft.trace.tools[tool].mcp_call_id = Some(draft.intern(&event.mcp_call_id));
        Ok(())
    }

    pub(super) fn runtime_started(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        terminals: &mut Terminals,
        edges: &mut Edges,
        event: &ToolCallRuntimeStarted<'_>,
        ingested: Ingested,
    ) -> Step {
        let Some(tool) = self.find(draft, items, &event.tool_call_id)? else { return Ok(()) };
        let payload = push_runtime_payload(draft, tool, &event.runtime_payload);
        draft.trace.tools[tool].runtime.get_or_insert(Window::running(draft.event.at));
        if let Some(kind) = &event.kind
            && !draft.is_v1()
        {
            draft.trace.tools[tool].kind = tool_kind(draft, &kind.0);
        }
        let kind = draft.trace.tools[tool].kind;
        let is_terminal = matches!(kind, ToolKind::ExecCommand | ToolKind::WriteStdin);
        if !is_terminal && !matches!(kind, ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent) {
            return Ok(());
        }
        let start = match draft.readable(payload, ingested)? {
            Ingested::RuntimeStart(start) => Some(start),
            _ => None,
        };
        match start {
            start if is_terminal => terminals.begin_from_runtime(draft, tool, payload, start),
            Some(start) => agents::tool_began(draft, edges, Source { tool, payload }, start.agent),
            None => Ok(()),
        }
    }

    pub(super) fn runtime_ended(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        terminals: &mut Terminals,
        edges: &mut Edges,
        event: &ToolCallRuntimeEnded<'_>,
        ingested: Ingested,
    ) -> Step {
        let Some(tool) = self.find(draft, items, &event.tool_call_id)? else { return Ok(()) };
        let payload = push_runtime_payload(draft, tool, &event.runtime_payload);
        let call = &mut draft.trace.tools[tool];
        let started = call.execution.started;
        call.runtime.get_or_insert(Window::running(started)).end(draft.event.at, known_status(event.status));
        let is_plain_mcp = matches!(call.kind, ToolKind::Mcp { .. }) && call.operation.is_none() && !draft.is_v1();
        if is_plain_mcp {
            return Ok(());
        }
        let mut end = as_runtime_end(draft.readable(payload, ingested)?);
        if let Some(operation) = draft.trace.tools[tool].operation {
            let status = known_status(event.status);
            terminals.end(draft, operation, status, Some(payload), end.as_deref_mut())?;
        }
        match end {
            Some(end) => {
                let invocation = self.states[tool].invocation.as_ref();
                agents::tool_ended(draft, edges, Source { tool, payload }, end.agent, invocation)
            }
            None => Ok(()),
        }
    }

    pub(super) fn ended(
        &mut self,
        draft: &mut Draft,
        items: &mut Items,
        terminals: &mut Terminals,
        edges: &mut Edges,
        event: &ToolCallEnded<'_>,
        ingested: Ingested,
    ) -> Step {
        let Some(tool) = self.find(draft, items, &event.tool_call_id)? else { return Ok(()) };
        let status = known_status(event.status);
        let payload = event.result_payload.as_ref().map(|reference| draft.payload_id(reference));
        let call = &mut draft.trace.tools[tool];
        call.execution.end(draft.event.at, status);
        call.result_payload_id = payload;
        if let Some(operation) = call.operation
            && call.runtime_payload_ids.is_empty()
        {
            let mut end = match payload {
                Some(payload) => as_runtime_end(draft.readable(payload, ingested)?),
                None => None,
            };
            terminals.end(draft, operation, status, payload, end.as_deref_mut())?;
        }
        if let Some(payload) = payload {
            edges.carry_result(draft, tool, payload);
        }
        Ok(())
    }

    /// Returns the tool call with this id. If no event declares it, reports that and adds one in its place, or returns
    /// `None` if the event names no thread.
    fn find(&mut self, draft: &mut Draft, items: &mut Items, id: &str) -> Step<Option<ToolIdx>> {
        let id = draft.intern(id);
        if let Some(tool) = self.by_id.get(&id) {
            return Ok(Some(*tool));
        }
        let message = format!("tool call {} was never started; it is added without its start", draft.trace.text(id));
        draft.odd(Code::ToolUnknown, message)?;
        if draft.event.thread.is_none() {
            return Ok(None);
        }
        let Some((thread, turn)) = draft.thread_and_turn()? else { return Ok(None) };
        // A call that the model made has the id that the model gave it.
        let visible = Some(id).filter(|call_id| {
            !self.by_call.contains_key(call_id) && items.by_call.get(&(thread, *call_id)).next().is_some()
        });
        let call = ToolCall { model_visible_call_id: visible, turn, ..implied_call(draft, id, thread) };
        let tool = self.add(draft, items, call);
        if let Some(call_id) = visible {
            let (calls, outputs) = items.of_call(draft, thread, call_id);
            for item in calls.into_iter().chain(outputs) {
                self.link_item(draft, items, item, call_id);
            }
        }
        Ok(Some(tool))
    }

    /// Records that the response of an inference call contained an item. If a tool call has the item's call id, the two
    /// are linked when the item is seen again.
    pub(super) fn shown_by(&mut self, draft: &Draft, items: &mut Items, item: ItemIdx, inference: InferenceIdx) {
        if !items[item].response_of.contains(&inference) {
            items[item].response_of.push(inference);
        }
        let is_call = draft.trace.items[item].kind.is_call();
        if let Some(tool) = items[item].tool.filter(|_| is_call) {
            self.states[tool].unlinked.push(inference);
            for call_item in &draft.trace.tools[tool].call_items {
                items.mark_stale(draft, *call_item);
            }
        }
    }
}

fn link_output(draft: &mut Draft, items: &mut Items, tool: ToolIdx, item: ItemIdx) {
    if items[item].tool.is_none() {
        items[item].tool = Some(tool);
        draft.trace.tools[tool].output_items.push(item);
    }
    let producer = Producer::Tool(tool);
    if !draft.trace.items[item].produced_by.contains(&producer) {
        draft.trace.items[item].produced_by.push(producer);
    }
}

fn push_runtime_payload(draft: &mut Draft, tool: ToolIdx, reference: &PayloadRef<'_>) -> Symbol {
    let payload = draft.payload_id(reference);
    push_unique(&mut draft.trace.tools[tool].runtime_payload_ids, payload);
    payload
}

/// Returns a tool call of which only the id and the thread are known.
fn implied_call(draft: &mut Draft, id: Symbol, thread: ThreadIdx) -> ToolCall {
    let label = draft.intern("unknown");
    ToolCall {
        id,
        mcp_call_id: None,
        model_visible_call_id: None,
        code_mode_runtime_tool_id: None,
        started_code_cell: None,
        thread,
        turn: None,
        execution: Window::running(draft.event.at),
        requester: Requester::Model,
        kind: ToolKind::Other { name: label },
        call_items: Vec::new(),
        output_items: Vec::new(),
        operation: None,
        summary: ToolSummary::Generic { label, input_preview: None, output_preview: None },
        invocation_payload_id: None,
        result_payload_id: None,
        runtime_payload_ids: Vec::new(),
        runtime: None,
        implied: true,
    }
}

/// Returns who asked for a tool call. Reports a code cell that was never started.
fn requester(draft: &mut Draft, cells: &Cells, thread: ThreadIdx, requester: &EventRequester<'_>) -> Step<Requester> {
    let EventRequester::CodeCell { runtime_cell_id } = requester else { return Ok(Requester::Model) };
    let runtime_id = draft.intern(runtime_cell_id);
    if let Some(cell) = cells.of_runtime_id(draft.trace.threads[thread].id, runtime_id) {
        return Ok(Requester::CodeCell(cell));
    }
    let message = format!("code cell {runtime_cell_id} asks for a tool, but it was never started");
    draft.odd(Code::CellUnknown, message)?;
    Ok(Requester::CodeCell(runtime_id))
}

fn tool_kind(draft: &mut Draft, kind: &EventKind<'_>) -> ToolKind {
    match kind {
        EventKind::ExecCommand => ToolKind::ExecCommand,
        EventKind::WriteStdin => ToolKind::WriteStdin,
        EventKind::ApplyPatch => ToolKind::ApplyPatch,
        EventKind::Mcp { server, tool } => ToolKind::Mcp { server: draft.intern(server), tool: draft.intern(tool) },
        EventKind::Web => ToolKind::Web,
        EventKind::ImageGeneration => ToolKind::ImageGeneration,
        EventKind::SpawnAgent => ToolKind::SpawnAgent,
        EventKind::AssignAgentTask => ToolKind::AssignAgentTask,
        EventKind::SendMessage => ToolKind::SendMessage,
        EventKind::WaitAgent => ToolKind::WaitAgent,
        EventKind::CloseAgent => ToolKind::CloseAgent,
        EventKind::Other { name } | EventKind::Unknown(name) => ToolKind::Other { name: draft.intern(name) },
    }
}

fn tool_summary(draft: &mut Draft, summary: &EventSummary<'_>) -> ToolSummary {
    match summary {
        EventSummary::Terminal { operation_id } => ToolSummary::Terminal { operation_id: draft.intern(operation_id) },
        EventSummary::Agent { target_agent_path, task_name, message_preview } => ToolSummary::Agent {
            target_agent_path: draft.intern(target_agent_path),
            task_name: task_name.as_deref().map(|name| draft.intern(name)),
            message_preview: message_preview.as_str().into(),
        },
        EventSummary::WaitAgent { target_agent_path, timeout_ms } => ToolSummary::WaitAgent {
            target_agent_path: target_agent_path.as_deref().map(|path| draft.intern(path)),
            timeout_ms: *timeout_ms,
        },
        EventSummary::Generic { label, input_preview, output_preview } => ToolSummary::Generic {
            label: draft.intern(label),
            input_preview: input_preview.as_deref().map(Into::into),
            output_preview: output_preview.as_deref().map(Into::into),
        },
        EventSummary::Unknown(tag) => {
            ToolSummary::Generic { label: draft.intern(tag), input_preview: None, output_preview: None }
        }
    }
}

fn as_invocation(ingested: Ingested) -> Option<Invocation> {
    match ingested {
        Ingested::Invocation(invocation) => Some(invocation),
        _ => None,
    }
}

fn as_runtime_end(ingested: Ingested) -> Option<Box<RuntimeEnd>> {
    match ingested {
        Ingested::RuntimeEnd(end) => Some(end),
        _ => None,
    }
}
