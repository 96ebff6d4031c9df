//! What is true of a planted session, in the terms of a postmortem.

use serde::{Serialize, Serializer};

/// What a turn came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ended by a failure.
    Failed,
    /// It was stopped.
    Cancelled,
    /// It never came to its end.
    Unfinished,
    /// It completed on top of a failure that nothing made good.
    Degraded,
    /// Whatever failed in it was made good.
    Recovered,
    /// Nothing failed.
    Ok,
}

/// Why a turn did not simply succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// The model provider answers with an error.
    ProviderError,
    /// The model provider answers that there were too many requests.
    RateLimited,
    /// The model provider does not let the client in.
    AuthError,
    /// The request is larger than the model's context window.
    ContextOverflow,
    /// The response itself reports a failure, or ends incomplete.
    ModelError,
    /// The response stops in the middle.
    StreamInterrupted,
    /// A tool ended with an error of its own.
    ToolFailed,
    /// A tool took longer than it may.
    ToolTimeout,
    /// There is no such tool.
    ToolUnknown,
    /// The arguments of a call cannot be understood.
    ToolBadArguments,
    /// The user did not allow a call.
    ToolDeclined,
    /// A patch does not fit.
    PatchFailed,
    /// The tool of an MCP server, or the server, reports an error.
    McpError,
    /// Code that the model had run threw.
    CodeCellFailed,
    /// Another agent failed: never a root cause, always a link to it.
    AgentFailed,
    /// An agent was still at work when the session ended.
    AgentNeverFinished,
    /// Nobody got a message.
    MessageUndelivered,
    /// A wait for another agent ran out.
    WaitTimeout,
    /// The user stopped the turn.
    InterruptedByUser,
    /// Another agent stopped the turn.
    InterruptedByAgent,
    /// The recording stops before the session does.
    RecordingTruncated,
    /// The recording does not say.
    Unknown,
}

impl Category {
    /// Every category.
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
    /// The id.
    pub id: String,
}

/// What a turn did not succeed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// What kind of cause.
    pub category: Category,
    /// What it happened to.
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

/// What is true of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnTruth {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Where the thread stands in the tree of agents.
    pub agent_path: String,
    /// What the turn came to.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What may be said as well, where two answers are right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Verdict>,
}

/// What a turn came to, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What the turn came to.
    pub outcome: Outcome,
    /// Why, unless nothing failed.
    pub root_cause: Option<RootCause>,
}

impl Verdict {
    /// Nothing failed.
    pub const OK: Self = Self { outcome: Outcome::Ok, root_cause: None };

    /// Returns the verdict on a turn with a cause.
    pub fn new(outcome: Outcome, root_cause: RootCause) -> Self {
        Self { outcome, root_cause: Some(root_cause) }
    }
}
