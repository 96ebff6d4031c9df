//! Keeps repositories below writable folders from running what a command left in them.
//!
//! Git runs what a repository tells it to: hooks, and programs that its configuration names. So a user who runs Git in a
//! folder that commands may write to would run the commands' programs without a sandbox. Before a command starts, all
//! repositories below its writable folders are found, and bubblewrap mounts them read-only. When the command has ended,
//! they are searched again: everything that can run a program and could not before is renamed, in repositories that the
//! command created as well as in others. So a command may clone a repository and use the clone.
//!
//! A search is limited. A folder that is skipped before a command is read-only for that command. A folder that is skipped
//! afterwards is reported, and the next complete search is compared with the state before the command. The same holds after
//! a server was killed; the state is kept in a file for this case ([`Repositories::recover`]).
//!
//! Commands overlap. What a command left is renamed only when it ends, so a command that starts before that must not treat
//! it as known: only what each command that still runs knew too counts as known ([`Memory::live`]).
//!
//! This gives no protection against what a command does while it runs.

#[cfg(test)]
mod attempts;
mod before;
mod config;
mod files;
mod git;
mod identity;
mod inside;
mod names;
mod pairs;
mod patches;
mod record;
mod report;
mod risk;
mod risks;
mod syntax;
#[cfg(test)]
mod tests;
mod walk;
mod words;
mod work_tree;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confinement::Confinement;
use before::{Before, Compared, Survey};
pub use git::UserGit;
use identity::Identity;
use record::{Record, RecordContent, Records};
pub use report::Report;
use risk::Risk;
use walk::{AFTER, BEFORE, Bounds, Found, Unlistable, Walker};
pub use walk::{MAX_FOLDERS, MAX_FOLDERS_AFTER, MAX_SEARCH, MAX_SEARCH_AFTER, Unsearched};

/// Most repositories, and files of repositories, that are mounted read-only for one command. Those beyond the limit, which
/// are the deepest ones, are only compared afterwards. It is also the most folders in one writable folder that are
/// read-only because they were not searched; with more, the whole writable folder is read-only.
pub const MAX_CLOSED: usize = 256;

/// Most repositories that are remembered as made by commands. Once there are more, new ones are read-only for the next
/// command.
pub const MAX_MADE: usize = 64 * 1024;

/// Most sets of writable folders that wait for another search because the search after a command was incomplete.
const MAX_PENDING: usize = 256;

/// How read-only places inside writable folders are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyEnforcement {
    /// Bubblewrap mounts them read-only.
    Mounts,
    /// They are not enforced: a writable folder is writable as a whole. If a part of it was not searched, all of it becomes
    /// read-only.
    Nothing,
}

/// The repositories that commands of one server may reach.
#[derive(Debug, Default)]
pub struct Repositories {
    user: UserGit,
    records: Option<Records>,
    bounds: SearchBounds,
    walker: Mutex<Walker>,
    memory: Mutex<Memory>,
}

/// Limits of searches.
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
    /// Repositories that commands made. They stay writable for commands.
    made: HashMap<Identity, PathBuf>,
    /// Risks that remain because they could not be renamed.
    failed: BTreeMap<Identity, BTreeSet<Risk>>,
    /// Incomplete searches after a command.
    pending: Vec<Pending>,
    /// The state before each running command, by the number of the command.
    live: BTreeMap<u64, Live>,
    /// Number of commands that are about to start.
    starting: usize,
    /// Number of the newest command.
    last: u64,
}

/// A command that runs, or that ran when a starting command began its search.
#[derive(Debug)]
struct Live {
    before: Arc<Before>,
    has_ended: bool,
}

impl Memory {
    /// Removes commands that have ended, unless a starting command may have seen what they left.
    fn forget_ended(&mut self) {
        if self.starting == 0 {
            self.live.retain(|_, live| !live.has_ended);
        }
    }
}

/// An incomplete search after a command. It has to be repeated.
#[derive(Debug)]
struct Pending {
    before: Before,
    record: Option<Record>,
}

