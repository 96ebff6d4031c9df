//! Threads and turns.

use trace_recorder::format::event::{
    CodexTurnEnded, CodexTurnStarted, ProtocolEventObserved, RolloutEnded, RolloutStarted, ThreadEnded, ThreadResumed,
    ThreadStarted,
};
use trace_recorder::format::{CellStatus, ExecutionStatus, RolloutStatus};

use super::cells::Cells;
use super::draft::{Draft, Step, known_rollout_status, known_status};
use super::edges::Edges;
use super::inference::Inferences;
use super::terminals::Terminals;
use crate::diagnostic::Code;
use crate::ingest::Ingested;
use crate::ingest::shapes::ThreadMetadata;
use crate::model::{Origin, ProtocolEvent, Thread, TurnIdx, Window};

pub(super) fn rollout_started(draft: &mut Draft, event: &RolloutStarted<'_>) {
    draft.trace.trace_id = draft.intern(&event.trace_id);
    draft.trace.root_thread_id = draft.intern(&event.root_thread_id);
}

pub(super) fn rollout_ended(draft: &mut Draft, event: &RolloutEnded) {
    draft.trace.status = known_rollout_status(event.status);
    draft.trace.ended = Some(draft.event.at);
    draft.trace.run_ends.push(draft.event.at);
}

pub(super) fn thread_started(
    draft: &mut Draft,
    edges: &mut Edges,
    event: &ThreadStarted<'_>,
    ingested: Ingested,
) -> Step {
    let id = draft.intern(&event.thread_id);
    let known = draft.threads_by_id.get(&id).copied();
    if known.is_some_and(|thread| !draft.trace.threads[thread].implied) {
        let message = format!("thread {} starts twice; the second start is passed over", event.thread_id);
        return draft.odd(Code::StartedTwice, message);
    }
    let mut metadata = ThreadMetadata::default();
    if let Some(reference) = &event.metadata_payload {
        let payload = draft.payload_id(reference);
        if let Ingested::Metadata(read) = draft.readable(payload, ingested)? {
            metadata = *read;
            if let Some(problem) = &metadata.problem {
                draft.bad_payload(payload, problem)?;
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
            let parent_thread_id = draft.intern(&spawn.parent_thread_id);
            draft.spawned(id, parent_thread_id, task_name, agent_role)
        }
    };
    let thread = Thread {
        id,
        agent_path: draft.intern(path),
        nickname: metadata.nickname.as_deref().map(|name| draft.intern(name)),
        origin,
        execution: Window::running(draft.event.at),
        resumed: Vec::new(),
        default_model: metadata.model.as_deref().map(|model| draft.intern(model)),
        items: Vec::new(),
        implied: false,
    };
    match known {
        None => {
            draft.add_thread(thread);
        }
        // Keep the items that other events added before the start of the thread.
        Some(known) => {
            let items = std::mem::take(&mut draft.trace.threads[known].items);
            draft.trace.threads[known] = Thread { items, ..thread };
            edges.readdress(draft, known)?;
        }
    }
    Ok(())
}

pub(super) fn thread_ended(draft: &mut Draft, event: &ThreadEnded<'_>) -> Step {
    let id = draft.intern(&event.thread_id);
    let thread = draft.thread(id)?;
    let status = match known_rollout_status(event.status) {
        RolloutStatus::Running => ExecutionStatus::Running,
        RolloutStatus::Completed => ExecutionStatus::Completed,
        RolloutStatus::Failed => ExecutionStatus::Failed,
        RolloutStatus::Aborted | RolloutStatus::Unknown => ExecutionStatus::Aborted,
    };
    draft.trace.threads[thread].execution.end(draft.event.at, status);
    Ok(())
}

pub(super) fn thread_resumed(
    draft: &mut Draft,
    cells: &mut Cells,
    terminals: &mut Terminals,
    event: &ThreadResumed<'_>,
) -> Step {
    let id = draft.intern(&event.thread_id);
    let Some(thread) = draft.threads_by_id.get(&id).copied() else {
        let message = format!(
            "thread {} was started in an earlier session and goes on in this one; it is added without its start",
            event.thread_id
        );
        draft.odd(Code::ThreadOfEarlierSession, message)?;
        draft.imply_thread(id);
        return Ok(());
    };
    // The runtime starts its numbering of cells and processes again.
    cells.forget_runtime(id);
    terminals.forget_processes(thread);
    draft.trace.threads[thread].resumed.push(draft.event.at);
    let window = &mut draft.trace.threads[thread].execution;
    if window.ended.is_none() {
        let message = format!("thread {} is resumed although it has not ended", event.thread_id);
        return draft.odd(Code::ResumedWhileRunning, message);
    }
    *window = Window::running(window.started);
    Ok(())
}

pub(super) fn turn_started(draft: &mut Draft, event: &CodexTurnStarted<'_>) -> Step {
    let id = draft.intern(&event.codex_turn_id);
    if let Some(turn) = draft.turns_by_id.get(&id).copied() {
        if std::mem::take(&mut draft.trace.turns[turn].implied) {
            draft.trace.turns[turn].execution.started = draft.event.at;
            return Ok(());
        }
        let message = format!("turn {} starts twice; the second start is passed over", event.codex_turn_id);
        return draft.odd(Code::StartedTwice, message);
    }
    let thread = draft.intern(&event.thread_id);
    let thread = draft.thread(thread)?;
    let turn = draft.add_turn(id, thread);
    draft.trace.turns[turn].implied = false;
    Ok(())
}

pub(super) fn turn_ended(
    draft: &mut Draft,
    inferences: &mut Inferences,
    cells: &mut Cells,
    event: &CodexTurnEnded<'_>,
) -> Step {
    let id = draft.intern(&event.codex_turn_id);
    let Some(turn) = draft.turns_by_id.get(&id).copied() else {
        let message = format!("turn {} ends, but it was never started", event.codex_turn_id);
        draft.odd(Code::TurnUnknown, message)?;
        let Some(thread) = draft.event.thread else { return Ok(()) };
        let thread = draft.thread(thread)?;
        let turn = draft.add_turn(id, thread);
        return end_turn(draft, inferences, cells, turn, event.status);
    };
    let owner = draft.trace.threads[draft.trace.turns[turn].thread].id;
    if draft.event.thread.is_some_and(|thread| thread != owner) {
        let message = format!("turn {} is ended by another thread", event.codex_turn_id);
        draft.odd(Code::TurnOfOtherThread, message)?;
    }
    end_turn(draft, inferences, cells, turn, event.status)
}

fn end_turn(
    draft: &mut Draft,
    inferences: &mut Inferences,
    cells: &mut Cells,
    turn: TurnIdx,
    status: ExecutionStatus,
) -> Step {
    let status = known_status(status);
    draft.trace.turns[turn].execution.end(draft.event.at, status);
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
        cells.end_of_turn(draft, turn, status);
    }
    if let Some(status) = inferences_end {
        inferences.end_of_turn(draft, turn, status);
    }
    Ok(())
}

