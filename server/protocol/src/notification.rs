//! What the server tells its clients, one type per notification.
//!
//! The names on the wire and who gets them are in `methods`.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::account::RateLimitSnapshot;
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
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What is new at the end of the text.
    pub delta: String,
}

/// Params of the notification `command/exec/outputDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecOutputDeltaNotification {
    /// Whether output was left out here, because there is more than was asked for.
    pub cap_reached: bool,
    /// What is new, as bytes in base64.
    pub delta_base64: String,
    /// The name that the connection gave to the command.
    pub process_id: String,
    /// The stream.
    pub stream: CommandExecOutputStream,
}

/// Params of the notification `item/commandExecution/outputDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecutionOutputDeltaNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What is new at the end of the text.
    pub delta: String,
}

/// Params of the notification `configWarning`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ConfigWarningNotification {
    /// What is wrong.
    pub summary: String,
    /// More about it.
    #[serde(default)]
    pub details: Option<String>,
    /// The path.
    #[serde(default)]
    pub path: Option<String>,
    /// Where in the file.
    #[serde(default)]
    pub range: Option<TextRange>,
}

/// Params of the notification `thread/compacted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
}

/// Params of the notification `deprecationNotice`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct DeprecationNoticeNotification {
    /// What will go.
    pub summary: String,
    /// More about it.
    #[serde(default)]
    pub details: Option<String>,
}

/// Params of the notification `error`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ErrorNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// What went wrong.
    pub error: TurnError,
    /// Whether the server tries again by itself.
    pub will_retry: bool,
}

/// Params of the notification `item/fileChange/outputDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FileChangeOutputDeltaNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What is new at the end of the text.
    pub delta: String,
}

/// Params of the notification `item/fileChange/patchUpdated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FileChangePatchUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// The changes, file by file.
    pub changes: Vec<FileUpdateChange>,
}

/// Params of the notification `fs/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsChangedNotification {
    /// What changed.
    pub changed_paths: Vec<AbsolutePath>,
    /// The connection's own name for the watch.
    pub watch_id: String,
}

/// Params of the notification `fuzzyFileSearch/sessionCompleted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionCompletedNotification {
    /// The search session.
    pub session_id: String,
}

/// Params of the notification `fuzzyFileSearch/sessionUpdated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionUpdatedNotification {
    /// What was found, the best first.
    pub files: Vec<FuzzyFileSearchResult>,
    /// What is searched for.
    pub query: String,
    /// The search session.
    pub session_id: String,
}

/// Params of the notification `hook/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookCompletedNotification {
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run: HookRunSummary,
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `hook/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookStartedNotification {
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run: HookRunSummary,
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `item/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ItemCompletedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// When it was finished, in Unix milliseconds.
    pub completed_at_ms: i64,
    /// The item.
    pub item: ThreadItem,
    /// How many tokens the item has for the model, where it is known.
    #[serde(default)]
    pub content_token_count: Option<u64>,
}

/// Params of the notification `item/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ItemStartedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// When it began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The item.
    pub item: ThreadItem,
}

/// Why a tool server did not start, where there is something to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStartupFailureReason {
    /// The user has to log in again.
    ReauthenticationRequired,
}

/// How far the start of a tool server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStartupState {
    /// It is under way.
    Starting,
    /// It can be used.
    Ready,
    /// It failed.
    Failed,
    /// It was given up.
    Cancelled,
}

/// Params of the notification `mcpServer/startupStatus/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatusUpdatedNotification {
    /// The name.
    pub name: String,
    /// How far it is, or what became of it.
    pub status: McpServerStartupState,
    /// The thread.
    #[serde(default)]
    pub thread_id: Option<String>,
    /// What went wrong; `null` if nothing did.
    #[serde(default)]
    pub error: Option<String>,
    /// What can be done about it.
    #[serde(default)]
    pub failure_reason: Option<McpServerStartupFailureReason>,
}

/// Params of the notification `item/mcpToolCall/progress`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct McpToolCallProgressNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What there is to say.
    pub message: String,
}

/// Why another model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ModelRerouteReason {
    /// The work looks dangerous to security.
    HighRiskCyberActivity,
}

/// Params of the notification `model/rerouted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelReroutedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The model that was asked.
    pub from_model: String,
    /// Why.
    pub reason: ModelRerouteReason,
    /// The model that answers.
    pub to_model: String,
}

/// Params of the notification `item/plan/delta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanDeltaNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What is new at the end of the text.
    pub delta: String,
}

