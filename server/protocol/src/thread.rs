//! Threads: their lifecycle, their state and their initial settings.
//!
//! An override in params that is absent or `null` leaves the setting unchanged. Results always contain all of their
//! fields, with `null` for missing values, because clients check that fields exist.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, JsonObject, Nullable};
use crate::settings::{
    ActivePermissionProfile, ApprovalsReviewer, AskForApproval, CollaborationMode, DynamicToolSpec, MultiAgentMode,
    Personality, ReasoningSummary, SandboxMode, SandboxPolicy, SelectedCapabilityRoot, SortDirection,
    ThreadEnvironment, TurnEnvironmentParams,
};
use crate::turn::{Turn, TurnItemsView};

/// State of the Git repository that a thread works in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GitInfo {
    /// Name of the branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// URL of the repository's origin.
    #[serde(default)]
    pub origin_url: Option<String>,
    /// Hash of the commit.
    #[serde(default)]
    pub sha: Option<String>,
}

/// What started a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SessionSource {
    /// The terminal client.
    Cli,
    /// An editor, or any client of the peer's server.
    Vscode,
    /// The one-shot command.
    Exec,
    /// A client of the server.
    AppServer,
    /// The source is not known.
    #[default]
    Unknown,
    /// Another source, with its own name.
    Custom(String),
    /// Another thread.
    SubAgent(SubAgentSource),
}

/// What started a thread that no client started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "snake_case")]
pub enum SubAgentSource {
    /// A review.
    Review,
    /// A compaction.
    Compact,
    /// Consolidation of memories.
    MemoryConsolidation,
    /// An agent was spawned.
    ThreadSpawn {
        /// Depth of the agent in the tree. Children of the root agent have depth 1.
        depth: i32,
        /// Id of the parent's thread.
        parent_thread_id: String,
        /// Nickname of the agent.
        #[serde(default)]
        agent_nickname: Option<String>,
        /// Path of the agent in the tree.
        #[serde(default)]
        agent_path: Option<String>,
        /// The role of the agent.
        #[serde(default)]
        agent_role: Option<String>,
    },
    /// Another source, with its own name.
    Other(String),
}

/// A thread with its turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Id of the thread.
    pub id: String,
    /// Version of the program that created the thread.
    pub cli_version: String,
    /// Creation time in Unix seconds.
    pub created_at: i64,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Whether the thread is never stored in a file.
    pub ephemeral: bool,
    /// Id of the model provider.
    pub model_provider: String,
    /// Beginning of the first input of the user.
    pub preview: String,
    /// Id of the project that it belongs to. `null` if there is none.
    #[cfg_attr(feature = "schema", ts(optional = false))]
    pub project_id: Option<String>,
    /// Id of the root thread of the tree.
    pub session_id: String,
    /// What started the thread.
    pub source: SessionSource,
    /// The status.
    pub status: ThreadStatus,
    /// The turns, oldest first. Empty unless they were requested.
    pub turns: Vec<Turn>,
    /// Time of the last change in Unix seconds.
    pub updated_at: i64,
    /// Nickname of the thread's agent. `null` if no agent spawned the thread.
    #[serde(default)]
    pub agent_nickname: Option<String>,
    /// The role of the thread's agent.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Id of the thread that this one is attached to.
    #[serde(default)]
    pub attached_to_thread_id: Option<String>,
    /// Whether a client may start turns. False for threads of child agents.
    #[serde(default)]
    pub can_accept_direct_input: Option<bool>,
    /// Whether the user wants the provider's access program for defenders. The server only stores it for clients.
    #[serde(default)]
    pub daybreak_enabled: Option<bool>,
    /// Environments in which commands run.
    #[serde(default)]
    pub environments: Option<Vec<ThreadEnvironment>>,
    /// Reserved for additional fields.
    #[serde(default)]
    pub extra: Option<ThreadExtra>,
    /// Id of the thread that this one was forked from.
    #[serde(default)]
    pub forked_from_id: Option<String>,
    /// The Git repository that it works in. `null` if there is none.
    #[serde(default)]
    pub git_info: Option<GitInfo>,
    /// How the history is stored.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub history_mode: ThreadHistoryMode,
    /// Name of the model, if it is known.
    #[serde(default)]
    pub model: Option<String>,
    /// Title that the user gave. `null` if there is none.
    #[serde(default)]
    pub name: Option<String>,
    /// Name of the client that created it.
    #[serde(default)]
    pub originator: Option<String>,
    /// Id of the parent's thread.
    #[serde(default)]
    pub parent_thread_id: Option<String>,
    /// Path of the file in which it is stored. `null` if it is never stored.
    #[serde(default)]
    pub path: Option<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Time of the last activity that matters to the user, in Unix seconds.
    #[serde(default)]
    pub recency_at: Option<i64>,
    /// Section that contains the thread.
    #[serde(default)]
    pub section: Option<ThreadSection>,
    /// Time when it was put into the section, in Unix seconds.
    #[serde(default)]
    pub section_entered_at: Option<i64>,
    /// Purpose of the thread in the words of the client.
    #[serde(default)]
    pub thread_source: Option<String>,
}

