//! Items: what happens within a turn, and the input of users.
//!
//! Every item is started once and completed once. The completed item has the final content; deltas between the two only
//! show it growing.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// How a message reaches the user if it is not the answer of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum AgentMessageDelivery {
    /// While the turn continues.
    Async,
}

/// How a moderated message is displayed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageDisplay {
    /// What is done with the message.
    pub action: String,
    /// Why the message was blocked.
    #[serde(default)]
    pub block_type: Option<String>,
    /// Whether the client offers the user's trusted contacts.
    #[serde(default)]
    pub check_trusted_contacts: Option<bool>,
    /// Whether the client offers to apply for trusted access.
    #[serde(default)]
    pub cyber_trusted_access: Option<bool>,
}

/// Decision of the moderation about a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AgentMessageModeration {
    /// Whether the message was moderated.
    pub moderated: bool,
    /// Appearance.
    #[serde(default)]
    pub display: Option<AgentMessageDisplay>,
}

/// A question to the user for which the turn does not wait.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AsyncUserInputQuestion {
    /// The title.
    pub title: String,
    /// Answers to choose from.
    #[serde(default)]
    pub options: Option<Vec<String>>,
}

/// A range of bytes in a text, from `start` (inclusive) to `end` (exclusive).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ByteRange {
    /// End of the range.
    pub end: u64,
    /// Start of the range.
    pub start: u64,
}

/// State of another agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct CollabAgentState {
    /// The status.
    pub status: CollabAgentStatus,
    /// The message for people.
    #[serde(default)]
    pub message: Option<String>,
}

/// Status of another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentStatus {
    /// It has not started yet.
    PendingInit,
    /// It is running.
    Running,
    /// It was interrupted.
    Interrupted,
    /// It completed.
    Completed,
    /// It failed.
    Errored,
    /// It was shut down.
    Shutdown,
    /// There is no such agent.
    NotFound,
}

/// A tool for the collaboration of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentTool {
    /// Spawns an agent.
    SpawnAgent,
    /// Sends input to an agent.
    SendInput,
    /// Resumes an agent.
    ResumeAgent,
    /// Waits for agents.
    Wait,
    /// Closes an agent.
    CloseAgent,
    /// Sends a message to an agent.
    SendMessage,
    /// Gives an agent another task.
    FollowupTask,
    /// Interrupts an agent.
    InterruptAgent,
    /// Lists the agents.
    ListAgents,
}

/// Status of a call of a collaboration tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentToolCallStatus {
    /// It is in progress.
    #[default]
    InProgress,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// It was interrupted.
    Interrupted,
}

/// What a part of a command does, as far as the server can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum CommandAction {
    /// Reads a file.
    Read {
        /// The command as a shell command line.
        command: String,
        /// Name of the file.
        name: String,
        /// Path of the file.
        path: String,
    },
    /// Lists files.
    ListFiles {
        /// The command as a shell command line.
        command: String,
        /// Path of the directory, if the command names one.
        #[serde(default)]
        path: Option<String>,
    },
    /// Searches in files.
    Search {
        /// The command as a shell command line.
        command: String,
        /// Path of the file or directory, if the command names one.
        #[serde(default)]
        path: Option<String>,
        /// The searched text.
        #[serde(default)]
        query: Option<String>,
    },
    /// Something else.
    Unknown {
        /// The command as a shell command line.
        command: String,
    },
}

/// Who started a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionSource {
    /// The model.
    #[default]
    Agent,
    /// The user.
    UserShell,
    /// The model, with a tool whose commands may outlive the turn.
    UnifiedExecStartup,
    /// The model, by writing input to a running command.
    UnifiedExecInteraction,
}

/// Status of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionStatus {
    /// It is in progress.
    #[default]
    InProgress,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// The user declined it.
    Declined,
}

