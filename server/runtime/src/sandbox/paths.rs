//! Paths with their links resolved.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Returns where `/tmp` lies. On some systems it is a link, which is looked at once, before commands run.
pub(super) fn slash_tmp() -> &'static Path {
    static REAL: OnceLock<PathBuf> = OnceLock::new();
    REAL.get_or_init(|| Path::new("/tmp").canonicalize().unwrap_or_else(|_| PathBuf::from("/tmp")))
}

/// Tells whether a path lies in a folder, links resolved. Neither need exist.
pub fn is_inside(path: &Path, folder: &Path) -> bool {
    match (real_path(path), real_path(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Returns a path with the links of its existing part resolved. `None` if it is relative, or climbs out of what does not
/// exist, or cannot be looked at.
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
            // A link to nowhere exists: what is made through it comes to lie elsewhere.
            Err(_) if existing.symlink_metadata().is_ok() => return None,
            Err(_) => {
                let Some(Component::Normal(name)) = existing.components().next_back() else { return None };
                missing.push(name);
                existing = existing.parent()?;
            }
        }
    }
}
