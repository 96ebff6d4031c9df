//! Inference calls: what the model read and wrote.

use trace_recorder::format::event::{InferenceCancelled, InferenceCompleted, InferenceFailed, InferenceStarted};
use trace_recorder::format::{ExecutionStatus, PayloadRef};

use super::conversation::Conversation;
use super::draft::{Draft, Step, Table};
use super::items::{Items, NormIdx, Source};
use super::search::{Mode, Placing};
use crate::diagnostic::Code;
use crate::ingest::{Ingested, PayloadProblem, Response, Slot};
use crate::model::{InferenceCall, InferenceIdx, ItemList, Producer, Symbol, ThreadIdx, TurnIdx, Window};

/// The items of a request, as normalized items of replay.
struct Written {
    /// Number of items at the beginning that equal those of the request before, byte for byte. Items without a place
    /// are not counted.
    shared: usize,
    /// The other items that have a place.
    norms: Vec<NormIdx>,
    previous_response_id: Option<Box<str>>,
    problem: Option<PayloadProblem>,
}

/// The last request of a thread, item by item.
#[derive(Debug, Clone, Default)]
struct Writing {
    /// The normalized items by position; `None` for an item without a place.
    items: Vec<Option<NormIdx>>,
    /// Positions of the items without a place.
    placeless: Vec<u32>,
}

/// What the end of an inference call says.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    id: &'a str,
    status: ExecutionStatus,
    response_id: Option<&'a str>,
    upstream_request_id: Option<&'a str>,
    payload: Option<&'a PayloadRef<'a>>,
    error: Option<&'a str>,
}

impl<'a> From<&'a InferenceCompleted<'_>> for End<'a> {
    fn from(event: &'a InferenceCompleted<'_>) -> Self {
        Self {
            id: &event.inference_call_id,
            status: ExecutionStatus::Completed,
            response_id: event.response_id.as_deref(),
            upstream_request_id: event.upstream_request_id.as_deref(),
            payload: Some(&event.response_payload),
            error: None,
        }
    }
}

impl<'a> From<&'a InferenceFailed<'_>> for End<'a> {
    fn from(event: &'a InferenceFailed<'_>) -> Self {
        Self {
            id: &event.inference_call_id,
            status: ExecutionStatus::Failed,
            response_id: None,
            upstream_request_id: event.upstream_request_id.as_deref(),
            payload: event.partial_response_payload.as_ref(),
            error: Some(&event.error),
        }
    }
}

impl<'a> From<&'a InferenceCancelled<'_>> for End<'a> {
    fn from(event: &'a InferenceCancelled<'_>) -> Self {
        Self {
            id: &event.inference_call_id,
            status: ExecutionStatus::Cancelled,
            response_id: None,
            upstream_request_id: event.upstream_request_id.as_deref(),
            payload: event.partial_response_payload.as_ref(),
            error: Some(&event.reason),
        }
    }
}

/// Inference calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Inferences {
    by_id: Table<Symbol, InferenceIdx>,
    by_turn: Table<TurnIdx, Vec<InferenceIdx>>,
    by_response: Table<(ThreadIdx, Symbol), Vec<InferenceIdx>>,
    /// By thread id, because a request refers to the request before even if its thread is not known yet.
    writings: Table<Symbol, Writing>,
}

