//! The members of an ATIF trajectory that are read. Versions 1.0 to 1.7 of the format differ in members that were added.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::text::Text;

/// A trajectory: a session, or a child inside of one.
#[derive(Debug, Deserialize)]
pub(super) struct Trajectory<'a> {
    #[serde(borrow)]
    pub(super) session_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) trajectory_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) agent: Option<Agent<'a>>,
    /// A step that cannot be read costs only itself.
    #[serde(borrow, default)]
    pub(super) steps: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) continued_trajectory_ref: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) subagent_trajectories: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Agent<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) version: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) model_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_definitions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Step<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) source: Text<'a>,
    #[serde(borrow)]
    pub(super) model_name: Option<Text<'a>>,
    /// A text, or a list of parts since version 1.6.
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    pub(super) observation: Option<Observation<'a>>,
    #[serde(borrow)]
    pub(super) metrics: Option<Metrics<'a>>,
    #[serde(default)]
    pub(super) is_copied_context: Option<bool>,
    pub(super) llm_call_count: Option<u64>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolCall<'a> {
    #[serde(borrow, default)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) function_name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Observation<'a> {
    #[serde(borrow, default)]
    pub(super) results: Vec<ObservationResult<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ObservationResult<'a> {
    #[serde(borrow)]
    pub(super) source_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) subagent_trajectory_ref: Option<Vec<TrajectoryRef<'a>>>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

/// Names another trajectory: by the id of an embedded one, by a path, or, before version 1.7, by the id of its session.
#[derive(Debug, Deserialize)]
pub(super) struct TrajectoryRef<'a> {
    #[serde(borrow)]
    pub(super) trajectory_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) trajectory_path: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Metrics<'a> {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) cached_tokens: Option<u64>,
    #[serde(borrow)]
    pub(super) extra: Option<&'a RawValue>,
}

/// Further tokens, under the names that writers give them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct MoreTokens {
    #[serde(alias = "reasoning_output_tokens", alias = "thoughts_tokens")]
    pub(super) reasoning_tokens: Option<u64>,
    #[serde(alias = "cache_write_input_tokens", alias = "cache_write_tokens")]
    pub(super) cache_creation_input_tokens: Option<u64>,
}

/// Whether a tool failed, as writers say it beside the format.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Failure {
    #[serde(alias = "tool_result_is_error")]
    pub(super) is_error: Option<bool>,
}

/// Where the agent worked, as writers say it beside the format.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Whereabouts<'a> {
    #[serde(borrow)]
    pub(super) cwd: Option<Text<'a>>,
}

/// What an export of this program adds in `extra`, under `rollout`. `T` depends on what the extra belongs to.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub(super) struct Extra<T> {
    pub(super) rollout: Option<T>,
}

/// What an export tells of a thread.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OwnThread<'a> {
    #[serde(borrow)]
    pub(super) thread_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) agent_path: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) nickname: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) task: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) role: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) turns: Vec<OwnTurn<'a>>,
}

/// What an export tells of a turn.
#[derive(Debug, Deserialize)]
pub(super) struct OwnTurn<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) started_at: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) ended_at: Option<Text<'a>>,
}

/// What an export tells of a step, or of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OwnCall<'a> {
    #[serde(borrow)]
    pub(super) turn_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) inference_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) response_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) upstream_request_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) provider: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) started_at: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) ended_at: Option<Text<'a>>,
    /// The role of a message for which the format has none.
    #[serde(borrow)]
    pub(super) role: Option<Text<'a>>,
    /// Whether the step only stands for a thread without steps, which the format does not allow.
    #[serde(default)]
    pub(super) is_empty: bool,
    /// The kind of a tool, in the words of the graph.
    #[serde(borrow)]
    pub(super) kind: Option<Text<'a>>,
    /// The name of the tool in its kind.
    #[serde(borrow)]
    pub(super) tool: Option<Text<'a>>,
    /// Whether code made the call, so that the model does not see it.
    #[serde(default)]
    pub(super) is_nested: bool,
    pub(super) exit_code: Option<i32>,
}

/// A part of a message since version 1.6.
#[derive(Debug, Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

/// A part of a message: a text, or something else as it is.
#[derive(Debug, Clone)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Other(&'a RawValue),
}

/// Returns the parts of a message or of a result.
pub(super) fn pieces(value: Option<&RawValue>) -> Vec<Piece<'_>> {
    let Some(value) = value else { return Vec::new() };
    match value.get().as_bytes().first() {
        Some(b'[') => {
            let parts: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
            parts.into_iter().map(piece).collect()
        }
        Some(b'n') | None => Vec::new(),
        Some(b'"') => match serde_json::from_str::<Text<'_>>(value.get()) {
            Ok(text) if !text.is_empty() => vec![Piece::Text(text.0)],
            _ => Vec::new(),
        },
        Some(_) => vec![Piece::Text(Cow::Borrowed(value.get()))],
    }
}

fn piece(part: &RawValue) -> Piece<'_> {
    match serde_json::from_str::<Part<'_>>(part.get()) {
        Ok(Part { text: Some(text) }) => Piece::Text(text.0),
        _ => Piece::Other(part),
    }
}

/// Returns an extra member if it has the wanted form.
pub(super) fn extra<'a, T: Deserialize<'a> + Default>(value: Option<&'a RawValue>) -> T {
    value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
}

/// Returns what an export of this program adds.
pub(super) fn own<'a, T: Deserialize<'a> + Default>(value: Option<&'a RawValue>) -> T {
    let extra: Option<Extra<T>> = value.and_then(|value| serde_json::from_str(value.get()).ok());
    extra.and_then(|extra| extra.rollout).unwrap_or_default()
}
