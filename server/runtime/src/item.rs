//! The items of a turn, as clients see them.
//!
//! An item starts and completes once. The model does not see items but the history, which consists of [`ModelItem`]s.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::id::{ItemId, ThreadId};

/// One item of the history in the format of the Responses API.
///
/// Every request repeats the items before it. So clones share the value, and its JSON text, which is made once. A value takes
/// several times the memory of its text, and hardly anybody reads items that joined a history. So a history has
/// texts alone, and a value is made of the text when somebody asks for it.
#[derive(Clone)]
pub struct ModelItem(Arc<Shared>);

/// At least one of both is set.
struct Shared {
    value: OnceLock<Value>,
    text: OnceLock<Arc<[u8]>>,
    /// Which marks the text has, one bit for each, once somebody asked.
    marks: OnceLock<u8>,
}

impl Shared {
    fn new(value: OnceLock<Value>, text: OnceLock<Arc<[u8]>>) -> Self {
        Self { value, text, marks: OnceLock::new() }
    }
}

/// A text by which the runtime finds a few of the items in a history. It has no character that JSON escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Begins the ids of reasoning from Chat Completions.
    ChatReasoning,
    /// Begins the ids of reasoning from the Messages API.
    AnthropicReasoning,
    /// Begins the instructions of a developer.
    DeveloperInstructions,
    /// Begins the instructions of a mode.
    ModeInstructions,
    /// Begins the instructions of a project.
    ProjectInstructions,
    /// Begins the description of the environment.
    EnvironmentContext,
    /// Begins the message that the user stopped a turn.
    TurnAborted,
    /// Begins the message that the user ran a command.
    UserShellCommand,
}

impl Mark {
    const ALL: [Self; 8] = [
        Self::ChatReasoning,
        Self::AnthropicReasoning,
        Self::DeveloperInstructions,
        Self::ModeInstructions,
        Self::ProjectInstructions,
        Self::EnvironmentContext,
        Self::TurnAborted,
        Self::UserShellCommand,
    ];

    /// Returns the text that is searched for.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::ChatReasoning => "rs_chat_",
            Self::AnthropicReasoning => "rs_anthropic_",
            Self::DeveloperInstructions => "<developer_instructions>",
            Self::ModeInstructions => "<mode_instructions>",
            Self::ProjectInstructions => "<project_instructions>",
            Self::EnvironmentContext => "<environment_context>",
            Self::TurnAborted => "<turn_aborted>",
            Self::UserShellCommand => "<user_shell_command>",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

const _: () = assert!(Mark::ALL.len() == Mark::UserShellCommand as usize + 1, "every mark is searched for");
const _: () = assert!(Mark::ALL.len() <= u8::BITS as usize, "each mark has a bit");

/// Deepest nesting of a value that is kept as its text. Readers of JSON have a limit that is higher than this.
const MAX_KEPT_DEPTH: usize = 100;

impl ModelItem {
    /// Returns the value. It is copied if the item has other clones.
    pub fn into_value(self) -> Value {
        Arc::try_unwrap(self.0).map_or_else(
            |shared| Self(shared).to_value(),
            |Shared { value, text, .. }| value.into_inner().or_else(|| Some(parsed(text.get()?))).unwrap_or_default(),
        )
    }

    /// Returns a copy of the value. In contrast to a clone of the borrowed value, it does not stay in memory with the item.
    pub fn to_value(&self) -> Value {
        self.read(Value::clone)
    }

    /// Calls a function with the value, which does not stay in memory with the item.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Value) -> R) -> R {
        match self.0.value.get() {
            Some(value) => read(value),
            None => read(&parsed(self.listed())),
        }
    }

    /// Returns a comma and the JSON text of the item, as a list of items has it.
    pub(crate) fn listed(&self) -> &Arc<[u8]> {
        self.0.text.get_or_init(|| {
            let mut text = vec![b','];
            serde_json::to_writer(&mut text, &self.0.value.get()).expect("a JSON value can be written");
            text.into()
        })
    }

