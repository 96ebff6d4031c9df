//! Writes a plan atomically.
//!
//! The new texts are first written to temporary files beside the files; then each file is replaced by a rename. If a step
//! fails, the previous ones are undone. Files are written only where they were when the plan was judged. Folders are opened
//! by paths without symlinks and held open from the first step to the last, so a symlink that appears in a path in the
//! meantime has no effect.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::plan::{self, Target};
use crate::sandbox::{Confinement, CreatedFolder, Folder, real_path};
use crate::tool::regular;

/// Mode of a new file before the umask is applied.
const NEW_FILE_MODE: u32 = 0o666;

/// Why a plan was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file has changed since the plan was made.
    #[error("{path} has changed meanwhile; read it again", path = path.display())]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
    /// A step failed.
    #[error("cannot write {path}: {reason}{}", left(not_undone))]
    Step {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        reason: std::io::Error,
        /// Files that could not be restored.
        not_undone: Vec<PathBuf>,
    },
}

fn left(files: &[PathBuf]) -> String {
    match files {
        [] => "; nothing was changed".to_owned(),
        files => {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            format!("; these files could not be put back: {}", files.join(", "))
        }
    }
}

/// Returns the real path of the file that a change affects. If its text changes, a symlink is followed; if it is deleted,
/// the symlink itself is deleted. A dangling symlink is not resolved and counts as outside of all folders.
pub(super) fn place_of(path: &Path, target: &Target) -> PathBuf {
    let found = if target.before.is_some() && target.after.is_some() {
        real_path(path)
    } else {
        path.parent().zip(path.file_name()).and_then(|(parent, name)| Some(real_path(parent)?.join(name)))
    };
    found.unwrap_or_else(|| path.to_owned())
}

/// Writes a plan, within a confinement if there is one. `judged` has the paths of the files when the plan was judged
/// ([`place_of`]), in the order of the plan.
///
/// # Errors
///
/// Returns an error if a file has changed since the plan was made, or if a step fails. Then all files are unchanged except
/// those that the error names.
pub(super) fn write(
    files: &BTreeMap<PathBuf, Target>,
    judged: &[PathBuf],
    confinement: Option<&Confinement>,
) -> Result<(), WriteError> {
    let mut done = Done::default();
    let result = prepare(files, judged, confinement, &mut done).and_then(|prepared| commit(prepared, &mut done));
    result.map_err(|failure| match failure {
        Failure::Changed(path) => {
            done.undo();
            WriteError::Changed { path }
        }
        Failure::Step(path, reason) => WriteError::Step { path, reason, not_undone: done.undo() },
    })
}

enum Failure {
    Changed(PathBuf),
    Step(PathBuf, std::io::Error),
}

/// A file that is about to change, with a temporary file that has its new text.
struct Prepared {
    path: PathBuf,
    before: Option<(String, Permissions)>,
    after: Option<NamedTempFile>,
    place: Place,
}

/// The folder of a file, held open, and the real path of the file.
#[derive(Clone)]
struct Place {
    folder: Folder,
    real: PathBuf,
}

impl Place {
    /// Returns a path to the file that stays valid as long as its folder is held open.
    fn path(&self) -> PathBuf {
        self.folder.at(Path::new(self.real.file_name().expect("a file has a name")))
    }

    /// Creates a temporary file beside it.
    fn beside(&self, text: &str, permissions: Option<&Permissions>) -> std::io::Result<NamedTempFile> {
        beside(&self.folder.at(Path::new("")), text, permissions)
    }
}

