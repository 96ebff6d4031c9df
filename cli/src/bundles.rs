//! Which bundles the command line means.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use trace_recorder::BundleError;
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::pack::PACKED_EXTENSION;

use crate::failure::Failure;

/// Where the root folder stands when it is not on the command line.
const ROOT_VARIABLES: [&str; 2] = ["TRACE_ROOT", "CODEX_ROLLOUT_TRACE_ROOT"];

/// The bundles that arguments name.
pub(crate) struct Found {
    pub(crate) bundles: Vec<PathBuf>,
    /// Why an argument names none.
    pub(crate) failures: Vec<Failure>,
    /// Whether there is one argument and it is not a folder with bundles below it.
    pub(crate) is_one: bool,
}

/// Finds the bundles that arguments name, each once: bundles themselves, and folders with bundles below them.
pub(crate) fn find(arguments: &[PathBuf]) -> Found {
    let mut found = Found { bundles: Vec::new(), failures: Vec::new(), is_one: arguments.len() == 1 };
    let mut seen = HashSet::new();
    for argument in arguments {
        if is_bundle(argument) {
            if seen.insert(argument.clone()) {
                found.bundles.push(argument.clone());
            }
            continue;
        }
        match find_bundles(argument) {
            Ok(below) if below.is_empty() => {
                let error = BundleError::NotABundle { path: argument.clone() };
                found.failures.push(Failure::data(error).with_hint("nor is there any bundle below it"));
            }
            Ok(below) => {
                found.is_one = false;
                found.bundles.extend(below.into_iter().filter(|bundle| seen.insert(bundle.clone())));
            }
            Err(error) => found.failures.push(error.into()),
        }
    }
    found
}

/// Returns the folder of bundles that the environment names, for `command`, which was given none.
///
/// # Errors
///
/// Fails when the environment names none either.
pub(crate) fn root_from_environment(command: &str) -> Result<PathBuf, Failure> {
    let set = ROOT_VARIABLES.iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    set.map(PathBuf::from).ok_or_else(|| {
        Failure::usage("no folder is named, and neither TRACE_ROOT nor CODEX_ROLLOUT_TRACE_ROOT is set")
            .with_hint(format!("`trace {command} FOLDER`, or set TRACE_ROOT to the folder that holds your bundles"))
    })
}

/// Returns the path of a packed bundle without its extension.
pub(crate) fn unpacked_path(packed: &Path) -> PathBuf {
    match packed.extension() {
        Some(extension) if extension == PACKED_EXTENSION => packed.with_extension(""),
        _ => packed.to_owned(),
    }
}

/// Returns a path with something appended to its last name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_names() {
        assert_eq!(unpacked_path(Path::new("a/b.trace")), Path::new("a/b"));
        assert_eq!(unpacked_path(Path::new("a/b.1")), Path::new("a/b.1"));
        assert_eq!(with_suffix(Path::new("a/b.1"), ".trace"), Path::new("a/b.1.trace"));
    }
}
