//! Finds files and folders in writable folders that Git reads or runs because a configuration names them: included
//! configurations, hooks folders, programs, and targets of hooks that are symlinks.
//!
//! A configuration counts wherever it lies: that of the user, and that of a repository outside of the writable folders if
//! one of its work trees lies in them. Conditions of `includeIf` are assumed to hold.
//!
//! Relative paths mean something else in each work tree, so a command changes their meaning by creating a repository, a
//! work tree or a `.git` file. A file that they then name counts as made by the command, unless the same file existed in
//! the work tree from which the new one comes ([`Twin`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::config::{self, ConfiguredPath};
use super::files::{self, CONFIGURATIONS, FileState};
use super::git::UserGit;
use super::pairs;
use super::report::Report;
use crate::sandbox::git_file;

/// Most levels of nested includes. It is the limit of Git.
const MAX_DEPTH: usize = 10;

/// Most configurations that one configuration includes directly.
const MAX_INCLUDED: usize = 64;

/// Most symlinks that are followed on the way to one path. It is the limit of Linux.
const MAX_LINKS: usize = 40;

/// Most entries of a hooks folder that are compared.
const MAX_ENTRIES: usize = 1024;

/// What Git does with a named path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A folder on the way to another path: only a symlink in its place would lead Git elsewhere.
    Way,
    /// A word of a command, which may be a file or a folder.
    Word,
    File,
    Hooks,
}

/// Which parts of a path are recorded while it is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noting {
    All,
    Nothing,
}

/// The named paths in writable folders, with their states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Names {
    #[serde(with = "pairs")]
    states: BTreeMap<OsString, State>,
}

/// The state of a named path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Missing,
    /// Anything but a symlink, on the way to another path.
    Way,
    /// A folder or nothing, where a word of a command names it: a file or a symlink could be run.
    NoFile,
    /// A symlink, whatever its target. Nothing can be mounted over it.
    Link(FileState),
    /// A file, or anything else that is neither a symlink nor a folder.
    File(FileState),
    /// A folder where a file is named: Git can neither read nor run it.
    Folder,
    /// A hooks folder.
    Hooks(#[serde(with = "pairs")] BTreeMap<OsString, FileState>),
    /// A hooks folder with too many entries to be compared.
    Crowd,
}

/// Whether names are collected before or after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchPhase {
    Before,
    /// After the command. Existing files may be the command's, so only words that look like paths count.
    After,
}

/// A work tree, and another one of the same repository that existed before the command.
#[derive(Debug, Clone)]
struct Twin {
    new: PathBuf,
    known: PathBuf,
}

/// A path that is named.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    kind: Kind,
    /// The same path in the twin.
    twin: Option<PathBuf>,
}

impl Place {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Collects named paths.
pub(super) struct Search<'a> {
    user: &'a UserGit,
    roots: &'a [PathBuf],
    when: SearchPhase,
    found: BTreeMap<(PathBuf, Kind), Option<PathBuf>>,
    twin: Option<Twin>,
    /// The hooks folder of the repository that is being examined.
    own_hooks: Option<PathBuf>,
    /// Folders around or below configurations that cannot be read, each with the configuration.
    unreadable: BTreeSet<(PathBuf, PathBuf)>,
    /// Configurations that were examined, each with the work tree.
    seen: BTreeSet<(PathBuf, PathBuf)>,
    /// Hooks folders that were examined.
    seen_hooks: BTreeSet<PathBuf>,
    /// Paths that configurations name. `None` for a configuration that cannot be read.
    read: BTreeMap<PathBuf, Option<Rc<[ConfiguredPath]>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(user: &'a UserGit, roots: &'a [PathBuf], when: SearchPhase) -> Self {
        Self {
            user,
            roots,
            when,
            found: BTreeMap::new(),
            twin: None,
            own_hooks: None,
            unreadable: BTreeSet::new(),
            seen: BTreeSet::new(),
            seen_hooks: BTreeSet::new(),
            read: BTreeMap::new(),
        }
    }

    /// Collects what a repository names, both for the folder around it and for itself as a bare repository. `was` is its
    /// path before the command, if it existed.
    pub(super) fn repository(&mut self, repository: &Path, was: Option<&Path>) {
        for (folder, was) in [(Some(repository), was), (repository.parent(), was.and_then(Path::parent))] {
            let Some(folder) = folder else { continue };
            let known = was.filter(|known| *known != folder);
            self.twin = known.map(|known| Twin { new: folder.to_owned(), known: known.to_owned() });
            self.work_tree(folder, repository, repository);
            self.twin = None;
        }
    }

