//! Which bundles the arguments of a command mean.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use trace_recorder::BundleError;
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::pack::PACKED_EXTENSION;

use crate::failure::Failure;

/// The bundles that arguments mean.
pub(crate) struct Found {
    pub(crate) bundles: Vec<PathBuf>,
    /// What cannot be found.
    pub(crate) failures: Vec<Failure>,
    /// Whether there is one argument and it is not a folder with bundles below it.
    pub(crate) is_one: bool,
}

/// Finds the bundles that are meant: each argument is one, or a folder with some below it. None is there twice.
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
