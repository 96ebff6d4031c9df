//! Resource limits that a process cannot raise again.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::SandboxError;

/// Lowers a limit to `most`. A limit that is lower already stays as it is.
pub(super) fn limit(resource: Resource, most: u64) -> Result<(), SandboxError> {
    let now = getrlimit(resource);
    let most = now.maximum.map_or(most, |now| now.min(most));
    let current = now.current.map_or(most, |now| now.min(most));
    setrlimit(resource, Rlimit { current: Some(current), maximum: Some(most) })
        .map_err(|error| SandboxError::Step { step: "limits of the process", reason: error.to_string() })
}
