//! The files below some folders.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

/// The most files and folders that one search looks at.
pub const MAX_SEARCHED_FILES: usize = 200_000;

/// A folder that is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// As the client calls it.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// A file or folder below a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Which root.
    pub(super) root: usize,
    /// From there.
    pub(super) path: Box<str>,
    pub(super) kind: Kind,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// Visits what is below the roots, until there are too many or somebody stops it. Hidden files are among them; what a
/// repository ignores and what git keeps for itself is not. What cannot be read is passed over.
pub(super) fn walk(roots: &[Root], stop: &CancellationToken, mut visit: impl FnMut(Found)) {
    let mut room = MAX_SEARCHED_FILES;
    for (index, root) in roots.iter().enumerate() {
        if !has_plain_ignore_files(&root.path) {
            continue;
        }
        let is_plain_above = root.path.ancestors().skip(1).all(has_plain_ignore_files);
        let walker = WalkBuilder::new(&root.path)
            .hidden(false)
            .follow_links(false)
            // The walker opens what a `.git` names before it asks whether the folder is to be looked at.
            .git_exclude(false)
            // Those of the folders above are read as soon as any are.
            .parents(is_plain_above)
            .ignore(is_plain_above)
            .git_ignore(is_plain_above)
            .git_global(is_plain_above)
            .filter_entry(|entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                entry.file_name() != ".git" && (!is_folder || has_plain_ignore_files(entry.path()))
            })
            .build();
        for entry in walker {
            if stop.is_cancelled() || room == 0 {
                return;
            }
            let Ok(entry) = entry else { continue };
            let Some(path) = relative(entry.path(), &root.path) else { continue };
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            visit(Found { root: index, path, kind: if is_folder { Kind::Folder } else { Kind::File } });
            room -= 1;
        }
    }
}

/// Files of a folder that say what is ignored in it, and are read when it is looked at.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Says whether the files that say what is ignored in a folder are files. A pipe of that name would be waited for, for ever; a
/// folder with one is passed over.
fn has_plain_ignore_files(folder: &Path) -> bool {
    IGNORE_FILES.iter().all(|name| {
        std::fs::metadata(folder.join(name)).map_or(true, |metadata| metadata.is_file() || metadata.is_dir())
    })
}

/// Returns a path from its root; `None` for the root itself.
fn relative(path: &Path, root: &Path) -> Option<Box<str>> {
    let path = path.strip_prefix(root).ok()?;
    (!path.as_os_str().is_empty()).then(|| path.to_string_lossy().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_an_ignore_file_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let make_pipe = |name: &str| {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("the file system works");
            let made = std::process::Command::new("mkfifo").arg(at(name)).status().expect("the program runs");
            assert!(made.success());
        };
        for name in ["good/file", "a/file", "b/file", "c/file"] {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("the file system works");
            std::fs::write(at(name), "").expect("the file system works");
        }
        for name in ["a/.gitignore", "b/.ignore", "c/.git/info/exclude", "d/common/commondir"] {
            make_pipe(name);
        }
        std::fs::write(at("d/.git"), "gitdir: common\n").expect("the file system works");
        let found = |path: PathBuf| {
            let mut found = Vec::new();
            let roots = [Root { name: "root".to_owned(), path }];
            walk(&roots, &CancellationToken::new(), |file| found.push(file.path.into_string()));
            found.sort();
            found
        };
        assert_eq!(
            found(folder.path().to_owned()),
            ["c", "c/file", "d", "d/common", "d/common/commondir", "good", "good/file"]
        );
        assert_eq!(found(at("a")), [""; 0]);
        make_pipe(".gitignore");
        assert_eq!(found(at("good")), ["file"], "that of a folder above is not read");
    }
}
