//! Threads and turns.

use trace_recorder::format::event::{CodexTurnEnded, CodexTurnStarted, ThreadEnded, ThreadResumed, ThreadStarted};
use trace_recorder::format::{CellStatus, ExecutionStatus, RolloutStatus};

use super::shapes::ThreadMetadata;
use super::state::{CellEvent, Context, Replay, Step, as_json, known_rollout_status, known_status};
use crate::diagnostic::Code;
use crate::ingest::{Ingested, PayloadProblem};
use crate::model::{Origin, Thread, TurnIdx, Window};

impl Replay {
    pub(super) fn thread_started(&mut self, context: Context, event: &ThreadStarted<'_>, ingested: Ingested) -> Step {
        let id = self.intern(&event.thread_id);
        let known = self.threads_by_id.get(&id).copied();
        if known.is_some_and(|thread| !self.trace.threads[thread].implied) {
            let message = format!("thread {} starts twice; the second start is passed over", event.thread_id);
            return self.odd(context, Code::StartedTwice, message);
        }
        let mut metadata = ThreadMetadata::default();
        if let Some(reference) = &event.metadata_payload {
            let payload = self.intern(&reference.raw_payload_id);
            match ingested {
                Ingested::Failed(failure) => self.bad_payload(context, payload, &failure.problem)?,
                other => {
                    if let Some(value) = as_json(other) {
                        let (read, problem) = ThreadMetadata::read(&value);
                        metadata = read;
                        if let Some(problem) = problem {
                            self.bad_payload(context, payload, &problem)?;
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
                let parent_thread_id = self.intern(&spawn.parent_thread_id);
                Origin::Spawned {
                    parent_thread_id,
                    spawn_edge_id: self.spawn_edge_id(parent_thread_id, id),
                    task_name: self.intern(task_name),
                    agent_role: self.intern(agent_role),
                }
            }
        };
        let thread = Thread {
            id,
            agent_path: self.intern(path),
            nickname: metadata.nickname.as_deref().map(|name| self.intern(name)),
            origin,
            execution: Window::running(context.at),
            resumed: Vec::new(),
            default_model: metadata.model.as_deref().map(|model| self.intern(model)),
            items: Vec::new(),
            implied: false,
        };
        match known {
            None => {
                self.add_thread(thread);
            }
            // Keep the items that other events added before the start of the thread.
            Some(known) => {
                let items = std::mem::take(&mut self.trace.threads[known].items);
                self.trace.threads[known] = Thread { items, ..thread };
                self.readdress(known)?;
            }
        }
        Ok(())
    }

    pub(super) fn thread_ended(&mut self, context: Context, event: &ThreadEnded<'_>) -> Step {
        let id = self.intern(&event.thread_id);
        let thread = self.thread(context, id)?;
        let status = match known_rollout_status(event.status) {
            RolloutStatus::Running => ExecutionStatus::Running,
            RolloutStatus::Completed => ExecutionStatus::Completed,
            RolloutStatus::Failed => ExecutionStatus::Failed,
            RolloutStatus::Aborted | RolloutStatus::Unknown => ExecutionStatus::Aborted,
        };
        self.trace.threads[thread].execution.end(context.at, status);
        Ok(())
    }

    pub(super) fn thread_resumed(&mut self, context: Context, event: &ThreadResumed<'_>) -> Step {
        let id = self.intern(&event.thread_id);
        let Some(thread) = self.threads_by_id.get(&id).copied() else {
            let message = format!(
                "thread {} was started in an earlier session and goes on in this one; it is added without its start",
                event.thread_id
            );
            self.odd(context, Code::ThreadOfEarlierSession, message)?;
            self.imply_thread(context, id);
            return Ok(());
        };
        // The runtime starts its numbering of cells and processes again.
        self.cells_by_runtime_id.remove(&id);
        self.latest_sessions.remove(&thread);
        self.trace.threads[thread].resumed.push(context.at);
        let window = &mut self.trace.threads[thread].execution;
        if window.ended.is_none() {
            let message = format!("thread {} is resumed although it has not ended", event.thread_id);
            return self.odd(context, Code::ResumedWhileRunning, message);
        }
        *window = Window::running(window.started);
        Ok(())
    }

    pub(super) fn turn_started(&mut self, context: Context, event: &CodexTurnStarted<'_>) -> Step {
        let id = self.intern(&event.codex_turn_id);
        if let Some(turn) = self.turns_by_id.get(&id).copied() {
            if std::mem::take(&mut self.trace.turns[turn].implied) {
                self.trace.turns[turn].execution.started = context.at;
                return Ok(());
            }
            let message = format!("turn {} starts twice; the second start is passed over", event.codex_turn_id);
            return self.odd(context, Code::StartedTwice, message);
        }
        let thread = self.intern(&event.thread_id);
        let thread = self.thread(context, thread)?;
        let turn = self.add_turn(id, thread, context.at);
        self.trace.turns[turn].implied = false;
        Ok(())
    }

    pub(super) fn turn_ended(&mut self, context: Context, event: &CodexTurnEnded<'_>) -> Step {
        let id = self.intern(&event.codex_turn_id);
        let Some(turn) = self.turns_by_id.get(&id).copied() else {
            let message = format!("turn {} ends, but it was never started", event.codex_turn_id);
            self.odd(context, Code::TurnUnknown, message)?;
            let Some(thread) = context.thread else { return Ok(()) };
            let thread = self.thread(context, thread)?;
            let turn = self.add_turn(id, thread, context.at);
            return self.end_turn(context, turn, event.status);
        };
        let owner = self.trace.threads[self.trace.turns[turn].thread].id;
        if context.thread.is_some_and(|thread| thread != owner) {
            let message = format!("turn {} is ended by another thread", event.codex_turn_id);
            self.odd(context, Code::TurnOfOtherThread, message)?;
        }
        self.end_turn(context, turn, event.status)
    }

    fn end_turn(&mut self, context: Context, turn: TurnIdx, status: ExecutionStatus) -> Step {
        let status = known_status(status);
        self.trace.turns[turn].execution.end(context.at, status);
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
                if self.trace.cells[cell].execution.is_running() {
                    let event =
                        CellEvent { at: context.at, runtime_cell_id: None, status, payload_id: None, is_end: true };
                    self.apply_cell_event(cell, event);
                }
            }
        }
        if let Some(status) = inferences_end {
            for inference in self.inferences_by_turn.get(&turn).into_iter().flatten() {
                let window = &mut self.trace.inferences[*inference].execution;
                if window.is_running() {
                    window.end(context.at, status);
                }
            }
        }
        Ok(())
    }

    /// Returns the problem of a payload that does not have the form that its event requires.
    pub(super) fn shape(message: &'static str) -> PayloadProblem {
        PayloadProblem::Shape(message)
    }
}
