//! What the server is made of, and how its parts reach each other.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use trace_protocol::RpcError;
use trace_runtime::event::{Event, EventKind};
use trace_runtime::host::{Answer, Host, Question, QuestionId};
use trace_runtime::runtime::Runtime;
use trace_runtime::tree::TreeLimits;
use trace_runtime::{Agent, ThreadId};

use crate::config::{Config, ConfigStore};
use crate::hub::Hub;
use crate::scopes::ScopeQueues;
use crate::services::{Gauge, Services};
use crate::store::Store;
use crate::threads::{ChildThreads, Questions, Registry, TreeLocks, Unloading};
use crate::traces::Traces;

/// What the server is made of.
pub(crate) struct Core {
    /// Folder against which relative folders of clients are taken.
    pub(crate) cwd: PathBuf,
    /// Version that clients are told.
    pub(crate) version: String,
    pub(crate) hub: Hub,
    pub(crate) threads: Arc<Registry>,
    pub(crate) questions: Questions,
    pub(crate) locks: Arc<TreeLocks>,
    pub(crate) unloading: Arc<Unloading>,
    children: ChildThreads,
    pub(crate) store: Store,
    pub(crate) configuration: Arc<ConfigStore>,
    pub(crate) services: Services,
    pub(crate) traces: Arc<Traces>,
    scopes: ScopeQueues,
    runtime: OnceLock<Arc<Runtime>>,
    is_draining: AtomicBool,
    /// As the configuration had them at the start, like those that the tools know with which agents start others.
    tree_limits: TreeLimits,
    this: Weak<Core>,
}

/// The parts that a server is put together from.
pub(crate) struct Parts {
    pub(crate) cwd: PathBuf,
    pub(crate) version: String,
    pub(crate) store: Store,
    pub(crate) configuration: Arc<ConfigStore>,
    pub(crate) services: Services,
    pub(crate) traces: Arc<Traces>,
    pub(crate) scopes: ScopeQueues,
}

