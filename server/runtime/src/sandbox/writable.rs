//! Whether commands could have put something at a path.
//!
//! What starts without a sandbox must not be found where a command could have left it. A path is safe if every folder in which
//! one of its names is looked up, links included, is closed to commands. Folders are compared by path and by identity, so that a
//! second mount of an open folder is recognised.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::paths::real_path;

/// Links that are followed on the way to one file. The system gives up after as many.
const MAX_LINKS: usize = 40;

/// Folders that commands may write to, or could write to before.
#[derive(Debug, Clone, Default)]
pub struct WritableFolders {
    folders: Vec<PathBuf>,
    identities: HashSet<(u64, u64)>,
}

impl WritableFolders {
    /// Returns these folders, by the given paths and by where they lead now.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut all = Vec::new();
        let mut identities = HashSet::new();
        for folder in folders {
            identities.extend(folder.metadata().ok().filter(Metadata::is_dir).as_ref().map(identity));
            all.extend(folder.canonicalize().ok().filter(|real| *real != folder));
            all.push(folder);
        }
        Self { folders: all, identities }
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns the folders by their names, and by where they lead.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the open folder in which a command could have replaced what an absolute path leads to, or a link or a folder on the
    /// way; `None` if there is none. Folders in `trusted` count as closed.
    pub fn on_the_way(&self, path: &Path, trusted: &[PathBuf]) -> Option<PathBuf> {
        if self.is_empty() {
            return None;
        }
        let mut real = PathBuf::from("/");
        let mut parts: VecDeque<OsString> = names(path).collect();
        let mut links = 0;
        while let Some(part) = parts.pop_front() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            // Who trusts a folder trusts that its name leads to it.
            let leads_to_trusted = || trusted.iter().any(|trusted| trusted.starts_with(&next));
            if let Some(folder) = self.holding(&real, trusted).filter(|_| !leads_to_trusted()) {
                return Some(folder);
            }
            let Ok(target) = std::fs::read_link(&next) else {
                real.push(part);
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            for name in names(&target).rev() {
                parts.push_front(name);
            }
        }
        self.holding(&real, trusted)
    }

    /// Returns the open folder that holds a place or lies in it; `None` if there is none. Folders in `trusted` count as closed.
    pub fn touching(&self, place: &Path, trusted: &[PathBuf]) -> Option<PathBuf> {
        self.on_the_way(place, trusted).or_else(|| {
            let real = real_path(place)?;
            let inside = self.folders.iter().find(|folder| folder.starts_with(&real) && !is_in(folder, trusted));
            inside.cloned()
        })
    }

    /// Returns the open folder that a folder without links is or lies in.
    fn holding(&self, real: &Path, trusted: &[PathBuf]) -> Option<PathBuf> {
        if is_in(real, trusted) {
            return None;
        }
        if let Some(folder) = self.folders.iter().find(|folder| real.starts_with(folder)) {
            return Some(folder.clone());
        }
        let is_known = real.metadata().is_ok_and(|metadata| self.identities.contains(&identity(&metadata)));
        is_known.then(|| real.to_owned())
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_folder_on_the_way_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["open/deep", "closed/deep", "trusted", "open/mine"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        symlink(at("open/deep"), at("closed/into")).expect("a link");
        symlink(at("closed/deep"), at("open/out")).expect("a link");
        symlink("../open/deep/x", at("closed/file")).expect("a link");
        symlink("round", at("closed/round")).expect("a link");
        symlink(at("open"), at("alias")).expect("a link");
        let writable = WritableFolders::new([at("alias")]);
        for (path, is_found) in [
            ("closed/deep/x", false),
            ("closed/missing/x", false),
            ("open", true),
            ("open/missing", true),
            ("alias/x", true),
            ("closed/into", true),
            ("closed/into/x", true),
            ("closed/file", true),
            // The link itself can be replaced, whatever it leads to now.
            ("open/out", true),
            ("open/../closed/x", false),
            ("closed/../open/x", true),
            ("closed/round", false),
            ("opening", false),
        ] {
            assert_eq!(writable.on_the_way(&at(path), &[]).is_some(), is_found, "{path}");
        }
        let trusted = [at("open/mine")];
        assert_eq!(writable.on_the_way(&at("open/mine/x"), &trusted), None);
        assert_eq!(writable.on_the_way(&at("open/deep/x"), &trusted), Some(at("open")));
        assert_eq!(writable.on_the_way(&at("open"), &trusted), Some(at("open")));
        // A link in the place of the trusted folder opens nothing else.
        fs::remove_dir(at("open/mine")).expect("a folder");
        symlink(at("open/deep"), at("open/mine")).expect("a link");
        assert_eq!(writable.on_the_way(&at("open/mine/x"), &trusted), Some(at("open")));
        assert!(WritableFolders::default().on_the_way(&at("open"), &[]).is_none());
    }

    #[test]
    fn a_place_is_touched_by_what_lies_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir_all(at("home/.npm/_npx")).expect("a folder");
        symlink(at("home/.npm"), at("home/.cache")).expect("a link");
        let writable = WritableFolders::new([at("home/.npm/_npx")]);
        for (path, is_found) in [
            ("home/.npm", true),
            ("home/.npm/_npx/1", true),
            ("home/.cache", true),
            ("home/.npmrc", false),
            ("home/.npm/_cacache", false),
        ] {
            assert_eq!(writable.touching(&at(path), &[]).is_some(), is_found, "{path}");
        }
    }
}
