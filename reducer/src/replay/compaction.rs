//! Compactions: a thread's history is replaced by a shorter one.

use std::sync::Arc;

use trace_recorder::format::event::{
    CompactionInstalled, CompactionRequestCompleted, CompactionRequestFailed, CompactionRequestStarted,
};
use trace_recorder::format::{ExecutionStatus, PayloadRef};

use super::conversation::Conversation;
use super::draft::{Draft, Step, Table};
use super::items::{Items, Source};
use super::search::{Mode, Placing};
use crate::diagnostic::Code;
use crate::ingest::{Checkpoint, Ingested, PayloadProblem, key_with_parts};
use crate::model::{
    Compaction, CompactionIdx, CompactionRequest, CompactionRequestIdx, ConversationItem, Handle, ItemIdx, ItemKind,
    ItemList, Producer, Role, Symbol, Window,
};

/// Compactions and the requests for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Compactions {
    by_id: Table<Symbol, CompactionIdx>,
    requests_by_id: Table<Symbol, CompactionRequestIdx>,
    requests_by_compaction: Table<Symbol, Vec<CompactionRequestIdx>>,
}

impl Compactions {
    pub(super) fn request_started(&mut self, draft: &mut Draft, event: &CompactionRequestStarted<'_>) -> Step {
        let id = draft.intern(&event.compaction_request_id);
        if self.requests_by_id.contains_key(&id) {
            let message = format!("compaction request {} starts twice", event.compaction_request_id);
            return draft.odd(Code::StartedTwice, message);
        }
        let thread = draft.intern(&event.thread_id);
        let thread = draft.thread(thread)?;
        let turn = draft.intern(&event.codex_turn_id);
        let turn = draft.turn_of(thread, turn)?;
        let compaction_id = draft.intern(&event.compaction_id);
        let request = CompactionRequest {
            id,
            compaction_id,
            thread,
            turn,
            execution: Window::running(draft.event.at),
            model: draft.intern(&event.model),
            provider_name: draft.intern(&event.provider_name),
            request_payload_id: draft.payload_id(&event.request_payload),
            response_payload_id: None,
            error: None,
        };
        let request = draft.trace.compaction_requests.push(request);
        self.requests_by_id.insert(id, request);
        self.requests_by_compaction.entry(compaction_id).or_default().push(request);
        Ok(())
    }

    pub(super) fn request_completed(&mut self, draft: &mut Draft, event: &CompactionRequestCompleted<'_>) -> Step {
        let payload = Some(&event.response_payload);
        self.request_ended(draft, &event.compaction_id, &event.compaction_request_id, payload, None)
    }

    pub(super) fn request_failed(&mut self, draft: &mut Draft, event: &CompactionRequestFailed<'_>) -> Step {
        let error = Some(&*event.error);
        self.request_ended(draft, &event.compaction_id, &event.compaction_request_id, None, error)
    }

