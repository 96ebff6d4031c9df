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
        let walker = WalkBuilder::new(&root.path)
            .hidden(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_name() != ".git")
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

/// Returns a path from its root; `None` for the root itself.
fn relative(path: &Path, root: &Path) -> Option<Box<str>> {
    let path = path.strip_prefix(root).ok()?;
    (!path.as_os_str().is_empty()).then(|| path.to_string_lossy().into())
}
