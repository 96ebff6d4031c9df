//! Catalogues of what the server offers, and empty ones of what it does not have.

use std::path::PathBuf;

use trace_protocol::RpcError;
use trace_protocol::catalog::{
    CollaborationModeListResponse, CollaborationModeMask, ExperimentalFeature, ExperimentalFeatureListParams,
    ExperimentalFeatureListResponse, ExperimentalFeatureStage, HooksListEntry, HooksListParams, HooksListResponse,
    PermissionProfileListParams, PermissionProfileListResponse, PermissionProfileSummary, PluginInstalledResponse,
    SkillsListEntry, SkillsListParams, SkillsListResponse,
};
use trace_protocol::settings::ModeKind;

use super::page::page;
use crate::config::{Config, PERMISSION_PROFILES, SandboxMode};

/// Returns catalogues.
#[derive(Debug)]
pub struct CatalogService {
    cwd: PathBuf,
}

impl CatalogService {
    /// Creates the service. `cwd` is the folder of the server.
    #[must_use]
    pub fn new(cwd: PathBuf) -> Self {
        Self { cwd }
    }

    /// Returns an empty list of skills for each folder.
    #[must_use]
    pub fn skills(&self, params: SkillsListParams) -> SkillsListResponse {
        let entry = |cwd| SkillsListEntry { cwd, errors: Vec::new(), skills: Vec::new() };
        SkillsListResponse { data: self.folders(params.cwds).into_iter().map(entry).collect() }
    }

    /// Returns an empty list of hooks for each folder.
    #[must_use]
    pub fn hooks(&self, params: HooksListParams) -> HooksListResponse {
        let entry = |cwd| HooksListEntry { cwd, errors: Vec::new(), hooks: Vec::new(), warnings: Vec::new() };
        HooksListResponse { data: self.folders(params.cwds).into_iter().map(entry).collect() }
    }

    /// Returns an empty list of plugins.
    #[must_use]
    pub fn plugins(&self) -> PluginInstalledResponse {
        PluginInstalledResponse { marketplaces: Vec::new(), marketplace_load_errors: Vec::new() }
    }

    /// Returns the collaboration modes that a turn can have.
    #[must_use]
    pub fn collaboration_modes(&self, config: &Config) -> CollaborationModeListResponse {
        let mode = |name: &str, mode, reasoning_effort| CollaborationModeMask {
            name: name.to_owned(),
            mode: Some(mode),
            model: None,
            reasoning_effort,
        };
        let plan = mode("Plan", ModeKind::Plan, config.plan_effort.clone());
        CollaborationModeListResponse { data: vec![plan, mode("Default", ModeKind::Default, None)] }
    }

    /// Returns the permission profiles.
    ///
    /// # Errors
    ///
    /// Returns an error if the cursor is invalid.
    pub fn permission_profiles(
        &self,
        params: &PermissionProfileListParams,
    ) -> Result<PermissionProfileListResponse, RpcError> {
        let profile = |(id, mode): &(&str, SandboxMode)| PermissionProfileSummary {
            id: (*id).to_owned(),
            allowed: true,
            description: Some(
                match mode {
                    SandboxMode::ReadOnly => "Commands read, and change nothing.",
                    SandboxMode::WorkspaceWrite => "Commands change files in the workspace.",
                    SandboxMode::DangerFullAccess => "Commands do what they want.",
                }
                .to_owned(),
            ),
        };
        let profiles = PERMISSION_PROFILES.iter().map(profile).collect();
        let (data, next_cursor) = page(profiles, params.cursor.as_deref(), params.limit)?;
        Ok(PermissionProfileListResponse { data, next_cursor })
    }

    /// Returns the experimental features. Some clients read here whether the server has agents.
    ///
    /// # Errors
    ///
    /// Returns an error if the cursor is invalid.
    pub fn features(
        &self,
        params: &ExperimentalFeatureListParams,
    ) -> Result<ExperimentalFeatureListResponse, RpcError> {
        let agents = ExperimentalFeature {
            default_enabled: true,
            enabled: true,
            name: "multi_agent_v2".to_owned(),
            stage: ExperimentalFeatureStage::Stable,
            announcement: None,
            description: Some("Agents start other agents and write to them.".to_owned()),
            display_name: Some("Agents".to_owned()),
        };
        let (data, next_cursor) = page(vec![agents], params.cursor.as_deref(), params.limit)?;
        Ok(ExperimentalFeatureListResponse { data, next_cursor })
    }

    /// Returns the folders that a client names, or the server's folder if it names none.
    fn folders(&self, cwds: Vec<String>) -> Vec<String> {
        if cwds.is_empty() { vec![self.cwd.to_string_lossy().into_owned()] } else { cwds }
    }
}
