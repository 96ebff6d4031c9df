//! What a client wants other than configured when it starts, resumes or copies a thread.

use trace_protocol::RpcError;
use trace_protocol::common::JsonObject;
use trace_protocol::settings::{ApprovalsReviewer, AskForApproval, Personality, SandboxMode};
use trace_protocol::thread::{ThreadForkParams, ThreadResumeParams, ThreadStartParams};
use trace_runtime::Settings;
use trace_runtime::settings::{SandboxPolicy, SettingsChange};
use trace_runtime::tool::ToolFamily;

use crate::config::{self, Config};
use crate::core::Core;
use crate::mapping::settings as mapping;

/// What a client wants other than configured.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) service_tier: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) approval: Option<AskForApproval>,
    pub(crate) reviewer: Option<ApprovalsReviewer>,
    pub(crate) sandbox: Option<SandboxMode>,
    pub(crate) permissions: Option<String>,
    pub(crate) config: Option<JsonObject>,
    pub(crate) base_instructions: Option<String>,
    pub(crate) developer_instructions: Option<String>,
    pub(crate) personality: Option<Personality>,
}

/// Takes the members that the params of these methods share.
macro_rules! shared {
    ($params:expr, $personality:expr) => {
        Overrides {
            model: $params.model.clone(),
            provider: $params.model_provider.clone(),
            service_tier: $params.service_tier.clone(),
            cwd: $params.cwd.clone(),
            approval: $params.approval_policy.clone(),
            reviewer: $params.approvals_reviewer,
            sandbox: $params.sandbox,
            permissions: $params.permissions.clone(),
            config: $params.config.clone(),
            base_instructions: $params.base_instructions.clone(),
            developer_instructions: $params.developer_instructions.clone(),
            personality: $personality,
        }
    };
}

impl From<&ThreadStartParams> for Overrides {
    fn from(params: &ThreadStartParams) -> Self {
        shared!(params, params.personality)
    }
}

impl From<&ThreadResumeParams> for Overrides {
    fn from(params: &ThreadResumeParams) -> Self {
        shared!(params, params.personality)
    }
}

impl From<&ThreadForkParams> for Overrides {
    fn from(params: &ThreadForkParams) -> Self {
        shared!(params, None)
    }
}

/// Whether an agent has a place to work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Folder,
    None,
}

/// Returns what has to change in some settings to make them others, as far as a configuration can.
fn difference(from: &Settings, to: &Settings) -> SettingsChange {
    fn changed<T: PartialEq + Clone>(from: &T, to: &T) -> Option<T> {
        (from != to).then(|| to.clone())
    }
    SettingsChange {
        model: changed(&from.model, &to.model),
        provider: changed(&from.provider, &to.provider),
        effort: changed(&from.effort, &to.effort),
        summary: changed(&from.summary, &to.summary),
        service_tier: changed(&from.service_tier, &to.service_tier),
        cwd: None,
        approval: changed(&from.approval, &to.approval),
        approvals_reviewer: changed(&from.approvals_reviewer, &to.approvals_reviewer).flatten(),
        sandbox: changed(&from.sandbox, &to.sandbox),
        personality: changed(&from.personality, &to.personality),
        mode: None,
    }
}

impl Core {
    /// Returns what a permission profile lets commands touch.
    ///
    /// # Errors
    ///
    /// There is no such profile.
    pub(crate) fn profile(&self, id: &str) -> Result<SandboxPolicy, RpcError> {
        let mode = Config::permission_profile(id);
        let mode = mode.ok_or_else(|| RpcError::invalid_request(format!("there is no profile `{id}`")))?;
        Ok(self.config().sandbox(mode))
    }

    /// Returns what a client takes from the agent of a new thread: by features that are off, or by leaving it no place to
    /// work in.
    ///
    /// # Errors
    ///
    /// The client's configuration makes no sense.
    pub(crate) fn without(&self, map: Option<&JsonObject>, place: Place) -> Result<Vec<ToolFamily>, RpcError> {
        let configured = self.config();
        let config = match map {
            Some(map) => configured.with(map).map_err(|error| RpcError::invalid_request(&error))?.to_json(),
            None => configured.to_json(),
        };
        let is_off = |table: &str, path: &[&str]| {
            let mut value = config.get(table);
            for name in path {
                value = value.and_then(|value| value.get(name));
            }
            value.and_then(serde_json::Value::as_bool) == Some(false)
        };
        let has_no_place = place == Place::None;
        let mut without = Vec::new();
        if has_no_place || is_off("features", &["shell_tool"]) {
            without.push(ToolFamily::Shell);
        }
        if has_no_place {
            without.push(ToolFamily::Files);
        }
        if is_off("tools", &["update_plan", "enabled"]) {
            without.push(ToolFamily::Plan);
        }
        if is_off("features", &["multi_agent_v2"]) {
            without.push(ToolFamily::Agents);
        }
        Ok(without)
    }

