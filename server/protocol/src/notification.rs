//! The params of the server's notifications, one type per notification.
//!
//! The module `methods` has their names on the wire and says which connections receive them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::account::{AuthMode, DesktopOnboardingEntrypoint, PlanType, RateLimitSnapshot};
use crate::command::CommandExecOutputStream;
use crate::common::AbsolutePath;
use crate::envelope::RequestId;
use crate::goal::ThreadGoal;
use crate::hook::HookRunSummary;
use crate::item::{FileUpdateChange, ThreadItem};
use crate::process::ProcessOutputStream;
use crate::search::FuzzyFileSearchResult;
use crate::settings::ThreadSettings;
use crate::thread::{Thread, ThreadReadState, ThreadStatus, ThreadTokenUsage};
use crate::turn::{Turn, TurnError, TurnPlanStep};

/// Params of the notification `account/login/completed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AccountLoginCompletedNotification {
    /// Id of a login that took several steps.
    pub login_id: Option<String>,
    /// Whether the login succeeded.
    pub success: bool,
    /// Why it failed.
    pub error: Option<String>,
    /// What brought the user to the login.
    pub onboarding_entrypoint: Option<DesktopOnboardingEntrypoint>,
}

/// Params of the notification `account/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AccountUpdatedNotification {
    /// How the client is known to its provider. `None` after a logout.
    pub auth_mode: Option<AuthMode>,
    /// The subscription, if the client has named one.
    pub plan_type: Option<PlanType>,
}

/// Params of the notification `account/rateLimits/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct AccountRateLimitsUpdatedNotification {
    /// The limits.
    pub rate_limits: RateLimitSnapshot,
}

/// Params of the notification `item/agentMessage/delta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentMessageDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text to append.
    pub delta: String,
}

/// Params of the notification `command/exec/outputDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecOutputDeltaNotification {
    /// Whether output is missing here because the limit of bytes was reached.
    pub cap_reached: bool,
    /// New bytes in base64.
    pub delta_base64: String,
    /// Id of the command, chosen by the connection.
    pub process_id: String,
    /// The stream of the output.
    pub stream: CommandExecOutputStream,
}

/// Params of the notification `item/commandExecution/outputDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecutionOutputDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text to append.
    pub delta: String,
}

/// Params of the notification `configWarning`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ConfigWarningNotification {
    /// What is wrong.
    pub summary: String,
    /// Explanation of the problem.
    #[serde(default)]
    pub details: Option<String>,
    /// Path of the configuration file.
    #[serde(default)]
    pub path: Option<String>,
    /// Range within the file.
    #[serde(default)]
    pub range: Option<TextRange>,
}

/// Params of the notification `thread/compacted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
}

/// Params of the notification `deprecationNotice`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct DeprecationNoticeNotification {
    /// What is deprecated.
    pub summary: String,
    /// Explanation for people, for example what to use instead.
    #[serde(default)]
    pub details: Option<String>,
}

/// Params of the notification `error`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ErrorNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// The error.
    pub error: TurnError,
    /// Whether the server retries automatically.
    pub will_retry: bool,
}

/// Params of the notification `item/fileChange/outputDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FileChangeOutputDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text to append.
    pub delta: String,
}

/// Params of the notification `item/fileChange/patchUpdated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FileChangePatchUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// The changes, by file.
    pub changes: Vec<FileUpdateChange>,
}

/// Params of the notification `fs/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsChangedNotification {
    /// Paths that changed.
    pub changed_paths: Vec<AbsolutePath>,
    /// Id of the watch, chosen by the connection.
    pub watch_id: String,
}

/// Params of the notification `fuzzyFileSearch/sessionCompleted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionCompletedNotification {
    /// Id of the search session.
    pub session_id: String,
}

/// Params of the notification `fuzzyFileSearch/sessionUpdated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionUpdatedNotification {
    /// The results, best first.
    pub files: Vec<FuzzyFileSearchResult>,
    /// The searched text.
    pub query: String,
    /// Id of the search session.
    pub session_id: String,
}

/// Params of the notification `hook/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookCompletedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The run.
    pub run: HookRunSummary,
    /// Id of the turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `hook/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookStartedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The run.
    pub run: HookRunSummary,
    /// Id of the turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `item/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ItemCompletedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// End time in Unix milliseconds.
    pub completed_at_ms: i64,
    /// The item.
    pub item: ThreadItem,
    /// Number of tokens that the item has for the model, if known.
    #[serde(default)]
    pub content_token_count: Option<u64>,
}

/// Params of the notification `item/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ItemStartedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Start time in Unix milliseconds.
    pub started_at_ms: i64,
    /// The item.
    pub item: ThreadItem,
}

/// Why an MCP server did not start, if the user can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStartupFailureReason {
    /// The user must log in again.
    ReauthenticationRequired,
}

/// Status of the start of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStartupState {
    /// It is starting.
    Starting,
    /// It is ready.
    Ready,
    /// It failed.
    Failed,
    /// The start was cancelled.
    Cancelled,
}

/// Params of the notification `mcpServer/startupStatus/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatusUpdatedNotification {
    /// Name of the MCP server.
    pub name: String,
    /// The status.
    pub status: McpServerStartupState,
    /// Id of the thread.
    #[serde(default)]
    pub thread_id: Option<String>,
    /// The error. `null` if there was none.
    #[serde(default)]
    pub error: Option<String>,
    /// What the user can do about the error.
    #[serde(default)]
    pub failure_reason: Option<McpServerStartupFailureReason>,
}