    /// Collects what the repository behind a `.git` file or symlink names. `was` returns the path of a repository before
    /// the command.
    pub(super) fn pointer(&mut self, pointer: &Path, was: impl Fn(&Path) -> Option<PathBuf>) {
        if let (Some(folder), Some(repository)) = (pointer.parent(), target(pointer)) {
            let common = common_folder(&repository);
            let known = was(&common).and_then(|known| known.parent().map(Path::to_owned));
            self.twin = known.filter(|known| known != folder).map(|known| Twin { new: folder.to_owned(), known });
            self.work_tree(folder, &repository, &common);
            self.twin = None;
        }
    }

    /// Collects what the repository names whose work tree is this folder, if there is one.
    pub(super) fn work_tree_at(&mut self, folder: &Path) {
        let git = folder.join(".git");
        match git.symlink_metadata() {
            Ok(data) if data.is_dir() => self.repository(&git, Some(&git)),
            Ok(_) => self.pointer(&git, |_| None),
            Err(_) => {}
        }
    }

    fn work_tree(&mut self, folder: &Path, repository: &Path, common: &Path) {
        let outer = self.own_hooks.replace(common.join("hooks"));
        for (place, name) in [(common, CONFIGURATIONS[0]), (repository, CONFIGURATIONS[1])] {
            let path = place.join(name);
            self.note_if_link(&path, Kind::File);
            self.configuration(&path, folder, 0);
        }
        self.note_if_link(&common.join("hooks"), Kind::Hooks);
        let user = self.user;
        for path in &user.configurations {
            self.configuration(path, folder, 0);
        }
        self.hooks(&common.join("hooks"));
        self.own_hooks = outer;
    }

    /// Collects what a configuration names for a work tree.
    fn configuration(&mut self, path: &Path, work_tree: &Path, depth: usize) {
        if depth > MAX_DEPTH || !self.seen.insert((path.to_owned(), work_tree.to_owned())) {
            return;
        }
        let Some(named) = self.read.entry(path.to_owned()).or_insert_with(|| named_in(path)).clone() else {
            self.unreadable.insert((path.to_owned(), work_tree.to_owned()));
            return;
        };
        let home = self.user.home.as_deref();
        let at = |folder: &Path, name: &str| config::named_at_home(folder, name, home);
        let mut included = 0;
        for named in named.iter() {
            match named {
                ConfiguredPath::Configuration(name) => {
                    let other = at(path.parent().unwrap_or(path), name);
                    self.note(&other, Kind::File);
                    included += 1;
                    // Git resolves paths relative to the folder of this name, even if the file is a symlink.
                    let (Some(folder), Some(name)) = (other.parent(), other.file_name()) else { continue };
                    if included <= MAX_INCLUDED {
                        let folder = self.follow(folder, Kind::Way, Noting::Nothing);
                        self.configuration(&folder.join(name), work_tree, depth + 1);
                    }
                }
                ConfiguredPath::Hooks(name) => {
                    let hooks = at(work_tree, name);
                    // The hooks of the repository itself are compared separately.
                    if self.own_hooks.as_ref() != Some(&hooks) {
                        self.note(&hooks, Kind::Hooks);
                    }
                    self.hooks(&hooks);
                }
                ConfiguredPath::Program(name) => self.note(&at(work_tree, name), Kind::File),
                ConfiguredPath::Word(name) => {
                    let path = at(work_tree, name);
                    // A word that names no existing file counts if it looks like a path.
                    let is_path = name.contains('/') || has_extension(name);
                    let is_there = self.when == SearchPhase::Before && path.is_file();
                    if is_there || is_path && (self.when == SearchPhase::After || path.symlink_metadata().is_err()) {
                        self.note(&path, Kind::Word);
                    }
                }
                ConfiguredPath::Argument(name) => {
                    let path = at(work_tree, name);
                    if self.when == SearchPhase::Before && is_program(&path) {
                        self.note(&path, Kind::File);
                    }
                }
                ConfiguredPath::Template(name) => {
                    let template = at(work_tree, name);
                    self.note(&template.join("hooks"), Kind::Hooks);
                    self.hooks(&template.join("hooks"));
                    self.note(&template.join("config"), Kind::File);
                }
                ConfiguredPath::WorkTree(name) => {
                    let Some(repository) = path.parent().filter(|_| depth == 0) else { continue };
                    let tree = self.follow(&repository.join(name), Kind::Way, Noting::Nothing);
                    if tree != work_tree {
                        let twin = self.twin.take();
                        self.work_tree(&tree, repository, repository);
                        self.twin = twin;
                    }
                }
            }
        }
    }

    /// Collects the targets of hooks that are symlinks.
    fn hooks(&mut self, hooks: &Path) {
        if !self.seen_hooks.insert(hooks.to_owned()) {
            return;
        }
        for entry in fs::read_dir(hooks).into_iter().flatten().flatten().take(MAX_ENTRIES) {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && files::is_name_of_hook(&entry.file_name()) {
                self.note(&entry.path(), Kind::File);
            }
        }
    }

