//! Edges between agents: spawns, tasks, messages, results, closes.
//!
//! The event of a tool that *sends* a message and the item that shows its *arrival* come in any order. A delivery that
//! no item shows yet is pending; the first matching item receives it.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde_json::Value;
use trace_recorder::format::event::{AgentResultObserved, ProtocolEventObserved};

use super::conversation::text_key;
use super::draft::{Step, as_json, push_unique};
use super::shapes::{Activity, ActivityKind, Collaboration};
use super::state::{Delivery, Replay, item_id_order};
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::Ingested;
use crate::model::{
    AgentResult, Anchor, EdgeIdx, EdgeKind, InteractionEdge, ItemIdx, Origin, ProtocolEvent, Symbol, ThreadIdx,
    ToolIdx, ToolKind, Undelivered,
};

impl Replay {
    /// Handles the report of an agent tool's runtime when it ends.
    pub(super) fn agent_tool_ended(&mut self, tool: ToolIdx, payload: Symbol, value: &Value) -> Step {
        let kind = self.draft.trace.tools[tool].kind;
        if value.get("agent_thread_id").is_some() && (self.draft.is_v1() || !matches!(kind, ToolKind::Mcp { .. })) {
            return self.activity(tool, payload, value);
        }
        match kind {
            ToolKind::SpawnAgent => {
                let Some(end) = Collaboration::read_spawn_end(value) else {
                    return self.draft.bad_payload(payload, &Self::shape("not the end of a spawn"));
                };
                let (Some(child), Some(prompt)) = (end.receiver_thread_id, end.prompt) else { return Ok(()) };
                let (parent, child) = (self.draft.intern(&end.sender_thread_id), self.draft.intern(&child));
                let edge_id = self.draft.spawn_edge_id(parent, child);
                self.send(tool, EdgeKind::SpawnAgent, edge_id, child, prompt, true, Some(child))
            }
            ToolKind::AssignAgentTask | ToolKind::SendMessage => {
                let end = Collaboration::read_end(value, true);
                self.collaborate(tool, payload, end, true)
            }
            ToolKind::CloseAgent => {
                let end = Collaboration::read_end(value, false);
                self.collaborate(tool, payload, end, true)
            }
            _ => Ok(()),
        }
    }

    /// Handles the report of an agent tool's runtime when it begins. Only older releases write one.
    pub(super) fn collaboration_began(&mut self, tool: ToolIdx, payload: Symbol, value: &Value) -> Step {
        let with_prompt = self.draft.trace.tools[tool].kind != ToolKind::CloseAgent;
        let begin = Collaboration::read_begin(value, with_prompt);
        self.collaborate(tool, payload, begin, false)
    }

    fn collaborate(&mut self, tool: ToolIdx, payload: Symbol, report: Option<Collaboration>, is_end: bool) -> Step {
        let Some((report, receiver)) = report.and_then(|report| {
            let receiver = report.receiver_thread_id.clone()?;
            Some((report, receiver))
        }) else {
            return self.draft.bad_payload(payload, &Self::shape("not a report about another agent"));
        };
        let receiver = self.draft.intern(&receiver);
        let edge_id = self.tool_edge_id(tool);
        match report.prompt {
            Some(prompt) => {
                let kind = self.message_kind(tool);
                self.send(tool, kind, edge_id, receiver, prompt, is_end, None)
            }
            None => self.close(tool, receiver, is_end),
        }
    }

    fn activity(&mut self, tool: ToolIdx, payload: Symbol, value: &Value) -> Step {
        let Some(activity) = Activity::read(value) else {
            return self.draft.bad_payload(payload, &Self::shape("not a report about another agent"));
        };
        let agent = self.draft.intern(&activity.agent_thread_id);
        let path = self.draft.intern(&activity.agent_path);
        self.learn_path(agent, path)?;
        let kind = self.draft.trace.tools[tool].kind;
        match (kind, activity.kind) {
            (_, ActivityKind::Completed) => Ok(()),
            (ToolKind::CloseAgent, ActivityKind::Interrupted) => self.close(tool, agent, true),
            (ToolKind::SpawnAgent, ActivityKind::Started) => {
                let parent = self.draft.trace.threads[self.draft.trace.tools[tool].thread].id;
                let edge_id = self.draft.spawn_edge_id(parent, agent);
                match self.message_of(tool)? {
                    Some(text) => self.send(tool, EdgeKind::SpawnAgent, edge_id, agent, text, true, Some(agent)),
                    None => Ok(()),
                }
            }
            (ToolKind::AssignAgentTask | ToolKind::SendMessage, ActivityKind::Interacted) => {
                let edge_id = self.tool_edge_id(tool);
                let kind = self.message_kind(tool);
                match self.message_of(tool)? {
                    Some(text) => self.send(tool, kind, edge_id, agent, text, true, None),
                    None => Ok(()),
                }
            }
            _ => {
                let message = format!("a tool call of kind {} does not do this to an agent", kind.as_str());
                self.draft.odd(Code::ToolContradicted, message)
            }
        }
    }

