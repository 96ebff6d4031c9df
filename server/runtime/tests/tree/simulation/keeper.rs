//! The host of one life of a simulated process: it stores what it hears until the process dies.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trace_runtime::host::QuestionId;
use trace_runtime::{Agent, Answer, Event, Host, Question, ThreadId};

use super::store::Store;

/// The host of one life.
pub(super) struct Keeper {
    store: Arc<Mutex<Store>>,
    /// How many events are stored before the process dies.
    left: AtomicU64,
    is_over: AtomicBool,
    pub(super) died: CancellationToken,
    agents: Mutex<Vec<Agent>>,
    began: Instant,
}

impl Keeper {
    pub(super) fn new(store: Arc<Mutex<Store>>, dies_after: Option<u64>) -> Self {
        Self {
            store,
            left: AtomicU64::new(dies_after.unwrap_or(u64::MAX)),
            is_over: AtomicBool::new(false),
            died: CancellationToken::new(),
            agents: Mutex::default(),
            began: Instant::now(),
        }
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().expect("nobody broke down with it")
    }

    /// Says something in the story, unless it is over.
    pub(super) fn say(&self, what: &str) {
        if !self.is_over() {
            let at = self.at();
            self.store().say(at, what);
        }
    }

    pub(super) fn at(&self) -> Duration {
        self.began.elapsed()
    }

    /// Nothing is stored any more.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.died.cancel();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns the agents that there are, the root first.
    pub(super) fn agents(&self) -> Vec<Agent> {
        self.agents.lock().expect("nobody broke down with it").clone()
    }

    pub(super) fn add(&self, agent: Agent) {
        self.agents.lock().expect("nobody broke down with it").push(agent);
    }

    pub(super) fn remove(&self, thread: &ThreadId) {
        self.agents.lock().expect("nobody broke down with it").retain(|agent| agent.id() != thread);
    }

    /// Lets go of all agents, who have this host.
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

    /// Counts what is stored, and dies when it is enough.
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

    fn adopt(&self, child: Agent) {
        if self.lives() {
            let at = self.at();
            self.store().begin(&child, at);
        }
        self.add(child);
    }

    fn release(&self, child: &Agent) {
        self.close(child.id());
    }
}
