//! Files and folders of open folders that Git reads or runs since a configuration names them: included configurations, folders of
//! hooks, programs, and what hooks lead to as links.
//!
//! A configuration counts wherever it lies: that of the user, and that of a repository outside of the open folders one of whose work
//! trees lies in them. Conditions of `includeIf` are taken for fulfilled.
//!
//! Relative paths mean something else in each work tree, so a command gives them a new meaning by making a repository, a work tree or a `.git` file.
//! What they name then counts as made by the command, unless it was there in the same way in the work tree from which the new one comes
//! ([`Twin`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::config::{self, Named};
use super::files::{self, CONFIGURATIONS, FileState};
use super::git::UserGit;
use super::pairs;
use super::report::Report;
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
    /// A folder of hooks with too many entries to be compared.
    Crowd,
}

/// When names are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Before,
    /// What is there may be the command's, so only what looks like a path is one.
    After,
}

/// A work tree, and another one of the same repository that was there before a command.
#[derive(Debug, Clone)]
struct Twin {
    new: PathBuf,
    known: PathBuf,
}

/// Something that is named.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    kind: Kind,
    /// The same place in the twin.
    twin: Option<PathBuf>,
}

impl Place {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Collects names.
pub(super) struct Search<'a> {
    user: &'a UserGit,
    roots: &'a [PathBuf],
    when: When,
    found: BTreeMap<(PathBuf, Kind), Option<PathBuf>>,
    twin: Option<Twin>,
    /// The folder of hooks of the repository that is looked at.
    own_hooks: Option<PathBuf>,
    /// Folders around or below the configurations that cannot be read, with those.
    unreadable: BTreeSet<(PathBuf, PathBuf)>,
    /// Configurations that were looked at, and for which work trees.
    seen: BTreeSet<(PathBuf, PathBuf)>,
    /// Folders of hooks that were looked at.
    seen_hooks: BTreeSet<PathBuf>,
    /// What configurations name, or nothing of one that cannot be read.
    read: BTreeMap<PathBuf, Option<Rc<[Named]>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(user: &'a UserGit, roots: &'a [PathBuf], when: When) -> Self {
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

    /// Looks at what a repository names, for the folder around it and for itself as a bare one. `was` is where it was before a command, if it
    /// was there.
    pub(super) fn repository(&mut self, repository: &Path, was: Option<&Path>) {
        for (folder, was) in [(Some(repository), was), (repository.parent(), was.and_then(Path::parent))] {
            let Some(folder) = folder else { continue };
            let known = was.filter(|known| *known != folder);
            self.twin = known.map(|known| Twin { new: folder.to_owned(), known: known.to_owned() });
            self.work_tree(folder, repository, repository);
            self.twin = None;
        }
    }

    /// Looks at what the repository behind a `.git` file or symlink names. `was` tells where a repository was before a command.
    pub(super) fn pointer(&mut self, pointer: &Path, was: impl Fn(&Path) -> Option<PathBuf>) {
        if let (Some(folder), Some(repository)) = (pointer.parent(), target(pointer)) {
            let common = common_folder(&repository);
            let known = was(&common).and_then(|known| known.parent().map(Path::to_owned));
            self.twin = known.filter(|known| known != folder).map(|known| Twin { new: folder.to_owned(), known });
            self.work_tree(folder, &repository, &common);
            self.twin = None;
        }
    }

    /// Looks at what the repository names of which a folder is the work tree, if there is one.
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

    /// Looks at what a configuration names for a work tree.
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
                    // Those of the repository itself are compared as such.
                    if self.own_hooks.as_ref() != Some(&hooks) {
                        self.note(&hooks, Kind::Hooks);
                    }
                    self.hooks(&hooks);
                }
                Named::Program(name) => self.note(&at(work_tree, name), Kind::File),
                Named::Word(name) => {
                    let path = at(work_tree, name);
                    // A word that is nothing yet is a path if it looks like one.
                    let is_path = name.contains('/') || has_extension(name);
                    let is_there = self.when == When::Before && path.is_file();
                    if is_there || is_path && (self.when == When::After || path.symlink_metadata().is_err()) {
                        self.note(&path, Kind::Word);
                    }
                }
                Named::Argument(name) => {
                    let path = at(work_tree, name);
                    if self.when == When::Before && is_program(&path) {
                        self.note(&path, Kind::File);
                    }
                }
                Named::Template(name) => {
                    let template = at(work_tree, name);
                    self.note(&template.join("hooks"), Kind::Hooks);
                    self.hooks(&template.join("hooks"));
                    self.note(&template.join("config"), Kind::File);
                }
                Named::WorkTree(name) => {
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

    /// Looks at what hooks lead to as links.
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

    /// Looks at the configurations of the user. One of them that lies in an open folder is named by Git itself.
    pub(super) fn of_user(&mut self) {
        let user = self.user;
        for path in &user.configurations {
            self.note(path, Kind::File);
            // Whole paths count without any repository: `init.templateDir`.
            self.configuration(path, Path::new("/"), 0);
        }
    }

    /// Returns the configurations that cannot be read, each with a work tree for which it counts.
    pub(super) fn unreadable(&self) -> &BTreeSet<(PathBuf, PathBuf)> {
        &self.unreadable
    }

    /// Returns what was found.
    pub(super) fn places(self) -> Vec<Place> {
        self.found.into_iter().map(|((path, kind), twin)| Place { path, kind, twin }).collect()
    }
}

/// Tells whether a path lies in one of these folders.
fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root) && path != *root)
}

