//! All threads of a server home.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::tz::TimeZone;
use trace_protocol::thread::GitInfo;
use trace_runtime::ThreadId;

use super::catalogue::{Catalogue, Rollout};
use super::error::StoreError;
use super::query::{Page, SearchQuery, ThreadListQuery};
use super::rollout::chain::{Chain, read_meta};
use super::rollout::file::RolloutFile;
use super::rollout::lock::WriterLock;
use super::rollout::place::{self, ARCHIVED, RolloutName};
use super::rollout::scan::Scan;
use super::search::{self, Occurrence, SearchHit, Term};
use super::shared::{Shared, stored};
use super::stored::{ForkPoint, StoredThread};
use super::summary::{EdgeStatus, GitChange, NewThread, Resolution, ThreadSummary};
use super::thread_writer::{Inner, ThreadWriter};
use super::{list, load};
use crate::private;

/// All threads of a server home. Clones refer to the same store. All methods can be called from any thread.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
    /// Writers that are open in this process.
    writers: Arc<Mutex<HashMap<ThreadId, Weak<Inner>>>>,
}

impl Store {
    /// Opens the threads of a server home, which need not exist yet. `zone` determines the dates in the folders and the
    /// names of new rollouts.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or read. A damaged index is not an error: it is rebuilt.
    pub fn open(home: &Path, zone: TimeZone) -> Result<Self, StoreError> {
        Ok(Self { shared: Arc::new(Shared::open(home, zone)?), writers: Arc::default() })
    }

    /// Returns the path of the server home.
    pub fn home(&self) -> &Path {
        self.shared.home()
    }

    /// Looks for rollouts that were created, changed or deleted by other programs.
    ///
    /// # Errors
    ///
    /// Returns an error if the folders cannot be read.
    pub fn refresh(&self) -> Result<(), StoreError> {
        self.shared.refresh()
    }

    /// Creates a thread. Its rollout is created later, with the first event that is worth storing.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Exists`], [`StoreError::Busy`], or an error of the file system.
    pub fn create(&self, thread: NewThread) -> Result<ThreadWriter, StoreError> {
        if self.shared.summary(&thread.id).is_some() {
            return Err(StoreError::Exists { thread: thread.id });
        }
        let lock = WriterLock::take(self.shared.home(), &thread.id)?;
        if let Some(parent) = &thread.parent {
            self.shared.catalogue().set_parent(&thread.id, parent);
        }
        let path = self.shared.new_path(thread.created_at_ms, &thread.id, None);
        Ok(self.known(ThreadWriter::fresh(Arc::clone(&self.shared), lock, thread, path)))
    }

    /// Opens a stored thread for appending.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::Busy`], or an error of the file system.
    pub fn open_writer(&self, thread: &ThreadId) -> Result<ThreadWriter, StoreError> {
        self.find(thread)?;
        let lock = WriterLock::take(self.shared.home(), thread)?;
        // Before this process had the lock, another program may have continued the thread in another file, or archived
        // it.
        self.shared.refresh_thread(&self.shared.block_moves(), thread)?;
        self.find(thread)?;
        self.open_locked(thread, lock)
    }

    fn open_locked(&self, thread: &ThreadId, lock: WriterLock) -> Result<ThreadWriter, StoreError> {
        let summary = self.shared.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        let file = RolloutFile::open(summary.path.clone())?;
        self.shared.opened(thread, &file, summary.archived);
        Ok(self.known(ThreadWriter::stored(Arc::clone(&self.shared), lock, thread, file)))
    }