impl Core {
    /// Puts a server together. `runtime` makes the runtime, which tells the server what happens.
    pub(crate) fn new(parts: Parts, runtime: impl FnOnce(Arc<dyn Host>) -> Arc<Runtime>) -> Arc<Self> {
        let Parts { cwd, version, store, configuration, services, traces, scopes } = parts;
        let agents = configuration.last_good().agents;
        let tree_limits = TreeLimits {
            max_threads: usize::try_from(agents.max_threads).unwrap_or(usize::MAX),
            max_depth: agents.max_depth,
        };
        let hub = Hub::default();
        let threads = Arc::new(Registry::default());
        let locks = Arc::new(TreeLocks::new(threads.clone(), store.clone()));
        let mcp = services.mcp.clone();
        let (threads_, hub_, locks_) = (threads.clone(), hub.clone(), locks.clone());
        let unloading = Unloading { threads: threads_, locks: locks_, hub: hub_, mcp: mcp.clone() };
        let (threads_, store_, hub_, version_) = (threads.clone(), store.clone(), hub.clone(), version.clone());
        let children = ChildThreads { threads: threads_, store: store_, hub: hub_, mcp, version: version_ };
        let core = Arc::new_cyclic(|this| Self {
            cwd,
            version,
            questions: Questions::new(threads.clone(), hub.clone()),
            unloading: Arc::new(unloading),
            children,
            locks,
            hub,
            threads,
            store,
            configuration,
            services,
            traces,
            scopes,
            runtime: OnceLock::new(),
            is_draining: AtomicBool::new(false),
            tree_limits,
            this: Weak::clone(this),
        });
        // The runtime must not keep the server alive, which keeps the runtime.
        let host: Arc<dyn Host> = Arc::new(Listener(Arc::downgrade(&core)));
        let runtime = runtime(host);
        core.runtime.get_or_init(|| runtime);
        core
    }

    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        self.runtime.get().expect("the runtime is set when the server is made")
    }

    /// Returns the server itself, for what goes on after an answer.
    pub(crate) fn this(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        match self.configuration.current() {
            Ok(config) => config,
            Err(error) => {
                tracing::warn!(%error, "the configuration is broken; what was read last goes on");
                self.configuration.last_good()
            }
        }
    }

    /// Returns how large trees of agents may become.
    pub(crate) fn tree_limits(&self) -> TreeLimits {
        self.tree_limits
    }

    /// Returns the time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }

    /// Returns figures of what goes on.
    pub(crate) fn gauges(&self) -> Vec<Gauge> {
        let gauge = |name: &str, value: usize| Gauge { name: name.to_owned(), value: value as u64 };
        let threads = self.threads.all();
        let running = threads.iter().filter(|thread| thread.agent().active_turn().is_some()).count();
        let terminals = threads.iter().map(|thread| thread.agent().terminals().len()).sum();
        let mut gauges = vec![
            gauge("connections", self.hub.count()),
            gauge("threads.loaded", threads.len()),
            gauge("turns.running", running),
            gauge("questions.open", self.questions.open()),
            gauge("terminals.running", terminals),
        ];
        for scope in self.scopes.gauges() {
            gauges.push(gauge(&format!("requests.{}.running", scope.kind), scope.running));
            gauges.push(gauge(&format!("requests.{}.waiting", scope.kind), scope.waiting));
        }
        gauges
    }

    /// Takes no more turns of clients, and waits for those that run, however long they take; also for the agents that they
    /// start meanwhile.
    pub(crate) async fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
        loop {
            let turns: Vec<_> =
                self.threads.all().into_iter().filter_map(|thread| thread.agent().turn_ended()).collect();
            if turns.is_empty() {
                return;
            }
            join_all(turns).await;
        }
    }

    /// Refuses what begins a turn, once the server is about to end.
    ///
    /// # Errors
    ///
    /// It is.
    pub(crate) fn takes_turns(&self) -> Result<(), RpcError> {
        match self.is_draining.load(Ordering::Relaxed) {
            true => Err(RpcError::invalid_request("the server is ending: it takes no more turns")),
            false => Ok(()),
        }
    }

    /// Ends all agents: what they run is stopped, what they recorded is complete.
    pub(crate) async fn shutdown(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
        self.unloading.unload_everything().await;
        self.services.shutdown();
        self.services.mcp.shutdown().await;
        self.store.flush();
    }
}

/// Hears what agents tell, as long as there is a server.
struct Listener(Weak<Core>);

impl Host for Listener {
    fn event(&self, thread: &ThreadId, event: Event) {
        let Some(core) = self.0.upgrade() else { return };
        let Some(thread) = core.threads.get(thread) else { return };
        thread.event(&core.hub, &event);
        match &event.kind {
            EventKind::TokensUsed { usage, .. } => core.goal_tokens(&thread, usage.last.total),
            EventKind::TurnEnded { turn, outcome } => {
                core.start_queued_later(&thread);
                core.goal_turn_ended(&thread, turn, outcome);
            }
            _ => {}
        }
    }

    fn ask(&self, thread: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId {
        let Some(core) = self.0.upgrade() else { return QuestionId(-1) };
        core.questions.ask(thread, question, reply)
    }

    fn withdraw(&self, thread: &ThreadId, question: QuestionId) {
        let Some(core) = self.0.upgrade() else { return };
        core.questions.withdraw(thread, question);
    }

    fn ready(&self, thread: &ThreadId) -> BoxFuture<'static, ()> {
        let thread = self.0.upgrade().and_then(|core| core.threads.get(thread));
        let subscribers = thread.map(|thread| thread.state().subscribers().to_vec()).unwrap_or_default();
        async move {
            for connection in subscribers {
                connection.producers_ready().await;
            }
        }
        .boxed()
    }

    fn adopt(&self, child: Agent) {
        let Some(core) = self.0.upgrade() else { return };
        core.children.adopt(child);
    }

    fn release(&self, child: &Agent) {
        let Some(core) = self.0.upgrade() else { return };
        core.children.released(child.id());
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Core").field("threads", &self.threads.count()).finish_non_exhaustive()
    }
}