/// Records an event of the client protocol. The configuration of a resumed session also tells the parent and the
/// model of a thread that no event declares.
pub(super) fn protocol_event(draft: &mut Draft, event: &ProtocolEventObserved<'_>, ingested: Ingested) {
    let payload = draft.payload_id(&event.event_payload);
    if let Some(payload) = draft.payloads_by_id.get(&payload).copied() {
        let event_type = draft.intern(&event.event_type);
        draft.trace.protocol_events.push(ProtocolEvent { at: draft.event.at, event_type, payload });
    }
    let Ingested::Configuration(configuration) = ingested else { return };
    let Some(thread) = (configuration.thread_id.as_deref())
        .and_then(|id| draft.trace.symbols.get(id))
        .and_then(|id| draft.threads_by_id.get(&id).copied())
        .filter(|thread| draft.trace.threads[*thread].implied)
    else {
        return;
    };
    let id = draft.trace.threads[thread].id;
    if let Some(parent) = &configuration.parent_thread_id {
        let parent_thread_id = draft.intern(parent);
        let path = draft.trace.text(draft.trace.threads[thread].agent_path);
        let task_name = path.rsplit('/').next().unwrap_or_default().to_owned();
        draft.trace.threads[thread].origin = draft.spawned(id, parent_thread_id, &task_name, "");
    }
    if let Some(model) = &configuration.model {
        draft.trace.threads[thread].default_model = Some(draft.intern(model));
    }
}