    /// Returns whether the JSON text has a mark. If nobody made the text yet, it may have it. The first call searches the text for all marks,
    /// and the item keeps the result, because every request asks this of all items.
    pub(crate) fn may_have(&self, mark: Mark) -> bool {
        let Some(text) = self.0.text.get() else { return true };
        let has = |mark: &Mark| memchr::memmem::find(text, mark.text().as_bytes()).is_some();
        let search = || Mark::ALL.iter().filter(|mark| has(mark)).fold(0, |marks, mark| marks | mark.bit());
        self.0.marks.get_or_init(search) & mark.bit() != 0
    }

    /// Returns whether both are clones of one item.
    pub(crate) fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the item as a history has it: its text, and no value unless the text would not give the same value again.
    pub(crate) fn kept(&self) -> Self {
        if self.0.value.get().is_none_or(|value| !is_given_by_text(value, MAX_KEPT_DEPTH)) {
            return self.clone();
        }
        Self(Arc::new(Shared::new(OnceLock::new(), OnceLock::from(Arc::clone(self.listed())))))
    }
}

/// Returns the value of a comma and a JSON text that was written from a value.
fn parsed(listed: &[u8]) -> Value {
    serde_json::from_slice(&listed[1..]).expect("the text was written from a value of limited depth")
}

/// Beginning of the names of members with which `serde_json` marks numbers and raw values.
const RESERVED_NAMES: &str = "$serde_json::private::";

/// Returns whether the JSON text of a value gives the same value again. Numbers with a fraction may be rounded, readers do not read
/// what is nested too deeply, and an object whose first name is reserved is read as something else.
fn is_given_by_text(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => !number.is_f64(),
        Value::Array(values) => depth > 0 && values.iter().all(|value| is_given_by_text(value, depth - 1)),
        Value::Object(members) => {
            let is_given = |(name, value): (&String, &Value)| {
                !name.starts_with(RESERVED_NAMES) && is_given_by_text(value, depth - 1)
            };
            depth > 0 && members.iter().all(is_given)
        }
    }
}

impl From<Value> for ModelItem {
    fn from(value: Value) -> Self {
        Self(Arc::new(Shared::new(OnceLock::from(value), OnceLock::new())))
    }
}

impl Deref for ModelItem {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.0.value.get_or_init(|| parsed(self.listed()))
    }
}

impl Borrow<Value> for ModelItem {
    fn borrow(&self) -> &Value {
        self
    }
}

impl PartialEq for ModelItem {
    fn eq(&self, other: &Self) -> bool {
        let has_same_text = self.0.text.get().zip(other.0.text.get()).is_some_and(|(text, of_other)| text == of_other);
        has_same_text || self.read(|value| other.read(|of_other| value == of_other))
    }
}

impl fmt::Debug for ModelItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|value| value.fmt(f))
    }
}

impl Serialize for ModelItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read(|value| value.serialize(serializer))
    }
}

/// An item of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Id of the item within its thread.
    pub id: ItemId,
    /// Kind and content of the item.
    pub kind: ItemKind,
}

