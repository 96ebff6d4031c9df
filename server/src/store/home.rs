//! All threads of a home.

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

/// All threads of a home. Clones are the same store; every call may come from any thread.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
    /// Writers that are open here.
    writers: Arc<Mutex<HashMap<ThreadId, Weak<Inner>>>>,
}

impl Store {
    /// Opens the threads of a home, which need not exist yet. `zone` is where the folders and names of new rollouts take
    /// their date from.
    ///
    /// # Errors
    ///
    /// Returns an error when the folder cannot be made or read. A broken index is no error: it is made anew.
    pub fn open(home: &Path, zone: TimeZone) -> Result<Self, StoreError> {
        Ok(Self { shared: Arc::new(Shared::open(home, zone)?), writers: Arc::default() })
    }

    /// Returns the home.
    pub fn home(&self) -> &Path {
        self.shared.home()
    }

    /// Looks for rollouts that came, changed or went since, such as those of another program.
    ///
    /// # Errors
    ///
    /// Returns an error when the folders cannot be read.
    pub fn refresh(&self) -> Result<(), StoreError> {
        self.shared.look()
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
        let lock = WriterLock::take(self.shared.home(), &thread.id)?;
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
        let lock = WriterLock::take(self.shared.home(), thread)?;
        // Until now another program may have gone on with it in another file, or put it away.
        self.shared.look_at(&self.shared.block_moves(), thread)?;
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
        thread: NewThread,
    ) -> Result<(ThreadWriter, StoredThread), StoreError> {
        self.shared.look_if_long_ago();
        let summary = self.find(source)?;
        let chain = self.shared.chain(&summary.path)?;
        self.fork_of(&summary, &chain, point, thread)
    }

