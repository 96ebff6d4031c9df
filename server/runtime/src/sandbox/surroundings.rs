//! What the sandbox needs to know about the machine and the server, independent of the command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::confinement::Confinement;
use super::group::ControlGroups;
use super::hidden::HiddenPlace;
use super::repositories::Repositories;
use crate::settings::SandboxPolicy;

/// What the sandbox needs to know about the machine and the server, independent of the command.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The folder for temporary files, if the system names one.
    pub tmpdir: Option<PathBuf>,
    /// Places that commands must not read: the server's home, recordings, files with tokens.
    pub hidden: Vec<HiddenPlace>,
    /// Repositories that commands may have reached.
    pub repositories: Arc<Repositories>,
    /// The control groups of commands.
    pub groups: Arc<ControlGroups>,
}

impl Surroundings {
    /// Returns the confinement of a command with this policy in the folder `cwd`. `None` if the policy does not confine
    /// commands.
    pub fn confinement(&self, policy: &SandboxPolicy, cwd: &Path) -> Option<Confinement> {
        let mut confinement = Confinement::for_policy(policy, cwd, self.tmpdir.as_deref())?;
        confinement.hide(&self.hidden, cwd);
        Some(confinement)
    }
}
