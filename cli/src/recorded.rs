//! Where the recordings of this user are.

use std::path::PathBuf;

use trace_recorder::bundle::find_bundles;

use crate::serving::recorded_at_home;
use crate::ui::failure::Failure;

/// Variables that name the root folder if the command line does not. The first one that is set is used.
const ROOT_VARIABLES: [&str; 2] = ["TRACE_ROOT", "CODEX_ROLLOUT_TRACE_ROOT"];

/// Returns the root folder of bundles for `command`, which was given none: the one that the environment names, or else
/// the one in which servers record.
///
/// # Errors
///
/// Returns an error if the environment names no folder and no server has recorded anything.
pub(crate) fn root_from_environment(command: &str) -> Result<PathBuf, Failure> {
    let set = ROOT_VARIABLES.iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    set.map(PathBuf::from).or_else(recorded_at_home).ok_or_else(|| {
        Failure::usage(
            "no folder is given, TRACE_ROOT and CODEX_ROLLOUT_TRACE_ROOT are not set, and nothing was recorded in the server home",
        )
        .with_hint(format!("`trace {command} FOLDER`, or set TRACE_ROOT to the folder that holds your bundles"))
    })
}

/// Returns the recordings of this user: the bundles in the default root. Without one, there are none.
pub(crate) fn recordings() -> Vec<PathBuf> {
    root_from_environment("ls").ok().and_then(|root| find_bundles(&root).ok()).unwrap_or_default()
}
