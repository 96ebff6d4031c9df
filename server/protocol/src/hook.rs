//! Runs of hooks, as notifications report them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// Events at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookEventName {
    /// Before an inference call.
    PreModelRequest,
    /// After an inference call.
    PostModelRequest,
    /// Before a tool call.
    PreToolUse,
    /// When a permission is requested.
    PermissionRequest,
    /// After a tool call.
    PostToolUse,
    /// Before a compaction.
    PreCompact,
    /// After a compaction.
    PostCompact,
    /// When a session starts.
    SessionStart,
    /// When a session ends.
    SessionEnd,
    /// When the user submits input.
    UserPromptSubmit,
    /// When a child agent starts.
    SubagentStart,
    /// Before a child agent ends.
    SubagentStop,
    /// Before a turn ends.
    Stop,
    /// When the user interrupts a turn.
    Interrupt,
}

/// Whether the server waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookExecutionMode {
    /// The server waits.
    Sync,
    /// The server continues.
    Async,
}

/// What a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookHandlerType {
    /// A command.
    Command,
    /// A tool of an MCP server.
    McpTool,
    /// A prompt for a model.
    Prompt,
    /// An agent.
    Agent,
}

/// An output of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HookOutputEntry {
    /// Kind of the output.
    pub kind: HookOutputEntryKind,
    /// The text.
    pub text: String,
}

/// Kinds of outputs of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookOutputEntryKind {
    /// A warning.
    Warning,
    /// A request to stop the work.
    Stop,
    /// Feedback for the model.
    Feedback,
    /// Context for the model.
    Context,
    /// An error.
    Error,
}

/// Status of a run of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookRunStatus {
    /// It runs.
    Running,
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// The hook blocked the event at which it ran.
    Blocked,
    /// The hook stopped the turn.
    Stopped,
}

/// A run of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookRunSummary {
    /// Id of the run.
    pub id: String,
    /// Position among the other hooks.
    pub display_order: i64,
    /// Outputs of the hook.
    pub entries: Vec<HookOutputEntry>,
    /// The event at which the hook runs.
    pub event_name: HookEventName,
    /// Whether the server waits for it.
    pub execution_mode: HookExecutionMode,
    /// What it runs.
    pub handler_type: HookHandlerType,
    /// What the run belongs to.
    pub scope: HookScope,
    /// The file that configures the hook.
    pub source_path: String,
    /// Start time.
    pub started_at: i64,
    /// The status.
    pub status: HookRunStatus,
    /// End time. `null` while the hook runs.
    #[serde(default)]
    pub completed_at: Option<i64>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// Where the hook is configured.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub source: HookSource,
    /// Message that is shown while it runs.
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
    /// The configuration of the machine.
    System,
    /// The configuration of the user.
    User,
    /// The configuration of the project.
    Project,
    /// Managed by the device (MDM).
    Mdm,
    /// Command line flags of this session.
    SessionFlags,
    /// A plugin.
    Plugin,
    /// Requirements from the cloud.
    CloudRequirements,
    /// Managed configuration from the cloud.
    CloudManagedConfig,
    /// A managed file in the older form.
    LegacyManagedConfigFile,
    /// Managed by the device (MDM), in the older form.
    LegacyManagedConfigMdm,
    /// The source is not known.
    #[default]
    Unknown,
}