fn prepare(
    files: &BTreeMap<PathBuf, Target>,
    judged: &[PathBuf],
    confinement: Option<&Confinement>,
    done: &mut Done,
) -> Result<Vec<Prepared>, Failure> {
    let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
    let mut prepared = Vec::with_capacity(files.len());
    for ((path, target), real) in files.iter().zip(judged) {
        let failed = |reason| Failure::Step(path.clone(), reason);
        let changed = || Failure::Changed(path.clone());
        // Background commands can change symlinks at any time.
        if place_of(path, target) != *real {
            return Err(changed());
        }
        if target.before.is_none() && target.after.is_none() {
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
                Ok(_) => return Err(changed()),
            }
        }
        if confinement.is_some_and(|confinement| !confinement.allows_writing_at(real)) {
            return Err(failed(std::io::ErrorKind::PermissionDenied.into()));
        }
        let parent = real.parent().expect("a file has a folder");
        let folder = match folders.get(parent) {
            Some(folder) => folder.clone(),
            None => Folder::open(parent, &mut done.folders).map_err(failed)?,
        };
        folders.insert(parent.to_owned(), folder.clone());
        // The check uses the folder that is held open, because another file may be at the path by now.
        let name = Path::new(real.file_name().expect("a file has a name"));
        let held = folder.at(name);
        let before = match (&target.before, fs::symlink_metadata(&held)) {
            (Some(expected), Ok(_)) => {
                let opened = folder.file(name).and_then(|file| regular::checked(file, &held, confinement));
                match plan::text_of(opened, path) {
                    Ok(text) if *text == **expected => Some((text, fs::metadata(&held).map_err(failed)?.permissions())),
                    _ => return Err(changed()),
                }
            }
            (None, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
            (None, Err(error)) => return Err(failed(error)),
            _ => return Err(changed()),
        };
        let real = real.clone();
        let place = Place { folder, real };
        let permissions = before.as_ref().map(|(_, permissions)| permissions);
        let after = target.after.as_ref().map(|text| place.beside(text, permissions)).transpose().map_err(failed)?;
        prepared.push(Prepared { path: path.clone(), before, after, place });
    }
    Ok(prepared)
}

fn beside(folder: &Path, text: &str, permissions: Option<&Permissions>) -> std::io::Result<NamedTempFile> {
    let mut file =
        Builder::new().prefix(".patch-").permissions(Permissions::from_mode(NEW_FILE_MODE)).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions.clone())?;
    }
    Ok(file)
}

fn commit(prepared: Vec<Prepared>, done: &mut Done) -> Result<(), Failure> {
    for Prepared { path, before, after, place } in prepared {
        let real = place.path();
        let result = match (after, &before) {
            (Some(file), Some(_)) => file.persist(&real).map(drop).map_err(|error| error.error),
            (Some(file), None) => file.persist_noclobber(&real).map(drop).map_err(|error| error.error),
            (None, _) => fs::remove_file(&real),
        };
        result.map_err(|reason| Failure::Step(path, reason))?;
        done.files.push((place, before));
    }
    Ok(())
}

/// Completed steps, so that they can be undone.
#[derive(Default)]
struct Done {
    folders: Vec<CreatedFolder>,
    files: Vec<(Place, Option<(String, Permissions)>)>,
}

impl Done {
    /// Undoes all steps and returns the files that could not be restored.
    fn undo(self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        for (place, before) in self.files.into_iter().rev() {
            let result = match before {
                None => fs::remove_file(place.path()),
                Some((text, permissions)) => place
                    .beside(&text, Some(&permissions))
                    .and_then(|file| file.persist(place.path()).map(drop).map_err(|error| error.error)),
            };
            if result.is_err() {
                left.push(place.real);
            }
        }
        self.folders.into_iter().rev().for_each(CreatedFolder::undo);
        left
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tool::patch::grammar::parse;
    use crate::tool::patch::plan::Plan;

    fn planned(body: &str, cwd: &Path) -> Plan {
        Plan::new(&parse(&format!("*** Begin Patch\n{body}*** End Patch\n")).expect("is valid"), cwd, None)
            .expect("a plan")
    }

    /// Writes without a confinement to the current paths.
    fn write_now(plan: &Plan) -> Result<(), WriteError> {
        write(&plan.files, &places(plan), None)
    }

    fn places(plan: &Plan) -> Vec<PathBuf> {
        plan.files.iter().map(|(path, target)| place_of(path, target)).collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn all_changes_are_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for (name, text) in [("a", "a\n"), ("b", "b\n"), ("c", "c\n")] {
            fs::write(at(name), text).expect("writes");
        }
        fs::set_permissions(at("a"), Permissions::from_mode(0o751)).expect("a mode");
        symlink("c", at("link")).expect("a link");
        let plan = planned(
            "*** Update File: a\n@@\n-a\n+1\n*** Update File: b\n*** Move to: deep/er/b\n@@\n-b\n+2\n*** Update File: link\n@@\n-c\n+3\n*** Add File: n\n+n\n*** Add File: x\n*** Delete File: x\n",
            folder.path(),
        );
        write_now(&plan).expect("written");
        assert_eq!(names(folder.path()), ["a", "c", "deep", "link", "n"]);
        let text = |name: &str| fs::read_to_string(at(name)).expect("reads");
        assert_eq!([text("a"), text("deep/er/b"), text("c"), text("n")], ["1\n", "2\n", "3\n", "n\n"]);
        assert_eq!(fs::metadata(at("a")).expect("is there").permissions().mode() & 0o777, 0o751);
        assert!(fs::symlink_metadata(at("link")).expect("is there").is_symlink());
        write_now(&planned("*** Delete File: link\n", folder.path())).expect("written");
        assert_eq!(names(folder.path()), ["a", "c", "deep", "n"]);
    }

    #[test]
    fn a_failed_step_takes_the_others_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a\n").expect("writes");
        fs::write(at("b"), "b\n").expect("writes");
        let plan =
            planned("*** Update File: a\n@@\n-a\n+1\n*** Delete File: b\n*** Add File: new/z\n+z\n", folder.path());
        let mut done = Done::default();
        let prepared = prepare(&plan.files, &places(&plan), None, &mut done).unwrap_or_else(|_| panic!("prepared"));
        // A folder in place of the last file makes its step fail.
        fs::create_dir(at("new/z")).expect("a folder");
        let Err(Failure::Step(path, _)) = commit(prepared, &mut done) else { panic!("must fail") };
        assert_eq!(path, at("new/z"));
        assert_eq!(names(folder.path()), ["a", "new"]);
        fs::remove_dir(at("new/z")).expect("an empty folder");
        assert_eq!(done.undo(), Vec::<PathBuf>::new());
        assert_eq!(names(folder.path()), ["a", "b"]);
        assert_eq!(fs::read_to_string(at("a")).expect("reads"), "a\n");
    }