impl Inferences {
    pub(super) fn started(
        &mut self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        event: &InferenceStarted<'_>,
        ingested: Ingested,
        run_starts: &[NormIdx],
    ) -> Step {
        let id = draft.intern(&event.inference_call_id);
        let thread_id = draft.intern(&event.thread_id);
        if self.by_id.contains_key(&id) {
            let message =
                format!("inference call {} starts twice; the second start is passed over", event.inference_call_id);
            draft.odd(Code::StartedTwice, message)?;
            // The difference of the thread's next request refers to this request, so its items must be recorded.
            let written = self.write_down(thread_id, ingested, run_starts);
            if let Some(thread) = draft.threads_by_id.get(&thread_id).copied() {
                conversation.items.history(thread).comparable = None;
            }
            if let Some(problem) = &written.problem {
                let payload = draft.payload_id(&event.request_payload);
                draft.bad_payload(payload, problem)?;
            }
            return Ok(());
        }
        let thread = draft.thread(thread_id)?;
        let turn = draft.intern(&event.codex_turn_id);
        let turn = draft.turn_of(thread, turn)?;
        let payload = draft.payload_id(&event.request_payload);
        let written = self.write_down(thread_id, ingested, run_starts);
        if let Some(problem) = &written.problem {
            conversation.items.history(thread).comparable = None;
            draft.bad_payload(payload, problem)?;
        }
        conversation.items.check(draft, payload, &written.norms)?;
        let inference = self.add(draft, event, thread, turn);
        let previous = match &written.previous_response_id {
            Some(response) => self.previous(draft, conversation.items, thread, response)?,
            None => None,
        };
        let placing = Placing {
            source: Source { thread, turn: Some(draft.trace.turns[turn].id), payload, producer: None },
            mode: Mode::Full,
            base: conversation.items.history(thread).live,
            known: 0,
        };
        let list = match previous {
            Some(previous) => self.place_incremental(draft, conversation, placing, previous)?,
            None => self.place_request(draft, conversation, placing, &written)?,
        };
        draft.trace.inferences[inference].request_items = list;
        let state = conversation.items.history(thread);
        // While the replacement history of a compaction waits for a full request, a request that continues the old
        // context does not become the newest one.
        if previous.is_none() || state.installed.is_none() {
            state.newest = Some(inference);
        }
        // An unreadable request does not show that the items after the damage were removed.
        let is_prefix_of_live = written.problem.is_some() && list.line == state.live.line && list.len < state.live.len;
        if written.problem.is_some() && (list.is_empty() || is_prefix_of_live) {
            return Ok(());
        }
        state.live = list;
        Ok(())
    }

    fn add(
        &mut self,
        draft: &mut Draft,
        event: &InferenceStarted<'_>,
        thread: ThreadIdx,
        turn: TurnIdx,
    ) -> InferenceIdx {
        let id = draft.intern(&event.inference_call_id);
        let call = InferenceCall {
            id,
            thread,
            turn,
            execution: Window::running(draft.event.at),
            model: draft.intern(&event.model),
            provider_name: draft.intern(&event.provider_name),
            response_id: None,
            upstream_request_id: None,
            request_items: ItemList::EMPTY,
            response_items: Vec::new(),
            tools_started: Vec::new(),
            usage: None,
            request_payload_id: draft.payload_id(&event.request_payload),
            response_payload_id: None,
            error: None,
        };
        let inference = draft.trace.inferences.push(call);
        self.by_id.insert(id, inference);
        self.by_turn.entry(turn).or_default().push(inference);
        inference
    }

    /// Resolves the items of a request and records them for the next request of the thread.
    fn write_down(&mut self, thread: Symbol, ingested: Ingested, run_starts: &[NormIdx]) -> Written {
        let writing = self.writings.entry(thread).or_default();
        let request = match ingested {
            Ingested::Request(request) => request,
            other => {
                *writing = Writing::default();
                let problem = match other {
                    Ingested::Failed(failure) => failure.problem,
                    _ => PayloadProblem::Shape("no request"),
                };
                return Written { shared: 0, norms: Vec::new(), previous_response_id: None, problem: Some(problem) };
            }
        };
        let delta = request.delta;
        let shared = delta.shared as usize;
        debug_assert!(shared <= writing.items.len(), "a request shares no more items than its predecessor has");
        let added: Vec<Option<NormIdx>> = delta
            .rest
            .iter()
            .filter_map(|slot| match slot {
                Slot::Predecessor(item) => writing.items.get(item.0 as usize).copied(),
                Slot::Normalized(item) => Some(item.map(|item| run_starts[request.run as usize].in_run(item))),
            })
            .collect();
        writing.items.truncate(shared);
        writing.items.extend(added);
        while writing.placeless.last().is_some_and(|position| *position as usize >= shared) {
            writing.placeless.pop();
        }
        let placed_shared = shared - writing.placeless.len();
        for (position, norm) in writing.items.iter().enumerate().skip(shared) {
            if norm.is_none() {
                writing.placeless.push(position as u32);
            }
        }
        // List only the items behind the shared ones: a request that shares everything needs no list.
        let norms = writing.items.iter().skip(shared).flatten().copied().collect();
        Written {
            shared: placed_shared,
            norms,
            previous_response_id: delta.previous_response_id,
            problem: delta.problem,
        }
    }