/// Params of the notification `item/mcpToolCall/progress`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallProgressNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// The message for people.
    pub message: String,
}

/// Why a different model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ModelRerouteReason {
    /// The work may be a high risk to security.
    HighRiskCyberActivity,
}

/// Params of the notification `model/rerouted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelReroutedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// The requested model.
    pub from_model: String,
    /// Why the other model answers.
    pub reason: ModelRerouteReason,
    /// The model that answers.
    pub to_model: String,
}

/// Params of the notification `item/plan/delta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text to append.
    pub delta: String,
}

/// Params of the notification `process/exited`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ProcessExitedNotification {
    /// The exit code.
    pub exit_code: i32,
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
    /// Content of standard error.
    pub stderr: String,
    /// Whether output is missing because the limit of bytes was reached.
    pub stderr_cap_reached: bool,
    /// Content of standard output.
    pub stdout: String,
    /// Whether output is missing because the limit of bytes was reached.
    pub stdout_cap_reached: bool,
    /// Whether the streams stayed open after the process ended, so that output may be missing.
    #[serde(default)]
    pub output_drain_timed_out: Option<bool>,
}

/// Params of the notification `process/outputDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessOutputDeltaNotification {
    /// Whether output is missing here because the limit of bytes was reached.
    pub cap_reached: bool,
    /// New bytes in base64.
    pub delta_base64: String,
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
    /// The stream of the output.
    pub stream: ProcessOutputStream,
}

/// Params of the notification `item/reasoning/summaryPartAdded`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummaryPartAddedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Index of the part of the summary.
    pub summary_index: i64,
}

/// Params of the notification `item/reasoning/summaryTextDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummaryTextDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text to append.
    pub delta: String,
    /// Index of the part of the summary.
    pub summary_index: i64,
}

/// Params of the notification `item/reasoning/textDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningTextDeltaNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Index of the part of the content.
    pub content_index: i64,
    /// Text to append.
    pub delta: String,
}

/// Status of remote control of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum RemoteControlConnectionStatus {
    /// Disabled.
    Disabled,
    /// Connecting.
    Connecting,
    /// Connected.
    Connected,
    /// The connection failed.
    Errored,
}

/// Params of the notification `remoteControl/status/changed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RemoteControlStatusChangedNotification {
    /// Id of this installation.
    pub installation_id: String,
    /// Name of this machine.
    pub server_name: String,
    /// The status.
    pub status: RemoteControlConnectionStatus,
    /// Id of the environment that is controlled.
    #[serde(default)]
    pub environment_id: Option<String>,
}

/// Params of the notification `serverRequest/resolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerRequestResolvedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the request.
    pub request_id: RequestId,
}

/// Params of the notification `skills/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillsChangedNotification {}

/// Params of the notification `item/commandExecution/terminalInteraction`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TerminalInteractionNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Id that the server gave to the process.
    pub process_id: String,
    /// The written input.
    pub stdin: String,
}

/// A position in a text file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TextPosition {
    /// Column, counted from 1.
    pub column: u64,
    /// Line, counted from 1.
    pub line: u64,
}

/// A range in a text file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TextRange {
    /// End of the range.
    pub end: TextPosition,
    /// Start of the range.
    pub start: TextPosition,
}

/// Params of the notification `thread/archived`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchivedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/closed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/deleted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadDeletedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/goal/cleared`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalClearedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/goal/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The goal.
    pub goal: ThreadGoal,
    /// Id of the turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `thread/name/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadNameUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The title. `null` if there is none.
    #[serde(default)]
    pub thread_name: Option<String>,
}

/// Params of the notification `thread/queue/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueChangedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/readState/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateChangedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Which part of the thread the user has read.
    pub read_state: ThreadReadState,
}

/// Params of the notification `thread/reverted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `thread/settings/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettingsUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The settings.
    pub thread_settings: ThreadSettings,
}

/// Params of the notification `thread/started`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadStartedNotification {
    /// The thread.
    pub thread: Thread,
}

/// Params of the notification `thread/status/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStatusChangedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The status.
    pub status: ThreadStatus,
}

/// Params of the notification `thread/tokenUsage/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTokenUsageUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// The token usage.
    pub token_usage: ThreadTokenUsage,
}

/// Params of the notification `thread/unarchived`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnarchivedNotification {
    /// Id of the thread.
    pub thread_id: String,
}

/// Params of the notification `turn/completed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnCompletedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// Params of the notification `turn/diff/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnDiffUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// All changes of the turn so far, as a unified diff.
    pub diff: String,
}

/// Params of the notification `turn/plan/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnPlanUpdatedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// The steps of the plan.
    pub plan: Vec<TurnPlanStep>,
    /// Explanation of the plan.
    #[serde(default)]
    pub explanation: Option<String>,
}

/// Params of the notification `turn/started`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnStartedNotification {
    /// Id of the thread.
    pub thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// Params of the notification `warning`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WarningNotification {
    /// The message for people.
    pub message: String,
    /// Id of the thread.
    #[serde(default)]
    pub thread_id: Option<String>,
}
