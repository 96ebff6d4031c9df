//! Items: what happens within a turn, and what users say.
//!
//! Every item is started once and completed once. The completed item is what counts; deltas between the two only show
//! it growing.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// A way in which a message reaches the user other than as the answer of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum AgentMessageDelivery {
    /// While the turn goes on.
    Async,
}

/// How a moderated message is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageDisplay {
    /// What is done with the message.
    pub action: String,
    /// Why the message was held back.
    #[serde(default)]
    pub block_type: Option<String>,
    /// Whether the user's trusted contacts are offered.
    #[serde(default)]
    pub check_trusted_contacts: Option<bool>,
    /// Whether the user is offered to apply for trusted access.
    #[serde(default)]
    pub cyber_trusted_access: Option<bool>,
}

/// What a moderator decided about a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AgentMessageModeration {
    /// Whether it was held back.
    pub moderated: bool,
    /// How it is shown.
    #[serde(default)]
    pub display: Option<AgentMessageDisplay>,
}

/// A question to the user that the turn does not wait for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AsyncUserInputQuestion {
    /// The title.
    pub title: String,
    /// The answers on offer.
    #[serde(default)]
    pub options: Option<Vec<String>>,
}

/// A range of bytes in a text: from `start` up to, but without, `end`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ByteRange {
    /// Where it ends.
    pub end: u64,
    /// Where it begins.
    pub start: u64,
}

/// The state of another agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct CollabAgentState {
    /// How far it is, or what became of it.
    pub status: CollabAgentStatus,
    /// What there is to say.
    #[serde(default)]
    pub message: Option<String>,
}

/// What another agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentStatus {
    /// It has not begun yet.
    PendingInit,
    /// It runs.
    Running,
    /// It was interrupted.
    Interrupted,
    /// It ended well.
    Completed,
    /// It failed.
    Errored,
    /// It was shut down.
    Shutdown,
    /// There is no such agent.
    NotFound,
}

/// A tool by which agents work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentTool {
    /// Starts an agent.
    SpawnAgent,
    /// Gives an agent input.
    SendInput,
    /// Takes up an agent again.
    ResumeAgent,
    /// Waits for agents.
    Wait,
    /// Ends an agent.
    CloseAgent,
    /// Sends an agent a message.
    SendMessage,
    /// Gives an agent another task.
    FollowupTask,
    /// Interrupts an agent.
    InterruptAgent,
    /// Lists the agents.
    ListAgents,
}

/// How far a call of a collaboration tool is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CollabAgentToolCallStatus {
    /// It is under way.
    #[default]
    InProgress,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// It was interrupted.
    Interrupted,
}

/// What a part of a command does, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum CommandAction {
    /// Reads a file.
    Read {
        /// The command, as a line for a shell.
        command: String,
        /// The name.
        name: String,
        /// The path.
        path: String,
    },
    /// Lists files.
    ListFiles {
        /// The command, as a line for a shell.
        command: String,
        /// The path.
        #[serde(default)]
        path: Option<String>,
    },
    /// Searches in files.
    Search {
        /// The command, as a line for a shell.
        command: String,
        /// The path.
        #[serde(default)]
        path: Option<String>,
        /// What is searched for.
        #[serde(default)]
        query: Option<String>,
    },
    /// Something else.
    Unknown {
        /// The command, as a line for a shell.
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
    /// The model, as a command that may outlive its turn.
    UnifiedExecStartup,
    /// The model, by input to a running command.
    UnifiedExecInteraction,
}

/// How far a command is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionStatus {
    /// It is under way.
    #[default]
    InProgress,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// The user did not allow it.
    Declined,
}

/// One part of what a client's tool answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicToolCallOutputContentItem {
    /// A text.
    InputText {
        /// The text.
        text: String,
    },
    /// A picture.
    InputImage {
        /// The address of the picture, which may hold the data itself.
        image_url: String,
    },
    /// A recording.
    InputAudio {
        /// The address of the recording, which may hold the data itself.
        audio_url: String,
    },
}

