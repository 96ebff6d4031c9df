//! What the sandbox has to know of the machine and of the server, whatever the command.

use std::path::PathBuf;
use std::sync::Arc;

use super::group::ControlGroups;
use super::hidden::HiddenPlace;
use super::repositories::Repositories;

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
