//! Lists of what is available: skills, hooks, plugins, MCP servers, features, permission profiles, collaboration modes.

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
    /// The requested entries.
    pub data: Vec<CollaborationModeMask>,
}

/// A collaboration mode with the settings that it changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct CollaborationModeMask {
    /// Name of the mode.
    pub name: String,
    /// The mode.
    #[serde(default)]
    pub mode: Option<ModeKind>,
    /// Name of the model.
    #[serde(default)]
    pub model: Option<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// A feature that can be switched on and off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeature {
    /// Whether it is enabled by default.
    pub default_enabled: bool,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Name of the feature.
    pub name: String,
    /// How mature it is.
    pub stage: ExperimentalFeatureStage,
    /// Announcement of the feature for users.
    #[serde(default)]
    pub announcement: Option<String>,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Display name.
    #[serde(default)]
    pub display_name: Option<String>,
}

/// Params of `experimentalFeature/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeatureListParams {
    /// Id of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `experimentalFeature/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExperimentalFeatureListResponse {
    /// The requested entries.
    pub data: Vec<ExperimentalFeature>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// How mature a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ExperimentalFeatureStage {
    /// Ready to be tried.
    Beta,
    /// Under development.
    UnderDevelopment,
    /// Stable.
    Stable,
    /// Deprecated.
    Deprecated,
    /// Removed. Only the name is still known.
    Removed,
}

/// An error of reading a hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HookErrorInfo {
    /// The message for people.
    pub message: String,
    /// Path of the file.
    pub path: String,
}

/// A hook of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HookMetadata {
    /// Hash of its current definition.
    pub current_hash: String,
    /// Position among the other hooks.
    pub display_order: i64,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The event at which the hook runs.
    pub event_name: HookEventName,
    /// Whether an organization manages it.
    pub is_managed: bool,
    /// The key of the hook in the configuration.
    pub key: String,
    /// Where the hook is configured.
    pub source: HookSource,
    /// The file that configures the hook.
    pub source_path: AbsolutePath,
    /// Timeout in seconds.
    pub timeout_sec: u64,
    /// Whether it is trusted to run.
    pub trust_status: HookTrustStatus,
    /// Greatest length of the context that the hook may add.
    #[serde(default)]
    pub additional_context_limit: Option<u64>,
    /// Id of the environment. Without it, the server's machine.
    #[serde(default)]
    pub environment_id: Option<String>,
    /// The matcher that limits when it runs.
    #[serde(default)]
    pub matcher: Option<String>,
    /// Id of the plugin that it belongs to.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Message that is shown while it runs.
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
        /// Whether the server continues without waiting for the command.
        #[serde(rename = "async", default)]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        is_async: bool,
    },
    /// A tool of an MCP server.
    McpTool {
        /// Name of the MCP server.
        server: String,
        /// Name of the tool.
        tool: String,
    },
    /// A prompt for a model.
    Prompt,
    /// An agent.
    Agent,
}

/// Whether a hook is trusted to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum HookTrustStatus {
    /// It is managed, and therefore trusted.
    Managed,
    /// The user has not trusted it yet.
    Untrusted,
    /// The user trusts it.
    Trusted,
    /// It has changed since the user trusted it.
    Modified,
}

/// The hooks of one directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HooksListEntry {
    /// The working directory.
    pub cwd: String,
    /// Errors of reading.
    pub errors: Vec<HookErrorInfo>,
    /// The hooks.
    pub hooks: Vec<HookMetadata>,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// Params of `hooks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct HooksListParams {
    /// Id of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Working directories. If empty, the working directory of the server.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cwds: Vec<String>,
}

/// Result of `hooks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct HooksListResponse {
    /// The requested entries.
    pub data: Vec<HooksListEntry>,
}

/// Params of `mcpServerStatus/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ListMcpServerStatusParams {
    /// Id of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How much is returned for each server. Everything if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<McpServerStatusDetail>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Name of the MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// Result of `mcpServerStatus/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ListMcpServerStatusResponse {
    /// The requested entries.
    pub data: Vec<McpServerStatus>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Authentication status of the user at an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpAuthStatus {
    /// The status is not known.
    Unknown,
    /// The server requires no authentication.
    Unsupported,
    /// The user is not logged in.
    NotLoggedIn,
    /// The user is authenticated by a bearer token.
    BearerToken,
    /// The user is authenticated by OAuth.
    OAuth,
}

/// Status of the connection to an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerConnectionStatus {
    /// Not started.
    NotStarted,
    /// Starting.
    Starting,
    /// Connected.
    Connected,
    /// The user must log in.
    AuthenticationRequired,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
    /// Disabled in the configuration.
    Disabled,
}

/// Description that an MCP server gives of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    /// Name of the server.
    pub name: String,
    /// Version of the server.
    pub version: String,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Icons.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// Display name.
    #[serde(default)]
    pub title: Option<String>,
    /// URL of its website.
    #[serde(default)]
    pub website_url: Option<String>,
}

