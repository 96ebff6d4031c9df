//! What an agent works with: model, folder, and what it may do without asking.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The settings of a thread. A turn works with those it began with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Model that is asked.
    pub model: String,
    /// Name of the provider that has the model.
    pub provider: String,
    /// How much the model should reason, in the provider's words.
    pub effort: Option<String>,
    /// How reasoning should be summed up, in the provider's words.
    pub summary: Option<String>,
    /// Class of service at the provider.
    pub service_tier: Option<String>,
    /// Folder that commands run in; absolute.
    pub cwd: PathBuf,
    /// When a person is asked.
    pub approval: ApprovalPolicy,
    /// Who answers instead of the client's user; carried for clients.
    pub approvals_reviewer: Option<String>,
    /// What commands may touch.
    pub sandbox: SandboxPolicy,
    /// Replaces the runtime's own instructions for the model.
    pub base_instructions: Option<String>,
    /// Instructions of the client's developer, beside the others.
    pub developer_instructions: Option<String>,
    /// Tone of the model; carried for clients.
    pub personality: Option<String>,
    /// Whether the agent plans or works.
    pub mode: Mode,
    /// Instructions that came with the mode.
    pub mode_instructions: Option<String>,
}

/// When a person is asked before a tool acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// For every command that is not known to be harmless.
    Untrusted,
    /// When the model asks for more than the sandbox allows.
    OnRequest,
    /// Never: what is not allowed is refused.
    Never,
}

/// What commands may touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxPolicy {
    /// Everything.
    FullAccess,
    /// Reading, and nothing else.
    ReadOnly {
        /// Whether commands reach the network.
        network: Network,
    },
    /// Reading, and writing below some folders.
    WorkspaceWrite {
        /// Folders beside the working folder; absolute.
        writable_roots: Vec<PathBuf>,
        /// Whether commands reach the network.
        network: Network,
        /// Folders for temporary files that stay closed.
        closed: ClosedTemporary,
    },
    /// Somebody else has shut the process in.
    External {
        /// Whether commands reach the network.
        network: Network,
    },
}

/// Whether commands reach the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Network {
    /// They do not.
    #[default]
    Closed,
    /// They do.
    Open,
}

/// Folders for temporary files that a workspace does not include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClosedTemporary {
    /// The folder that `TMPDIR` names.
    pub tmpdir: bool,
    /// `/tmp`.
    pub slash_tmp: bool,
}

/// Whether the agent plans or works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It works.
    #[default]
    Default,
    /// It plans and may ask the user.
    Plan,
}

/// Changes of settings. What is `None` stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsChange {
    /// See [`Settings::model`].
    pub model: Option<String>,
    /// See [`Settings::provider`].
    pub provider: Option<String>,
    /// See [`Settings::effort`]; `Some(None)` takes it away.
    pub effort: Option<Option<String>>,
    /// See [`Settings::summary`]; `Some(None)` takes it away.
    pub summary: Option<Option<String>>,
    /// See [`Settings::service_tier`]; `Some(None)` takes it away.
    pub service_tier: Option<Option<String>>,
    /// See [`Settings::cwd`].
    pub cwd: Option<PathBuf>,
    /// See [`Settings::approval`].
    pub approval: Option<ApprovalPolicy>,
    /// See [`Settings::approvals_reviewer`].
    pub approvals_reviewer: Option<String>,
    /// See [`Settings::sandbox`].
    pub sandbox: Option<SandboxPolicy>,
    /// See [`Settings::personality`]; `Some(None)` takes it away.
    pub personality: Option<Option<String>>,
    /// See [`Settings::mode`] and [`Settings::mode_instructions`].
    pub mode: Option<(Mode, Option<String>)>,
}

impl Settings {
    /// Returns these settings with the changes made.
    pub fn changed(&self, change: &SettingsChange) -> Self {
        let mut settings = self.clone();
        let SettingsChange {
            model,
            provider,
            effort,
            summary,
            service_tier,
            cwd,
            approval,
            approvals_reviewer,
            sandbox,
            personality,
            mode,
        } = change.clone();
        if let Some(model) = model {
            settings.model = model;
        }
        if let Some(provider) = provider {
            settings.provider = provider;
        }
        if let Some(effort) = effort {
            settings.effort = effort;
        }
        if let Some(summary) = summary {
            settings.summary = summary;
        }
        if let Some(service_tier) = service_tier {
            settings.service_tier = service_tier;
        }
        if let Some(cwd) = cwd {
            settings.cwd = cwd;
        }
        if let Some(approval) = approval {
            settings.approval = approval;
        }
        if let Some(reviewer) = approvals_reviewer {
            settings.approvals_reviewer = Some(reviewer);
        }
        if let Some(sandbox) = sandbox {
            settings.sandbox = sandbox;
        }
        if let Some(personality) = personality {
            settings.personality = personality;
        }
        if let Some((mode, instructions)) = mode {
            settings.mode = mode;
            settings.mode_instructions = instructions;
        }
        settings
    }
}
