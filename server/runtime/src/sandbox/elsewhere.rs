//! The sandbox on systems that cannot confine a process.

use super::confinement::{Confinement, Devices};
use super::error::SandboxError;

/// Returns an error: commands cannot be confined on this system.
///
/// # Errors
///
/// Always returns an error.
pub fn availability() -> Result<(), SandboxError> {
    Err(SandboxError::Unavailable { what: "this system has no Landlock".to_owned() })
}

/// Returns an error: the process cannot be confined on this system.
///
/// # Errors
///
/// Always returns an error.
pub(super) fn confine_self(_confinement: &Confinement, _devices: Devices) -> Result<(), SandboxError> {
    availability()
}

/// Runs `work` unconfined. No command is confined on this system, so none gains anything by redirecting the work.
///
/// # Errors
///
/// Never returns an error; the Linux version does.
pub(crate) fn within<T: Send>(_confinement: &Confinement, work: impl FnOnce() -> T + Send) -> Result<T, SandboxError> {
    Ok(work())
}

/// Does nothing, because no command is started afterwards.
pub(super) fn keep_standard_streams_only() {}

/// Does nothing, because no command is started afterwards.
pub(super) fn unignore_signals() {}

/// Returns `None`, because bubblewrap is not used on this system.
pub(super) fn running_program() -> Option<String> {
    None
}

/// Does nothing, because no command is started afterwards.
pub(super) fn end_with_parent() {}

/// Returns an error: the process cannot be confined on this system.
///
/// # Errors
///
/// Always returns an error.
pub(super) fn drop_privileges(_confinement: &Confinement) -> Result<(), SandboxError> {
    availability()
}

/// Most entries that get a Landlock rule of their own; this system has no such rules.
pub const MAX_BESIDE: usize = 0;
