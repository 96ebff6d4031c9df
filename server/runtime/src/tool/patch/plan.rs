//! Computes what a patch would do to existing files. Nothing is written here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::diff;
use super::grammar::FilePatch;
use super::matching::{self, MatchError};
use crate::item::{FileChange, FileChangeKind};
use crate::sandbox::Confinement;
use crate::tool::regular;

/// Size of the largest file that a patch may change, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Most bytes of all files that a patch reads.
pub const MAX_PLAN_BYTES: usize = 64 << 20;

/// Why a patch cannot be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A file cannot be read.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        reason: io::Error,
    },
    /// The file is missing, not a text file, or too large.
    #[error("cannot change {path}: {what}", path = path.display())]
    Unfit {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with the file.
        what: &'static str,
    },
    /// The files together are too large.
    #[error("the files of the patch have more than {MAX_PLAN_BYTES} bytes together; split it")]
    TooMuch,
    /// The path cannot be that of a file.
    #[error("`{path}` names no file", path = path.display())]
    Path {
        /// The path as written.
        path: PathBuf,
    },
    /// A file would be moved to an existing file.
    #[error("cannot move {from} to {to}: there is a file already", from = from.display(), to = to.display())]
    Occupied {
        /// Path of the file.
        from: PathBuf,
        /// New path.
        to: PathBuf,
    },
    /// A hunk does not match the file.
    #[error("cannot change {path}: {reason}", path = path.display())]
    Match {
        /// Path of the file.
        path: PathBuf,
        /// Why the hunk does not match.
        reason: MatchError,
    },
}

/// What a patch would do.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The changes in the order of the patch, for users.
    pub changes: Vec<FileChange>,
    /// The changes for the model: a letter and the path as written.
    pub summary: Vec<String>,
    /// The changes one by one, for the diff of the turn.
    pub steps: Vec<Step>,
    /// The final state of each file.
    pub files: BTreeMap<PathBuf, Target>,
    /// Number of bytes read so far.
    bytes: usize,
}

/// A change of one file with absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Path and text before the change; `None` if the file did not exist.
    pub before: Option<(PathBuf, Arc<str>)>,
    /// Path and text after the change; `None` if the file is deleted.
    pub after: Option<(PathBuf, Arc<str>)>,
}

/// Expected and final content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Expected text; `None` if there is no file.
    pub before: Option<Arc<str>>,
    /// Final text; `None` if the file is deleted.
    pub after: Option<Arc<str>>,
}

impl Plan {
    /// Reads the files and returns what a patch would do. Relative paths are resolved against the absolute path `cwd`.
    /// Files that commands must not read are not read.
    ///
    /// # Errors
    ///
    /// Returns an error if any part of the patch cannot be applied.
    pub fn new(patch: &[FilePatch], cwd: &Path, confinement: Option<&Confinement>) -> Result<Self, PlanError> {
        let mut plan = Self::default();
        for file in patch {
            match file {
                FilePatch::Add { path, text } => {
                    let at = locate(cwd, path)?;
                    let before = plan.now(&at, confinement)?;
                    let after: Arc<str> = text.as_str().into();
                    let (kind, diff, letter) = match &before {
                        None => (FileChangeKind::Add, text.clone(), 'A'),
                        Some(before) => (FileChangeKind::Update { moved_to: None }, diff::hunks(before, text), 'M'),
                    };
                    plan.tell(kind, &at, diff, letter, path);
                    plan.step(before.map(|text| (at.clone(), text)), Some((at, after)));
                }
                FilePatch::Delete { path } => {
                    let at = locate(cwd, path)?;
                    let before = plan.must(&at, confinement)?;
                    plan.tell(FileChangeKind::Delete, &at, before.to_string(), 'D', path);
                    plan.step(Some((at, before)), None);
                }
                FilePatch::Update { path, moved_to, hunks } => {
                    let at = locate(cwd, path)?;
                    let before = plan.must(&at, confinement)?;
                    let after = matching::apply(&before, hunks)
                        .map_err(|reason| PlanError::Match { path: at.clone(), reason })?;
                    let target =
                        moved_to.as_ref().map(|target| locate(cwd, target)).transpose()?.filter(|target| *target != at);
                    if let Some(to) = &target
                        && plan.now(to, confinement)?.is_some()
                    {
                        return Err(PlanError::Occupied { from: at, to: to.clone() });
                    }
                    let shown = moved_to.as_ref().unwrap_or(path);
                    plan.tell(
                        FileChangeKind::Update { moved_to: target.clone() },
                        &at,
                        diff::hunks(&before, &after),
                        'M',
                        shown,
                    );
                    plan.step(Some((at.clone(), before)), Some((target.unwrap_or(at), after.into())));
                }
            }
        }
        Ok(plan)
    }

