//! All threads of a server home, in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trace_protocol::common::AbsolutePath;
use trace_runtime::ThreadId;

use super::rollout::chain::MAX_PARTS;
use super::rollout::scan::Scan;
use super::summary::{EdgeStatus, ThreadSummary};

/// The summary of a rollout, shared with the writer that appends to it.
pub(super) type SharedScan = Arc<Mutex<Scan>>;

/// A rollout in the catalogue.
#[derive(Debug, Clone)]
pub(super) struct Rollout {
    pub(super) path: PathBuf,
    /// Whether the thread is archived.
    pub(super) archived: bool,
    pub(super) scan: SharedScan,
}

#[derive(Debug, Default)]
struct Entry {
    /// The rollouts by their ids. A later part of the thread has a greater id.
    rollouts: BTreeMap<String, Rollout>,
    /// The summary of the thread, if it is up to date.
    summary: Option<Arc<ThreadSummary>>,
}

/// All threads of a server home.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    threads: HashMap<ThreadId, Entry>,
    /// The threads of rollouts, by the ids of the rollouts.
    by_rollout: HashMap<String, ThreadId>,
    /// Names that are not in rollouts, with the times at which they were given.
    names: HashMap<ThreadId, (i64, String)>,
    /// Parents of the agents that have no rollout yet.
    started: HashMap<ThreadId, ThreadId>,
}

impl Catalogue {
    /// Adds or updates a rollout.
    pub(super) fn put(&mut self, thread: &ThreadId, rollout: &str, state: Rollout) {
        self.by_rollout.insert(rollout.to_owned(), thread.clone());
        self.started.remove(thread);
        let entry = self.threads.entry(thread.clone()).or_default();
        entry.rollouts.insert(rollout.to_owned(), state);
        entry.summary = None;
    }

    pub(super) fn remove(&mut self, thread: &ThreadId, rollout: &str) {
        self.by_rollout.remove(rollout);
        let Some(entry) = self.threads.get_mut(thread) else { return };
        entry.rollouts.remove(rollout);
        entry.summary = None;
        if entry.rollouts.is_empty() {
            self.threads.remove(thread);
        }
    }

    /// Invalidates the summary of a thread.
    pub(super) fn touch(&mut self, thread: &ThreadId) {
        if let Some(entry) = self.threads.get_mut(thread) {
            entry.summary = None;
        }
    }

    /// Sets the names that are not in rollouts.
    pub(super) fn set_names(&mut self, names: HashMap<ThreadId, (i64, String)>) {
        for (thread, entry) in &mut self.threads {
            if self.names.get(thread) != names.get(thread) {
                entry.summary = None;
            }
        }
        self.names = names;
    }

    /// Sets a name that is not in a rollout.
    pub(super) fn set_name(&mut self, thread: &ThreadId, at_ms: i64, name: &str) {
        self.names.insert(thread.clone(), (at_ms, name.to_owned()));
        self.touch(thread);
    }

    /// Sets the parent of an agent that has no rollout yet.
    pub(super) fn set_parent(&mut self, child: &ThreadId, parent: &ThreadId) {
        if !self.threads.contains_key(child) {
            self.started.insert(child.clone(), parent.clone());
        }
    }

    /// Returns the rollouts of a thread, with their ids. The newest is the last.
    pub(super) fn rollouts(&self, thread: &ThreadId) -> Vec<(String, Rollout)> {
        let entry = self.threads.get(thread);
        entry.into_iter().flat_map(|entry| &entry.rollouts).map(|(id, state)| (id.clone(), state.clone())).collect()
    }

    pub(super) fn all_rollouts(&self) -> impl Iterator<Item = (&ThreadId, &String, &Rollout)> {
        self.threads
            .iter()
            .flat_map(|(thread, entry)| entry.rollouts.iter().map(move |(id, rollout)| (thread, id, rollout)))
    }

    pub(super) fn path(&self, rollout: &str) -> Option<PathBuf> {
        Some(self.threads.get(self.by_rollout.get(rollout)?)?.rollouts.get(rollout)?.path.clone())
    }

