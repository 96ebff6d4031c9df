//! Settings in rollouts: in each turn (`turn_context`), and after a change (`thread_settings_applied`).
//!
//! The sandbox policy is stored twice: as `sandbox_policy`, which this server reads, and as `permission_profile` for
//! other programs.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use trace_runtime::settings::{ApprovalPolicy, ClosedTemporary, Mode, Network, SandboxPolicy};
use trace_runtime::{Settings, TurnId};

use super::spelling::{put, text};
use crate::store::stored::StoredSettings;

/// Returns the settings of a turn.
pub(crate) fn turn_context(turn: &TurnId, root: &TurnId, settings: &Settings) -> Value {
    let mut members = Map::new();
    members.insert("turn_id".into(), turn.to_string().into());
    members.insert("root_turn_id".into(), root.to_string().into());
    members.insert("cwd".into(), settings.cwd.to_string_lossy().into());
    common(&mut members, settings);
    members.insert("model".into(), settings.model.clone().into());
    put(&mut members, "effort", settings.effort.clone());
    // Other readers require this member.
    members.insert("summary".into(), settings.summary.as_deref().unwrap_or("auto").into());
    Value::Object(members)
}

pub(crate) fn applied(settings: &Settings) -> Value {
    let mut members = Map::new();
    members.insert("model".into(), settings.model.clone().into());
    members.insert("model_provider_id".into(), settings.provider.clone().into());
    put(&mut members, "service_tier", settings.service_tier.clone());
    common(&mut members, settings);
    members.insert("cwd".into(), settings.cwd.to_string_lossy().into());
    members.insert("runtime_workspace_roots".into(), json!([settings.cwd.to_string_lossy()]));
    put(&mut members, "reasoning_effort", settings.effort.clone());
    put(&mut members, "reasoning_summary", settings.summary.clone());
    members.insert("base_instructions".into(), json!(settings.base_instructions));
    members.insert("developer_instructions".into(), json!(settings.developer_instructions));
    members.insert("disabled_plugin_ids".into(), json!([]));
    Value::Object(members)
}

fn common(members: &mut Map<String, Value>, settings: &Settings) {
    members.insert("approval_policy".into(), json!(settings.approval));
    members.insert("approvals_reviewer".into(), settings.approvals_reviewer.as_deref().unwrap_or("user").into());
    members.insert("sandbox_policy".into(), sandbox(&settings.sandbox));
    members.insert("permission_profile".into(), profile(settings));
    put(members, "personality", settings.personality.clone());
    let mode = json!({
        "mode": settings.mode,
        "settings": {
            "model": settings.model,
            "reasoning_effort": settings.effort,
            "developer_instructions": settings.mode_instructions,
        },
    });
    members.insert("collaboration_mode".into(), mode);
}

fn sandbox(policy: &SandboxPolicy) -> Value {
    match policy {
        SandboxPolicy::FullAccess => json!({"type": "danger-full-access"}),
        SandboxPolicy::ReadOnly { network: Network::Closed } => json!({"type": "read-only"}),
        SandboxPolicy::ReadOnly { network: Network::Open } => json!({"type": "read-only", "network_access": true}),
        SandboxPolicy::WorkspaceWrite { writable_roots, network, closed } => json!({
            "type": "workspace-write",
            "writable_roots": writable_roots,
            "network_access": *network == Network::Open,
            "exclude_tmpdir_env_var": closed.tmpdir,
            "exclude_slash_tmp": closed.slash_tmp,
        }),
        SandboxPolicy::External { network } => json!({"type": "external-sandbox", "network_access": reach(*network)}),
    }
}

fn reach(network: Network) -> &'static str {
    match network {
        Network::Open => "enabled",
        Network::Closed => "restricted",
    }
}

fn profile(settings: &Settings) -> Value {
    let special =
        |kind: &str, access: &str| json!({"path": {"type": "special", "value": {"kind": kind}}, "access": access});
    let folder = |path: &PathBuf| json!({"path": {"type": "path", "path": path}, "access": "write"});
    let managed = |entries: Vec<Value>, network: Network| {
        json!({
            "type": "managed",
            "file_system": {"type": "restricted", "entries": entries},
            "network": reach(network),
        })
    };
    match &settings.sandbox {
        SandboxPolicy::FullAccess => json!({"type": "disabled"}),
        SandboxPolicy::External { network } => json!({"type": "external", "network": reach(*network)}),
        SandboxPolicy::ReadOnly { network } => managed(vec![special("root", "read")], *network),
        SandboxPolicy::WorkspaceWrite { writable_roots, network, closed } => {
            let mut entries = vec![special("root", "read"), folder(&settings.cwd)];
            entries.extend((!closed.slash_tmp).then(|| special("slash_tmp", "write")));
            entries.extend((!closed.tmpdir).then(|| special("tmpdir", "write")));
            entries.extend(writable_roots.iter().map(folder));
            managed(entries, *network)
        }
    }
}

