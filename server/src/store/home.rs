//! All threads of a home.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use trace_protocol::thread::GitInfo;
use trace_runtime::ThreadId;

use super::catalogue::{Catalogue, Rollout};
use super::error::StoreError;
use super::index::{self, IndexWriter, Indexed};
use super::query::{Page, SearchQuery, ThreadListQuery};
use super::rollout::chain::{Chain, Place};
use super::rollout::file::RolloutFile;
use super::rollout::line::{LineKind, NewLine};
use super::rollout::lock::WriterLock;
use super::rollout::place::{self, ARCHIVED, Present};
use super::rollout::record::settings_applied;
use super::rollout::scan::Scan;
use super::search::{self, Occurrence, SearchHit, Term};
use super::stored::{ForkPoint, StoredThread};
use super::summary::{EdgeStatus, GitChange, NewThread, Resolution, ThreadSummary};
use super::thread_writer::{Inner, ThreadWriter, now_ms, rollout_id};
use super::{list, load, names};

/// Most threads that read rollouts at once when a home is opened.
const MAX_READERS: usize = 8;
/// How long a home that was looked at counts as known: an id that nobody knows makes us look again, but not at once.
const LOOKED_AT_FOR: Duration = Duration::from_secs(2);

/// All threads of a home. Clones are the same store; every call may come from any thread.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// What a store and its writers share.
#[derive(Debug)]
pub(super) struct Shared {
    home: PathBuf,
    zone: TimeZone,
    catalogue: Arc<Mutex<Catalogue>>,
    index: IndexWriter,
    writers: Mutex<HashMap<ThreadId, Weak<Inner>>>,
    looked_at: Mutex<Instant>,
}

impl Shared {
    /// Returns the home.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writers(&self) -> MutexGuard<'_, HashMap<ThreadId, Weak<Inner>>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what lists show of a thread.
    pub(super) fn summary(&self, thread: &ThreadId) -> Option<Arc<ThreadSummary>> {
        self.catalogue().summary(thread)
    }

    /// Returns where a rollout is put that begins now.
    pub(super) fn new_path(&self, at_ms: i64, thread: &ThreadId, part: Option<&str>) -> PathBuf {
        place::path(&self.home, &self.zone, at_ms, thread, part)
    }

    /// Takes a rollout that was made.
    pub(super) fn began(&self, thread: &ThreadId, file: &RolloutFile) {
        let Some(rollout) = rollout_id(file.path()) else { return };
        let state = Rollout { path: file.path().to_owned(), archived: false, scan: Arc::clone(file.scan()) };
        self.catalogue().put(thread, &rollout, state);
        self.index.changed(thread, file.path());
    }

    /// Notes that something was appended to a rollout.
    pub(super) fn appended(&self, thread: &ThreadId, path: &Path) {
        self.catalogue().touch(thread);
        self.index.changed(thread, path);
    }

    /// Takes a name that was given.
    pub(super) fn named(&self, thread: &ThreadId, at_ms: i64, name: &str) {
        self.catalogue().set_name(thread, at_ms, name);
    }

    /// Forgets the writer of a thread, unless there is another by now.
    pub(super) fn forget(&self, thread: &ThreadId) {
        let mut writers = self.writers();
        if writers.get(thread).is_some_and(|writer| writer.strong_count() == 0) {
            writers.remove(thread);
        }
    }

    /// Returns the files that a thread consists of.
    pub(super) fn chain(&self, path: &Path) -> Result<Chain, StoreError> {
        Chain::of(path, |rollout| self.catalogue().path(rollout))
    }

    /// Reads a thread.
    pub(super) fn load(&self, thread: &ThreadId) -> Result<StoredThread, StoreError> {
        self.load_until(thread, &ForkPoint::End)
    }

    fn load_until(&self, thread: &ThreadId, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        let summary = self.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        let chain = self.chain(&summary.path)?;
        let until = load::cut(&chain, point)?;
        stored(ThreadSummary::clone(&summary), chain, until)
    }

