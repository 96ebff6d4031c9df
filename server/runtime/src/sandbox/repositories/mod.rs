//! Keeps repositories below open folders from running what a command left in them.
//!
//! Git runs what a repository says: hooks, and programs that its configuration names. So whoever uses Git in a folder that
//! commands may write to would run their programs, without a sandbox. Before a command starts, all repositories below its open
//! folders are found, and bubblewrap mounts them read-only. When the command has ended, they are looked for again: what may run
//! something and did not before is put aside, in repositories that the command made as in others. So a command may clone, and
//! use what it cloned.
//!
//! A search is bounded. What it leaves out before a command is closed to that command; what it leaves out afterwards is told, and
//! the next search that gets through is held against what was there before. The same holds after a server was killed, for which what
//! was there is kept in a file ([`Repositories::recover`]).
//!
//! This does not reach what a running command does before it ends.

mod before;
mod config;
mod identity;
mod names;
mod pairs;
mod patches;
mod record;
mod report;
mod risks;
mod syntax;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confinement::Confinement;
use before::{Before, Compared};
use identity::Identity;
use record::{Record, Records};
pub use report::Report;
use risks::Risk;
use walk::{AFTER, BEFORE, Bounds, Found, Unlistable, Walker};
pub use walk::{MAX_FOLDERS, MAX_FOLDERS_AFTER, MAX_SEARCH, MAX_SEARCH_AFTER, Unsearched};

/// Most repositories and files of theirs that are mounted read-only for one command. Those beyond it, which lie lowest, are
/// only compared with what they were. Also most folders in one open folder that are closed since they were not searched; with
/// more, the whole open folder is closed.
pub const MAX_CLOSED: usize = 256;

/// Most repositories that are known to be made by commands. Once there are more, new ones are read-only for the next command.
pub const MAX_MADE: usize = 64 * 1024;

/// Most sets of open folders whose search after a command did not get through, and that wait for one that does.
const MAX_PENDING: usize = 256;

/// What keeps a command from writing to what is closed in an open folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Bubblewrap mounts it read-only.
    Mounts,
    /// Nothing does: open folders are open as a whole. What was not searched closes the whole of them.
    Nothing,
}

/// The repositories that commands of one server may reach.
#[derive(Debug, Default)]
pub struct Repositories {
    home: Option<PathBuf>,
    records: Option<Records>,
    bounds: SearchBounds,
    walker: Mutex<Walker>,
    memory: Mutex<Memory>,
}

/// How far searches go.
#[derive(Debug)]
struct SearchBounds {
    before: Bounds,
    after: Bounds,
}

impl Default for SearchBounds {
    fn default() -> Self {
        Self { before: BEFORE, after: AFTER }
    }
}

#[derive(Debug, Default)]
struct Memory {
    /// Those that commands made. They are their own, and stay open to them.
    made: HashMap<Identity, PathBuf>,
    /// Risks that stand since they could not be put aside.
    failed: BTreeMap<Identity, BTreeSet<Risk>>,
    /// Searches after a command that did not get through.
    pending: Vec<Pending>,
}

/// A search that has to be made again.
#[derive(Debug)]
struct Pending {
    before: Before,
    record: Option<Record>,
}

/// Repositories as they were when a command started.
#[derive(Debug)]
pub struct Watch {
    repositories: Arc<Repositories>,
    before: Before,
    /// As it was when the command started, for a search that gets through later.
    first: Option<Before>,
    record: Option<Record>,
    /// What a search that was made up for gave.
    late: Report,
    unsearched: BTreeMap<PathBuf, Unsearched>,
    shut: BTreeSet<PathBuf>,
    /// Whether the last search got through.
    is_complete: bool,
}

impl Repositories {
    /// Returns the repositories of a user with a home folder, to which configurations may refer. `records` is a folder that no command
    /// can read: what repositories were like is kept there while commands run.
    #[must_use]
    pub fn new(home: Option<PathBuf>, records: &Path) -> Self {
        Self { home, records: Some(Records::new(records)), ..Self::default() }
    }

    /// Looks at what commands left whose server was killed. Nothing of them should run any more. This looks at many folders.
    pub fn recover(&self) -> Report {
        let mut report = Report::default();
        for (record, mut before) in self.records.iter().flat_map(Records::left_behind) {
            let roots = before.roots();
            let found = self.walk(&roots, self.bounds.after, Unlistable::GiveBack, &before.skipped());
            let first = before.clone();
            report.extend(self.settle(&mut before, &found));
            if found.is_cut_short() {
                self.postpone(Pending { before: first, record: Some(record) });
            } else {
                record.remove();
            }
        }
        report
    }

