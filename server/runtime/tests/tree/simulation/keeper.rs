//! The host of one life of a simulated process: it stores events until the process dies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trace_runtime::host::QuestionId;
use trace_runtime::tree::{self, AgentStatus, ROOT};
use trace_runtime::{Agent, AgentHost, Answer, Event, Host, Question, ThreadId};

use super::store::Store;

/// The host of one life.
pub(super) struct Keeper {
    store: Arc<Mutex<Store>>,
    /// Number of events that are stored before the process dies.
    left: AtomicU64,
    is_over: AtomicBool,
    pub(super) died: CancellationToken,
    agents: Mutex<Vec<Agent>>,
    /// Most agents that the tree keeps.
    pub(super) kept: usize,
    /// Agents that were removed to make room for others.
    forgotten: Mutex<BTreeSet<ThreadId>>,
    held: Mutex<BTreeSet<ThreadId>>,
    began: Instant,
}

impl Keeper {
    pub(super) fn new(store: Arc<Mutex<Store>>, dies_after: Option<u64>, kept: usize) -> Self {
        Self {
            store,
            left: AtomicU64::new(dies_after.unwrap_or(u64::MAX)),
            is_over: AtomicBool::new(false),
            died: CancellationToken::new(),
            agents: Mutex::default(),
            kept,
            forgotten: Mutex::default(),
            held: Mutex::default(),
            began: Instant::now(),
        }
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().expect("nobody broke down with it")
    }

    /// Appends to the story, unless the life is over.
    pub(super) fn say(&self, what: &str) {
        if !self.is_over() {
            let at = self.at();
            self.store().say(at, what);
        }
    }

    pub(super) fn at(&self) -> Duration {
        self.began.elapsed()
    }

    /// Stops storing.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.died.cancel();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns all agents, the root first.
    pub(super) fn agents(&self) -> Vec<Agent> {
        self.agents.lock().expect("nobody broke down with it").clone()
    }

    pub(super) fn add(&self, agent: Agent) {
        self.agents.lock().expect("nobody broke down with it").push(agent);
    }

    pub(super) fn remove(&self, thread: &ThreadId) {
        self.agents.lock().expect("nobody broke down with it").retain(|agent| agent.id() != thread);
    }

    /// Releases all agents, because they refer to this host.
    pub(super) fn forget(&self) {
        let agents = std::mem::take(&mut *self.agents.lock().expect("nobody broke down with it"));
        drop(agents);
    }

    /// Stores that an agent does not come back.
    pub(super) fn close(&self, thread: &ThreadId) {
        self.remove(thread);
        if !self.is_over() {
            let at = self.at();
            self.store().close(thread, at);
        }
    }

    /// Called when an agent is about to be started. If that exceeds the limit, the agent that has been idle for longest
    /// must have left the tree: among those without work and descendants, first those without mail.
    fn check_room(&self) {
        let agents = self.agents();
        let Some(root) = agents.iter().find(|agent| agent.lineage().is_none()) else { return };
        let working: BTreeMap<ThreadId, bool> = tree::agents(root)
            .into_iter()
            .filter(|entry| entry.path != ROOT)
            .map(|entry| (entry.thread, entry.status == AgentStatus::Running))
            .collect();
        let mut store = self.store();
        let mut forgotten = self.forgotten.lock().expect("nobody broke down with it");
        let held = self.held.lock().expect("nobody broke down with it");
        let (stay, others): (Vec<_>, Vec<_>) =
            agents.iter().filter(|agent| agent.lineage().is_some()).partition(|agent| working.contains_key(agent.id()));
        let gone: Vec<_> = others
            .into_iter()
            .filter(|agent| !store.threads[agent.id()].is_going && !forgotten.contains(agent.id()))
            .collect();
        let is_leaf = |agent: &Agent| {
            let within = format!("{}/", agent.path());
            stay.iter().chain(&gone).all(|other| !other.path().starts_with(&within))
        };
        let may_go = |agent: &Agent| {
            let is_idle = working.get(agent.id()) != Some(&true) && !held.contains(agent.id());
            is_idle && is_leaf(agent) && !store.is_busy(agent.id())
        };
        let rank = |agent: &Agent| {
            let kept = &store.threads[agent.id()];
            (!kept.open.is_empty(), kept.ended)
        };
        let next = stay.iter().filter(|agent| may_go(agent)).map(|agent| rank(agent)).min();
        let broken = match gone[..] {
            [] if stay.len() >= self.kept && next.is_some() => Some("nobody makes room".to_owned()),
            [] => None,
            [one] if stay.len() + 1 < self.kept => Some(format!("{} makes room, and there is enough", one.path())),
            [one] if !may_go(one) => Some(format!("{} makes room, and is not done", one.path())),
            [one] if next.is_some_and(|next| next < rank(one)) => Some(format!("{} makes room too early", one.path())),
            [_] => None,
            _ => Some("more than one make room".to_owned()),
        };
        forgotten.extend(gone.iter().map(|agent| agent.id().clone()));
        store.made_room += gone.len();
        if let Some(what) = broken {
            store.broke(what);
        }
    }

    /// Records that an agent is held or released.
    pub(super) fn hold(&self, thread: &ThreadId) {
        self.held.lock().expect("nobody broke down with it").insert(thread.clone());
    }

    pub(super) fn let_go(&self, thread: &ThreadId) {
        self.held.lock().expect("nobody broke down with it").remove(thread);
    }

    /// Counts stored events, and dies when the limit is reached.
    fn lives(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.say("the process dies");
            self.end();
            return false;
        }
        true
    }
}

impl Host for Keeper {
    fn event(&self, thread: &ThreadId, event: Event) {
        if self.lives() {
            let at = self.at();
            self.store().take(thread, &event.kind, at);
        }
    }

    fn ask(&self, _: &ThreadId, _: Question, _: oneshot::Sender<Answer>) -> QuestionId {
        QuestionId(0)
    }

    fn withdraw(&self, _: &ThreadId, _: QuestionId) {}

    fn ready(&self, _: &ThreadId) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

impl AgentHost for Keeper {
    fn adopt(&self, child: Agent) {
        if self.lives() {
            self.check_room();
            let at = self.at();
            self.store().begin(&child, at);
        }
        self.add(child);
    }

    fn release(&self, child: &Agent) {
        if !self.is_over() && !self.forgotten.lock().expect("nobody broke down with it").remove(child.id()) {
            self.store().broke(format!("{} is let go, and made no room", child.path()));
        }
        self.close(child.id());
    }
}
