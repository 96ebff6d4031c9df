//! Threads: their life, their state and the settings they begin with.
//!
//! Overrides in params leave a setting alone where they are absent or `null`. Results always write all of their fields,
//! `null` where there is nothing to say: clients check for missing ones.

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

/// The state of the repository that a thread works in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GitInfo {
    /// The branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// Where the repository comes from.
    #[serde(default)]
    pub origin_url: Option<String>,
    /// The commit.
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
    /// Nobody can say.
    #[default]
    Unknown,
    /// Something that names itself.
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
    /// The history is made shorter.
    Compact,
    /// Memory is put in order.
    MemoryConsolidation,
    /// A model started an agent.
    ThreadSpawn {
        /// How many agents are between it and the first thread, with itself.
        depth: i32,
        /// The thread that started it.
        parent_thread_id: String,
        /// The name that the agent goes by.
        #[serde(default)]
        agent_nickname: Option<String>,
        /// The path of the agent in the tree of agents.
        #[serde(default)]
        agent_path: Option<String>,
        /// The role of the agent.
        #[serde(default)]
        agent_role: Option<String>,
    },
    /// Something that names itself.
    Other(String),
}

/// A conversation with its turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// The id.
    pub id: String,
    /// The version of the program that made the thread.
    pub cli_version: String,
    /// When it began, in Unix seconds.
    pub created_at: i64,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Whether it is never stored.
    pub ephemeral: bool,
    /// The model provider.
    pub model_provider: String,
    /// The first words of the user.
    pub preview: String,
    /// The project that it belongs to; `null` where there is none.
    #[cfg_attr(feature = "schema", ts(optional = false))]
    pub project_id: Option<String>,
    /// The first thread of the tree that this one belongs to.
    pub session_id: String,
    /// What started it.
    pub source: SessionSource,
    /// How far it is, or what became of it.
    pub status: ThreadStatus,
    /// The turns, the oldest first; empty unless they were asked for.
    pub turns: Vec<Turn>,
    /// When it last changed, in Unix seconds.
    pub updated_at: i64,
    /// The name that the thread's agent goes by; `null` for a thread that no agent started.
    #[serde(default)]
    pub agent_nickname: Option<String>,
    /// The role of the thread's agent.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// The thread that this one belongs to.
    #[serde(default)]
    pub attached_to_thread_id: Option<String>,
    /// Whether a client may start turns; not in the threads of agents.
    #[serde(default)]
    pub can_accept_direct_input: Option<bool>,
    /// Whether the user wants the provider's program for defenders; kept for the client.
    #[serde(default)]
    pub daybreak_enabled: Option<bool>,
    /// Where commands run.
    #[serde(default)]
    pub environments: Option<Vec<ThreadEnvironment>>,
    /// Room for more.
    #[serde(default)]
    pub extra: Option<ThreadExtra>,
    /// The thread that this one is a copy of.
    #[serde(default)]
    pub forked_from_id: Option<String>,
    /// The repository that it works in; `null` where there is none.
    #[serde(default)]
    pub git_info: Option<GitInfo>,
    /// How the history is stored.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub history_mode: ThreadHistoryMode,
    /// The model, where it is known.
    #[serde(default)]
    pub model: Option<String>,
    /// The title that the user gave; `null` where there is none.
    #[serde(default)]
    pub name: Option<String>,
    /// The name of the client that began it.
    #[serde(default)]
    pub originator: Option<String>,
    /// The thread whose agent this is.
    #[serde(default)]
    pub parent_thread_id: Option<String>,
    /// The file that it is stored in; `null` if it never is.
    #[serde(default)]
    pub path: Option<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// When something last happened that matters to the user, in Unix seconds.
    #[serde(default)]
    pub recency_at: Option<i64>,
    /// The section that it is in.
    #[serde(default)]
    pub section: Option<ThreadSection>,
    /// When it came there, in Unix seconds.
    #[serde(default)]
    pub section_entered_at: Option<i64>,
    /// What the client says the thread is for.
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
    /// The answer to a question.
    WaitingOnUserInput,
}

/// Params of `thread/archive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchiveParams {
    /// The thread.
    pub thread_id: String,
}

/// Result of `thread/archive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadArchiveResponse {}

/// A command that outlives its turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminal {
    /// The item.
    pub item_id: String,
    /// The command, as a line for a shell.
    pub command: String,
    /// The working directory.
    pub cwd: String,
    /// The server's id of the process.
    pub process_id: String,
    /// The share of a processor that it uses.
    #[serde(default)]
    pub cpu_percent: Option<f64>,
    /// The id of the process on the machine.
    #[serde(default)]
    pub os_pid: Option<u32>,
    /// Its memory, in kilobytes.
    #[serde(default)]
    pub rss_kb: Option<u64>,
}

