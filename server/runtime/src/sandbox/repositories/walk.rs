//! Finds repositories below open folders.
//!
//! Every folder is looked at, `node_modules` and the inside of other repositories included: Git takes any folder for a repository
//! that has the right names in it, and whoever works there runs what its configuration says. What a folder holds is kept for
//! the next walk for as long as the time of its last change stays the same; nobody but the system sets that time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Identity;

/// Most folders that are looked at for one command, in all open folders together.
pub const MAX_FOLDERS: usize = 64 * 1024;

/// How old the last change of a folder has to be for its content to be kept: another change in the same tick of the system's
/// clock would go unseen.
const SETTLED: Duration = Duration::from_secs(1);

/// What is kept of folders between walks.
#[derive(Debug, Default)]
pub(super) struct Walker {
    known: HashMap<PathBuf, Known>,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    content: Content,
}

/// Which folder it is, and when its content was changed last.
type Stamp = (u64, u64, i64, i64);

/// What is remarkable in a folder.
#[derive(Debug, Default)]
struct Content {
    folders: Vec<OsString>,
    is_repository: bool,
    has_pointer: bool,
}

/// What lies below the open folders.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Folders that Git takes for repositories: `.git`, bare ones, and those of submodules and work trees.
    pub(super) repositories: BTreeMap<PathBuf, Identity>,
    /// Files and links that are called `.git`.
    pub(super) pointers: BTreeMap<PathBuf, Identity>,
    /// Folders directly in open ones, or open ones themselves, that could not be looked through to the end.
    pub(super) unsearched: BTreeSet<PathBuf>,
}

impl Walker {
    /// Looks at all folders below these, those that lie highest first, and at no more than `most`.
    pub(super) fn walk(&mut self, roots: &[PathBuf], most: usize) -> Found {
        let mut found = Found::default();
        let mut seen = HashMap::new();
        let mut queue: VecDeque<(PathBuf, usize)> = roots.iter().map(|root| (root.clone(), 0)).collect();
        while let Some((path, depth)) = queue.pop_front() {
            // Another open folder is looked through by itself.
            if depth > 0 && roots.contains(&path) {
                continue;
            }
            let known = if seen.len() < most { self.look(&path) } else { None };
            let Some(known) = known else {
                // What is gone need not be looked at.
                if path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                    found.unsearched.insert(child_of_root(&path, depth));
                }
                continue;
            };
            let content = &known.content;
            if content.is_repository {
                found.repositories.insert(path.clone(), Identity(known.stamp.0, known.stamp.1));
            }
            if content.has_pointer {
                let pointer = path.join(".git");
                if let Ok(data) = pointer.symlink_metadata() {
                    found.pointers.insert(pointer, Identity(data.dev(), data.ino()));
                }
            }
            queue.extend(content.folders.iter().map(|name| (path.join(name), depth + 1)));
            seen.insert(path, known);
        }
        // Other threads may have other folders, but their walks cost time only.
        self.known = seen;
        found
    }

    fn look(&mut self, path: &Path) -> Option<Known> {
        let data = path.symlink_metadata().ok().filter(Metadata::is_dir)?;
        let stamp = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
        if let Some(known) = self.known.remove(path).filter(|known| known.stamp == stamp) {
            return Some(known);
        }
        let content = read(path)?;
        // A stamp that never comes again keeps nothing.
        let stamp = if is_settled(&data) { stamp } else { (stamp.0, stamp.1, 0, -1) };
        Some(Known { stamp, content })
    }
}

fn is_settled(data: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let settled = now.saturating_sub(SETTLED).as_secs();
    u64::try_from(data.ctime()).is_ok_and(|changed| changed < settled)
}

fn child_of_root(path: &Path, depth: usize) -> PathBuf {
    path.ancestors().nth(depth.saturating_sub(1)).unwrap_or(path).to_owned()
}