    /// Looks at the rollouts of the home. What the index, or the catalogue, has in its present state is not read.
    fn look(&self, indexed: &HashMap<PathBuf, Indexed>) -> Result<(), StoreError> {
        let present = place::find(&self.home).map_err(StoreError::io("read the folder", &self.home))?;
        let names = names::read(&self.home).map_err(StoreError::io("read", self.home.join(names::NAMES)))?;
        let (known, gone) = {
            let catalogue = self.catalogue();
            let paths: HashSet<&PathBuf> = present.iter().map(|present| &present.path).collect();
            let mut known: HashMap<PathBuf, u64> = HashMap::new();
            let mut gone = Vec::new();
            for (thread, id, rollout) in catalogue.all_rollouts() {
                if paths.contains(&rollout.path) {
                    known.insert(rollout.path.clone(), super::catalogue::locked(&rollout.scan).bytes);
                } else {
                    gone.push((thread.clone(), id.clone(), rollout.path.clone()));
                }
            }
            (known, gone)
        };
        let changed: Vec<&Present> =
            present.iter().filter(|present| known.get(&present.path) != Some(&present.size)).collect();
        let scans = read_all(&changed, indexed);
        let mut catalogue = self.catalogue();
        for (thread, id, path) in gone {
            catalogue.remove(&thread, &id);
            self.index.changed(&thread, &path);
        }
        for (present, (scan, is_new)) in changed.into_iter().zip(scans) {
            let Some(scan) = scan else { continue };
            // Whoever writes it here knows it better.
            if self.writers().get(&present.name.thread).is_some_and(|writer| writer.strong_count() > 0)
                && catalogue.at(&present.name.thread, &present.path).is_some()
            {
                continue;
            }
            let state =
                Rollout { path: present.path.clone(), archived: present.archived, scan: Arc::new(Mutex::new(scan)) };
            catalogue.put(&present.name.thread, &present.name.rollout, state);
            if is_new {
                self.index.changed(&present.name.thread, &present.path);
            }
        }
        for path in indexed.keys().filter(|path| !path.exists()) {
            if let Some(name) = place::RolloutName::of(path) {
                self.index.changed(&name.thread, path);
            }
        }
        catalogue.set_names(names);
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }
}

