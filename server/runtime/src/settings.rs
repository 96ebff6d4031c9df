//! The settings of an agent: model, working folder, and what it may do without an approval.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The settings of a thread. A turn uses the settings from its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Name of the model.
    pub model: String,
    /// Name of the provider of the model.
    pub provider: String,
    /// Reasoning effort, as the provider names it.
    pub effort: Option<String>,
    /// Kind of the reasoning summary, as the provider names it.
    pub summary: Option<String>,
    /// Service tier of the provider.
    pub service_tier: Option<String>,
    /// Working folder of commands; an absolute path.
    pub cwd: PathBuf,
    /// When the user is asked for an approval.
    pub approval: ApprovalPolicy,
    /// Who answers approvals instead of the user; stored for clients only.
    pub approvals_reviewer: Option<String>,
    /// What commands may access.
    pub sandbox: SandboxPolicy,
    /// Replaces the base instructions of the runtime.
    pub base_instructions: Option<String>,
    /// Additional instructions of the client's developer.
    pub developer_instructions: Option<String>,
    /// Tone of the model; stored for clients only.
    pub personality: Option<String>,
    /// Whether the agent plans or works.
    pub mode: Mode,
    /// Instructions of the mode.
    pub mode_instructions: Option<String>,
}

/// When the user is asked before a tool acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Before every command that is not known to be harmless.
    Untrusted,
    /// When the model requests more than the sandbox allows.
    OnRequest,
    /// Never: what is not allowed is refused.
    Never,
}

/// What commands may access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxPolicy {
    /// Everything; there is no sandbox.
    FullAccess,
    /// Reading only.
    ReadOnly {
        /// Whether commands may use the network.
        network: Network,
    },
    /// Reading, and writing to the working folder and some others.
    WorkspaceWrite {
        /// Writable folders besides the working folder; absolute paths.
        writable_roots: Vec<PathBuf>,
        /// Whether commands may use the network.
        network: Network,
        /// Folders for temporary files that are not writable.
        closed: ClosedTemporary,
    },
    /// The server itself is confined from outside.
    External {
        /// Whether commands may use the network.
        network: Network,
    },
}

/// Whether commands may use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Network {
    /// They may not.
    #[default]
    Closed,
    /// They may.
    Open,
}

/// Which folders for temporary files are not writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClosedTemporary {
    /// Whether the folder that `TMPDIR` names is excluded.
    pub tmpdir: bool,
    /// Whether `/tmp` is excluded.
    pub slash_tmp: bool,
}

/// Whether the agent plans or works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The agent works.
    #[default]
    Default,
    /// The agent plans and may ask the user questions.
    Plan,
}

/// Changes of settings. `None` means no change.
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
    /// Returns the settings with the changes applied.
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

    /// Returns whether text may still be written to a command that the user permitted beyond the settings `then`: the
    /// sandbox and approval policies are the same as then, or everything is allowed now.
    pub fn allow_what_was_agreed(&self, then: &Self) -> bool {
        let is_unchanged = self.cwd == then.cwd && self.sandbox == then.sandbox && self.approval == then.approval;
        is_unchanged || self.sandbox == SandboxPolicy::FullAccess
    }

    /// Returns whether commands that were started with the settings `then` could be started with these, because nothing
    /// that they may access is forbidden now.
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