    /// Records the path of an agent whose thread no event declares.
    fn learn_path(&mut self, thread_id: Symbol, path: Symbol) -> Step {
        self.draft.agent_paths.entry(thread_id).or_insert(path);
        if let Some(index) = self.draft.threads_by_id.get(&thread_id).copied()
            && self.draft.trace.threads[index].implied
            && self.draft.trace.text(self.draft.trace.threads[index].agent_path).starts_with("/unknown/")
        {
            let by_path = self.draft.origin_of_path(thread_id, path);
            let name = self.draft.trace.text(path).rsplit('/').next().unwrap_or_default().to_owned();
            let name = self.draft.intern(&name);
            let thread = &mut self.draft.trace.threads[index];
            thread.agent_path = path;
            match &mut thread.origin {
                Origin::Root => thread.origin = by_path,
                // The parent is already known. Only the task name is missing, which is the last segment of the path.
                Origin::Spawned { task_name, .. } => *task_name = name,
            }
            self.readdress(index)?;
        }
        Ok(())
    }

    /// Delivers pending messages to a thread whose path became known.
    pub(super) fn readdress(&mut self, thread: ThreadIdx) -> Step {
        for item in self.draft.trace.threads[thread].items.clone() {
            self.index_delivery(item);
            self.deliver_to(item)?;
        }
        Ok(())
    }

    /// Records an event of the client protocol. The configuration of a resumed session also tells the parent and the
    /// model of a thread that no event declares.
    pub(super) fn protocol_event(&mut self, event: &ProtocolEventObserved<'_>, ingested: Ingested) -> Step {
        let payload = self.draft.intern(&event.event_payload.raw_payload_id);
        if let Some(payload) = self.draft.payloads_by_id.get(&payload).copied() {
            let event_type = self.draft.intern(&event.event_type);
            self.draft.trace.protocol_events.push(ProtocolEvent { at: self.draft.event.at, event_type, payload });
        }
        let Some(value) = as_json(ingested).filter(|_| event.event_type == "session_configured") else { return Ok(()) };
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let Some(thread) = text("thread_id")
            .and_then(|id| self.draft.trace.symbols.get(id))
            .and_then(|id| self.draft.threads_by_id.get(&id).copied())
            .filter(|thread| self.draft.trace.threads[*thread].implied)
        else {
            return Ok(());
        };
        let id = self.draft.trace.threads[thread].id;
        if let Some(parent) = text("parent_thread_id") {
            let parent_thread_id = self.draft.intern(parent);
            let path = self.draft.trace.text(self.draft.trace.threads[thread].agent_path);
            let task_name = path.rsplit('/').next().unwrap_or_default().to_owned();
            let origin = Origin::Spawned {
                parent_thread_id,
                spawn_edge_id: self.draft.spawn_edge_id(parent_thread_id, id),
                task_name: self.draft.intern(&task_name),
                agent_role: self.draft.intern(""),
            };
            self.draft.trace.threads[thread].origin = origin;
        }
        if let Some(model) = text("model") {
            self.draft.trace.threads[thread].default_model = Some(self.draft.intern(model));
        }
        Ok(())
    }

    fn tool_edge_id(&mut self, tool: ToolIdx) -> Symbol {
        let id = format!("edge:tool:{}", self.draft.trace.text(self.draft.trace.tools[tool].id));
        self.draft.intern(&id)
    }

    fn message_kind(&self, tool: ToolIdx) -> EdgeKind {
        match self.draft.trace.tools[tool].kind {
            ToolKind::AssignAgentTask => EdgeKind::AssignAgentTask,
            _ => EdgeKind::SendMessage,
        }
    }

    /// Returns the message in the arguments of a tool call. Reports a call without a message.
    fn message_of(&mut self, tool: ToolIdx) -> Step<Option<String>> {
        let message = self.tools[tool].invocation.as_ref().and_then(|invocation| invocation.message());
        if message.is_none() {
            let text = "the tool call addresses an agent, but its invocation has no message";
            self.draft.odd(Code::ToolContradicted, text)?;
        }
        Ok(message)
    }