    /// Returns the paths of all files that would be changed.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }

    fn tell(&mut self, kind: FileChangeKind, path: &Path, diff: String, letter: char, written: &Path) {
        self.changes.push(FileChange { path: path.to_owned(), kind, diff });
        self.summary.push(format!("{letter} {}", written.display()));
    }

    fn step(&mut self, before: Option<(PathBuf, Arc<str>)>, after: Option<(PathBuf, Arc<str>)>) {
        if let Some((path, text)) = &before {
            let target = self
                .files
                .entry(path.clone())
                .or_insert_with(|| Target { before: Some(Arc::clone(text)), after: None });
            target.after = None;
        }
        if let Some((path, text)) = &after {
            let target = self.files.entry(path.clone()).or_insert(Target { before: None, after: None });
            target.after = Some(Arc::clone(text));
        }
        self.steps.push(Step { before, after });
    }

    /// Returns the text of a file after the steps so far.
    fn now(&mut self, path: &Path, confinement: Option<&Confinement>) -> Result<Option<Arc<str>>, PlanError> {
        if let Some(target) = self.files.get(path) {
            return Ok(target.after.clone());
        }
        match read(path, confinement) {
            Ok(text) => {
                self.bytes += text.len();
                if self.bytes > MAX_PLAN_BYTES { Err(PlanError::TooMuch) } else { Ok(Some(text.into())) }
            }
            Err(PlanError::Read { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn must(&mut self, path: &Path, confinement: Option<&Confinement>) -> Result<Arc<str>, PlanError> {
        let missing = || PlanError::Unfit { path: path.to_owned(), what: "there is no such file" };
        self.now(path, confinement)?.ok_or_else(missing)
    }
}

/// Reads a text file, unless commands must not read it.
///
/// # Errors
///
/// Returns an error if the file is missing, not a text file, too large, or cannot be read.
pub(super) fn read(path: &Path, confinement: Option<&Confinement>) -> Result<String, PlanError> {
    text_of(regular::open(path, confinement), path)
}

/// Returns the text of an opened file if patches can change it.
pub(super) fn text_of(opened: io::Result<Option<File>>, path: &Path) -> Result<String, PlanError> {
    let failed = |reason| PlanError::Read { path: path.to_owned(), reason };
    let unfit = |what| PlanError::Unfit { path: path.to_owned(), what };
    let file = opened.map_err(failed)?.ok_or_else(|| unfit("it is no regular file"))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(unfit("it is too large"));
    }
    String::from_utf8(bytes).map_err(|_| unfit("it is no UTF-8 text"))
}

/// Returns an absolute path without `.` and `..` components. Symlinks are resolved later, when files are opened.
fn locate(cwd: &Path, path: &Path) -> Result<PathBuf, PlanError> {
    let mut located = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                located.pop();
            }
            other => located.push(other),
        }
    }
    let is_file = located.file_name().is_some() && !path.as_os_str().as_encoded_bytes().contains(&0);
    if is_file { Ok(located) } else { Err(PlanError::Path { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tool::patch::grammar::parse;

    fn plan(body: &str, cwd: &Path) -> Result<Plan, PlanError> {
        Plan::new(&parse(&format!("*** Begin Patch\n{body}*** End Patch\n")).expect("is valid"), cwd, None)
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a"), "one\ntwo\n").expect("writes");
        fs::write(folder.path().join("bytes"), b"\xff").expect("writes");
        fs::create_dir(folder.path().join("sub")).expect("a folder");
        folder
    }

    #[test]
    fn a_plan_tells_people_and_the_model_what_would_happen() {
        let folder = folder();
        let plan = plan(
            "*** Add File: n\n+x\n*** Update File: ./a\n*** Move to: sub/b\n@@\n-two\n+2\n*** Add File: bytes2\n",
            folder.path(),
        )
        .expect("a plan");
        let at = |name: &str| folder.path().join(name);
        assert_eq!(plan.summary, ["A n", "M sub/b", "A bytes2"]);
        assert_eq!(plan.changes[0], FileChange { path: at("n"), kind: FileChangeKind::Add, diff: "x\n".to_owned() });
        let kind = FileChangeKind::Update { moved_to: Some(at("sub/b")) };
        assert_eq!(
            plan.changes[1],
            FileChange { path: at("a"), kind, diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n".to_owned() }
        );
        assert_eq!(plan.paths(), [at("a"), at("bytes2"), at("n"), at("sub/b")]);
        assert_eq!(plan.files[&at("a")], Target { before: Some("one\ntwo\n".into()), after: None });
        assert_eq!(plan.files[&at("sub/b")], Target { before: None, after: Some("one\n2\n".into()) });
    }

    #[test]
    fn parts_of_one_patch_build_on_each_other() {
        let folder = folder();
        let body = "*** Update File: a\n@@\n-one\n+1\n*** Update File: a\n@@\n-1\n+eins\n*** Add File: n\n+x\n*** Delete File: n\n*** Delete File: a\n*** Add File: a\n+new\n";
        let plan = plan(body, folder.path()).expect("a plan");
        assert_eq!(
            plan.files[&folder.path().join("a")],
            Target { before: Some("one\ntwo\n".into()), after: Some("new\n".into()) }
        );
        assert_eq!(plan.files[&folder.path().join("n")], Target { before: None, after: None });
    }

    #[test]
    fn an_added_file_that_is_there_is_changed() {
        let folder = folder();
        let plan = plan("*** Add File: a\n+one\n", folder.path()).expect("a plan");
        assert_eq!(plan.changes[0].kind, FileChangeKind::Update { moved_to: None });
        assert_eq!(plan.changes[0].diff, "@@ -1,2 +1 @@\n one\n-two\n");
    }

    #[test]
    fn what_cannot_be_applied_is_named() {
        let folder = folder();
        let errors: Vec<String> = [
            "*** Update File: absent\n@@\n-x\n+y\n",
            "*** Delete File: absent\n",
            "*** Update File: a\n@@\n-x\n+y\n",
            "*** Update File: bytes\n@@\n-x\n+y\n",
            "*** Delete File: sub\n",
            "*** Add File: ..\n+x\n",
            "*** Add File: m\n+x\n*** Update File: a\n*** Move to: m\n",
            "*** Add File: a/b\n+x\n",
        ]
        .iter()
        .map(|body| {
            plan(body, folder.path())
                .expect_err("an error")
                .to_string()
                .replace(&folder.path().display().to_string(), "DIR")
        })
        .collect();
        insta::assert_snapshot!(errors.join("\n"), @r"
        cannot change DIR/absent: there is no such file
        cannot change DIR/absent: there is no such file
        cannot change DIR/a: these lines are not in the file behind line 0:
        x
        cannot change DIR/bytes: it is no UTF-8 text
        cannot change DIR/sub: it is no regular file
        cannot change /tmp: it is no regular file
        cannot move DIR/a to DIR/m: there is a file already
        cannot read DIR/a/b: Not a directory (os error 20)
        ");
    }

    #[test]
    fn large_files_are_refused() {
        let folder = folder();
        File::create(folder.path().join("large")).expect("a file").set_len(MAX_FILE_BYTES + 1).expect("a long file");
        let error = plan("*** Delete File: large\n", folder.path()).expect_err("an error");
        assert!(matches!(error, PlanError::Unfit { what: "it is too large", .. }));
    }
    #[test]
    fn many_files_are_not_looked_at_together() {
        let folder = folder();
        let mut patch = String::new();
        for number in 0..=MAX_PLAN_BYTES as u64 / MAX_FILE_BYTES {
            let name = format!("large{number}");
            let file = File::create(folder.path().join(&name)).expect("a file");
            file.set_len(MAX_FILE_BYTES).expect("a long file");
            patch.push_str(&format!("*** Delete File: {name}\n"));
        }
        let error = plan(&patch, folder.path()).expect_err("an error");
        assert_eq!(error.to_string(), "the files of the patch have more than 67108864 bytes together; split it");
    }
}
