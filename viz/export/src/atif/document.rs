//! The objects of a trajectory, in the order of the members in the format's description.

use serde::Serialize;
use serde_json::value::RawValue;
use trace_explain::audit::Finding;

/// Who made the steps of a trajectory.
#[derive(Debug, Serialize)]
pub(super) struct Agent<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_name: Option<&'a str>,
}

/// One step.
#[derive(Debug, Serialize)]
pub(super) struct Step<'a> {
    pub(super) step_id: usize,
    pub(super) timestamp: String,
    pub(super) source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_name: Option<&'a str>,
    pub(super) message: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<ToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observation: Option<Observation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) llm_call_count: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_copied_context: bool,
    pub(super) extra: Extra<OwnStep<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes members by reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// What was said: a text, or parts if there are several.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Message {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part {
    Text { text: String },
}

impl Message {
    /// Makes a message of texts.
    pub(super) fn of(mut texts: Vec<String>) -> Self {
        match texts.len() {
            0 | 1 => Self::Text(texts.pop().unwrap_or_default()),
            _ => Self::Parts(texts.into_iter().map(|text| Part::Text { text }).collect()),
        }
    }
}

/// A call of a tool.
#[derive(Debug, Serialize)]
pub(super) struct ToolCall<'a> {
    pub(super) tool_call_id: &'a str,
    pub(super) function_name: String,
    /// An object.
    pub(super) arguments: Box<RawValue>,
    pub(super) extra: Extra<OwnCall<'a>>,
}

/// What tools returned.
#[derive(Debug, Serialize)]
pub(super) struct Observation<'a> {
    pub(super) results: Vec<ObservationResult<'a>>,
}

/// What one tool returned.
#[derive(Debug, Serialize)]
pub(super) struct ObservationResult<'a> {
    pub(super) source_call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) subagent_trajectory_ref: Vec<TrajectoryRef<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<Failure>,
}

/// Names the trajectory of a child.
#[derive(Debug, Serialize)]
pub(super) struct TrajectoryRef<'a> {
    pub(super) trajectory_id: &'a str,
}

/// Marks a result as that of a call which failed. The format has no place for it.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    pub(super) is_error: bool,
}

/// Tokens of a step.
#[derive(Debug, Serialize)]
pub(super) struct Metrics {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) cached_tokens: u64,
    pub(super) extra: MoreTokens,
}

/// Tokens that the format does not count.
#[derive(Debug, Serialize)]
pub(super) struct MoreTokens {
    pub(super) reasoning_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
}

/// Sums of a trajectory, without those of children.
#[derive(Debug, Default, Serialize)]
pub(super) struct FinalMetrics {
    total_prompt_tokens: u64,
    total_completion_tokens: u64,
    total_cached_tokens: u64,
    pub(super) total_steps: u64,
}

impl FinalMetrics {
    /// Adds a step.
    pub(super) fn add(&mut self, step: &Step<'_>) {
        self.total_steps += 1;
        let Some(metrics) = &step.metrics else { return };
        self.total_prompt_tokens = self.total_prompt_tokens.saturating_add(metrics.prompt_tokens);
        self.total_completion_tokens = self.total_completion_tokens.saturating_add(metrics.completion_tokens);
        self.total_cached_tokens = self.total_cached_tokens.saturating_add(metrics.cached_tokens);
    }
}

/// What this program adds.
#[derive(Debug, Serialize)]
pub(super) struct Extra<T> {
    pub(super) rollout: T,
}

/// What the format does not hold of a thread.
#[derive(Debug, Serialize)]
pub(super) struct OwnThread<'a> {
    pub(super) thread_id: &'a str,
    pub(super) agent_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nickname: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'a str>,
    pub(super) turns: Vec<OwnTurn<'a>>,
    /// What an audit finds in the claims and acts of the thread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<&'a Finding>,
}

/// A turn.
#[derive(Debug, Serialize)]
pub(super) struct OwnTurn<'a> {
    pub(super) id: &'a str,
    pub(super) status: &'static str,
    pub(super) started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<String>,
}

/// What the format does not hold of a step.
#[derive(Debug, Default, Serialize)]
pub(super) struct OwnStep<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<&'a str>,
    /// The role of a message for which the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    /// Whether the step only stands for a thread without steps, which the format does not allow.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_empty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inference_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upstream_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<String>,
}

/// What the format does not hold of a call.
#[derive(Debug, Serialize)]
pub(super) struct OwnCall<'a> {
    pub(super) kind: &'a str,
    /// The name of the tool in its kind, if it differs from that of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'a str>,
    /// Whether code made the call, so that the model did not see it.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_nested: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i64>,
    pub(super) status: &'static str,
    pub(super) started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<String>,
}