/// The repositories as they were when a command started.
#[derive(Debug)]
pub struct Watch {
    repositories: Arc<Repositories>,
    before: Before,
    /// The state when the command started, for a later search that is complete.
    first: Option<Before>,
    record: Option<Record>,
    /// Report of a repeated search of an earlier command.
    late: Report,
    unsearched: BTreeMap<PathBuf, Unsearched>,
    shut: BTreeSet<PathBuf>,
    was_checked: bool,
    /// Whether the last search was complete.
    is_complete: bool,
    /// Number of the command.
    number: u64,
}

impl Repositories {
    /// Returns the repositories of a user. `records` is a folder that no command can read; the state before each running
    /// command is stored there.
    #[must_use]
    pub fn new(user: UserGit, records: &Path) -> Self {
        Self { user, records: Some(Records::new(records)), ..Self::default() }
    }

    /// Checks what commands of killed servers left. None of these commands may still be running. This searches many
    /// folders.
    pub fn recover(&self) -> Report {
        let mut report = Report::default();
        for (record, kept) in self.records.iter().flat_map(Records::left_behind) {
            let mut before = match kept {
                RecordContent::Whole(before) => *before,
                RecordContent::Folders(folders) => {
                    folders.iter().for_each(|folder| report.unknown(&folder.display().to_string()));
                    record.remove();
                    continue;
                }
                RecordContent::Nothing => {
                    report.unknown("any folder in which its commands worked");
                    record.remove();
                    continue;
                }
            };
            let roots = before.roots();
            let found = self.walk(&roots, self.bounds.after, Unlistable::RestorePermissions, &before.skipped());
            let first = before.clone();
            report.extend(self.settle(&mut before, &found));
            if found.is_cut_short() {
                self.add_pending(Pending { before: first, record: Some(record) });
            } else {
                record.remove();
            }
        }
        report
    }

    /// Finds the repositories in the writable folders of a command that is about to start, and makes them read-only for it.
    /// Returns `None` if the command has no writable folder. This searches many folders.
    pub fn watch(self: &Arc<Self>, confinement: &mut Confinement, enforcement: ReadOnlyEnforcement) -> Option<Watch> {
        let mut roots = confinement.open();
        roots.retain(|root| !confinement.temporary.contains(root));
        if roots.is_empty() {
            return None;
        }
        let starting = Starting::new(self);
        let mut found = self.walk(&roots, self.bounds.before, Unlistable::Leave, &BTreeSet::new());
        let mut late = if found.is_cut_short() { Report::default() } else { self.finish_pending(&roots, &found) };
        if !late.is_empty() {
            found = self.walk(&roots, self.bounds.before, Unlistable::Leave, &BTreeSet::new());
        }
        let mut survey = Survey::at(&found, &roots, &self.user);
        for (configuration, work_tree) in &survey.unreadable {
            tracing::warn!(configuration = %configuration.display(), "cannot read a Git configuration");
            found.close_work_tree(work_tree, &roots);
        }
        survey.before.forget(&self.memory().failed);
        let (number, before) = starting.finish(survey);
        let mut before = Before::clone(&before);
        self.return_to_user(&before);
        let mut closed = self.to_close(&found, &before, &roots);
        let (unsearched, shut) = unsearched(&found, &roots, enforcement);
        closed.extend(unsearched.keys().cloned());
        before.unsearched = unsearched.keys().map(|path| path.clone().into_os_string()).collect();
        confinement.writable.retain(|root| !shut.contains(root));
        confinement.closed = closed;
        confinement.made = self.made_at_top(&found, &roots);
        let record = match self.records.as_ref().map(|records| records.write(&before)) {
            Some(Err(error)) => {
                tracing::warn!(%error, "repositories will not be checked if the server is killed");
                late.unknown(&format!("(only if the server is killed while this command runs: {error})"));
                None
            }
            written => written.and_then(Result::ok),
        };
        let repositories = Arc::clone(self);
        let (first, was_checked, is_complete) = (None, false, false);
        Some(Watch { repositories, before, first, record, late, unsearched, shut, was_checked, is_complete, number })
    }

