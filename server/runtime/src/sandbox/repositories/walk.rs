//! Finds repositories below writable folders.
//!
//! Every folder is visited, including `node_modules` and the inside of other repositories: Git treats any folder as a
//! repository that has the right names in it, and a user who runs Git there runs what its configuration names. The content
//! of a folder is cached for the next walk as long as its change time stays the same; only the kernel can set that time.
//!
//! A walk has a limit of folders and of time. It is breadth-first, so the deepest folders are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::identity::Identity;
use crate::sandbox::place;

/// Most folders that are visited in one writable folder before a command starts.
pub const MAX_FOLDERS: usize = 256 * 1024;

/// Most folders that are visited in one writable folder after a command. It is larger than [`MAX_FOLDERS`] because the
/// command may have created many.
pub const MAX_FOLDERS_AFTER: usize = 4 * 1024 * 1024;

/// Longest walk before a command starts.
pub const MAX_SEARCH: Duration = Duration::from_secs(5);

/// Longest walk after a command has ended.
pub const MAX_SEARCH_AFTER: Duration = Duration::from_secs(30);

/// Most folders whose content is cached between walks, for all sets of writable folders together.
const MAX_KEPT: usize = 512 * 1024;

/// Minimum age of the last change of a folder whose content is cached. Another change in the same tick of the kernel clock
/// would not be noticed.
const SETTLED: Duration = Duration::from_secs(1);

/// Number of folders that are visited between two checks of the time.
const BATCH: usize = 2048;

/// Fewest folders that are visited by several threads. A folder takes about 4 microseconds, so with fewer folders the
/// threads cost more than they save.
const MIN_PARALLEL: usize = 1024;

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Most folders in each writable folder.
    pub(super) folders: usize,
    /// Longest time.
    pub(super) time: Duration,
}

/// Limits before a command starts.
pub(super) const BEFORE: Bounds = Bounds { folders: MAX_FOLDERS, time: MAX_SEARCH };

/// Limits after a command has ended.
pub(super) const AFTER: Bounds = Bounds { folders: MAX_FOLDERS_AFTER, time: MAX_SEARCH_AFTER };

/// What a walk does with folders that their owner may not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlistable {
    /// Leaves them unchanged.
    Leave,
    /// Restores the permission of the owner: the command that just ended may have removed it to hide something.
    RestorePermissions,
}

/// Why a folder was not searched completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsearched {
    /// The user may not list it, or its path is too long.
    Unlistable,
    /// The limit of folders was reached.
    TooMany,
    /// The limit of time was reached.
    TooLong,
    /// A Git configuration that applies to the folder cannot be read, so it is unknown what it names.
    Unreadable,
}

/// The cache of folders between walks.
#[derive(Debug, Default)]
pub(super) struct Walker {
    /// The cached content by sets of writable folders. The set that was walked last is at the end.
    kept: VecDeque<(Vec<PathBuf>, HashMap<PathBuf, Known>)>,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    identity: Identity,
    content: Content,
}

/// Identity of a folder (device and inode) and its change time.
type Stamp = (u64, u64, i64, i64);

/// The relevant content of a folder.
#[derive(Debug, Default)]
struct Content {
    folders: Vec<OsString>,
    is_repository: bool,
    has_pointer: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Folders that Git treats as repositories: `.git`, bare repositories, and those of submodules and work trees.
    pub(super) repositories: BTreeMap<PathBuf, Identity>,
    /// Files and symlinks named `.git`.
    pub(super) pointers: BTreeMap<PathBuf, Identity>,
    /// Folders that were not searched completely: folders that cannot be listed, and, for folders left out because of a
    /// limit, their ancestor directly in a writable folder or the writable folder itself.
    pub(super) unsearched: BTreeMap<PathBuf, Unsearched>,
}

/// A folder to be visited.
struct Next {
    path: PathBuf,
    root: usize,
    depth: usize,
}

