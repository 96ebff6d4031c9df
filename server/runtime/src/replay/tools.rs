//! Stands before the tools of agents: answers calls out of the recording, and keeps the recorded order among agents.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trace_recorder::format::ExecutionStatus;

use super::play::ReplayTools;
use super::stage::{Place, Stage, error_of, reaches_others};
use super::tape::TapeCall;
use crate::agent::review_path;
use crate::history::ABORTED;
use crate::settings::Settings;
use crate::tool::{CallDescription, Then, Tool, ToolCall, ToolContext, ToolOutcome};

/// Stands before all tools.
pub(super) struct Played {
    pub(super) stage: Arc<Stage>,
    /// The tools for other agents. They work.
    pub(super) agents: Vec<Arc<dyn Tool>>,
    pub(super) tools: ReplayTools,
}

impl Played {
    fn live(&self, namespace: Option<&str>, name: &str) -> Option<&Arc<dyn Tool>> {
        self.agents.iter().find(|tool| tool.is_called(namespace, name))
    }
}

impl Tool for Played {
    /// Offers nothing: the tools behind it do.
    fn specification(&self, _: &Settings) -> Option<Value> {
        None
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        self.tools == ReplayTools::Recorded || self.live(namespace, name).is_some()
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        if let Some(live) = self.live(call.namespace.as_deref(), &call.name) {
            return live.description(call);
        }
        let recorded = self.stage.tape.tracks.iter().flat_map(|track| &track.turns).flat_map(|turn| &turn.calls);
        let recorded = recorded.map(|recorded| (&recorded.id, &recorded.description));
        let mut same = recorded.filter(|(id, _)| *id == call.id.as_str()).map(|(_, description)| description);
        match same.next() {
            Some(description) => description.clone(),
            None => CallDescription { kind: "other".to_owned(), label: call.name.clone(), input_preview: None },
        }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let stage = Arc::clone(&self.stage);
        let live = self.live(call.namespace.as_deref(), &call.name).cloned();
        async move {
            let path = context.agent.path().to_owned();
            let turn = context.turn.clone();
            let paths = [path.as_str(), &review_path(&path)];
            let found = stage.call(&paths, turn.as_str(), &call);
            let place = found.map(|(place, _)| place).or_else(|| stage.place(&path, turn.as_str()));
            let outcome = match (live, found) {
                (Some(live), found) => {
                    if let Some((_, recorded)) = found {
                        stage.order.reach(recorded.seq).await;
                    }
                    let outcome = live.call(context, call).await;
                    if let Some((_, recorded)) = found.filter(|(_, recorded)| reaches_others(recorded)) {
                        let end = recorded.end.as_ref().map_or(recorded.seq, |end| end.0);
                        stage.order.pass(end);
                    }
                    outcome
                }
                (None, Some((place, recorded))) => answer(&stage, place, recorded, &context, &call).await,
                (None, None) => unknown(&stage, place, &call),
            };
            // What others did before the next request has to be there for it.
            let next = place.and_then(|place| stage.turn(place).exchanges.get(place.exchange + 1));
            if let Some(next) = next {
                stage.order.reach(next.seq).await;
            }
            outcome
        }
        .boxed()
    }
}

/// Answers a call with what the recording has.
async fn answer(
    stage: &Arc<Stage>,
    place: Place,
    recorded: &TapeCall,
    context: &ToolContext,
    call: &ToolCall,
) -> ToolOutcome {
    let was_stopped =
        matches!(recorded.end, None | Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted, _)));
    if was_stopped && super::stage::is_stopped(stage.turn(place)) {
        stage.cue(super::stage::CueKind::Interrupt).await;
        context.cancelled.cancelled().await;
        return outcome(json!(ABORTED), false);
    }
    let read = |seq: u64, payload: &str| stage.tape.read(seq, payload);
    if let Some(invocation) = &recorded.invocation
        && let Ok(invocation) = read(recorded.seq, invocation)
        && let Some(payload) = invocation.get("payload")
        && let Some(input) = payload.get("arguments").or_else(|| payload.get("input")).and_then(Value::as_str)
    {
        let rules = stage.rules.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let difference = rules.input_difference(input, &call.input);
        drop(rules);
        if let Some(diff) = difference {
            let message = "the call is not the recorded one".to_owned();
            let mut divergence = stage.divergence(place, format!("call {}", call.name), message);
            divergence.diff = Some(diff);
            let _ = stage.diverge(place.track, divergence);
        }
    }
    let success = matches!(recorded.end, Some((_, ExecutionStatus::Completed, _)));
    let result = recorded.end.as_ref().and_then(|(seq, _, result)| read(*seq, result.as_deref()?).ok());
    let output = result.as_ref().and_then(output_of).or_else(|| shown(stage, place, call));
    match output {
        Some(output) => outcome(output, success),
        None => {
            let message = "the recording has no output of this call".to_owned();
            let divergence = stage.divergence(place, format!("call {}", call.name), message);
            let text = error_of(&divergence).message;
            let _ = stage.diverge(place.track, divergence);
            outcome(json!(text), false)
        }
    }
}

/// Answers a call that the recording does not have. Calls come from recorded answers, so some recorders leave such calls out that
/// nobody could carry out; what the model was told is in the next request.
fn unknown(stage: &Stage, place: Option<Place>, call: &ToolCall) -> ToolOutcome {
    let Some(place) = place else {
        return outcome(json!("the recording has no such turn, so nothing to answer the call with"), false);
    };
    if let Some(output) = shown(stage, place, call) {
        return outcome(output, false);
    }
    let message = "the recording has no such call".to_owned();
    let divergence = stage.divergence(place, format!("call {}", call.name), message);
    let text = error_of(&divergence).message;
    let _ = stage.diverge(place.track, divergence);
    outcome(json!(text), false)
}

/// Returns the output in the result of a call.
fn output_of(result: &Value) -> Option<Value> {
    let item = result.get("response_item").and_then(|item| item.get("output"));
    let error = || result.get("error").filter(|error| error.is_string());
    item.or_else(error).cloned()
}

/// Returns the output that the next request shows.
fn shown(stage: &Stage, place: Place, call: &ToolCall) -> Option<Value> {
    let next = stage.turn(place).exchanges.get(place.exchange + 1)?;
    let request = stage.tape.request(next).ok()?;
    let items = request.get("input")?.as_array()?;
    let is_output = |item: &&Value| {
        item.get("call_id").and_then(Value::as_str) == Some(call.id.as_str()) && item.get("output").is_some()
    };
    items.iter().rfind(is_output)?.get("output").cloned()
}

fn outcome(output: Value, success: bool) -> ToolOutcome {
    ToolOutcome { output, success, then: Then::Continue }
}
