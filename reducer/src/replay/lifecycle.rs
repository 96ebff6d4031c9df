//! Threads and turns.

use serde_json::Value;
use trace_recorder::format::event::{
    CodexTurnEnded, CodexTurnStarted, ProtocolEventObserved, ThreadEnded, ThreadResumed, ThreadStarted,
};
use trace_recorder::format::{CellStatus, ExecutionStatus, RolloutStatus};

use super::draft::{Step, as_json, known_rollout_status, known_status};
use super::shapes::ThreadMetadata;
use super::state::{CellEvent, Replay};
use crate::diagnostic::Code;
use crate::ingest::Ingested;
use crate::model::{Origin, ProtocolEvent, Thread, TurnIdx, Window};

impl Replay {
    pub(super) fn thread_started(&mut self, event: &ThreadStarted<'_>, ingested: Ingested) -> Step {
        let id = self.draft.intern(&event.thread_id);
        let known = self.draft.threads_by_id.get(&id).copied();
        if known.is_some_and(|thread| !self.draft.trace.threads[thread].implied) {
            let message = format!("thread {} starts twice; the second start is passed over", event.thread_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let mut metadata = ThreadMetadata::default();
        if let Some(reference) = &event.metadata_payload {
            let payload = self.draft.intern(&reference.raw_payload_id);
            match ingested {
                Ingested::Failed(failure) => self.draft.bad_payload(payload, &failure.problem)?,
                other => {
                    if let Some(value) = as_json(other) {
                        let (read, problem) = ThreadMetadata::read(&value);
                        metadata = read;
                        if let Some(problem) = problem {
                            self.draft.bad_payload(payload, &problem)?;
                        }
                    }
                }
            }
        }
        let spawn = metadata.spawn.as_ref();
        let path = spawn
            .and_then(|spawn| spawn.agent_path.as_deref())
            .or(metadata.agent_path.as_deref())
            .unwrap_or(&event.agent_path);
        let origin = match spawn {
            None => Origin::Root,
            Some(spawn) => {
                let last_segment = path.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or(path);
                let task_name = spawn.task_name.as_deref().or(metadata.task_name.as_deref()).unwrap_or(last_segment);
                let agent_role = spawn.agent_role.as_deref().or(metadata.agent_role.as_deref()).unwrap_or_default();
                let parent_thread_id = self.draft.intern(&spawn.parent_thread_id);
                Origin::Spawned {
                    parent_thread_id,
                    spawn_edge_id: self.draft.spawn_edge_id(parent_thread_id, id),
                    task_name: self.draft.intern(task_name),
                    agent_role: self.draft.intern(agent_role),
                }
            }
        };
        let thread = Thread {
            id,
            agent_path: self.draft.intern(path),
            nickname: metadata.nickname.as_deref().map(|name| self.draft.intern(name)),
            origin,
            execution: Window::running(self.draft.event.at),
            resumed: Vec::new(),
            default_model: metadata.model.as_deref().map(|model| self.draft.intern(model)),
            items: Vec::new(),
            implied: false,
        };
        match known {
            None => {
                self.draft.add_thread(thread);
            }
            // Keep the items that other events added before the start of the thread.
            Some(known) => {
                let items = std::mem::take(&mut self.draft.trace.threads[known].items);
                self.draft.trace.threads[known] = Thread { items, ..thread };
                self.edges.readdress(&mut self.draft, known)?;
            }
        }
        Ok(())
    }

    pub(super) fn thread_ended(&mut self, event: &ThreadEnded<'_>) -> Step {
        let id = self.draft.intern(&event.thread_id);
        let thread = self.draft.thread(id)?;
        let status = match known_rollout_status(event.status) {
            RolloutStatus::Running => ExecutionStatus::Running,
            RolloutStatus::Completed => ExecutionStatus::Completed,
            RolloutStatus::Failed => ExecutionStatus::Failed,
            RolloutStatus::Aborted | RolloutStatus::Unknown => ExecutionStatus::Aborted,
        };
        self.draft.trace.threads[thread].execution.end(self.draft.event.at, status);
        Ok(())
    }

    pub(super) fn thread_resumed(&mut self, event: &ThreadResumed<'_>) -> Step {
        let id = self.draft.intern(&event.thread_id);
        let Some(thread) = self.draft.threads_by_id.get(&id).copied() else {
            let message = format!(
                "thread {} was started in an earlier session and goes on in this one; it is added without its start",
                event.thread_id
            );
            self.draft.odd(Code::ThreadOfEarlierSession, message)?;
            self.draft.imply_thread(id);
            return Ok(());
        };
        // The runtime starts its numbering of cells and processes again.
        self.cells_by_runtime_id.remove(&id);
        self.terminals.forget_processes(thread);
        self.draft.trace.threads[thread].resumed.push(self.draft.event.at);
        let window = &mut self.draft.trace.threads[thread].execution;
        if window.ended.is_none() {
            let message = format!("thread {} is resumed although it has not ended", event.thread_id);
            return self.draft.odd(Code::ResumedWhileRunning, message);
        }
        *window = Window::running(window.started);
        Ok(())
    }

    pub(super) fn turn_started(&mut self, event: &CodexTurnStarted<'_>) -> Step {
        let id = self.draft.intern(&event.codex_turn_id);
        if let Some(turn) = self.draft.turns_by_id.get(&id).copied() {
            if std::mem::take(&mut self.draft.trace.turns[turn].implied) {
                self.draft.trace.turns[turn].execution.started = self.draft.event.at;
                return Ok(());
            }
            let message = format!("turn {} starts twice; the second start is passed over", event.codex_turn_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let thread = self.draft.intern(&event.thread_id);
        let thread = self.draft.thread(thread)?;
        let turn = self.draft.add_turn(id, thread);
        self.draft.trace.turns[turn].implied = false;
        Ok(())
    }

    pub(super) fn turn_ended(&mut self, event: &CodexTurnEnded<'_>) -> Step {
        let id = self.draft.intern(&event.codex_turn_id);
        let Some(turn) = self.draft.turns_by_id.get(&id).copied() else {
            let message = format!("turn {} ends, but it was never started", event.codex_turn_id);
            self.draft.odd(Code::TurnUnknown, message)?;
            let Some(thread) = self.draft.event.thread else { return Ok(()) };
            let thread = self.draft.thread(thread)?;
            let turn = self.draft.add_turn(id, thread);
            return self.end_turn(turn, event.status);
        };
        let owner = self.draft.trace.threads[self.draft.trace.turns[turn].thread].id;
        if self.draft.event.thread.is_some_and(|thread| thread != owner) {
            let message = format!("turn {} is ended by another thread", event.codex_turn_id);
            self.draft.odd(Code::TurnOfOtherThread, message)?;
        }
        self.end_turn(turn, event.status)
    }

    fn end_turn(&mut self, turn: TurnIdx, status: ExecutionStatus) -> Step {
        let status = known_status(status);
        self.draft.trace.turns[turn].execution.end(self.draft.event.at, status);
        let (cells_end, inferences_end) = match status {
            ExecutionStatus::Running => (None, None),
            ExecutionStatus::Completed => (None, Some(ExecutionStatus::Cancelled)),
            ExecutionStatus::Cancelled => (Some(CellStatus::Terminated), Some(ExecutionStatus::Cancelled)),
            ExecutionStatus::Failed => (Some(CellStatus::Failed), Some(ExecutionStatus::Failed)),
            ExecutionStatus::Aborted | ExecutionStatus::Unknown => {
                (Some(CellStatus::Terminated), Some(ExecutionStatus::Aborted))
            }
        };
        if let Some(status) = cells_end {
            for cell in self.cells_by_turn.get(&turn).cloned().unwrap_or_default() {
                if self.draft.trace.cells[cell].execution.is_running() {
                    let event = CellEvent {
                        at: self.draft.event.at,
                        runtime_cell_id: None,
                        status,
                        payload_id: None,
                        is_end: true,
                    };
                    self.apply_cell_event(cell, event);
                }
            }
        }
        if let Some(status) = inferences_end {
            for inference in self.inferences_by_turn.get(&turn).into_iter().flatten() {
                let window = &mut self.draft.trace.inferences[*inference].execution;
                if window.is_running() {
                    window.end(self.draft.event.at, status);
                }
            }
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
}