/// Returns what a configuration names, or nothing if it cannot be read. One that is missing names nothing, and Git reads no folder.
fn named_in(path: &Path) -> Option<Rc<[Named]>> {
    match files::read_behind_links(path) {
        Ok(text) => Some(config::named(&text).into()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some([].into()),
        Err(_) if path.is_dir() => Some([].into()),
        Err(_) => None,
    }
}

/// Follows a path as the system does, and returns the path without links. `pass` is told each symlink and folder on the way, and whether it is
/// a symlink. What is missing counts as a folder.
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
    /// Returns what is named, as it is now.
    pub(super) fn of(places: &[Place]) -> Self {
        let state = |place: &Place| (place.path.clone().into(), state(&place.path, place.kind));
        Self { states: places.iter().map(state).collect() }
    }

    /// Returns what is named, whether it is there or not.
    pub(super) fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.states.iter().filter(|(_, state)| **state != State::Way).map(|(path, _)| PathBuf::from(path))
    }

    /// Returns what is there and can be mounted. No path leads through a link.
    pub(super) fn there(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let can_be_mounted =
            |state: &State| matches!(state, State::File(_) | State::Folder | State::Hooks(_) | State::Crowd);
        self.states.iter().filter(move |(_, state)| can_be_mounted(state)).map(|(path, _)| PathBuf::from(path))
    }

    /// Takes in what is named now and was not before, as it was before.
    pub(super) fn learn(&mut self, places: &[Place], roots: &[PathBuf]) {
        let new = places.iter().filter(|place| !self.states.contains_key(place.path.as_os_str()));
        let new: Vec<(OsString, State)> =
            new.map(|place| (place.path.clone().into(), self.prior(place, roots))).collect();
        // What Git reads or runs stands behind what is on the way to something else too.
        self.states.extend(new);
    }

    /// Returns how something was that nobody named: as it was in the work tree from which a new one comes, or missing.
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

    /// Lets count as known only what another command that still runs knew too. `covers` tells what that one watches.
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

    /// Puts aside what was made or changed since. Afterwards what is there now counts as known.
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
            // Git can neither read nor run a folder in the place of a file, but what lies in one in the place of a link.
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
                (State::Hooks(_), State::Crowd) => took(folder, name, "has too many entries to be looked at"),
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
                // Git runs no folder.
                (!data.is_dir()).then(|| (entry.file_name(), FileState::of(&entry.path(), &data)))
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
    let named = if led.is_dir() { led } else { git_file::named_folder(&files::read_plain(&led).ok()?, folder)? };
    named.canonicalize().ok().filter(|named| named.is_dir())
}

/// Tells whether a `.git` file or symlink leads to its repository without a symlink elsewhere, which others may change.
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

/// Tells whether a word looks like the name of a file: `clean.py`.
fn has_extension(word: &str) -> bool {
    let parts = word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && !name.starts_with('-'));
    parts.is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Returns the folder from which the folder of a work tree takes configuration and hooks.
fn common_folder(repository: &Path) -> PathBuf {
    let text = files::read_behind_links(&repository.join("commondir"));
    let named = text.map(|text| git_file::common_folder(&text, repository));
    named.map_or_else(|_| repository.to_owned(), |named| named.canonicalize().unwrap_or(named))
}

/// Tells whether a word of a command is a file that may be run.
fn is_program(path: &Path) -> bool {
    let Ok(data) = path.metadata() else { return false };
    if !data.is_file() {
        return false;
    }
    data.permissions().mode() & 0o111 != 0 || files::read_behind_links(path).is_ok_and(|text| text.starts_with(b"#!"))
}
