//! Repositories as they were before a command, and the comparison with what is there later.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::names::{self, Names, Search};
use super::pairs;
use super::report::Report;
use super::risks::{self, Risk, Risks};
use super::walk::{Found, MAX_FOLDERS_AFTER, MAX_SEARCH_AFTER, Unsearched};

/// Repositories as they were before a command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Before {
    /// The open folders.
    pub(super) roots: Vec<OsString>,
    #[serde(with = "pairs")]
    repositories: BTreeMap<Identity, Risks>,
    /// Files and links called `.git`, and where they lead.
    #[serde(with = "pairs")]
    pointers: BTreeMap<Identity, Option<OsString>>,
    pub(super) names: Names,
    /// Folders that were not looked through to the end. They were closed, and what is in them is not compared.
    pub(super) unsearched: BTreeSet<OsString>,
    /// Folders of which was told that they could not be searched afterwards.
    told: BTreeSet<OsString>,
}

/// What came of a comparison.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) report: Report,
    /// Repositories and `.git` files that were not there before.
    pub(super) new: Vec<(Identity, PathBuf)>,
    /// What is a risk still, since it could not be put aside.
    pub(super) failed: BTreeMap<Identity, BTreeSet<Risk>>,
}

impl Before {
    /// Looks at what was found in some folders. `home` is that of the user.
    pub(super) fn of(found: &Found, roots: &[PathBuf], home: Option<&Path>) -> Self {
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut search = Search::new(home, roots);
        found.repositories.keys().for_each(|repository| search.repository(repository));
        found.pointers.keys().for_each(|pointer| search.pointer(pointer));
        // An open folder often lies in a work tree, whose hooks may lie in it.
        roots.iter().flat_map(|root| root.ancestors().skip(1)).for_each(|folder| search.work_tree_at(folder));
        let repositories = found.repositories.iter().map(|(path, identity)| (*identity, Risks::of(path, is_inside)));
        let target = |pointer: &Path| names::target(pointer).map(PathBuf::into_os_string);
        Self {
            roots: roots.iter().map(|root| root.clone().into()).collect(),
            repositories: repositories.collect(),
            pointers: found.pointers.iter().map(|(path, identity)| (*identity, target(path))).collect(),
            names: search.finish(),
            unsearched: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// Returns the open folders.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.roots.iter().map(PathBuf::from).collect()
    }

    /// Returns the folders that were closed since they were not searched.
    pub(super) fn skipped(&self) -> BTreeSet<PathBuf> {
        self.unsearched.iter().map(PathBuf::from).collect()
    }

    /// Tells whether a path lies in a folder that was closed.
    fn was_closed(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.unsearched.contains(above.as_os_str()))
    }

    /// Lets risks count as new that only stand since they could not be put aside.
    pub(super) fn forget(&mut self, failed: &BTreeMap<Identity, BTreeSet<Risk>>) {
        for (identity, risks) in failed {
            if let Some(known) = self.repositories.get_mut(identity) {
                known.forget(risks);
            }
        }
    }

    /// Puts aside what may run something and did not before. Afterwards what is there now counts as known.
    pub(super) fn compare(&mut self, found: &Found) -> Compared {
        let roots = self.roots();
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut compared = Compared::default();
        let mut now = BTreeMap::new();
        for (path, identity) in found.repositories.iter().filter(|(path, _)| !self.was_closed(path)) {
            let before = self.repositories.get(identity);
            let failed = Risks::of(path, is_inside).put_aside(path, before, &mut compared.report);
            if before.is_none() {
                compared.new.push((*identity, path.clone()));
            }
            let mut risks = Risks::of(path, is_inside);
            risks.forget(&failed);
            if !failed.is_empty() {
                compared.failed.insert(*identity, failed);
            }
            now.insert(*identity, risks);
        }
        self.repositories = now;
        for (path, identity) in found.pointers.iter().filter(|(path, _)| !self.was_closed(path)).collect::<Vec<_>>() {
            self.compare_pointer(path, *identity, is_inside, &mut compared);
        }
        self.names.put_aside_changes(&mut compared.report);
        self.compare_unsearched(found, &roots, &mut compared.report);
        compared
    }

    /// A `.git` file may lead to any repository in an open folder, since each is looked at. One elsewhere nobody looks at, and one
    /// that is not there yet may be made anywhere.
    fn compare_pointer(
        &mut self,
        path: &Path,
        identity: Identity,
        is_inside: impl Fn(&Path) -> bool,
        compared: &mut Compared,
    ) {
        let target = names::target(path);
        let known = self.pointers.get(&identity);
        let is_as_before =
            known.is_some_and(|known| known.as_deref() == target.as_ref().map(|target| target.as_os_str()));
        if !is_as_before
            && !target.as_ref().is_some_and(|target| is_inside(target))
            && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        {
            let what = match target {
                Some(_) => "it leads to a repository outside of the open folders",
                None => "it leads to no repository",
            };
            let done = risks::aside(folder, name).map_err(|error| error.to_string());
            compared.report.took(&format!("{}: {what}", path.display()), done);
            return;
        }
        if known.is_none() {
            compared.new.push((identity, path.to_owned()));
        }
        self.pointers.insert(identity, target.map(PathBuf::into_os_string));
    }

    fn compare_unsearched(&mut self, found: &Found, roots: &[PathBuf], report: &mut Report) {
        let is_new = |path: &Path| !self.was_closed(path) && !self.told.contains(path.as_os_str());
        let new: Vec<(&PathBuf, Unsearched)> =
            found.unsearched.iter().map(|(path, why)| (path, *why)).filter(|(path, _)| is_new(path)).collect();
        for (path, _) in new.iter().filter(|(_, why)| *why == Unsearched::Unlistable) {
            report.could_not_search(format!("{}: it cannot be listed", path.display()));
        }
        for root in roots {
            let cut: Vec<Unsearched> = new
                .iter()
                .filter(|(path, why)| path.starts_with(root) && *why != Unsearched::Unlistable)
                .map(|(_, why)| *why)
                .collect();
            // One line for each open folder, however many are in it.
            if let Some(why) = cut.first() {
                let reason = match why {
                    Unsearched::TooMany => format!("there are more than {MAX_FOLDERS_AFTER} folders in it"),
                    _ => format!("it took longer than {} seconds", MAX_SEARCH_AFTER.as_secs()),
                };
                report.could_not_search(format!(
                    "{}: {reason}; {} folders in it were left out",
                    root.display(),
                    cut.len()
                ));
            }
        }
        let new: Vec<OsString> = new.into_iter().map(|(path, _)| path.clone().into()).collect();
        self.told.extend(new);
    }
}