/// Applies a `turn_context`.
pub(crate) fn read_turn_context(settings: &mut StoredSettings, value: &Value) {
    read_common(settings, value);
    settings.effort = Some(text(value, "effort"));
    // A `thread_settings_applied` event is more precise: other programs write here the value that they derived from the
    // settings.
    if settings.summary.is_none() {
        settings.summary = Some(text(value, "summary"));
    }
}

/// Applies a `thread_settings_applied`.
pub(crate) fn read_applied(settings: &mut StoredSettings, value: &Value) {
    read_common(settings, value);
    if let Some(provider) = text(value, "model_provider_id") {
        settings.provider = Some(provider);
    }
    settings.effort = Some(text(value, "reasoning_effort"));
    settings.summary = Some(text(value, "reasoning_summary"));
    settings.service_tier = Some(text(value, "service_tier"));
    settings.personality = Some(text(value, "personality"));
    if value.get("base_instructions").is_some() {
        settings.base_instructions = Some(text(value, "base_instructions"));
    }
    if value.get("developer_instructions").is_some() {
        settings.developer_instructions = Some(text(value, "developer_instructions"));
    }
}

fn read_common(settings: &mut StoredSettings, value: &Value) {
    if let Some(model) = text(value, "model") {
        settings.model = Some(model);
    }
    if let Some(cwd) = text(value, "cwd") {
        settings.cwd = Some(super::spelling::path_of(&cwd).into());
    }
    if let Some(approval) = value.get("approval_policy").and_then(read_approval) {
        settings.approval = Some(approval);
    }
    if let Some(reviewer) = text(value, "approvals_reviewer") {
        settings.approvals_reviewer = Some(reviewer);
    }
    if let Some(sandbox) = value.get("sandbox_policy").and_then(read_sandbox).or_else(|| read_profile(value)) {
        settings.sandbox = Some(sandbox);
    }
    if let Some(personality) = text(value, "personality") {
        settings.personality = Some(Some(personality));
    }
    if let Some(mode) = value.get("collaboration_mode") {
        settings.mode = Some(match mode.get("mode").and_then(Value::as_str) {
            Some("plan") => Mode::Plan,
            _ => Mode::Default,
        });
        settings.mode_instructions =
            Some(mode.get("settings").and_then(|settings| text(settings, "developer_instructions")));
    }
}

fn read_approval(value: &Value) -> Option<ApprovalPolicy> {
    match value.as_str() {
        Some("untrusted") => Some(ApprovalPolicy::Untrusted),
        Some("never") => Some(ApprovalPolicy::Never),
        // Other policies of the Codex CLI correspond to `on-request`.
        Some("on-request" | "on-failure") => Some(ApprovalPolicy::OnRequest),
        Some(_) => None,
        None => value.is_object().then_some(ApprovalPolicy::OnRequest),
    }
}

fn read_sandbox(value: &Value) -> Option<SandboxPolicy> {
    let is_on = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let network = match value.get("network_access") {
        Some(Value::Bool(true)) => Network::Open,
        Some(Value::String(word)) if word == "enabled" => Network::Open,
        _ => Network::Closed,
    };
    Some(match value.get("type").or_else(|| value.get("mode"))?.as_str()? {
        "danger-full-access" => SandboxPolicy::FullAccess,
        "read-only" => SandboxPolicy::ReadOnly { network },
        "external-sandbox" => SandboxPolicy::External { network },
        "workspace-write" => SandboxPolicy::WorkspaceWrite {
            writable_roots: value
                .get("writable_roots")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|root| Some(PathBuf::from(root.as_str()?)))
                .collect(),
            network,
            closed: ClosedTemporary { tmpdir: is_on("exclude_tmpdir_env_var"), slash_tmp: is_on("exclude_slash_tmp") },
        },
        _ => return None,
    })
}