/// One part of the result of a client's tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicToolCallOutputContentItem {
    /// A text.
    InputText {
        /// The text.
        text: String,
    },
    /// An image.
    InputImage {
        /// URL of the image, which may be a data URL.
        image_url: String,
    },
    /// An audio recording.
    InputAudio {
        /// URL of the audio recording, which may be a data URL.
        audio_url: String,
    },
}

/// Status of a call of a client's tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum DynamicToolCallStatus {
    /// It is in progress.
    #[default]
    InProgress,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileUpdateChange {
    /// Content of a file that is added or deleted, or a unified diff of a file that changes.
    pub diff: String,
    /// What happens to the file.
    pub kind: PatchChangeKind,
    /// Path of the file.
    pub path: String,
}

/// Output of a function: a text or several parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum FunctionCallOutputBody {
    /// A text.
    Text(String),
    /// Several parts.
    Parts(Vec<FunctionCallOutputContentItem>),
}

/// One part of the output of a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FunctionCallOutputContentItem {
    /// A text.
    InputText {
        /// The text.
        text: String,
    },
    /// An image.
    InputImage {
        /// Where the image is.
        #[serde(flatten)]
        source: ImageReference,
        /// Level of detail for the model.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// An audio recording.
    InputAudio {
        /// Where the recording is.
        #[serde(flatten)]
        source: AudioReference,
    },
    /// Content that only the model provider can read.
    EncryptedContent {
        /// The encrypted content.
        encrypted_content: String,
    },
}

/// A text that a hook added to the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct HookPromptFragment {
    /// Id of the hook run.
    pub hook_run_id: String,
    /// The text.
    pub text: String,
}

/// Level of detail of an image for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ImageDetail {
    /// The model decides.
    Auto,
    /// Low.
    Low,
    /// High.
    High,
    /// The original resolution.
    Original,
}

/// Why an image was not generated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ImageGenerationFailure {
    /// The usage limit of the account is exceeded.
    UsageLimitExceeded {
        /// The id of the limit.
        limit_id: String,
        /// Time of the next reset in Unix seconds.
        #[serde(default)]
        resets_at: Option<i64>,
    },
}

/// An image from which another one is generated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ImageGenerationInputImage {
    /// Path of the image.
    pub path: AbsolutePath,
    /// SHA-256 checksum of the image.
    pub sha256: String,
}

/// How the user interface of a tool's application is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpAppDisplayMode {
    /// Within the conversation.
    Inline,
    /// Full screen.
    Fullscreen,
}

/// The user interface of a tool's application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct McpAppUi {
    /// Display mode that the model prefers.
    pub preferred_model_display_mode: McpAppDisplayMode,
    /// URI of the user interface.
    pub resource_uri: String,
}

/// The application that a tool belongs to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallAppContext {
    /// The id of the application.
    pub connector_id: String,
    /// The name of the action within the application.
    #[serde(default)]
    pub action_name: Option<String>,
    /// The name of the application.
    #[serde(default)]
    pub app_name: Option<String>,
    /// Id of the link to the application.
    #[serde(default)]
    pub link_id: Option<String>,
    /// URI of the application's user interface.
    #[serde(default)]
    pub resource_uri: Option<String>,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct McpToolCallError {
    /// The message for people.
    pub message: String,
}

/// Result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallResult {
    /// The parts of the result.
    pub content: Vec<Value>,
    /// Metadata of the MCP server.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// The result as JSON.
    #[serde(default)]
    pub structured_content: Option<Value>,
}

/// Status of a tool call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpToolCallStatus {
    /// It is in progress.
    #[default]
    InProgress,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
}

/// Memories that a message cites.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitation {
    /// Places in memory files.
    pub entries: Vec<MemoryCitationEntry>,
    /// Ids of the threads.
    pub thread_ids: Vec<String>,
}

/// A place in a memory file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitationEntry {
    /// The last line.
    pub line_end: u32,
    /// The first line.
    pub line_start: u32,
    /// Content of the place.
    pub note: String,
    /// Path of the file.
    pub path: String,
}

