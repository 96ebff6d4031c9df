//! Finds and removes what interrupted deletions left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::hidden::{PRUNED_PREFIX, remove};

/// Finds what interrupted deletions left in a directory: entries with the hidden names that `delete`
/// gives to bundles.
///
/// # Errors
///
/// Returns the I/O error of listing the directory.
pub fn find_leftovers(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let is_named_so = entry.file_name().as_encoded_bytes().starts_with(PRUNED_PREFIX.as_bytes());
        if is_named_so && !entry.file_type()?.is_symlink() {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Removes what an interrupted deletion left.
///
/// # Errors
///
/// Returns an error if [`find_leftovers`] would not return `path`, or if it cannot be removed.
pub fn delete_leftover(path: &Path) -> io::Result<()> {
    let is_named_so =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PRUNED_PREFIX.as_bytes()));
    if !is_named_so || fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::other("not a leftover of a deletion"));
    }
    remove(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::delete;
    use crate::retention::support::bundle;

    #[test]
    fn what_was_cut_off_is_found_again() {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join(".pruned-a")).expect("creates");
        let path = bundle(root.path(), "a");
        assert_eq!(find_leftovers(root.path()).expect("lists"), [root.path().join(".pruned-a")]);
        delete(&path).expect("deletes beside the leftover");
        delete_leftover(&root.path().join(".pruned-a")).expect("deletes");
        delete_leftover(root.path()).expect_err("no leftover");
        assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 0);
    }
}
