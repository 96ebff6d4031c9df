//! What a store and its writers share: the catalogue of a server home, and reading threads.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use trace_runtime::ThreadId;

use super::catalogue::{self, Catalogue, Rollout};
use super::error::StoreError;
use super::index::{self, IndexWriter, Indexed};
use super::rollout::chain::{Chain, Place};
use super::rollout::file::RolloutFile;
use super::rollout::lock::WriterLock;
use super::rollout::place::{self, FoundRollout, RolloutName};
use super::rollout::scan::Scan;
use super::stored::{ForkPoint, StoredThread};
use super::summary::ThreadSummary;
use super::{load, names};
use crate::private;

/// Most threads of the process that read rollouts in parallel when a server home is opened.
const MAX_READERS: usize = 8;
/// How long the last refresh counts as recent. A request for an unknown id refreshes the catalogue again, but not before
/// this time is over.
const FRESH_FOR: Duration = Duration::from_secs(2);

/// Keeps rollout files from being moved or removed until it is dropped.
pub(super) type MoveGuard<'a> = MutexGuard<'a, ()>;

/// What a store and its writers share.
#[derive(Debug)]
pub(super) struct Shared {
    home: PathBuf,
    zone: TimeZone,
    catalogue: Arc<Mutex<Catalogue>>,
    index: IndexWriter,
    refreshed_at: Mutex<Instant>,
    /// Locked while rollouts are listed, moved or deleted.
    moves: Mutex<()>,
}

impl Shared {
    /// Opens a server home.
    pub(super) fn open(home: &Path, zone: TimeZone) -> Result<Self, StoreError> {
        private::create_folders(home).map_err(StoreError::io("create the folder", home))?;
        let home = fs::canonicalize(home).map_err(StoreError::io("read the folder", home))?;
        // Continue if this fails: the folder may belong to another user, or the file system may not support
        // permissions.
        if let Err(error) = private::tighten(&home) {
            tracing::warn!(home = %home.display(), %error, "other users may be able to read the server home");
        }
        let (connection, indexed) = index::read(&home);
        let catalogue = Arc::new(Mutex::new(Catalogue::default()));
        let index = IndexWriter::start(connection, Arc::clone(&catalogue));
        let refreshed_at = Mutex::new(Instant::now());
        let shared = Self { home, zone, catalogue, index, refreshed_at, moves: Mutex::default() };
        shared.refresh_all(&shared.block_moves(), &indexed)?;
        shared.remove_drafts();
        Ok(shared)
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Locks the catalogue. Hold the guard only for a short time.
    pub(super) fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prevents rollouts from being moved or deleted until the guard is dropped.
    pub(super) fn block_moves(&self) -> MoveGuard<'_> {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn summary(&self, thread: &ThreadId) -> Option<Arc<ThreadSummary>> {
        self.catalogue().summary(thread)
    }

    /// Returns the id of the newest rollout of a thread.
    pub(super) fn newest_rollout(&self, thread: &ThreadId) -> Option<String> {
        self.catalogue().rollouts(thread).pop().map(|(id, _)| id)
    }

    /// Returns the path of a new rollout.
    pub(super) fn new_path(&self, at_ms: i64, thread: &ThreadId, part: Option<&str>) -> PathBuf {
        place::path(&self.home, &self.zone, at_ms, thread, part)
    }

    /// Adds a new rollout to the catalogue and the index.
    pub(super) fn began(&self, thread: &ThreadId, file: &RolloutFile) {
        self.opened(thread, file, false);
        self.index.changed(thread, file.path());
    }

    /// Adds an opened rollout to the catalogue. It shares its scan, so the catalogue sees appended lines at once.
    pub(super) fn opened(&self, thread: &ThreadId, file: &RolloutFile, archived: bool) {
        let state = Rollout { path: file.path().to_owned(), archived, scan: Arc::clone(file.scan()) };
        self.catalogue().put(thread, &RolloutName::id(thread, file.path()), state);
    }

