//! Settings of threads and turns: approvals, sandbox, collaboration modes, tools of the client.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// The permission profile in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ActivePermissionProfile {
    /// The id.
    pub id: String,
    /// The profile that it is based on.
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
    /// A model that reviews.
    AutoReview,
    /// The same by its older name.
    GuardianSubagent,
}

/// When the user is asked before a command runs or a file changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "kebab-case")]
pub enum AskForApproval {
    /// Before everything but what is known to do no harm.
    Untrusted,
    /// When the model asks for it.
    #[default]
    OnRequest,
    /// Never; what the sandbox does not allow fails.
    Never,
    /// By what is asked about; where a flag is false, it is refused without asking.
    Granular {
        /// Whether the user is asked what tool servers want to know.
        mcp_elicitations: bool,
        /// Whether the user is asked where a rule says so.
        rules: bool,
        /// Whether the user is asked when the sandbox is in the way.
        sandbox_approval: bool,
        /// Whether the user is asked for permissions.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        request_permissions: bool,
        /// Whether the user is asked before a skill runs.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        skill_approval: bool,
    },
}

/// Where a directory of skills and plugins is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CapabilityRootLocation {
    /// In an environment.
    Environment {
        /// The environment; the server's machine if nothing is said.
        environment_id: String,
        /// The path.
        path: String,
    },
}

/// A mode of working together with the user, and what it sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CollaborationMode {
    /// The mode.
    pub mode: ModeKind,
    /// What it sets.
    pub settings: Settings,
}

/// A program of the model provider for work on security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CyberAccessProgram {
    /// None in particular.
    Standard,
    /// The program for defenders.
    DaybreakBlue,
    /// The program for attackers with leave to attack.
    DaybreakRed,
}

/// A tool in a namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DynamicToolNamespaceTool {
    /// A function.
    Function {
        /// What it does, for the model.
        description: String,
        /// The schema of the arguments.
        input_schema: Value,
        /// The name.
        name: String,
        /// Whether the model is told of it only when it looks for tools.
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
        /// What it does, for the model.
        description: String,
        /// The schema of the arguments.
        input_schema: Value,
        /// The name.
        name: String,
        /// Whether the model is told of it only when it looks for tools.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        defer_loading: bool,
    },
    /// Functions under a common name.
    Namespace {
        /// What it does, for the model.
        description: String,
        /// The name.
        name: String,
        /// The tools.
        tools: Vec<DynamicToolNamespaceTool>,
    },
}

/// The name of a collaboration mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ModeKind {
    /// Work is planned, not done.
    Plan,
    /// Work is done.
    #[default]
    Default,
}

/// When the model starts agents by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MultiAgentMode {
    /// When the user asks for it.
    #[default]
    ExplicitRequestOnly,
    /// When it thinks that it helps.
    Proactive,
    /// As a text for the model says.
    Custom(String),
}

/// The generation of collaboration tools that a model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MultiAgentVersion {
    /// None.
    Disabled,
    /// The first.
    V1,
    /// The second.
    V2,
}

/// Whether there is a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NetworkAccess {
    /// There is none.
    #[default]
    Restricted,
    /// There is.
    Enabled,
}

/// The tone of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum Personality {
    /// None in particular.
    None,
    /// Friendly.
    Friendly,
    /// To the point.
    Pragmatic,
}

/// How the model sums up what it thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ReasoningSummary {
    /// As the model likes.
    Auto,
    /// Briefly.
    Concise,
    /// At length.
    Detailed,
    /// Not at all.
    None,
}

/// The name of a sandbox policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Reading.
    ReadOnly,
    /// Reading, and writing in the workspace.
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
}

/// What commands of the model may touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SandboxPolicy {
    /// Everything.
    DangerFullAccess,
    /// Files may be read.
    ReadOnly {
        /// Whether there is a network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: bool,
    },
    /// What a sandbox around the server leaves them.
    ExternalSandbox {
        /// Whether there is a network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: NetworkAccess,
    },
    /// Files may be read, and written in the workspace.
    WorkspaceWrite {
        /// Whether `/tmp` stays closed.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        exclude_slash_tmp: bool,
        /// Whether the directory that `TMPDIR` names stays closed.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        exclude_tmpdir_env_var: bool,
        /// Whether there is a network.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        network_access: bool,
        /// The directories that may be written, besides the working directory.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        writable_roots: Vec<AbsolutePath>,
    },
}

/// A directory of skills and plugins that a client chose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct SelectedCapabilityRoot {
    /// The id.
    pub id: String,
    /// Where it is.
    pub location: CapabilityRootLocation,
}

/// What a collaboration mode sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct Settings {
    /// The model.
    pub model: String,
    /// What the model is told besides; `null` stands for the mode's own text.
    #[serde(default)]
    pub developer_instructions: Option<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum SortDirection {
    /// The first comes first.
    Asc,
    /// The last comes first.
    Desc,
}

/// A place where a thread's commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadEnvironment {
    /// The working directory.
    pub cwd: String,
    /// The environment; the server's machine if nothing is said.
    pub environment_id: String,
    /// The directories that count as the workspace.
    pub runtime_workspace_roots: Vec<String>,
}

/// The settings that the next turn of a thread begins with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSettings {
    /// When the user is asked.
    pub approval_policy: AskForApproval,
    /// Who answers approval requests.
    pub approvals_reviewer: ApprovalsReviewer,
    /// The mode of working together.
    pub collaboration_mode: CollaborationMode,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// The model.
    pub model: String,
    /// The model provider.
    pub model_provider: String,
    /// What commands may touch.
    pub sandbox_policy: SandboxPolicy,
    /// The permission profile in force; `null` where a sandbox policy was chosen instead.
    #[serde(default)]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    /// The plugins that the thread does without.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disabled_plugin_ids: Vec<String>,
    /// How hard the model thinks.
    #[serde(default)]
    pub effort: Option<String>,
    /// Where commands run.
    #[serde(default)]
    pub environments: Option<Vec<ThreadEnvironment>>,
    /// When the model starts agents by itself.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub multi_agent_mode: MultiAgentMode,
    /// The tone of the model.
    #[serde(default)]
    pub personality: Option<Personality>,
    /// The level of service.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// How the model sums up what it thought.
    #[serde(default)]
    pub summary: Option<ReasoningSummary>,
}

/// A place where a turn's commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnEnvironmentParams {
    /// The working directory.
    pub cwd: String,
    /// The environment; the server's machine if nothing is said.
    pub environment_id: String,
    /// The directories that count as the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<String>>,
}

impl Default for SandboxPolicy {
    /// Returns the strictest policy.
    fn default() -> Self {
        Self::ReadOnly { network_access: false }
    }
}