/// Role of a message within its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// A comment during the work.
    Commentary,
    /// A part of the final answer.
    PartialAnswer,
    /// The final answer.
    FinalAnswer,
}

/// Status of a change of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum PatchApplyStatus {
    /// It is in progress.
    #[default]
    InProgress,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// The user declined it.
    Declined,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PatchChangeKind {
    /// The file is new.
    Add,
    /// The file is deleted.
    Delete,
    /// The file changes, and may be moved.
    Update {
        /// New path of the file, if it is moved.
        #[serde(default)]
        move_path: Option<String>,
    },
}

/// What happened to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SubAgentActivityKind {
    /// It started.
    Started,
    /// It received a message or another task.
    Interacted,
    /// It was interrupted.
    Interrupted,
    /// It completed its task.
    Completed,
}

/// A part of a text that a client displays in its own way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TextElement {
    /// The part of the text.
    pub byte_range: ByteRange,
    /// The text that is displayed instead.
    #[serde(default)]
    pub placeholder: Option<String>,
}

/// An item of a turn.
// The largest kinds, which are rare, are in boxes, because finished turns stay in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ThreadItem {
    /// A message of the user.
    UserMessage(UserMessageItem),
    /// Texts of hooks.
    HookPrompt(HookPromptItem),
    /// A message of the model.
    AgentMessage(AgentMessageItem),
    /// The output of a function without an item type of its own.
    FunctionCallOutput(FunctionCallOutputItem),
    /// A plan.
    Plan(PlanItem),
    /// Reasoning of the model.
    Reasoning(ReasoningItem),
    /// A command.
    CommandExecution(CommandExecutionItem),
    /// A change of files.
    FileChange(FileChangeItem),
    /// A call of a tool of an MCP server.
    McpToolCall(Box<McpToolCallItem>),
    /// A call of a tool that the client runs.
    DynamicToolCall(DynamicToolCallItem),
    /// A call of a tool for the collaboration of agents.
    CollabAgentToolCall(CollabAgentToolCallItem),
    /// An activity of a child agent.
    SubAgentActivity(SubAgentActivityItem),
    /// A web search.
    WebSearch(WebSearchItem),
    /// The model views an image.
    ImageView(ImageViewItem),
    /// A pause.
    Sleep(SleepItem),
    /// The model generates an image.
    ImageGeneration(Box<ImageGenerationItem>),
    /// A review starts.
    EnteredReviewMode(EnteredReviewModeItem),
    /// A review ends.
    ExitedReviewMode(ExitedReviewModeItem),
    /// A compaction.
    ContextCompaction(ContextCompactionItem),
}

/// Input of the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct UserMessageItem {
    /// Id of the item.
    pub id: String,
    /// The parts of the input.
    pub content: Vec<UserInput>,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// Id that the client gave to the message.
    #[serde(default)]
    pub client_id: Option<String>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// Texts that hooks added to the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookPromptItem {
    /// Id of the item.
    pub id: String,
    /// The texts.
    pub fragments: Vec<HookPromptFragment>,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A message of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageItem {
    /// Id of the item.
    pub id: String,
    /// The text.
    pub text: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// How it reaches the user if it is not the answer of the turn.
    #[serde(default)]
    pub delivery: Option<AgentMessageDelivery>,
    /// Memories that the message cites.
    #[serde(default)]
    pub memory_citation: Option<MemoryCitation>,
    /// The decision of the moderation.
    #[serde(default)]
    pub moderation: Option<AgentMessageModeration>,
    /// Role of the message within its turn.
    #[serde(default)]
    pub phase: Option<MessagePhase>,
    /// The questions.
    #[serde(default)]
    pub questions: Option<Vec<AsyncUserInputQuestion>>,
}

/// The output of a function without an item type of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FunctionCallOutputItem {
    /// Id of the item.
    pub id: String,
    /// Name of the function.
    pub name: String,
    /// The output.
    pub output: FunctionCallOutputBody,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The namespace of the tool.
    #[serde(default)]
    pub namespace: Option<String>,
}