/// Reads what rollouts say, several at once. Also tells which of them the index does not have.
fn read_all(present: &[&Present], indexed: &HashMap<PathBuf, Indexed>) -> Vec<(Option<Scan>, bool)> {
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

impl Store {
    /// Opens the threads of a home, which need not exist yet. `zone` is where the folders and names of new rollouts take
    /// their date from.
    ///
    /// # Errors
    ///
    /// Returns an error when the folder cannot be made or read. A broken index is no error: it is made anew.
    pub fn open(home: &Path, zone: TimeZone) -> Result<Self, StoreError> {
        fs::create_dir_all(home).map_err(StoreError::io("make the folder", home))?;
        let home = fs::canonicalize(home).map_err(StoreError::io("read the folder", home))?;
        let (connection, indexed) = index::read(&home);
        let catalogue = Arc::new(Mutex::new(Catalogue::default()));
        let index = IndexWriter::start(connection, Arc::clone(&catalogue));
        let shared =
            Shared { home, zone, catalogue, index, writers: Mutex::default(), looked_at: Mutex::new(Instant::now()) };
        shared.look(&indexed)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the home.
    pub fn home(&self) -> &Path {
        &self.shared.home
    }

    /// Looks for rollouts that came, changed or went since, such as those of another program.
    ///
    /// # Errors
    ///
    /// Returns an error when the folders cannot be read.
    pub fn refresh(&self) -> Result<(), StoreError> {
        self.shared.look(&HashMap::new())
    }

    /// Takes a new thread. Nothing is on disk until something worth storing happens in it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Exists`], [`StoreError::Busy`], or an error of the file system.
    pub fn create(&self, thread: NewThread) -> Result<ThreadWriter, StoreError> {
        if self.shared.summary(&thread.id).is_some() {
            return Err(StoreError::Exists { thread: thread.id });
        }
        let lock = WriterLock::take(&self.shared.home, &thread.id)?;
        if let Some(parent) = &thread.parent {
            self.shared.catalogue().set_parent(&thread.id, parent);
        }
        let path = self.shared.new_path(thread.created_at_ms, &thread.id, None);
        Ok(self.known(ThreadWriter::fresh(Arc::clone(&self.shared), lock, thread, path)))
    }

    /// Opens a stored thread to append to it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::Busy`], or an error of the file system.
    pub fn open_writer(&self, thread: &ThreadId) -> Result<ThreadWriter, StoreError> {
        self.find(thread)?;
        let lock = WriterLock::take(&self.shared.home, thread)?;
        self.open_locked(thread, lock)
    }

    fn open_locked(&self, thread: &ThreadId, lock: WriterLock) -> Result<ThreadWriter, StoreError> {
        let summary = self.shared.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        let file = RolloutFile::open(summary.path.clone())?;
        if let Some(rollout) = rollout_id(file.path()) {
            let state =
                Rollout { path: file.path().to_owned(), archived: summary.archived, scan: Arc::clone(file.scan()) };
            self.shared.catalogue().put(thread, &rollout, state);
        }
        Ok(self.known(ThreadWriter::stored(Arc::clone(&self.shared), lock, thread, file)))
    }

    fn known(&self, writer: ThreadWriter) -> ThreadWriter {
        self.shared.writers().insert(writer.id().clone(), Arc::downgrade(writer.inner()));
        writer
    }

    /// Copies a thread, or the beginning of it, to a new one. The copy stands alone: it does not need its source, and its
    /// history is kept in the same way. A turn that still runs is `interrupted` in it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::UnknownTurn`], or an error of the file
    /// system.
    pub fn fork(
        &self,
        source: &ThreadId,
        point: &ForkPoint,
        mut thread: NewThread,
    ) -> Result<(ThreadWriter, StoredThread), StoreError> {
        let summary = self.find(source)?;
        let chain = self.shared.chain(&summary.path)?;
        let until = load::cut(&chain, point)?;
        thread.history_mode = summary.history_mode;
        thread.forked_from = Some(source.clone());
        let (id, at_ms) = (thread.id.clone(), thread.created_at_ms);
        let settings = settings_applied(&id, &thread.settings);
        let writer = self.create(thread)?;
        let copied = copy(&chain, until, at_ms, &writer)
            .and_then(|()| writer.copy(&[NewLine { at_ms: now_ms(), kind: LineKind::Event, payload: settings }]));
        if let Err(error) = copied {
            // Half a copy is none.
            drop(writer);
            if let Err(error) = self.delete(&id) {
                tracing::warn!(thread = %id, %error, "half a copy of a thread is left");
            }
            return Err(error);
        }
        if let Some(name) = summary.name {
            writer.set_name(&name)?;
        }
        let stored = self.shared.load(&id)?;
        Ok((writer, stored))
    }

    /// Reads a thread, also an archived one.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], or an error of the file system.
    pub fn load(&self, thread: &ThreadId) -> Result<StoredThread, StoreError> {
        self.load_until(thread, &ForkPoint::End)
    }

    /// Reads the beginning of a thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::UnknownTurn`], or an error of the file system.
    pub fn load_until(&self, thread: &ThreadId, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        self.look_if_unknown(thread);
        self.shared.load_until(thread, point)
    }

    /// Reads the thread of a rollout, wherever it is.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], or an error of the file system.
    pub fn load_path(&self, path: &Path) -> Result<StoredThread, StoreError> {
        let no_rollout = |reason| StoreError::NoRollout { path: path.to_owned(), reason };
        let scan = Scan::of(path).map_err(StoreError::io("read the rollout", path))?;
        let meta = scan.meta.as_ref().ok_or_else(|| no_rollout("its first line does not say whose it is"))?;
        let thread = ThreadId::from(meta.id.as_str());
        let chain = self.shared.chain(path)?;
        let mut alone = Catalogue::default();
        for part in &chain.parts {
            let (Some(rollout), Ok(scan)) = (rollout_id(&part.path), Scan::of(&part.path)) else { continue };
            let owner = scan.meta.as_ref().map_or_else(|| thread.clone(), |meta| ThreadId::from(meta.id.as_str()));
            let state = Rollout { path: part.path.clone(), archived: false, scan: Arc::new(Mutex::new(scan)) };
            alone.put(&owner, &rollout, state);
        }
        let rollout = rollout_id(path).unwrap_or_else(|| meta.id.clone());
        alone.put(
            &thread,
            &rollout,
            Rollout { path: path.to_owned(), archived: false, scan: Arc::new(Mutex::new(scan)) },
        );
        let summary = alone.summary(&thread).ok_or_else(|| no_rollout("it does not say where its thread works"))?;
        stored(ThreadSummary::clone(&summary), chain, None)
    }

    /// Tells what is known of an id.
    pub fn resolve(&self, thread: &ThreadId) -> Resolution {
        self.look_if_unknown(thread);
        match self.shared.summary(thread) {
            None => Resolution::Unknown,
            Some(summary) if summary.archived => Resolution::Archived(ThreadSummary::clone(&summary)),
            Some(summary) => Resolution::Found(ThreadSummary::clone(&summary)),
        }
    }

    /// Looks at the home again for a thread that is not known, if that was not done just now.
    fn look_if_unknown(&self, thread: &ThreadId) {
        let looked_at = *self.shared.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if looked_at.elapsed() > LOOKED_AT_FOR
            && self.shared.summary(thread).is_none()
            && let Err(error) = self.refresh()
        {
            tracing::warn!(%thread, %error, "rollouts of other programs are not seen");
        }
    }

    /// Returns what is known of a thread that is not archived.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`] or [`StoreError::Archived`].
    pub fn find(&self, thread: &ThreadId) -> Result<ThreadSummary, StoreError> {
        match self.resolve(thread) {
            Resolution::Found(summary) => Ok(summary),
            Resolution::Archived(_) => Err(StoreError::Archived { thread: thread.clone() }),
            Resolution::Unknown => Err(StoreError::Unknown { thread: thread.clone() }),
        }
    }

    /// Lists threads.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::InvalidCursor`].
    pub fn list(&self, query: &ThreadListQuery) -> Result<Page<ThreadSummary>, StoreError> {
        let rows = self.rows(query)?;
        Ok(list::page(&rows, query, |row| Some(row.clone())))
    }

    fn rows(&self, query: &ThreadListQuery) -> Result<Vec<Arc<ThreadSummary>>, StoreError> {
        let descendants: Option<HashSet<ThreadId>> =
            query.ancestor.as_ref().map(|ancestor| self.descendants(ancestor).into_iter().collect());
        let summaries = self.shared.catalogue().summaries();
        list::rows(summaries, descendants.as_ref(), query)
    }

    /// Puts a thread away. Whoever writes it has to be closed before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::Busy`], or an error of the file system.
    pub fn archive(&self, thread: &ThreadId) -> Result<ThreadSummary, StoreError> {
        self.find(thread)?;
        let folder = self.shared.home.join(ARCHIVED);
        self.relocate(thread, true, |_| Some(folder.clone()))
    }

    /// Takes a thread back that was put away.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotArchived`], [`StoreError::Busy`], or an error of the file system.
    pub fn unarchive(&self, thread: &ThreadId) -> Result<ThreadSummary, StoreError> {
        if !matches!(self.resolve(thread), Resolution::Archived(_)) {
            return Err(StoreError::NotArchived { thread: thread.clone() });
        }
        self.relocate(thread, false, |name| place::folder_of(&self.shared.home, name))
    }

    /// Moves the files of a thread, each to the folder that `folder` names for it.
    fn relocate(
        &self,
        thread: &ThreadId,
        archived: bool,
        folder: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<ThreadSummary, StoreError> {
        let _lock = WriterLock::take(&self.shared.home, thread)?;
        let rollouts = self.shared.catalogue().rollouts(thread);
        // The newest file last: until it is moved the thread is where it was.
        for (id, rollout) in rollouts.into_iter().filter(|(_, rollout)| rollout.archived != archived) {
            let name = rollout.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(folder) = folder(name) else { continue };
            let path = folder.join(name);
            fs::create_dir_all(&folder).map_err(StoreError::io("make the folder", &folder))?;
            if path.exists() {
                let exists = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(StoreError::io("move a rollout to", path)(exists));
            }
            fs::rename(&rollout.path, &path).map_err(StoreError::io("move the rollout", &rollout.path))?;
            let moved = Rollout { path: path.clone(), archived, scan: rollout.scan };
            self.shared.catalogue().put(thread, &id, moved);
            self.shared.index.changed(thread, &rollout.path);
            self.shared.index.changed(thread, &path);
        }
        let summary = self.shared.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        Ok(ThreadSummary::clone(&summary))
    }

    /// Removes a thread for good, archived or not. Whoever writes it has to be closed before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`], [`StoreError::Referenced`] when the beginning of another
    /// thread is in it, or an error of the file system.
    pub fn delete(&self, thread: &ThreadId) -> Result<(), StoreError> {
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let _lock = WriterLock::take(&self.shared.home, thread)?;
        if self.shared.catalogue().is_referenced(thread) {
            return Err(StoreError::Referenced { thread: thread.clone() });
        }
        let rollouts = self.shared.catalogue().rollouts(thread);
        // The newest file first: what is left of a thread that is half removed is not what it was before a revert.
        for (id, rollout) in rollouts.into_iter().rev() {
            match fs::remove_file(&rollout.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("remove the rollout", &rollout.path)(error));
                }
                _ => {}
            }
            self.shared.catalogue().remove(thread, &id);
            self.shared.index.changed(thread, &rollout.path);
        }
        Ok(())
    }

    /// Gives a thread a name, through its open writer if it has one here, and returns the name as it is stored.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyName`], [`StoreError::Unknown`], [`StoreError::Busy`] when another process writes the
    /// thread, or an error of the file system.
    pub fn set_name(&self, thread: &ThreadId, name: &str) -> Result<String, StoreError> {
        if name.trim().is_empty() {
            return Err(StoreError::EmptyName);
        }
        self.with_writer(thread, |writer| writer.set_name(name))
    }

    /// Changes what is known of a thread's repository.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`] when another process writes the thread, or an error of the
    /// file system.
    pub fn change_git(&self, thread: &ThreadId, change: GitChange) -> Result<Option<GitInfo>, StoreError> {
        self.with_writer(thread, |writer| {
            let known = self.shared.summary(thread).and_then(|summary| summary.git.clone());
            let git = change.apply(known);
            writer.set_git(git.as_ref())?;
            Ok(git)
        })
    }

    /// Does something with the writer of a thread: the open one, or one for this only.
    fn with_writer<T>(
        &self,
        thread: &ThreadId,
        work: impl FnOnce(&Inner) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // The list must not be held when the writer goes: that takes the writer off the list.
        let known = self.shared.writers().get(thread).and_then(Weak::upgrade);
        if let Some(writer) = known
            && writer.is_open()
        {
            return work(&writer);
        }
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let lock = WriterLock::take(&self.shared.home, thread)?;
        work(self.open_locked(thread, lock)?.inner())
    }

    /// Notes that an agent was started by another, or does not belong to it any more.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Busy`] when another process writes the child, or an error of the file system.
    pub fn spawn_edge(&self, parent: &ThreadId, child: &ThreadId, status: EdgeStatus) -> Result<(), StoreError> {
        match status {
            // The child's rollout says it too, once there is one.
            EdgeStatus::Open => {
                self.shared.catalogue().set_parent(child, parent);
                Ok(())
            }
            EdgeStatus::Closed => self.with_writer(child, Inner::set_closed),
        }
    }

    /// Returns the agents that an agent started, oldest first.
    pub fn children(&self, thread: &ThreadId) -> Vec<(ThreadId, EdgeStatus)> {
        self.shared.catalogue().children(thread)
    }

    /// Returns the agents below an agent, each behind the one that started it.
    pub fn descendants(&self, thread: &ThreadId) -> Vec<ThreadId> {
        let mut children: HashMap<ThreadId, Vec<ThreadId>> = HashMap::new();
        for (child, (parent, _)) in self.shared.catalogue().edges() {
            children.entry(parent).or_default().push(child);
        }
        let mut found: Vec<ThreadId> = Vec::new();
        let mut seen = HashSet::from([thread.clone()]);
        let mut next = vec![thread.clone()];
        while let Some(parent) = next.pop() {
            let mut below = children.remove(&parent).unwrap_or_default();
            below.sort();
            // Rollouts can say anything, also that two agents started each other.
            below.retain(|child| seen.insert(child.clone()));
            found.extend(below.iter().cloned());
            next.extend(below.into_iter().rev());
        }
        found
    }

    /// Finds the threads whose messages have a text.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyTerm`] or [`StoreError::InvalidCursor`]. A thread that cannot be read is left out.
    pub fn search(&self, query: &SearchQuery) -> Result<Page<SearchHit>, StoreError> {
        let term = Term::new(&query.term)?;
        let threads = ThreadListQuery { search_term: None, ..query.threads.clone() };
        let rows = self.rows(&threads)?;
        Ok(list::page(&rows, &threads, |summary| {
            let snippet = self.snippet(summary, &term).unwrap_or_else(|error| {
                tracing::warn!(thread = %summary.id, %error, "a thread is not searched");
                None
            });
            snippet.map(|snippet| SearchHit { thread: summary.clone(), snippet })
        }))
    }

    fn snippet(&self, summary: &ThreadSummary, term: &Term) -> Result<Option<String>, StoreError> {
        let chain = self.shared.chain(&summary.path)?;
        if !search::may_have(&chain, term)? {
            return Ok(None);
        }
        Ok(search::first_snippet(&load::load(&chain, None)?.turns, term))
    }

    /// Finds the places of a text in a thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyTerm`], [`StoreError::InvalidCursor`], [`StoreError::Unknown`], or an error of the file
    /// system.
    pub fn search_occurrences(
        &self,
        thread: &ThreadId,
        term: &str,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Page<Occurrence>, StoreError> {
        let term = Term::new(term)?;
        let stored = self.load(thread)?;
        search::occurrences(thread, &stored.turns, &term, cursor, limit)
    }

    /// Waits until the index is written. That happens by itself, a moment after a change.
    pub fn flush(&self) {
        self.shared.index.flush();
    }
}

/// Copies the lines of a thread up to a place. A line that does not say when it was written gets a time.
fn copy(chain: &Chain, until: Option<Place>, at_ms: i64, writer: &ThreadWriter) -> Result<(), StoreError> {
    let mut result = Ok(());
    chain.each(|place, line| {
        if until.is_some_and(|until| place >= until) {
            return ControlFlow::Break(());
        }
        if line.kind != LineKind::Other && load::is_copied(line) {
            let line = NewLine { at_ms: line.at_ms.unwrap_or(at_ms), kind: line.kind, payload: line.payload() };
            result = writer.copy(&[line]);
        }
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    result
}

fn stored(summary: ThreadSummary, chain: Chain, until: Option<Place>) -> Result<StoredThread, StoreError> {
    let load::Loaded { turns, history, settings, usage, goal, damage, last_settings: _ } = load::load(&chain, until)?;
    Ok(StoredThread { summary, turns, history, settings, usage, goal, dynamic_tools: chain.meta.dynamic_tools, damage })
}
