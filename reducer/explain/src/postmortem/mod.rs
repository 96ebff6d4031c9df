//! Says of every turn that did not simply succeed what went wrong, where it began, and what it cost.
//!
//! A postmortem goes from facts to verdicts in four steps. *Faults* ([`faults`](self)) are what failed by itself: an
//! inference call, a tool call, a code cell, a message that nobody got. *Stops* are turns that were cut off: by the user, by
//! an agent, by the end of the session or of the recording. A fault is *made good* when the same kind of operation succeeds
//! later in the same thread. What was not made good *rises*: a turn that completed on top of it is degraded, and so is every
//! turn above that set the agent to work, with the deep fault as root cause.
//!
//! | outcome | a turn that |
//! |---|---|
//! | `failed` | ended failed |
//! | `cancelled` | was stopped |
//! | `unfinished` | has no end in the recording, or only that of the session |
//! | `degraded` | completed, on top of a failure that nothing made good |
//! | `recovered` | completed, and its failures were made good |
//! | `ok` | completed without a failure |
//!
//! Structure is trusted first and texts last; the texts stand in one table ([`texts`](self)). A verdict says how sure it is
//! and what evidence it lacks.

mod chain;
mod charges;
mod faults;
mod finding;
mod judge;
mod stops;
mod texts;
mod words;

use serde::Serialize;

use crate::object::ObjectRef;
use crate::session::Session;

/// Longest text of a symptom, a message or a step, in characters; outputs of tools can be megabytes.
pub const MAX_TEXT_CHARS: usize = 400;

/// Most agents that a way from the symptom to the cause leads through; those in the middle of a longer one are counted only.
pub const MAX_CHAIN_AGENTS: usize = 80;

/// Most other causes that a verdict names: the earliest.
pub const MAX_OTHER_CAUSES: usize = 64;

/// Most objects that a verdict says it rests on: of more, the first and the last.
pub const MAX_RESTS_ON: usize = 16;

pub use faults::MAX_TEXT_PAYLOAD_BYTES;

/// How a turn came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ended failed.
    Failed,
    /// It was stopped.
    Cancelled,
    /// It has no end in the recording, or only that of the session.
    Unfinished,
    /// It completed on top of a failure that nothing made good.
    Degraded,
    /// It completed, and its failures were made good.
    Recovered,
    /// It completed without a failure.
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

    /// Says whether a person has to know of the turn without asking for all turns.
    pub fn needs_attention(self) -> bool {
        !matches!(self, Self::Recovered | Self::Ok)
    }
}

/// What kind of thing went wrong. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The model's provider answered with an error.
    ProviderError,
    /// The provider answered that too much was asked of it.
    RateLimited,
    /// The provider did not accept the credentials.
    AuthError,
    /// The conversation did not fit into the model's context.
    ContextOverflow,
    /// The response itself reports a failure, or ends incomplete.
    ModelError,
    /// The response broke off.
    StreamInterrupted,
    /// A command or tool failed.
    ToolFailed,
    /// A tool ran into its time limit.
    ToolTimeout,
    /// The model called a tool that does not exist.
    ToolUnknown,
    /// The model's arguments could not be read.
    ToolBadArguments,
    /// The user did not allow a tool call.
    ToolDeclined,
    /// A patch could not be applied.
    PatchFailed,
    /// A tool of an MCP server reported an error, or its server failed.
    McpError,
    /// Code that the model wrote threw.
    CodeCellFailed,
    /// A child failed. Only ever a step on the way to the deeper cause.
    AgentFailed,
    /// A child was cut off by the end of the session.
    AgentNeverFinished,
    /// A message was sent and nobody got it.
    MessageUndelivered,
    /// A wait ended before the agent did.
    WaitTimeout,
    /// The user stopped the turn.
    InterruptedByUser,
    /// Another agent stopped the turn.
    InterruptedByAgent,
    /// The recording ends before the turn does.
    RecordingTruncated,
    /// The evidence does not say.
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

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One of several explanations.
    Low,
    /// It rests on a text, or on the absence of something.
    Medium,
    /// The structure of the recording says so.
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

/// What a person saw of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// Where it showed.
    pub object: ObjectRef,
    /// The event that showed it.
    pub seq: Option<u64>,
    /// What was to be seen.
    pub text: String,
}

/// Where a failure began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// What kind of thing went wrong.
    pub category: Category,
    /// What went wrong.
    pub object: ObjectRef,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// The thread that it belongs to.
    pub thread_id: String,
    /// Where that thread stands in the tree of agents.
    pub agent_path: String,
    /// The event that tells of it.
    pub seq: Option<u64>,
    /// What the evidence says.
    pub message: String,
    /// How sure that is.
    pub confidence: Confidence,
    /// Status of the provider's HTTP answer, where one is recorded.
    pub http_status: Option<u16>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// The signal that killed a command, as its exit code tells.
    pub signal: Option<u8>,
    /// How often it was tried, the last time included.
    pub attempts: usize,
}

/// One step of the way from the symptom back to the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Where the step leads.
    pub object: ObjectRef,
    /// How this follows from the step before: a relation of the causal graph, `symptom` for the first, or `agent_failed` for
    /// a turn of an agent. `waited_on` leads back from what waited to what was waited for.
    pub relation: &'static str,
    /// The event that tells of it.
    pub seq: Option<u64>,
    /// What there is to say of it.
    pub text: String,
}

/// What is to be said of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnVerdict {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Where its thread stands in the tree of agents.
    pub agent_path: String,
    /// How it came out.
    pub outcome: Outcome,
    /// The whole story in a sentence.
    pub verdict: String,
    /// What was to be seen.
    pub symptom: Option<Symptom>,
    /// Where it began.
    pub root_cause: Option<RootCause>,
    /// What else failed and was not made good, in the order of the log; the first [`MAX_OTHER_CAUSES`].
    pub other_causes: Vec<RootCause>,
    /// The way from the symptom back to the cause.
    pub chain: Vec<Step>,
    /// Milliseconds of the turn that went into what failed and into trying again.
    pub time_lost_ms: u64,
    /// What else the verdict rests on: earlier attempts, the call that closed the agent; at most [`MAX_RESTS_ON`].
    pub rests_on: Vec<ObjectRef>,
    /// Evidence that would have made it surer.
    pub missing: Vec<String>,
}

/// What is to be said of a session, turn by turn in the order in which they began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Postmortem {
    /// The turns.
    pub turns: Vec<TurnVerdict>,
}

impl Postmortem {
    /// Leaves out the turns that came out well by themselves or in the end.
    #[must_use]
    pub fn only_attention(mut self) -> Self {
        self.turns.retain(|turn| turn.outcome.needs_attention());
        self
    }
}

/// Judges every turn of a session.
pub fn postmortem(session: &Session) -> Postmortem {
    judge::judge(session)
}
