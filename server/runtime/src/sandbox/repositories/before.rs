//! The state of repositories before a command, and its comparison with a later state.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files;
use super::git::UserGit;
use super::identity::Identity;
use super::names::{self, Names, Place, Search, SearchPhase};
use super::pairs;
use super::report::Report;
use super::risk::Risk;
use super::risks::Risks;
use super::walk::{Found, MAX_FOLDERS_AFTER, MAX_SEARCH_AFTER, Unsearched};

/// Most bytes of configurations that are kept for one command.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The state of repositories before a command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Before {
    /// The writable folders.
    pub(super) roots: Vec<OsString>,
    #[serde(with = "pairs")]
    repositories: BTreeMap<Identity, Repository>,
    /// Files and symlinks named `.git`.
    #[serde(with = "pairs")]
    pointers: BTreeMap<Identity, Pointer>,
    pub(super) names: Names,
    /// Folders that were not searched completely. They were read-only, and their content is not compared.
    pub(super) unsearched: BTreeSet<OsString>,
    /// Folders and configurations that were reported as unreadable already.
    told: BTreeSet<OsString>,
}

/// A repository and its path.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Repository {
    path: OsString,
    risks: Risks,
}

/// A file or symlink named `.git`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pointer {
    path: OsString,
    /// SHA-256 of its text.
    says: Vec<u8>,
    /// The repository that it leads to.
    led: Option<OsString>,
}

impl Pointer {
    fn of(path: &Path) -> Self {
        let says = match fs::read_link(path) {
            Ok(led) => led.into_os_string().into_encoded_bytes(),
            Err(_) => files::read_plain(path).unwrap_or_default(),
        };
        let led = names::target(path).map(PathBuf::into_os_string);
        Self { path: path.into(), says: Sha256::digest(says).to_vec(), led }
    }
}

/// Result of a search before a command.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) before: Before,
    /// Places that configurations name, for [`Before::limit_to`].
    places: Vec<Place>,
    /// Configurations that cannot be read, each with a work tree that it applies to.
    pub(super) unreadable: BTreeSet<(PathBuf, PathBuf)>,
}

/// Result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) report: Report,
    /// Repositories and `.git` files that did not exist before.
    pub(super) new: Vec<(Identity, PathBuf)>,
    /// Risks that remain because they could not be renamed.
    pub(super) failed: BTreeMap<Identity, BTreeSet<Risk>>,
}

impl Survey {
    /// Collects the state of the repositories in `found`.
    pub(super) fn at(found: &Found, roots: &[PathBuf], user: &UserGit) -> Self {
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut search = Search::new(user, roots, SearchPhase::Before);
        found.repositories.keys().for_each(|repository| search.repository(repository, None));
        found.pointers.keys().for_each(|pointer| search.pointer(pointer, |common| Some(common.to_owned())));
        around(&mut search, roots);
        let mut room = MAX_KEPT_BYTES;
        let repositories = risks_of(found.repositories.iter().collect(), is_inside).map(|(path, identity, risks)| {
            let risks = risks.kept(&mut room);
            (identity, Repository { path: path.into(), risks })
        });
        let repositories = repositories.collect();
        let unreadable = search.unreadable().clone();
        let places = search.places();
        let before = Before {
            roots: roots.iter().map(|root| root.clone().into()).collect(),
            repositories,
            pointers: found.pointers.iter().map(|(path, identity)| (*identity, Pointer::of(path))).collect(),
            names: Names::of(&places),
            unsearched: BTreeSet::new(),
            told: BTreeSet::new(),
        };
        Self { before, places, unreadable }
    }

