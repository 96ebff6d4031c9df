//! The events of a thread, in the order in which they happen.

use std::sync::Arc;

use crate::id::{ItemId, TurnId};
use crate::item::{FileChange, Item, ModelItem};
use crate::mail::Mail;
use crate::settings::Settings;

/// An event of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// Kind and data of the event.
    pub kind: EventKind,
}

/// Kind and data of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A turn started.
    TurnStarted {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the turn of the root agent from which it stems; its own id, unless a client sets another one.
        root_turn: TurnId,
        /// Kind of the turn.
        kind: TurnKind,
        /// Size of the model's context window in tokens; `None` if unknown.
        context_window: Option<u64>,
    },
    /// A turn ended. All its items have completed, except background commands and the completion of agents to which it gave
    /// a task.
    TurnEnded {
        /// Id of the turn.
        turn: TurnId,
        /// How the turn ended.
        outcome: TurnOutcome,
    },
    /// An item started.
    ItemStarted {
        /// Id of the turn.
        turn: TurnId,
        /// Current state of the item.
        item: Arc<Item>,
    },
    /// An item completed. This is its final state.
    ItemCompleted {
        /// Id of the turn.
        turn: TurnId,
        /// Final state of the item.
        item: Arc<Item>,
    },
    /// An item changed between start and completion.
    ItemGrew {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the item.
        item: ItemId,
        /// The change.
        delta: Delta,
    },
    /// An error occurred in a turn.
    Error {
        /// Id of the turn.
        turn: TurnId,
        /// The error.
        error: TurnError,
        /// Whether a retry follows.
        retry: Retry,
    },
    /// A warning for users.
    Warning {
        /// Text of the warning.
        message: String,
    },
    /// The token usage changed because a model answered.
    TokensUsed {
        /// Id of the turn.
        turn: TurnId,
        /// Token usage of the thread.
        usage: ThreadUsage,
    },
    /// The files changed by the turn are now these.
    DiffChanged {
        /// Id of the turn.
        turn: TurnId,
        /// A unified diff of all changes of the turn.
        diff: Arc<str>,
    },
    /// The agent updated its plan.
    PlanChanged {
        /// Id of the turn.
        turn: TurnId,
        /// Explanation of the agent.
        explanation: Option<String>,
        /// The steps.
        steps: Vec<PlanStep>,
    },
    /// The settings of the thread changed.
    SettingsChanged {
        /// All settings.
        settings: Arc<Settings>,
    },
    /// A turn starts to send requests with these settings.
    TurnContext {
        /// Id of the turn.
        turn: TurnId,
        /// The settings.
        settings: Arc<Settings>,
    },
    /// A message from another agent arrived. It waits until an item with its id joins the history.
    MailCame {
        /// The message.
        mail: Arc<Mail>,
    },
    /// An item joined the history.
    Remembered {
        /// The item.
        item: ModelItem,
    },
    /// The history was replaced.
    HistoryReplaced {
        /// The model's summary of the removed items, if it is readable.
        summary: Option<String>,
        /// The new history.
        history: Arc<[ModelItem]>,
    },
}

/// Kind of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// The agent works for its user.
    Regular,
    /// The history is compacted.
    Compact,
    /// The agent reviews changes.
    Review,
    /// A command of the user runs.
    UserShell,
}

impl TurnKind {
    /// Returns the protocol's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Compact => "compact",
            Self::Review => "review",
            Self::UserShell => "userShell",
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnOutcome {
    /// It completed.
    Completed {
        /// The last message of the agent.
        last_message: Option<Arc<Item>>,
    },
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed(TurnError),
}

/// A change of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// A piece of the text of an agent's message.
    Text(String),
    /// A part of a reasoning summary started.
    SummaryPart {
        /// Index of the part.
        index: usize,
    },
    /// A piece of a reasoning summary.
    Summary {
        /// Index of the part.
        index: usize,
        /// The piece of text.
        text: String,
    },
    /// A piece of reasoning text.
    Reasoning {
        /// Index of the part.
        index: usize,
        /// The piece of text.
        text: String,
    },
    /// A piece of the output of a command.
    Output(String),
    /// Text was written to a command.
    TerminalInput {
        /// Id of the process.
        process_id: String,
        /// The text.
        text: String,
    },
    /// The changes of files are now these.
    Changes(Vec<FileChange>),
    /// A progress message of an MCP tool.
    Progress(String),
}

/// Why a turn failed or a request is retried.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnError {
    /// Message for users.
    pub message: String,
    /// Further details.
    pub details: Option<String>,
    /// Kind of the error.
    pub kind: ErrorKind,
}

/// Kind of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The context window of the model is full.
    ContextWindowExceeded,
    /// The quota of the account is used up.
    UsageLimitExceeded,
    /// A stream ended with an error about too many requests.
    RateLimitExceeded,
    /// The provider is overloaded.
    ServerOverloaded,
    /// An internal error of the provider.
    InternalServerError,
    /// The provider rejected the key.
    Unauthorized,
    /// The provider rejected the request.
    BadRequest,
    /// The provider does not know the model.
    ModelNotFound,
    /// A command could not be confined.
    Sandbox,
    /// The connection failed, or the response was an error.
    HttpConnectionFailed {
        /// HTTP status, if there was a response.
        status: Option<u16>,
    },
    /// The stream did not start.
    StreamConnectionFailed {
        /// HTTP status, if there was a response.
        status: Option<u16>,
    },
    /// The stream was cut off.
    StreamDisconnected {
        /// HTTP status, if there was a response.
        status: Option<u16>,
    },
    /// The limit of retries was reached.
    TooManyFailedAttempts {
        /// HTTP status of the last attempt, if there was a response.
        status: Option<u16>,
    },
    /// Any other error.
    Other,
}

/// Whether a retry follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// A retry follows.
    Follows,
    /// No retry follows.
    Ends,
}

/// Token usage of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// Sum of all requests.
    pub total: TokenCounts,
    /// Usage of the last request.
    pub last: TokenCounts,
    /// Size of the model's context window in tokens; `None` if unknown.
    pub context_window: Option<u64>,
}

/// Token usage of one or more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Tokens of the input.
    pub input: u64,
    /// Input tokens that the provider read from its cache.
    pub cached_input: u64,
    /// Input tokens that the provider wrote to its cache.
    pub cache_write_input: u64,
    /// Tokens of the output.
    pub output: u64,
    /// Output tokens of reasoning.
    pub reasoning_output: u64,
    /// All tokens.
    pub total: u64,
}

impl TokenCounts {
    /// Returns the sum of two usages.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            cache_write_input: self.cache_write_input.saturating_add(other.cache_write_input),
            output: self.output.saturating_add(other.output),
            reasoning_output: self.reasoning_output.saturating_add(other.reasoning_output),
            total: self.total.saturating_add(other.total),
        }
    }
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// Description of the step.
    pub step: String,
    /// Status of the step.
    pub status: PlanStatus,
}

/// Status of a step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}