    /// Updates the index after a rollout was moved or deleted.
    pub(super) fn moved(&self, thread: &ThreadId, path: &Path) {
        self.index.changed(thread, path);
    }

    /// Waits until all changes are in the index.
    pub(super) fn flush(&self) {
        self.index.flush();
    }

    /// Looks at the rollouts of the server home, unless that was done recently.
    pub(super) fn refresh_if_stale(&self) {
        let is_long_ago = || {
            let refreshed_at = *self.refreshed_at.lock().unwrap_or_else(PoisonError::into_inner);
            refreshed_at.elapsed() > FRESH_FOR
        };
        if !is_long_ago() {
            return;
        }
        let guard = self.block_moves();
        // While this thread waited for the lock, another thread may have looked.
        if is_long_ago()
            && let Err(error) = self.refresh_all(&guard, &HashMap::new())
        {
            tracing::warn!(%error, "cannot look for rollouts of other programs");
        }
    }

    /// Deletes incomplete rollouts of processes that have died.
    fn remove_drafts(&self) {
        let drafts = place::find_drafts(&self.home).unwrap_or_default();
        for (thread, path) in drafts {
            // If another process holds the lock, it is still writing the file.
            if let Ok(_lock) = WriterLock::take(&self.home, &thread)
                && let Err(error) = fs::remove_file(&path)
            {
                tracing::warn!(path = %path.display(), %error, "an incomplete rollout is left");
            }
        }
    }

    /// Updates the catalogue and the index after lines were appended to a rollout.
    pub(super) fn appended(&self, thread: &ThreadId, path: &Path) {
        self.catalogue().touch(thread);
        if self.is_kept(path) {
            self.index.changed(thread, path);
        }
    }

    /// Returns whether a rollout is in the folders of the server home.
    pub(super) fn is_kept(&self, path: &Path) -> bool {
        place::is_kept(&self.home, path)
    }

    /// Stores a name in the file of names and in the catalogue.
    pub(super) fn named(&self, thread: &ThreadId, at_ms: i64, name: &str) {
        self.catalogue().set_name(thread, at_ms, name);
    }

    /// Returns the files that a thread consists of.
    pub(super) fn chain(&self, path: &Path) -> Result<Chain, StoreError> {
        Chain::of(path, |rollout| self.catalogue().path(rollout))
    }

    /// Reads a thread.
    pub(super) fn load(&self, thread: &ThreadId) -> Result<StoredThread, StoreError> {
        self.load_until(thread, &ForkPoint::End)
    }

    /// Reads the beginning of a thread.
    pub(super) fn load_until(&self, thread: &ThreadId, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        let summary = self.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        let chain = self.chain(&summary.path)?;
        let until = load::cut(&chain, point)?;
        stored(ThreadSummary::clone(&summary), chain, until)
    }

    /// Looks at the rollouts of the server home. Rollouts that have not changed since the last refresh are not read.
    pub(super) fn refresh(&self) -> Result<(), StoreError> {
        self.refresh_all(&self.block_moves(), &HashMap::new())
    }

    /// Looks at the rollouts of the server home. Rollouts whose state in the index or the catalogue is up to date are
    /// not read.
    pub(super) fn refresh_all(
        &self,
        _guard: &MoveGuard<'_>,
        indexed: &HashMap<PathBuf, Indexed>,
    ) -> Result<(), StoreError> {
        let present = place::find(&self.home).map_err(StoreError::io("read the folder", &self.home))?;
        let names = names::read(&self.home).map_err(StoreError::io("read", self.home.join(names::NAMES)))?;
        self.take(&present, |_| true, indexed);
        for path in indexed.keys().filter(|path| !path.exists()) {
            if let Some(name) = RolloutName::of(path) {
                self.index.changed(&name.thread, path);
            }
        }
        self.catalogue().set_names(names);
        *self.refreshed_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }

    /// Looks at the rollouts of one thread, which another program may have continued, moved or deleted.
    pub(super) fn refresh_thread(&self, _guard: &MoveGuard<'_>, thread: &ThreadId) -> Result<(), StoreError> {
        let present = place::find_of(&self.home, thread).map_err(StoreError::io("read the folder", &self.home))?;
        self.take(&present, |other| other == thread, &HashMap::new());
        Ok(())
    }

