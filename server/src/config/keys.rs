//! The keys of `config.toml` that the server reads, as they are in the file.
//!
//! Every key is optional. The defaults are in one place, where the layers are merged into a configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use trace_runtime::environment::NamePattern;
use trace_runtime::sandbox::Bubblewrap;
use trace_runtime::settings::ApprovalPolicy;

use super::catalog::CatalogModel;
use super::variables::VariableKeys;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Keys {
    pub(super) model: Option<String>,
    pub(super) model_provider: Option<String>,
    #[serde(default)]
    pub(super) model_providers: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub(super) models: Vec<CatalogModel>,
    pub(super) openai_base_url: Option<String>,
    pub(super) model_reasoning_effort: Option<String>,
    pub(super) plan_mode_reasoning_effort: Option<String>,
    pub(super) model_reasoning_summary: Option<SummaryKey>,
    pub(super) model_context_window: Option<u64>,
    pub(super) model_auto_compact_token_limit: Option<u64>,
    pub(super) service_tier: Option<String>,
    pub(super) approval_policy: Option<ApprovalKey>,
    pub(super) approvals_reviewer: Option<Reviewer>,
    pub(super) sandbox_mode: Option<SandboxMode>,
    #[serde(default)]
    pub(super) sandbox_workspace_write: WorkspaceKeys,
    #[serde(default)]
    pub(super) sandbox: SandboxKeys,
    #[serde(default)]
    pub(super) shell_environment_policy: VariableKeys,
    pub(super) instructions: Option<String>,
    pub(super) developer_instructions: Option<String>,
    pub(super) personality: Option<String>,
    pub(super) project_doc_max_bytes: Option<u64>,
    pub(super) tool_output_token_limit: Option<u64>,
    #[serde(default)]
    pub(super) agents: AgentKeys,
    #[serde(default)]
    pub(super) exec: ExecKeys,
    #[serde(default)]
    pub(super) recording: RecordingKeys,
    #[serde(default)]
    pub(super) mcp_servers: BTreeMap<String, toml::Value>,
    pub(super) mcp_oauth_callback_port: Option<u16>,
    pub(super) mcp_oauth_callback_url: Option<String>,
}

/// The table `sandbox_workspace_write`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct WorkspaceKeys {
    #[serde(default)]
    pub(super) writable_roots: Vec<PathBuf>,
    #[serde(default)]
    pub(super) network_access: bool,
    #[serde(default)]
    pub(super) exclude_tmpdir_env_var: bool,
    #[serde(default)]
    pub(super) exclude_slash_tmp: bool,
}

/// The table `sandbox`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct SandboxKeys {
    #[serde(default)]
    pub(super) bubblewrap: Bubblewrap,
    #[serde(default)]
    pub(super) pass_variables: Vec<NamePattern>,
}

/// The table `exec`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ExecKeys {
    #[serde(default)]
    pub(super) agents: bool,
}

/// The table `recording`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct RecordingKeys {
    pub(super) form: Option<RecordingForm>,
}

/// What a recording is while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingForm {
    /// One file that grows by what is new, and that is a packed bundle at the end.
    Packed,
    /// A directory with a file for each payload.
    Directory,
}

impl Default for RecordingForm {
    fn default() -> Self {
        // A lock on Windows keeps readers out of the file, and the file of a growing bundle is its own lock.
        if cfg!(windows) { Self::Directory } else { Self::Packed }
    }
}

/// The table `agents`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct AgentKeys {
    pub(super) max_threads: Option<u32>,
    pub(super) max_depth: Option<u32>,
    #[serde(default)]
    pub(super) roles: BTreeMap<String, RoleKeys>,
}

/// A table `agents.roles.NAME`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct RoleKeys {
    pub(super) description: String,
    pub(super) model: Option<String>,
    pub(super) model_reasoning_effort: Option<String>,
    pub(super) developer_instructions: Option<String>,
}

/// A named sandbox policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Commands can read, but not write.
    ReadOnly,
    /// Commands can read, and write in the workspace.
    WorkspaceWrite,
    /// Commands are not confined.
    DangerFullAccess,
}

impl SandboxMode {
    /// Returns the name that the configuration uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

/// Who answers approvals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reviewer {
    /// The user.
    User,
    /// A model. The server does not implement it and only keeps the value for clients.
    AutoReview,
    /// An older name of `AutoReview`.
    GuardianSubagent,
}

impl Reviewer {
    /// Returns the name that the configuration and the protocol use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::AutoReview => "auto_review",
            Self::GuardianSubagent => "guardian_subagent",
        }
    }
}

/// Kind of the reasoning summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SummaryKey {
    Auto,
    Concise,
    Detailed,
    None,
}

impl SummaryKey {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Concise => "concise",
            Self::Detailed => "detailed",
            Self::None => "none",
        }
    }
}

/// When the user is asked for an approval, with all values that the Codex CLI accepts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ApprovalKey {
    Untrusted,
    OnFailure,
    OnRequest,
    Never,
    Granular(GranularKeys),
}

/// A policy that switches each kind of approval on or off.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct GranularKeys {
    #[serde(default)]
    pub(super) sandbox_approval: bool,
    #[serde(default, rename = "rules")]
    _rules: bool,
    #[serde(default, rename = "mcp_elicitations")]
    _mcp_elicitations: bool,
    #[serde(default, rename = "request_permissions")]
    _request_permissions: bool,
    #[serde(default, rename = "skill_approval")]
    _skill_approval: bool,
}

impl ApprovalKey {
    /// Returns the runtime's policy that is closest to this one and does not ask less often.
    pub(super) fn policy(&self) -> ApprovalPolicy {
        match self {
            Self::Untrusted => ApprovalPolicy::Untrusted,
            Self::OnFailure | Self::OnRequest => ApprovalPolicy::OnRequest,
            Self::Never => ApprovalPolicy::Never,
            Self::Granular(kinds) if kinds.sandbox_approval => ApprovalPolicy::OnRequest,
            // Approvals outside the sandbox are off, so a command that the sandbox does not allow is refused.
            Self::Granular(_) => ApprovalPolicy::Never,
        }
    }
}