/// Params of `thread/backgroundTerminals/clean`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsCleanParams {
    /// The thread.
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
    /// The thread.
    pub thread_id: String,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/backgroundTerminals/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ThreadBackgroundTerminal>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/backgroundTerminals/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadBackgroundTerminalsTerminateParams {
    /// The thread.
    pub thread_id: String,
    /// The server's id of the process.
    pub process_id: String,
}

/// Result of `thread/backgroundTerminals/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadBackgroundTerminalsTerminateResponse {
    /// Whether there was something to end.
    pub terminated: bool,
}

/// Params of `thread/compact/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadCompactStartParams {
    /// The thread.
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
    /// The thread.
    pub thread_id: String,
}

/// Result of `thread/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadDeleteResponse {}

/// Room for what the peer adds to a thread; empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadExtra {}

/// Params of `thread/fork`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkParams {
    /// The thread.
    pub thread_id: String,
    /// When the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Whether the new thread belongs to the old one.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub attach_to_source: bool,
    /// What the model is told first, instead of the usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// The first turn that is not copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_turn_id: Option<String>,
    /// Settings for this thread only, by their dotted keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the goal of the copy waits until somebody starts a turn.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub defer_goal_continuation: bool,
    /// What the model is told besides, from the developer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Whether the thread is never stored.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub ephemeral: bool,
    /// Whether the turns stay out of the answer.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub exclude_turns: bool,
    /// For the peer's predictions of prompts.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_disable_prediction_mcp: bool,
    /// For the peer's predictions of prompts.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_prediction_mode: bool,
    /// The last turn that is copied; all of them if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn_id: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// The file of the thread, instead of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The permission profile; not together with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// What commands of the model may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// What the client says the thread is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_source: Option<String>,
}

/// Result of `thread/fork`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadForkResponse {
    /// When the user is asked.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// The model.
    pub model: String,
    /// The model provider.
    pub model_provider: String,
    /// What commands of the model may touch.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The permission profile in force; `null` where a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// The plugins that the thread does without.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// The files that instructions were read from.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// When the model starts agents by itself.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The level of service.
    #[serde(default)]
    pub service_tier: Option<String>,
}

/// How a thread's history is stored, and so how it can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadHistoryMode {
    /// Whole; items have no page of their own.
    #[default]
    Legacy,
    /// Item by item, in pages.
    Paginated,
}

/// Params of `thread/inject_items`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadInjectItemsParams {
    /// The thread.
    pub thread_id: String,
    /// The items, as the model has them.
    pub items: Vec<Value>,
}

/// Result of `thread/inject_items`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadInjectItemsResponse {}

/// One directory or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum ThreadListCwdFilter {
    /// One.
    One(String),
    /// Any of several.
    Many(Vec<String>),
}

/// Params of `thread/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListParams {
    /// Only the threads that descend from this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ancestor_thread_id: Option<String>,
    /// Whether archived threads are wanted instead of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Only threads that belong to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached_to_thread_id: Option<String>,
    /// Only threads of the account that is logged in.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub current_account_only: bool,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Only threads that work in exactly this directory, or one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<ThreadListCwdFilter>,
    /// Threads that are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_thread_ids: Option<Vec<String>>,
    /// Whether threads that belong to others are wanted too.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_attached_threads: bool,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only threads of these providers; all of them if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_providers: Option<Vec<String>>,
    /// Only threads of these clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originators: Option<Vec<String>>,
    /// Only the threads that this one started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<String>,
    /// Only threads of this project; `null` asks for those without one.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub project_id: Nullable<String>,
    /// A part of the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_term: Option<String>,
    /// Only threads of this section; `null` asks for those without one.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub section_id: Nullable<String>,
    /// Which end comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
    /// What they are sorted by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<ThreadSortKey>,
    /// Only threads that were started by these; if it is empty, by people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
    /// Whether only the index is looked at.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub use_state_db_only: bool,
}

/// Result of `thread/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<Thread>,
    /// Where a list in the opposite direction begins, to get what is new since.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// What of the threads was read, in the order of the threads.
    #[serde(default)]
    pub read_states: Option<BTreeMap<String, ThreadReadState>>,
}

