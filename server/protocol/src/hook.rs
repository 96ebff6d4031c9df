//! Hooks that ran, as notifications tell of them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// What a hook is called at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookEventName {
    /// The model is about to be asked.
    PreModelRequest,
    /// The model answered.
    PostModelRequest,
    /// A tool is about to run.
    PreToolUse,
    /// A permission is asked for.
    PermissionRequest,
    /// A tool ran.
    PostToolUse,
    /// The history is about to be made shorter.
    PreCompact,
    /// The history was made shorter.
    PostCompact,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The user said something.
    UserPromptSubmit,
    /// An agent begins.
    SubagentStart,
    /// An agent is about to end.
    SubagentStop,
    /// A turn is about to end.
    Stop,
    /// The user interrupts.
    Interrupt,
}

/// Whether the server waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookExecutionMode {
    /// It waits.
    Sync,
    /// It goes on.
    Async,
}

/// What kind of thing a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookHandlerType {
    /// A command.
    Command,
    /// A tool of a tool server.
    McpTool,
    /// A question to a model.
    Prompt,
    /// An agent.
    Agent,
}

/// Something that a hook had to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HookOutputEntry {
    /// What kind it is.
    pub kind: HookOutputEntryKind,
    /// The text.
    pub text: String,
}

/// What kind of thing a hook had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookOutputEntryKind {
    /// A warning.
    Warning,
    /// That the work should stop.
    Stop,
    /// A remark for the model.
    Feedback,
    /// More for the model to know.
    Context,
    /// Something that went wrong.
    Error,
}

/// How far a run of a hook is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookRunStatus {
    /// It runs.
    Running,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// It stopped what it was called at.
    Blocked,
    /// It stopped the turn.
    Stopped,
}

/// A run of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookRunSummary {
    /// The id.
    pub id: String,
    /// Where it stands among the others.
    pub display_order: i64,
    /// What the hook had to say.
    pub entries: Vec<HookOutputEntry>,
    /// What it is called at.
    pub event_name: HookEventName,
    /// Whether the server waits for it.
    pub execution_mode: HookExecutionMode,
    /// What kind of thing it runs.
    pub handler_type: HookHandlerType,
    /// What the run belongs to.
    pub scope: HookScope,
    /// The file that it is configured in.
    pub source_path: String,
    /// When it began.
    pub started_at: i64,
    /// How far it is, or what became of it.
    pub status: HookRunStatus,
    /// When it ended.
    #[serde(default)]
    pub completed_at: Option<i64>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// Where it comes from.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub source: HookSource,
    /// What is shown while it runs.
    #[serde(default)]
    pub status_message: Option<String>,
}

/// What a run of a hook belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookScope {
    /// The thread.
    Thread,
    /// The turn.
    Turn,
}

/// Where a hook is configured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookSource {
    /// The machine.
    System,
    /// The user.
    User,
    /// The project.
    Project,
    /// Managed by the device.
    Mdm,
    /// What this run was started with.
    SessionFlags,
    /// A plugin.
    Plugin,
    /// Required from afar.
    CloudRequirements,
    /// Managed from afar.
    CloudManagedConfig,
    /// A managed file of the older form.
    LegacyManagedConfigFile,
    /// Managed by the device, in the older form.
    LegacyManagedConfigMdm,
    /// Nobody can say.
    #[default]
    Unknown,
}