    /// Finds the repositories in the open folders of a command that is about to start, and closes them to it. Returns nothing
    /// if it may write nowhere. This looks at many folders.
    pub fn watch(self: &Arc<Self>, confinement: &mut Confinement, closing: Closing) -> Option<Watch> {
        let mut roots = confinement.open();
        roots.retain(|root| !confinement.temporary.contains(root));
        if roots.is_empty() {
            return None;
        }
        let mut found = self.walk(&roots, self.bounds.before, Unlistable::Leave, &BTreeSet::new());
        let late = if found.is_cut_short() { Report::default() } else { self.make_up(&roots, &found) };
        if !late.is_empty() {
            found = self.walk(&roots, self.bounds.before, Unlistable::Leave, &BTreeSet::new());
        }
        let mut before = Before::of(&found, &roots, self.home.as_deref());
        before.forget(&self.memory().failed);
        let mut closed = self.to_close(&found, &before, &roots);
        let (unsearched, shut) = unsearched(&found, &roots, closing);
        closed.extend(unsearched.keys().cloned());
        before.unsearched = unsearched.keys().map(|path| path.clone().into_os_string()).collect();
        confinement.writable.retain(|root| !shut.contains(root));
        if closing == Closing::Mounts {
            before.names.forget(&closed);
        }
        confinement.closed = closed;
        confinement.made = self.made_at_top(&found, &roots);
        let written = self.records.as_ref().map(|records| records.write(&before));
        let record = written.and_then(|written| {
            written
                .inspect_err(
                    |error| tracing::warn!(%error, "repositories will not be looked at if the server is killed"),
                )
                .ok()
        });
        let repositories = Arc::clone(self);
        Some(Watch { repositories, before, first: None, record, late, unsearched, shut, is_complete: true })
    }

