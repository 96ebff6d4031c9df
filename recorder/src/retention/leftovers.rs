//! What deletions that were cut off left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::delete::{PRUNED_PREFIX, remove};

/// Finds what deletions that were cut off left beside the bundles of a folder: entries of `directory` with a hidden name
/// that look like bundles, or like what is left of one.
///
/// # Errors
///
/// Returns the I/O error of listing the folder.
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

/// Deletes what a deletion left that was cut off.
///
/// # Errors
///
/// Returns an error for a path that [`find_leftovers`] would not find, or that cannot be removed.
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
