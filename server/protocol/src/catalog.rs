//! Lists of what there is to use: skills, hooks, plugins, tool servers, features, permission profiles, modes.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;
use crate::hook::{HookEventName, HookSource};
use crate::settings::ModeKind;

/// Params of `collaborationMode/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CollaborationModeListParams {}

/// Result of `collaborationMode/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CollaborationModeListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<CollaborationModeMask>,
}

/// A collaboration mode on offer: what it sets, where it sets anything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct CollaborationModeMask {
    /// The name.
    pub name: String,
    /// The mode.
    #[serde(default)]
    pub mode: Option<ModeKind>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// A feature that can be switched on and off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeature {
    /// Whether it is on when nobody says anything.
    pub default_enabled: bool,
    /// Whether it is on.
    pub enabled: bool,
    /// The name.
    pub name: String,
    /// How ready it is.
    pub stage: ExperimentalFeatureStage,
    /// What users are told of the feature.
    #[serde(default)]
    pub announcement: Option<String>,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// The name, for people.
    #[serde(default)]
    pub display_name: Option<String>,
}

/// Params of `experimentalFeature/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeatureListParams {
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `experimentalFeature/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeatureListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ExperimentalFeature>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// How ready a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ExperimentalFeatureStage {
    /// It can be tried.
    Beta,
    /// It is being made.
    UnderDevelopment,
    /// It is ready.
    Stable,
    /// It will go.
    Deprecated,
    /// It is gone; the name is kept.
    Removed,
}

/// A hook that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HookErrorInfo {
    /// What there is to say.
    pub message: String,
    /// The path.
    pub path: String,
}

/// A hook of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookMetadata {
    /// A checksum of what it is now.
    pub current_hash: String,
    /// Where it stands among the others.
    pub display_order: i64,
    /// Whether it is on.
    pub enabled: bool,
    /// What it is called at.
    pub event_name: HookEventName,
    /// Whether it comes from an organisation.
    pub is_managed: bool,
    /// The key.
    pub key: String,
    /// Where it comes from.
    pub source: HookSource,
    /// The file that it is configured in.
    pub source_path: AbsolutePath,
    /// How long it may run, in seconds.
    pub timeout_sec: u64,
    /// Whether it may run.
    pub trust_status: HookTrustStatus,
    /// The most that the hook may add to the context.
    #[serde(default)]
    pub additional_context_limit: Option<u64>,
    /// The environment; the server's machine if nothing is said.
    #[serde(default)]
    pub environment_id: Option<String>,
    /// What it is limited to.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The plugin that it comes with.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// What is shown while it runs.
    #[serde(default)]
    pub status_message: Option<String>,
    /// What it runs.
    #[serde(flatten)]
    pub handler: HookHandler,
}

/// What a hook runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "handlerType", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HookHandler {
    /// A command.
    Command {
        /// The command.
        command: String,
        /// Whether the server goes on without waiting for it.
        #[serde(rename = "async", default)]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        is_async: bool,
    },
    /// A tool of a tool server.
    McpTool {
        /// The tool server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A question to a model.
    Prompt,
    /// An agent.
    Agent,
}

/// Whether a hook may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookTrustStatus {
    /// It is managed, and so may.
    Managed,
    /// Nobody allowed it yet.
    Untrusted,
    /// The user allowed it.
    Trusted,
    /// It changed since it was allowed to.
    Modified,
}

/// The hooks of one directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HooksListEntry {
    /// The working directory.
    pub cwd: String,
    /// What could not be read.
    pub errors: Vec<HookErrorInfo>,
    /// The hooks.
    pub hooks: Vec<HookMetadata>,
    /// What may be wrong.
    pub warnings: Vec<String>,
}

/// Params of `hooks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HooksListParams {
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The directories to look in; without any, that of the server.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cwds: Vec<String>,
}

/// Result of `hooks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HooksListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<HooksListEntry>,
}

/// Params of `mcpServerStatus/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ListMcpServerStatusParams {
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How much is told; everything if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<McpServerStatusDetail>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The tool server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// Result of `mcpServerStatus/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ListMcpServerStatusResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<McpServerStatus>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Whether a tool server knows the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpAuthStatus {
    /// Nobody can say.
    Unknown,
    /// It does not ask.
    Unsupported,
    /// It does not.
    NotLoggedIn,
    /// By a token.
    BearerToken,
    /// By a login.
    OAuth,
}

/// Whether there is a connection to a tool server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerConnectionStatus {
    /// Nobody tried.
    NotStarted,
    /// It is under way.
    Starting,
    /// There is.
    Connected,
    /// It wants the user to log in.
    AuthenticationRequired,
    /// It failed.
    Failed,
    /// It was given up.
    Cancelled,
    /// It is switched off.
    Disabled,
}

/// What a tool server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Symbols.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// The name, for people.
    #[serde(default)]
    pub title: Option<String>,
    /// Where to read about it.
    #[serde(default)]
    pub website_url: Option<String>,
}