    /// Returns all items of the thread's last request, including those that [`Written`] only counts.
    fn all_norms(&self, draft: &Draft, thread: ThreadIdx) -> Vec<NormIdx> {
        let writing = self.writings.get(&draft.trace.threads[thread].id);
        writing.into_iter().flat_map(|writing| writing.items.iter().flatten().copied()).collect()
    }

    fn place_request(
        &self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        placing: Placing,
        written: &Written,
    ) -> Step<ItemList> {
        let state = conversation.items.history(placing.source.thread);
        let installed = state.installed.take();
        let base = installed.unwrap_or(state.live);
        let known = match state.comparable {
            Some(before) if installed.is_none() && before.line == base.line => {
                written.shared.min(before.len()).min(base.len())
            }
            _ => 0,
        };
        let placing = Placing { base, known, ..placing };
        let (list, stable) = if known == written.shared {
            conversation.place_full(draft, placing, &written.norms)?
        } else {
            let norms = self.all_norms(draft, placing.source.thread);
            conversation.place_full(draft, placing, &norms[known..])?
        };
        let comparable = ItemList { len: stable as u32, ..list };
        conversation.items.history(placing.source.thread).comparable =
            Some(comparable).filter(|_| written.problem.is_none());
        Ok(list)
    }

    fn place_incremental(
        &self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        placing: Placing,
        previous: InferenceIdx,
    ) -> Step<ItemList> {
        let norms = self.all_norms(draft, placing.source.thread);
        conversation.items.history(placing.source.thread).comparable = None;
        let previous = &draft.trace.inferences[previous];
        let mut list = previous.request_items;
        for item in previous.response_items.clone() {
            conversation.items[item].listed = true;
            list = conversation.items.append(draft, list, item);
        }
        let placing = Placing { mode: Mode::Append { start: list.len() }, ..placing };
        for item in conversation.place(draft, placing, &norms)? {
            conversation.items[item].listed = true;
            list = conversation.items.append(draft, list, item);
        }
        Ok(list)
    }

    /// Finds the inference call that an incremental request continues. Reports one that the thread does not have.
    fn previous(
        &self,
        draft: &mut Draft,
        items: &mut Items,
        thread: ThreadIdx,
        id: &str,
    ) -> Step<Option<InferenceIdx>> {
        let found = draft.trace.symbols.get(id).and_then(|response| {
            let calls = self.by_response.get(&(thread, response))?;
            calls.iter().copied().min_by_key(|call| draft.trace.text(draft.trace.inferences[*call].id))
        });
        if found.is_none() {
            let message = format!("the request goes on from response {id}, which the thread does not have");
            draft.odd(Code::ResponseUnknown, message)?;
            // The best guess: the request continues the newest call.
            return Ok(items.history(thread).newest);
        }
        Ok(found)
    }

