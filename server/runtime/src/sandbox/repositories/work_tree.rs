//! Decides whether a work tree that a configuration names (`core.worktree`) belongs to the repository.
//!
//! A checkout writes files of any name and content there. So the folder must be one in which the user expects a checkout of
//! this repository: the folder around it, or one whose `.git` file leads back to it. Folders in repositories and in
//! `.trace` never count.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::names;
use super::walk::{MARKS, Marks};

/// Returns whether `value` of the configuration is a work tree that belongs to the repository, or a missing folder below
/// writable ones. A missing folder is judged again once it exists.
pub(super) fn is_own(repository: &Path, value: &str, is_inside: impl Fn(&Path) -> bool) -> bool {
    let Ok(own) = repository.canonicalize() else { return false };
    let named = own.join(value);
    match named.canonicalize() {
        Ok(real) if lies_in_repository(&real) => false,
        Ok(real) => {
            let is_around = own.parent() == Some(&real) && own.file_name().is_some_and(|name| name == ".git");
            is_around || names::target(&real.join(".git")).is_some_and(|led| led == own)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            missing(&named).is_some_and(|path| is_inside(&path) && !lies_in_repository(&path))
        }
        Err(_) => false,
    }
}

/// Returns the path that a missing folder would have, with symlinks resolved.
fn missing(named: &Path) -> Option<PathBuf> {
    let there = named.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let (above, real) = there?;
    let rest = named.strip_prefix(above).ok()?;
    // The target of a dangling symlink may be created later.
    let first = rest.components().next()?;
    let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && real.join(first).symlink_metadata().is_err()).then(|| real.join(rest))
}

fn lies_in_repository(folder: &Path) -> bool {
    let is_closed =
        |part: Component<'_>| [".git", ".trace"].iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name));
    folder.components().any(is_closed) || folder.ancestors().any(is_complete)
}

/// Returns whether Git accepts a folder as a repository without changes. A source tree may have folders of the same names.
fn is_complete(folder: &Path) -> bool {
    let mut marks = Marks::default();
    MARKS.iter().filter(|name| folder.join(name).symlink_metadata().is_ok()).for_each(|name| marks.note(name));
    marks.head && (marks.objects && marks.refs || marks.common)
}