/// Params of the notification `process/exited`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ProcessExitedNotification {
    /// The exit code.
    pub exit_code: i32,
    /// The connection's own name for the process.
    pub process_handle: String,
    /// What came on standard error.
    pub stderr: String,
    /// Whether there was more.
    pub stderr_cap_reached: bool,
    /// What came on standard output.
    pub stdout: String,
    /// Whether there was more.
    pub stdout_cap_reached: bool,
    /// Whether the streams stayed open after the end, so that output may be missing.
    #[serde(default)]
    pub output_drain_timed_out: Option<bool>,
}

/// Params of the notification `process/outputDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessOutputDeltaNotification {
    /// Whether output was left out here, because there is more than was asked for.
    pub cap_reached: bool,
    /// What is new, as bytes in base64.
    pub delta_base64: String,
    /// The connection's own name for the process.
    pub process_handle: String,
    /// The stream.
    pub stream: ProcessOutputStream,
}

/// Params of the notification `item/reasoning/summaryPartAdded`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummaryPartAddedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// Which part of the summary.
    pub summary_index: i64,
}

/// Params of the notification `item/reasoning/summaryTextDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummaryTextDeltaNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What is new at the end of the text.
    pub delta: String,
    /// Which part of the summary.
    pub summary_index: i64,
}

/// Params of the notification `item/reasoning/textDelta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningTextDeltaNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// Which part of the content.
    pub content_index: i64,
    /// What is new at the end of the text.
    pub delta: String,
}

/// Whether the server can be controlled from afar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum RemoteControlConnectionStatus {
    /// It cannot.
    Disabled,
    /// It soon can.
    Connecting,
    /// It can.
    Connected,
    /// The connection failed.
    Errored,
}

/// Params of the notification `remoteControl/status/changed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RemoteControlStatusChangedNotification {
    /// The id of this installation.
    pub installation_id: String,
    /// The name of this machine.
    pub server_name: String,
    /// How far it is, or what became of it.
    pub status: RemoteControlConnectionStatus,
    /// The environment that is controlled.
    #[serde(default)]
    pub environment_id: Option<String>,
}

/// Params of the notification `serverRequest/resolved`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerRequestResolvedNotification {
    /// The thread.
    pub thread_id: String,
    /// The request.
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
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// The server's id of the process.
    pub process_id: String,
    /// The input.
    pub stdin: String,
}

/// A place in a text file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TextPosition {
    /// The column, from 1.
    pub column: u64,
    /// The line, from 1.
    pub line: u64,
}

/// A range in a text file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TextRange {
    /// Where it ends.
    pub end: TextPosition,
    /// Where it begins.
    pub start: TextPosition,
}

/// Params of the notification `thread/archived`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchivedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/closed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/deleted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadDeletedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/goal/cleared`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalClearedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/goal/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The goal.
    pub goal: ThreadGoal,
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
}

/// Params of the notification `thread/name/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadNameUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The title; `null` where there is none.
    #[serde(default)]
    pub thread_name: Option<String>,
}

/// Params of the notification `thread/queue/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueChangedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/readState/changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateChangedNotification {
    /// The thread.
    pub thread_id: String,
    /// What of it was read.
    pub read_state: ThreadReadState,
}

/// Params of the notification `thread/reverted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `thread/settings/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettingsUpdatedNotification {
    /// The thread.
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
    /// The thread.
    pub thread_id: String,
    /// How far it is, or what became of it.
    pub status: ThreadStatus,
}

/// Params of the notification `thread/tokenUsage/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTokenUsageUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The tokens.
    pub token_usage: ThreadTokenUsage,
}

/// Params of the notification `thread/unarchived`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnarchivedNotification {
    /// The thread.
    pub thread_id: String,
}

/// Params of the notification `turn/completed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnCompletedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// Params of the notification `turn/diff/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnDiffUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// All that the turn changed so far, as a unified diff.
    pub diff: String,
}

/// Params of the notification `turn/plan/updated`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnPlanUpdatedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The steps.
    pub plan: Vec<TurnPlanStep>,
    /// Why the plan is as it is.
    #[serde(default)]
    pub explanation: Option<String>,
}

/// Params of the notification `turn/started`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnStartedNotification {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// Params of the notification `warning`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WarningNotification {
    /// What there is to say.
    pub message: String,
    /// The thread.
    #[serde(default)]
    pub thread_id: Option<String>,
}
