//! Keeps patches from writing what Git runs. The server writes patches itself, so no command is watched and nothing is
//! mounted.
//!
//! Only folders around the files of a patch are examined, so this is fast.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::Repositories;
use super::files;
use super::names::{Names, Search, SearchPhase};
use super::risks::Risks;
use super::walk::{MARKS, Marks};
use crate::sandbox::confinement::Confinement;

impl Repositories {
    /// Makes files of a patch read-only if they decide what Git runs: configurations and hooks of repositories, including
    /// repositories that the patch itself creates, and files that configurations name. `made` are the files that exist
    /// after the patch.
    pub(crate) fn close_to_patch(&self, confinement: &mut Confinement, files: &[PathBuf], made: &[PathBuf]) {
        let roots: Vec<&PathBuf> =
            confinement.writable.iter().filter(|root| !confinement.temporary.contains(root)).collect();
        let closed = files.iter().filter(|file| roots.iter().any(|root| file.starts_with(root)));
        let closed: Vec<PathBuf> = closed.filter(|file| self.is_control_file(file, made)).cloned().collect();
        confinement.closed.extend(closed);
    }

    fn is_control_file(&self, file: &Path, made: &[PathBuf]) -> bool {
        let around: Vec<&Path> = file.ancestors().skip(1).collect();
        if around.iter().any(|folder| belongs_to_repository(file, folder, made)) {
            return true;
        }
        let itself = [file.to_owned()];
        // A named place counts if it is the file or a folder around it.
        let folders: Vec<PathBuf> = around.iter().map(|folder| (*folder).to_owned()).collect();
        let mut search = Search::new(&self.user, &folders, SearchPhase::Before);
        search.of_user();
        around.iter().for_each(|folder| search.work_tree_at(folder));
        if !search.unreadable().is_empty() {
            return true;
        }
        let names = Names::of(&search.places());
        names.all().any(|named| itself.iter().any(|file| file.starts_with(&named)))
    }
}

/// Returns whether a file is part of what decides what Git runs in a folder that is a repository or becomes one by the
/// patch.
fn belongs_to_repository(file: &Path, folder: &Path, made: &[PathBuf]) -> bool {
    let mut before = Marks::default();
    MARKS.iter().filter(|name| folder.join(name).symlink_metadata().is_ok()).for_each(|name| before.note(name));
    let was_repository = before.are_of_a_repository(folder);
    let mut after = before;
    for name in made.iter().filter_map(|made| first_name(made.strip_prefix(folder).ok()?)) {
        after.note(name.to_str().unwrap_or_default());
    }
    if !after.are_of_a_repository(folder) {
        return false;
    }
    let Ok(below) = file.strip_prefix(folder) else { return false };
    // A folder that the patch completes to a repository may contain a configuration that had no effect before.
    is_control(below) || !was_repository && !Risks::of(folder, |_| true).is_empty()
}

/// Returns whether a path in a repository is that of a configuration or a hook.
fn is_control(below: &Path) -> bool {
    let mut names = below.components().map(Component::as_os_str);
    let is = |name: Option<&OsStr>, known: &str| name.is_some_and(|name| name.eq_ignore_ascii_case(known));
    match (names.next(), names.next(), names.next()) {
        (first, None, None) => first.is_some_and(files::is_control),
        (first, Some(name), None) => {
            is(first, "hooks") && files::is_name_of_hook(name) || is(first, "remotes") || is(first, "branches")
        }
        _ => false,
    }
}

fn first_name(below: &Path) -> Option<&OsStr> {
    below.components().next().map(Component::as_os_str)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::settings::Network;

    #[test]
    fn what_git_runs_is_closed_to_patches() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path").join("work");
        for name in ["bare/objects", "bare/refs", "src/objects", "src/refs", "half/objects", "lib/.git", "sub/x"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        fs::write(root.join("half/config"), "[core]\nfsmonitor = x\n").expect("writes");
        fs::write(root.join("half/HEAD"), "ref: refs/heads/x\n").expect("writes");
        fs::write(root.join("lib/.git/config"), "[core]\nhooksPath = .husky # x\n[include]\npath = ../inc\n")
            .expect("writes");
        let repositories = Repositories::default();
        let closed = |files: &[&str]| {
            let files: Vec<PathBuf> = files.iter().map(|name| root.join(name)).collect();
            let mut confinement = Confinement::new(vec![root.clone()], Network::Closed);
            repositories.close_to_patch(&mut confinement, &files, &files);
            let is_closed = |file: &PathBuf| !confinement.allows_writing_at(file);
            files.iter().filter(|file| is_closed(file)).count()
        };
        for files in [
            &["bare/config"][..],
            &["bare/config.worktree"],
            &["bare/hooks/pre-commit"],
            &["bare/CONFIG"],
            &["bare/commondir"],
            &["src/hooks/pre-commit"],
            &["lib/.husky/pre-commit"],
            &["lib/inc"],
            &["lib/.git/config"],
            &["lib/.GIT/x"],
            // The patch adds the missing part of a repository whose configuration exists already.
            &["half/refs/x"],
        ] {
            assert_eq!(closed(files), files.len(), "{files:?}");
        }
        assert_eq!(closed(&["d/HEAD", "d/objects/x", "d/refs/x", "d/config"]), 1);
        assert_eq!(closed(&["d/worktrees/x/HEAD", "d/worktrees/x/commondir", "d/other"]), 1);
        for files in [
            &["src/hooks/useThings.ts"][..],
            &["src/config.ts", "src/config/index.ts", "src/objects/x.rs", "src/refs/y.rs"],
            &["sub/config", "sub/hooks/pre-commit", "config", "objects/x", "HEAD"],
            &["lib/husky/pre-commit", "lib/include"],
            &["new/objects/x", "new/refs/x"],
        ] {
            assert_eq!(closed(files), 0, "{files:?}");
        }
    }
}
