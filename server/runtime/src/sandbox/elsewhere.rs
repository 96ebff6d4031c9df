//! Systems without a way to shut a process in.

use super::confinement::{Confinement, Devices};
use super::error::SandboxError;

/// Tells that commands cannot be shut in here.
///
/// # Errors
///
/// Always.
pub fn availability() -> Result<(), SandboxError> {
    Err(SandboxError::Unavailable { what: "this system has no Landlock".to_owned() })
}

/// Tells that the process cannot be shut in here.
///
/// # Errors
///
/// Always.
pub(super) fn confine_self(_confinement: &Confinement, _devices: Devices) -> Result<(), SandboxError> {
    availability()
}

/// Does something that writes files. No command is confined here, so none can lead the work elsewhere.
///
/// # Errors
///
/// Never; elsewhere a system may refuse.
pub(crate) fn within<T: Send>(_confinement: &Confinement, work: impl FnOnce() -> T + Send) -> Result<T, SandboxError> {
    Ok(work())
}

/// Does nothing: nothing is started afterwards.
pub(super) fn keep_standard_streams_only() {}

/// Does nothing: nothing is started afterwards.
pub(super) fn hear_all_signals() {}

/// Returns nothing: bubblewrap starts nothing here.
pub(super) fn running_program() -> Option<String> {
    None
}

/// Does nothing: nothing is started afterwards.
pub(super) fn end_with_parent() {}

/// Tells that the process cannot be shut in here.
///
/// # Errors
///
/// Always.
pub(super) fn give_up(_confinement: &Confinement) -> Result<(), SandboxError> {
    availability()
}

/// Entries that rules open one by one; there are no rules here.
pub const MAX_BESIDE: usize = 0;
