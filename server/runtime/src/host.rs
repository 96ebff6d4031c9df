//! The host of the runtime: receives the events of threads, and answers questions that the runtime must not decide.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::event::Event;
use crate::id::{ItemId, ThreadId, TurnId};
use crate::item::CommandAction;

/// Receives events and answers questions. All calls return at once.
///
/// A host must not call a method of the agent that emits events from inside [`Host::event`]: the event lock is held and not
/// reentrant.
pub trait Host: Send + Sync + 'static {
    /// Receives an event. The events of one thread arrive one after the other, and before anything that follows from them.
    fn event(&self, thread: &ThreadId, event: Event);

    /// Receives a question. The answer goes to `reply`; a host that drops `reply` declines.
    fn ask(&self, thread: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId;

    /// Withdraws a question: an answer has no effect any more. Answered questions are not withdrawn.
    fn withdraw(&self, thread: &ThreadId, question: QuestionId);

    /// Waits until the clients of a thread have read enough of its events. Work that produces many events waits here between them.
    fn ready(&self, thread: &ThreadId) -> BoxFuture<'static, ()>;
}

/// Id of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub i64);

/// A question to the host: something that a user or a client has to decide or do.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Whether a command may run.
    Command(CommandQuestion),
    /// Whether the file changes of an item that has started may be made.
    FileChange {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the item with the changes.
        item: ItemId,
        /// Reason of the question, for the user.
        reason: Option<String>,
        /// The folder that becomes writable if the user agrees.
        grant_root: Option<PathBuf>,
    },
    /// Questions of the model to the user.
    UserInput {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the call.
        item: ItemId,
        /// The questions, in the format of the tool `request_user_input`.
        questions: Vec<Value>,
    },
    /// A call of a tool that the client runs.
    DynamicTool {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the call and of its item.
        item: ItemId,
        /// Namespace of the tool.
        namespace: Option<String>,
        /// Name of the tool.
        tool: String,
        /// Arguments of the call.
        arguments: Value,
    },
    /// Whether a tool of an MCP server may be called.
    ServerTool(ServerToolQuestion),
    /// A request of an MCP server to the user during a call.
    Elicitation {
        /// Id of the turn.
        turn: TurnId,
        /// Id of the item of the call.
        item: ItemId,
        /// Name of the server.
        server: String,
        /// The request.
        request: Elicitation,
    },
}

/// Whether a tool of an MCP server may be called.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerToolQuestion {
    /// Id of the turn.
    pub turn: TurnId,
    /// Id of the item of the call.
    pub item: ItemId,
    /// Name of the server.
    pub server: String,
    /// Name of the tool at the server.
    pub tool: String,
    /// Title of the tool, as the server gives it for users.
    pub title: Option<String>,
    /// Description of the tool by the server.
    pub description: Option<String>,
    /// Annotations of the server about the effects of the tool, in the format of the Model Context Protocol.
    pub annotations: Option<Value>,
    /// Arguments of the call.
    pub arguments: Value,
    /// For how long the user may agree at most.
    pub lasts: ApprovalScope,
}

/// How long an approval may last at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For this call only.
    Once,
    /// For as long as the thread is loaded.
    Thread,
}

/// A request of an MCP server to the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicitation {
    /// The user shall fill in a form.
    Form {
        /// Message of the server.
        message: String,
        /// JSON schema of the form.
        schema: Value,
        /// Metadata of the server.
        meta: Option<Value>,
    },
    /// The user shall open a URL.
    Visit {
        /// Message of the server.
        message: String,
        /// The URL.
        url: String,
        /// Id that the server gave to the request.
        id: String,
        /// Metadata of the server.
        meta: Option<Value>,
    },
}

/// Whether a command may run.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandQuestion {
    /// Id of the turn.
    pub turn: TurnId,
    /// Id of the item of the command.
    pub item: ItemId,
    /// The command line as a shell shows it.
    pub command: String,
    /// Working folder of the command.
    pub cwd: PathBuf,
    /// Reason of the question, for the user.
    pub reason: Option<String>,
    /// Description of what the command may do if the user agrees.
    pub rights: String,
    /// What the command probably does.
    pub actions: Vec<CommandAction>,
    /// First words of commands for which the user can agree not to be asked again.
    pub proposed_prefix: Option<Vec<String>>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A decision about a command, file changes, or a tool of an MCP server.
    Decision(Decision),
    /// The answers of the user, by the id of each question.
    UserInput(BTreeMap<String, Vec<String>>),
    /// The result of a tool of the client.
    DynamicTool {
        /// Whether the client reports success.
        success: bool,
        /// The content, in the format of the client.
        content: Vec<Value>,
    },
    /// The answer of the user to a request of an MCP server.
    Elicitation {
        /// What the user did.
        action: ElicitationAction,
        /// The values of the form.
        content: Option<Value>,
        /// Metadata of the client for the server.
        meta: Option<Value>,
    },
    /// There is no valid answer.
    Failed {
        /// The reason.
        message: String,
    },
}

/// What a user did with a request of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElicitationAction {
    /// The user opened the URL, or filled in the form.
    Accept,
    /// The user declined.
    Decline,
    /// The user closed it without an answer.
    Cancel,
}

/// A decision about a command, file changes, or a tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Accepted for this time.
    Accept,
    /// Accepted for this time and for all equal cases in this thread.
    AcceptForSession,
    /// Accepted for this time and for all commands that begin with these words, in all threads.
    AcceptPrefix(Vec<String>),
    /// Declined. The turn continues.
    Decline,
    /// Declined. The turn ends.
    Cancel,
}