    /// Returns the settings of a thread: configured, with those that were stored, with what the client wants. Links to folders
    /// are resolved, but for those that were stored and that the client does not name: commands of the thread may have put one
    /// there since.
    ///
    /// # Errors
    ///
    /// What the client wants does not go together, or makes no sense.
    pub(crate) fn settings(&self, overrides: &Overrides, stored: Option<&Settings>) -> Result<Settings, RpcError> {
        if overrides.permissions.is_some() && overrides.sandbox.is_some() {
            return Err(RpcError::invalid_request("`permissions` and `sandbox` say the same: give one of them"));
        }
        let own = self.config();
        let configured = match &overrides.config {
            Some(map) => own.with(map).map_err(|error| RpcError::invalid_request(&error))?,
            None => Config::clone(&own),
        };
        let cwd = match (&overrides.cwd, stored) {
            (Some(cwd), _) => mapping::folder(&self.cwd, cwd),
            (None, Some(stored)) => stored.cwd.clone(),
            (None, None) => self.cwd.clone(),
        };
        let mut settings = match stored {
            Some(stored) => {
                // What the client configures for this thread replaces what was stored; the rest of the configuration does not.
                let change = difference(&own.settings(&cwd), &configured.settings(&cwd));
                Settings { cwd, ..stored.changed(&change) }
            }
            None => configured.settings(&cwd),
        };
        if let Some(model) = &overrides.model {
            settings.model.clone_from(model);
            // A model of the catalogue brings its provider and how much it usually reasons.
            if let Some(known) = configured.models.iter().find(|known| known.id == *model) {
                settings.provider = known.provider.clone().unwrap_or(settings.provider);
                settings.effort = known.default_effort.clone().or(settings.effort);
            }
        }
        if let Some(provider) = &overrides.provider {
            settings.provider.clone_from(provider);
        }
        if self.runtime().provider(&settings.provider).is_none() {
            let message = format!("there is no model provider `{}`; name one of the configuration", settings.provider);
            return Err(RpcError::invalid_request(message));
        }
        if let Some(tier) = &overrides.service_tier {
            settings.service_tier = Some(tier.clone());
        }
        if let Some(approval) = &overrides.approval {
            settings.approval = mapping::approval_from_wire(approval);
        }
        if let Some(reviewer) = overrides.reviewer {
            settings.approvals_reviewer = Some(mapping::reviewer_from_wire(reviewer));
        }
        let sandbox = match (overrides.sandbox, &overrides.permissions) {
            (Some(SandboxMode::ReadOnly), _) => Some(config::SandboxMode::ReadOnly),
            (Some(SandboxMode::WorkspaceWrite), _) => Some(config::SandboxMode::WorkspaceWrite),
            (Some(SandboxMode::DangerFullAccess), _) => Some(config::SandboxMode::DangerFullAccess),
            (None, Some(profile)) => {
                let mode = Config::permission_profile(profile);
                Some(mode.ok_or_else(|| RpcError::invalid_request(format!("there is no profile `{profile}`")))?)
            }
            (None, None) => None,
        };
        if let Some(mode) = sandbox {
            settings.sandbox = configured.sandbox(mode);
        }
        if let Some(instructions) = &overrides.base_instructions {
            settings.base_instructions = Some(instructions.clone());
        }
        if let Some(instructions) = &overrides.developer_instructions {
            settings.developer_instructions = Some(instructions.clone());
        }
        if let Some(personality) = overrides.personality {
            settings.personality = Some(mapping::personality_from_wire(personality));
        }
        let named = overrides.cwd.is_some().then(|| settings.cwd.clone());
        Ok(self.runtime().options().folders.resolved(settings, stored, named.as_deref()))
    }
}
