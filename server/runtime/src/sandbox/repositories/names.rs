//! Files and folders of open folders that Git reads or runs since a configuration names them: included configurations, folders of
//! hooks, programs, and what hooks lead to as links.
//!
//! A configuration counts wherever it lies: that of the user, and that of a repository outside of the open folders one of whose work
//! trees lies in them. Conditions of `includeIf` are taken for fulfilled.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::config::{self, Named};
use super::pairs;
use super::report::Report;
use super::risks::{self, CONFIGURATIONS, FileState};
use crate::sandbox::git_file;

/// How deep configurations include one another. Git reads as many.
const MAX_DEPTH: usize = 10;

/// Most configurations that one includes directly.
const MAX_INCLUDED: usize = 64;

/// Most links that are followed on the way to one path. Linux follows as many.
const MAX_LINKS: usize = 40;

/// Most entries of a folder of hooks that are compared.
const MAX_ENTRIES: usize = 1024;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A folder on the way to something else: only a link in its place leads Git elsewhere.
    Way,
    /// A word of a command, which may be a file or a folder.
    Word,
    File,
    Hooks,
}

/// What is taken note of when a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noting {
    All,
    Nothing,
}

/// What is named and lies in open folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Names {
    #[serde(with = "pairs")]
    states: BTreeMap<OsString, State>,
}

/// What lies at a place that is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Missing,
    /// Anything but a link, on the way to something else.
    Way,
    /// A folder or nothing where a word of a command names something: a file or a link may be run.
    NoFile,
    /// A link, whatever it leads to. Nothing can be mounted over it.
    Link(FileState),
    /// A file, or anything else but a link and a folder.
    File(FileState),
    /// A folder where a file is named: Git can read and run none.
    Folder,
    /// A folder of hooks.
    Hooks(#[serde(with = "pairs")] BTreeMap<OsString, FileState>),
}