    /// Returns the rollout of a thread that has a path.
    pub(super) fn at(&self, thread: &ThreadId, path: &Path) -> Option<&Rollout> {
        self.threads.get(thread)?.rollouts.values().find(|rollout| rollout.path == path)
    }

    /// Returns the summary of a thread.
    pub(super) fn summary(&mut self, thread: &ThreadId) -> Option<Arc<ThreadSummary>> {
        if let Some(summary) = &self.threads.get(thread)?.summary {
            return Some(Arc::clone(summary));
        }
        let summary = Arc::new(self.summarize(thread)?);
        self.threads.get_mut(thread)?.summary = Some(Arc::clone(&summary));
        Some(summary)
    }

    /// Returns the summaries of all threads, in no particular order.
    pub(super) fn summaries(&mut self) -> Vec<Arc<ThreadSummary>> {
        let threads: Vec<ThreadId> = self.threads.keys().cloned().collect();
        threads.iter().filter_map(|thread| self.summary(thread)).collect()
    }

    /// Returns the children of an agent, oldest first.
    pub(super) fn children(&mut self, parent: &ThreadId) -> Vec<(ThreadId, EdgeStatus)> {
        let mut children: Vec<(ThreadId, EdgeStatus)> = Vec::new();
        for (thread, edge) in self.edges() {
            if edge.0 == *parent {
                children.push((thread, edge.1));
            }
        }
        children.sort_by(|one, other| one.0.cmp(&other.0));
        children
    }

    /// Returns the parent of each agent that has one.
    pub(super) fn edges(&mut self) -> HashMap<ThreadId, (ThreadId, EdgeStatus)> {
        let mut edges: HashMap<ThreadId, (ThreadId, EdgeStatus)> =
            self.started.iter().map(|(child, parent)| (child.clone(), (parent.clone(), EdgeStatus::Open))).collect();
        for summary in self.summaries() {
            if let Some(parent) = &summary.parent {
                edges.insert(summary.id.clone(), (parent.clone(), self.edge_status(&summary.id)));
            }
        }
        edges
    }

    /// Returns whether the edge between an agent and its parent is open.
    pub(super) fn edge_status(&self, child: &ThreadId) -> EdgeStatus {
        let entry = self.threads.get(child);
        let mut rollouts = entry.into_iter().flat_map(|entry| entry.rollouts.values());
        if rollouts.any(|rollout| locked(&rollout.scan).closed) { EdgeStatus::Closed } else { EdgeStatus::Open }
    }

    /// Returns whether the history of another thread begins in a rollout of this thread.
    pub(super) fn is_referenced(&self, thread: &ThreadId) -> bool {
        let Some(entry) = self.threads.get(thread) else { return false };
        self.all_rollouts().filter(|(other, ..)| *other != thread).any(|(.., rollout)| {
            let scan = locked(&rollout.scan);
            let base = scan.meta.as_ref().and_then(|meta| meta.base.as_ref());
            base.is_some_and(|base| entry.rollouts.contains_key(&base.rollout))
        })
    }