/// Params of `thread/loaded/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadLoadedListParams {
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/loaded/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadLoadedListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Changes of what is known of a thread's repository: absent keeps, `null` clears.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadMetadataGitInfoUpdateParams {
    /// The branch.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub branch: Nullable<String>,
    /// Where the repository comes from.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub origin_url: Nullable<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub sha: Nullable<String>,
}

/// Params of `thread/metadata/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadMetadataUpdateParams {
    /// The thread.
    pub thread_id: String,
    /// Whether the user wants the provider's program for defenders; kept for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daybreak_enabled: Option<bool>,
    /// What changes of what is known of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<ThreadMetadataGitInfoUpdateParams>,
    /// The project; an empty text for none.
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
    /// The thread.
    pub thread_id: String,
    /// Whether the turns are wanted too.
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
    /// What of it was read.
    #[serde(default)]
    pub read_state: Option<ThreadReadState>,
}

/// What of a thread the user has read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadState {
    /// A number that grows with each change.
    pub revision: String,
    /// The first thing that was not read; `null` if all was.
    #[serde(default)]
    pub first_unread: Option<ThreadUnreadPosition>,
}

/// The page of turns that comes with a resumed thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeInitialTurnsPageParams {
    /// How much of each turn's items is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_view: Option<TurnItemsView>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Which end comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Params of `thread/resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeParams {
    /// The thread.
    pub thread_id: String,
    /// When the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What the model is told first, instead of the usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// Settings for this thread only, by their dotted keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the model is told besides, from the developer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Whether the turns stay out of the answer.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub exclude_turns: bool,
    /// A history to go on from instead of a stored one, as items of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Value>>,
    /// Asks for a page of turns with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_turns_page: Option<ThreadResumeInitialTurnsPageParams>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// The file of the thread, instead of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The permission profile; not together with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The tone of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// The directories that count as the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// What commands of the model may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
}

/// Result of `thread/resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeResponse {
    /// When the user is asked.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// The model.
    pub model: String,
    /// The model provider.
    pub model_provider: String,
    /// What commands of the model may touch.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The permission profile in force; `null` where a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// The mode of working together.
    #[serde(default)]
    pub collaboration_mode: Option<CollaborationMode>,
    /// The plugins that the thread does without.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// The page of turns that was asked for.
    #[serde(default)]
    pub initial_turns_page: Option<TurnsPage>,
    /// The files that instructions were read from.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// Where paging through the items begins, from now backwards.
    #[serde(default)]
    pub items_backwards_cursor: Option<String>,
    /// When the model starts agents by itself.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The level of service.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// Where paging through the turns begins, from now backwards.
    #[serde(default)]
    pub turns_backwards_cursor: Option<String>,
}

/// Params of `thread/revert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertParams {
    /// The thread.
    pub thread_id: String,
    /// The first turn that is dropped.
    pub before_turn_id: String,
}

/// Result of `thread/revert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRevertResponse {
    /// The thread.
    pub thread: Thread,
    /// Where paging through the items begins, from now backwards.
    #[serde(default)]
    pub items_backwards_cursor: Option<String>,
    /// Where paging through the turns begins, from now backwards.
    #[serde(default)]
    pub turns_backwards_cursor: Option<String>,
}

/// A group of threads that the user made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadSection {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// How it is shown.
    #[serde(default)]
    pub appearance: Option<ThreadSectionAppearance>,
}

/// How a group of threads is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadSectionAppearance {
    /// Its colour.
    #[serde(default)]
    pub color: Option<String>,
    /// Its symbol.
    #[serde(default)]
    pub icon: Option<String>,
}

/// Params of `thread/name/set`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSetNameParams {
    /// The thread.
    pub thread_id: String,
    /// The name.
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
    /// The thread.
    pub thread_id: String,
    /// When the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// The mode of working together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collaboration_mode: Option<CollaborationMode>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The plugins that the thread does without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// How hard the model thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Where commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the model starts agents by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// The permission profile; not together with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The tone of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// What commands may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub service_tier: Nullable<String>,
    /// How the model sums up what it thought.
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
    /// The thread.
    pub thread_id: String,
    /// The command, as a line for a shell.
    pub command: String,
    /// How long it may run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
}

/// Result of `thread/shellCommand`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadShellCommandResponse {}

/// What threads are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ThreadSortKey {
    /// When they began.
    CreatedAt,
    /// When they last changed.
    UpdatedAt,
    /// When something last happened that matters to the user.
    RecencyAt,
    /// Where they stand in their section.
    SectionPosition,
}