/// What an active thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadActiveFlag {
    /// An approval.
    WaitingOnApproval,
    /// An answer of the user.
    WaitingOnUserInput,
}

/// Params of `thread/archive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchiveParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/archive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadArchiveResponse {}

/// A command that runs on after its turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminal {
    /// Id of the item.
    pub item_id: String,
    /// The command as a shell command line.
    pub command: String,
    /// The working directory.
    pub cwd: String,
    /// Id that the server gave to the process.
    pub process_id: String,
    /// Processor usage in percent.
    #[serde(default)]
    pub cpu_percent: Option<f64>,
    /// Id that the operating system gave to the process.
    #[serde(default)]
    pub os_pid: Option<u32>,
    /// Memory in kilobytes.
    #[serde(default)]
    pub rss_kb: Option<u64>,
}

/// Params of `thread/backgroundTerminals/clean`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsCleanParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/backgroundTerminals/clean`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadBackgroundTerminalsCleanResponse {}

/// Params of `thread/backgroundTerminals/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsListParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/backgroundTerminals/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsListResponse {
    /// The requested entries.
    pub data: Vec<ThreadBackgroundTerminal>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/backgroundTerminals/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsTerminateParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id that the server gave to the process.
    pub process_id: String,
}

/// Result of `thread/backgroundTerminals/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadBackgroundTerminalsTerminateResponse {
    /// Whether there was a process to terminate.
    pub terminated: bool,
}

/// Params of `thread/compact/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadCompactStartParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/compact/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadCompactStartResponse {}

/// Params of `thread/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadDeleteParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadDeleteResponse {}

/// Reserved for fields that the peer adds to a thread. Empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadExtra {}

/// Params of `thread/fork`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkParams {
    /// Id of the thread.
    pub thread_id: String,
    /// When the user is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Whether the new thread is attached to the old one.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub attach_to_source: bool,
    /// Base instructions for the model, which replace the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// Id of the first turn that is not copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_turn_id: Option<String>,
    /// Settings for this thread only, by dotted key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the goal of the copy waits until a turn is started.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub defer_goal_continuation: bool,
    /// Developer instructions for the model, in addition to the base instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Whether the thread is never stored in a file.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub ephemeral: bool,
    /// Whether the response leaves out the turns.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub exclude_turns: bool,
    /// Used by the peer's prompt prediction.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_disable_prediction_mcp: bool,
    /// Used by the peer's prompt prediction.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_prediction_mode: bool,
    /// Id of the last turn that is copied. All turns are copied if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn_id: Option<String>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Id of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Path of the thread's file, instead of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of the permission profile. It cannot be combined with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Directories that form the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Sandbox mode for commands of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Purpose of the thread in the words of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_source: Option<String>,
}

/// Result of `thread/fork`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkResponse {
    /// When the user is asked for approval.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Name of the model.
    pub model: String,
    /// Id of the model provider.
    pub model_provider: String,
    /// Sandbox policy for commands of the model.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The active permission profile. `null` if a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// Files from which instructions were read.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// When the model may spawn agents.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Directories that form the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// Service tier of the model provider.
    #[serde(default)]
    pub service_tier: Option<String>,
}