    /// Returns the ids of the known payloads of a tool call: invocation, runtime and result.
    fn carried(&self, tool: ToolIdx) -> Vec<Symbol> {
        let call = &self.draft.trace.tools[tool];
        let runtime = call.runtime_payload_ids.iter().copied();
        let invocation = call.invocation_payload_id;
        let mut carried: Vec<Symbol> =
            invocation.into_iter().chain(runtime.filter(|payload| Some(*payload) != invocation)).collect();
        if let Some(result) = call.result_payload_id {
            push_unique(&mut carried, result);
        }
        carried
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one message")]
    fn send(
        &mut self,
        tool: ToolIdx,
        kind: EdgeKind,
        edge_id: Symbol,
        target_thread: Symbol,
        text: String,
        is_end: bool,
        fallback: Option<Symbol>,
    ) -> Step {
        let call = &self.draft.trace.tools[tool];
        let delivery = Delivery {
            edge_id,
            kind,
            source: Anchor::Tool(tool),
            target_thread,
            author: self.draft.trace.threads[call.thread].agent_path,
            text: text.into(),
            started_at_unix_ms: call.execution.started.unix_ms,
            ended_at_unix_ms: is_end.then_some(self.draft.event.at.unix_ms),
            carried: self.carried(tool),
            fallback,
            seq: self.draft.event.at.seq,
        };
        self.deliver(delivery)
    }

    fn close(&mut self, tool: ToolIdx, target: Symbol, is_end: bool) -> Step {
        let Some(target) = self.draft.threads_by_id.get(&target).copied() else { return Ok(()) };
        let edge = InteractionEdge {
            id: self.tool_edge_id(tool),
            kind: EdgeKind::CloseAgent,
            source: Anchor::Tool(tool),
            target: Anchor::Thread(target),
            started_at_unix_ms: self.draft.trace.tools[tool].execution.started.unix_ms,
            ended_at_unix_ms: is_end.then_some(self.draft.event.at.unix_ms),
            seq: self.draft.event.at.seq,
            carried_items: Vec::new(),
            carried_payload_ids: self.carried(tool),
        };
        self.upsert(edge)
    }

    pub(super) fn agent_result_observed(&mut self, event: &AgentResultObserved<'_>) -> Step {
        let child_id = self.draft.intern(&event.child_thread_id);
        let child = self.draft.thread(child_id)?;
        let turn = self.draft.intern(&event.child_codex_turn_id);
        let source = match self.last_answer(child, turn) {
            Some(item) => Anchor::Item(item),
            None => Anchor::Thread(child),
        };
        let payload = event.carried_payload.as_ref().map(|reference| self.draft.intern(&reference.raw_payload_id));
        let result = AgentResult {
            at: self.draft.event.at,
            edge_id: self.draft.intern(&event.edge_id),
            child,
            child_turn_id: turn,
            parent_thread_id: self.draft.intern(&event.parent_thread_id),
            message: event.message.as_str().into(),
            payload_id: payload,
        };
        self.draft.trace.agent_results.push(result);
        let delivery = Delivery {
            edge_id: self.draft.intern(&event.edge_id),
            kind: EdgeKind::AgentResult,
            source,
            target_thread: self.draft.intern(&event.parent_thread_id),
            author: self.draft.trace.threads[child].agent_path,
            text: event.message.as_str().into(),
            started_at_unix_ms: self.draft.event.at.unix_ms,
            ended_at_unix_ms: Some(self.draft.event.at.unix_ms),
            carried: payload.into_iter().collect(),
            fallback: None,
            seq: self.draft.event.at.seq,
        };
        self.deliver(delivery)
    }

    /// Returns the assistant message of a turn that was first seen last. Of several at the same time, it is the one
    /// whose id is the last as text.
    fn last_answer(&self, thread: ThreadIdx, turn: Symbol) -> Option<ItemIdx> {
        let answers = self.answers_by_turn.get(&(thread, Some(turn)))?;
        let latest = answers.iter().map(|item| self.draft.trace.items[*item].first_seen.unix_ms).max()?;
        answers
            .iter()
            .copied()
            .filter(|item| self.draft.trace.items[*item].first_seen.unix_ms == latest)
            .max_by_key(|item| item_id_order(*item))
    }

    fn deliver(&mut self, delivery: Delivery) -> Step {
        if let Some(thread) = self.draft.threads_by_id.get(&delivery.target_thread).copied()
            && let Some(item) = self.find_arrival(thread, &delivery)
        {
            return self.arrive(delivery, item);
        }
        if let Some(known) = self.pending_by_edge.get(&delivery.edge_id).copied()
            && let Some(pending) = &mut self.pending[known]
        {
            let same = (pending.kind, pending.source, pending.target_thread, pending.author, pending.fallback)
                == (delivery.kind, delivery.source, delivery.target_thread, delivery.author, delivery.fallback)
                && pending.text == delivery.text;
            if same {
                pending.started_at_unix_ms = pending.started_at_unix_ms.min(delivery.started_at_unix_ms);
                pending.ended_at_unix_ms = pending.ended_at_unix_ms.max(delivery.ended_at_unix_ms);
                unite(&mut pending.carried, delivery.carried);
                return Ok(());
            }
            let message =
                format!("two events disagree about the hand-over {}", self.draft.trace.text(delivery.edge_id));
            return self.draft.odd(Code::EdgeContradicted, message);
        }
        let index = self.pending.len();
        let key = (delivery.target_thread, delivery.author, text_key(&delivery.text));
        self.pending_by_edge.insert(delivery.edge_id, index);
        self.pending_by_text.entry(key).or_default().push(index);
        if let Anchor::Tool(tool) = delivery.source {
            self.pending_by_tool.entry(tool).or_default().push(index);
        }
        self.pending.push(Some(delivery));
        self.pending_count += 1;
        Ok(())
    }

    /// Finds the first item of a thread that shows a delivery and is not the target of another edge.
    fn find_arrival(&mut self, thread: ThreadIdx, delivery: &Delivery) -> Option<ItemIdx> {
        let key = (thread, delivery.author, text_key(&delivery.text));
        let found: Vec<ItemIdx> =
            self.items_by_delivery.get(&key).filter(|item| !self.items[*item].is_edge_target).collect();
        found.into_iter().find(|item| self.shows(*item, thread, delivery.author, &delivery.text))
    }

    fn shows(&mut self, item: ItemIdx, thread: ThreadIdx, author: Symbol, text: &str) -> bool {
        self.delivery_of(item).is_some_and(|(from, to, seen)| {
            from == author && to == self.draft.trace.threads[thread].agent_path && *seen == *text
        })
    }

    /// Delivers the pending deliveries that an item shows, until an edge ends at the item.
    pub(super) fn deliver_to(&mut self, item: ItemIdx) -> Step {
        if self.pending_count == 0 || self.items[item].is_edge_target {
            return Ok(());
        }
        let thread = self.draft.trace.items[item].thread;
        let Some((author, recipient, text)) = self.delivery_of(item) else { return Ok(()) };
        let target = &self.draft.trace.threads[thread];
        if recipient != target.agent_path {
            return Ok(());
        }
        let key = (target.id, author, text_key(&text));
        // If a delivery contradicts its edge, no edge ends at the item, and the next delivery is tried.
        while !self.items[item].is_edge_target {
            let found = self.pending_by_text.get(&key).and_then(|candidates| {
                candidates
                    .iter()
                    .copied()
                    .find(|index| self.pending[*index].as_ref().is_some_and(|pending| pending.text == text))
            });
            let Some(delivery) = found.and_then(|index| self.take_pending(index)) else { break };
            self.arrive(delivery, item)?;
        }
        Ok(())
    }

    fn take_pending(&mut self, index: usize) -> Option<Delivery> {
        let delivery = self.pending[index].take()?;
        self.pending_count -= 1;
        self.pending_by_edge.remove(&delivery.edge_id);
        let key = (delivery.target_thread, delivery.author, text_key(&delivery.text));
        if let Some(indices) = self.pending_by_text.get_mut(&key) {
            indices.retain(|known| *known != index);
        }
        if let Anchor::Tool(tool) = delivery.source
            && let Some(indices) = self.pending_by_tool.get_mut(&tool)
        {
            indices.retain(|known| *known != index);
        }
        Some(delivery)
    }

    fn arrive(&mut self, delivery: Delivery, item: ItemIdx) -> Step {
        let edge = InteractionEdge {
            id: delivery.edge_id,
            kind: delivery.kind,
            source: delivery.source,
            target: Anchor::Item(item),
            started_at_unix_ms: delivery.started_at_unix_ms,
            ended_at_unix_ms: delivery.ended_at_unix_ms,
            seq: delivery.seq,
            carried_items: vec![item],
            carried_payload_ids: delivery.carried,
        };
        self.upsert(edge)
    }

    /// Adds an edge, or merges it into the edge with the same id.
    fn upsert(&mut self, edge: InteractionEdge) -> Step {
        if let Some(known) = self.edges_by_id.get(&edge.id).copied() {
            let known = &mut self.draft.trace.edges[known];
            if (known.kind, known.source, known.target) != (edge.kind, edge.source, edge.target) {
                let message = format!("two events disagree about the ends of {}", self.draft.trace.text(edge.id));
                return self.draft.report(Diagnostic::new(Code::EdgeContradicted, message).at_seq(edge.seq));
            }
            known.started_at_unix_ms = known.started_at_unix_ms.min(edge.started_at_unix_ms);
            known.ended_at_unix_ms = known.ended_at_unix_ms.max(edge.ended_at_unix_ms);
            for item in edge.carried_items {
                push_unique(&mut known.carried_items, item);
            }
            unite(&mut known.carried_payload_ids, edge.carried_payload_ids);
            return Ok(());
        }
        let (id, source, target) = (edge.id, edge.source, edge.target);
        let index = self.draft.trace.edges.push(edge);
        self.edges_by_id.insert(id, index);
        if let Anchor::Tool(tool) = source {
            self.tools[tool].edges.push(index);
        }
        if let Anchor::Item(item) = target {
            self.items[item].is_edge_target = true;
            // The item receives no other delivery, so remove it from the index.
            if let Some(key) = self.items[item].delivery_key.take() {
                self.items_by_delivery.remove(&key, item);
            }
        }
        Ok(())
    }

    /// Adds the result of a tool call to the payloads of the call's edge.
    pub(super) fn carry_result(&mut self, tool: ToolIdx, payload: Symbol) {
        let edges = &self.tools[tool].edges;
        let first: Option<EdgeIdx> =
            edges.iter().copied().min_by_key(|edge| self.draft.trace.text(self.draft.trace.edges[*edge].id));
        if let Some(edge) = first {
            push_unique(&mut self.draft.trace.edges[edge].carried_payload_ids, payload);
            return;
        }
        let first = self.pending_by_tool.get(&tool).and_then(|indices| indices.first().copied());
        if let Some(pending) = first.and_then(|index| self.pending[index].as_mut()) {
            push_unique(&mut pending.carried, payload);
        }
    }

    /// Ends each spawn that no item shows at the thread that it started.
    pub(super) fn settle_pending(&mut self) -> Step {
        for index in 0..self.pending.len() {
            let target = self.pending[index]
                .as_ref()
                .and_then(|delivery| delivery.fallback)
                .and_then(|thread| self.draft.threads_by_id.get(&thread).copied());
            let Some(thread) = target else { continue };
            let Some(delivery) = self.take_pending(index) else { continue };
            let edge = InteractionEdge {
                id: delivery.edge_id,
                kind: delivery.kind,
                source: delivery.source,
                target: Anchor::Thread(thread),
                started_at_unix_ms: delivery.started_at_unix_ms,
                ended_at_unix_ms: delivery.ended_at_unix_ms,
                seq: delivery.seq,
                carried_items: Vec::new(),
                carried_payload_ids: delivery.carried,
            };
            self.upsert(edge)?;
        }
        Ok(())
    }

    /// Reports the deliveries that the log does not show to have arrived.
    pub(super) fn remark_undelivered(&mut self) {
        // A tool reports the same delivery at its begin and at its end. If the first one was received, its edge exists.
        let lost: Vec<Delivery> = std::mem::take(&mut self.pending)
            .into_iter()
            .flatten()
            .filter(|delivery| !self.edges_by_id.contains_key(&delivery.edge_id))
            .collect();
        for delivery in lost {
            let target = match self.draft.threads_by_id.get(&delivery.target_thread) {
                Some(thread) => self.draft.trace.text(self.draft.trace.threads[*thread].agent_path),
                None => self.draft.trace.text(delivery.target_thread),
            };
            let author = self.draft.trace.text(delivery.author);
            let message = format!("{} from {author} to {target} never arrived", delivery.kind.as_str());
            self.draft.remark(Diagnostic::new(Code::MessageUndelivered, message).at_seq(delivery.seq));
            self.draft.trace.undelivered.push(Undelivered {
                edge_id: delivery.edge_id,
                kind: delivery.kind,
                source: delivery.source,
                target_thread_id: delivery.target_thread,
                author: delivery.author,
                text: delivery.text,
                started_at_unix_ms: delivery.started_at_unix_ms,
                seq: delivery.seq,
            });
        }
    }
}

/// Appends the payloads that are not in the list yet.
fn unite(list: &mut Vec<Symbol>, more: Vec<Symbol>) {
    let known: HashSet<Symbol, FixedState> = list.iter().copied().collect();
    list.extend(more.into_iter().filter(|payload| !known.contains(payload)));
}