/// Collects names.
pub(super) struct Search<'a> {
    home: Option<&'a Path>,
    roots: &'a [PathBuf],
    found: BTreeSet<(PathBuf, Kind)>,
    /// Configurations that were looked at, and for which work trees.
    seen: BTreeSet<(PathBuf, PathBuf)>,
    /// Folders of hooks that were looked at.
    seen_hooks: BTreeSet<PathBuf>,
    read: BTreeMap<PathBuf, Rc<[Named]>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(home: Option<&'a Path>, roots: &'a [PathBuf]) -> Self {
        Self {
            home,
            roots,
            found: BTreeSet::new(),
            seen: BTreeSet::new(),
            seen_hooks: BTreeSet::new(),
            read: BTreeMap::new(),
        }
    }

    /// Looks at what a repository names, for the folder around it and for itself as a bare one.
    pub(super) fn repository(&mut self, repository: &Path) {
        let folders = [Some(repository), repository.parent()];
        for folder in folders.into_iter().flatten() {
            self.work_tree(folder, repository, repository);
        }
    }

    /// Looks at what the repository behind a `.git` file or link names.
    pub(super) fn pointer(&mut self, pointer: &Path) {
        if let (Some(folder), Some(repository)) = (pointer.parent(), target(pointer)) {
            self.work_tree(folder, &repository, &common_folder(&repository));
        }
    }

    /// Looks at what the repository names of which a folder is the work tree, if there is one.
    pub(super) fn work_tree_at(&mut self, folder: &Path) {
        let git = folder.join(".git");
        match git.symlink_metadata() {
            Ok(data) if data.is_dir() => self.repository(&git),
            Ok(_) => self.pointer(&git),
            Err(_) => {}
        }
    }

    fn work_tree(&mut self, folder: &Path, repository: &Path, common: &Path) {
        for (place, name) in [(common, CONFIGURATIONS[0]), (repository, CONFIGURATIONS[1])] {
            let path = place.join(name);
            self.note_if_link(&path, Kind::File);
            self.configuration(&path, folder, 0);
        }
        self.note_if_link(&common.join("hooks"), Kind::Hooks);
        if let Some(home) = self.home {
            for name in [".gitconfig", ".config/git/config"] {
                self.configuration(&home.join(name), folder, 0);
            }
        }
        self.configuration(Path::new("/etc/gitconfig"), folder, 0);
        self.hooks(&common.join("hooks"));
    }

    /// Looks at what a configuration names for a work tree.
    fn configuration(&mut self, path: &Path, work_tree: &Path, depth: usize) {
        if depth > MAX_DEPTH || !self.seen.insert((path.to_owned(), work_tree.to_owned())) {
            return;
        }
        let read = || risks::read_behind_links(path).map(|text| config::named(&text)).unwrap_or_default().into();
        let named = Rc::clone(self.read.entry(path.to_owned()).or_insert_with(read));
        let home = self.home;
        let at = |folder: &Path, name: &str| config::named_at_home(folder, name, home);
        let mut included = 0;
        for named in named.iter() {
            match named {
                Named::Configuration(name) => {
                    let other = at(path.parent().unwrap_or(path), name);
                    self.note(&other, Kind::File);
                    included += 1;
                    // Git takes paths in it as relative to the folder of this name, even if the file is a link.
                    let (Some(folder), Some(name)) = (other.parent(), other.file_name()) else { continue };
                    if included <= MAX_INCLUDED {
                        let folder = self.follow(folder, Kind::Way, Noting::Nothing);
                        self.configuration(&folder.join(name), work_tree, depth + 1);
                    }
                }
                Named::Hooks(name) => {
                    let hooks = at(work_tree, name);
                    self.note(&hooks, Kind::Hooks);
                    self.hooks(&hooks);
                }
                Named::Program(name) => self.note(&at(work_tree, name), Kind::File),
                Named::Word(name) => {
                    let path = at(work_tree, name);
                    let is_gone = path.symlink_metadata().is_err();
                    // A word that is nothing yet is a path if it looks like one.
                    if path.is_file() || is_gone && name.contains('/') {
                        self.note(&path, Kind::Word);
                    }
                }
                Named::Argument(name) => {
                    let path = at(work_tree, name);
                    if is_program(&path) {
                        self.note(&path, Kind::File);
                    }
                }
            }
        }
    }

    /// Looks at what hooks lead to as links.
    fn hooks(&mut self, hooks: &Path) {
        if !self.seen_hooks.insert(hooks.to_owned()) {
            return;
        }
        for entry in fs::read_dir(hooks).into_iter().flatten().flatten().take(MAX_ENTRIES) {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && risks::is_name_of_hook(&entry.file_name()) {
                self.note(&entry.path(), Kind::File);
            }
        }
    }

    /// Takes note of what a link in a repository leads to. Its other files are compared as those of the repository.
    fn note_if_link(&mut self, path: &Path, kind: Kind) {
        if path.is_symlink() {
            self.note(path, kind);
        }
    }

    /// Takes note of a path, of what it leads to, and of each link and folder on the way, if they lie in open folders.
    fn note(&mut self, path: &Path, kind: Kind) {
        self.follow(path, kind, Noting::All);
    }

    /// Follows a path as the system does, and returns the path without links. What is missing counts as a folder.
    fn follow(&mut self, path: &Path, kind: Kind, noting: Noting) -> PathBuf {
        let mut at = PathBuf::new();
        let parts = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
        let mut rest = parts(path);
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                at.pop();
                continue;
            }
            at.push(part);
            let led = if links < MAX_LINKS { fs::read_link(&at).ok() } else { None };
            if noting == Noting::All && (led.is_some() || !rest.is_empty()) {
                self.add(&at, Kind::Way);
            }
            if let Some(led) = led {
                links += 1;
                at.pop();
                rest.extend(parts(&led));
            }
        }
        if noting == Noting::All {
            self.add(&at, kind);
        }
        at
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        if self.roots.iter().any(|root| path.starts_with(root) && path != *root) {
            self.found.insert((path.to_owned(), kind));
        }
    }

    /// Returns what was found, as it is now.
    pub(super) fn finish(self) -> Names {
        let states = self.found.into_iter().map(|(path, kind)| {
            let state = state(&path, kind);
            (path.into(), state)
        });
        Names { states: states.collect() }
    }
}

