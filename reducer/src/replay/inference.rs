//! Inference calls: what the model read and wrote.

use trace_recorder::format::event::InferenceStarted;
use trace_recorder::format::{ExecutionStatus, PayloadRef};

use super::conversation::{Mode, Placing};
use super::draft::Step;
use super::state::{NormIdx, Replay, Writing};
use crate::diagnostic::Code;
use crate::ingest::{Ingested, PayloadProblem, Response, Slot};
use crate::model::{InferenceCall, InferenceIdx, ItemList, Producer, Symbol, ThreadIdx, Window};

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

impl Replay {
    pub(super) fn inference_started(
        &mut self,
        event: &InferenceStarted<'_>,
        ingested: Ingested,
        run_starts: &[NormIdx],
    ) -> Step {
        let id = self.draft.intern(&event.inference_call_id);
        let thread_id = self.draft.intern(&event.thread_id);
        if self.inferences_by_id.contains_key(&id) {
            let message =
                format!("inference call {} starts twice; the second start is passed over", event.inference_call_id);
            self.draft.odd(Code::StartedTwice, message)?;
            // The difference of the thread's next request refers to this request, so its items must be recorded.
            let written = self.write_down(thread_id, ingested, run_starts);
            if let Some(thread) = self.draft.threads_by_id.get(&thread_id).copied() {
                self.history(thread).comparable = None;
            }
            if let Some(problem) = &written.problem {
                let payload = self.draft.intern(&event.request_payload.raw_payload_id);
                self.draft.bad_payload(payload, problem)?;
            }
            return Ok(());
        }
        let thread = self.draft.thread(thread_id)?;
        let turn = self.draft.intern(&event.codex_turn_id);
        let turn = self.draft.turn_of(thread, turn)?;
        let payload = self.draft.intern(&event.request_payload.raw_payload_id);
        let written = self.write_down(thread_id, ingested, run_starts);
        if written.problem.is_some() {
            self.history(thread).comparable = None;
        }
        if let Some(problem) = &written.problem {
            self.draft.bad_payload(payload, problem)?;
        }
        self.check_items(payload, &written.norms)?;
        let call = InferenceCall {
            id,
            thread,
            turn,
            execution: Window::running(self.draft.event.at),
            model: self.draft.intern(&event.model),
            provider_name: self.draft.intern(&event.provider_name),
            response_id: None,
            upstream_request_id: None,
            request_items: ItemList::EMPTY,
            response_items: Vec::new(),
            tools_started: Vec::new(),
            usage: None,
            request_payload_id: payload,
            response_payload_id: None,
            error: None,
        };
        let inference = self.add_inference(call);
        let previous = match &written.previous_response_id {
            Some(response) => self.previous_inference(thread, response)?,
            None => None,
        };
        let placing = Placing {
            thread,
            turn: Some(self.draft.trace.turns[turn].id),
            payload,
            mode: Mode::Full,
            base: self.history(thread).live,
            known: 0,
            producer: None,
        };
        let list = match previous {
            Some(previous) => self.place_incremental(placing, previous)?,
            None => self.place_request(placing, &written)?,
        };
        self.draft.trace.inferences[inference].request_items = list;
        let state = self.history(thread);
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

    pub(super) fn add_inference(&mut self, call: InferenceCall) -> InferenceIdx {
        let (id, turn) = (call.id, call.turn);
        let inference = self.draft.trace.inferences.push(call);
        self.inferences_by_id.insert(id, inference);
        self.inferences_by_turn.entry(turn).or_default().push(inference);
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
    fn all_norms(&self, thread: ThreadIdx) -> Vec<NormIdx> {
        let writing = self.writings.get(&self.draft.trace.threads[thread].id);
        writing.into_iter().flat_map(|writing| writing.items.iter().flatten().copied()).collect()
    }

    fn place_request(&mut self, placing: Placing, written: &Written) -> Step<ItemList> {
        let state = self.history(placing.thread);
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
            self.place_full(placing, &written.norms)?
        } else {
            let norms = self.all_norms(placing.thread);
            self.place_full(placing, &norms[known..])?
        };
        let comparable = ItemList { len: stable as u32, ..list };
        self.history(placing.thread).comparable = Some(comparable).filter(|_| written.problem.is_none());
        Ok(list)
    }

    fn place_incremental(&mut self, placing: Placing, previous: InferenceIdx) -> Step<ItemList> {
        let norms = self.all_norms(placing.thread);
        self.history(placing.thread).comparable = None;
        let previous = &self.draft.trace.inferences[previous];
        let mut list = previous.request_items;
        for item in previous.response_items.clone() {
            self.items[item].listed = true;
            list = self.append(list, item);
        }
        let placing = Placing { mode: Mode::Append { start: list.len() }, ..placing };
        for item in self.place(placing, &norms)? {
            self.items[item].listed = true;
            list = self.append(list, item);
        }
        Ok(list)
    }

    /// Finds the inference call that an incremental request continues. Reports one that the thread does not have.
    fn previous_inference(&mut self, thread: ThreadIdx, id: &str) -> Step<Option<InferenceIdx>> {
        let found = self.draft.trace.symbols.get(id).and_then(|response| {
            let calls = self.inferences_by_response.get(&(thread, response))?;
            calls.iter().copied().min_by_key(|call| self.draft.trace.text(self.draft.trace.inferences[*call].id))
        });
        if found.is_none() {
            let message = format!("the request goes on from response {id}, which the thread does not have");
            self.draft.odd(Code::ResponseUnknown, message)?;
            // The best guess: the request continues the newest call.
            return Ok(self.history(thread).newest);
        }
        Ok(found)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of three similar events")]
    pub(super) fn inference_ended(
        &mut self,
        id: &str,
        status: ExecutionStatus,
        response_id: Option<&str>,
        upstream_request_id: Option<&str>,
        reference: Option<&PayloadRef<'_>>,
        error: Option<&str>,
        ingested: Ingested,
    ) -> Step {
        let id = self.draft.intern(id);
        let Some(inference) = self.inferences_by_id.get(&id).copied() else {
            let message = format!("inference call {} ends, but it was never started", self.draft.trace.text(id));
            return self.draft.odd(Code::InferenceUnknown, message);
        };
        let payload = reference.map(|reference| self.draft.intern(&reference.raw_payload_id));
        if let Some(payload) = payload {
            match ingested {
                Ingested::Response(response) => self.place_response(inference, payload, response)?,
                Ingested::Failed(failure) => self.draft.bad_payload(payload, &failure.problem)?,
                _ => self.draft.bad_payload(payload, &PayloadProblem::Shape("no response"))?,
            }
            self.draft.trace.inferences[inference].response_payload_id = Some(payload);
        }
        self.set_response_id(inference, response_id);
        let upstream = upstream_request_id.map(|id| self.draft.intern(id));
        let call = &mut self.draft.trace.inferences[inference];
        if call.execution.is_running() {
            call.execution.end(self.draft.event.at, status);
        }
        call.upstream_request_id = upstream.or(call.upstream_request_id);
        call.error = error.map(Into::into);
        Ok(())
    }

    fn place_response(&mut self, inference: InferenceIdx, payload: Symbol, response: Response) -> Step {
        let norms: Vec<NormIdx> = response.items.into_iter().map(|item| self.take_norm(item)).collect();
        self.check_items(payload, &norms)?;
        let InferenceCall { thread, turn, .. } = self.draft.trace.inferences[inference];
        let live = self.history(thread).live;
        let mode = if self.draft.is_v1() { Mode::Append { start: live.len() } } else { Mode::Response };
        let placing = Placing {
            thread,
            turn: Some(self.draft.trace.turns[turn].id),
            payload,
            mode,
            base: live,
            known: 0,
            producer: Some(Producer::Inference(inference)),
        };
        let items = self.place(placing, &norms)?;
        for item in std::mem::take(&mut self.draft.trace.inferences[inference].response_items) {
            self.items[item].response_of.retain(|call| *call != inference);
        }
        for item in &items {
            if !self.items[*item].response_of.contains(&inference) {
                self.items[*item].response_of.push(inference);
            }
            let is_call = self.draft.trace.items[*item].kind.is_call();
            if let Some(tool) = self.items[*item].tool.filter(|_| is_call) {
                // The tool started before its call was seen. They are linked when the call is seen again.
                self.tools[tool].unlinked.push(inference);
                for call_item in self.draft.trace.tools[tool].call_items.clone() {
                    self.mark_stale(call_item);
                }
            }
        }
        let newest = self.history(thread).newest == Some(inference);
        if self.draft.is_v1() || newest {
            let mut list = if self.draft.is_v1() { live } else { self.context_of(inference) };
            for item in &items {
                list = self.append(list, *item);
            }
            self.history(thread).live = list;
        }
        let call = &mut self.draft.trace.inferences[inference];
        call.response_items = items;
        if response.usage.is_some() {
            call.usage = response.usage;
        }
        Ok(())
    }

    /// Returns what the model read in a call. If the request could not be read, it is the newest context of the thread.
    fn context_of(&mut self, inference: InferenceIdx) -> ItemList {
        let call = &self.draft.trace.inferences[inference];
        let readable = self.draft.is_usable(call.request_payload_id);
        if readable { call.request_items } else { self.history(call.thread).live }
    }

    fn set_response_id(&mut self, inference: InferenceIdx, response_id: Option<&str>) {
        let response_id = response_id.map(|id| self.draft.intern(id));
        let call = &mut self.draft.trace.inferences[inference];
        let before = std::mem::replace(&mut call.response_id, response_id);
        let thread = call.thread;
        if before == response_id {
            return;
        }
        if let Some(before) = before
            && let Some(calls) = self.inferences_by_response.get_mut(&(thread, before))
        {
            calls.retain(|call| *call != inference);
        }
        if let Some(after) = response_id {
            self.inferences_by_response.entry((thread, after)).or_default().push(inference);
        }
    }
}