/// Converts a permission profile to a sandbox policy. A profile can contain details that a policy cannot express.
fn read_profile(value: &Value) -> Option<SandboxPolicy> {
    let profile = value.get("permission_profile")?;
    let network = match profile.get("network").and_then(Value::as_str) {
        Some("enabled") => Network::Open,
        _ => Network::Closed,
    };
    match profile.get("type")?.as_str()? {
        "disabled" => Some(SandboxPolicy::FullAccess),
        "external" => Some(SandboxPolicy::External { network }),
        "managed" => {
            let files = profile.get("file_system")?;
            let entries = files.get("entries").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let writable: Vec<&Value> = entries
                .iter()
                .filter(|entry| entry.get("access").and_then(Value::as_str) == Some("write"))
                .filter_map(|entry| entry.get("path"))
                .collect();
            if writable.is_empty() {
                return (files.get("type")?.as_str()? == "restricted").then_some(SandboxPolicy::ReadOnly { network });
            }
            let special = |kind: &str| {
                writable.iter().any(|path| path.pointer("/value/kind").and_then(Value::as_str) == Some(kind))
            };
            let cwd = text(value, "cwd");
            Some(SandboxPolicy::WorkspaceWrite {
                writable_roots: writable
                    .iter()
                    .filter_map(|path| text(path, "path"))
                    .filter(|path| Some(path) != cwd.as_ref())
                    .map(PathBuf::from)
                    .collect(),
                network,
                closed: ClosedTemporary { tmpdir: !special("tmpdir"), slash_tmp: !special("slash_tmp") },
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    fn settings(sandbox: SandboxPolicy) -> Settings {
        Settings {
            model: "m".into(),
            provider: "p".into(),
            effort: Some("high".into()),
            summary: None,
            service_tier: Some("fast".into()),
            cwd: "/work".into(),
            approval: ApprovalPolicy::Untrusted,
            approvals_reviewer: Some("auto_review".into()),
            sandbox,
            base_instructions: Some("base".into()),
            developer_instructions: None,
            personality: Some("friendly".into()),
            mode: Mode::Plan,
            mode_instructions: Some("plan".into()),
        }
    }

    fn sandboxes() -> [SandboxPolicy; 5] {
        [
            SandboxPolicy::FullAccess,
            SandboxPolicy::ReadOnly { network: Network::Closed },
            SandboxPolicy::ReadOnly { network: Network::Open },
            SandboxPolicy::External { network: Network::Open },
            SandboxPolicy::WorkspaceWrite {
                writable_roots: vec!["/data".into()],
                network: Network::Open,
                closed: ClosedTemporary { tmpdir: true, slash_tmp: false },
            },
        ]
    }

    #[test]
    fn settings_survive_conversion() {
        for sandbox in sandboxes() {
            let settings = settings(sandbox);
            let mut stored = StoredSettings::default();
            read_applied(&mut stored, &applied(&settings));
            let mut default = settings.clone();
            default.model = "other".into();
            default.mode = Mode::Default;
            default.effort = None;
            default.summary = Some("x".into());
            default.sandbox = SandboxPolicy::FullAccess;
            assert_eq!(stored.over(default), settings);
        }
    }

    #[test]
    fn a_turn_context_keeps_missing_settings() {
        let settings = settings(SandboxPolicy::FullAccess);
        let mut stored = StoredSettings::default();
        read_applied(&mut stored, &applied(&settings));
        let turn = TurnId::from("t");
        read_turn_context(&mut stored, &turn_context(&turn, &turn, &settings));
        assert_eq!(stored.over(settings.clone()), settings);
    }

    #[test]
    fn a_permission_profile_alone_is_read() {
        for sandbox in sandboxes() {
            let settings = settings(sandbox.clone());
            let mut value = applied(&settings);
            value.as_object_mut().unwrap().remove("sandbox_policy");
            let mut stored = StoredSettings::default();
            read_applied(&mut stored, &value);
            assert_eq!(stored.sandbox, Some(sandbox));
        }
    }

    #[test]
    fn values_of_other_programs_become_supported_policies() {
        assert_eq!(read_approval(&json!("on-failure")), Some(ApprovalPolicy::OnRequest));
        assert_eq!(read_approval(&json!({"granular": {}})), Some(ApprovalPolicy::OnRequest));
        assert_eq!(read_approval(&json!("later")), None);
        assert_eq!(
            read_sandbox(&json!({"mode": "read-only"})),
            Some(SandboxPolicy::ReadOnly { network: Network::Closed })
        );
        assert_eq!(read_sandbox(&json!({"type": "later"})), None);
    }
}