/// Kind and content of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// A message of the user.
    UserMessage {
        /// Id that the client chose.
        client_id: Option<String>,
        /// Parts of the message.
        content: Vec<Input>,
    },
    /// A message of the agent.
    AgentMessage {
        /// The text so far.
        text: String,
        /// The phase of the work, as the provider names it.
        phase: Option<String>,
    },
    /// Reasoning, as far as the provider shows it.
    Reasoning {
        /// Parts of the summary.
        summary: Vec<String>,
        /// Parts of the reasoning text.
        content: Vec<String>,
    },
    /// A command.
    Command(CommandItem),
    /// Changes of files.
    FileChange {
        /// The changes.
        changes: Vec<FileChange>,
        /// Status of the changes.
        status: WorkStatus,
    },
    /// A call of a tool of an MCP server.
    McpCall {
        /// Name of the server.
        server: String,
        /// Name of the tool.
        tool: String,
        /// Arguments of the call.
        arguments: Value,
        /// Whether the server declares the tool as read-only.
        read_only: Option<bool>,
        /// Result of the call.
        result: Option<Value>,
        /// Error of the call.
        error: Option<String>,
        /// Status of the call.
        status: WorkStatus,
        /// Duration in milliseconds.
        duration_ms: Option<u64>,
    },
    /// A call of a tool that the client runs.
    DynamicCall {
        /// Namespace of the tool.
        namespace: Option<String>,
        /// Name of the tool.
        tool: String,
        /// Arguments of the call.
        arguments: Value,
        /// Result in the format of the client.
        content: Option<Value>,
        /// Whether the client reports success.
        success: Option<bool>,
        /// Status of the call.
        status: WorkStatus,
        /// Duration in milliseconds.
        duration_ms: Option<u64>,
    },
    /// A call that concerns other agents and has no other item.
    AgentCall {
        /// Name of the operation in the protocol: `wait`, `sendInput`.
        tool: String,
        /// Agents that the call concerns.
        receivers: Vec<ThreadId>,
        /// Message to the agents.
        prompt: Option<String>,
        /// Status of the call.
        status: WorkStatus,
    },
    /// An activity of another agent.
    AgentActivity {
        /// Kind of the activity.
        activity: Activity,
        /// Thread of the agent.
        agent: ThreadId,
        /// Path of the agent.
        path: String,
        /// Model of the agent.
        model: Option<String>,
    },
    /// A web search by the provider.
    WebSearch {
        /// The search query.
        query: String,
        /// Description of the search in the format of the provider.
        action: Option<Value>,
    },
    /// A picture that the model looked at.
    ImageView {
        /// Path of the picture.
        path: PathBuf,
    },
    /// A review started.
    EnteredReview {
        /// What is reviewed.
        review: String,
    },
    /// A review ended.
    ExitedReview {
        /// Text of the review.
        review: String,
    },
    /// Output of a client's tool.
    ToolOutput {
        /// Name of the tool.
        name: String,
        /// Namespace of the tool.
        namespace: Option<String>,
        /// A string, or a list of content parts.
        output: Value,
    },
    /// The history was compacted.
    Compaction,
}

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandItem {
    /// The command line as a shell shows it.
    pub command: String,
    /// Working folder.
    pub cwd: PathBuf,
    /// Who started the command.
    pub source: CommandSource,
    /// Id of the running process, for writing to it.
    pub process_id: Option<String>,
    /// What the command probably does.
    pub actions: Vec<CommandAction>,
    /// Output of both streams in order.
    pub output: Option<String>,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// Status of the command.
    pub status: WorkStatus,
}

/// Who started a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSource {
    /// The model, which waits for its end.
    Agent,
    /// The user.
    UserShell,
    /// The model, which may continue it later.
    SessionStart,
    /// The model, which writes to a running process.
    SessionInteraction,
}

/// What a command probably does, for a short display.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandAction {
    /// Reads a file.
    Read {
        /// The command as part of the line.
        command: String,
        /// Name of the file.
        name: String,
        /// Absolute path of the file.
        path: PathBuf,
    },
    /// Lists files.
    ListFiles {
        /// The command as part of the line.
        command: String,
        /// The folder.
        path: Option<String>,
    },
    /// Searches.
    Search {
        /// The command as part of the line.
        command: String,
        /// The search pattern.
        query: Option<String>,
        /// The folder or file.
        path: Option<String>,
    },
    /// Anything else.
    Unknown {
        /// The command as part of the line.
        command: String,
    },
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Kind of the change.
    pub kind: FileChangeKind,
    /// The text of a new or deleted file, otherwise a unified diff.
    pub diff: String,
}

/// Kind of a change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChangeKind {
    /// The file is created.
    Add,
    /// The file is deleted.
    Delete,
    /// The text of the file changes.
    Update {
        /// New absolute path, if the file is moved.
        moved_to: Option<PathBuf>,
    },
}