/// A plan that the model made in plan mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PlanItem {
    /// Id of the item.
    pub id: String,
    /// The text.
    pub text: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// Reasoning of the model, as far as the provider reveals it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningItem {
    /// Id of the item.
    pub id: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The parts of the reasoning.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub content: Vec<String>,
    /// The parts of the summary.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub summary: Vec<String>,
}

/// A command of the model or the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecutionItem {
    /// Id of the item.
    pub id: String,
    /// The command as a shell command line.
    pub command: String,
    /// What the parts of the command do, as far as the server can tell.
    pub command_actions: Vec<CommandAction>,
    /// The working directory.
    pub cwd: String,
    /// The status.
    pub status: CommandExecutionStatus,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// Output of the command, truncated to a limit. `null` if there is none.
    #[serde(default)]
    pub aggregated_output: Option<String>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// Exit code. `null` while the command runs.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Id of the plugin that it belongs to.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Id that the server gave to the process, as long as input can be written to it.
    #[serde(default)]
    pub process_id: Option<String>,
    /// Path of the script that the command runs.
    #[serde(default)]
    pub script_path: Option<String>,
    /// Who started the command.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub source: CommandExecutionSource,
}

/// A change of files by the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FileChangeItem {
    /// Id of the item.
    pub id: String,
    /// The changes, by file.
    pub changes: Vec<FileUpdateChange>,
    /// The status.
    pub status: PatchApplyStatus,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A call of a tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallItem {
    /// Id of the item.
    pub id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// Name of the MCP server.
    pub server: String,
    /// The status.
    pub status: McpToolCallStatus,
    /// Name of the tool.
    pub tool: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// The application that the tool belongs to.
    #[serde(default)]
    pub app_context: Option<McpToolCallAppContext>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// The error. `null` if there was none.
    #[serde(default)]
    pub error: Option<McpToolCallError>,
    /// URI of the user interface of the tool's application.
    #[serde(default)]
    pub mcp_app_resource_uri: Option<String>,
    /// The user interface of the tool's application.
    #[serde(default)]
    pub mcp_app_ui: Option<McpAppUi>,
    /// Id of the plugin that it belongs to.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Whether the tool declares that it changes nothing.
    #[serde(default)]
    pub read_only_hint: Option<bool>,
    /// The result. `null` if there is none.
    #[serde(default)]
    pub result: Option<McpToolCallResult>,
}

/// A call of a tool that the client runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallItem {
    /// Id of the item.
    pub id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// The status.
    pub status: DynamicToolCallStatus,
    /// Name of the tool.
    pub tool: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The parts of the result.
    #[serde(default)]
    pub content_items: Option<Vec<DynamicToolCallOutputContentItem>>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// The namespace of the tool.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Whether the tool succeeded.
    #[serde(default)]
    pub success: Option<bool>,
}

/// A call of a tool for the collaboration of agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CollabAgentToolCallItem {
    /// Id of the item.
    pub id: String,
    /// States of the agents that the call is about, by thread id.
    pub agents_states: BTreeMap<String, CollabAgentState>,
    /// Ids of the threads that the call is directed to.
    pub receiver_thread_ids: Vec<String>,
    /// Id of the thread that made the call.
    pub sender_thread_id: String,
    /// The status.
    pub status: CollabAgentToolCallStatus,
    /// The tool.
    pub tool: CollabAgentTool,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Name of the model.
    #[serde(default)]
    pub model: Option<String>,
    /// Prompt for the agent.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// An activity of a child agent of this thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SubAgentActivityItem {
    /// Id of the item.
    pub id: String,
    /// Path of the agent in the tree.
    pub agent_path: String,
    /// Id of the agent's thread.
    pub agent_thread_id: String,
    /// What happened.
    pub kind: SubAgentActivityKind,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Name of the model.
    #[serde(default)]
    pub model: Option<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// A web search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WebSearchItem {
    /// Id of the item.
    pub id: String,
    /// The searched text.
    pub query: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// The action, if it is known.
    #[serde(default)]
    pub action: Option<WebSearchAction>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The results.
    #[serde(default)]
    pub results: Option<Vec<Value>>,
}