/// How far a call of a client's tool is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum DynamicToolCallStatus {
    /// It is under way.
    #[default]
    InProgress,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileUpdateChange {
    /// The text of a file that is new or goes; a unified diff of one that changes.
    pub diff: String,
    /// What happens to the file.
    pub kind: PatchChangeKind,
    /// The path.
    pub path: String,
}

/// What a function answered: a text, or several parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum FunctionCallOutputBody {
    /// A text.
    Text(String),
    /// Several parts.
    Parts(Vec<FunctionCallOutputContentItem>),
}

/// One part of what a function answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FunctionCallOutputContentItem {
    /// A text.
    InputText {
        /// The text.
        text: String,
    },
    /// A picture.
    InputImage {
        /// Where it is.
        #[serde(flatten)]
        source: ImageReference,
        /// How closely the model looks at it.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// A recording.
    InputAudio {
        /// Where it is.
        #[serde(flatten)]
        source: AudioReference,
    },
    /// Something that only the model can read.
    EncryptedContent {
        /// What only the model can read.
        encrypted_content: String,
    },
}

/// A text that a hook put into the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct HookPromptFragment {
    /// The run of the hook.
    pub hook_run_id: String,
    /// The text.
    pub text: String,
}

/// How closely the model looks at a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ImageDetail {
    /// As the model likes.
    Auto,
    /// From afar.
    Low,
    /// Closely.
    High,
    /// At full size.
    Original,
}

/// Why a picture was not made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ImageGenerationFailure {
    /// The account used what it was allowed to.
    UsageLimitExceeded {
        /// The id of the limit.
        limit_id: String,
        /// When it begins anew, in Unix seconds.
        #[serde(default)]
        resets_at: Option<i64>,
    },
}

/// A picture that another one is made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ImageGenerationInputImage {
    /// The path.
    pub path: AbsolutePath,
    /// The checksum of the picture.
    pub sha256: String,
}

/// How the surface of a tool's application is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpAppDisplayMode {
    /// Within the conversation.
    Inline,
    /// On the whole screen.
    Fullscreen,
}

/// The surface of a tool's application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct McpAppUi {
    /// How the model would like it shown.
    pub preferred_model_display_mode: McpAppDisplayMode,
    /// Where the surface is.
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
    /// The id of the link to the application.
    #[serde(default)]
    pub link_id: Option<String>,
    /// Where the surface is.
    #[serde(default)]
    pub resource_uri: Option<String>,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct McpToolCallError {
    /// What there is to say.
    pub message: String,
}

/// What a tool answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallResult {
    /// The parts of the answer.
    pub content: Vec<Value>,
    /// What the tool server adds for its own use.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// The answer as JSON.
    #[serde(default)]
    pub structured_content: Option<Value>,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpToolCallStatus {
    /// It is under way.
    #[default]
    InProgress,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
}

/// What of its memory a message goes back to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitation {
    /// The places.
    pub entries: Vec<MemoryCitationEntry>,
    /// The threads.
    pub thread_ids: Vec<String>,
}

/// A place in the memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitationEntry {
    /// The last line.
    pub line_end: u32,
    /// The first line.
    pub line_start: u32,
    /// What it says there.
    pub note: String,
    /// The path.
    pub path: String,
}

/// What a message is within its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// Said on the way.
    Commentary,
    /// A part of the answer.
    PartialAnswer,
    /// The answer.
    FinalAnswer,
}

/// How far a change of files is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum PatchApplyStatus {
    /// It is under way.
    #[default]
    InProgress,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// The user did not allow it.
    Declined,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PatchChangeKind {
    /// It is new.
    Add,
    /// It goes.
    Delete,
    /// It changes, and may move.
    Update {
        /// Where the file goes.
        #[serde(default)]
        move_path: Option<String>,
    },
}

/// What happened to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SubAgentActivityKind {
    /// It began.
    Started,
    /// It got a message or another task.
    Interacted,
    /// It was interrupted.
    Interrupted,
    /// It finished its task.
    Completed,
}

/// A part of a text that a client shows in its own way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TextElement {
    /// Which part of the text.
    pub byte_range: ByteRange,
    /// What is shown instead.
    #[serde(default)]
    pub placeholder: Option<String>,
}