    fn request_ended(
        &mut self,
        draft: &mut Draft,
        compaction_id: &str,
        request_id: &str,
        payload: Option<&PayloadRef<'_>>,
        error: Option<&str>,
    ) -> Step {
        let id = draft.intern(request_id);
        let Some(request) = self.requests_by_id.get(&id).copied() else {
            let message = format!("compaction request {request_id} ends, but it was never started");
            return draft.odd(Code::CompactionRequestUnknown, message);
        };
        if draft.trace.text(draft.trace.compaction_requests[request].compaction_id) != compaction_id {
            let message = format!("compaction request {request_id} ends for another compaction than it began");
            draft.odd(Code::CompactionContradicted, message)?;
        }
        let status = if error.is_some() { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
        let payload = payload.map(|reference| draft.payload_id(reference));
        let request = &mut draft.trace.compaction_requests[request];
        request.execution.end(draft.event.at, status);
        request.response_payload_id = payload;
        request.error = error.map(Into::into);
        Ok(())
    }

    pub(super) fn installed(
        &mut self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        event: &CompactionInstalled<'_>,
        ingested: Ingested,
    ) -> Step {
        let (Some(thread), Some(turn_id)) = (draft.event.thread, draft.event.turn) else {
            return draft.odd(Code::ContextMissing, "an installed compaction names no thread or no turn");
        };
        let id = draft.intern(&event.compaction_id);
        if self.by_id.contains_key(&id) {
            let message = format!("compaction {} is installed twice", event.compaction_id);
            return draft.odd(Code::StartedTwice, message);
        }
        let thread = draft.thread(thread)?;
        let turn = draft.turn_of(thread, turn_id)?;
        let payload = draft.payload_id(&event.checkpoint_payload);
        let readable = matches!(ingested, Ingested::Checkpoint(_));
        let checkpoint = read_checkpoint(draft, payload, ingested)?;
        let input = conversation.items.take_norms(draft, payload, checkpoint.input)?;
        let replacement = conversation.items.take_norms(draft, payload, checkpoint.replacement)?;

        // The marker item needs the handle of the compaction and the other way round. The compaction is added next, so
        // its handle is known.
        let compaction = Handle::from_index(draft.trace.compactions.len());
        let producer = Producer::Compaction(compaction);
        let placing = Placing {
            source: Source { thread, turn: Some(turn_id), payload, producer: None },
            mode: Mode::Detached,
            base: conversation.items.history(thread).live,
            known: 0,
        };
        let input_items = conversation.place(draft, placing, &input)?;
        let source = Source { producer: Some(producer), ..placing.source };
        let marker_item = add_marker(draft, conversation.items, source);
        let placing = Placing { source, base: ItemList::EMPTY, ..placing };
        let replacement_items = conversation.place(draft, placing, &replacement)?;
        for item in input_items.iter().chain([&marker_item]).chain(&replacement_items) {
            conversation.items[*item].listed = true;
        }
        let installed = conversation.items.append_all(draft, ItemList::EMPTY, &replacement_items);
        let mut requests = self.requests_by_compaction.get(&id).cloned().unwrap_or_default();
        requests.sort_by_key(|request| draft.trace.text(draft.trace.compaction_requests[*request].id));
        let known = draft.trace.compactions.push(Compaction {
            id,
            thread,
            turn,
            installed: draft.event.at,
            marker_item,
            requests,
            input_items,
            replacement_items,
        });
        debug_assert_eq!(known, compaction);
        self.by_id.insert(id, compaction);
        if readable {
            let state = conversation.items.history(thread);
            state.installed = Some(installed);
            state.newest = None;
        }
        Ok(())
    }
}

/// Returns the checkpoint of a compaction. If it cannot be read, reports that and returns an empty one.
fn read_checkpoint(draft: &mut Draft, payload: Symbol, ingested: Ingested) -> Step<Checkpoint> {
    match ingested {
        Ingested::Checkpoint(checkpoint) => return Ok(*checkpoint),
        Ingested::Failed(failure) => draft.bad_payload(payload, &failure.problem)?,
        _ => draft.bad_payload(payload, &PayloadProblem::Shape("no checkpoint"))?,
    }
    Ok(Checkpoint { input: Vec::new(), replacement: Vec::new() })
}

/// Adds the item that marks a compaction in its thread.
fn add_marker(draft: &mut Draft, items: &mut Items, source: Source) -> ItemIdx {
    let (role, kind) = (Role::Assistant, ItemKind::CompactionMarker);
    let marker = ConversationItem {
        responses_item_id: None,
        accepted: None,
        thread: source.thread,
        codex_turn_id: source.turn,
        first_seen: draft.event.at,
        role,
        channel: None,
        kind,
        agent_message: None,
        parts: Arc::from([]),
        payload_id: None,
        call_id: None,
        produced_by: source.producer.into_iter().collect(),
    };
    items.add(draft, marker, key_with_parts(role, None, kind, None, &[]))
}
