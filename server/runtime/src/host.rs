//! Who the runtime works for: hears what happens, and decides what the runtime must not decide.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::event::Event;
use crate::id::{ItemId, ThreadId, TurnId};
use crate::item::CommandAction;

/// Hears what happens and answers questions. All calls return at once.
///
/// A host must not call a method of the agent that emits events from inside [`Host::event`]: the event lock is held and not
/// reentrant.
pub trait Host: Send + Sync + 'static {
    /// Tells what happened. The events of one thread come one after the other, and an event is told before anything
    /// that follows from it.
    fn event(&self, thread: &ThreadId, event: Event);

    /// Puts a question. The answer goes to `reply`; a host that drops it declines.
    fn ask(&self, thread: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId;

    /// Takes a question back: an answer has no effect any more. An answered question need not be taken back.
    fn withdraw(&self, thread: &ThreadId, question: QuestionId);

    /// Waits until those who listen to a thread have taken enough of what they were told. Work that produces much waits
    /// here between its pieces.
    fn ready(&self, thread: &ThreadId) -> BoxFuture<'static, ()>;
}

/// Names a question that was put to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub i64);

/// What somebody else has to decide or to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Whether a command may run.
    Command(CommandQuestion),
    /// Whether files may be changed as the item says that began before.
    FileChange {
        /// The turn.
        turn: TurnId,
        /// The item with the changes.
        item: ItemId,
        /// Why it is asked.
        reason: Option<String>,
        /// Folder that would be open for writing from then on.
        grant_root: Option<PathBuf>,
    },
    /// What the user says to some questions of the model.
    UserInput {
        /// The turn.
        turn: TurnId,
        /// The call.
        item: ItemId,
        /// The questions, in the words of the tool `request_user_input`.
        questions: Vec<Value>,
    },
    /// A call of a tool that the client has.
    DynamicTool {
        /// The turn.
        turn: TurnId,
        /// The call, which is the item too.
        item: ItemId,
        /// Namespace of the tool.
        namespace: Option<String>,
        /// The tool.
        tool: String,
        /// What it is called with.
        arguments: Value,
    },
    /// Whether a tool of a server of tools may be called.
    ServerTool(ServerToolQuestion),
    /// What a server of tools wants of the user while it carries out a call.
    Elicitation {
        /// The turn.
        turn: TurnId,
        /// The item of the call.
        item: ItemId,
        /// The server.
        server: String,
        /// What it wants.
        request: Elicitation,
    },
}

/// Whether a tool of a server of tools may be called.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerToolQuestion {
    /// The turn.
    pub turn: TurnId,
    /// The item of the call.
    pub item: ItemId,
    /// The server.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// What the server calls it for people.
    pub title: Option<String>,
    /// What the server says that it does.
    pub description: Option<String>,
    /// What the server says of its effects, in the words of the Model Context Protocol.
    pub annotations: Option<Value>,
    /// What it would be called with.
    pub arguments: Value,
    /// For how long the user may agree.
    pub lasts: ApprovalScope,
}

/// For how long the user may agree to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For this time.
    Once,
    /// For as long as the thread lives.
    Thread,
}

/// What a server of tools wants of the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicitation {
    /// A form.
    Form {
        /// What it says about it.
        message: String,
        /// JSON schema of what is to be filled in.
        schema: Value,
        /// What it adds for its own use.
        meta: Option<Value>,
    },
    /// A visit to an address.
    Visit {
        /// What it says about it.
        message: String,
        /// The address.
        url: String,
        /// Its id of the request.
        id: String,
        /// What it adds for its own use.
        meta: Option<Value>,
    },
}

/// Whether a command may run.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandQuestion {
    /// The turn.
    pub turn: TurnId,
    /// The item of the command.
    pub item: ItemId,
    /// The line as a shell shows it.
    pub command: String,
    /// Folder that it would run in.
    pub cwd: PathBuf,
    /// Why it is asked.
    pub reason: Option<String>,
    /// What the command may do if the user agrees, in words.
    pub rights: String,
    /// What the command seems to do.
    pub actions: Vec<CommandAction>,
    /// Words such that commands that begin with them need not be asked for again, if the user agrees.
    pub proposed_prefix: Option<Vec<String>>,
}

/// What the host answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A decision about a command, files, or a tool of a server.
    Decision(Decision),
    /// What the user said, by the id of the question.
    UserInput(BTreeMap<String, Vec<String>>),
    /// What a tool of the client answered.
    DynamicTool {
        /// Whether it succeeded.
        success: bool,
        /// Its content, in the client's terms.
        content: Vec<Value>,
    },
    /// What the user did with what a server of tools wants.
    Elicitation {
        /// What.
        action: ElicitationAction,
        /// What was filled in.
        content: Option<Value>,
        /// What the client adds for the server's use.
        meta: Option<Value>,
    },
    /// Nobody could answer, or the answer made no sense.
    Failed {
        /// Why.
        message: String,
    },
}

/// What a user did with what a server of tools wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElicitationAction {
    /// It is done, or filled in.
    Accept,
    /// No.
    Decline,
    /// Closed without an answer.
    Cancel,
}

/// A decision about a command, files, or a tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This once.
    Accept,
    /// And whenever it is the same again in this thread.
    AcceptForSession,
    /// And whenever a command begins with these words, in any thread.
    AcceptPrefix(Vec<String>),
    /// No; the turn goes on.
    Decline,
    /// No, and the turn ends.
    Cancel,
}