/// An image that the model viewed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ImageViewItem {
    /// Id of the item.
    pub id: String,
    /// Path of the image.
    pub path: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A pause that the model made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SleepItem {
    /// Id of the item.
    pub id: String,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// An image that the model generates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ImageGenerationItem {
    /// The image.
    #[serde(flatten)]
    pub output: ImageGenerationOutput,
    /// Id of the item.
    pub id: String,
    /// The status.
    pub status: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Why there is no image. `null` if it did not fail.
    #[serde(default)]
    pub failure: Option<ImageGenerationFailure>,
    /// Id that the provider gave to the image.
    #[serde(default)]
    pub generation_id: Option<String>,
    /// Images from which it is generated.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub input_images: Vec<ImageGenerationInputImage>,
    /// The prompt as the provider revised it.
    #[serde(default)]
    pub revised_prompt: Option<String>,
    /// The file in which it was stored.
    #[serde(default)]
    pub saved_path: Option<AbsolutePath>,
    /// Whether the background is transparent.
    #[serde(default)]
    pub transparent_background: Option<bool>,
}

/// The start of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct EnteredReviewModeItem {
    /// Id of the item.
    pub id: String,
    /// What is reviewed, or the text of the reviewer.
    pub review: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// The end of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExitedReviewModeItem {
    /// Id of the item.
    pub id: String,
    /// What is reviewed, or the text of the reviewer.
    pub review: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A compaction of the history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactionItem {
    /// Id of the item.
    pub id: String,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// One part of a user's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum UserInput {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// Parts of the text that a client displays in its own way.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        text_elements: Vec<TextElement>,
    },
    /// An image.
    Image {
        /// Where the image is.
        #[serde(flatten)]
        source: MediaSource,
        /// Level of detail for the model.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// An image in a file of the server's machine.
    LocalImage {
        /// Path of the image.
        path: String,
        /// Level of detail for the model.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// An audio recording.
    Audio {
        /// Where the recording is.
        #[serde(flatten)]
        source: MediaSource,
    },
    /// An audio recording in a file of the server's machine.
    LocalAudio {
        /// Path of the recording.
        path: String,
    },
    /// A skill to use.
    Skill {
        /// Name of the skill.
        name: String,
        /// Path of the skill.
        path: String,
    },
    /// Something that the user mentions.
    Mention {
        /// Name that the message uses.
        name: String,
        /// What the name refers to.
        path: String,
    },
}

/// An action on the web.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum WebSearchAction {
    /// A search.
    Search {
        /// The searched texts.
        #[serde(default)]
        queries: Option<Vec<String>>,
        /// The searched text.
        #[serde(default)]
        query: Option<String>,
    },
    /// Opening a page.
    OpenPage {
        /// The URL.
        #[serde(default)]
        url: Option<String>,
    },
    /// A search within a page.
    FindInPage {
        /// The searched text.
        #[serde(default)]
        pattern: Option<String>,
        /// The URL.
        #[serde(default)]
        url: Option<String>,
    },
    /// Another action.
    Other,
}

/// Where an image or recording of a user is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, rename_all_fields = "camelCase", expecting = "a picture or a recording has a `url` or a `fileId`")]
pub enum MediaSource {
    /// At a URL, which may be a data URL.
    Url {
        /// The URL.
        url: String,
    },
    /// At the model provider, where it was uploaded.
    File {
        /// Id that the provider gave to the file.
        file_id: String,
    },
}

/// Where an image in the output of a function is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, expecting = "a picture has an `image_url` or a `file_id`")]
pub enum ImageReference {
    /// At a URL, which may be a data URL.
    Url {
        /// The URL.
        image_url: String,
    },
    /// At the model provider.
    File {
        /// Id that the provider gave to the file.
        file_id: String,
    },
}