/// An MCP server and what it offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// Authentication status of the user.
    pub auth_status: McpAuthStatus,
    /// Name of the server.
    pub name: String,
    /// Templates of resources.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Resources.
    pub resources: Vec<Resource>,
    /// The tools by name.
    pub tools: BTreeMap<String, Tool>,
    /// Origin of the server's URL.
    #[serde(default)]
    pub http_origin: Option<String>,
    /// Id of the plugin that it belongs to.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Status of the connection.
    #[serde(default)]
    pub runtime_status: Option<McpServerConnectionStatus>,
    /// Capabilities of the server.
    #[serde(default)]
    pub server_capabilities: Option<Value>,
    /// Description that the server gives of itself.
    #[serde(default)]
    pub server_info: Option<McpServerInfo>,
    /// Metadata of the server's list of tools.
    #[serde(default)]
    pub tool_list_meta: Option<Value>,
    /// Error of listing the tools.
    #[serde(default)]
    pub tools_error: Option<String>,
}

/// How much is returned for an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerStatusDetail {
    /// Everything.
    Full,
    /// Its tools and the authentication status.
    ToolsAndAuthOnly,
}

/// Params of `permissionProfile/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct PermissionProfileListParams {
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `permissionProfile/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionProfileListResponse {
    /// The requested entries.
    pub data: Vec<PermissionProfileSummary>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// A permission profile that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct PermissionProfileSummary {
    /// Id of the profile.
    pub id: String,
    /// Whether it may be chosen.
    pub allowed: bool,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
}

/// Params of `plugin/installed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PluginInstalledParams {
    /// Working directories. If empty, the working directory of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwds: Option<Vec<AbsolutePath>>,
    /// Names of plugins that the client may suggest to install.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install_suggestion_plugin_names: Option<Vec<String>>,
}

/// Result of `plugin/installed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct PluginInstalledResponse {
    /// Marketplaces with their plugins.
    pub marketplaces: Vec<Value>,
    /// Errors of loading marketplaces.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub marketplace_load_errors: Vec<Value>,
}

/// A resource of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Name of the resource.
    pub name: String,
    /// URI of the resource.
    pub uri: String,
    /// Metadata of the MCP server.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// Annotations of the MCP server.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Icons.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// Its MIME type.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Size in bytes.
    #[serde(default)]
    pub size: Option<i64>,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
}

/// A template of resources of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// Name of the template.
    pub name: String,
    /// The URI template.
    pub uri_template: String,
    /// Annotations of the MCP server.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
}

/// Dependencies of a skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillDependencies {
    /// The tools.
    pub tools: Vec<SkillToolDependency>,
}

/// An error of reading a skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillErrorInfo {
    /// The message for people.
    pub message: String,
    /// Path of the skill.
    pub path: String,
}

/// Appearance of a skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SkillInterface {
    /// Its colour.
    #[serde(default)]
    pub brand_color: Option<String>,
    /// A first prompt that uses the skill.
    #[serde(default)]
    pub default_prompt: Option<String>,
    /// Display name.
    #[serde(default)]
    pub display_name: Option<String>,
    /// File with a large icon.
    #[serde(default)]
    pub icon_large: Option<AbsolutePath>,
    /// URL of a large icon.
    #[serde(default)]
    pub icon_large_url: Option<String>,
    /// File with a small icon.
    #[serde(default)]
    pub icon_small: Option<AbsolutePath>,
    /// URL of a small icon.
    #[serde(default)]
    pub icon_small_url: Option<String>,
    /// Short description.
    #[serde(default)]
    pub short_description: Option<String>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SkillMetadata {
    /// Description for people.
    pub description: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Name of the skill.
    pub name: String,
    /// Path of the skill.
    pub path: String,
    /// Where it is installed.
    pub scope: SkillScope,
    /// Its dependencies.
    #[serde(default)]
    pub dependencies: Option<SkillDependencies>,
    /// Its appearance.
    #[serde(default)]
    pub interface: Option<SkillInterface>,
    /// Id of the plugin that it belongs to.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// Short description.
    #[serde(default)]
    pub short_description: Option<String>,
}

/// Where a skill is installed, and thus whom it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SkillScope {
    /// For the user.
    User,
    /// For everyone who works in the repository.
    Repo,
    /// For all users of the machine.
    System,
    /// For all users, by an administrator's policy.
    Admin,
}

/// A tool that a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct SkillToolDependency {
    /// Kind of the dependency.
    #[serde(rename = "type")]
    pub kind: String,
    /// Identifies the tool, depending on the kind.
    pub value: String,
    /// The command as a shell command line.
    #[serde(default)]
    pub command: Option<String>,
    /// Description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Transport of the MCP server.
    #[serde(default)]
    pub transport: Option<String>,
    /// The URL.
    #[serde(default)]
    pub url: Option<String>,
}

/// The skills of one directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillsListEntry {
    /// The working directory.
    pub cwd: String,
    /// Errors of reading.
    pub errors: Vec<SkillErrorInfo>,
    /// The skills.
    pub skills: Vec<SkillMetadata>,
}

/// Params of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillsListParams {
    /// Working directories. If empty, the working directory of the server.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub cwds: Vec<String>,
    /// Whether files are read again instead of using a cache.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub force_reload: bool,
}

/// Result of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SkillsListResponse {
    /// The requested entries.
    pub data: Vec<SkillsListEntry>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// JSON schema of the arguments.
    pub input_schema: Value,
    /// Name of the tool.
    pub name: String,
    /// Metadata of the MCP server.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
    /// Annotations of the MCP server.
    #[serde(default)]
    pub annotations: Option<Value>,
    /// Description for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// Icons.
    #[serde(default)]
    pub icons: Option<Vec<Value>>,
    /// JSON schema of the result.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// Display name.
    #[serde(default)]
    pub title: Option<String>,
}