    /// Updates the catalogue. `present` are all rollouts of the threads for which `is_in_scope` returns true.
    fn take(
        &self,
        present: &[FoundRollout],
        is_in_scope: impl Fn(&ThreadId) -> bool,
        indexed: &HashMap<PathBuf, Indexed>,
    ) {
        let (known, gone) = {
            let catalogue = self.catalogue();
            let paths: HashSet<&PathBuf> = present.iter().map(|present| &present.path).collect();
            let mut known: HashMap<PathBuf, u64> = HashMap::new();
            let mut gone = Vec::new();
            for (thread, id, rollout) in catalogue.all_rollouts().filter(|(thread, ..)| is_in_scope(thread)) {
                // A rollout that is missing in the list may have been created since the list was made, or may be
                // outside of the server home.
                if paths.contains(&rollout.path) || rollout.path.exists() {
                    known.insert(rollout.path.clone(), catalogue::locked(&rollout.scan).bytes);
                } else {
                    gone.push((thread.clone(), id.clone(), rollout.path.clone()));
                }
            }
            (known, gone)
        };
        let changed: Vec<&FoundRollout> =
            present.iter().filter(|present| known.get(&present.path) != Some(&present.size)).collect();
        let scans = read_all(&changed, indexed);
        let mut catalogue = self.catalogue();
        for (thread, id, path) in gone {
            catalogue.remove(&thread, &id);
            self.index.changed(&thread, &path);
        }
        for (present, (scan, is_new)) in changed.into_iter().zip(scans) {
            let Some(scan) = scan else { continue };
            // If a writer of this process has the rollout open, its scan is newer.
            let known = catalogue.at(&present.name.thread, &present.path);
            if known.is_some_and(|rollout| Arc::strong_count(&rollout.scan) > 1) {
                continue;
            }
            let state =
                Rollout { path: present.path.clone(), archived: present.archived, scan: Arc::new(Mutex::new(scan)) };
            catalogue.put(&present.name.thread, &present.name.rollout, state);
            if is_new {
                self.index.changed(&present.name.thread, &present.path);
            }
        }
    }
}

/// Reads the scans of rollouts in parallel. The second value says whether the index lacks the scan.
fn read_all(present: &[&FoundRollout], indexed: &HashMap<PathBuf, Indexed>) -> Vec<(Option<Scan>, bool)> {
    let results: Vec<Mutex<(Option<Scan>, bool)>> = present.iter().map(|_| Mutex::new((None, false))).collect();
    let next = AtomicUsize::new(0);
    let readers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS).min(present.len());
    let read = || {
        while let Some((present, result)) = {
            let position = next.fetch_add(1, Ordering::Relaxed);
            present.get(position).zip(results.get(position))
        } {
            let known = indexed
                .get(&present.path)
                .filter(|known| known.size == present.size && known.modified_ns == present.modified_ns);
            let found = match known {
                Some(known) => (Some(known.scan.clone()), false),
                None => {
                    let scan = Scan::of(&present.path).inspect_err(|error| {
                        tracing::warn!(path = %present.path.display(), %error, "a rollout cannot be read");
                    });
                    (scan.ok(), true)
                }
            };
            *result.lock().unwrap_or_else(PoisonError::into_inner) = found;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..readers.max(1) {
            scope.spawn(read);
        }
        read();
    });
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Reads a thread up to a place.
pub(super) fn stored(summary: ThreadSummary, chain: Chain, until: Option<Place>) -> Result<StoredThread, StoreError> {
    let load::Loaded { turns, history, settings, usage, plan, goal, mail, damage } = load::load(&chain, until)?;
    Ok(StoredThread {
        summary,
        turns,
        history,
        settings,
        usage,
        plan,
        goal,
        mail,
        dynamic_tools: chain.meta.dynamic_tools,
        damage,
    })
}