    /// Returns the repositories directly in open folders that commands made.
    fn made_at_top(&self, found: &Found, roots: &[PathBuf]) -> Vec<PathBuf> {
        let memory = self.memory();
        let at_top = roots.iter().filter_map(|root| found.repositories.get_key_value(&root.join(".git")));
        at_top.filter(|(_, identity)| memory.made.contains_key(identity)).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the repositories and files of theirs that are closed to a command, those that lie highest.
    fn to_close(&self, found: &Found, before: &Before, roots: &[PathBuf]) -> Vec<PathBuf> {
        let memory = self.memory();
        let is_own = |identity: &Identity| memory.made.contains_key(identity);
        let repositories = found.repositories.iter().chain(&found.pointers).filter(|(_, identity)| !is_own(identity));
        let mut closed: Vec<PathBuf> = repositories.map(|(path, _)| path.clone()).chain(before.names.there()).collect();
        drop(memory);
        closed.sort_by_key(|path| path.components().count());
        // A repository that a person opened by its name is open as a whole.
        let opened: Vec<&PathBuf> = roots.iter().filter(|root| found.repositories.contains_key(*root)).collect();
        let mut kept: Vec<PathBuf> = Vec::new();
        for path in closed {
            // What lies in a closed folder is closed.
            let is_in_another = kept.iter().any(|outer| path.starts_with(outer));
            let is_open = roots.contains(&path) || opened.iter().any(|outer| path.starts_with(outer));
            if kept.len() < MAX_CLOSED && !is_in_another && !is_open {
                kept.push(path);
            }
        }
        kept
    }

    /// Makes up for searches that did not get through, in folders that were all searched now.
    fn make_up(&self, roots: &[PathBuf], found: &Found) -> Report {
        let is_searched = |pending: &Pending| pending.before.roots().iter().all(|root| roots.contains(root));
        let pending: Vec<Pending> = self.memory().pending.extract_if(.., |pending| is_searched(pending)).collect();
        let mut report = Report::default();
        for Pending { mut before, record } in pending {
            report.extend(self.settle(&mut before, found));
            if let Some(record) = record {
                record.remove();
            }
        }
        report
    }

    /// Compares, and remembers what that gave.
    fn settle(&self, before: &mut Before, found: &Found) -> Report {
        let Compared { report, new, failed } = before.compare(found);
        let roots = before.roots();
        let mut memory = self.memory();
        if !found.is_cut_short() {
            // What is gone is nobody's own: its number may be another's tomorrow.
            let is_there = |identity: &Identity, path: &PathBuf| {
                let was_there = roots.iter().any(|root| path.starts_with(root));
                !was_there
                    || found.repositories.get(path) == Some(identity)
                    || found.pointers.get(path) == Some(identity)
            };
            memory.made.retain(|identity, path| is_there(identity, path));
        }
        for (identity, path) in new {
            if memory.made.len() < MAX_MADE {
                memory.made.insert(identity, path);
            }
        }
        for identity in found.repositories.values().filter(|identity| !failed.contains_key(identity)) {
            memory.failed.remove(identity);
        }
        memory.failed.extend(failed);
        report
    }

    fn postpone(&self, pending: Pending) {
        let mut memory = self.memory();
        // What was there before the first of them counts.
        let is_known = memory.pending.iter().any(|known| known.before.roots == pending.before.roots);
        if !is_known && memory.pending.len() < MAX_PENDING {
            memory.pending.push(pending);
        }
    }

    fn walk(&self, roots: &[PathBuf], bounds: Bounds, unlistable: Unlistable, skip: &BTreeSet<PathBuf>) -> Found {
        self.walker.lock().unwrap_or_else(PoisonError::into_inner).walk(roots, bounds, unlistable, skip)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the folders that were not searched, which are closed, and the open folders that are closed as a whole: since too many
/// folders in them would have to be, or since nothing can close a part of them.
fn unsearched(
    found: &Found,
    roots: &[PathBuf],
    closing: Closing,
) -> (BTreeMap<PathBuf, Unsearched>, BTreeSet<PathBuf>) {
    let mut unsearched = BTreeMap::new();
    let mut shut = BTreeSet::new();
    for root in roots {
        let inside: Vec<(&PathBuf, &Unsearched)> =
            found.unsearched.iter().filter(|(path, _)| owner(path, roots) == Some(root)).collect();
        let is_whole = inside.iter().any(|(path, _)| *path == root);
        let Some((_, why)) = inside.first() else { continue };
        if is_whole || inside.len() > MAX_CLOSED || closing == Closing::Nothing {
            unsearched.insert(root.clone(), **why);
            shut.insert(root.clone());
        } else {
            unsearched.extend(inside.into_iter().map(|(path, why)| (path.clone(), *why)));
        }
    }
    if closing == Closing::Nothing {
        // An open folder around one that is closed would open it.
        let around: Vec<PathBuf> =
            roots.iter().filter(|root| shut.iter().any(|inner| inner.starts_with(root))).cloned().collect();
        shut.extend(around);
    }
    (unsearched, shut)
}

/// Returns the innermost open folder that a path lies in.
fn owner<'a>(path: &Path, roots: &'a [PathBuf]) -> Option<&'a PathBuf> {
    roots.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count())
}

impl Watch {
    /// Returns the folders that were not searched, with the reason. They are closed for writing.
    pub(crate) fn unsearched(&self) -> &BTreeMap<PathBuf, Unsearched> {
        &self.unsearched
    }

    /// Returns the open folders that are closed as a whole, since parts of them were not searched.
    pub(crate) fn shut(&self) -> &BTreeSet<PathBuf> {
        &self.shut
    }

    /// Puts aside what may run something and did not when this was called last, or when the command started. Returns what
    /// people should know. This looks at many folders; nothing of the command should run any more.
    pub fn check(&mut self) -> Report {
        let (roots, skipped) = (self.before.roots(), self.before.skipped());
        let found = self.repositories.walk(&roots, self.repositories.bounds.after, Unlistable::GiveBack, &skipped);
        self.is_complete = !found.is_cut_short();
        if !self.is_complete && self.first.is_none() {
            self.first = Some(self.before.clone());
        }
        let mut report = std::mem::take(&mut self.late);
        report.extend(self.repositories.settle(&mut self.before, &found));
        report
    }

    /// Ends the watch: the command has ended, and [`check`](Self::check) was called after that, or the command never started. If the
    /// search did not get through, it is made up for before a later command. A watch that is dropped instead leaves that to the next
    /// server.
    pub fn end(mut self) {
        match (self.first.take(), self.record.take()) {
            (Some(before), record) if !self.is_complete => self.repositories.postpone(Pending { before, record }),
            (_, Some(record)) => record.remove(),
            _ => {}
        }
    }
}