    /// Records the target of a symlink in a repository. Other files of the repository are compared separately.
    fn note_if_link(&mut self, path: &Path, kind: Kind) {
        if path.is_symlink() {
            self.note(path, kind);
        }
    }

    /// Records a path, its target, and each symlink and folder on the way, as far as they lie in writable folders.
    fn note(&mut self, path: &Path, kind: Kind) {
        self.follow(path, kind, Noting::All);
    }

    /// Follows a path as the kernel does, and returns it without symlinks. A missing component counts as a folder.
    fn follow(&mut self, path: &Path, kind: Kind, noting: Noting) -> PathBuf {
        let mut passed = Vec::new();
        let at = follow(path, |passing, _| passed.push(passing.to_owned()));
        if noting == Noting::All {
            passed.iter().for_each(|path| self.add(path, Kind::Way));
            self.add(&at, kind);
        }
        at
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        if is_below(path, self.roots) {
            let twin = self.twin.as_ref().and_then(|twin| Some(twin.known.join(path.strip_prefix(&twin.new).ok()?)));
            self.found.entry((path.to_owned(), kind)).or_insert(twin);
        }
    }

    /// Examines the configurations of the user. A configuration in a writable folder counts as named, because Git reads it.
    pub(super) fn of_user(&mut self) {
        let user = self.user;
        for path in &user.configurations {
            self.note(path, Kind::File);
            // Absolute paths count without any repository, for example `init.templateDir`.
            self.configuration(path, Path::new("/"), 0);
        }
    }

    /// Returns the configurations that cannot be read, each with a work tree that it applies to.
    pub(super) fn unreadable(&self) -> &BTreeSet<(PathBuf, PathBuf)> {
        &self.unreadable
    }

    /// Returns the collected paths.
    pub(super) fn places(self) -> Vec<Place> {
        self.found.into_iter().map(|((path, kind), twin)| Place { path, kind, twin }).collect()
    }
}

/// Returns whether a path lies in one of these folders.
fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root) && path != *root)
}

/// Returns the paths that a configuration names. `None` if it cannot be read. A missing configuration names nothing, and
/// neither does a folder, which Git does not read.
fn named_in(path: &Path) -> Option<Rc<[ConfiguredPath]>> {
    match files::read_behind_links(path) {
        Ok(text) => Some(config::named(&text).into()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some([].into()),
        Err(_) if path.is_dir() => Some([].into()),
        Err(_) => None,
    }
}

/// Follows a path as the kernel does, and returns it without symlinks. Calls `pass` with each symlink and folder on the
/// way, and with whether it is a symlink. A missing component counts as a folder.
fn follow(path: &Path, mut pass: impl FnMut(&Path, bool)) -> PathBuf {
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
        if led.is_some() || !rest.is_empty() {
            pass(&at, led.is_some());
        }
        if let Some(led) = led {
            links += 1;
            at.pop();
            rest.extend(parts(&led));
        }
    }
    at
}

impl Names {
    /// Returns the current states of these paths.
    pub(super) fn of(places: &[Place]) -> Self {
        let state = |place: &Place| (place.path.clone().into(), state(&place.path, place.kind));
        Self { states: places.iter().map(state).collect() }
    }

