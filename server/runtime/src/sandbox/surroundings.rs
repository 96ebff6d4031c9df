//! What the sandbox has to know of the machine and of the server, whatever the command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::confinement::Confinement;
use super::group::ControlGroups;
use super::hidden::HiddenPlace;
use super::repositories::Repositories;
use crate::settings::SandboxPolicy;

/// What the sandbox has to know of the machine and of the server, whatever the command.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The folder for temporary files, where the system names one.
    pub tmpdir: Option<PathBuf>,
    /// What commands must not read: the server's home, recordings, files with tokens.
    pub hidden: Vec<HiddenPlace>,
    /// The repositories that commands may reach.
    pub repositories: Arc<Repositories>,
    /// The control groups of commands, where there can be any.
    pub groups: Arc<ControlGroups>,
}

impl Surroundings {
    /// Returns what a policy means for commands in a folder; `None` if this server does not confine them.
    pub fn confinement(&self, policy: &SandboxPolicy, cwd: &Path) -> Option<Confinement> {
        let mut confinement = Confinement::opening(policy, cwd, self.tmpdir.as_deref())?;
        confinement.hide(&self.hidden, cwd);
        Some(confinement)
    }
}
