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

    /// Tells whether a command to which a person agreed beyond what these settings allowed then may still be told what to do:
    /// whether nothing has changed in what commands may do and when a person is asked, or everything is allowed now.
    pub fn allow_what_was_agreed(&self, then: &Self) -> bool {
        let is_unchanged = self.cwd == then.cwd && self.sandbox == then.sandbox && self.approval == then.approval;
        is_unchanged || self.sandbox == SandboxPolicy::FullAccess
    }

    /// Tells whether commands that were started with other settings could be started with these: whether they may touch nothing
    /// that is closed now.
    pub fn allow_what_was_started(&self, then: &Self) -> bool {
        let is_quieter = |then: Network, now: Network| then == Network::Closed || now == Network::Open;
        if self.cwd == then.cwd && self.sandbox == then.sandbox {
            return true;
        }
        match (&then.sandbox, &self.sandbox) {
            (_, SandboxPolicy::FullAccess) => true,
            (SandboxPolicy::FullAccess | SandboxPolicy::External { .. }, _) => false,
            (
                SandboxPolicy::ReadOnly { network: then },
                SandboxPolicy::ReadOnly { network } | SandboxPolicy::WorkspaceWrite { network, .. },
            )
            | (
                SandboxPolicy::ReadOnly { network: then } | SandboxPolicy::WorkspaceWrite { network: then, .. },
                SandboxPolicy::External { network },
            ) => is_quieter(*then, *network),
            (SandboxPolicy::WorkspaceWrite { .. }, SandboxPolicy::ReadOnly { .. }) => false,
            (
                SandboxPolicy::WorkspaceWrite {
                    writable_roots: roots_then,
                    network: network_then,
                    closed: closed_then,
                },
                SandboxPolicy::WorkspaceWrite { writable_roots, network, closed },
            ) => {
                let is_open = |folder: &PathBuf| *folder == self.cwd || writable_roots.contains(folder);
                is_open(&then.cwd)
                    && roots_then.iter().all(is_open)
                    && is_quieter(*network_then, *network)
                    && (closed_then.tmpdir || !closed.tmpdir)
                    && (closed_then.slash_tmp || !closed.slash_tmp)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(cwd: &str, sandbox: SandboxPolicy) -> Settings {
        Settings {
            model: "m".to_owned(),
            provider: "p".to_owned(),
            effort: None,
            summary: None,
            service_tier: None,
            cwd: cwd.into(),
            approval: ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox,
            base_instructions: None,
            developer_instructions: None,
            personality: None,
            mode: Mode::Default,
            mode_instructions: None,
        }
    }

    #[test]
    fn what_was_started_with_more_is_not_allowed() {
        use Network::{Closed, Open};
        let workspace = |roots: &[&str], network, slash_tmp| SandboxPolicy::WorkspaceWrite {
            writable_roots: roots.iter().map(PathBuf::from).collect(),
            network,
            closed: ClosedTemporary { tmpdir: true, slash_tmp },
        };
        let reading = |network| SandboxPolicy::ReadOnly { network };
        for (then, now, is_allowed) in [
            (("/a", SandboxPolicy::FullAccess), ("/b", SandboxPolicy::FullAccess), true),
            (("/a", SandboxPolicy::FullAccess), ("/a", workspace(&[], Open, false)), false),
            (
                ("/a", SandboxPolicy::External { network: Closed }),
                ("/b", SandboxPolicy::External { network: Closed }),
                false,
            ),
            (("/a", reading(Closed)), ("/b", workspace(&[], Closed, true)), true),
            (("/a", reading(Open)), ("/a", reading(Closed)), false),
            (("/a", reading(Closed)), ("/a", SandboxPolicy::External { network: Closed }), true),
            (("/a", workspace(&[], Closed, true)), ("/a", reading(Open)), false),
            (("/a", workspace(&[], Closed, true)), ("/b", workspace(&[], Closed, true)), false),
            (("/a", workspace(&[], Closed, true)), ("/b", workspace(&["/a"], Open, false)), true),
            (("/a", workspace(&["/b"], Closed, true)), ("/a", workspace(&[], Closed, true)), false),
            (("/a", workspace(&[], Closed, false)), ("/a", workspace(&[], Closed, true)), false),
            (("/a", workspace(&[], Open, true)), ("/a", workspace(&[], Closed, true)), false),
        ] {
            let (then, now) = (settings(then.0, then.1), settings(now.0, now.1));
            assert_eq!(now.allow_what_was_started(&then), is_allowed, "{then:?} {now:?}");
        }
    }

    #[test]
    fn what_was_agreed_holds_until_something_changes() {
        let reading = |network| SandboxPolicy::ReadOnly { network };
        let then = settings("/a", reading(Network::Closed));
        let asking = Settings { approval: ApprovalPolicy::OnRequest, ..then.clone() };
        for (now, is_allowed) in [
            (then.clone(), true),
            (Settings { effort: Some("high".to_owned()), ..then.clone() }, true),
            (settings("/a", SandboxPolicy::FullAccess), true),
            (settings("/b", SandboxPolicy::FullAccess), true),
            (settings("/b", reading(Network::Closed)), false),
            (settings("/a", reading(Network::Open)), false),
            (settings("/a", SandboxPolicy::External { network: Network::Open }), false),
            (asking.clone(), false),
        ] {
            assert_eq!(now.allow_what_was_agreed(&then), is_allowed, "{now:?}");
        }
        assert!(!then.allow_what_was_agreed(&asking));
    }
}
