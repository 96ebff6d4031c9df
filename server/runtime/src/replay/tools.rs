//! Intercepts the calls of tools: answers them from the recording, and keeps the recorded order among agents.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trace_recorder::format::ExecutionStatus;

use super::choices::ReplayTools;
use super::compare::{is_aborted, is_note_of_call};
use super::schedule::Wait;
use super::session::RecordedCall;
use super::state::{ReplayState, RequestPlace, acts_on_others, error_of, is_stopped, stops_other, waits, was_stopped};
use crate::history::ABORTED;
use crate::identity::review_path;
use crate::settings::Settings;
use crate::tool::{AfterCall, CallDescription, CallOrder, Tool, ToolCall, ToolContext, ToolOutcome};

/// Intercepts the calls of all other tools.
pub(super) struct ReplayTool {
    pub(super) state: Arc<ReplayState>,
    /// The tools that concern other agents. They run live.
    pub(super) agents: Vec<Arc<dyn Tool>>,
    /// All tools that every agent has. They determine the order of calls that run live.
    pub(super) all: Vec<Arc<dyn Tool>>,
    pub(super) tools: ReplayTools,
}

impl ReplayTool {
    fn of_agents(&self, call: &ToolCall) -> Option<&Arc<dyn Tool>> {
        self.agents.iter().find(|tool| tool.is_called(call.namespace.as_deref(), &call.name))
    }

    /// Returns the tool that runs a call live.
    fn live(&self, context: &ToolContext) -> Option<Arc<dyn Tool>> {
        match self.tools {
            ReplayTools::Recorded => None,
            ReplayTools::Live => context.next.clone(),
        }
    }
}

impl Tool for ReplayTool {
    /// Offers no specification; the intercepted tools do.
    fn specification(&self, _: &Settings) -> Option<Value> {
        None
    }

    fn is_called(&self, _: Option<&str>, _: &str) -> bool {
        true
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        if let Some(live) = self.of_agents(call) {
            return live.description(call);
        }
        let recorded = self.state.session.tracks.iter().flat_map(|track| &track.turns).flat_map(|turn| &turn.calls);
        let recorded = recorded.map(|recorded| (&recorded.id, &recorded.description));
        let mut same = recorded.filter(|(id, _)| *id == call.id.as_str()).map(|(_, description)| description);
        match same.next() {
            Some(description) => description.clone(),
            None => CallDescription { kind: "other".to_owned(), label: call.name.clone(), input_preview: None },
        }
    }

    /// Recorded outputs and calls that concern other agents keep the recorded order; calls that run live have the order of
    /// their tools.
    fn order(&self, call: &ToolCall) -> CallOrder {
        if self.tools == ReplayTools::Recorded || self.of_agents(call).is_some() {
            return CallOrder::Independent;
        }
        let mut all = self.all.iter();
        let tool = all.find(|tool| tool.is_called(call.namespace.as_deref(), &call.name));
        tool.map_or(CallOrder::Independent, |tool| tool.order(call))
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let state = Arc::clone(&self.state);
        let working = state.order.call(context.turn.as_str());
        let of_agents = self.of_agents(&call).cloned();
        let live = self.live(&context);
        let tools = self.tools;
        async move {
            let _working = working;
            let path = context.agent.path().to_owned();
            let turn = context.turn.clone();
            let paths = [path.as_str(), &review_path(&path)];
            let Some((place, recorded)) = state.call(&paths, turn.as_str(), &call) else {
                let place = state.newest(&path, turn.as_str());
                return match (live, tools) {
                    (Some(live), _) => live.call(context, call).await,
                    (None, ReplayTools::Recorded) => unknown(&state, place, &context, &call).await,
                    (None, ReplayTools::Live) => failed(json!(format!("unsupported call: {}", call.name))),
                };
            };
            let calling = Calling { state: &state, place, recorded, live: turn.as_str() };
            match (of_agents, live) {
                (Some(tool), _) if waits(recorded) => calling.wait(tool.as_ref(), context, call).await,
                (Some(tool), _) if calling.has_acted() && acts_on_others(recorded) => {
                    calling.act(tool.as_ref(), context, call).await
                }
                (None, Some(tool)) => calling.run(tool.as_ref(), context, call).await,
                _ => calling.answer(&context, &call).await,
            }
        }
        .boxed()
    }
}

/// A call with its counterpart in the recording.
struct Calling<'a> {
    state: &'a Arc<ReplayState>,
    place: RequestPlace,
    recorded: &'a RecordedCall,
    live: &'a str,
}