/// How a thread's history is stored, which decides how it can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadHistoryMode {
    /// As a whole. Single items cannot be listed.
    #[default]
    Legacy,
    /// By item, in pages.
    Paginated,
}

/// Params of `thread/inject_items`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadInjectItemsParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The items in the form of the model provider's API.
    pub items: Vec<Value>,
}

/// Result of `thread/inject_items`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadInjectItemsResponse {}

/// One or several directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum ThreadListCwdFilter {
    /// This directory.
    One(String),
    /// Any of these directories.
    Many(Vec<String>),
}

/// Params of `thread/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListParams {
    /// Only descendants of the thread with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ancestor_thread_id: Option<String>,
    /// Whether archived threads are listed instead of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Only threads that are attached to the thread with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached_to_thread_id: Option<String>,
    /// Whether only threads of the logged-in account are listed.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub current_account_only: bool,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Only threads with this working directory, or one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<ThreadListCwdFilter>,
    /// Ids of threads that are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_thread_ids: Option<Vec<String>>,
    /// Whether threads that are attached to other threads are listed too.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_attached_threads: bool,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only threads with these model providers. All threads if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_providers: Option<Vec<String>>,
    /// Only threads that these clients created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originators: Option<Vec<String>>,
    /// Only children of the thread with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<String>,
    /// Only threads of this project. `null` for threads without a project.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub project_id: Nullable<String>,
    /// Only threads with this text in the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_term: Option<String>,
    /// Only threads of this section. `null` for threads without a section.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub section_id: Nullable<String>,
    /// Order of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
    /// Sort key of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<ThreadSortKey>,
    /// Only threads from these sources. If empty, only threads that people started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
    /// Whether only the index is read, and not the files of the threads.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub use_state_db_only: bool,
}

/// Result of `thread/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListResponse {
    /// The requested entries.
    pub data: Vec<Thread>,
    /// Cursor for a list in the opposite direction, which returns entries that are newer than this page.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// Read states of the listed threads, by thread id.
    #[serde(default)]
    pub read_states: Option<BTreeMap<String, ThreadReadState>>,
}

/// Params of `thread/loaded/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadLoadedListParams {
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/loaded/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadLoadedListResponse {
    /// The requested entries.
    pub data: Vec<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Changes of the stored state of a thread's Git repository. An absent field is unchanged, `null` clears it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadMetadataGitInfoUpdateParams {
    /// Name of the branch.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub branch: Nullable<String>,
    /// URL of the repository's origin.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub origin_url: Nullable<String>,
    /// Hash of the commit.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub sha: Nullable<String>,
}

/// Params of `thread/metadata/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadMetadataUpdateParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Whether the user wants the provider's access program for defenders. The server only stores it for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daybreak_enabled: Option<bool>,
    /// Changes of the stored state of the Git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<ThreadMetadataGitInfoUpdateParams>,
    /// Id of the project. An empty string means no project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// Result of `thread/metadata/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadMetadataUpdateResponse {
    /// The thread.
    pub thread: Thread,
}

/// Params of `thread/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Whether the response contains the turns.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_turns: bool,
}

/// Result of `thread/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadResponse {
    /// The thread.
    pub thread: Thread,
    /// Which part of the thread the user has read.
    #[serde(default)]
    pub read_state: Option<ThreadReadState>,
}

/// Which part of a thread the user has read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadState {
    /// Identifies this version of the read state.
    pub revision: String,
    /// The first unread position. `null` if everything is read.
    #[serde(default)]
    pub first_unread: Option<ThreadUnreadPosition>,
}