    /// Copies the thread of a rollout, or the beginning of it, to a new one, wherever the rollout is. The rollout stays as
    /// it is, and nothing else is known of its thread afterwards.
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
            // Half a copy is none.
            drop(writer);
            if let Err(error) = self.delete(&id) {
                tracing::warn!(thread = %id, %error, "half a copy of a thread is left");
            }
            return Err(error);
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
        self.shared.look_if_long_ago();
        match self.shared.load_until(thread, point) {
            Err(error) if error.is_missing() => {
                // Another program moved it since.
                self.shared.look()?;
                self.shared.load_until(thread, point)
            }
            result => result,
        }
    }

    /// Reads the thread of a rollout, wherever it is. Nothing is known of the thread afterwards; see [`Store::adopt`].
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], or an error of the file system.
    pub fn load_path(&self, path: &Path) -> Result<StoredThread, StoreError> {
        self.load_path_until(path, &ForkPoint::End)
    }

    /// Reads the beginning of the thread of a rollout, wherever it is.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], [`StoreError::UnknownTurn`], or an error of the file system.
    pub fn load_path_until(&self, path: &Path, point: &ForkPoint) -> Result<StoredThread, StoreError> {
        let (summary, chain) = self.alone(path)?;
        let until = load::cut(&chain, point)?;
        stored(summary, chain, until)
    }

    /// Returns the thread of a rollout, wherever it is; a relative path is one in the home. At most the first line of the
    /// file is read.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], or an error of the file system.
    pub fn thread_at(&self, path: &Path) -> Result<ThreadId, StoreError> {
        self.owner(&self.real(path)?)
    }

    /// Makes the thread of a rollout known, wherever the file is: from now on it is found, read, copied and written by its
    /// id. What is appended goes into that file, under the lock that the thread has in this home. If the file is not where
    /// the home keeps threads, the thread is in no list, is neither archived nor deleted here, and is forgotten when the
    /// store is closed. When turns of it are dropped, it may go on in the home, and is one of its threads from then on.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NoRollout`], [`StoreError::Elsewhere`] when the home has the thread in another file,
    /// [`StoreError::Busy`] when the thread is written in another file, or an error of the file system.
    pub fn adopt(&self, path: &Path) -> Result<ThreadSummary, StoreError> {
        let path = self.real(path)?;
        let thread = self.owner(&path)?;
        let guard = self.shared.block_moves();
        self.shared.look_at(&guard, &thread)?;
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

    /// Returns where a file is that a client named.
    fn real(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let path = self.shared.home().join(path);
        let path = fs::canonicalize(&path).map_err(StoreError::io("find the rollout", &path))?;
        // A pipe or a device would be read for ever.
        match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => Err(StoreError::NoRollout { path, reason: "it is no file" }),
            Ok(_) => Ok(place::below(self.shared.home(), path)),
            Err(error) => Err(StoreError::io("find the rollout", path)(error)),
        }
    }

    /// Returns whose rollout a file is.
    fn owner(&self, path: &Path) -> Result<ThreadId, StoreError> {
        if self.shared.is_kept(path)
            && let Some(name) = RolloutName::of(path)
        {
            return Ok(name.thread);
        }
        let meta = read_meta(path)?;
        if !place::is_id(&meta.id) {
            return Err(StoreError::NoRollout {
                path: path.to_owned(),
                reason: "its first line has an id that is none",
            });
        }
        Ok(ThreadId::from(meta.id))
    }

    /// Looks at a rollout as if there were no others but those that it begins in.
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
        let reason = "it does not say where its thread works";
        let summary = alone.summary(&thread).ok_or(StoreError::NoRollout { path, reason })?;
        Ok((ThreadSummary::clone(&summary), chain))
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

    /// Looks at the home again for a thread that is not known.
    fn look_if_unknown(&self, thread: &ThreadId) {
        if self.shared.summary(thread).is_none() {
            self.shared.look_if_long_ago();
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

    /// Lists threads. A first page also shows those that other programs have made until a moment ago.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::InvalidCursor`].
    pub fn list(&self, query: &ThreadListQuery) -> Result<Page<ThreadSummary>, StoreError> {
        if query.cursor.is_none() {
            self.shared.look_if_long_ago();
        }
        let rows = self.rows(query)?;
        Ok(list::page(&rows, query, |row| Some(row.clone())))
    }

    fn rows(&self, query: &ThreadListQuery) -> Result<Vec<Arc<ThreadSummary>>, StoreError> {
        let descendants: Option<HashSet<ThreadId>> =
            query.ancestor.as_ref().map(|ancestor| self.descendants(ancestor).into_iter().collect());
        let mut summaries = self.shared.catalogue().summaries();
        // Threads from elsewhere would be gone from lists with the process.
        summaries.retain(|summary| self.shared.is_kept(&summary.path));
        list::rows(summaries, descendants.as_ref(), query)
    }

    /// Puts a thread away. Whoever writes it has to be closed before.
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

    /// Takes a thread back that was put away.
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

    /// Refuses to move or remove the file of a thread that is not among those of the home.
    fn check_kept(&self, thread: &ThreadId) -> Result<(), StoreError> {
        match self.shared.summary(thread) {
            Some(summary) if !self.shared.is_kept(&summary.path) => {
                Err(StoreError::Outside { thread: thread.clone(), path: summary.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Moves the files of a thread, each to the folder that `folder` names for it.
    fn relocate(
        &self,
        thread: &ThreadId,
        archived: bool,
        folder: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<ThreadSummary, StoreError> {
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let guard = self.shared.block_moves();
        // Another program may have gone on with it in another file.
        self.shared.look_at(&guard, thread)?;
        let mut rollouts = self.shared.catalogue().rollouts(thread);
        rollouts.retain(|(_, rollout)| rollout.archived != archived && self.shared.is_kept(&rollout.path));
        // The newest file last: until it is moved the thread is where it was.
        for (id, rollout) in rollouts {
            let name = rollout.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let reason = "its name has no date";
            let folder = folder(name).ok_or_else(|| StoreError::NoRollout { path: rollout.path.clone(), reason })?;
            let path = folder.join(name);
            private::create_folders(&folder).map_err(StoreError::io("make the folder", &folder))?;
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

    /// Removes a thread for good, archived or not. Whoever writes it has to be closed before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`], [`StoreError::Outside`], [`StoreError::Referenced`] when the
    /// beginning of another thread is in it, or an error of the file system.
    pub fn delete(&self, thread: &ThreadId) -> Result<(), StoreError> {
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        self.check_kept(thread)?;
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let guard = self.shared.block_moves();
        // Another program may have gone on with it, or with a copy that begins in it.
        self.shared.look_at_all(&guard, &HashMap::new())?;
        if self.shared.catalogue().is_referenced(thread) {
            return Err(StoreError::Referenced { thread: thread.clone() });
        }
        let rollouts = self.shared.catalogue().rollouts(thread);
        // The newest file last: turns that were dropped do not come back if this ends half way.
        for (id, rollout) in rollouts {
            // A file elsewhere, in which the thread began, stays and is forgotten.
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
        self.shared.look_at(&self.shared.block_moves(), thread)?;
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
        self.below(thread, |_| true)
    }

    /// Returns the agents below an agent that belong to it still, each behind the one that started it.
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
        self.shared.flush();
    }
}
