//! Walks the files below several folders.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

/// Most files and folders that one search visits.
pub const MAX_SEARCHED_FILES: usize = 200_000;

/// A folder to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// The path as the client wrote it.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// A file or folder below a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Index of the root.
    pub(super) root: usize,
    /// The path relative to the root.
    pub(super) path: Box<str>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// Visits the files and folders below the roots, until the limit is reached or `stop` is cancelled. It visits hidden
/// files, but not ignored files and `.git` folders. Files and folders that cannot be read are skipped.
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
            // Even with this filter, the walker would open the target of a `.git` file before it calls the filter.
            .git_exclude(false)
            // The walker reads the ignore files of parent folders if any of these options is on, so all have the same
            // value.
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

/// Files that list what is ignored in their folder. The walker reads them when it visits the folder.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Returns whether the ignore files of a folder are regular files. Reading a pipe of that name would block forever, so
/// a folder with one is skipped.
fn has_plain_ignore_files(folder: &Path) -> bool {
    IGNORE_FILES.iter().all(|name| {
        std::fs::metadata(folder.join(name)).map_or(true, |metadata| metadata.is_file() || metadata.is_dir())
    })
}

/// Returns a path relative to its root, or `None` for the root itself.
fn relative(path: &Path, root: &Path) -> Option<Box<str>> {
    let path = path.strip_prefix(root).ok()?;
    (!path.as_os_str().is_empty()).then(|| path.to_string_lossy().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_pipe_as_ignore_file_is_skipped() {
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