    /// Returns all named paths, including missing ones.
    pub(super) fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.states.iter().filter(|(_, state)| **state != State::Way).map(|(path, _)| PathBuf::from(path))
    }

    /// Returns the paths that exist and can be mounted over. None of them leads through a symlink.
    pub(super) fn there(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let can_be_mounted =
            |state: &State| matches!(state, State::File(_) | State::Folder | State::Hooks(_) | State::Crowd);
        self.states.iter().filter(move |(_, state)| can_be_mounted(state)).map(|(path, _)| PathBuf::from(path))
    }

    /// Adds paths that are named now and were not before, with their states before the command.
    pub(super) fn learn(&mut self, places: &[Place], roots: &[PathBuf]) {
        let new = places.iter().filter(|place| !self.states.contains_key(place.path.as_os_str()));
        let new: Vec<(OsString, State)> =
            new.map(|place| (place.path.clone().into(), self.prior(place, roots))).collect();
        // A path that Git reads or runs replaces one that is only on the way to another.
        self.states.extend(new);
    }

    /// Returns the state before the command of a path that was not named then: the state of its twin, or missing.
    fn prior(&self, Place { kind, twin, .. }: &Place, roots: &[PathBuf]) -> State {
        let known = twin.as_ref().and_then(|twin| match self.states.get(twin.as_os_str()) {
            Some(known) => Some(known.clone()),
            // Commands cannot write there.
            None => (!is_below(twin, roots)).then(|| state(twin, *kind)),
        });
        match (kind, known) {
            (_, Some(State::Link(link))) => State::Link(link),
            (Kind::Way, _) => State::Way,
            (_, Some(known @ (State::File(_) | State::Hooks(_)))) => known,
            (Kind::Word, _) => State::NoFile,
            _ => State::Missing,
        }
    }

    /// Keeps only what another running command knew too. `covers` tells whether that command watches a path.
    pub(super) fn limit_to(
        &mut self,
        other: &Self,
        places: &[Place],
        roots: &[PathBuf],
        covers: impl Fn(&Path) -> bool,
    ) {
        for place in places.iter().filter(|place| covers(&place.path)) {
            let known = other.states.get(place.path.as_os_str());
            let known = known.cloned().unwrap_or_else(|| other.prior(place, roots));
            self.states.insert(place.path.clone().into(), known);
        }
    }

    /// Renames what was created or changed. Afterwards the current state counts as known.
    pub(super) fn put_aside_changes(&mut self, report: &mut Report) {
        for (path, before) in &mut self.states {
            let path = Path::new(path);
            let kind = match before {
                State::Hooks(_) | State::Crowd => Kind::Hooks,
                State::Way => Kind::Way,
                State::NoFile => Kind::Word,
                State::Missing | State::Link(_) | State::File(_) | State::Folder => Kind::File,
            };
            let now = state(path, kind);
            // Git can neither read nor run a folder in place of a file. A folder in place of a symlink may contain
            // something that it can.
            let is_harmless = now == State::Folder && matches!(before, State::File(_) | State::Hooks(_));
            if now == *before || matches!(now, State::Missing | State::NoFile) || is_harmless {
                continue;
            }
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let mut took = |folder: &Path, name: &OsStr, what: &str| {
                let done = files::aside(folder, name).map_err(|error| error.to_string());
                report.took(&format!("{}: Git runs or reads it, and it {what}", folder.join(name).display()), done);
            };
            match (&before, now) {
                (State::Hooks(before), State::Hooks(now)) => {
                    for (name, data) in now {
                        let is_new = before.get(&name).is_none_or(|before| *before != data);
                        let is_run = files::is_name_of_hook(&name) || before.contains_key(&name);
                        if is_new && is_run && !files::is_aside(&name) {
                            took(path, &name, if before.contains_key(&name) { "was changed" } else { "is new" });
                        }
                    }
                }
                (State::Hooks(_), State::Crowd) => took(folder, name, "has too many entries to be compared"),
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
            let entries: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().take(MAX_ENTRIES + 1).collect();
            if entries.len() > MAX_ENTRIES {
                return State::Crowd;
            }
            let entries = entries.into_iter().filter_map(|entry| {
                let data = entry.metadata().ok()?;
                // Git does not run folders.
                (!data.is_dir()).then(|| (entry.file_name(), FileState::of(&entry.path(), &data)))
            });
            State::Hooks(entries.collect())
        }
        Ok(data) if data.is_dir() => State::Folder,
        Ok(data) => State::File(FileState::of(path, &data)),
    }
}

/// Returns the repository that a `.git` file names or a `.git` symlink leads to. `None` if it is missing.
pub(super) fn target(pointer: &Path) -> Option<PathBuf> {
    let folder = pointer.parent()?;
    let led = pointer.canonicalize().ok()?;
    let named = if led.is_dir() { led } else { git_file::named_folder(&files::read_plain(&led).ok()?, folder)? };
    named.canonicalize().ok().filter(|named| named.is_dir())
}

/// Returns whether a `.git` file or symlink leads to its repository without a symlink elsewhere, which others might change.
pub(super) fn leads_by(pointer: &Path, is_inside: impl Fn(&Path) -> bool) -> bool {
    let mut is_held = true;
    let mut pass = |path: &Path, is_link: bool| is_held &= !is_link || is_inside(path);
    let file = follow(pointer, &mut pass);
    let named = pointer.parent().zip(files::read_plain(&file).ok());
    if let Some(named) = named.and_then(|(folder, text)| git_file::named_folder(&text, folder)) {
        follow(&named, &mut pass);
    }
    is_held
}

/// Returns whether a word looks like the name of a file, such as `clean.py`.
fn has_extension(word: &str) -> bool {
    let parts = word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && !name.starts_with('-'));
    parts.is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Returns the folder from which a work tree's folder takes configuration and hooks.
fn common_folder(repository: &Path) -> PathBuf {
    let text = files::read_behind_links(&repository.join("commondir"));
    let named = text.map(|text| git_file::common_folder(&text, repository));
    named.map_or_else(|_| repository.to_owned(), |named| named.canonicalize().unwrap_or(named))
}

/// Returns whether a word of a command is a file that can be run.
fn is_program(path: &Path) -> bool {
    let Ok(data) = path.metadata() else { return false };
    if !data.is_file() {
        return false;
    }
    data.permissions().mode() & 0o111 != 0 || files::read_behind_links(path).is_ok_and(|text| text.starts_with(b"#!"))
}
