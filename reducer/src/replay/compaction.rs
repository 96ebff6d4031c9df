//! Compactions: a thread's history is replaced by a shorter one.

use std::sync::Arc;

use trace_recorder::format::event::{CompactionInstalled, CompactionRequestStarted};
use trace_recorder::format::{ExecutionStatus, PayloadRef};

use super::conversation::{Mode, Placing};
use super::draft::Step;
use super::state::{NormIdx, Replay};
use crate::diagnostic::Code;
use crate::ingest::{Checkpoint, Ingested, PayloadProblem, key_with_parts};
use crate::model::{Compaction, CompactionRequest, ConversationItem, ItemKind, ItemList, Producer, Role, Window};

impl Replay {
    pub(super) fn compaction_request_started(&mut self, event: &CompactionRequestStarted<'_>) -> Step {
        let id = self.draft.intern(&event.compaction_request_id);
        if self.compaction_requests_by_id.contains_key(&id) {
            let message = format!("compaction request {} starts twice", event.compaction_request_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let thread = self.draft.intern(&event.thread_id);
        let thread = self.draft.thread(thread)?;
        let turn = self.draft.intern(&event.codex_turn_id);
        let turn = self.draft.turn_of(thread, turn)?;
        let compaction_id = self.draft.intern(&event.compaction_id);
        let request = CompactionRequest {
            id,
            compaction_id,
            thread,
            turn,
            execution: Window::running(self.draft.event.at),
            model: self.draft.intern(&event.model),
            provider_name: self.draft.intern(&event.provider_name),
            request_payload_id: self.draft.intern(&event.request_payload.raw_payload_id),
            response_payload_id: None,
            error: None,
        };
        let request = self.draft.trace.compaction_requests.push(request);
        self.compaction_requests_by_id.insert(id, request);
        self.requests_by_compaction.entry(compaction_id).or_default().push(request);
        Ok(())
    }

    pub(super) fn compaction_request_ended(
        &mut self,
        compaction_id: &str,
        request_id: &str,
        payload: Option<&PayloadRef<'_>>,
        error: Option<&str>,
    ) -> Step {
        let id = self.draft.intern(request_id);
        let Some(request) = self.compaction_requests_by_id.get(&id).copied() else {
            let message = format!("compaction request {request_id} ends, but it was never started");
            return self.draft.odd(Code::CompactionRequestUnknown, message);
        };
        if self.draft.trace.text(self.draft.trace.compaction_requests[request].compaction_id) != compaction_id {
            let message = format!("compaction request {request_id} ends for another compaction than it began");
            self.draft.odd(Code::CompactionContradicted, message)?;
        }
        let status = if error.is_some() { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
        let payload = payload.map(|reference| self.draft.intern(&reference.raw_payload_id));
        let request = &mut self.draft.trace.compaction_requests[request];
        request.execution.end(self.draft.event.at, status);
        request.response_payload_id = payload;
        request.error = error.map(Into::into);
        Ok(())
    }

    pub(super) fn compaction_installed(&mut self, event: &CompactionInstalled<'_>, ingested: Ingested) -> Step {
        let (Some(thread), Some(turn_id)) = (self.draft.event.thread, self.draft.event.turn) else {
            return self.draft.odd(Code::ContextMissing, "an installed compaction names no thread or no turn");
        };
        let id = self.draft.intern(&event.compaction_id);
        if self.compactions_by_id.contains_key(&id) {
            let message = format!("compaction {} is installed twice", event.compaction_id);
            return self.draft.odd(Code::StartedTwice, message);
        }
        let thread = self.draft.thread(thread)?;
        let turn = self.draft.turn_of(thread, turn_id)?;
        let payload = self.draft.intern(&event.checkpoint_payload.raw_payload_id);
        let readable = matches!(ingested, Ingested::Checkpoint(_));
        let checkpoint = match ingested {
            Ingested::Checkpoint(checkpoint) => *checkpoint,
            other => {
                match &other {
                    Ingested::Failed(failure) => self.draft.bad_payload(payload, &failure.problem)?,
                    _ => self.draft.bad_payload(payload, &PayloadProblem::Shape("no checkpoint"))?,
                }
                Checkpoint { input: Vec::new(), replacement: Vec::new() }
            }
        };
        let input: Vec<NormIdx> = checkpoint.input.into_iter().map(|item| self.take_norm(item)).collect();
        let replacement: Vec<NormIdx> = checkpoint.replacement.into_iter().map(|item| self.take_norm(item)).collect();
        self.check_items(payload, &input)?;
        self.check_items(payload, &replacement)?;

        // The marker item needs the handle of the compaction and the other way round. The compaction is added next, so
        // its handle is known.
        let compaction = crate::model::Handle::from_index(self.draft.trace.compactions.len());
        let producer = Producer::Compaction(compaction);
        let placing = Placing {
            thread,
            turn: Some(turn_id),
            payload,
            mode: Mode::Detached,
            base: self.history(thread).live,
            known: 0,
            producer: None,
        };
        let input_items = self.place(placing, &input)?;
        let marker_item = self.add_item(
            ConversationItem {
                responses_item_id: None,
                accepted: None,
                thread,
                codex_turn_id: Some(turn_id),
                first_seen: self.draft.event.at,
                role: Role::Assistant,
                channel: None,
                kind: ItemKind::CompactionMarker,
                agent_message: None,
                parts: Arc::from([]),
                payload_id: None,
                call_id: None,
                produced_by: vec![producer],
            },
            key_with_parts(Role::Assistant, None, ItemKind::CompactionMarker, None, &[]),
        );
        let placing = Placing { base: ItemList::EMPTY, producer: Some(producer), ..placing };
        let replacement_items = self.place(placing, &replacement)?;
        for item in input_items.iter().chain([&marker_item]).chain(&replacement_items) {
            self.items[*item].listed = true;
        }
        let mut installed = ItemList::EMPTY;
        for item in &replacement_items {
            installed = self.append(installed, *item);
        }
        let mut requests = self.requests_by_compaction.get(&id).cloned().unwrap_or_default();
        requests.sort_by_key(|request| self.draft.trace.text(self.draft.trace.compaction_requests[*request].id));
        let known = self.draft.trace.compactions.push(Compaction {
            id,
            thread,
            turn,
            installed: self.draft.event.at,
            marker_item,
            requests,
            input_items,
            replacement_items,
        });
        debug_assert_eq!(known, compaction);
        self.compactions_by_id.insert(id, compaction);
        if readable {
            let state = self.history(thread);
            state.installed = Some(installed);
            state.newest = None;
        }
        Ok(())
    }
}