/// One thing that happened in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase")]
#[expect(
    clippy::large_enum_variant,
    reason = "an item is moved a few times and written; boxes would be in everybody's way"
)]
pub enum ThreadItem {
    /// A message of the user.
    UserMessage(UserMessageItem),
    /// Texts of hooks.
    HookPrompt(HookPromptItem),
    /// A message of the model.
    AgentMessage(AgentMessageItem),
    /// The output of some other function.
    FunctionCallOutput(FunctionCallOutputItem),
    /// A plan.
    Plan(PlanItem),
    /// Thoughts.
    Reasoning(ReasoningItem),
    /// A command.
    CommandExecution(CommandExecutionItem),
    /// A change of files.
    FileChange(FileChangeItem),
    /// A call of a tool on a tool server.
    McpToolCall(McpToolCallItem),
    /// A call of a tool that the client runs.
    DynamicToolCall(DynamicToolCallItem),
    /// A call of a tool by which agents work together.
    CollabAgentToolCall(CollabAgentToolCallItem),
    /// Something about an agent that this thread started.
    SubAgentActivity(SubAgentActivityItem),
    /// A search on the web.
    WebSearch(WebSearchItem),
    /// A picture is looked at.
    ImageView(ImageViewItem),
    /// A pause.
    Sleep(SleepItem),
    /// A picture is made.
    ImageGeneration(ImageGenerationItem),
    /// A review begins.
    EnteredReviewMode(EnteredReviewModeItem),
    /// A review ends.
    ExitedReviewMode(ExitedReviewModeItem),
    /// The history was made shorter.
    ContextCompaction(ContextCompactionItem),
}

/// What the user said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct UserMessageItem {
    /// The id.
    pub id: String,
    /// The parts of it.
    pub content: Vec<UserInput>,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// The id that the client gave to the message.
    #[serde(default)]
    pub client_id: Option<String>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// Texts that hooks put into the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookPromptItem {
    /// The id.
    pub id: String,
    /// The texts.
    pub fragments: Vec<HookPromptFragment>,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A message of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageItem {
    /// The id.
    pub id: String,
    /// The text.
    pub text: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// How it reaches the user, if not as an answer.
    #[serde(default)]
    pub delivery: Option<AgentMessageDelivery>,
    /// What of its memory it goes back to.
    #[serde(default)]
    pub memory_citation: Option<MemoryCitation>,
    /// What a moderator decided.
    #[serde(default)]
    pub moderation: Option<AgentMessageModeration>,
    /// What it is within its turn.
    #[serde(default)]
    pub phase: Option<MessagePhase>,
    /// The questions.
    #[serde(default)]
    pub questions: Option<Vec<AsyncUserInputQuestion>>,
}

/// The output of a function that has no kind of item of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FunctionCallOutputItem {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The output.
    pub output: FunctionCallOutputBody,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
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
    /// The id.
    pub id: String,
    /// The text.
    pub text: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// What the model thought, as far as it tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningItem {
    /// The id.
    pub id: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The parts of it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub content: Vec<String>,
    /// The thoughts, summed up, part by part.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub summary: Vec<String>,
}

