//! The verdicts of a postmortem, as they are reported.

use serde::Serialize;

use crate::object::ObjectRef;

/// Longest text of a symptom, a message or a step, in characters. Outputs of tools can have megabytes.
pub const MAX_TEXT_CHARS: usize = 400;

/// Most agents in the chain from the symptom to the cause. In a longer chain, the agents in the middle are only
/// counted.
pub const MAX_CHAIN_AGENTS: usize = 80;

/// Most other causes in a verdict. The earliest are kept.
pub const MAX_OTHER_CAUSES: usize = 64;

/// Most objects in the evidence of a verdict. Of more, the first and the last are kept.
pub const MAX_RESTS_ON: usize = 16;

/// How a turn ended, with its failures taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The turn failed.
    Failed,
    /// The turn was stopped.
    Cancelled,
    /// The recording has no end of the turn, or only the end of the session.
    Unfinished,
    /// The turn completed despite a failure that was not made good.
    Degraded,
    /// The turn completed, and its failures were made good.
    Recovered,
    /// The turn completed without a failure.
    Ok,
}

impl Outcome {
    /// Returns the name of the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unfinished => "unfinished",
            Self::Degraded => "degraded",
            Self::Recovered => "recovered",
            Self::Ok => "ok",
        }
    }

    /// Returns whether a user should see the turn without asking for all turns.
    pub fn needs_attention(self) -> bool {
        !matches!(self, Self::Recovered | Self::Ok)
    }
}

/// Kind of failure. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The provider of the model returned an error.
    ProviderError,
    /// The provider refused a request because of a rate or usage limit.
    RateLimited,
    /// The provider did not accept the credentials.
    AuthError,
    /// The conversation did not fit into the context window of the model.
    ContextOverflow,
    /// The response reports a failure or is incomplete.
    ModelError,
    /// The stream of the response was interrupted.
    StreamInterrupted,
    /// A command or tool failed.
    ToolFailed,
    /// A tool exceeded its time limit.
    ToolTimeout,
    /// The model called a tool that does not exist.
    ToolUnknown,
    /// The arguments of the model could not be parsed.
    ToolBadArguments,
    /// The user did not allow a tool call.
    ToolDeclined,
    /// A patch could not be applied.
    PatchFailed,
    /// A tool of an MCP server reported an error, or its server failed.
    McpError,
    /// Code that the model wrote threw an error.
    CodeCellFailed,
    /// A child failed. Used only in steps on the way to the deeper cause.
    AgentFailed,
    /// The end of the session stopped a child.
    AgentNeverFinished,
    /// Nobody received a message.
    MessageUndelivered,
    /// A wait ran out before the agent finished.
    WaitTimeout,
    /// The user stopped the turn.
    InterruptedByUser,
    /// Another agent stopped the turn.
    InterruptedByAgent,
    /// The recording ends before the turn.
    RecordingTruncated,
    /// The evidence does not show the reason.
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
    pub fn as_str(self) -> &'static str {
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

/// Confidence of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// There are other explanations.
    Low,
    /// The verdict relies on a text, or on the absence of something.
    Medium,
    /// The structure of the recording shows it.
    High,
}

impl Confidence {
    /// Returns the name of the confidence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Where a failure became visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// The object that showed it.
    pub object: ObjectRef,
    /// Sequence number of the event that showed it.
    pub seq: Option<u64>,
    /// The visible text.
    pub text: String,
}

/// Where a failure began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// Kind of failure.
    pub category: Category,
    /// The object that failed.
    pub object: ObjectRef,
    /// The turn in which it failed.
    pub turn_id: Option<String>,
    /// The thread in which it failed.
    pub thread_id: String,
    /// Place of that thread in the tree of agents.
    pub agent_path: String,
    /// Sequence number of the event that shows the failure.
    pub seq: Option<u64>,
    /// The error as the evidence shows it.
    pub message: String,
    /// Confidence of the verdict.
    pub confidence: Confidence,
    /// Status of the provider's HTTP response; `None` if it is not recorded.
    pub http_status: Option<u16>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// The signal that killed a command, according to its exit code.
    pub signal: Option<u8>,
    /// Number of attempts, including the last one.
    pub attempts: usize,
}

/// One step of the chain from the symptom to the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The object of this step.
    pub object: ObjectRef,
    /// How this object follows from the one of the step before: a relation of the causal graph, `symptom` for the first
    /// step, or `agent_failed` for the turn of another agent. `waited_on` leads from what waited to what it waited for.
    pub relation: &'static str,
    /// Sequence number of the event that shows it.
    pub seq: Option<u64>,
    /// Description of the object.
    pub text: String,
}

/// Verdict on one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnVerdict {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Place of its thread in the tree of agents.
    pub agent_path: String,
    /// How the turn ended.
    pub outcome: Outcome,
    /// Summary in one sentence.
    pub verdict: String,
    /// Where the failure became visible.
    pub symptom: Option<Symptom>,
    /// Where the failure began.
    pub root_cause: Option<RootCause>,
    /// Other failures that were not made good, in the order of the log, at most [`MAX_OTHER_CAUSES`].
    pub other_causes: Vec<RootCause>,
    /// The steps from the symptom to the cause.
    pub chain: Vec<Step>,
    /// Milliseconds of the turn that were spent on failed operations and on retries.
    pub time_lost_ms: u64,
    /// Other evidence: earlier attempts, the call that closed the agent; at most [`MAX_RESTS_ON`].
    pub rests_on: Vec<ObjectRef>,
    /// Evidence that is missing and would have raised the confidence.
    pub missing: Vec<String>,
}

/// Verdicts on the turns of a session, in the order in which the turns began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Postmortem {
    /// One verdict per turn.
    pub turns: Vec<TurnVerdict>,
}

impl Postmortem {
    /// Removes the turns that succeeded or recovered.
    #[must_use]
    pub fn only_attention(mut self) -> Self {
        self.turns.retain(|turn| turn.outcome.needs_attention());
        self
    }
}
