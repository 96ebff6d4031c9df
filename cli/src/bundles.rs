//! Resolves the bundles that the command line names.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use trace_import::SessionRef;
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::pack::PACKED_EXTENSION;
use trace_recorder::{Bundle, BundleError};

use crate::foreign;
use crate::serving::recorded_at_home;
use crate::ui::failure::Failure;

/// Variables that name the root folder if the command line does not. The first one that is set is used.
const ROOT_VARIABLES: [&str; 2] = ["TRACE_ROOT", "CODEX_ROLLOUT_TRACE_ROOT"];

/// The result of resolving the bundle arguments.
pub(crate) struct Found {
    pub(crate) bundles: Vec<PathBuf>,
    /// Why some arguments could not be resolved.
    pub(crate) failures: Vec<Failure>,
    /// Whether there was one argument, and it is a bundle and not a folder with bundles below it.
    pub(crate) is_one: bool,
}

/// Opens a bundle. The session of another agent becomes a bundle in memory; it is named by its file, its folder, its id or `@last`.
///
/// # Errors
///
/// Returns an error if there is no such bundle or session, or if it cannot be read.
pub(crate) fn open(path: &Path) -> Result<Bundle, Failure> {
    if !is_bundle(path)
        && let Some(session) = foreign::session(path)?
    {
        return trace_import::open(&session).map_err(foreign::import_failure);
    }
    Ok(Bundle::open(path)?)
}

/// Resolves arguments, each of which is a bundle, a session of another agent, or a folder with bundles or such sessions below it. Each
/// one is returned once.
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
                let sessions = trace_import::sessions(argument).unwrap_or_default();
                let is_itself = |sessions: &[SessionRef]| matches!(sessions, [one] if one.path == *argument);
                if !sessions.is_empty() {
                    found.is_one &= is_itself(&sessions);
                    let files = sessions.iter().map(foreign::argument_of);
                    found.bundles.extend(files.filter(|file| seen.insert(file.clone())));
                    continue;
                }
                let error = BundleError::NotABundle { path: argument.clone() };
                found.failures.push(Failure::data(error).with_hint("there is no bundle below it either"));
            }
            Ok(below) => {
                found.is_one = false;
                found.bundles.extend(below.into_iter().filter(|bundle| seen.insert(bundle.clone())));
            }
            Err(error) => match foreign::session(argument) {
                Ok(Some(session)) => {
                    found.bundles.extend(Some(foreign::argument_of(&session)).filter(|file| seen.insert(file.clone())));
                }
                Ok(None) => found.failures.push(error.into()),
                Err(failure) => found.failures.push(failure),
            },
        }
    }
    found
}

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

/// Returns the path of a packed bundle without its extension.
pub(crate) fn unpacked_path(packed: &Path) -> PathBuf {
    match packed.extension() {
        Some(extension) if extension == PACKED_EXTENSION => packed.with_extension(""),
        _ => packed.to_owned(),
    }
}

/// Returns a path as people would write it, without `./` in front.
pub(crate) fn shown(path: &Path) -> &Path {
    path.strip_prefix(".").ok().filter(|path| !path.as_os_str().is_empty()).unwrap_or(path)
}

/// Refuses `-o -` for commands whose output is a directory or a file that is read again.
///
/// # Errors
///
/// Returns an error if `output` is `-`.
pub(crate) fn refuse_stdout(output: Option<&Path>) -> Result<(), Failure> {
    match output {
        Some(output) if output == Path::new("-") => {
            Err(Failure::usage("the output cannot be stdout").with_hint("-o ./- names a file or directory called -"))
        }
        _ => Ok(()),
    }
}

/// Returns the nearest existing directory at or above `path`.
pub(crate) fn nearest_directory(path: &Path) -> PathBuf {
    let above = path.ancestors().find(|path| path.is_dir());
    above.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Appends `suffix` to the last component of a path.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Gives each bundle an output name: the name of its directory, followed by `suffix`. If several directories have the
/// same name, as many parent components are added as are needed to tell them apart. A bundle that was given by two
/// paths is named once.
pub(crate) fn unique_names(bundles: Vec<PathBuf>, suffix: &str) -> Vec<(PathBuf, PathBuf)> {
    let mut seen = HashSet::new();
    let mut named: Vec<(PathBuf, PathBuf)> = bundles
        .into_iter()
        .map(|bundle| (bundle.canonicalize().unwrap_or_else(|_| bundle.clone()), bundle))
        .filter(|(real, _)| seen.insert(real.clone()))
        .map(|(real, bundle)| (bundle, real))
        .collect();
    let mut parts = vec![1; named.len()];
    loop {
        let mut holders: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (index, (_, real)) in named.iter().enumerate() {
            holders.entry(last_parts(real, parts[index])).or_default().push(index);
        }
        let mut is_unique = true;
        for indices in holders.into_values().filter(|indices| indices.len() > 1) {
            for index in indices {
                // If the name already has all components of its path, no other path can be equal to it.
                if parts[index] < named[index].1.components().count() {
                    parts[index] += 1;
                    is_unique = false;
                }
            }
        }
        if is_unique {
            break;
        }
    }
    for ((_, real), parts) in named.iter_mut().zip(parts) {
        let mut name = last_parts(real, parts).into_os_string();
        name.push(suffix);
        *real = PathBuf::from(name);
    }
    named
}

fn last_parts(path: &Path, count: usize) -> PathBuf {
    let parts: Vec<_> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    if parts.is_empty() {
        return PathBuf::from("bundle");
    }
    parts[parts.len().saturating_sub(count)..].iter().collect()
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

    #[test]
    fn paths_are_shown_as_people_write_them() {
        let shown = ["./a/b", "a", "/a", "../a", "."].map(|path| shown(Path::new(path)).to_owned());
        assert_eq!(shown, ["a/b", "a", "/a", "../a", "."].map(PathBuf::from));
    }

    fn names(bundles: &[&str]) -> Vec<String> {
        let named = unique_names(bundles.iter().map(PathBuf::from).collect(), ".json");
        named.into_iter().map(|(_, name)| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn names_are_as_short_as_they_can_be() {
        assert_eq!(names(&["x/a", "x/b"]), ["a.json", "b.json"]);
        assert_eq!(names(&["x/a", "y/a", "y/b"]), ["x/a.json", "y/a.json", "b.json"]);
        assert_eq!(names(&["p/x/a", "q/x/a", "q/y/a"]), ["p/x/a.json", "q/x/a.json", "y/a.json"]);
        assert_eq!(names(&["a", "x/a"]), ["a.json", "x/a.json"]);
        assert_eq!(names(&["x/a", "x/a"]), ["x/a.json".replace("x/", "")]);
    }
}