/// Status of a command, a change or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkStatus {
    /// It is running.
    InProgress,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// The user declined it.
    Declined,
    /// It was interrupted.
    Interrupted,
}

/// Kind of an activity that concerns agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// An agent was started.
    Started,
    /// A message was sent to an agent.
    Interacted,
    /// An agent was interrupted.
    Interrupted,
    /// A turn of an agent ended.
    Completed,
}

/// A part of a user's message.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Marks within the text, in the format of the client.
        elements: Vec<Value>,
    },
    /// A picture by URL.
    Image {
        /// The URL, often a `data:` URL.
        url: String,
        /// Level of detail for the model.
        detail: Option<String>,
    },
    /// A picture in a file.
    LocalImage {
        /// Path of the file.
        path: PathBuf,
        /// Level of detail for the model.
        detail: Option<String>,
    },
    /// A mentioned skill.
    Skill {
        /// Name of the skill.
        name: String,
        /// Path of its file.
        path: PathBuf,
    },
    /// Any other mention.
    Mention {
        /// Name of what is mentioned.
        name: String,
        /// Path or URL of what is mentioned.
        path: String,
    },
    /// A part that only clients understand. The model gets its type.
    Other(Value),
}

/// The output of a call that no model made: what another program tells an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// Name of what tells it.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// A text, or a list of content parts.
    pub output: Value,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a value with so many lists in each other.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn a_kept_item_has_the_same_text_and_value_and_holds_the_text_alone() {
        let value = json!({"type": "message", "id": "msg_1", "content": [{"text": "ä\n\u{1f600}\"<"}, -3, null, true]});
        let item = ModelItem::from(value.clone());
        assert!(item.may_have(Mark::TurnAborted), "nobody knows before there is a text");
        let kept = item.kept();
        assert!(Arc::ptr_eq(item.listed(), kept.listed()), "requests share the text");
        assert!(kept.0.value.get().is_none());
        assert!(!kept.may_have(Mark::TurnAborted));
        assert_eq!(
            (kept.to_value(), json!(kept), format!("{kept:?}")),
            (value.clone(), value.clone(), format!("{value:?}"))
        );
        assert_eq!((kept == item, kept.read(|value| value["id"].clone())), (true, json!("msg_1")));
        assert!(kept.0.value.get().is_none(), "a value that somebody looked at does not stay");
        assert_eq!(kept.clone().into_value(), value);
        assert_eq!(kept["content"][1], -3);
        assert!(kept.0.value.get().is_some(), "a borrowed value stays");
        assert!(kept.kept().0.value.get().is_none());
        assert_eq!(kept.into_value(), value);
        assert_eq!(ModelItem::from(value.clone()).kept().into_value(), value, "without a clone");
    }

    #[test]
    fn an_item_has_the_marks_that_are_in_its_text() {
        for mark in Mark::ALL {
            assert!(!json!(mark.text()).to_string().contains('\\'), "JSON has it as it is");
            let item =
                ModelItem::from(json!({"id": "a", "text": format!("{} {}", mark.text(), Mark::TurnAborted.text())}));
            item.listed();
            for other in Mark::ALL {
                assert_eq!(item.may_have(other), other == mark || other == Mark::TurnAborted, "{other:?}");
            }
        }
    }

    #[test]
    fn values_that_a_text_might_not_give_again_stay() {
        for (value, stays) in [
            (json!({"output": 0.1}), true),
            (json!({"output": u64::MAX}), false),
            (nested(MAX_KEPT_DEPTH), false),
            (nested(MAX_KEPT_DEPTH + 1), true),
            (nested(1_000), true),
        ] {
            let kept = ModelItem::from(value.clone()).kept();
            assert_eq!(kept.0.value.get().is_some(), stays);
            assert!(kept.to_value() == value);
        }
        assert_ne!(ModelItem::from(json!(1)).kept(), ModelItem::from(json!(2)).kept());
        let (one, other) = (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}));
        assert_eq!(ModelItem::from(one).kept(), ModelItem::from(other), "the order of members does not count");
    }
}