/// Result of visiting a folder.
enum Visit {
    /// The folder was deleted or is not a folder.
    Gone,
    /// The folder has not changed since the last visit.
    RecordContent,
    Read(Known),
    /// The folder cannot be listed. Only the names that Git looks for were checked.
    Unlisted(Known),
}

impl Walker {
    /// Visits all folders below these except some, breadth-first.
    pub(super) fn walk(
        &mut self,
        roots: &[PathBuf],
        bounds: Bounds,
        unlistable: Unlistable,
        skip: &BTreeSet<PathBuf>,
    ) -> Found {
        let until = Instant::now() + bounds.time;
        let mut known = self.take(roots);
        let is_first = |number: usize, path: &PathBuf| roots[..number].iter().all(|other| other != path);
        let mut found = Found::default();
        let mut seen = HashMap::with_capacity(known.len());
        let mut counts = vec![0; roots.len()];
        let mut level: Vec<Next> = roots
            .iter()
            .enumerate()
            .filter(|(root, path)| is_first(*root, path))
            .map(|(root, path)| Next { path: path.clone(), root, depth: 0 })
            .collect();
        while !level.is_empty() {
            let mut below = Vec::new();
            let mut rest = level.into_iter().peekable();
            while rest.peek().is_some() {
                let mut batch = Vec::with_capacity(BATCH);
                let is_late = Instant::now() >= until;
                for next in rest.by_ref().take(BATCH) {
                    if skip.contains(&next.path) {
                        continue;
                    }
                    if is_late || counts[next.root] >= bounds.folders {
                        let why = if is_late { Unsearched::TooLong } else { Unsearched::TooMany };
                        found.unsearched.entry(child_of_root(&next.path, next.depth)).or_insert(why);
                    } else {
                        counts[next.root] += 1;
                        batch.push(next);
                    }
                }
                let visits: Vec<Visit> = if batch.len() < MIN_PARALLEL {
                    batch.iter().map(|next| visit(&known, &next.path, unlistable)).collect()
                } else {
                    (&batch).into_par_iter().map(|next| visit(&known, &next.path, unlistable)).collect()
                };
                for (next, visit) in batch.into_iter().zip(visits) {
                    let (path, folder) = match visit {
                        Visit::Gone => continue,
                        // Each path is visited once.
                        Visit::RecordContent => match known.remove_entry(&next.path) {
                            Some(kept) => kept,
                            None => continue,
                        },
                        Visit::Read(folder) => (next.path, folder),
                        Visit::Unlisted(folder) => {
                            found.unsearched.insert(next.path.clone(), Unsearched::Unlistable);
                            (next.path, folder)
                        }
                    };
                    found.add(&path, &folder);
                    let folders = folder.content.folders.iter().map(|name| path.join(name));
                    // Another writable folder is walked separately.
                    let folders = folders.filter(|path| !roots.contains(path));
                    below.extend(folders.map(|path| Next { path, root: next.root, depth: next.depth + 1 }));
                    if seen.len() < MAX_KEPT {
                        seen.insert(path, folder);
                    }
                }
            }
            level = below;
        }
        self.keep(roots, seen);
        found
    }

    fn take(&mut self, roots: &[PathBuf]) -> HashMap<PathBuf, Known> {
        let at = self.kept.iter().position(|(known, _)| known == roots);
        at.and_then(|at| self.kept.remove(at)).map(|(_, known)| known).unwrap_or_default()
    }

    fn keep(&mut self, roots: &[PathBuf], seen: HashMap<PathBuf, Known>) {
        self.kept.push_back((roots.to_vec(), seen));
        while self.kept.len() > 1 && self.kept.iter().map(|(_, known)| known.len()).sum::<usize>() > MAX_KEPT {
            self.kept.pop_front();
        }
    }
}

impl Found {
    fn add(&mut self, path: &Path, folder: &Known) {
        if folder.content.is_repository {
            self.repositories.insert(path.to_owned(), folder.identity);
        }
        if folder.content.has_pointer {
            let pointer = path.join(".git");
            if let Ok(data) = pointer.symlink_metadata() {
                let identity = Identity::of(&data);
                self.pointers.insert(pointer, identity);
            }
        }
    }

