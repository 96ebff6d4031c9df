//! Resolves symlinks in paths.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Returns the real path of `/tmp`, which is a symlink on some systems. It is resolved once, before any command runs.
pub(super) fn slash_tmp() -> &'static Path {
    static REAL: OnceLock<PathBuf> = OnceLock::new();
    REAL.get_or_init(|| Path::new("/tmp").canonicalize().unwrap_or_else(|_| PathBuf::from("/tmp")))
}

/// Returns whether a path lies in a folder after resolving symlinks. Neither needs to exist.
pub fn is_inside(path: &Path, folder: &Path) -> bool {
    match (real_path(path), real_path(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Returns a path with the symlinks in its existing part resolved. `None` if the path is relative, has a `..` in the part
/// that does not exist, or cannot be read.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Some(real);
            }
            // A dangling symlink exists: a file created through it would lie elsewhere.
            Err(_) if existing.symlink_metadata().is_ok() => return None,
            Err(_) => {
                let Some(Component::Normal(name)) = existing.components().next_back() else { return None };
                missing.push(name);
                existing = existing.parent()?;
            }
        }
    }
}