/// A tool server and what it offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// Whether the server knows the user.
    pub auth_status: McpAuthStatus,
    /// The name.
    pub name: String,
    /// Patterns of things to read.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Things to read.
    pub resources: Vec<Resource>,
    /// The tools.
    pub tools: BTreeMap<String, Tool>,
    /// The origin of the server's address.
    #[serde(default)]
    pub http_origin: Option<String>,
    /// The plugin that it comes with.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Whether there is a connection.
    #[serde(default)]
    pub runtime_status: Option<McpServerConnectionStatus>,
    /// What the server says it can do.
    #[serde(default)]
    pub server_capabilities: Option<Value>,
    /// What the server says of itself.
    #[serde(default)]
    pub server_info: Option<McpServerInfo>,
    /// What the server adds to its list of tools.
    #[serde(default)]
    pub tool_list_meta: Option<Value>,
    /// Why there are no tools.
    #[serde(default)]
    pub tools_error: Option<String>,
}

/// How much is told of a tool server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStatusDetail {
    /// Everything.
    Full,
    /// Its tools, and whether it knows the user.
    ToolsAndAuthOnly,
}

/// Params of `permissionProfile/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct PermissionProfileListParams {
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `permissionProfile/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionProfileListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<PermissionProfileSummary>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// A permission profile on offer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct PermissionProfileSummary {
    /// The id.
    pub id: String,
    /// Whether it may be chosen.
    pub allowed: bool,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
}

/// Params of `plugin/installed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PluginInstalledParams {
    /// The directories to look in; without any, that of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwds: Option<Vec<AbsolutePath>>,
    /// Plugins that the client might suggest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install_suggestion_plugin_names: Option<Vec<String>>,
}

/// Result of `plugin/installed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct PluginInstalledResponse {
    /// The marketplaces with their plugins.
    pub marketplaces: Vec<Value>,
    /// Marketplaces that could not be read.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub marketplace_load_errors: Vec<Value>,
}

/// Something that a tool server lets read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The name.
    pub name: String,
    /// Where it is.
    pub uri: String,
    /// What the tool server adds for its own use.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// Remarks of the tool server about it.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Symbols.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// The type of its content.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// How large it is, in bytes.
    #[serde(default)]
    pub size: Option<i64>,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
}

/// A pattern of things that a tool server lets read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The name.
    pub name: String,
    /// The pattern.
    pub uri_template: String,
    /// Remarks of the tool server about it.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// The type of its content.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
}

/// What a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillDependencies {
    /// The tools.
    pub tools: Vec<SkillToolDependency>,
}

/// A skill that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillErrorInfo {
    /// What there is to say.
    pub message: String,
    /// The path.
    pub path: String,
}

/// How a skill is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SkillInterface {
    /// Its colour.
    #[serde(default)]
    pub brand_color: Option<String>,
    /// A first prompt to use it with.
    #[serde(default)]
    pub default_prompt: Option<String>,
    /// The name, for people.
    #[serde(default)]
    pub display_name: Option<String>,
    /// A file with a large symbol.
    #[serde(default)]
    pub icon_large: Option<AbsolutePath>,
    /// The address of a large symbol.
    #[serde(default)]
    pub icon_large_url: Option<String>,
    /// A file with a small symbol.
    #[serde(default)]
    pub icon_small: Option<AbsolutePath>,
    /// The address of a small symbol.
    #[serde(default)]
    pub icon_small_url: Option<String>,
    /// What it is, in a few words.
    #[serde(default)]
    pub short_description: Option<String>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SkillMetadata {
    /// What it is, for people.
    pub description: String,
    /// Whether it is on.
    pub enabled: bool,
    /// The name.
    pub name: String,
    /// The path.
    pub path: String,
    /// For whom, or how long.
    pub scope: SkillScope,
    /// What it needs.
    #[serde(default)]
    pub dependencies: Option<SkillDependencies>,
    /// How it is shown.
    #[serde(default)]
    pub interface: Option<SkillInterface>,
    /// The plugin that it comes with.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// What it is, in a few words.
    #[serde(default)]
    pub short_description: Option<String>,
}

/// For whom a skill is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SkillScope {
    /// The user.
    User,
    /// Those who work in the repository.
    Repo,
    /// Everybody.
    System,
    /// Everybody, by decree.
    Admin,
}

/// A tool that a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct SkillToolDependency {
    /// What kind it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value.
    pub value: String,
    /// The command, as a line for a shell.
    #[serde(default)]
    pub command: Option<String>,
    /// What it is, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// How it is reached.
    #[serde(default)]
    pub transport: Option<String>,
    /// The address.
    #[serde(default)]
    pub url: Option<String>,
}

/// The skills of one directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillsListEntry {
    /// The working directory.
    pub cwd: String,
    /// What could not be read.
    pub errors: Vec<SkillErrorInfo>,
    /// The skills.
    pub skills: Vec<SkillMetadata>,
}

/// Params of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillsListParams {
    /// The directories to look in; without any, that of the server.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cwds: Vec<String>,
    /// Whether files are read again.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub force_reload: bool,
}

/// Result of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillsListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<SkillsListEntry>,
}

/// A tool of a tool server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The schema of the arguments.
    pub input_schema: Value,
    /// The name.
    pub name: String,
    /// What the tool server adds for its own use.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// Remarks of the tool server about it.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// What it does, for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// Symbols.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// The schema of the answer.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// The name, for people.
    #[serde(default)]
    pub title: Option<String>,
}