impl Calling<'_> {
    fn succeeded(&self) -> bool {
        matches!(self.recorded.end, Some((_, ExecutionStatus::Completed, _)))
    }

    /// Returns whether a call that acts on other agents did so.
    fn has_acted(&self) -> bool {
        self.succeeded() || self.is_cut() || self.recorded.has_acted
    }

    /// Returns whether the recording ends while the call runs.
    fn is_cut(&self) -> bool {
        self.recorded.end.is_none() && self.state.turn(self.place).ended.is_none()
    }

    /// Runs a call that acts on other agents, at its recorded moment.
    async fn act(&self, tool: &dyn Tool, context: ToolContext, call: ToolCall) -> ToolOutcome {
        let (name, shown) = (call.name.clone(), call.clone());
        self.state.reach(self.live, self.recorded.seq).await;
        if let Some((end, ..)) = self.recorded.end.as_ref().filter(|_| stops_other(self.recorded)) {
            // The other agent may still have made a request. It stops itself where it was stopped in the recording.
            self.state.order.pass(self.recorded.seq);
            self.state.reach(self.live, *end).await;
        }
        let outcome = tool.call(context.clone(), call).await;
        self.state.order.pass(self.recorded.seq);
        if !outcome.success && self.succeeded() {
            let said = outcome.output.as_str().unwrap_or_default();
            let message = format!("the call succeeded in the recording and fails now: {said}");
            let _ = self
                .state
                .diverge(self.place.track, self.state.divergence(self.place, format!("call {name}"), message));
        } else if stops_other(self.recorded) || was_stopped(self.state.turn(self.place), self.recorded) {
            return self.answer(&context, &shown).await;
        }
        outcome
    }

    /// Waits for other agents as long as the recorded call did.
    async fn wait(&self, tool: &dyn Tool, context: ToolContext, call: ToolCall) -> ToolOutcome {
        let shown = call.clone();
        let Some((end, ..)) =
            self.recorded.end.as_ref().filter(|_| !was_stopped(self.state.turn(self.place), self.recorded))
        else {
            return self.answer(&context, &call).await;
        };
        let waiting = tool.call(context.clone(), call);
        tokio::select! {
            biased;
            outcome = waiting => {
                // A message ends the wait early, but the call ends at its recorded moment.
                tokio::select! {
                    () = self.state.reach(self.live, *end) => {}
                    () = context.cancelled.cancelled() => {}
                }
                self.state.order.pass(*end);
                outcome
            }
            () = self.state.reach(self.live, *end) => {
                self.state.order.pass(*end);
                self.answer(&context, &shown).await
            }
        }
    }

    /// Runs a tool, and interrupts its turn where the recorded turn was interrupted.
    async fn run(&self, tool: &dyn Tool, context: ToolContext, call: ToolCall) -> ToolOutcome {
        self.state.order.pass(self.recorded.seq);
        let Some(stopped) = self.stopped_at() else { return tool.call(context, call).await };
        // Calls that were interrupted together with this one may be queued behind it, so they do not start before it ends.
        let turn = self.state.turn(self.place);
        let behind = turn.calls.iter().filter(|call| was_stopped(turn, call) && !waits(call) && !acts_on_others(call));
        behind.for_each(|call| self.state.order.pass(call.seq));
        let stop = async {
            self.state.reach_unseen(stopped).await;
            self.state.interrupt(self.place, self.live).await;
            futures_util::future::pending().await
        };
        tokio::select! {
            outcome = tool.call(context, call) => outcome,
            outcome = stop => outcome,
        }
    }

    /// Returns where the turn was interrupted while this call ran.
    fn stopped_at(&self) -> Option<u64> {
        let turn = self.state.turn(self.place);
        let (turn_end, _) = turn.ended.filter(|_| is_stopped(turn))?;
        if was_stopped(turn, self.recorded) {
            return self.recorded.end.as_ref().map(|end| end.0).or(Some(turn_end));
        }
        // An interrupted call may still have reported its output.
        let is_last = self.place.exchange + 1 == turn.exchanges.len();
        let after = turn.exchanges.last().map_or(0, |exchange| exchange.seq);
        let of_last = turn.calls.iter().filter(|call| call.seq > after);
        (is_last && !of_last.clone().any(|call| was_stopped(turn, call))).then_some(turn_end)
    }

    /// Answers with the recorded output.
    async fn answer(&self, context: &ToolContext, call: &ToolCall) -> ToolOutcome {
        let Self { state, place, recorded, .. } = *self;
        let turn = state.turn(place);
        state.order.pass(recorded.seq);
        if was_stopped(turn, recorded) {
            return stopped(state, place, context, self.stopped_at().unwrap_or_default()).await;
        }
        if self.is_cut() {
            return failed(json!(state.recording_ends(place).message));
        }
        self.compare(call);
        let success = self.succeeded();
        let result =
            recorded.end.as_ref().and_then(|(seq, _, result)| state.session.read(*seq, result.as_deref()?).ok());
        let output = match result.as_ref().and_then(output_of) {
            // The Codex CLI records the whole output of a code cell, and shortens what the model sees. Claude Code adds
            // reminders to what the model sees.
            Some(output) if state.session.is_imported || state.session.is_foreign && output.is_array() => {
                shown(state, place, call).or(Some(output))
            }
            output => output.or_else(|| shown(state, place, call)),
        };
        match output {
            Some(output) => ToolOutcome { output, success, then: AfterCall::Continue },
            None => {
                let message = "the recording has no output of this call".to_owned();
                let divergence = state.divergence(place, format!("call {}", call.name), message);
                let text = error_of(&divergence).message;
                let _ = state.diverge(place.track, divergence);
                failed(json!(text))
            }
        }
    }

    /// Compares the input with the recorded one.
    fn compare(&self, call: &ToolCall) {
        let Self { state, place, recorded, .. } = *self;
        let Some(invocation) = &recorded.invocation else { return };
        let Ok(invocation) = state.session.read(recorded.seq, invocation) else { return };
        let payload = invocation.get("payload");
        let input = payload.and_then(|payload| payload.get("arguments").or_else(|| payload.get("input")));
        let Some(input) = input.and_then(Value::as_str) else { return };
        let rules = state.rules().clone();
        if let Some(diff) = rules.input_difference(input, &call.input) {
            let message = "the call is not the recorded one".to_owned();
            let mut divergence = state.divergence(place, format!("call {}", call.name), message);
            divergence.diff = Some(diff);
            let _ = state.diverge(place.track, divergence);
        }
    }
}

