//! Settings of threads and turns: approvals, sandbox, collaboration modes, tools of the client.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// The active permission profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ActivePermissionProfile {
    /// Id of the profile.
    pub id: String,
    /// Id of the profile that it extends.
    #[serde(default)]
    pub extends: Option<String>,
}

/// Who answers approval requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalsReviewer {
    /// The user.
    #[default]
    User,
    /// A model.
    AutoReview,
    /// The older name of `AutoReview`.
    GuardianSubagent,
}

/// When the user is asked for approval before a command runs or a file changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "kebab-case")]
pub enum AskForApproval {
    /// Before every command except those that are known to be harmless.
    Untrusted,
    /// When the model requests it.
    #[default]
    OnRequest,
    /// Never. Anything outside of the sandbox fails.
    Never,
    /// Depending on the kind of question. A kind whose flag is false is refused without asking.
    Granular {
        /// Whether the user is asked for the input that MCP servers request.
        mcp_elicitations: bool,
        /// Whether the user is asked when a rule requires it.
        rules: bool,
        /// Whether the user is asked when a command fails because of the sandbox.
        sandbox_approval: bool,
        /// Whether the user is asked when the model requests permissions.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        request_permissions: bool,
        /// Whether the user is asked before a skill runs.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        skill_approval: bool,
    },
}

/// The location of a directory with skills and plugins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CapabilityRootLocation {
    /// In an environment.
    Environment {
        /// Id of the environment.
        environment_id: String,
        /// Path of the directory.
        path: String,
    },
}

/// A collaboration mode with its settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CollaborationMode {
    /// The mode.
    pub mode: ModeKind,
    /// Settings of the mode.
    pub settings: Settings,
}

/// An access program of the model provider for work on security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CyberAccessProgram {
    /// No special program.
    Standard,
    /// The program for defenders.
    DaybreakBlue,
    /// The program for authorized attackers.
    DaybreakRed,
}

/// A tool in a namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicToolNamespaceTool {
    /// A function.
    Function {
        /// Description for the model.
        description: String,
        /// JSON schema of the arguments.
        input_schema: Value,
        /// Name of the function.
        name: String,
        /// Whether the model sees the tool only after searching for tools.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        defer_loading: bool,
    },
}

/// A tool, or a group of tools, that the client runs for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicToolSpec {
    /// A function.
    Function {
        /// Description for the model.
        description: String,
        /// JSON schema of the arguments.
        input_schema: Value,
        /// Name of the function.
        name: String,
        /// Whether the model sees the tool only after searching for tools.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        defer_loading: bool,
    },
    /// Functions in a common namespace.
    Namespace {
        /// Description for the model.
        description: String,
        /// Name of the namespace.
        name: String,
        /// The tools.
        tools: Vec<DynamicToolNamespaceTool>,
    },
}

/// Name of a collaboration mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ModeKind {
    /// The model plans the work and does not do it.
    Plan,
    /// The model does the work.
    #[default]
    Default,
}

/// When the model may spawn agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MultiAgentMode {
    /// When the user asks for it.
    #[default]
    ExplicitRequestOnly,
    /// When the model considers it useful.
    Proactive,
    /// As described in a text for the model.
    Custom(String),
}

/// Version of the collaboration tools that a model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MultiAgentVersion {
    /// None.
    Disabled,
    /// Version 1.
    V1,
    /// Version 2.
    V2,
}

/// Whether commands may use the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NetworkAccess {
    /// They may not.
    #[default]
    Restricted,
    /// They may.
    Enabled,
}

/// Personality of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum Personality {
    /// None.
    None,
    /// Friendly.
    Friendly,
    /// Pragmatic.
    Pragmatic,
}

/// How the model summarizes its reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ReasoningSummary {
    /// The model decides.
    Auto,
    /// Concisely.
    Concise,
    /// In detail.
    Detailed,
    /// No summary.
    None,
}

/// Name of a sandbox policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Commands may read files.
    ReadOnly,
    /// Commands may read files, and write in the workspace.
    WorkspaceWrite,
    /// Commands are not limited.
    DangerFullAccess,
}

/// What commands of the model may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SandboxPolicy {
    /// Commands are not limited.
    DangerFullAccess,
    /// Commands may read files.
    ReadOnly {
        /// Whether commands may use the network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: bool,
    },
    /// A sandbox around the server limits the commands.
    ExternalSandbox {
        /// Whether commands may use the network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: NetworkAccess,
    },
    /// Commands may read files, and write in the workspace.
    WorkspaceWrite {
        /// Whether `/tmp` is not writable.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        exclude_slash_tmp: bool,
        /// Whether the directory in `TMPDIR` is not writable.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        exclude_tmpdir_env_var: bool,
        /// Whether commands may use the network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: bool,
        /// Writable directories in addition to the working directory.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        writable_roots: Vec<AbsolutePath>,
    },
}

/// A directory with skills and plugins that a client selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SelectedCapabilityRoot {
    /// Id of the directory.
    pub id: String,
    /// Its location.
    pub location: CapabilityRootLocation,
}

/// Settings of a collaboration mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct Settings {
    /// Name of the model.
    pub model: String,
    /// Developer instructions for the model. `null` for the default text of the mode.
    #[serde(default)]
    pub developer_instructions: Option<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// Order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SortDirection {
    /// Ascending: the oldest or smallest entry first.
    Asc,
    /// Descending: the newest or largest entry first.
    Desc,
}

/// An environment in which a thread's commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadEnvironment {
    /// The working directory.
    pub cwd: String,
    /// Id of the environment.
    pub environment_id: String,
    /// Directories that form the workspace.
    pub runtime_workspace_roots: Vec<String>,
}

/// The settings with which the next turn of a thread starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettings {
    /// When the user is asked for approval.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The collaboration mode.
    pub collaboration_mode: CollaborationMode,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Name of the model.
    pub model: String,
    /// Id of the model provider.
    pub model_provider: String,
    /// Sandbox policy for commands.
    pub sandbox_policy: SandboxPolicy,
    /// The active permission profile. `null` if a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// Reasoning effort of the model.
    #[serde(default)]
    pub effort: Option<String>,
    /// Environments in which commands run.
    #[serde(default)]
    pub environments: Option<Vec<ThreadEnvironment>>,
    /// When the model may spawn agents.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// Personality of the model.
    #[serde(default)]
    pub personality: Option<Personality>,
    /// Service tier of the model provider.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// How the model summarizes its reasoning.
    #[serde(default)]
    pub summary: Option<ReasoningSummary>,
}

/// An environment in which a turn's commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnEnvironmentParams {
    /// The working directory.
    pub cwd: String,
    /// Id of the environment.
    pub environment_id: String,
    /// Directories that form the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<String>>,
}

impl Default for SandboxPolicy {
    /// Returns the strictest policy.
    fn default() -> Self {
        Self::ReadOnly { network_access: false }
    }
}
