//! What a span tells, in terms that all dialects share.

use std::borrow::Cow;

use serde_json::value::RawValue;
use trace_recorder::format::{ExecutionStatus, RolloutStatus, ToolKind};

use crate::summary::Usage;

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// An agent at work, from a task to its answer.
    Agent,
    /// A turn of an agent.
    Turn,
    /// A request to a model.
    Model,
    /// A tool that runs.
    Tool,
    /// Something that has no place in the graph.
    Other,
}

/// What the span of an agent tells.
#[derive(Debug, Clone, Default)]
pub(super) struct Agent<'s> {
    /// The name for people. Empty if it has none.
    pub(super) name: &'s str,
    /// Identifies the agent among the agents of the session.
    pub(super) key: Option<&'s str>,
    /// The conversation that the agent takes part in.
    pub(super) conversation: Option<&'s str>,
    /// The thread that the span is an export of.
    pub(super) thread: Option<Thread<'s>>,
}

/// What the span of an exported thread tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread<'s> {
    pub(super) id: &'s str,
    pub(super) path: &'s str,
    pub(super) nickname: Option<&'s str>,
    pub(super) task: Option<&'s str>,
    pub(super) role: Option<&'s str>,
    /// How the thread ended. `None` if it did not.
    pub(super) status: Option<RolloutStatus>,
}

/// What the span of a turn tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turn<'s> {
    /// The id of the turn, if it is another than that of the span.
    pub(super) id: Option<&'s str>,
    /// How the turn ended, if the span says it.
    pub(super) ending: Option<Ending>,
}

/// How something ended that a span is an export of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It did not end.
    Open,
    /// It ended with this status.
    With(ExecutionStatus),
}

/// What the span of a request to a model tells, but for the messages.
#[derive(Debug, Default)]
pub(super) struct Model<'s> {
    /// The id of the inference call that the span is an export of.
    pub(super) id: Option<&'s str>,
    pub(super) model: &'s str,
    pub(super) provider: &'s str,
    pub(super) response_id: Option<Cow<'s, str>>,
    pub(super) request_id: Option<&'s str>,
    pub(super) usage: Option<Usage>,
    pub(super) instructions: Option<Cow<'s, str>>,
    /// The definitions of the tools as JSON.
    pub(super) tools: Option<Box<RawValue>>,
    /// Further parameters as JSON.
    pub(super) parameters: Option<Box<RawValue>>,
    pub(super) ending: Option<Ending>,
}

/// What the span of a tool tells.
#[derive(Debug, Default)]
pub(super) struct Tool<'s> {
    pub(super) name: &'s str,
    /// The model's id of the call.
    pub(super) call_id: Option<&'s str>,
    pub(super) arguments: Option<Cow<'s, str>>,
    pub(super) result: Option<Cow<'s, str>>,
    /// The kind, if the span says it.
    pub(super) kind: Option<ToolKind<'static>>,
    pub(super) ending: Option<Ending>,
    /// Whether code made the call, so that the model does not see it.
    pub(super) is_nested: bool,
    /// The exit code of the command that the tool ran.
    pub(super) exit_code: Option<i32>,
}

/// Returns the tokens of a request if a span has any of the numbers. Some providers count the tokens of the cache beside
/// those of the input, which shows when they are more.
pub(super) fn usage(
    input: Option<u64>,
    output: Option<u64>,
    cached_input: Option<u64>,
    cache_write_input: Option<u64>,
    reasoning_output: Option<u64>,
) -> Option<Usage> {
    if input.is_none() && output.is_none() {
        return None;
    }
    let (cached, written) = (cached_input.unwrap_or(0), cache_write_input.unwrap_or(0));
    let mut input = input.unwrap_or(0);
    let of_cache = cached.saturating_add(written);
    if of_cache > input {
        input = input.saturating_add(of_cache);
    }
    Some(Usage {
        input,
        cached_input: cached,
        cache_write_input: written,
        output: output.unwrap_or(0),
        reasoning_output: reasoning_output.unwrap_or(0),
    })
}

/// Returns a text as JSON if it is some.
pub(super) fn raw(text: Cow<'_, str>) -> Option<Box<RawValue>> {
    RawValue::from_string(text.into_owned()).ok()
}