    fn writers(&self) -> MutexGuard<'_, HashMap<ThreadId, Weak<Inner>>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, writer: ThreadWriter) -> ThreadWriter {
        let mut writers = self.writers();
        writers.retain(|_, writer| writer.strong_count() > 0);
        writers.insert(writer.id().clone(), Arc::downgrade(writer.inner()));
        drop(writers);
        writer
    }

    /// Copies a thread, or its beginning, to a new thread. The copy does not depend on its source, and has the same
    /// history mode. A turn that still runs is `interrupted` in the copy.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::UnknownTurn`], or an error of the file
    /// system.
    pub fn fork(
        &self,
        source: &ThreadId,
        point: &ForkPoint,
        thread: NewThread,
    ) -> Result<(ThreadWriter, StoredThread), StoreError> {
        self.shared.refresh_if_stale();
        let summary = self.find(source)?;
        let chain = self.shared.chain(&summary.path)?;
        self.fork_of(&summary, &chain, point, thread)
    }

    /// Copies the thread of any rollout, or its beginning, to a new thread. The rollout may be anywhere. It stays
    /// unchanged, and its own thread does not become known to the store.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], [`StoreError::UnknownTurn`], or an error of the file system.
    pub fn fork_path(
        &self,
        source: &Path,
        point: &ForkPoint,
        thread: NewThread,
    ) -> Result<(ThreadWriter, StoredThread), StoreError> {
        let (summary, chain) = self.alone(source)?;
        self.fork_of(&summary, &chain, point, thread)
    }

    fn fork_of(
        &self,
        source: &ThreadSummary,
        chain: &Chain,
        point: &ForkPoint,
        mut thread: NewThread,
    ) -> Result<(ThreadWriter, StoredThread), StoreError> {
        let until = load::cut(chain, point)?;
        thread.history_mode = source.history_mode;
        thread.forked_from = Some(source.id.clone());
        let id = thread.id.clone();
        let writer = self.create(thread)?;
        let copied = writer
            .begin_copy(chain, until)
            .and_then(|()| source.name.as_ref().map_or(Ok(()), |name| writer.set_name(name).map(drop)));
        if let Err(error) = copied {
            if !writer.is_materialized() {
                return Err(error);
            }
            // Remove the incomplete copy.
            drop(writer);
            if let Err(error) = self.delete(&id) {
                tracing::warn!(thread = %id, %error, "an incomplete copy of a thread is left");
            }
            return Err(error);
        }
        let stored = self.shared.load(&id)?;
        Ok((writer, stored))
    }

    /// Reads a thread. It may be archived.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], or an error of the file system.
    pub fn load(&self, thread: &ThreadId) -> Result<StoredThread, StoreError> {
        self.load_until(thread, &ForkPoint::End)
    }

    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::UnknownTurn`], or an error of the file system.
    pub fn load_until(&self, thread: &ThreadId, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        self.shared.refresh_if_stale();
        match self.shared.load_until(thread, point) {
            Err(error) if error.is_missing() => {
                // Another program may have moved the rollout since the last look.
                self.shared.refresh()?;
                self.shared.load_until(thread, point)
            }
            result => result,
        }
    }

    /// Reads the thread of any rollout. The thread does not become known to the store; see [`Store::adopt`].
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], or an error of the file system.
    pub fn load_path(&self, path: &Path) -> Result<StoredThread, StoreError> {
        self.load_path_until(path, &ForkPoint::End)
    }

    /// Reads the beginning of the thread of any rollout.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], [`StoreError::UnknownTurn`], or an error of the file system.
    pub fn load_path_until(&self, path: &Path, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        let (summary, chain) = self.alone(path)?;
        let until = load::cut(&chain, point)?;
        stored(summary, chain, until)
    }

    /// Returns the id of the thread that a rollout stores. A relative path is relative to the server home. At most the
    /// first line of the file is read.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], or an error of the file system.
    pub fn thread_at(&self, path: &Path) -> Result<ThreadId, StoreError> {
        self.owner(&self.real(path)?)
    }

    /// Makes the thread of any rollout known to the store, so that it can be found, read, forked and written by its id.
    /// New lines are appended to that file, while the writer lock is in this server home. If the file is outside the
    /// folders of threads, the thread is in no list, can be neither archived nor deleted, and is forgotten when the
    /// store is closed. If turns of it are dropped, it may continue in a new file in the server home, and then it is
    /// one of its threads.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], [`StoreError::Elsewhere`] if the server home has another rollout of the
    /// thread, [`StoreError::Busy`] if another file of the thread is being written, or an error of the file system.
    pub fn adopt(&self, path: &Path) -> Result<ThreadSummary, StoreError> {
        let path = self.real(path)?;
        let thread = self.owner(&path)?;
        let guard = self.shared.block_moves();
        self.shared.refresh_thread(&guard, &thread)?;
        let unknown = || StoreError::Unknown { thread: thread.clone() };
        if !self.shared.is_kept(&path) && self.shared.catalogue().at(&thread, &path).is_none() {
            let known = self.shared.catalogue().rollouts(&thread);
            if let Some((_, rollout)) = known.iter().find(|(_, rollout)| self.shared.is_kept(&rollout.path)) {
                return Err(StoreError::Elsewhere { thread, path: rollout.path.clone() });
            }
            let writer = self.writers().get(&thread).and_then(Weak::upgrade);
            if writer.is_some_and(|writer| writer.is_open()) {
                return Err(StoreError::Busy { thread });
            }
            let scan = Scan::of(&path).map_err(StoreError::io("read the rollout", &path))?;
            let id = RolloutName::id(&thread, &path);
            let mut catalogue = self.shared.catalogue();
            for (id, _) in known {
                catalogue.remove(&thread, &id);
            }
            catalogue.put(&thread, &id, Rollout { path, archived: false, scan: Arc::new(Mutex::new(scan)) });
        }
        self.shared.summary(&thread).map(|summary| ThreadSummary::clone(&summary)).ok_or_else(unknown)
    }

    /// Returns the canonical path of a file that a client named.
    fn real(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let path = self.shared.home().join(path);
        let path = fs::canonicalize(&path).map_err(StoreError::io("find the rollout", &path))?;
        // Reading a pipe or a device could block forever.
        match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => {
                Err(StoreError::NoRollout { path, reason: "it is not a regular file" })
            }
            Ok(_) => Ok(place::below(self.shared.home(), path)),
            Err(error) => Err(StoreError::io("find the rollout", path)(error)),
        }
    }

    /// Returns the id of the thread that a rollout stores.
    fn owner(&self, path: &Path) -> Result<ThreadId, StoreError> {
        if self.shared.is_kept(path)
            && let Some(name) = RolloutName::of(path)
        {
            return Ok(name.thread);
        }
        let meta = read_meta(path)?;
        if !place::is_id(&meta.id) {
            return Err(StoreError::NoRollout { path: path.to_owned(), reason: "its first line has an invalid id" });
        }
        Ok(ThreadId::from(meta.id))
    }

    /// Summarizes a rollout with only the rollouts in which its history begins.
    fn alone(&self, path: &Path) -> Result<(ThreadSummary, Chain), StoreError> {
        let path = self.real(path)?;
        let thread = self.owner(&path)?;
        let chain = self.shared.chain(&path)?;
        let mut alone = Catalogue::default();
        for part in &chain.parts {
            let scan = Scan::of(&part.path).map_err(StoreError::io("read the rollout", &part.path))?;
            let owner = scan.meta.as_ref().map_or_else(|| thread.clone(), |meta| ThreadId::from(meta.id.as_str()));
            // The last part is the rollout itself.
            let owner = if part.path == path { thread.clone() } else { owner };
            let state = Rollout { path: part.path.clone(), archived: false, scan: Arc::new(Mutex::new(scan)) };
            alone.put(&owner, &RolloutName::id(&owner, &part.path), state);
        }
        let reason = "its first line has no folder";
        let summary = alone.summary(&thread).ok_or(StoreError::NoRollout { path, reason })?;
        Ok((ThreadSummary::clone(&summary), chain))
    }

    /// Returns whether a thread exists, and whether it is archived.
    pub fn resolve(&self, thread: &ThreadId) -> Resolution {
        self.refresh_if_unknown(thread);
        match self.shared.summary(thread) {
            None => Resolution::Unknown,
            Some(summary) if summary.archived => Resolution::Archived(ThreadSummary::clone(&summary)),
            Some(summary) => Resolution::Found(ThreadSummary::clone(&summary)),
        }
    }

    /// Looks at the server home again if a thread is not known.
    fn refresh_if_unknown(&self, thread: &ThreadId) {
        if self.shared.summary(thread).is_none() {
            self.shared.refresh_if_stale();
        }
    }

    /// Returns the summary of a thread that is not archived.
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

    /// Lists threads. Before the first page, the store looks for threads of other programs, unless it did so a moment
    /// ago.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::InvalidCursor`].
    pub fn list(&self, query: &ThreadListQuery) -> Result<Page<ThreadSummary>, StoreError> {
        if query.cursor.is_none() {
            self.shared.refresh_if_stale();
        }
        let rows = self.rows(query)?;
        Ok(list::page(&rows, query, |row| Some(row.clone())))
    }

    fn rows(&self, query: &ThreadListQuery) -> Result<Vec<Arc<ThreadSummary>>, StoreError> {
        let descendants: Option<HashSet<ThreadId>> =
            query.ancestor.as_ref().map(|ancestor| self.descendants(ancestor).into_iter().collect());
        let mut summaries = self.shared.catalogue().summaries();
        // Threads outside of the server home are forgotten when the process ends, so lists do not show them.
        summaries.retain(|summary| self.shared.is_kept(&summary.path));
        list::rows(summaries, descendants.as_ref(), query)
    }

    /// Archives a thread. Its writer must be closed before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Archived`], [`StoreError::Busy`], [`StoreError::Outside`], or an error
    /// of the file system.
    pub fn archive(&self, thread: &ThreadId) -> Result<ThreadSummary, StoreError> {
        self.find(thread)?;
        self.check_kept(thread)?;
        let folder = self.shared.home().join(ARCHIVED);
        self.relocate(thread, true, |_| Some(folder.clone()))
    }

    /// Unarchives a thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotArchived`], [`StoreError::Busy`], or an error of the file system.
    pub fn unarchive(&self, thread: &ThreadId) -> Result<ThreadSummary, StoreError> {
        if !matches!(self.resolve(thread), Resolution::Archived(_)) {
            return Err(StoreError::NotArchived { thread: thread.clone() });
        }
        self.relocate(thread, false, |name| place::folder_of(self.shared.home(), name))
    }

    /// Returns an error if the rollout of a thread is not in the folders of the server home.
    fn check_kept(&self, thread: &ThreadId) -> Result<(), StoreError> {
        match self.shared.summary(thread) {
            Some(summary) if !self.shared.is_kept(&summary.path) => {
                Err(StoreError::Outside { thread: thread.clone(), path: summary.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Moves the rollouts of a thread, each to the folder that `folder` returns for its name.
    fn relocate(
        &self,
        thread: &ThreadId,
        archived: bool,
        folder: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<ThreadSummary, StoreError> {
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let guard = self.shared.block_moves();
        // Another program may have continued the thread in another file.
        self.shared.refresh_thread(&guard, thread)?;
        let mut rollouts = self.shared.catalogue().rollouts(thread);
        rollouts.retain(|(_, rollout)| rollout.archived != archived && self.shared.is_kept(&rollout.path));
        // The newest file is moved last, because its place decides whether the thread is archived.
        for (id, rollout) in rollouts {
            let name = rollout.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let reason = "its name has no date";
            let folder = folder(name).ok_or_else(|| StoreError::NoRollout { path: rollout.path.clone(), reason })?;
            let path = folder.join(name);
            private::create_folders(&folder).map_err(StoreError::io("create the folder", &folder))?;
            if path.exists() {
                let exists = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(StoreError::io("move a rollout to", path)(exists));
            }
            fs::rename(&rollout.path, &path).map_err(StoreError::io("move the rollout", &rollout.path))?;
            let moved = Rollout { path: path.clone(), archived, scan: rollout.scan };
            self.shared.catalogue().put(thread, &id, moved);
            self.shared.moved(thread, &rollout.path);
            self.shared.moved(thread, &path);
        }
        let summary = self.shared.summary(thread).ok_or_else(|| StoreError::Unknown { thread: thread.clone() })?;
        Ok(ThreadSummary::clone(&summary))
    }

    /// Deletes a thread, which may be archived. Its writer must be closed before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`], [`StoreError::Outside`], [`StoreError::Referenced`] if
    /// the history of another thread begins in this one, or an error of the file system.
    pub fn delete(&self, thread: &ThreadId) -> Result<(), StoreError> {
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        self.check_kept(thread)?;
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let guard = self.shared.block_moves();
        // Another program may have continued the thread, or forked it.
        self.shared.refresh_all(&guard, &HashMap::new())?;
        if self.shared.catalogue().is_referenced(thread) {
            return Err(StoreError::Referenced { thread: thread.clone() });
        }
        let rollouts = self.shared.catalogue().rollouts(thread);
        // The newest file is deleted last: if the deletion is incomplete, turns that were dropped do not come back.
        for (id, rollout) in rollouts {
            // If the thread began in a file outside of the server home, that file stays and is forgotten.
            if self.shared.is_kept(&rollout.path)
                && let Err(error) = fs::remove_file(&rollout.path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(StoreError::io("remove the rollout", &rollout.path)(error));
            }
            self.shared.catalogue().remove(thread, &id);
            self.shared.moved(thread, &rollout.path);
        }
        Ok(())
    }

    /// Names a thread, and returns the name as it is stored. It uses the open writer of this process if there is one.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyName`], [`StoreError::Unknown`], [`StoreError::Busy`] if another process writes the
    /// thread, or an error of the file system.
    pub fn set_name(&self, thread: &ThreadId, name: &str) -> Result<String, StoreError> {
        if name.trim().is_empty() {
            return Err(StoreError::EmptyName);
        }
        self.with_writer(thread, |writer| writer.set_name(name))
    }

    /// Changes the Git information of a thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`] if another process writes the thread, or an error of the
    /// file system.
    pub fn change_git(&self, thread: &ThreadId, change: GitChange) -> Result<Option<GitInfo>, StoreError> {
        self.with_writer(thread, |writer| {
            let known = self.shared.summary(thread).and_then(|summary| summary.git.clone());
            let git = change.apply(known);
            writer.set_git(git.as_ref())?;
            Ok(git)
        })
    }

    /// Calls a function with the open writer of a thread, or with a temporary one.
    fn with_writer<T>(
        &self,
        thread: &ThreadId,
        work: impl FnOnce(&Inner) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let known = self.writers().get(thread).and_then(Weak::upgrade);
        if let Some(writer) = known
            && writer.is_open()
        {
            return work(&writer);
        }
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let lock = WriterLock::take(self.shared.home(), thread)?;
        self.shared.refresh_thread(&self.shared.block_moves(), thread)?;
        work(self.open_locked(thread, lock)?.inner())
    }

    /// Stores that an agent was spawned by another one, or that it was closed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Busy`] if another process writes the child, or an error of the file system.
    pub fn spawn_edge(&self, parent: &ThreadId, child: &ThreadId, status: EdgeStatus) -> Result<(), StoreError> {
        match status {
            // The rollout of the child will contain its parent too.
            EdgeStatus::Open => {
                self.shared.catalogue().set_parent(child, parent);
                Ok(())
            }
            EdgeStatus::Closed => self.with_writer(child, Inner::set_closed),
        }
    }

    /// Returns the children of an agent, oldest first.
    pub fn children(&self, thread: &ThreadId) -> Vec<(ThreadId, EdgeStatus)> {
        self.shared.catalogue().children(thread)
    }

    /// Returns the descendants of an agent. Each one follows its parent.
    pub fn descendants(&self, thread: &ThreadId) -> Vec<ThreadId> {
        self.below(thread, |_| true)
    }

    /// Returns the descendants of an agent that were not closed. Each one follows its parent.
    pub fn open_descendants(&self, thread: &ThreadId) -> Vec<ThreadId> {
        self.below(thread, |status| status == EdgeStatus::Open)
    }

    fn below(&self, thread: &ThreadId, counts: impl Fn(EdgeStatus) -> bool) -> Vec<ThreadId> {
        let mut children: HashMap<ThreadId, Vec<ThreadId>> = HashMap::new();
        for (child, (parent, status)) in self.shared.catalogue().edges() {
            if counts(status) {
                children.entry(parent).or_default().push(child);
            }
        }
        let mut found: Vec<ThreadId> = Vec::new();
        let mut seen = HashSet::from([thread.clone()]);
        let mut next = vec![thread.clone()];
        while let Some(parent) = next.pop() {
            let mut below = children.remove(&parent).unwrap_or_default();
            below.sort();
            // Rollouts can contain anything, also two agents that are each other's parents.
            below.retain(|child| seen.insert(child.clone()));
            found.extend(below.iter().cloned());
            next.extend(below.into_iter().rev());
        }
        found
    }

    /// Finds the threads whose messages contain a text.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyTerm`] or [`StoreError::InvalidCursor`]. A thread that cannot be read is skipped.
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

    /// Finds the occurrences of a text in a thread.
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

    /// Waits until all changes are in the index. Without this call, they are written after a short delay.
    pub fn flush(&self) {
        self.shared.flush();
    }
}
