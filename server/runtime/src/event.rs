//! What happens in a thread, in the order in which it happens.

use std::sync::Arc;

use crate::id::{ItemId, TurnId};
use crate::item::{FileChange, Item, ModelItem};
use crate::mail::Mail;
use crate::settings::Settings;

/// Something that happened in a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The turn that it stems from; itself, unless a client says otherwise.
        root_turn: TurnId,
        /// What kind of turn it is.
        kind: TurnKind,
        /// Tokens that the model's window holds, where that is known.
        context_window: Option<u64>,
    },
    /// A turn ended. Every item that began in it has ended before, but commands that go on in the background. That an agent
    /// is done which the turn gave a task may be shown later, too.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        outcome: TurnOutcome,
    },
    /// An item began.
    ItemStarted {
        /// Its turn.
        turn: TurnId,
        /// The item as it is.
        item: Arc<Item>,
    },
    /// An item ended. What it holds now is what counts.
    ItemCompleted {
        /// Its turn.
        turn: TurnId,
        /// The item as it is.
        item: Arc<Item>,
    },
    /// An item that began grew.
    ItemGrew {
        /// Its turn.
        turn: TurnId,
        /// The item.
        item: ItemId,
        /// What came to it.
        delta: Delta,
    },
    /// Something went wrong in a turn.
    Error {
        /// The turn.
        turn: TurnId,
        /// What.
        error: TurnError,
        /// Whether it is tried again.
        retry: Retry,
    },
    /// Something that people should know.
    Warning {
        /// What.
        message: String,
    },
    /// A model answered, and this is what was used up so far.
    TokensUsed {
        /// The turn.
        turn: TurnId,
        /// The tokens.
        usage: ThreadUsage,
    },
    /// Files changed: what the whole turn changed so far.
    DiffChanged {
        /// The turn.
        turn: TurnId,
        /// A unified diff.
        diff: Arc<str>,
    },
    /// The agent wrote down its plan.
    PlanChanged {
        /// The turn.
        turn: TurnId,
        /// Why.
        explanation: Option<String>,
        /// The steps.
        steps: Vec<PlanStep>,
    },
    /// The settings of the thread are others now.
    SettingsChanged {
        /// All of them.
        settings: Arc<Settings>,
    },
    /// A turn begins to ask the model with these settings.
    TurnContext {
        /// The turn.
        turn: TurnId,
        /// The settings.
        settings: Arc<Settings>,
    },
    /// A message of another agent came. It waits until an item with its id joins what the model sees.
    MailCame {
        /// The message.
        mail: Arc<Mail>,
    },
    /// An item joined what the model sees.
    Remembered {
        /// The item.
        item: ModelItem,
    },
    /// What the model sees was replaced.
    HistoryReplaced {
        /// What the model wrote about the past, if it is readable.
        summary: Option<String>,
        /// What the model sees from now on.
        history: Arc<[ModelItem]>,
    },
}

/// What kind of turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// The agent works for its user.
    Regular,
    /// The history is made shorter.
    Compact,
    /// The agent reviews changes.
    Review,
    /// A user's command runs beside the model.
    UserShell,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnOutcome {
    /// It is done.
    Completed {
        /// What the agent said last.
        last_message: Option<Arc<Item>>,
    },
    /// Somebody stopped it.
    Interrupted,
    /// It could not go on.
    Failed(TurnError),
}

/// What came to an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Text of an agent's message.
    Text(String),
    /// Another part of a summary of reasoning begins.
    SummaryPart {
        /// Which.
        index: usize,
    },
    /// Text of a summary of reasoning.
    Summary {
        /// Which part.
        index: usize,
        /// The text.
        text: String,
    },
    /// Text of reasoning.
    Reasoning {
        /// Which part.
        index: usize,
        /// The text.
        text: String,
    },
    /// Output of a command.
    Output(String),
    /// Something was written to a command.
    TerminalInput {
        /// The process.
        process_id: String,
        /// What was written.
        text: String,
    },
    /// The changes of files are these now.
    Changes(Vec<FileChange>),
    /// An MCP tool says how far it is.
    Progress(String),
}

/// Why a turn could not go on, or had to try again.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnError {
    /// What happened, for people.
    pub message: String,
    /// More about it.
    pub details: Option<String>,
    /// What kind of error it is.
    pub kind: ErrorKind,
}

/// What kind of error it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The model's window is full.
    ContextWindowExceeded,
    /// The account has used up what it may.
    UsageLimitExceeded,
    /// Too many requests, says the end of a stream.
    RateLimitExceeded,
    /// The provider is overloaded.
    ServerOverloaded,
    /// Something failed inside of the provider.
    InternalServerError,
    /// The provider does not know the key.
    Unauthorized,
    /// The provider does not take the request.
    BadRequest,
    /// The provider does not know the model.
    ModelNotFound,
    /// A command could not be shut in.
    Sandbox,
    /// No connection, or an answer that is an error.
    HttpConnectionFailed {
        /// The status, if there was an answer.
        status: Option<u16>,
    },
    /// The answer did not begin.
    StreamConnectionFailed {
        /// The status, if there was an answer.
        status: Option<u16>,
    },
    /// The answer broke off.
    StreamDisconnected {
        /// The status, if there was an answer.
        status: Option<u16>,
    },
    /// It was tried too often.
    TooManyFailedAttempts {
        /// The last status, if there was an answer.
        status: Option<u16>,
    },
    /// Something else.
    Other,
}

/// Whether it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It is.
    Follows,
    /// It is not.
    Ends,
}

/// Tokens of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// Of all requests.
    pub total: TokenCounts,
    /// Of the last request.
    pub last: TokenCounts,
    /// What the model's window holds, where that is known.
    pub context_window: Option<u64>,
}

/// Tokens of one or more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Tokens that were sent.
    pub input: u64,
    /// Those of them that the provider had seen before.
    pub cached_input: u64,
    /// Those of them that the provider keeps for later.
    pub cache_write_input: u64,
    /// Tokens that came back.
    pub output: u64,
    /// Those of them that were reasoning.
    pub reasoning_output: u64,
    /// All.
    pub total: u64,
}

impl TokenCounts {
    /// Returns the sum of both.
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
    /// What is to be done.
    pub step: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}
