//! Keeps repositories below open folders from running what a command left in them.
//!
//! Git runs what a repository says: hooks, and programs that its configuration names. So whoever uses Git in a folder that
//! commands may write to would run their programs, without a sandbox. Before a command starts, all repositories below its open
//! folders are found, and bubblewrap mounts them read-only. When the command has ended, they are looked for again: what may run
//! something and did not before is put aside, in repositories that the command made as in others. So a command may clone, and
//! use what it cloned.
//!
//! This does not reach what a running command does before it ends, nor what lies beyond [`MAX_FOLDERS`].

mod config;
mod risks;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confinement::Confinement;
use risks::Risks;
pub use walk::MAX_FOLDERS;
use walk::{Found, Walker};

/// Most repositories and files of theirs that are mounted read-only for one command. Those beyond it, which lie lowest, are
/// only compared with what they were.
pub const MAX_CLOSED: usize = 256;

/// Most repositories that are known to be made by commands. Once there are more, new ones are read-only for the next command.
pub const MAX_MADE: usize = 64 * 1024;

/// Most findings that are told after one command.
const MAX_TOLD: usize = 16;

/// Which file or folder it is, whatever its name: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Identity(u64, u64);

/// The repositories that commands of one server may reach.
#[derive(Debug, Default)]
pub struct Repositories {
    walker: Mutex<Walker>,
    /// Those that commands made. They are their own, and stay open to them.
    made: Mutex<HashSet<Identity>>,
}

/// Repositories as they were when a command started.
#[derive(Debug)]
pub struct Watch {
    repositories: Arc<Repositories>,
    roots: Vec<PathBuf>,
    before: BTreeMap<Identity, Risks>,
    pointers: BTreeSet<Identity>,
    /// Files that a configuration names and that are missing: whoever makes them says what Git does.
    missing: BTreeSet<PathBuf>,
    unsearched: BTreeSet<PathBuf>,
}

impl Repositories {
    /// Finds the repositories in the open folders of a command that is about to start, and closes them to it. Returns nothing
    /// if it may write nowhere. This looks at many folders.
    pub fn watch(self: &Arc<Self>, confinement: &mut Confinement) -> Option<Watch> {
        let mut roots = confinement.open();
        roots.retain(|root| !confinement.temporary.contains(root));
        if roots.is_empty() {
            return None;
        }
        let found = self.walk(&roots);
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let before: BTreeMap<Identity, Risks> =
            found.repositories.iter().map(|(path, identity)| (*identity, Risks::of(path, is_inside))).collect();
        let named: BTreeSet<PathBuf> = before.values().flat_map(|risks| risks.named.iter().cloned()).collect();
        let (named, missing): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
            named.into_iter().filter(|path| is_inside(path)).partition(|path| path.symlink_metadata().is_ok());
        let made = self.made();
        let is_own = |identity: &Identity| made.contains(identity);
        let repositories = found.repositories.iter().chain(&found.pointers).filter(|(_, identity)| !is_own(identity));
        let mut closed: Vec<PathBuf> = repositories.map(|(path, _)| path.clone()).chain(named).collect();
        drop(made);
        closed.sort_by_key(|path| path.components().count());
        // What lies in a closed folder is closed.
        let mut kept: Vec<PathBuf> = Vec::new();
        // A repository that a person opened by its name is open as a whole.
        let opened: Vec<&PathBuf> = roots.iter().filter(|root| found.repositories.contains_key(*root)).collect();
        for path in closed {
            let is_in_another = kept.iter().any(|outer| path.starts_with(outer));
            let is_open = roots.contains(&path) || opened.iter().any(|outer| path.starts_with(outer));
            if kept.len() < MAX_CLOSED && !is_in_another && !is_open {
                kept.push(path);
            }
        }
        let mut unsearched = found.unsearched;
        if unsearched.len() > MAX_CLOSED {
            unsearched =
                roots.iter().filter(|root| unsearched.iter().any(|path| path.starts_with(root))).cloned().collect();
        }
        kept.extend(unsearched.iter().cloned());
        confinement.closed = kept;
        let pointers = found.pointers.into_values().collect();
        let repositories = Arc::clone(self);
        Some(Watch { repositories, roots, before, pointers, missing, unsearched })
    }

    fn walk(&self, roots: &[PathBuf]) -> Found {
        self.walker.lock().unwrap_or_else(PoisonError::into_inner).walk(roots, MAX_FOLDERS)
    }

    fn made(&self) -> MutexGuard<'_, HashSet<Identity>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Returns the folders that could not be looked through. Bubblewrap closes them.
    pub(crate) fn unsearched(&self) -> &BTreeSet<PathBuf> {
        &self.unsearched
    }

    /// Puts aside what may run something and did not when this was called last, or when the command started. Returns what
    /// people should know. This looks at many folders; nothing of the command should run any more.
    pub fn check(&mut self) -> Vec<String> {
        let found = self.repositories.walk(&self.roots);
        let roots = &self.roots;
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut told = Vec::new();
        let mut now = BTreeMap::new();
        for (path, identity) in &found.repositories {
            let risks = Risks::of(path, is_inside);
            let before = self.before.get(identity);
            told.extend(risks.put_aside(path, before));
            if before.is_none() {
                self.remember(*identity);
            }
            now.insert(*identity, Risks::of(path, is_inside));
        }
        for identity in found.pointers.into_values() {
            if self.pointers.insert(identity) {
                self.remember(identity);
            }
        }
        for path in std::mem::take(&mut self.missing) {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            if path.symlink_metadata().is_err() {
                self.missing.insert(path);
                continue;
            }
            let done = risks::aside(folder, name)
                .unwrap_or_else(|error| format!("it could not be put aside ({error}): do not use Git there"));
            told.push(format!(
                "{}: the configuration of a repository names this file, which was missing; {done}",
                path.display()
            ));
            self.missing.insert(path.clone());
        }
        self.before = now;
        let new: Vec<PathBuf> = found.unsearched.difference(&self.unsearched).cloned().collect();
        for path in new {
            told.push(format!(
                "{}: there are too many folders to look for repositories in all of them",
                path.display()
            ));
            self.unsearched.insert(path);
        }
        if told.len() > MAX_TOLD {
            let more = told.len() - MAX_TOLD;
            told.truncate(MAX_TOLD);
            told.push(format!("and {more} more"));
        }
        told
    }

    fn remember(&self, identity: Identity) {
        let mut made = self.repositories.made();
        if made.len() < MAX_MADE {
            made.insert(identity);
        }
    }
}