/// The page of turns that is returned with a resumed thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeInitialTurnsPageParams {
    /// Which items of each turn are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_view: Option<TurnItemsView>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Order of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Params of `thread/resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeParams {
    /// Id of the thread.
    pub thread_id: String,
    /// When the user is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Base instructions for the model, which replace the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// Settings for this thread only, by dotted key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Developer instructions for the model, in addition to the base instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Whether the response leaves out the turns.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub exclude_turns: bool,
    /// A history to use instead of the stored one, in the form of the model provider's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Value>>,
    /// Requests a page of turns in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_turns_page: Option<ThreadResumeInitialTurnsPageParams>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Id of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Path of the thread's file, instead of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of the permission profile. It cannot be combined with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Personality of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// Directories that form the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Sandbox mode for commands of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
}

/// Result of `thread/resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeResponse {
    /// When the user is asked for approval.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Name of the model.
    pub model: String,
    /// Id of the model provider.
    pub model_provider: String,
    /// Sandbox policy for commands of the model.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The active permission profile. `null` if a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// The collaboration mode.
    #[serde(default)]
    pub collaboration_mode: Option<CollaborationMode>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// The requested page of turns.
    #[serde(default)]
    pub initial_turns_page: Option<TurnsPage>,
    /// Files from which instructions were read.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// Cursor to list the items backwards from the newest.
    #[serde(default)]
    pub items_backwards_cursor: Option<String>,
    /// When the model may spawn agents.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Directories that form the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// Service tier of the model provider.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// Cursor to list the turns backwards from the newest.
    #[serde(default)]
    pub turns_backwards_cursor: Option<String>,
}

/// Params of `thread/revert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the first turn that is dropped.
    pub before_turn_id: String,
}

/// Result of `thread/revert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertResponse {
    /// The thread.
    pub thread: Thread,
    /// Cursor to list the items backwards from the newest.
    #[serde(default)]
    pub items_backwards_cursor: Option<String>,
    /// Cursor to list the turns backwards from the newest.
    #[serde(default)]
    pub turns_backwards_cursor: Option<String>,
}

/// A group of threads that the user made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadSection {
    /// Id of the section.
    pub id: String,
    /// Name of the section.
    pub name: String,
    /// Appearance.
    #[serde(default)]
    pub appearance: Option<ThreadSectionAppearance>,
}

/// Appearance of a group of threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadSectionAppearance {
    /// Its colour.
    #[serde(default)]
    pub color: Option<String>,
    /// Its icon.
    #[serde(default)]
    pub icon: Option<String>,
}

/// Params of `thread/name/set`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSetNameParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The new name.
    pub name: String,
}

/// Result of `thread/name/set`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSetNameResponse {}

/// Params of `thread/settings/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettingsUpdateParams {
    /// Id of the thread.
    pub thread_id: String,
    /// When the user is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// The collaboration mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collaboration_mode: Option<CollaborationMode>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// Reasoning effort of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Environments in which commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the model may spawn agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// Id of the permission profile. It cannot be combined with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Personality of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// Sandbox policy for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub service_tier: Nullable<String>,
    /// How the model summarizes its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ReasoningSummary>,
}

/// Result of `thread/settings/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSettingsUpdateResponse {}

/// Params of `thread/shellCommand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadShellCommandParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The command as a shell command line.
    pub command: String,
    /// Timeout in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
}

/// Result of `thread/shellCommand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadShellCommandResponse {}

/// Sort keys of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ThreadSortKey {
    /// Creation time.
    CreatedAt,
    /// Time of the last change.
    UpdatedAt,
    /// Time of the last activity that matters to the user.
    RecencyAt,
    /// Position in the section.
    SectionPosition,
}

/// A kind of source of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadSourceKind {
    /// The terminal client.
    Cli,
    /// An editor, or any client of the peer's server.
    Vscode,
    /// The one-shot command.
    Exec,
    /// A client of the server.
    AppServer,
    /// Other threads, for any purpose.
    SubAgent,
    /// Reviews.
    SubAgentReview,
    /// Compactions.
    SubAgentCompact,
    /// Agents that were spawned.
    SubAgentThreadSpawn,
    /// Other threads, for a purpose without a kind of its own.
    SubAgentOther,
    /// The source is not known.
    Unknown,
}

