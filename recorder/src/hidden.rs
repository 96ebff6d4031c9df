//! The hidden names that bundles have while they are deleted.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of the names that bundles have while they are deleted.
pub const PRUNED_PREFIX: &str = ".pruned-";

/// Most leftovers with the same name. A further deletion of a bundle with this name fails.
pub(crate) const MAX_LEFTOVERS: u32 = 1000;

/// Returns an unused hidden name beside `path`.
pub(crate) fn hidden_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("a path without a name"))?;
    for number in 0..MAX_LEFTOVERS {
        let mut hidden = OsString::from(PRUNED_PREFIX);
        hidden.push(name);
        if number > 0 {
            hidden.push(format!("-{number}"));
        }
        let hidden = path.with_file_name(hidden);
        match fs::symlink_metadata(&hidden) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(hidden),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::Error::other("too many leftovers of earlier deletions"))
}

/// Removes a bundle or the rest of one. Symlinks in it are removed, never followed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
