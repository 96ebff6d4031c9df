//! Tool calls, and their links to the items that show them.

use trace_recorder::format::event::{
    McpToolCallCorrelationAssigned, StdinTargetResolved, ToolCallEnded, ToolCallRuntimeEnded, ToolCallRuntimeStarted,
    ToolCallStarted,
};
use trace_recorder::format::{
    EventPayload, PayloadRef, Requester as EventRequester, ToolKind as EventKind, ToolSummary as EventSummary,
};

use super::agents::{self, Report};
use super::draft::{Step, as_json, known_status, push_unique};
use super::shapes::Invocation;
use super::state::{Replay, ToolState, item_id_order};
use super::terminals::observe;
use crate::diagnostic::Code;
use crate::ingest::Ingested;
use crate::model::{ItemIdx, Producer, Requester, Symbol, ThreadIdx, ToolCall, ToolIdx, ToolKind, ToolSummary, Window};

impl Replay {
    pub(super) fn tool_started(&mut self, event: &ToolCallStarted<'_>, ingested: Ingested) -> Step {
        let id = self.draft.intern(&event.tool_call_id);
        let known = self.tools_by_id.get(&id).copied();
        if known.is_some_and(|tool| !self.draft.trace.tools[tool].implied) {
            let message = format!("tool call {} starts twice; the second start is passed over", event.tool_call_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let mut visible = event.model_visible_call_id.as_deref().map(|id| self.draft.intern(id));
        if let Some(call_id) = visible
            && self.tools_by_call.get(&call_id).is_some_and(|tool| Some(*tool) != known)
        {
            let message = format!(
                "call id {} belongs to another tool call already; this one is kept without it",
                self.draft.trace.text(call_id)
            );
            self.draft.odd(Code::ToolContradicted, message)?;
            visible = None;
        }
        let Some((thread, turn)) = self.draft.thread_and_turn()? else { return Ok(()) };
        let requester = match &event.requester {
            EventRequester::Model | EventRequester::Unknown(_) => Requester::Model,
            EventRequester::CodeCell { runtime_cell_id } => {
                let runtime_id = self.draft.intern(runtime_cell_id);
                match self.cell_of_runtime_id(self.draft.trace.threads[thread].id, runtime_id) {
                    Some(cell) => Requester::CodeCell(cell),
                    None => {
                        let message = format!("code cell {runtime_cell_id} asks for a tool, but it was never started");
                        self.draft.odd(Code::CellUnknown, message)?;
                        Requester::CodeCell(runtime_id)
                    }
                }
            }
        };
        let (calls, outputs) = match visible {
            Some(call_id) => self.items_of_call(thread, call_id),
            None => (Vec::new(), Vec::new()),
        };
        let payload = event.invocation_payload.as_ref().map(|reference| self.draft.intern(&reference.raw_payload_id));
        let invocation = match (payload, ingested) {
            (None, _) => None,
            (Some(payload), Ingested::Failed(failure)) => {
                self.draft.bad_payload(payload, &failure.problem)?;
                None
            }
            (Some(_), other) => as_json(other).map(|value| Invocation::read(&value, self.draft.is_v1())),
        };
        let code_mode_runtime_tool_id = event.code_mode_runtime_tool_id.as_deref().map(|id| self.draft.intern(id));
        let kind = self.kind(&event.kind);
        let summary = self.summary(&event.summary);
        let call = ToolCall {
            id,
            mcp_call_id: None,
            model_visible_call_id: visible,
            code_mode_runtime_tool_id,
            started_code_cell: None,
            thread,
            turn,
            execution: Window::running(self.draft.event.at),
            requester,
            kind,
            call_items: calls.clone(),
            output_items: Vec::new(),
            operation: None,
            summary,
            invocation_payload_id: payload,
            result_payload_id: None,
            runtime_payload_ids: Vec::new(),
            runtime: None,
            implied: false,
        };
        let tool = match known {
            None => self.add_tool(call),
            Some(known) => self.declare_tool(known, call),
        };
        if let Some(payload) = payload {
            self.tools_by_invocation.entry(payload).or_default().push(tool);
        }
        self.tools[tool].invocation = invocation;
        if let Some(payload) = payload
            && kind == ToolKind::WriteStdin
            && self.draft.trace.tools[tool].operation.is_none()
            && let Some(invocation) = &self.tools[tool].invocation
        {
            self.terminals.begin_from_invocation(&mut self.draft, tool, payload, invocation)?;
        }
        self.link_wait(tool)?;
        if let Requester::CodeCell(cell) = requester {
            self.tools_by_cell.entry(cell).or_default().push(tool);
            if let Some(cell) = self.cells_by_id.get(&cell) {
                self.draft.trace.cells[*cell].nested_tools.push(tool);
            }
        }
        for item in calls {
            self.items[item].tool = Some(tool);
            let calls = self.items[item].response_of.clone();
            self.tools[tool].unlinked.extend(calls);
        }
        self.link_inferences(tool);
        for item in outputs {
            self.link_output(tool, item);
        }
        observe(&mut self.draft, tool);
        Ok(())
    }

    /// Replaces the invocation of the tool calls whose payload id an event gave another file.
    pub(super) fn repoint_invocations(&mut self, payload: &EventPayload<'_>, ingested: Ingested) {
        let Some(reference) = payload.payload_refs().first() else { return };
        let id = self.draft.intern(&reference.raw_payload_id);
        let invocation = as_json(ingested).map(|value| Invocation::read(&value, self.draft.is_v1()));
        for tool in self.tools_by_invocation.get(&id).into_iter().flatten() {
            self.tools[*tool].invocation.clone_from(&invocation);
        }
    }

    pub(super) fn add_tool(&mut self, call: ToolCall) -> ToolIdx {
        let (id, thread, visible) = (call.id, call.thread, call.model_visible_call_id);
        let tool = self.draft.trace.tools.push(call);
        self.tools.push(ToolState::default());
        self.tools_by_id.insert(id, tool);
        if let Some(call_id) = visible {
            self.claim_call(tool, Some(thread), call_id);
        }
        tool
    }

    /// Gives a tool call its call id. Items with this id in threads other than `linked` are linked when they are seen
    /// again.
    fn claim_call(&mut self, tool: ToolIdx, linked: Option<ThreadIdx>, call_id: Symbol) {
        self.tools_by_call.insert(call_id, tool);
        let items: Vec<ItemIdx> = self.items_by_call_anywhere.get(&call_id).collect();
        for item in items {
            if Some(self.draft.trace.items[item].thread) != linked {
                self.mark_stale(item);
            }
        }
    }

    /// Completes a tool call that other events referred to before its start. What they set is kept.
    fn declare_tool(&mut self, tool: ToolIdx, start: ToolCall) -> ToolIdx {
        let known = &mut self.draft.trace.tools[tool];
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
            self.claim_call(tool, None, call_id);
        }
        tool
    }

    /// Returns the call items and the output items of a thread with this call id.
    fn items_of_call(&self, thread: ThreadIdx, call_id: Symbol) -> (Vec<ItemIdx>, Vec<ItemIdx>) {
        let mut items: Vec<ItemIdx> = self.items_by_call.get(&(thread, call_id)).collect();
        if self.draft.is_v1() {
            items.sort_by_key(|item| item_id_order(*item));
        }
        let of = |filter: fn(crate::model::ItemKind) -> bool| {
            items.iter().copied().filter(|item| filter(self.draft.trace.items[*item].kind)).collect()
        };
        (of(crate::model::ItemKind::is_call), of(crate::model::ItemKind::is_output))
    }

    /// Links a sighted item with the tool call of its call id, which may belong to another thread.
    pub(super) fn link_tool_item(&mut self, item: ItemIdx, call_id: Symbol) {
        let Some(tool) = self.tools_by_call.get(&call_id).copied() else { return };
        let kind = self.draft.trace.items[item].kind;
        if kind.is_call() {
            if self.items[item].tool.is_none() {
                self.items[item].tool = Some(tool);
                self.draft.trace.tools[tool].call_items.push(item);
                let calls = self.items[item].response_of.clone();
                self.tools[tool].unlinked.extend(calls);
            }
            self.link_inferences(tool);
        } else if kind.is_output() {
            self.link_output(tool, item);
        } else {
            return;
        }
        observe(&mut self.draft, tool);
    }

    fn link_output(&mut self, tool: ToolIdx, item: ItemIdx) {
        if self.items[item].tool.is_none() {
            self.items[item].tool = Some(tool);
            self.draft.trace.tools[tool].output_items.push(item);
        }
        let producer = Producer::Tool(tool);
        if !self.draft.trace.items[item].produced_by.contains(&producer) {
            self.draft.trace.items[item].produced_by.push(producer);
        }
    }

    /// Adds the tool call to the inference calls whose response contains it.
    fn link_inferences(&mut self, tool: ToolIdx) {
        for inference in std::mem::take(&mut self.tools[tool].unlinked) {
            // A later response may have replaced the one that contained the call.
            let calls = &self.draft.trace.tools[tool].call_items;
            let shows = calls.iter().any(|item| self.items[*item].response_of.contains(&inference));
            if shows && self.told_starts.insert((inference, tool)) {
                self.draft.trace.inferences[inference].tools_started.push(tool);
            }
        }
    }

    pub(super) fn stdin_target_resolved(&mut self, event: &StdinTargetResolved<'_>) -> Step {
        let Some(write) = self.known_tool(&event.tool_call_id)? else { return Ok(()) };
        let Some(exec) = self.known_tool(&event.exec_tool_call_id)? else { return Ok(()) };
        self.terminals.redirect(&mut self.draft, write, exec);
        Ok(())
    }

    pub(super) fn mcp_correlated(&mut self, event: &McpToolCallCorrelationAssigned<'_>) -> Step {
        let Some(tool) = self.known_tool(&event.tool_call_id)? else { return Ok(()) };
        if self.draft.trace.tools[tool].mcp_call_id.is_some() {
            let message = format!("tool call {} has an MCP call id already", event.tool_call_id);
            return self.draft.odd(Code::ToolContradicted, message);
        }
        self.draft.trace.tools[tool].mcp_call_id = Some(self.draft.intern(&event.mcp_call_id));
        Ok(())
    }

    pub(super) fn tool_runtime_started(&mut self, event: &ToolCallRuntimeStarted<'_>, ingested: Ingested) -> Step {
        let Some(tool) = self.known_tool(&event.tool_call_id)? else { return Ok(()) };
        let payload = self.push_runtime_payload(tool, &event.runtime_payload);
        self.draft.trace.tools[tool].runtime.get_or_insert(Window::running(self.draft.event.at));
        if let Some(kind) = &event.kind
            && !self.draft.is_v1()
        {
            self.draft.trace.tools[tool].kind = self.kind(&kind.0);
        }
        match self.draft.trace.tools[tool].kind {
            ToolKind::ExecCommand | ToolKind::WriteStdin => {
                let value = self.draft.payload_value(payload, ingested)?;
                self.terminals.begin_from_runtime(&mut self.draft, tool, payload, value)
            }
            ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent => {
                match self.draft.payload_value(payload, ingested)? {
                    Some(value) => {
                        agents::tool_began(&mut self.draft, &mut self.edges, Report { tool, payload, value: &value })
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    pub(super) fn tool_runtime_ended(&mut self, event: &ToolCallRuntimeEnded<'_>, ingested: Ingested) -> Step {
        let Some(tool) = self.known_tool(&event.tool_call_id)? else { return Ok(()) };
        let payload = self.push_runtime_payload(tool, &event.runtime_payload);
        let call = &mut self.draft.trace.tools[tool];
        let started = call.execution.started;
        call.runtime.get_or_insert(Window::running(started)).end(self.draft.event.at, known_status(event.status));
        let is_plain_mcp = matches!(call.kind, ToolKind::Mcp { .. }) && call.operation.is_none() && !self.draft.is_v1();
        if is_plain_mcp {
            return Ok(());
        }
        let mut value = self.draft.payload_value(payload, ingested)?;
        if let Some(operation) = self.draft.trace.tools[tool].operation {
            let status = known_status(event.status);
            self.terminals.end(&mut self.draft, operation, status, Some(payload), value.as_mut())?;
        }
        match value {
            Some(value) => {
                let report = Report { tool, payload, value: &value };
                agents::tool_ended(&mut self.draft, &mut self.edges, report, self.tools[tool].invocation.as_ref())
            }
            None => Ok(()),
        }
    }

    pub(super) fn tool_ended(&mut self, event: &ToolCallEnded<'_>, ingested: Ingested) -> Step {
        let Some(tool) = self.known_tool(&event.tool_call_id)? else { return Ok(()) };
        let status = known_status(event.status);
        let payload = event.result_payload.as_ref().map(|reference| self.draft.intern(&reference.raw_payload_id));
        let call = &mut self.draft.trace.tools[tool];
        call.execution.end(self.draft.event.at, status);
        call.result_payload_id = payload;
        if let Some(operation) = call.operation
            && call.runtime_payload_ids.is_empty()
        {
            let mut value = match payload {
                Some(payload) => self.draft.payload_value(payload, ingested)?,
                None => None,
            };
            self.terminals.end(&mut self.draft, operation, status, payload, value.as_mut())?;
        }
        if let Some(payload) = payload {
            self.edges.carry_result(&mut self.draft, tool, payload);
        }
        Ok(())
    }

    fn push_runtime_payload(&mut self, tool: ToolIdx, reference: &PayloadRef<'_>) -> Symbol {
        let payload = self.draft.intern(&reference.raw_payload_id);
        push_unique(&mut self.draft.trace.tools[tool].runtime_payload_ids, payload);
        payload
    }

    /// Returns the tool call with this id. If no event declares it, reports that and adds one in its place, or returns
    /// `None` if the event names no thread.
    pub(super) fn known_tool(&mut self, id: &str) -> Step<Option<ToolIdx>> {
        let id = self.draft.intern(id);
        if let Some(tool) = self.tools_by_id.get(&id) {
            return Ok(Some(*tool));
        }
        let message =
            format!("tool call {} was never started; it is added without its start", self.draft.trace.text(id));
        self.draft.odd(Code::ToolUnknown, message)?;
        if self.draft.event.thread.is_none() {
            return Ok(None);
        }
        let Some((thread, turn)) = self.draft.thread_and_turn()? else { return Ok(None) };
        // A call that the model made has the id that the model gave it.
        let visible = Some(id).filter(|call_id| {
            !self.tools_by_call.contains_key(call_id) && self.items_by_call.get(&(thread, *call_id)).next().is_some()
        });
        let label = self.draft.intern("unknown");
        let tool = self.add_tool(ToolCall {
            id,
            mcp_call_id: None,
            model_visible_call_id: visible,
            code_mode_runtime_tool_id: None,
            started_code_cell: None,
            thread,
            turn,
            execution: Window::running(self.draft.event.at),
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
        });
        if let Some(call_id) = visible {
            let (calls, outputs) = self.items_of_call(thread, call_id);
            for item in calls.into_iter().chain(outputs) {
                self.link_tool_item(item, call_id);
            }
        }
        Ok(Some(tool))
    }

    fn kind(&mut self, kind: &EventKind<'_>) -> ToolKind {
        match kind {
            EventKind::ExecCommand => ToolKind::ExecCommand,
            EventKind::WriteStdin => ToolKind::WriteStdin,
            EventKind::ApplyPatch => ToolKind::ApplyPatch,
            EventKind::Mcp { server, tool } => {
                ToolKind::Mcp { server: self.draft.intern(server), tool: self.draft.intern(tool) }
            }
            EventKind::Web => ToolKind::Web,
            EventKind::ImageGeneration => ToolKind::ImageGeneration,
            EventKind::SpawnAgent => ToolKind::SpawnAgent,
            EventKind::AssignAgentTask => ToolKind::AssignAgentTask,
            EventKind::SendMessage => ToolKind::SendMessage,
            EventKind::WaitAgent => ToolKind::WaitAgent,
            EventKind::CloseAgent => ToolKind::CloseAgent,
            EventKind::Other { name } | EventKind::Unknown(name) => ToolKind::Other { name: self.draft.intern(name) },
        }
    }

    fn summary(&mut self, summary: &EventSummary<'_>) -> ToolSummary {
        match summary {
            EventSummary::Terminal { operation_id } => {
                ToolSummary::Terminal { operation_id: self.draft.intern(operation_id) }
            }
            EventSummary::Agent { target_agent_path, task_name, message_preview } => ToolSummary::Agent {
                target_agent_path: self.draft.intern(target_agent_path),
                task_name: task_name.as_deref().map(|name| self.draft.intern(name)),
                message_preview: message_preview.as_str().into(),
            },
            EventSummary::WaitAgent { target_agent_path, timeout_ms } => ToolSummary::WaitAgent {
                target_agent_path: target_agent_path.as_deref().map(|path| self.draft.intern(path)),
                timeout_ms: *timeout_ms,
            },
            EventSummary::Generic { label, input_preview, output_preview } => ToolSummary::Generic {
                label: self.draft.intern(label),
                input_preview: input_preview.as_deref().map(Into::into),
                output_preview: output_preview.as_deref().map(Into::into),
            },
            EventSummary::Unknown(tag) => {
                ToolSummary::Generic { label: self.draft.intern(tag), input_preview: None, output_preview: None }
            }
        }
    }
}
