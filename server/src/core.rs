//! Builds a server from its parts, passes the events of agents to the parts that handle them, and shuts the server down.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use trace_runtime::event::{Event, EventKind};
use trace_runtime::host::{Answer, Host, Question, QuestionId};
use trace_runtime::runtime::{AgentHost, Runtime};
use trace_runtime::tree::TreeLimits;
use trace_runtime::{Agent, ThreadId};

use crate::config::ConfigStore;
use crate::handlers::{
    ArchiveHandlers, GoalHandlers, HistoryHandlers, ListHandlers, QueueHandlers, ResumeHandlers, SettingsHandlers,
    StartHandlers, TerminalHandlers, ThreadConfiguration, ThreadTools, TraceHandlers, TurnHandlers,
};
use crate::hub::Hub;
use crate::scopes::ScopeQueues;
use crate::services::{Gauge, Services};
use crate::store::Store;
use crate::threads::{ChildThreads, Questions, Registry, TreeLocks, Unloading};
use crate::traces::Traces;

/// The parts of a server.
pub(crate) struct Core {
    pub(crate) threads: Arc<Registry>,
    pub(crate) hub: Hub,
    pub(crate) store: Store,
    pub(crate) services: Services,
    pub(crate) questions: Questions,
    pub(crate) unloading: Arc<Unloading>,
    children: ChildThreads,
    scopes: ScopeQueues,

    // The handlers of requests about threads.
    pub(crate) starts: Arc<StartHandlers>,
    pub(crate) resumes: ResumeHandlers,
    pub(crate) archive: ArchiveHandlers,
    pub(crate) settings: SettingsHandlers,
    pub(crate) lists: ListHandlers,
    pub(crate) history: HistoryHandlers,
    pub(crate) turns: Arc<TurnHandlers>,
    pub(crate) terminals: TerminalHandlers,
    pub(crate) goals: Arc<GoalHandlers>,
    pub(crate) queue: Arc<QueueHandlers>,
    pub(crate) traces: TraceHandlers,
}

/// What a server is built from.
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
    /// Builds a server. `runtime` makes the runtime, whose agents report to the server.
    pub(crate) fn new(parts: Parts, runtime: impl FnOnce(Arc<dyn AgentHost>) -> Arc<Runtime>) -> Arc<Self> {
        // The server holds the runtime, so the runtime's reference to the server must be weak.
        Arc::new_cyclic(|core| Self::with(parts, runtime(Arc::new(Listener(Weak::clone(core))))))
    }

    fn with(parts: Parts, runtime: Arc<Runtime>) -> Self {
        let Parts { cwd, version, store, configuration, services, traces, scopes } = parts;
        // The limits stay as they are at the start, because the tools that start agents keep theirs too.
        let agents = &configuration.last_good().agents;
        let max_threads = usize::try_from(agents.max_threads).unwrap_or(usize::MAX);
        let limits = TreeLimits { max_threads, max_depth: agents.max_depth };
        let hub = Hub::default();
        let threads = Arc::new(Registry::default());
        let locks = Arc::new(TreeLocks::new(threads.clone(), store.clone()));
        let mcp = &services.mcp;
        let unloading = Arc::new(Unloading { threads: threads.clone(), locks, hub: hub.clone(), mcp: mcp.clone() });
        let configuration = Arc::new(ThreadConfiguration { cwd, store: configuration, runtime: runtime.clone() });
        let turns = Arc::new(TurnHandlers::new(threads.clone(), configuration.clone()));
        let goals = Arc::new(GoalHandlers { threads: threads.clone(), hub: hub.clone(), turns: turns.clone() });
        let queue = QueueHandlers { threads: threads.clone(), store: store.clone(), turns: turns.clone() };
        let tools = Arc::new(ThreadTools {
            threads: threads.clone(),
            mcp: mcp.clone(),
            configuration: configuration.clone(),
            goals: goals.clone(),
            pace: runtime.options().pace.clone(),
        });
        let starts = Arc::new(StartHandlers {
            configuration: configuration.clone(),
            tools,
            runtime,
            threads: threads.clone(),
            store: store.clone(),
            hub: hub.clone(),
            version: version.clone(),
        });
        Self {
            questions: Questions::new(threads.clone(), hub.clone()),
            children: ChildThreads {
                threads: threads.clone(),
                store: store.clone(),
                hub: hub.clone(),
                mcp: mcp.clone(),
                version,
            },
            resumes: ResumeHandlers::new(starts.clone(), unloading.clone(), limits),
            starts,
            archive: ArchiveHandlers::new(store.clone(), unloading.clone()),
            settings: SettingsHandlers {
                threads: threads.clone(),
                store: store.clone(),
                hub: hub.clone(),
                configuration,
            },
            lists: ListHandlers { threads: threads.clone(), store: store.clone() },
            history: HistoryHandlers { threads: threads.clone(), store: store.clone() },
            turns,
            terminals: TerminalHandlers { threads: threads.clone() },
            goals,
            queue: Arc::new(queue),
            traces: TraceHandlers { threads: threads.clone(), traces },
            threads,
            hub,
            store,
            services,
            unloading,
            scopes,
        }
    }

    /// Returns the figures for `server/diagnostics`.
    pub(crate) fn gauges(&self) -> Vec<Gauge> {
        let gauge = |name: &str, value: usize| Gauge { name: name.to_owned(), value: value as u64 };
        let threads = self.threads.all();
        let running = threads.iter().filter(|thread| thread.agent().active_turn().is_some()).count();
        let terminals = threads.iter().map(|thread| thread.agent().terminals().list().len()).sum();
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

    /// Refuses new turns of clients and waits without a time limit for the running ones, including those of agents that are
    /// started meanwhile.
    pub(crate) async fn drain(&self) {
        self.turns.refuse_turns();
        loop {
            let turns: Vec<_> =
                self.threads.all().into_iter().filter_map(|thread| thread.agent().turn_ended()).collect();
            if turns.is_empty() {
                return;
            }
            join_all(turns).await;
        }
    }

    /// Shuts down all agents. Afterwards their commands are stopped and their recordings are complete.
    pub(crate) async fn shutdown(&self) {
        self.turns.refuse_turns();
        self.unloading.unload_everything().await;
        self.services.shutdown();
        self.services.mcp.shutdown().await;
        self.store.flush();
    }
}

/// The host of all agents. Its methods do nothing once the server is dropped.
struct Listener(Weak<Core>);

impl Host for Listener {
    fn event(&self, thread: &ThreadId, event: Event) {
        let Some(core) = self.0.upgrade() else { return };
        let Some(thread) = core.threads.get(thread) else { return };
        thread.event(&core.hub, &event);
        match &event.kind {
            EventKind::TokensUsed { usage, .. } => core.goals.count_tokens(&thread, usage.last.total),
            EventKind::SettingsChanged { settings } => core.services.mcp.settings_changed(thread.id(), settings),
            EventKind::TurnEnded { turn, outcome } => {
                core.queue.start_queued_later(&thread);
                core.goals.turn_ended(&thread, turn, outcome);
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
}

impl AgentHost for Listener {
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