/// Where a recording in the output of a function is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, expecting = "a recording has an `audio_url` or a `file_id`")]
pub enum AudioReference {
    /// At a URL, which may be a data URL.
    Url {
        /// The URL.
        audio_url: String,
    },
    /// At the model provider.
    File {
        /// Id that the provider gave to the file.
        file_id: String,
    },
}

/// A generated image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, rename_all_fields = "camelCase", expecting = "a made picture has a `result` or a `fileId`")]
pub enum ImageGenerationOutput {
    /// The image itself.
    Data {
        /// The image in base64. Empty until it is complete.
        result: String,
    },
    /// At the model provider.
    File {
        /// Id that the provider gave to the file.
        file_id: String,
    },
}

/// Evaluates an expression for an item of any kind.
macro_rules! of_any_item {
    ($of:expr, $item:ident => $then:expr) => {
        match $of {
            ThreadItem::UserMessage($item) => $then,
            ThreadItem::HookPrompt($item) => $then,
            ThreadItem::AgentMessage($item) => $then,
            ThreadItem::FunctionCallOutput($item) => $then,
            ThreadItem::Plan($item) => $then,
            ThreadItem::Reasoning($item) => $then,
            ThreadItem::CommandExecution($item) => $then,
            ThreadItem::FileChange($item) => $then,
            ThreadItem::McpToolCall($item) => $then,
            ThreadItem::DynamicToolCall($item) => $then,
            ThreadItem::CollabAgentToolCall($item) => $then,
            ThreadItem::SubAgentActivity($item) => $then,
            ThreadItem::WebSearch($item) => $then,
            ThreadItem::ImageView($item) => $then,
            ThreadItem::Sleep($item) => $then,
            ThreadItem::ImageGeneration($item) => $then,
            ThreadItem::EnteredReviewMode($item) => $then,
            ThreadItem::ExitedReviewMode($item) => $then,
            ThreadItem::ContextCompaction($item) => $then,
        }
    };
}

impl ThreadItem {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        of_any_item!(self, item => &item.id)
    }

    /// Returns the start time in Unix milliseconds.
    #[must_use]
    pub fn started_at_ms(&self) -> Option<i64> {
        of_any_item!(self, item => item.started_at_ms)
    }

    /// Returns the end time in Unix milliseconds.
    #[must_use]
    pub fn completed_at_ms(&self) -> Option<i64> {
        of_any_item!(self, item => item.completed_at_ms)
    }

    /// Returns the item with other start and end times, in Unix milliseconds.
    #[must_use]
    pub fn with_times(mut self, started_at_ms: Option<i64>, completed_at_ms: Option<i64>) -> Self {
        of_any_item!(&mut self, item => {
            item.started_at_ms = started_at_ms;
            item.completed_at_ms = completed_at_ms;
        });
        self
    }
}

/// Implements the conversion of each item type into a [`ThreadItem`].
macro_rules! items_from {
    ($($kind:ident $item:ident),* $(,)?) => {$(
        impl From<$item> for ThreadItem {
            fn from(item: $item) -> Self {
                Self::$kind(item.into())
            }
        }
    )*};
}

items_from! {
    UserMessage UserMessageItem, HookPrompt HookPromptItem, AgentMessage AgentMessageItem,
    FunctionCallOutput FunctionCallOutputItem, Plan PlanItem, Reasoning ReasoningItem,
    CommandExecution CommandExecutionItem, FileChange FileChangeItem, McpToolCall McpToolCallItem,
    DynamicToolCall DynamicToolCallItem, CollabAgentToolCall CollabAgentToolCallItem,
    SubAgentActivity SubAgentActivityItem, WebSearch WebSearchItem, ImageView ImageViewItem, Sleep SleepItem,
    ImageGeneration ImageGenerationItem, EnteredReviewMode EnteredReviewModeItem,
    ExitedReviewMode ExitedReviewModeItem, ContextCompaction ContextCompactionItem,
}
