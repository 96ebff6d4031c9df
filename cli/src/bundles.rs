//! Resolves the bundles that the command line names.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;
use trace_import::SessionRef;
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::pack::PACKED_EXTENSION;
use trace_recorder::{Bundle, BundleError};

use crate::address::{self, is_address};
use crate::named::{self, Named};
use crate::ui::failure::Failure;
use crate::{foreign, replace};

/// The result of resolving the bundle arguments.
pub(crate) struct Found {
    pub(crate) bundles: Vec<PathBuf>,
    /// Why some arguments could not be resolved.
    pub(crate) failures: Vec<Failure>,
    /// Whether there was one argument, and it is a bundle and not a folder with bundles below it.
    pub(crate) is_one: bool,
}

/// Opens a bundle. The session of another agent becomes a bundle in memory; it is named by its file, its folder, its id or `@last`.
/// A packed bundle in object storage is named by its address.
///
/// # Errors
///
/// Returns an error if there is no such bundle or session, or if it cannot be read.
pub(crate) fn open(path: &Path) -> Result<Bundle, Failure> {
    let local = address::local_path(path);
    let path = local.as_deref().unwrap_or(path);
    if is_address(path) {
        return address::open(path);
    }
    match named::find(path)? {
        Some(Named::Bundle(path)) => Ok(Bundle::open(&path)?),
        Some(Named::Imported(session)) => trace_import::open(&session).map_err(foreign::import_failure),
        None => Bundle::open(path).map_err(|error| named::nothing(path).unwrap_or_else(|| error.into())),
    }
}

/// Writes the session of another agent as a bundle into a private directory beside `output`, for commands that work on the
/// files of a bundle.
///
/// # Errors
///
/// Returns an error if the session cannot be read, or the bundle cannot be written.
pub(crate) fn write_beside(session: &SessionRef, output: &Path) -> Result<Written, Failure> {
    let bundle = trace_import::open(session).map_err(foreign::import_failure)?;
    let directory = replace::directory_beside(output)
        .map_err(|error| Failure::data(error).context(format!("cannot write beside {}", output.display())))?;
    let path = directory.path().join("bundle");
    trace_import::write(&bundle, &path).map_err(foreign::import_failure)?;
    Ok(Written { path, _directory: directory })
}

/// A bundle that is deleted when this is dropped.
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    _directory: TempDir,
}

/// Resolves arguments, each of which is a bundle, a session of another agent, or a folder with bundles or such sessions below it. Each
/// one is returned once.
pub(crate) fn find(arguments: &[PathBuf]) -> Found {
    let mut found = Found { bundles: Vec::new(), failures: Vec::new(), is_one: arguments.len() == 1 };
    let mut seen = HashSet::new();
    for argument in arguments {
        let local = address::local_path(argument);
        let argument = local.as_ref().unwrap_or(argument);
        if is_bundle(argument) {
            if seen.insert(argument.clone()) {
                found.bundles.push(argument.clone());
            }
            continue;
        }
        if !argument.is_dir() {
            match named::find(argument) {
                Ok(Some(named)) => {
                    found.bundles.extend(Some(named.argument()).filter(|path| seen.insert(path.clone())));
                }
                // A store with several sessions is like a folder with several files.
                Err(_) if argument.is_file() => found.add_below(argument, &mut seen),
                Ok(None) => found.failures.push(not_found(argument)),
                Err(failure) => found.failures.push(failure),
            }
            continue;
        }
        match find_bundles(argument) {
            Ok(below) if below.is_empty() => found.add_below(argument, &mut seen),
            Ok(below) => {
                found.is_one = false;
                found.bundles.extend(below.into_iter().filter(|bundle| seen.insert(bundle.clone())));
            }
            Err(error) => found.failures.push(error.into()),
        }
    }
    found
}

impl Found {
    /// Adds the sessions of other agents in a store or below a folder.
    fn add_below(&mut self, argument: &Path, seen: &mut HashSet<PathBuf>) {
        match foreign::sessions(argument) {
            Ok(sessions) if sessions.is_empty() => {
                let error = BundleError::NotABundle { path: argument.to_owned() };
                self.failures.push(Failure::data(error).with_hint("there is no bundle below it either"));
            }
            Ok(sessions) => {
                self.is_one &= matches!(&*sessions, [one] if one.path == *argument);
                let files = sessions.iter().map(foreign::argument_of);
                self.bundles.extend(files.filter(|file| seen.insert(file.clone())));
            }
            Err(failure) => self.failures.push(failure),
        }
    }
}

/// Returns why an argument that is no folder is no bundle either.
fn not_found(argument: &Path) -> Failure {
    if is_address(argument) {
        return address::unreadable(argument);
    }
    named::nothing(argument).unwrap_or_else(|| match find_bundles(argument) {
        Ok(_) => BundleError::NotADirectory { path: argument.to_owned() }.into(),
        Err(error) => error.into(),
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