/// A command that ran, or runs, for the model or the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecutionItem {
    /// The id.
    pub id: String,
    /// The command, as a line for a shell.
    pub command: String,
    /// What the parts of the command do, as far as it can be told.
    pub command_actions: Vec<CommandAction>,
    /// The working directory.
    pub cwd: String,
    /// How far it is, or what became of it.
    pub status: CommandExecutionStatus,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// What the command printed, bounded; `null` if it printed nothing.
    #[serde(default)]
    pub aggregated_output: Option<String>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// The exit code; `null` while there is none.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The plugin that it comes with.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// The server's id of the process, while it can be written to.
    #[serde(default)]
    pub process_id: Option<String>,
    /// The script that the command runs.
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
    /// The id.
    pub id: String,
    /// The changes, file by file.
    pub changes: Vec<FileUpdateChange>,
    /// How far it is, or what became of it.
    pub status: PatchApplyStatus,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A call of a tool on a tool server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallItem {
    /// The id.
    pub id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// The tool server.
    pub server: String,
    /// How far it is, or what became of it.
    pub status: McpToolCallStatus,
    /// The tool.
    pub tool: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// The application that the tool belongs to.
    #[serde(default)]
    pub app_context: Option<McpToolCallAppContext>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// What went wrong; `null` if nothing did.
    #[serde(default)]
    pub error: Option<McpToolCallError>,
    /// The surface of the tool's application.
    #[serde(default)]
    pub mcp_app_resource_uri: Option<String>,
    /// How that surface is shown.
    #[serde(default)]
    pub mcp_app_ui: Option<McpAppUi>,
    /// The plugin that it comes with.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Whether the tool says of itself that it changes nothing.
    #[serde(default)]
    pub read_only_hint: Option<bool>,
    /// What the tool answered; `null` unless it did.
    #[serde(default)]
    pub result: Option<McpToolCallResult>,
}

/// A call of a tool that the client runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallItem {
    /// The id.
    pub id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// How far it is, or what became of it.
    pub status: DynamicToolCallStatus,
    /// The tool.
    pub tool: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The parts of the answer.
    #[serde(default)]
    pub content_items: Option<Vec<DynamicToolCallOutputContentItem>>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// The namespace of the tool.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Whether the tool did what it should.
    #[serde(default)]
    pub success: Option<bool>,
}

/// A call of a tool by which agents work together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CollabAgentToolCallItem {
    /// The id.
    pub id: String,
    /// The states of the agents that the call was about, by thread.
    pub agents_states: BTreeMap<String, CollabAgentState>,
    /// The threads that it goes to.
    pub receiver_thread_ids: Vec<String>,
    /// The thread that it comes from.
    pub sender_thread_id: String,
    /// How far it is, or what became of it.
    pub status: CollabAgentToolCallStatus,
    /// The tool.
    pub tool: CollabAgentTool,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// What the agent is told.
    #[serde(default)]
    pub prompt: Option<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// Something that happened to an agent which this thread started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SubAgentActivityItem {
    /// The id.
    pub id: String,
    /// The path of the agent in the tree of agents.
    pub agent_path: String,
    /// The thread of the agent.
    pub agent_thread_id: String,
    /// What happened.
    pub kind: SubAgentActivityKind,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// A search on the web.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WebSearchItem {
    /// The id.
    pub id: String,
    /// What is searched for.
    pub query: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// What was done, as far as it is known.
    #[serde(default)]
    pub action: Option<WebSearchAction>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// What was found.
    #[serde(default)]
    pub results: Option<Vec<Value>>,
}

/// A picture that the model looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ImageViewItem {
    /// The id.
    pub id: String,
    /// The path.
    pub path: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A pause that the model made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SleepItem {
    /// The id.
    pub id: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// A picture that the model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ImageGenerationItem {
    /// The picture.
    #[serde(flatten)]
    pub output: ImageGenerationOutput,
    /// The id.
    pub id: String,
    /// How far it is, or what became of it.
    pub status: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Why there is none.
    #[serde(default)]
    pub failure: Option<ImageGenerationFailure>,
    /// The provider's id of the picture.
    #[serde(default)]
    pub generation_id: Option<String>,
    /// The pictures that it is made from.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub input_images: Vec<ImageGenerationInputImage>,
    /// What the picture was made from in the end.
    #[serde(default)]
    pub revised_prompt: Option<String>,
    /// The file that it was stored in.
    #[serde(default)]
    pub saved_path: Option<AbsolutePath>,
    /// Whether there is nothing behind it.
    #[serde(default)]
    pub transparent_background: Option<bool>,
}

/// The point where a review begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct EnteredReviewModeItem {
    /// The id.
    pub id: String,
    /// What is reviewed, or what the reviewer says.
    pub review: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// The point where a review ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExitedReviewModeItem {
    /// The id.
    pub id: String,
    /// What is reviewed, or what the reviewer says.
    pub review: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// The point where the history was made shorter for the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactionItem {
    /// The id.
    pub id: String,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
}