    fn summarize(&self, thread: &ThreadId) -> Option<ThreadSummary> {
        // A process that died early may have left a file without a first line. The file before it is used instead.
        let is_begun = |rollout: &&Rollout| locked(&rollout.scan).meta.is_some();
        let newest = self.threads.get(thread)?.rollouts.values().rev().find(is_begun)?;
        let chain = self.chain(newest);
        let (first, _) = chain.first()?;
        let meta = first.meta.as_ref()?;
        // The newest file that has a value decides, even if that file belongs to the thread from which this one was
        // forked.
        let says = |get: &dyn Fn(&Scan) -> Option<String>| chain.iter().find_map(|(scan, _)| get(scan));
        let own = || chain.iter().filter(|(scan, _)| scan.meta.as_ref().is_some_and(|other| other.id == meta.id));
        let created_at_ms =
            own().filter_map(|(scan, _)| Some(scan.meta.as_ref()?.created_at_ms)).min().unwrap_or(meta.created_at_ms);
        let name = own().filter_map(|(scan, _)| scan.name.clone()).max_by_key(|(at_ms, _)| *at_ms);
        let elsewhere = self.names.get(thread).filter(|(at_ms, _)| name.as_ref().is_none_or(|name| *at_ms > name.0));
        let turn_at_ms = own().filter_map(|(scan, _)| scan.turn_at_ms).max();
        let git = own().find_map(|(scan, _)| scan.git.clone()).unwrap_or_else(|| meta.git.clone());
        let cwd = says(&|scan| scan.cwd.clone()).unwrap_or_else(|| meta.cwd.clone());
        Some(ThreadSummary {
            id: thread.clone(),
            path: newest.path.clone(),
            archived: newest.archived,
            session: ThreadId::from(meta.session.as_str()),
            forked_from: meta.forked_from.as_deref().map(ThreadId::from),
            parent: meta.parent.as_deref().map(ThreadId::from),
            created_at_ms,
            updated_at_ms: first.updated_at_ms.unwrap_or(0).max(created_at_ms),
            recency_at_ms: turn_at_ms.unwrap_or(0).max(created_at_ms),
            preview: preview(&chain),
            name: elsewhere.cloned().or(name).map(|(_, name)| name),
            cwd: AbsolutePath::try_from(Path::new(&cwd)).or_else(|_| AbsolutePath::try_from(meta.folder())).ok()?,
            provider: says(&|scan| scan.provider.clone()).unwrap_or_else(|| meta.provider.clone()),
            model: says(&|scan| scan.model.clone()),
            effort: chain.iter().find(|(scan, _)| scan.model.is_some()).and_then(|(scan, _)| scan.effort.clone()),
            originator: meta.originator.clone(),
            version: meta.version.clone(),
            source: meta.source.clone(),
            thread_source: meta.thread_source.clone(),
            history_mode: meta.history_mode,
            agent_nickname: meta.agent_nickname.clone(),
            agent_role: meta.agent_role.clone(),
            agent_path: meta.agent_path.clone(),
            git,
            tokens_used: chain.iter().find_map(|(scan, _)| scan.tokens).unwrap_or(0),
        })
    }

    /// Returns the scans of a thread's files, the newest first, each with the number of the first line that does not
    /// belong to the thread.
    fn chain(&self, newest: &Rollout) -> Vec<(Scan, Option<u64>)> {
        let mut chain: Vec<(Scan, Option<u64>)> = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some((newest, None));
        while let Some((rollout, end)) = next {
            let scan = locked(&rollout.scan).clone();
            let base = scan.meta.as_ref().and_then(|meta| meta.base.clone());
            chain.push((scan, end));
            next = base.filter(|base| chain.len() < MAX_PARTS && seen.insert(base.rollout.clone())).and_then(|base| {
                let rollout = self.threads.get(self.by_rollout.get(&base.rollout)?)?.rollouts.get(&base.rollout)?;
                Some((rollout, Some(base.end_ordinal)))
            });
        }
        chain
    }
}

/// Returns the text of the first user message that belongs to a thread.
fn preview(chain: &[(Scan, Option<u64>)]) -> String {
    // The end of a file is limited by its own end and by the ends of all files that follow it in the history.
    let mut end = u64::MAX;
    let mut found = None;
    for (scan, own_end) in chain {
        end = end.min(own_end.unwrap_or(u64::MAX));
        if let Some((ordinal, text)) = &scan.preview
            && ordinal.is_none_or(|ordinal| ordinal < end)
        {
            found = Some(text.clone());
        }
    }
    found.unwrap_or_default()
}

/// Locks a scan, and ignores poisoning.
pub(super) fn locked(scan: &SharedScan) -> std::sync::MutexGuard<'_, Scan> {
    scan.lock().unwrap_or_else(PoisonError::into_inner)
}
