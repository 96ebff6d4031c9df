//! What a turn consists of, for the people who watch it.
//!
//! An item begins and ends once. Items are not what the model sees: that is the history, made of [`ModelItem`]s.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::id::{ItemId, ThreadId};

/// One item of the model's history, in the words of the Responses API.
pub type ModelItem = Arc<Value>;

/// An item of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Id within the thread.
    pub id: ItemId,
    /// What it is.
    pub kind: ItemKind,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// What a user said.
    UserMessage {
        /// Id that the client gave it.
        client_id: Option<String>,
        /// What was said.
        content: Vec<Input>,
    },
    /// What the agent said.
    AgentMessage {
        /// The text, as far as it is known.
        text: String,
        /// The provider's word for where in the work it was said.
        phase: Option<String>,
    },
    /// What the model thought, as far as the provider shows it.
    Reasoning {
        /// Summaries.
        summary: Vec<String>,
        /// Texts.
        content: Vec<String>,
    },
    /// A command.
    Command(CommandItem),
    /// Changes of files.
    FileChange {
        /// The changes.
        changes: Vec<FileChange>,
        /// What came of them.
        status: WorkStatus,
    },
    /// A tool of an MCP server.
    McpCall {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// What it was called with.
        arguments: Value,
        /// Whether the server says that it changes nothing.
        read_only: Option<bool>,
        /// What it answered.
        result: Option<Value>,
        /// Why it failed.
        error: Option<String>,
        /// What came of it.
        status: WorkStatus,
        /// How long it took, in milliseconds.
        duration_ms: Option<u64>,
    },
    /// A tool that the client runs.
    DynamicCall {
        /// Namespace of the tool.
        namespace: Option<String>,
        /// The tool.
        tool: String,
        /// What it was called with.
        arguments: Value,
        /// What it answered, in the client's terms.
        content: Option<Value>,
        /// Whether the client says that it succeeded.
        success: Option<bool>,
        /// What came of it.
        status: WorkStatus,
        /// How long it took, in milliseconds.
        duration_ms: Option<u64>,
    },
    /// A call that concerns other agents and shows nothing else.
    AgentCall {
        /// What it does, in the protocol's words: `wait`, `sendInput`.
        tool: String,
        /// Agents that it goes to.
        receivers: Vec<ThreadId>,
        /// What is said to them.
        prompt: Option<String>,
        /// What came of it.
        status: WorkStatus,
    },
    /// Something that another agent did or was told.
    AgentActivity {
        /// What happened.
        activity: Activity,
        /// The agent.
        agent: ThreadId,
        /// Its path.
        path: String,
        /// Its model.
        model: Option<String>,
    },
    /// A search in the web by the provider.
    WebSearch {
        /// What was searched for.
        query: String,
        /// The provider's description of what it did.
        action: Option<Value>,
    },
    /// A picture that was looked at.
    ImageView {
        /// Its file.
        path: PathBuf,
    },
    /// A review begins.
    EnteredReview {
        /// What is reviewed.
        review: String,
    },
    /// A review ended.
    ExitedReview {
        /// The review, as plain text.
        review: String,
    },
    /// What another program said.
    ToolOutput {
        /// Its name.
        name: String,
        /// Its namespace.
        namespace: Option<String>,
        /// A text, or a list of content parts.
        output: Value,
    },
    /// The history was replaced by a shorter one.
    Compaction,
}

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandItem {
    /// The line as a shell shows it.
    pub command: String,
    /// Folder it runs in.
    pub cwd: PathBuf,
    /// Who asked for it.
    pub source: CommandSource,
    /// Id of the running process, for those who write to it.
    pub process_id: Option<String>,
    /// What the command seems to do.
    pub actions: Vec<CommandAction>,
    /// What it wrote, both streams in the order they came.
    pub output: Option<String>,
    /// The code it exited with.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// What came of it.
    pub status: WorkStatus,
}

/// Who asked for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSource {
    /// The model, for a command that it waits for.
    Agent,
    /// The user, beside the model.
    UserShell,
    /// The model, for a process that it may come back to.
    SessionStart,
    /// The model, for a process that runs already.
    SessionInteraction,
}

/// What a command seems to do, for a short display.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandAction {
    /// It shows a file.
    Read {
        /// The part of the line.
        command: String,
        /// Name of the file.
        name: String,
        /// The file; absolute.
        path: PathBuf,
    },
    /// It lists files.
    ListFiles {
        /// The part of the line.
        command: String,
        /// Where.
        path: Option<String>,
    },
    /// It searches.
    Search {
        /// The part of the line.
        command: String,
        /// What for.
        query: Option<String>,
        /// Where.
        path: Option<String>,
    },
    /// Something else.
    Unknown {
        /// The part of the line.
        command: String,
    },
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// The file; absolute.
    pub path: PathBuf,
    /// What happens to it.
    pub kind: FileChangeKind,
    /// The file's text for a new or a deleted one, a unified diff else.
    pub diff: String,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It is made.
    Add,
    /// It is deleted.
    Delete,
    /// Its text changes.
    Update {
        /// Where it moves to; absolute.
        moved_to: Option<PathBuf>,
    },
}

/// What came of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkStatus {
    /// It goes on.
    InProgress,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// Somebody refused it.
    Declined,
    /// It was stopped.
    Interrupted,
}

/// What happened between agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// An agent was started.
    Started,
    /// An agent was told something.
    Interacted,
    /// An agent was stopped.
    Interrupted,
    /// An agent ended its turn.
    Completed,
}

/// A part of what a user says.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Marks within it, in the client's terms.
        elements: Vec<Value>,
    },
    /// A picture by its address.
    Image {
        /// The address, often a `data:` URL.
        url: String,
        /// How closely the model should look.
        detail: Option<String>,
    },
    /// A picture in a file.
    LocalImage {
        /// The file.
        path: PathBuf,
        /// How closely the model should look.
        detail: Option<String>,
    },
    /// A skill that is mentioned.
    Skill {
        /// Its name.
        name: String,
        /// Its file.
        path: PathBuf,
    },
    /// Something else that is mentioned.
    Mention {
        /// Its name.
        name: String,
        /// Its address.
        path: String,
    },
    /// A part that only clients understand; the model is told its type.
    Other(Value),
}
