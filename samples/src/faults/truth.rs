//! The expected verdicts on planted sessions, in the terms of `trace postmortem`.

use serde::{Serialize, Serializer};

/// Outcome of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ended with a failure.
    Failed,
    /// It was interrupted.
    Cancelled,
    /// It has no end.
    Unfinished,
    /// It completed, but a failure in it or below it was not recovered.
    Degraded,
    /// All failures in it were recovered.
    Recovered,
    /// Nothing failed.
    Ok,
}

/// Category of the cause why a turn failed, was interrupted, was degraded or had to recover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// The model provider returned an error.
    ProviderError,
    /// The model provider reported too many requests.
    RateLimited,
    /// The model provider did not authenticate the client.
    AuthError,
    /// The request is larger than the model's context window.
    ContextOverflow,
    /// The response itself reported a failure, or ended incomplete.
    ModelError,
    /// The response stopped in the middle.
    StreamInterrupted,
    /// A tool ended with its own error.
    ToolFailed,
    /// A tool exceeded its time limit.
    ToolTimeout,
    /// The tool does not exist.
    ToolUnknown,
    /// The arguments of a call are invalid.
    ToolBadArguments,
    /// The user declined a call.
    ToolDeclined,
    /// A patch does not apply.
    PatchFailed,
    /// An MCP server or its tool reported an error.
    McpError,
    /// Code in a code cell threw an exception.
    CodeCellFailed,
    /// Another agent failed. This is never a root cause, only a link to one.
    AgentFailed,
    /// An agent was still working when the session ended.
    AgentNeverFinished,
    /// No agent received a message.
    MessageUndelivered,
    /// A wait for another agent timed out.
    WaitTimeout,
    /// The user interrupted the turn.
    InterruptedByUser,
    /// Another agent interrupted the turn.
    InterruptedByAgent,
    /// The recording stops before the session ends.
    RecordingTruncated,
    /// The recording does not tell the cause.
    Unknown,
}

impl Category {
    /// All categories.
    pub const ALL: [Self; 22] = [
        Self::ProviderError,
        Self::RateLimited,
        Self::AuthError,
        Self::ContextOverflow,
        Self::ModelError,
        Self::StreamInterrupted,
        Self::ToolFailed,
        Self::ToolTimeout,
        Self::ToolUnknown,
        Self::ToolBadArguments,
        Self::ToolDeclined,
        Self::PatchFailed,
        Self::McpError,
        Self::CodeCellFailed,
        Self::AgentFailed,
        Self::AgentNeverFinished,
        Self::MessageUndelivered,
        Self::WaitTimeout,
        Self::InterruptedByUser,
        Self::InterruptedByAgent,
        Self::RecordingTruncated,
        Self::Unknown,
    ];

    /// Returns the stable name of the category.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProviderError => "provider_error",
            Self::RateLimited => "rate_limited",
            Self::AuthError => "auth_error",
            Self::ContextOverflow => "context_overflow",
            Self::ModelError => "model_error",
            Self::StreamInterrupted => "stream_interrupted",
            Self::ToolFailed => "tool_failed",
            Self::ToolTimeout => "tool_timeout",
            Self::ToolUnknown => "tool_unknown",
            Self::ToolBadArguments => "tool_bad_arguments",
            Self::ToolDeclined => "tool_declined",
            Self::PatchFailed => "patch_failed",
            Self::McpError => "mcp_error",
            Self::CodeCellFailed => "code_cell_failed",
            Self::AgentFailed => "agent_failed",
            Self::AgentNeverFinished => "agent_never_finished",
            Self::MessageUndelivered => "message_undelivered",
            Self::WaitTimeout => "wait_timeout",
            Self::InterruptedByUser => "interrupted_by_user",
            Self::InterruptedByAgent => "interrupted_by_agent",
            Self::RecordingTruncated => "recording_truncated",
            Self::Unknown => "unknown",
        }
    }
}

impl Serialize for Category {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// An object of the graph, by its type and its id in `state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Name of the type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Id of the object.
    pub id: String,
}

/// The root cause for which a turn did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// Category of the cause.
    pub category: Category,
    /// The object in which the cause lies.
    pub object: Object,
}

impl RootCause {
    /// Returns a cause that is an inference call.
    pub fn inference(category: Category, id: impl Into<String>) -> Self {
        Self::new(category, "inference_call", id)
    }

    /// Returns a cause that is a tool call.
    pub fn tool(category: Category, id: impl Into<String>) -> Self {
        Self::new(category, "tool_call", id)
    }

    /// Returns a cause that is the code cell of a tool call.
    pub fn cell(category: Category, call_id: &str) -> Self {
        Self::new(category, "code_cell", format!("code_cell:{call_id}"))
    }

    /// Returns a cause that is a turn as a whole.
    pub fn turn(category: Category, id: impl Into<String>) -> Self {
        Self::new(category, "codex_turn", id)
    }

    fn new(category: Category, kind: &'static str, id: impl Into<String>) -> Self {
        Self { category, object: Object { kind, id: id.into() } }
    }
}

/// The expected verdict on a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnTruth {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Position of the agent in the tree of agents.
    pub agent_path: String,
    /// The expected verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Verdicts that are also accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Verdict>,
}

/// Outcome of a turn and its root cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The root cause. `None` if nothing failed.
    pub root_cause: Option<RootCause>,
}

impl Verdict {
    /// The verdict on a turn in which nothing failed.
    pub const OK: Self = Self { outcome: Outcome::Ok, root_cause: None };

    /// Returns a verdict with a root cause.
    pub fn new(outcome: Outcome, root_cause: RootCause) -> Self {
        Self { outcome, root_cause: Some(root_cause) }
    }
}