    /// Counts repositories that commands made as the user's if the user has since configured programs in them: a relative
    /// path would lead elsewhere if a command moved the repository.
    fn return_to_user(&self, before: &Before) {
        self.memory().made.retain(|identity, _| !before.has_risks(identity));
    }

    /// Returns the repositories made by commands that lie directly in writable folders.
    fn made_at_top(&self, found: &Found, roots: &[PathBuf]) -> Vec<PathBuf> {
        let memory = self.memory();
        let at_top = roots.iter().filter_map(|root| found.repositories.get_key_value(&root.join(".git")));
        at_top.filter(|(_, identity)| memory.made.contains_key(identity)).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the repositories and files of repositories that become read-only for a command: the outermost ones, at most
    /// [`MAX_CLOSED`].
    fn to_close(&self, found: &Found, before: &Before, roots: &[PathBuf]) -> Vec<PathBuf> {
        let memory = self.memory();
        let is_own = |identity: &Identity| memory.made.contains_key(identity);
        let repositories = found.repositories.iter().chain(&found.pointers).filter(|(_, identity)| !is_own(identity));
        let mut closed: Vec<PathBuf> = repositories.map(|(path, _)| path.clone()).chain(before.names.there()).collect();
        drop(memory);
        closed.sort_by_key(|path| path.components().count());
        // A repository that a user named as a writable folder is writable as a whole.
        let opened: Vec<&PathBuf> = roots.iter().filter(|root| found.repositories.contains_key(*root)).collect();
        let mut kept: Vec<PathBuf> = Vec::new();
        for path in closed {
            // A place in a read-only folder is read-only already.
            let is_in_another = kept.iter().any(|outer| path.starts_with(outer));
            let is_open = roots.contains(&path) || opened.iter().any(|outer| path.starts_with(outer));
            if kept.len() < MAX_CLOSED && !is_in_another && !is_open {
                kept.push(path);
            }
        }
        kept
    }

    /// Makes up for incomplete searches: compares their states with `found` if all their folders were searched now.
    fn finish_pending(&self, roots: &[PathBuf], found: &Found) -> Report {
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

    /// Compares the state with `found`, and remembers the result.
    fn settle(&self, before: &mut Before, found: &Found) -> Report {
        let Compared { report, new, failed } = before.compare(found, &self.user);
        let roots = before.roots();
        let there: HashMap<Identity, &PathBuf> =
            found.repositories.iter().chain(&found.pointers).map(|(path, identity)| (*identity, path)).collect();
        let mut memory = self.memory();
        if !found.is_cut_short() {
            // Forgets repositories that are gone: another folder may get the same inode number.
            memory.made.retain(|identity, path| match there.get(identity) {
                Some(now) => {
                    path.clone_from(now);
                    true
                }
                None => !roots.iter().any(|root| path.starts_with(root)),
            });
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

    fn add_pending(&self, pending: Pending) {
        let mut memory = self.memory();
        // The state before the first of several commands counts.
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

/// A search before a command. Commands that end meanwhile must be remembered until it is over.
struct Starting<'a>(&'a Repositories);

impl<'a> Starting<'a> {
    fn new(repositories: &'a Repositories) -> Self {
        repositories.memory().starting += 1;
        Self(repositories)
    }

    /// Limits what was found to what all commands that ran meanwhile knew too. Returns the number of the starting command.
    fn finish(self, mut survey: Survey) -> (u64, Arc<Before>) {
        let mut memory = self.0.memory();
        let roots = survey.before.roots();
        let overlaps = |other: &Before| {
            let others = other.roots();
            roots.iter().any(|root| others.iter().any(|other| root.starts_with(other) || other.starts_with(root)))
        };
        memory.live.values().filter(|live| overlaps(&live.before)).for_each(|live| survey.limit_to(&live.before));
        let before = Arc::new(survey.before);
        memory.last += 1;
        let number = memory.last;
        memory.live.insert(number, Live { before: Arc::clone(&before), has_ended: false });
        (number, before)
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut memory = self.0.memory();
        memory.starting -= 1;
        memory.forget_ended();
    }
}

/// Returns the folders that were not searched, which become read-only, and the writable folders that become read-only as a
/// whole: because too many of their folders were not searched, or because parts of a folder cannot be made read-only.
fn unsearched(
    found: &Found,
    roots: &[PathBuf],
    enforcement: ReadOnlyEnforcement,
) -> (BTreeMap<PathBuf, Unsearched>, BTreeSet<PathBuf>) {
    let mut unsearched = BTreeMap::new();
    let mut shut = BTreeSet::new();
    for root in roots {
        let inside: Vec<(&PathBuf, &Unsearched)> =
            found.unsearched.iter().filter(|(path, _)| owner(path, roots) == Some(root)).collect();
        let is_whole = inside.iter().any(|(path, _)| *path == root);
        let Some((_, why)) = inside.first() else { continue };
        if is_whole || inside.len() > MAX_CLOSED || enforcement == ReadOnlyEnforcement::Nothing {
            unsearched.insert(root.clone(), **why);
            shut.insert(root.clone());
        } else {
            unsearched.extend(inside.into_iter().map(|(path, why)| (path.clone(), *why)));
        }
    }
    if enforcement == ReadOnlyEnforcement::Nothing {
        // A writable folder around a read-only one would make it writable.
        let around: Vec<PathBuf> =
            roots.iter().filter(|root| shut.iter().any(|inner| inner.starts_with(root))).cloned().collect();
        shut.extend(around);
    }
    (unsearched, shut)
}

/// Returns the innermost writable folder that contains a path.
fn owner<'a>(path: &Path, roots: &'a [PathBuf]) -> Option<&'a PathBuf> {
    roots.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count())
}

impl Watch {
    /// Returns the folders that were not searched, with the reasons. They are read-only.
    pub(crate) fn unsearched(&self) -> &BTreeMap<PathBuf, Unsearched> {
        &self.unsearched
    }

    /// Returns the writable folders that became read-only as a whole because parts of them were not searched.
    pub(crate) fn shut(&self) -> &BTreeSet<PathBuf> {
        &self.shut
    }

    /// Renames everything that can run a program and could not at the previous call or when the command started. Returns
    /// what users should know. The command must have ended, with all its processes. This searches many folders.
    pub fn check(&mut self) -> Report {
        // If the code below panics, the search counts as incomplete.
        (self.was_checked, self.is_complete) = (true, false);
        let (roots, skipped) = (self.before.roots(), self.before.skipped());
        let found =
            self.repositories.walk(&roots, self.repositories.bounds.after, Unlistable::RestorePermissions, &skipped);
        let is_complete = !found.is_cut_short();
        if !is_complete && self.first.is_none() {
            self.first = Some(self.before.clone());
        }
        let mut report = std::mem::take(&mut self.late);
        report.extend(self.repositories.settle(&mut self.before, &found));
        self.is_complete = is_complete;
        report
    }

    /// Ends the watch, after the command has ended and [`check`](Self::check) was called, or if the command never started.
    /// An incomplete search is repeated before a later command.
    pub fn end(mut self) {
        self.is_complete |= !self.was_checked;
    }
}

/// If a watch ends in another way, for example by a panic, its search is repeated too.
impl Drop for Watch {
    fn drop(&mut self) {
        {
            let mut memory = self.repositories.memory();
            if let Some(live) = memory.live.get_mut(&self.number) {
                live.has_ended = true;
            }
            memory.forget_ended();
        }
        let record = self.record.take();
        if !self.is_complete {
            let before = self.first.take().unwrap_or_else(|| std::mem::take(&mut self.before));
            self.repositories.add_pending(Pending { before, record });
        } else if let Some(record) = record {
            record.remove();
        }
    }
}
