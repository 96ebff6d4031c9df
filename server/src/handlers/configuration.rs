//! Works out the settings of a thread from the configuration, the stored settings and the overrides of a client.

use std::path::PathBuf;
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::common::JsonObject;
use trace_protocol::settings::SandboxMode;
use trace_runtime::Settings;
use trace_runtime::runtime::Runtime;
use trace_runtime::settings::SettingsChange;
use trace_runtime::tool::ToolFamily;

use super::overrides::{Overrides, Place};
use crate::config::{self, Config, ConfigStore};
use crate::mapping::settings as mapping;

/// The configuration as threads use it, with the providers and writable folders of the runtime.
pub(crate) struct ThreadConfiguration {
    /// Folder against which relative paths of clients are resolved.
    pub(crate) cwd: PathBuf,
    pub(crate) store: Arc<ConfigStore>,
    pub(crate) runtime: Arc<Runtime>,
}

impl ThreadConfiguration {
    /// Returns the configuration in force: that of the file, or the last valid one if the file is invalid now.
    pub(crate) fn current(&self) -> Arc<Config> {
        match self.store.current() {
            Ok(config) => config,
            Err(error) => {
                tracing::warn!(%error, "the configuration is broken; what was read last goes on");
                self.store.last_good()
            }
        }
    }

    /// Returns the settings of a thread without stored settings and overrides.
    pub(crate) fn defaults(&self) -> Settings {
        self.current().settings(&self.cwd)
    }

    /// Returns whether a model provider of this name is set up.
    pub(crate) fn has_provider(&self, name: &str) -> bool {
        self.runtime.options().provider(name).is_some()
    }

    /// Completes a client's change of settings: adds the sandbox policy of the permission profile that the client names, and
    /// resolves symlinks in folders.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such profile, or if the change contains a sandbox policy as well.
    pub(crate) fn change(
        &self,
        mut change: SettingsChange,
        profile: Option<&str>,
        settings: &Settings,
    ) -> Result<SettingsChange, RpcError> {
        if let Some(profile) = profile {
            if change.sandbox.is_some() {
                let message = "`permissions` and `sandboxPolicy` say the same: give one of them";
                return Err(RpcError::invalid_request(message));
            }
            change.sandbox = Some(self.current().sandbox(profile_mode(profile)?));
        }
        Ok(self.runtime.options().folders.resolved_change(change, settings))
    }

    /// Returns the tool families that the agent of a new thread may not use: those of features that are off, and those that need
    /// a folder if it has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the client's configuration is invalid.
    pub(crate) fn without(&self, map: Option<&JsonObject>, place: Place) -> Result<Vec<ToolFamily>, RpcError> {
        let configured = self.current();
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

    /// Returns the settings of a thread: those of the configuration, replaced by stored ones, replaced by overrides. Symlinks in
    /// the paths of folders are resolved, except in stored paths that the client does not name again, because commands of the
    /// thread may have created a symlink there since.
    ///
    /// # Errors
    ///
    /// Returns an error if what the client wants is contradictory or invalid.
    pub(crate) fn settings(&self, overrides: &Overrides, stored: Option<&Settings>) -> Result<Settings, RpcError> {
        if overrides.permissions.is_some() && overrides.sandbox.is_some() {
            return Err(RpcError::invalid_request("`permissions` and `sandbox` say the same: give one of them"));
        }
        let own = self.current();
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
                // The configuration that the client gives for this thread replaces stored settings; that of the file does not.
                let change = difference(&own.settings(&cwd), &configured.settings(&cwd));
                Settings { cwd, ..stored.changed(&change) }
            }
            None => configured.settings(&cwd),
        };
        if let Some(model) = &overrides.model {
            settings.model.clone_from(model);
            // A model of the catalogue determines its provider and its default reasoning effort.
            if let Some(known) = configured.models.iter().find(|known| known.id == *model) {
                settings.provider = known.provider.clone().unwrap_or(settings.provider);
                settings.effort = known.default_effort.clone().or(settings.effort);
            }
        }
        if let Some(provider) = &overrides.provider {
            settings.provider.clone_from(provider);
        }
        if !self.has_provider(&settings.provider) {
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
        if let Some(mode) = sandbox_mode(overrides)? {
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
        Ok(self.runtime.options().folders.resolved(settings, stored, named.as_deref()))
    }
}

/// Returns the sandbox mode that a client wants.
fn sandbox_mode(overrides: &Overrides) -> Result<Option<config::SandboxMode>, RpcError> {
    Ok(match (overrides.sandbox, &overrides.permissions) {
        (Some(SandboxMode::ReadOnly), _) => Some(config::SandboxMode::ReadOnly),
        (Some(SandboxMode::WorkspaceWrite), _) => Some(config::SandboxMode::WorkspaceWrite),
        (Some(SandboxMode::DangerFullAccess), _) => Some(config::SandboxMode::DangerFullAccess),
        (None, Some(profile)) => Some(profile_mode(profile)?),
        (None, None) => None,
    })
}

/// Returns the sandbox mode of a permission profile.
fn profile_mode(profile: &str) -> Result<config::SandboxMode, RpcError> {
    let mode = Config::permission_profile(profile);
    mode.ok_or_else(|| RpcError::invalid_request(format!("there is no profile `{profile}`")))
}

/// Returns the change that turns `from` into `to`, for the settings that a configuration contains.
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
