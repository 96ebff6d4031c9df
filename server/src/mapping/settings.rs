//! Converts settings of threads.

use std::path::{Path, PathBuf};

use trace_protocol::common::AbsolutePath;
use trace_protocol::settings as wire;
use trace_protocol::thread::ThreadSettingsUpdateParams;
use trace_protocol::turn::{TurnSettingsUpdateParams, TurnStartParams};
use trace_runtime::settings::{
    ApprovalPolicy, ClosedTemporary, Mode, Network, SandboxPolicy, Settings, SettingsChange,
};

/// Returns a path for clients. The server's paths are absolute; if one is relative, it is shown below `/`.
pub(crate) fn absolute(path: &Path) -> AbsolutePath {
    AbsolutePath::try_from(path)
        .or_else(|_| AbsolutePath::try_from(Path::new("/").join(path).as_path()))
        .expect("a path below / is absolute")
}

/// Makes a folder that a client names absolute. A relative path is relative to `base`.
pub(crate) fn folder(base: &Path, cwd: &str) -> PathBuf {
    let joined = base.join(cwd);
    // Components are resolved only in the text of the path, because the folder need not exist.
    let mut path = PathBuf::new();
    for component in joined.components() {
        match component {
            std::path::Component::ParentDir => {
                path.pop();
            }
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

pub(crate) fn approval_to_wire(policy: ApprovalPolicy) -> wire::AskForApproval {
    match policy {
        ApprovalPolicy::Untrusted => wire::AskForApproval::Untrusted,
        ApprovalPolicy::OnRequest => wire::AskForApproval::OnRequest,
        ApprovalPolicy::Never => wire::AskForApproval::Never,
    }
}

/// Converts the approval policy of a client. A granular policy becomes `on-request`: it differs from that only in kinds
/// of questions that this server does not ask.
pub(crate) fn approval_from_wire(policy: &wire::AskForApproval) -> ApprovalPolicy {
    match policy {
        wire::AskForApproval::Untrusted => ApprovalPolicy::Untrusted,
        wire::AskForApproval::OnRequest | wire::AskForApproval::Granular { .. } => ApprovalPolicy::OnRequest,
        wire::AskForApproval::Never => ApprovalPolicy::Never,
    }
}

fn is_open(network: Network) -> bool {
    network == Network::Open
}

fn network(is_open: bool) -> Network {
    if is_open { Network::Open } else { Network::Closed }
}

pub(crate) fn sandbox_to_wire(policy: &SandboxPolicy) -> wire::SandboxPolicy {
    match policy {
        SandboxPolicy::FullAccess => wire::SandboxPolicy::DangerFullAccess,
        SandboxPolicy::ReadOnly { network } => wire::SandboxPolicy::ReadOnly { network_access: is_open(*network) },
        SandboxPolicy::WorkspaceWrite { writable_roots, network, closed } => wire::SandboxPolicy::WorkspaceWrite {
            exclude_slash_tmp: closed.slash_tmp,
            exclude_tmpdir_env_var: closed.tmpdir,
            network_access: is_open(*network),
            writable_roots: writable_roots.iter().map(|root| absolute(root)).collect(),
        },
        SandboxPolicy::External { network } => wire::SandboxPolicy::ExternalSandbox {
            network_access: match network {
                Network::Open => wire::NetworkAccess::Enabled,
                Network::Closed => wire::NetworkAccess::Restricted,
            },
        },
    }
}

pub(crate) fn sandbox_from_wire(policy: &wire::SandboxPolicy) -> SandboxPolicy {
    match policy {
        wire::SandboxPolicy::DangerFullAccess => SandboxPolicy::FullAccess,
        wire::SandboxPolicy::ReadOnly { network_access } => {
            SandboxPolicy::ReadOnly { network: network(*network_access) }
        }
        wire::SandboxPolicy::ExternalSandbox { network_access } => {
            SandboxPolicy::External { network: network(*network_access == wire::NetworkAccess::Enabled) }
        }
        wire::SandboxPolicy::WorkspaceWrite {
            exclude_slash_tmp,
            exclude_tmpdir_env_var,
            network_access,
            writable_roots,
        } => SandboxPolicy::WorkspaceWrite {
            writable_roots: writable_roots.iter().map(|root| root.as_path().to_owned()).collect(),
            network: network(*network_access),
            closed: ClosedTemporary { tmpdir: *exclude_tmpdir_env_var, slash_tmp: *exclude_slash_tmp },
        },
    }
}

/// Converts the kind of the reasoning summaries. Returns `None` for a word that the protocol does not have.
fn summary_to_wire(summary: &str) -> Option<wire::ReasoningSummary> {
    match summary {
        "auto" => Some(wire::ReasoningSummary::Auto),
        "concise" => Some(wire::ReasoningSummary::Concise),
        "detailed" => Some(wire::ReasoningSummary::Detailed),
        "none" => Some(wire::ReasoningSummary::None),
        _ => None,
    }
}

fn summary_from_wire(summary: wire::ReasoningSummary) -> String {
    match summary {
        wire::ReasoningSummary::Auto => "auto",
        wire::ReasoningSummary::Concise => "concise",
        wire::ReasoningSummary::Detailed => "detailed",
        wire::ReasoningSummary::None => "none",
    }
    .to_owned()
}

fn personality_to_wire(personality: &str) -> Option<wire::Personality> {
    match personality {
        "none" => Some(wire::Personality::None),
        "friendly" => Some(wire::Personality::Friendly),
        "pragmatic" => Some(wire::Personality::Pragmatic),
        _ => None,
    }
}

pub(crate) fn personality_from_wire(personality: wire::Personality) -> String {
    match personality {
        wire::Personality::None => "none",
        wire::Personality::Friendly => "friendly",
        wire::Personality::Pragmatic => "pragmatic",
    }
    .to_owned()
}

pub(crate) fn reviewer_from_wire(reviewer: wire::ApprovalsReviewer) -> String {
    match reviewer {
        wire::ApprovalsReviewer::User => "user",
        wire::ApprovalsReviewer::AutoReview => "auto_review",
        wire::ApprovalsReviewer::GuardianSubagent => "guardian_subagent",
    }
    .to_owned()
}

/// Returns who answers approvals.
pub(crate) fn reviewer_to_wire(settings: &Settings) -> wire::ApprovalsReviewer {
    match settings.approvals_reviewer.as_deref() {
        Some("auto_review") => wire::ApprovalsReviewer::AutoReview,
        Some("guardian_subagent") => wire::ApprovalsReviewer::GuardianSubagent,
        _ => wire::ApprovalsReviewer::User,
    }
}

/// Returns whether the agent plans or works.
pub(crate) fn mode_to_wire(settings: &Settings) -> wire::CollaborationMode {
    wire::CollaborationMode {
        mode: match settings.mode {
            Mode::Default => wire::ModeKind::Default,
            Mode::Plan => wire::ModeKind::Plan,
        },
        settings: wire::Settings {
            model: settings.model.clone(),
            developer_instructions: settings.mode_instructions.clone(),
            reasoning_effort: settings.effort.clone(),
        },
    }
}

pub(crate) fn thread_settings(settings: &Settings) -> wire::ThreadSettings {
    wire::ThreadSettings {
        approval_policy: approval_to_wire(settings.approval),
        approvals_reviewer: reviewer_to_wire(settings),
        collaboration_mode: mode_to_wire(settings),
        cwd: absolute(&settings.cwd),
        model: settings.model.clone(),
        model_provider: settings.provider.clone(),
        sandbox_policy: sandbox_to_wire(&settings.sandbox),
        active_permission_profile: None,
        disabled_plugin_ids: Vec::new(),
        effort: settings.effort.clone(),
        environments: None,
        multi_agent_mode: wire::MultiAgentMode::default(),
        personality: settings.personality.as_deref().and_then(personality_to_wire),
        service_tier: settings.service_tier.clone(),
        summary: settings.summary.as_deref().and_then(summary_to_wire),
    }
}

/// Applies a client's mode, which contains a model, an effort and instructions.
fn apply_mode(change: &mut SettingsChange, mode: &wire::CollaborationMode) {
    let kind = match mode.mode {
        wire::ModeKind::Default => Mode::Default,
        wire::ModeKind::Plan => Mode::Plan,
    };
    change.mode = Some((kind, mode.settings.developer_instructions.clone()));
    if !mode.settings.model.is_empty() {
        change.model = Some(mode.settings.model.clone());
    }
    if let Some(effort) = &mode.settings.reasoning_effort {
        change.effort = Some(Some(effort.clone()));
    }
}

/// Returns the changes that the params of a new turn make.
pub(crate) fn change_of_turn(params: &TurnStartParams, base: &Path) -> SettingsChange {
    let mut change = SettingsChange {
        model: params.model.clone(),
        effort: params.effort.clone().map(Some),
        summary: params.summary.map(|summary| Some(summary_from_wire(summary))),
        service_tier: params.service_tier.clone().map(Some),
        cwd: params.cwd.as_deref().map(|cwd| folder(base, cwd)),
        approval: params.approval_policy.as_ref().map(approval_from_wire),
        approvals_reviewer: params.approvals_reviewer.map(reviewer_from_wire),
        sandbox: params.sandbox_policy.as_ref().map(sandbox_from_wire),
        personality: params.personality.map(|personality| Some(personality_from_wire(personality))),
        ..SettingsChange::default()
    };
    if let Some(mode) = &params.collaboration_mode {
        apply_mode(&mut change, mode);
    }
    change
}

/// Returns the changes for a running turn.
pub(crate) fn change_of_turn_settings(params: &TurnSettingsUpdateParams) -> SettingsChange {
    SettingsChange {
        model: params.model.clone(),
        effort: params.effort.clone().map(Some),
        summary: params.summary.map(|summary| Some(summary_from_wire(summary))),
        service_tier: params.service_tier.clone().into_change(),
        approvals_reviewer: params.approvals_reviewer.map(reviewer_from_wire),
        ..SettingsChange::default()
    }
}

/// Returns the changes that an update of the settings makes.
pub(crate) fn change_of_update(params: &ThreadSettingsUpdateParams, base: &Path) -> SettingsChange {
    let mut change = SettingsChange {
        model: params.model.clone(),
        effort: params.effort.clone().map(Some),
        summary: params.summary.map(|summary| Some(summary_from_wire(summary))),
        service_tier: params.service_tier.clone().into_change(),
        cwd: params.cwd.as_deref().map(|cwd| folder(base, cwd)),
        approval: params.approval_policy.as_ref().map(approval_from_wire),
        approvals_reviewer: params.approvals_reviewer.map(reviewer_from_wire),
        sandbox: params.sandbox_policy.as_ref().map(sandbox_from_wire),
        personality: params.personality.map(|personality| Some(personality_from_wire(personality))),
        ..SettingsChange::default()
    };
    if let Some(mode) = &params.collaboration_mode {
        apply_mode(&mut change, mode);
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sandbox_policy_survives_conversion() {
        for policy in [
            SandboxPolicy::FullAccess,
            SandboxPolicy::ReadOnly { network: Network::Open },
            SandboxPolicy::External { network: Network::Closed },
            SandboxPolicy::WorkspaceWrite {
                writable_roots: vec!["/work".into(), "/data".into()],
                network: Network::Open,
                closed: ClosedTemporary { tmpdir: true, slash_tmp: false },
            },
        ] {
            assert_eq!(sandbox_from_wire(&sandbox_to_wire(&policy)), policy);
        }
    }

    #[test]
    fn folders_are_made_absolute() {
        let base = Path::new("/srv/app");
        for (given, expected) in [
            ("", "/srv/app/"),
            ("src", "/srv/app/src"),
            ("../x/./y", "/srv/x/y"),
            ("/etc", "/etc"),
            ("../../../..", "/"),
        ] {
            assert_eq!(folder(base, given), Path::new(expected), "{given}");
        }
    }
}