/// Answers a call that was interrupted together with its turn, once the turn is.
async fn stopped(state: &Arc<ReplayState>, place: RequestPlace, context: &ToolContext, moment: u64) -> ToolOutcome {
    let live = context.turn.as_str();
    tokio::select! {
        () = state.reach(live, moment) => {}
        () = context.cancelled.cancelled() => {}
    }
    let _stop = state.order.wait(live, Wait::Stop);
    state.interrupt(place, live).await;
    context.cancelled.cancelled().await;
    failed(json!(ABORTED))
}

/// Answers a call that the recording does not have. Calls come from recorded answers, but some recorders omit calls of
/// unknown tools and code cells. Their output is in the next request.
async fn unknown(
    state: &Arc<ReplayState>,
    place: Option<RequestPlace>,
    context: &ToolContext,
    call: &ToolCall,
) -> ToolOutcome {
    let Some(place) = place else {
        return failed(json!("the recording has no such turn, and so no output for this call"));
    };
    let turn = state.turn(place);
    let is_last = place.exchange + 1 >= turn.exchanges.len();
    let is_answered = |output: &Value| !(is_last && is_stopped(turn) && output.as_str().is_some_and(is_aborted));
    if let Some(output) = shown(state, place, call).filter(is_answered) {
        return failed(output);
    }
    if turn.ended.is_none() && is_last {
        return failed(json!(state.recording_ends(place).message));
    }
    let next = RequestPlace { exchange: place.exchange + 1, ..place };
    match turn.ended {
        // The turn was interrupted before the call started, or while it ran.
        Some((end, _)) if is_last && is_stopped(turn) => {
            return stopped(state, place, context, end).await;
        }
        Some(_) if is_last && state.session.is_foreign => {
            return failed(json!("the recorded turn failed before the model saw the output of this call"));
        }
        _ if state.is_replaced(next).unwrap_or_default() => {
            return failed(json!("the recorded history was compacted before the model saw the output of this call"));
        }
        _ => {}
    }
    let message = "the recording has no such call".to_owned();
    let divergence = state.divergence(place, format!("call {}", call.name), message);
    let text = error_of(&divergence).message;
    let _ = state.diverge(place.track, divergence);
    failed(json!(text))
}

/// Returns the output in the result of a call.
fn output_of(result: &Value) -> Option<Value> {
    let item = result.get("response_item").and_then(|item| item.get("output"));
    let error = || result.get("error").filter(|error| error.is_string());
    item.or_else(error).cloned()
}

/// Returns the output of the call in the next request of the agent.
fn shown(state: &ReplayState, place: RequestPlace, call: &ToolCall) -> Option<Value> {
    let next = state.next_exchange(place)?;
    let request = state.session.request(next).ok()?;
    let items = request.get("input")?.as_array()?;
    let is_output = |item: &&Value| {
        item.get("call_id").and_then(Value::as_str) == Some(call.id.as_str())
            && item.get("output").is_some()
            && !is_note_of_call(item)
    };
    items.iter().rfind(is_output)?.get("output").cloned()
}

fn failed(output: Value) -> ToolOutcome {
    ToolOutcome { output, success: false, then: AfterCall::Continue }
}