    /// Keeps only what another running command knew too. What that command leaves is renamed when it ends, and this command
    /// may create it again.
    pub(super) fn limit_to(&mut self, other: &Before) {
        let roots = other.roots();
        let covers = |path: &Path| roots.iter().any(|root| path.starts_with(root)) && !other.was_closed(path);
        let Before { repositories, pointers, names, .. } = &mut self.before;
        repositories.retain(|identity, repository| {
            let known = other.repositories.get(identity);
            known.inspect(|known| repository.risks.limit_to(&known.risks)).is_some()
                || !covers(Path::new(&repository.path))
        });
        pointers.retain(|identity, pointer| {
            let path = Path::new(&pointer.path);
            !covers(path) || other.pointers.get(identity).is_some_and(|known| known == pointer)
        });
        names.limit_to(&other.names, &self.places, &roots, covers);
    }
}

/// Number of repositories that are examined at a time. Their configurations are in memory together.
const BATCH: usize = 64;

/// Examines repositories in parallel.
fn risks_of<'a>(
    repositories: Vec<(&'a PathBuf, &'a Identity)>,
    is_inside: impl Fn(&Path) -> bool + Copy + Sync + 'a,
) -> impl Iterator<Item = (&'a PathBuf, Identity, Risks)> {
    let mut rest = repositories.into_iter();
    let batches = iter::from_fn(move || {
        let batch: Vec<_> = rest.by_ref().take(BATCH).collect();
        let look = |(path, identity): (&'a PathBuf, &Identity)| (path, *identity, Risks::of(path, is_inside));
        let looks: Vec<_> = batch.into_par_iter().map(look).collect();
        (!looks.is_empty()).then_some(looks)
    });
    batches.flatten()
}

/// Examines the work trees that contain writable folders, because their hooks may lie in the writable folders, and the
/// configuration of the user.
fn around(search: &mut Search<'_>, roots: &[PathBuf]) {
    search.of_user();
    roots.iter().flat_map(|root| root.ancestors().skip(1)).for_each(|folder| search.work_tree_at(folder));
}

impl Before {
    /// Returns the writable folders.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.roots.iter().map(PathBuf::from).collect()
    }

    /// Returns the folders that were read-only because they were not searched.
    pub(super) fn skipped(&self) -> BTreeSet<PathBuf> {
        self.unsearched.iter().map(PathBuf::from).collect()
    }

    /// Returns whether a path lies in a folder that was read-only.
    fn was_closed(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.unsearched.contains(above.as_os_str()))
    }

    /// Makes remaining risks count as new at the next comparison.
    pub(super) fn forget(&mut self, failed: &BTreeMap<Identity, BTreeSet<Risk>>) {
        for (identity, risks) in failed {
            if let Some(known) = self.repositories.get_mut(identity) {
                known.risks.forget(risks);
            }
        }
    }

    /// Returns whether a repository has risks or is unknown.
    pub(super) fn has_risks(&self, identity: &Identity) -> bool {
        self.repositories.get(identity).is_some_and(|known| !known.risks.is_empty())
    }

    /// Renames everything that can run a program and could not before. Afterwards the current state counts as known.
    pub(super) fn compare(&mut self, found: &Found, user: &UserGit) -> Compared {
        let roots = self.roots();
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut compared = Compared::default();
        let mut now = BTreeMap::new();
        let mut room = MAX_KEPT_BYTES;
        let mut was = BTreeMap::new();
        let open = found.repositories.iter().filter(|(path, _)| !self.was_closed(path)).collect();
        for (path, identity, mut risks) in risks_of(open, is_inside) {
            let before = self.repositories.get(&identity);
            let told = compared.report.len();
            let failed = risks.put_aside(path, before.map(|known| &known.risks), &mut compared.report);
            if compared.report.len() > told {
                risks = Risks::of(path, is_inside);
            }
            match before {
                Some(known) => drop(was.insert(path.clone(), PathBuf::from(&known.path))),
                None => compared.new.push((identity, path.clone())),
            }
            risks.forget(&failed);
            if !failed.is_empty() {
                compared.failed.insert(identity, failed);
            }
            now.insert(identity, Repository { path: path.into(), risks: risks.kept(&mut room) });
        }
        if !found.is_cut_short() {
            self.repositories.clear();
        }
        self.repositories.extend(now);
        for (path, identity) in found.pointers.iter().filter(|(path, _)| !self.was_closed(path)).collect::<Vec<_>>() {
            self.compare_pointer(path, *identity, is_inside, &mut compared);
        }
        self.names.put_aside_changes(&mut compared.report);
        // A new repository, work tree or `.git` file changes what relative names mean.
        let mut search = Search::new(user, &roots, SearchPhase::After);
        for path in found.repositories.keys().filter(|path| !self.was_closed(path)) {
            search.repository(path, was.get(path).map(PathBuf::as_path));
        }
        let was = |common: &Path| Some(was.get(common).map_or(common, PathBuf::as_path).to_owned());
        found.pointers.keys().filter(|path| !self.was_closed(path)).for_each(|path| search.pointer(path, was));
        around(&mut search, &roots);
        for (configuration, _) in search.unreadable() {
            if self.told.insert(configuration.into()) {
                compared.report.could_not_search(&format!("{}: it cannot be read", configuration.display()));
            }
        }
        let mut places = search.places();
        places.retain(|place| !self.was_closed(place.path()));
        self.names.learn(&places, &roots);
        self.names.put_aside_changes(&mut compared.report);
        self.compare_unsearched(found, &roots, &mut compared.report);
        compared
    }

    /// Compares a `.git` file. It may lead to any repository in a writable folder, because each of those is checked. It may
    /// not lead to a repository elsewhere, which is not checked, or to a missing one, which may be created anywhere.
    fn compare_pointer(
        &mut self,
        path: &Path,
        identity: Identity,
        is_inside: impl Fn(&Path) -> bool,
        compared: &mut Compared,
    ) {
        let pointer = Pointer::of(path);
        let known = self.pointers.get(&identity);
        let is_as_before = known.is_some_and(|known| (&known.says, &known.led) == (&pointer.says, &pointer.led));
        let leads_inside = pointer.led.as_ref().is_some_and(|led| is_inside(Path::new(led)));
        if !(is_as_before || leads_inside && names::leads_by(path, is_inside))
            && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        {
            let what = match pointer.led {
                Some(_) if leads_inside => "it leads to its repository by a symlink outside of the open folders",
                Some(_) => "it leads to a repository outside of the open folders",
                None => "it leads to no repository",
            };
            let done = files::aside(folder, name).map_err(|error| error.to_string());
            compared.report.took(&format!("{}: {what}", path.display()), done);
            return;
        }
        if known.is_none() {
            compared.new.push((identity, path.to_owned()));
        }
        self.pointers.insert(identity, pointer);
    }

    fn compare_unsearched(&mut self, found: &Found, roots: &[PathBuf], report: &mut Report) {
        let is_new = |path: &Path| !self.was_closed(path) && !self.told.contains(path.as_os_str());
        let new: Vec<(&PathBuf, Unsearched)> =
            found.unsearched.iter().map(|(path, why)| (path, *why)).filter(|(path, _)| is_new(path)).collect();
        for (path, _) in new.iter().filter(|(_, why)| *why == Unsearched::Unlistable) {
            report.could_not_search(&format!("{}: it cannot be listed", path.display()));
        }
        for root in roots {
            let cut: Vec<Unsearched> = new
                .iter()
                .filter(|(path, why)| path.starts_with(root) && *why != Unsearched::Unlistable)
                .map(|(_, why)| *why)
                .collect();
            // Reports one line for each writable folder, however many of its folders were left out.
            if let Some(why) = cut.first() {
                let reason = match why {
                    Unsearched::TooMany => format!("there are more than {MAX_FOLDERS_AFTER} folders in it"),
                    _ => format!("it took longer than {} seconds", MAX_SEARCH_AFTER.as_secs()),
                };
                report.could_not_search(&format!(
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