fn read(path: &Path) -> Option<Content> {
    let mut content = Content::default();
    let [mut head, mut objects, mut refs, mut common] = [false; 4];
    for entry in std::fs::read_dir(path).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        // Some file systems do not tell capital letters from small ones.
        match name.to_str() {
            Some(name) if name.eq_ignore_ascii_case("HEAD") => head = true,
            Some(name) if name.eq_ignore_ascii_case("objects") => objects = true,
            Some(name) if name.eq_ignore_ascii_case("refs") => refs = true,
            Some(name) if name.eq_ignore_ascii_case("commondir") => common = true,
            _ => {}
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            content.folders.push(name);
        } else if name == ".git" {
            content.has_pointer = true;
        }
    }
    // Git asks for no `HEAD` in the common folder of work trees, and `git init` keeps the configuration and the hooks of a `.git`
    // that lacks the rest.
    let is_named_git = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    content.is_repository = objects && refs || head && common || is_named_git;
    Some(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(paths: impl IntoIterator<Item = PathBuf>, root: &Path) -> Vec<String> {
        paths.into_iter().map(|path| path.strip_prefix(root).expect("inside").display().to_string()).collect()
    }

    #[test]
    fn repositories_are_found_wherever_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for git in ["a/.git", "node_modules/x/.git", "bare.git", "a/.git/modules/s", "src"] {
            for name in ["objects", "refs"] {
                fs::create_dir_all(root.join(git).join(name)).expect("a folder");
            }
            fs::write(root.join(git).join("HEAD"), "ref: refs/heads/main\n").expect("writes");
        }
        fs::create_dir_all(root.join("tree")).expect("a folder");
        fs::write(root.join("tree/HEAD"), "x").expect("writes");
        fs::write(root.join("tree/commondir"), "x").expect("writes");
        fs::write(root.join("tree/.git"), "gitdir: x").expect("writes");
        std::os::unix::fs::symlink("a/.git", root.join("node_modules/.git")).expect("a link");
        fs::create_dir_all(root.join("plain/objects")).expect("a folder");
        fs::create_dir_all(root.join("unfinished/.git")).expect("a folder");
        let mut walker = Walker::default();
        for _ in 0..2 {
            let found = walker.walk(&[root.to_owned()], MAX_FOLDERS);
            assert_eq!(
                names(found.repositories.into_keys(), root),
                ["a/.git", "a/.git/modules/s", "bare.git", "node_modules/x/.git", "src", "tree", "unfinished/.git"]
            );
            assert_eq!(names(found.pointers.into_keys(), root), ["node_modules/.git", "tree/.git"]);
            assert!(found.unsearched.is_empty());
        }
    }

    #[test]
    fn what_is_beyond_the_limit_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["large/a/b/c", "large/a/d", "small/.git"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        let mut walker = Walker::default();
        // The root, its two folders, and those in them.
        let found = walker.walk(&[root.to_owned()], 5);
        assert_eq!(names(found.unsearched, root), ["large"]);
        let found = walker.walk(&[root.to_owned()], 0);
        assert_eq!(names(found.unsearched, root), [""]);
        assert!(walker.walk(&[root.to_owned(), root.join("gone")], 8).unsearched.is_empty());
    }

    #[test]
    fn a_kept_folder_is_looked_at_again_when_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).expect("a folder");
        let mut walker = Walker::default();
        let roots = [root.to_owned()];
        assert!(walker.walk(&roots, MAX_FOLDERS).repositories.is_empty());
        for name in ["objects", "refs", "HEAD"] {
            fs::create_dir(root.join("a/b").join(name)).expect("a folder");
        }
        assert_eq!(walker.walk(&roots, MAX_FOLDERS).repositories.len(), 1);
        fs::remove_dir(root.join("a/b/HEAD")).expect("removes");
        assert_eq!(walker.walk(&roots, MAX_FOLDERS).repositories.len(), 1);
        fs::remove_dir(root.join("a/b/refs")).expect("removes");
        assert!(walker.walk(&roots, MAX_FOLDERS).repositories.is_empty());
    }
}