/// A kind of thing that starts threads.
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
    /// Other threads, for whatever reason.
    SubAgent,
    /// Reviews.
    SubAgentReview,
    /// Making a history shorter.
    SubAgentCompact,
    /// Models that start agents.
    SubAgentThreadSpawn,
    /// Other threads, for other reasons.
    SubAgentOther,
    /// Nobody can say.
    Unknown,
}

/// Params of `thread/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartParams {
    /// Whether the provider may answer with another model.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub allow_provider_model_fallback: bool,
    /// When the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What the model is told first, instead of the usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<String>,
    /// Settings for this thread only, by their dotted keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonObject>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the user wants the provider's program for defenders; kept for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daybreak_enabled: Option<bool>,
    /// What the model is told besides, from the developer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// Tools that the client runs for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_tools: Option<Vec<DynamicToolSpec>>,
    /// Where commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Whether the thread is never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
    /// Whether the client wants the model's own events.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_raw_events: bool,
    /// How the history is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_mode: Option<ThreadHistoryMode>,
    /// Does nothing; clients test the gate with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock_experimental_field: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// When the model starts agents by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// The permission profile; not together with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The tone of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// The project that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// What commands of the model may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// Directories of skills and plugins that the client chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_capability_roots: Option<Vec<SelectedCapabilityRoot>>,
    /// The name of the service that the client belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// What made the client start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_start_source: Option<ThreadStartSource>,
    /// What the client says the thread is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_source: Option<String>,
}

/// Result of `thread/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartResponse {
    /// When the user is asked.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// The model.
    pub model: String,
    /// The model provider.
    pub model_provider: String,
    /// What commands of the model may touch.
    pub sandbox: SandboxPolicy,
    /// The thread.
    pub thread: Thread,
    /// The permission profile in force; `null` where a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// The plugins that the thread does without.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// The files that instructions were read from.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub instruction_sources: Vec<String>,
    /// When the model starts agents by itself.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The level of service.
    #[serde(default)]
    pub service_tier: Option<String>,
}

/// What made a client start a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadStartSource {
    /// The client began.
    Startup,
    /// The user wanted to begin anew.
    Clear,
}

/// What is with a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadStatus {
    /// It is stored only.
    #[default]
    NotLoaded,
    /// It is in memory, and nothing runs.
    Idle,
    /// The last turn failed.
    SystemError,
    /// A turn runs, or something is asked of the user.
    Active {
        /// What the thread waits for; empty while it works.
        active_flags: Vec<ThreadActiveFlag>,
    },
}

/// The tokens that a thread used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTokenUsage {
    /// What the last request used.
    pub last: TokenUsageBreakdown,
    /// What all requests used.
    pub total: TokenUsageBreakdown,
    /// How many tokens the model takes; `null` where nobody knows.
    #[serde(default)]
    pub model_context_window: Option<i64>,
}

/// Params of `thread/unarchive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnarchiveParams {
    /// The thread.
    pub thread_id: String,
}

/// Result of `thread/unarchive`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadUnarchiveResponse {
    /// The thread.
    pub thread: Thread,
}

/// The first thing in a thread that was not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadUnreadPosition {
    /// The beginning.
    ThreadStart,
    /// A turn.
    Turn {
        /// The turn.
        turn_id: String,
    },
}

/// Params of `thread/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnsubscribeParams {
    /// The thread.
    pub thread_id: String,
}

/// Result of `thread/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadUnsubscribeResponse {
    /// How far it is, or what became of it.
    pub status: ThreadUnsubscribeStatus,
}

/// What became of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadUnsubscribeStatus {
    /// The thread is not in memory.
    NotLoaded,
    /// There was none.
    NotSubscribed,
    /// It ended.
    Unsubscribed,
}

/// Tokens by what they were used for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsageBreakdown {
    /// Input that the provider had in its cache.
    pub cached_input_tokens: i64,
    /// Input, with what was cached.
    pub input_tokens: i64,
    /// Output, with what the model thought.
    pub output_tokens: i64,
    /// What the model thought.
    pub reasoning_output_tokens: i64,
    /// All of them.
    pub total_tokens: i64,
    /// Input that the provider put into its cache.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cache_write_input_tokens: i64,
}

/// Some turns of a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnsPage {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<Turn>,
    /// Where a list in the opposite direction begins, to get what is new since.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/rollback`, which older clients call for what is `thread/revert` now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadRollbackParams {
    /// The thread.
    pub thread_id: String,
    /// How many of its last turns are dropped; at least one.
    pub num_turns: u32,
}

/// Result of `thread/rollback`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadRollbackResponse {
    /// The thread with the turns that are left.
    pub thread: Thread,
}