/// One part of what a user says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum UserInput {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// Parts of the text that a client shows in its own way.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        text_elements: Vec<TextElement>,
    },
    /// A picture.
    Image {
        /// Where it is.
        #[serde(flatten)]
        source: MediaSource,
        /// How closely the model looks at it.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// A picture in a file of the server's machine.
    LocalImage {
        /// The path.
        path: String,
        /// How closely the model looks at it.
        #[serde(default)]
        detail: Option<ImageDetail>,
    },
    /// A recording.
    Audio {
        /// Where it is.
        #[serde(flatten)]
        source: MediaSource,
    },
    /// A recording in a file of the server's machine.
    LocalAudio {
        /// The path.
        path: String,
    },
    /// A skill to be used.
    Skill {
        /// The name.
        name: String,
        /// The path.
        path: String,
    },
    /// Something that the user names.
    Mention {
        /// The name.
        name: String,
        /// The path.
        path: String,
    },
}

/// What was done on the web.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum WebSearchAction {
    /// Searched.
    Search {
        /// What was searched for.
        #[serde(default)]
        queries: Option<Vec<String>>,
        /// What is searched for.
        #[serde(default)]
        query: Option<String>,
    },
    /// Opened a page.
    OpenPage {
        /// The address.
        #[serde(default)]
        url: Option<String>,
    },
    /// Searched in a page.
    FindInPage {
        /// The pattern.
        #[serde(default)]
        pattern: Option<String>,
        /// The address.
        #[serde(default)]
        url: Option<String>,
    },
    /// Something else.
    Other,
}

/// Where a picture or a recording of a user is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, rename_all_fields = "camelCase", expecting = "a picture or a recording has a `url` or a `fileId`")]
pub enum MediaSource {
    /// At an address, which may hold the data itself.
    Url {
        /// The address.
        url: String,
    },
    /// At the model provider, uploaded before.
    File {
        /// The provider's id of the file.
        file_id: String,
    },
}

/// Where a picture in the output of a function is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, expecting = "a picture has an `image_url` or a `file_id`")]
pub enum ImageReference {
    /// At an address, which may hold the data itself.
    Url {
        /// The address.
        image_url: String,
    },
    /// At the model provider.
    File {
        /// The provider's id of the file.
        file_id: String,
    },
}

/// Where a recording in the output of a function is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, expecting = "a recording has an `audio_url` or a `file_id`")]
pub enum AudioReference {
    /// At an address, which may hold the data itself.
    Url {
        /// The address.
        audio_url: String,
    },
    /// At the model provider.
    File {
        /// The provider's id of the file.
        file_id: String,
    },
}

/// A picture that a model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged, rename_all_fields = "camelCase", expecting = "a made picture has a `result` or a `fileId`")]
pub enum ImageGenerationOutput {
    /// The picture itself.
    Data {
        /// The picture in base64; empty while it is made.
        result: String,
    },
    /// At the model provider.
    File {
        /// The provider's id of the file.
        file_id: String,
    },
}

/// Applies an expression to the item of whatever kind.
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

    /// Returns when the item began, in Unix milliseconds.
    #[must_use]
    pub fn started_at_ms(&self) -> Option<i64> {
        of_any_item!(self, item => item.started_at_ms)
    }

    /// Returns when the item was finished, in Unix milliseconds.
    #[must_use]
    pub fn completed_at_ms(&self) -> Option<i64> {
        of_any_item!(self, item => item.completed_at_ms)
    }

    /// Returns the item with the times at which it began and was finished, in Unix milliseconds.
    #[must_use]
    pub fn with_times(mut self, started_at_ms: Option<i64>, completed_at_ms: Option<i64>) -> Self {
        of_any_item!(&mut self, item => {
            item.started_at_ms = started_at_ms;
            item.completed_at_ms = completed_at_ms;
        });
        self
    }
}

/// Makes an item of any kind from its own type.
macro_rules! items_from {
    ($($kind:ident $item:ident),* $(,)?) => {$(
        impl From<$item> for ThreadItem {
            fn from(item: $item) -> Self {
                Self::$kind(item)
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