    pub(super) fn ended(
        &mut self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        end: End<'_>,
        ingested: Ingested,
    ) -> Step {
        let id = draft.intern(end.id);
        let Some(inference) = self.by_id.get(&id).copied() else {
            let message = format!("inference call {} ends, but it was never started", draft.trace.text(id));
            return draft.odd(Code::InferenceUnknown, message);
        };
        let payload = end.payload.map(|reference| draft.payload_id(reference));
        if let Some(payload) = payload {
            match ingested {
                Ingested::Response(response) => {
                    self.place_response(draft, conversation, inference, payload, response)?;
                }
                Ingested::Failed(failure) => draft.bad_payload(payload, &failure.problem)?,
                _ => draft.bad_payload(payload, &PayloadProblem::Shape("no response"))?,
            }
            draft.trace.inferences[inference].response_payload_id = Some(payload);
        }
        self.set_response_id(draft, inference, end.response_id);
        let upstream = end.upstream_request_id.map(|id| draft.intern(id));
        let call = &mut draft.trace.inferences[inference];
        if call.execution.is_running() {
            call.execution.end(draft.event.at, end.status);
        }
        call.upstream_request_id = upstream.or(call.upstream_request_id);
        call.error = end.error.map(Into::into);
        Ok(())
    }

    fn place_response(
        &mut self,
        draft: &mut Draft,
        conversation: &mut Conversation<'_>,
        inference: InferenceIdx,
        payload: Symbol,
        response: Response,
    ) -> Step {
        let norms = conversation.items.take_norms(draft, payload, response.items)?;
        let InferenceCall { thread, turn, .. } = draft.trace.inferences[inference];
        let live = conversation.items.history(thread).live;
        let mode = if draft.is_v1() { Mode::Append { start: live.len() } } else { Mode::Response };
        let placing = Placing {
            source: Source {
                thread,
                turn: Some(draft.trace.turns[turn].id),
                payload,
                producer: Some(Producer::Inference(inference)),
            },
            mode,
            base: live,
            known: 0,
        };
        let items = conversation.place(draft, placing, &norms)?;
        for item in std::mem::take(&mut draft.trace.inferences[inference].response_items) {
            conversation.items[item].response_of.retain(|call| *call != inference);
        }
        for item in &items {
            conversation.tools.shown_by(draft, conversation.items, *item, inference);
        }
        let newest = conversation.items.history(thread).newest == Some(inference);
        if draft.is_v1() || newest {
            let list = if draft.is_v1() { live } else { context_of(draft, conversation.items, inference) };
            conversation.items.history(thread).live = conversation.items.append_all(draft, list, &items);
        }
        let call = &mut draft.trace.inferences[inference];
        call.response_items = items;
        if response.usage.is_some() {
            call.usage = response.usage;
        }
        Ok(())
    }

    fn set_response_id(&mut self, draft: &mut Draft, inference: InferenceIdx, response_id: Option<&str>) {
        let response_id = response_id.map(|id| draft.intern(id));
        let call = &mut draft.trace.inferences[inference];
        let before = std::mem::replace(&mut call.response_id, response_id);
        let thread = call.thread;
        if before == response_id {
            return;
        }
        if let Some(before) = before
            && let Some(calls) = self.by_response.get_mut(&(thread, before))
        {
            calls.retain(|call| *call != inference);
        }
        if let Some(after) = response_id {
            self.by_response.entry((thread, after)).or_default().push(inference);
        }
    }

    /// Ends the running calls of a turn.
    pub(super) fn end_of_turn(&mut self, draft: &mut Draft, turn: TurnIdx, status: ExecutionStatus) {
        for inference in self.by_turn.get(&turn).into_iter().flatten() {
            let window = &mut draft.trace.inferences[*inference].execution;
            if window.is_running() {
                window.end(draft.event.at, status);
            }
        }
    }
}

/// Returns what the model read in a call. If the request could not be read, it is the newest context of the thread.
fn context_of(draft: &Draft, items: &mut Items, inference: InferenceIdx) -> ItemList {
    let call = &draft.trace.inferences[inference];
    let readable = draft.is_usable(call.request_payload_id);
    if readable { call.request_items } else { items.history(call.thread).live }
}
