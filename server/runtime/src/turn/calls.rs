//! Runs the tool calls of an answer: concurrently, except for those that depend on an earlier one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ToolTrace;

use super::queue::Queue;
use super::request;
use super::task::{Stop, Task};
use crate::history::{self, ABORTED, CallKind};
use crate::recording;
use crate::tool::{AfterCall, Tool, ToolContext, ToolOutcome};

pub(crate) use super::answer::Call;

/// How long tools may take to end by themselves when a turn is interrupted.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Most tool calls of one answer that are run.
pub(crate) const MAX_CALLS: usize = 128;

/// The calls that were started so far.
struct Calls {
    outcomes: Vec<Option<ToolOutcome>>,
    /// The recorders of the calls, each with the id and kind of its call.
    traces: Vec<(String, CallKind, ToolTrace)>,
    queue: Queue,
    /// The running calls by index. A call that was interrupted before it began has no outcome.
    running: JoinSet<(usize, Option<ToolOutcome>)>,
    /// Index of the call for each task, to find the call of a task that panicked.
    tasks: HashMap<Id, usize>,
}

/// Runs calls and adds their outputs to the conversation in the order of the calls. Returns when all have ended.
pub(crate) async fn run(task: &Task, calls: Vec<Call>) -> Result<(), Stop> {
    if calls.is_empty() {
        return Ok(());
    }
    let mut work = Calls {
        outcomes: vec![None; calls.len()],
        traces: Vec::with_capacity(calls.len()),
        queue: Queue::default(),
        running: JoinSet::new(),
        tasks: HashMap::new(),
    };
    for (index, call) in calls.iter().enumerate() {
        work.start(task, index, call);
    }
    let all = task.unless_stopped(work.finish(task)).await;
    if all.is_err() {
        work.stop(task).await;
    }
    work.abort_rest();
    let is_stopped = all.is_err() || task.cancelled.is_cancelled();
    let outputs = calls.iter().zip(work.outcomes).map(|(call, outcome)| {
        let output = outcome.map_or_else(|| json!(ABORTED), |outcome| output(outcome.output));
        history::output(call.call.id.as_str(), call.kind, &output)
    });
    task.remember(outputs.collect());
    if is_stopped { Err(Stop::Interrupted) } else { Ok(()) }
}

impl Calls {
    fn start(&mut self, task: &Task, index: usize, call: &Call) {
        let is_called = |tool: &&Arc<dyn Tool>| tool.is_called(call.call.namespace.as_deref(), &call.call.name);
        let mut tools = task.agent.tools().filter(is_called);
        let tool = tools.next();
        let description = tool.map(|tool| tool.description(&call.call));
        let trace = recording::start_tool_call(&task.trace, &call.call, description.as_ref());
        self.traces.push((call.call.id.as_str().to_owned(), call.kind, trace.clone()));
        let name = &call.call.name;
        let tool = match tool {
            _ if index >= MAX_CALLS => {
                Err(format!("this call was not carried out: one answer has at most {MAX_CALLS} calls"))
            }
            Some(tool) => Ok(tool),
            None => Err(match &call.call.namespace {
                Some(namespace) => format!("unsupported call: {namespace}.{name}"),
                None => format!("unsupported call: {name}"),
            }),
        };
        let tool = match tool {
            Ok(tool) => tool,
            Err(message) => {
                recording::fail_tool_call(&trace, &message);
                self.outcomes[index] =
                    Some(ToolOutcome { output: json!(message), success: false, then: AfterCall::Continue });
                return;
            }
        };
        let context = ToolContext {
            agent: task.agent.for_tools.clone(),
            turn: task.turn.clone(),
            settings: task.settings(),
            cancelled: task.cancelled.clone(),
            trace,
            model: request::model_access(task),
            next: tools.next().cloned(),
        };
        let (tool, call) = (tool.clone(), call.call.clone());
        let ended = CancellationToken::new();
        let before = self.queue.enter(tool.order(&call), &ended);
        let cancelled = task.cancelled.clone();
        let running = self.running.spawn(async move {
            let _ended = ended.drop_guard();
            for earlier in before {
                let _stopped = cancelled.run_until_cancelled(earlier.cancelled()).await;
                if cancelled.is_cancelled() {
                    return (index, None);
                }
            }
            let outcome = tool.call(context, call).await;
            if outcome.then == AfterCall::Interrupt {
                // This must come before the calls that wait for this one can start.
                cancelled.cancel();
            }
            (index, Some(outcome))
        });
        self.tasks.insert(running.id(), index);
    }

    /// Waits until all calls have ended.
    async fn finish(&mut self, task: &Task) {
        while let Some(ended) = self.running.join_next_with_id().await {
            let (index, outcome) = match ended {
                Ok((_, (_, None))) => continue,
                Ok((_, (index, Some(outcome)))) => (index, outcome),
                Err(error) => {
                    let Some(index) = self.tasks.get(&error.id()).copied() else { continue };
                    tracing::error!(thread = %task.agent.identity.id, %error, "a tool broke down");
                    let output = json!("the tool broke down");
                    (index, ToolOutcome { output, success: false, then: AfterCall::Continue })
                }
            };
            let (id, kind, trace) = &self.traces[index];
            recording::end_tool_call(trace, id, *kind, &outcome);
            self.outcomes[index] = Some(outcome);
        }
    }

    /// Gives tools some time to end by themselves, then aborts them. Nothing of them runs afterwards.
    async fn stop(&mut self, task: &Task) {
        let deadline = Instant::now() + STOP_TIMEOUT;
        if timeout_at(deadline, self.finish(task)).await.is_err() {
            self.running.shutdown().await;
        }
    }

    /// Records calls without an outcome as interrupted.
    fn abort_rest(&self) {
        for ((_, _, trace), outcome) in self.traces.iter().zip(&self.outcomes) {
            if outcome.is_none() {
                recording::abort_tool_call(trace);
            }
        }
    }
}

/// Returns an output in a form that the API accepts: a string or a list.
fn output(output: Value) -> Value {
    match output {
        Value::String(_) | Value::Array(_) => output,
        other => Value::String(other.to_string()),
    }
}
