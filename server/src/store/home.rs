//! All threads of a home.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::tz::TimeZone;
use trace_protocol::thread::GitInfo;
use trace_runtime::ThreadId;

use super::catalogue::{Catalogue, Rollout};
use super::error::StoreError;
use super::query::{Page, SearchQuery, ThreadListQuery};
use super::rollout::chain::{Chain, Place};
use super::rollout::file::RolloutFile;
use super::rollout::line::{LineKind, NewLine};
use super::rollout::lock::WriterLock;
use super::rollout::place::{self, ARCHIVED, RolloutName};
use super::rollout::record::settings_applied;
use super::rollout::scan::Scan;
use super::search::{self, Occurrence, SearchHit, Term};
use super::shared::{Shared, stored};
use super::stored::{ForkPoint, StoredThread};
use super::summary::{EdgeStatus, GitChange, NewThread, Resolution, ThreadSummary};
use super::thread_writer::{Inner, ThreadWriter, now_ms};
use super::{list, load};

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
        // Another program may have gone on with it in another file.
        self.shared.look_if_long_ago();
        self.find(thread)?;
        let lock = WriterLock::take(self.shared.home(), thread)?;
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
            .and_then(|()| writer.copy(&[NewLine { at_ms: now_ms(), kind: LineKind::Event, payload: settings }]))
            .and_then(|()| summary.name.map_or(Ok(()), |name| writer.set_name(&name).map(drop)));
        if let Err(error) = copied {
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

    /// Moves the files of a thread, each to the folder that `folder` names for it.
    fn relocate(
        &self,
        thread: &ThreadId,
        archived: bool,
        folder: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<ThreadSummary, StoreError> {
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let _still = self.shared.still();
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
    /// Returns [`StoreError::Unknown`], [`StoreError::Busy`], [`StoreError::Referenced`] when the beginning of another
    /// thread is in it, or an error of the file system.
    pub fn delete(&self, thread: &ThreadId) -> Result<(), StoreError> {
        if self.resolve(thread) == Resolution::Unknown {
            return Err(StoreError::Unknown { thread: thread.clone() });
        }
        let _lock = WriterLock::take(self.shared.home(), thread)?;
        let _still = self.shared.still();
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
        self.shared.flush();
    }
}

/// Returns the rollout id of a file.
fn rollout_id(path: &Path) -> Option<String> {
    RolloutName::of(path).map(|name| name.rollout)
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
