//! Finds out whether commands could have put something at a path.
//!
//! A program that starts without a sandbox must not lie where a command could have left it. A path is safe if every folder
//! in which one of its components is looked up, symlinks included, is not writable for commands. Folders are compared by
//! path and by identity, so that a second mount of a writable folder is recognised.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::paths::real_path;

/// Most symlinks that are followed on the way to one file. It is the limit of the kernel.
const MAX_LINKS: usize = 40;

/// Folders that are or were writable for commands.
#[derive(Debug, Clone, Default)]
pub struct WritableFolders {
    folders: Vec<PathBuf>,
    identities: HashSet<(u64, u64)>,
}

impl WritableFolders {
    /// Returns the set of these folders, with their real paths added.
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

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns the folders as they were named, and their real paths.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the writable folder through which a command could have replaced the target of an absolute path, or a symlink
    /// or folder on the way. `None` if there is none. Folders in `trusted` count as not writable.
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
            // Trusting a folder includes trusting that its path leads to it.
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

    /// Returns the writable folder that contains a place or lies in it. `None` if there is none. Folders in `trusted` count
    /// as not writable.
    pub fn touching(&self, place: &Path, trusted: &[PathBuf]) -> Option<PathBuf> {
        self.on_the_way(place, trusted).or_else(|| {
            let real = real_path(place)?;
            let inside = self.folders.iter().find(|folder| folder.starts_with(&real) && !is_in(folder, trusted));
            inside.cloned()
        })
    }

    /// Returns the writable folder that contains `real` or is equal to it. `real` has no symlinks.
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

/// Returns the names of a path in their order, `..` among them.
pub(super) fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
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
            // The symlink itself can be replaced, whatever it leads to now.
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
        // A symlink in place of the trusted folder is not trusted.
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