impl Names {
    /// Returns what is named, whether it is there or not.
    pub(super) fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.states.iter().filter(|(_, state)| **state != State::Way).map(|(path, _)| PathBuf::from(path))
    }

    /// Returns what is there and can be mounted. No path leads through a link.
    pub(super) fn there(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let can_be_mounted = |state: &State| matches!(state, State::File(_) | State::Folder | State::Hooks(_));
        self.states.iter().filter(move |(_, state)| can_be_mounted(state)).map(|(path, _)| PathBuf::from(path))
    }

    /// Keeps only what nobody mounted read-only: that is the same, unless its user changed it. A link is never mounted itself.
    pub(super) fn forget(&mut self, closed: &[PathBuf]) {
        let mounted: Vec<&PathBuf> = closed.iter().filter(|closed| !closed.is_symlink()).collect();
        self.states.retain(|path, _| !mounted.iter().any(|mounted| Path::new(path).starts_with(mounted)));
    }

    /// Puts aside what was made or changed since. Afterwards what is there now counts as known.
    pub(super) fn put_aside_changes(&mut self, report: &mut Report) {
        for (path, before) in &mut self.states {
            let path = Path::new(path);
            let kind = match before {
                State::Hooks(_) => Kind::Hooks,
                State::Way => Kind::Way,
                State::NoFile => Kind::Word,
                State::Missing | State::Link(_) | State::File(_) | State::Folder => Kind::File,
            };
            let now = state(path, kind);
            // Git can neither read nor run a folder in the place of a file, but what lies in one in the place of a link.
            let is_harmless = now == State::Folder && matches!(before, State::File(_) | State::Hooks(_));
            if now == *before || matches!(now, State::Missing | State::NoFile) || is_harmless {
                continue;
            }
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let mut took = |folder: &Path, name: &OsStr, what: &str| {
                let done = risks::aside(folder, name).map_err(|error| error.to_string());
                report.took(&format!("{}: Git runs or reads it, and it {what}", folder.join(name).display()), done);
            };
            match (&before, now) {
                (State::Hooks(before), State::Hooks(now)) => {
                    for (name, data) in now {
                        let is_new = before.get(&name).is_none_or(|before| *before != data);
                        let is_run = risks::is_name_of_hook(&name) || before.contains_key(&name);
                        if is_new && is_run && !risks::is_aside(&name) {
                            took(path, &name, if before.contains_key(&name) { "was changed" } else { "is new" });
                        }
                    }
                }
                (State::Missing | State::NoFile, _) => took(folder, name, "was missing"),
                _ => took(folder, name, "was changed"),
            }
            *before = state(path, kind);
        }
    }
}

fn state(path: &Path, kind: Kind) -> State {
    match path.symlink_metadata() {
        Ok(data) if data.is_symlink() => State::Link(FileState::of(path, &data)),
        _ if kind == Kind::Way => State::Way,
        Err(_) if kind == Kind::Word => State::NoFile,
        Ok(data) if data.is_dir() && kind == Kind::Word => State::NoFile,
        Err(_) => State::Missing,
        Ok(data) if data.is_dir() && kind == Kind::Hooks => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten().take(MAX_ENTRIES);
            let entries = entries.filter_map(|entry| {
                let state = FileState::of(&entry.path(), &entry.metadata().ok()?);
                Some((entry.file_name(), state))
            });
            State::Hooks(entries.collect())
        }
        Ok(data) if data.is_dir() => State::Folder,
        Ok(data) => State::File(FileState::of(path, &data)),
    }
}

/// Returns the repository that a `.git` file names, or to which a `.git` link leads, or nothing if it is not there.
pub(super) fn target(pointer: &Path) -> Option<PathBuf> {
    let folder = pointer.parent()?;
    let led = pointer.canonicalize().ok()?;
    let named = if led.is_dir() { led } else { git_file::named_folder(&risks::read_plain(&led).ok()?, folder)? };
    named.canonicalize().ok().filter(|named| named.is_dir())
}

/// Returns the folder from which the folder of a work tree takes configuration and hooks.
fn common_folder(repository: &Path) -> PathBuf {
    let text = risks::read_behind_links(&repository.join("commondir"));
    let named = text.map(|text| git_file::common_folder(&text, repository));
    named.map_or_else(|_| repository.to_owned(), |named| named.canonicalize().unwrap_or(named))
}

/// Tells whether a word of a command is a file that may be run.
fn is_program(path: &Path) -> bool {
    let Ok(data) = path.metadata() else { return false };
    if !data.is_file() {
        return false;
    }
    data.permissions().mode() & 0o111 != 0 || risks::read_behind_links(path).is_ok_and(|text| text.starts_with(b"#!"))
}