/// Params of `thread/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartParams {
    /// Whether the provider may fall back to another model.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub allow_provider_model_fallback: bool,
    /// When the user is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Base instructions for the model, which replace the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// Settings for this thread only, by dotted key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the user wants the provider's access program for defenders. The server only stores it for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daybreak_enabled: Option<bool>,
    /// Developer instructions for the model, in addition to the base instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Tools that the client runs for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_tools: Option<Vec<DynamicToolSpec>>,
    /// Environments in which commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Whether the thread is never stored in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
    /// Whether the client receives the raw events of the model.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_raw_events: bool,
    /// How the history is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_mode: Option<ThreadHistoryMode>,
    /// Has no effect. Clients test the experimental capability with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock_experimental_field: Option<String>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Id of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// When the model may spawn agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// Id of the permission profile. It cannot be combined with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Personality of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// Id of the project that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Directories that form the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Sandbox mode for commands of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// Directories with skills and plugins that the client selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_capability_roots: Option<Vec<SelectedCapabilityRoot>>,
    /// Name of the service that the client belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Why the client starts the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_start_source: Option<ThreadStartSource>,
    /// Purpose of the thread in the words of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_source: Option<String>,
}

/// Result of `thread/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartResponse {
    /// When the user is asked for approval.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Name of the model.
    pub model: String,
    /// Id of the model provider.
    pub model_provider: String,
    /// Sandbox policy for commands of the model.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The active permission profile. `null` if a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// Files from which instructions were read.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// When the model may spawn agents.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Directories that form the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// Service tier of the model provider.
    #[serde(default)]
    pub service_tier: Option<String>,
}

/// Why a client starts a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadStartSource {
    /// The client was started.
    Startup,
    /// The user wants to start with an empty history.
    Clear,
}

/// Status of a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadStatus {
    /// It is stored and not in memory.
    #[default]
    NotLoaded,
    /// It is in memory, and no turn runs.
    Idle,
    /// The last turn failed.
    SystemError,
    /// A turn runs, or waits for the user.
    Active {
        /// What the thread waits for. Empty while it works.
        active_flags: Vec<ThreadActiveFlag>,
    },
}

/// Token usage of a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTokenUsage {
    /// Usage of the last inference call.
    pub last: TokenUsageBreakdown,
    /// Usage of all inference calls.
    pub total: TokenUsageBreakdown,
    /// Size of the model's context window in tokens. `null` if it is not known.
    #[serde(default)]
    pub model_context_window: Option<i64>,
}

/// Params of `thread/unarchive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnarchiveParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/unarchive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadUnarchiveResponse {
    /// The thread.
    pub thread: Thread,
}

/// The first unread position in a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadUnreadPosition {
    /// The start of the thread.
    ThreadStart,
    /// A turn.
    Turn {
        /// Id of the turn.
        turn_id: String,
    },
}

/// Params of `thread/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnsubscribeParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadUnsubscribeResponse {
    /// The status.
    pub status: ThreadUnsubscribeStatus,
}

/// Result of ending a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadUnsubscribeStatus {
    /// The thread is not in memory.
    NotLoaded,
    /// The connection had no subscription.
    NotSubscribed,
    /// The subscription has ended.
    Unsubscribed,
}

/// Numbers of tokens by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsageBreakdown {
    /// Input tokens that were in the provider's cache.
    pub cached_input_tokens: i64,
    /// Input tokens, including cached ones.
    pub input_tokens: i64,
    /// Output tokens, including reasoning.
    pub output_tokens: i64,
    /// Reasoning tokens.
    pub reasoning_output_tokens: i64,
    /// Sum of input and output tokens.
    pub total_tokens: i64,
    /// Input tokens that were written to the provider's cache.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cache_write_input_tokens: i64,
}

/// A page of a thread's turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnsPage {
    /// The requested entries.
    pub data: Vec<Turn>,
    /// Cursor for a list in the opposite direction, which returns entries that are newer than this page.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/rollback`, the predecessor of `thread/revert` that older clients call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRollbackParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Number of turns to drop from the end; at least one.
    pub num_turns: u32,
}

/// Result of `thread/rollback`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadRollbackResponse {
    /// The thread with the remaining turns.
    pub thread: Thread,
}