    /// Returns whether a limit was reached. Folders that cannot be listed do not count.
    pub(super) fn is_cut_short(&self) -> bool {
        self.unsearched.values().any(|why| matches!(why, Unsearched::TooMany | Unsearched::TooLong))
    }

    /// Records a work tree, or the writable folders in it, as not searched.
    pub(super) fn close_work_tree(&mut self, work_tree: &Path, roots: &[PathBuf]) {
        let is_inside = roots.iter().any(|root| work_tree.starts_with(root));
        let inner = roots.iter().map(PathBuf::as_path).filter(|root| !is_inside && root.starts_with(work_tree));
        let closed = is_inside.then_some(work_tree).into_iter().chain(inner);
        self.unsearched.extend(closed.map(|path| (path.to_owned(), Unsearched::Unreadable)));
    }
}

fn visit(known: &HashMap<PathBuf, Known>, path: &Path, unlistable: Unlistable) -> Visit {
    let data = match path.symlink_metadata() {
        Ok(data) if data.is_dir() => data,
        Err(error) if !is_gone(&error) => {
            let (stamp, identity) = ((0, 0, 0, -1), Identity::default());
            return Visit::Unlisted(Known { stamp, identity, content: Content::default() });
        }
        _ => return Visit::Gone,
    };
    let stamp = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
    if known.get(path).is_some_and(|known| known.stamp == stamp) {
        return Visit::RecordContent;
    }
    // A stamp that never occurs, so that the content is not reused.
    let never = (stamp.0, stamp.1, 0, -1);
    let identity = Identity::of(&data);
    match read(path) {
        Ok(content) => Visit::Read(Known { stamp: if is_settled(&data) { stamp } else { never }, identity, content }),
        Err(error) if is_gone(&error) => Visit::Gone,
        Err(error) => {
            let is_forbidden = error.kind() == ErrorKind::PermissionDenied;
            if is_forbidden && unlistable == Unlistable::RestorePermissions && restore_permissions(path, &data).is_ok()
            {
                tracing::info!(folder = %path.display(), "a folder that its owner could not list has the usual rights again");
                if let Ok(content) = read(path) {
                    return Visit::Read(Known { stamp: never, identity, content });
                }
            }
            Visit::Unlisted(Known { stamp: never, identity, content: probe(path) })
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Restores the permissions of the owner of a folder. Does not follow a symlink.
fn restore_permissions(path: &Path, data: &Metadata) -> io::Result<()> {
    let held = place::Folder::open_existing(path)?;
    std::fs::set_permissions(held.at(Path::new("")), PermissionsExt::from_mode(data.mode() & 0o7777 | 0o700))
}

fn is_settled(data: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let settled = now.saturating_sub(SETTLED).as_secs();
    u64::try_from(data.ctime()).is_ok_and(|changed| changed < settled)
}

fn child_of_root(path: &Path, depth: usize) -> PathBuf {
    path.ancestors().nth(depth.saturating_sub(1)).unwrap_or(path).to_owned()
}

/// The names by which Git recognises a repository.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) head: bool,
    pub(super) objects: bool,
    pub(super) refs: bool,
    pub(super) common: bool,
    /// A configuration or hooks, which `git init` keeps.
    pub(super) settings: bool,
    /// A `.git` entry: the folder is a work tree.
    pub(super) git: bool,
}

impl Marks {
    /// Records a name in a folder. Some file systems do not distinguish upper case from lower case.
    pub(super) fn note(&mut self, name: &str) {
        match name {
            name if name.eq_ignore_ascii_case("HEAD") => self.head = true,
            name if name.eq_ignore_ascii_case("objects") => self.objects = true,
            name if name.eq_ignore_ascii_case("refs") => self.refs = true,
            name if name.eq_ignore_ascii_case("commondir") => self.common = true,
            name if ["config", "hooks"].iter().any(|known| name.eq_ignore_ascii_case(known)) => self.settings = true,
            name if name.eq_ignore_ascii_case(".git") => self.git = true,
            _ => {}
        }
    }

    /// Returns whether Git treats a folder with these names as a repository. The common folder of work trees needs no
    /// `HEAD`, and `git init` keeps the configuration and hooks of an incomplete `.git` or `NAME.git`.
    pub(super) fn are_of_a_repository(&self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_ascii_lowercase();
        let is_bare = name.as_encoded_bytes().ends_with(b".git") && self.settings && !self.git;
        self.objects && self.refs || self.head && self.common || name == ".git" || is_bare
    }
}

/// The names that [`Marks`] records.
pub(super) const MARKS: [&str; 7] = ["HEAD", "objects", "refs", "commondir", "config", "hooks", ".git"];

fn read(path: &Path) -> io::Result<Content> {
    let mut content = Content::default();
    let mut marks = Marks::default();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        marks.note(name.to_str().unwrap_or_default());
        if entry.file_type()?.is_dir() {
            content.folders.push(name);
        } else if name.eq_ignore_ascii_case(".git") {
            content.has_pointer = true;
        }
    }
    content.is_repository = marks.are_of_a_repository(path);
    Ok(content)
}

/// Checks a folder that cannot be listed for the names that Git looks for.
fn probe(path: &Path) -> Content {
    let mut content = Content::default();
    let mut marks = Marks::default();
    for name in MARKS.iter().filter(|name| path.join(name).symlink_metadata().is_ok()) {
        marks.note(name);
    }
    match path.join(".git").symlink_metadata() {
        Ok(data) if data.is_dir() => content.folders.push(".git".into()),
        Ok(_) => content.has_pointer = true,
        Err(_) => {}
    }
    content.is_repository = marks.are_of_a_repository(path);
    content
}

/// Drops the capabilities that let root list every folder, for the thread of a test.
#[cfg(test)]
pub(super) fn without_roots_rights() {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

        let has = capabilities(None).expect("they can be read");
        let kept = has.effective - CapabilitySet::DAC_OVERRIDE - CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, CapabilitySets { effective: kept, ..has }).expect("they can be given up");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, root: &Path) -> Vec<String> {
        paths.into_iter().map(|path| path.strip_prefix(root).expect("inside").display().to_string()).collect()
    }

    fn walk(walker: &mut Walker, roots: &[PathBuf]) -> Found {
        walker.walk(roots, BEFORE, Unlistable::Leave, &BTreeSet::new())
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
        // `git init --bare` keeps it. A work tree may have such a name.
        fs::create_dir_all(root.join("y.git/hooks")).expect("a folder");
        fs::create_dir_all(root.join("z.git/.git")).expect("a folder");
        fs::create_dir_all(root.join("z.git/config")).expect("a folder");
        let mut walker = Walker::default();
        for _ in 0..2 {
            let found = walk(&mut walker, &[root.to_owned()]);
            assert_eq!(
                names(found.repositories.keys(), root),
                [
                    "a/.git",
                    "a/.git/modules/s",
                    "bare.git",
                    "node_modules/x/.git",
                    "src",
                    "tree",
                    "unfinished/.git",
                    "y.git",
                    "z.git/.git"
                ]
            );
            assert_eq!(names(found.pointers.keys(), root), ["node_modules/.git", "tree/.git"]);
            assert!(found.unsearched.is_empty());
        }
    }

    #[test]
    fn what_is_beyond_a_bound_is_told_for_each_open_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["one/large/a/b/c", "one/large/a/d", "one/small/.git", "two/.git"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        let (one, two) = (root.join("one"), root.join("two"));
        let roots = [one.clone(), two.clone()];
        let mut walker = Walker::default();
        let mut unsearched = |folders, time| {
            let found = walker.walk(&roots, Bounds { folders, time }, Unlistable::Leave, &BTreeSet::new());
            assert_eq!(found.is_cut_short(), !found.unsearched.is_empty());
            found.unsearched
        };
        // The root, its two folders, and the folders in those.
        assert_eq!(unsearched(5, MAX_SEARCH), BTreeMap::from([(one.join("large"), Unsearched::TooMany)]));
        for (bound, why) in [((0, MAX_SEARCH), Unsearched::TooMany), ((8, Duration::ZERO), Unsearched::TooLong)] {
            let all = BTreeMap::from([(one.clone(), why), (two.clone(), why)]);
            assert_eq!(unsearched(bound.0, bound.1), all);
        }
        assert!(unsearched(8, MAX_SEARCH).is_empty());
        assert!(walk(&mut walker, &[root.join("gone")]).unsearched.is_empty());
    }

    #[test]
    fn a_folder_that_is_named_twice_is_looked_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = ["a", "b", "a"].map(|name| folder.path().join(name));
        for root in &roots {
            fs::create_dir_all(root.join(".git")).expect("a folder");
        }
        let mut walker = Walker::default();
        std::thread::sleep(SETTLED * 2);
        for _ in 0..2 {
            assert_eq!(walk(&mut walker, &roots).repositories.len(), 2);
        }
    }

    #[test]
    fn what_cannot_be_listed_is_asked_for_repositories_and_gets_its_rights_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("work");
        for name in ["x/.git/objects", "x/.git/refs", "y/objects", "y/refs/deep/.git"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        without_roots_rights();
        for name in ["x/.git", "x", "y"] {
            fs::set_permissions(root.join(name), PermissionsExt::from_mode(0o311)).expect("a mode");
        }
        let mut walker = Walker::default();
        let found = walk(&mut walker, std::slice::from_ref(&root));
        assert_eq!(names(found.repositories.keys(), &root), ["x/.git", "y"]);
        assert_eq!(names(found.unsearched.keys(), &root), ["x", "x/.git", "y"]);
        assert!(!found.is_cut_short());
        let found = walker.walk(std::slice::from_ref(&root), AFTER, Unlistable::RestorePermissions, &BTreeSet::new());
        assert_eq!(names(found.repositories.keys(), &root), ["x/.git", "y", "y/refs/deep/.git"]);
        assert!(found.unsearched.is_empty());
    }

    #[test]
    fn a_kept_folder_is_looked_at_again_when_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).expect("a folder");
        let mut walker = Walker::default();
        let roots = [root.to_owned()];
        assert!(walk(&mut walker, &roots).repositories.is_empty());
        for name in ["objects", "refs", "HEAD"] {
            fs::create_dir(root.join("a/b").join(name)).expect("a folder");
        }
        assert_eq!(walk(&mut walker, &roots).repositories.len(), 1);
        fs::remove_dir(root.join("a/b/HEAD")).expect("removes");
        assert_eq!(walk(&mut walker, &roots).repositories.len(), 1);
        fs::remove_dir(root.join("a/b/refs")).expect("removes");
        assert!(walk(&mut walker, &roots).repositories.is_empty());
    }

    #[test]
    fn folders_are_kept_for_several_sets_of_open_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let sets: Vec<[PathBuf; 1]> = ["a", "b", "c"].iter().map(|name| [folder.path().join(name)]).collect();
        let mut walker = Walker::default();
        for roots in &sets {
            fs::create_dir(&roots[0]).expect("a folder");
            walk(&mut walker, roots);
        }
        assert_eq!(walker.kept.len(), 3);
        walker.kept[0].1.extend((0..MAX_KEPT).map(|number| {
            let (stamp, identity, content) = ((0, 0, 0, 0), Identity::default(), Content::default());
            (PathBuf::from(number.to_string()), Known { stamp, identity, content })
        }));
        walk(&mut walker, &sets[1]);
        let left: Vec<&Vec<PathBuf>> = walker.kept.iter().map(|(roots, _)| roots).collect();
        assert_eq!(left, [&sets[2], &sets[1]]);
    }
}