    #[test]
    fn a_file_that_changed_meanwhile_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a\n").expect("writes");
        let plan = planned("*** Update File: a\n@@\n-a\n+1\n*** Add File: new/n\n+n\n", folder.path());
        fs::write(at("a"), "other\n").expect("writes");
        let error = write_now(&plan).expect_err("an error");
        assert!(matches!(&error, WriteError::Changed { path } if *path == at("a")), "{error}");
        fs::write(at("a"), "a\n").expect("writes");
        fs::create_dir(at("new")).expect("a folder");
        fs::write(at("new/n"), "mine").expect("writes");
        assert!(matches!(write_now(&plan).expect_err("an error"), WriteError::Changed { .. }));
        assert_eq!(fs::read_to_string(at("a")).expect("reads"), "a\n");
        assert_eq!(names(folder.path()), ["a", "new"]);
    }

    #[test]
    fn nothing_is_written_where_nobody_judged() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["work/d", "other"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        for name in ["work/d/a", "work/d/b", "other/a", "other/b"] {
            fs::write(at(name), "a\n").expect("writes");
        }
        let change = "*** Update File: d/a\n@@\n-a\n+1\n";
        for body in [change, "*** Delete File: d/b\n", "*** Add File: d/made\n+x\n"] {
            let plan = planned(body, &at("work"));
            let judged = places(&plan);
            // The path leads elsewhere when the plan is written.
            fs::rename(at("work/d"), at("work/was")).expect("renames");
            symlink(at("other"), at("work/d")).expect("a link");
            let error = write(&plan.files, &judged, None).expect_err("an error");
            assert!(matches!(&error, WriteError::Changed { .. }), "{error}");
            // The path leads elsewhere when the plan is judged, and no longer when it is written.
            let elsewhere = places(&plan);
            assert!(elsewhere[0].starts_with(at("other")), "{elsewhere:?}");
            fs::remove_file(at("work/d")).expect("removes");
            fs::rename(at("work/was"), at("work/d")).expect("renames");
            assert!(matches!(write(&plan.files, &elsewhere, None), Err(WriteError::Changed { .. })));
        }
        assert_eq!([names(&at("work/d")), names(&at("other"))], [["a", "b"], ["a", "b"]]);
        assert_eq!(fs::read_to_string(at("other/a")).expect("reads"), "a\n");
    }

    #[test]
    fn an_error_names_what_stays() {
        let step = |not_undone| WriteError::Step {
            path: "/a".into(),
            reason: std::io::ErrorKind::StorageFull.into(),
            not_undone,
        };
        assert_eq!(step(vec![]).to_string(), "cannot write /a: no storage space; nothing was changed");
        assert_eq!(
            step(vec!["/b".into(), "/c".into()]).to_string(),
            "cannot write /a: no storage space; these files could not be put back: /b, /c"
        );
    }
}
