//! What the server is made of, and how its parts reach each other.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use trace_protocol::thread::ThreadHistoryMode;
use trace_protocol::{RequestId, RpcError};
use trace_runtime::event::{Event, EventKind};
use trace_runtime::host::{Answer, Host, Question, QuestionId};
use trace_runtime::runtime::Runtime;
use trace_runtime::tree::TreeLimits;
use trace_runtime::{Agent, ThreadId};

use crate::config::{Config, ConfigStore};
use crate::connection::ConnectionId;
use crate::hub::Hub;
use crate::mapping::thread_id;
use crate::scopes::ScopeQueues;
use crate::services::{Gauge, Services};
use crate::store::{EdgeStatus, NewThread, Store, StoreError};
use crate::threads::{Beginning, Heard, LoadedThread, Origin, Registry};
use crate::traces::Traces;

/// Most trees of threads that are loaded at the same time.
const LOADED_AT_ONCE: usize = 64;

/// What the server is made of.
pub(crate) struct Core {
    /// Folder against which relative folders of clients are taken.
    pub(crate) cwd: PathBuf,
    /// Version that clients are told.
    pub(crate) version: String,
    pub(crate) hub: Hub,
    pub(crate) threads: Registry,
    pub(crate) store: Store,
    pub(crate) configuration: Arc<ConfigStore>,
    pub(crate) services: Services,
    pub(crate) traces: Arc<Traces>,
    scopes: ScopeQueues,
    runtime: OnceLock<Arc<Runtime>>,
    next_question: AtomicI64,
    asked: Mutex<HashMap<QuestionId, ThreadId>>,
    /// Held while threads of a tree are loaded or let go; some trees share one.
    loading: [tokio::sync::Mutex<()>; LOADED_AT_ONCE],
    is_draining: AtomicBool,
    /// As the configuration had them at the start, like those that the tools know with which agents start others.
    tree_limits: TreeLimits,
    this: Weak<Core>,
}

/// Keeps the threads of a tree from being loaded or unloaded until it is dropped.
pub(crate) type LoadGuard<'a> = tokio::sync::MutexGuard<'a, ()>;

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
        let core = Arc::new_cyclic(|this| Self {
            cwd,
            version,
            hub: Hub::default(),
            threads: Registry::default(),
            store,
            configuration,
            services,
            traces,
            scopes,
            runtime: OnceLock::new(),
            next_question: AtomicI64::new(0),
            asked: Mutex::default(),
            loading: std::array::from_fn(|_| tokio::sync::Mutex::default()),
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

    /// Returns a thread that is loaded.
    ///
    /// # Errors
    ///
    /// The id is none, or no such thread is loaded.
    pub(crate) fn loaded(&self, id: &str) -> Result<Arc<LoadedThread>, RpcError> {
        let id = thread_id(id)?;
        let thread = self.threads.get(&id).filter(|thread| !thread.state().is_closing());
        thread.ok_or_else(|| RpcError::invalid_request(format!("thread not found: {id}")))
    }

    /// Takes a client's answer to a question. It counts only if this connection was asked.
    pub(crate) fn answered(
        &self,
        connection: ConnectionId,
        request: &RequestId,
        answer: Result<&serde_json::value::RawValue, &RpcError>,
    ) -> Heard {
        let Some(number) = question_number(request) else { return Heard::Dropped };
        let Some(thread) = self.asked().get(&number).cloned() else { return Heard::Dropped };
        let Some(thread) = self.threads.get(&thread) else { return Heard::Dropped };
        let heard = thread.answered(&self.hub, (connection, number), request, answer);
        if heard == Heard::Counts {
            self.asked().remove(&number);
        }
        heard
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
            gauge("questions.open", self.asked().len()),
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
        loop {
            // An agent may have started another one meanwhile.
            let threads = self.threads.all();
            if threads.is_empty() {
                break;
            }
            self.end(threads).await;
        }
        self.services.shutdown();
        self.services.mcp.shutdown().await;
        self.store.flush();
    }

    async fn end(&self, mut threads: Vec<Arc<LoadedThread>>) {
        // Trees stop as a whole: an agent that heard of the end of one below it could go on with that.
        let roots = threads.iter().filter(|thread| thread.agent().depth() == 0);
        join_all(roots.map(|thread| thread.agent().shutdown())).await;
        // Those that share a bundle end before the agent that the bundle belongs to.
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.agent().depth()));
        while let Some(depth) = threads.first().map(|thread| thread.agent().depth()) {
            let rest = threads.iter().position(|thread| thread.agent().depth() < depth).unwrap_or(threads.len());
            let ended = threads.drain(..rest).map(|thread| async move {
                thread.close().await;
                self.threads.remove(&thread);
            });
            join_all(ended).await;
        }
    }

    /// Waits until nobody else loads threads of a tree, or lets them go.
    pub(crate) async fn loading(&self, root: &ThreadId) -> LoadGuard<'_> {
        let sum: usize = root.as_str().bytes().map(usize::from).sum();
        self.loading[sum % LOADED_AT_ONCE].lock().await
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<QuestionId, ThreadId>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id under which a question is put to clients: its number, and 128 random bits. Who was not asked cannot guess it.
fn question_request(number: QuestionId) -> Result<RequestId, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(RequestId::String(format!("{}-{:032x}", number.0, u128::from_ne_bytes(random))))
}

/// Returns the number in the id of a question. That the rest is the right one is for the question to say.
fn question_number(request: &RequestId) -> Option<QuestionId> {
    let RequestId::String(text) = request else { return None };
    text.split_once('-')?.0.parse().ok().map(QuestionId)
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
        let number = QuestionId(core.next_question.fetch_add(1, Ordering::Relaxed));
        if let Some(loaded) = core.threads.get(thread) {
            let request = match question_request(number) {
                Ok(request) => request,
                Err(error) => {
                    let _ = reply.send(Answer::Failed { message: format!("the question gets no id: {error}") });
                    return number;
                }
            };
            core.asked().insert(number, thread.clone());
            if !loaded.ask(&core.hub, number, request, question, reply, core.now_ms()) {
                core.asked().remove(&number);
            }
        }
        number
    }

    fn withdraw(&self, thread: &ThreadId, question: QuestionId) {
        let Some(core) = self.0.upgrade() else { return };
        core.asked().remove(&question);
        if let Some(thread) = core.threads.get(thread) {
            thread.withdraw(&core.hub, question);
        }
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
        core.adopt(child);
    }

    fn release(&self, child: &Agent) {
        let Some(core) = self.0.upgrade() else { return };
        core.released(child.id());
    }
}

impl Core {
    /// Takes over the thread of an agent that another agent started. Everybody hears of it.
    fn adopt(&self, child: Agent) {
        let Some(parent) = child.parent().cloned() else { return };
        self.services.mcp.share(&parent, child.id());
        let now_ms = self.now_ms();
        let known = self.threads.get(&parent);
        let settings = child.settings();
        let source = crate::mapping::source_of_agent(&child);
        let lineage = child.lineage().cloned();
        let mut origin = Origin {
            forked_from: None,
            is_ephemeral: known.as_ref().is_some_and(|parent| parent.origin().is_ephemeral),
            created_at: now_ms.div_euclid(1000),
            path: None,
            source,
            thread_source: Some("subagent".to_owned()),
            originator: known.as_ref().and_then(|parent| parent.origin().originator.clone()),
            history_mode: known.as_ref().map_or(ThreadHistoryMode::Paginated, |parent| parent.origin().history_mode),
            version: self.version.clone(),
            agent_nickname: lineage.as_ref().and_then(|lineage| lineage.nickname.clone()),
            agent_role: lineage.as_ref().and_then(|lineage| lineage.role.clone()),
        };
        let writer = if origin.is_ephemeral { None } else { self.store_agent(&child, &parent, &settings, &mut origin) };
        if let Some(writer) = &writer {
            let history = child.history();
            if let Err(error) = writer.remember(&history) {
                tracing::error!(thread = %child.id(), %error, "what an agent was given could not be stored");
            }
        }
        let beginning = Beginning { updated_at: origin.created_at, writer, ..Beginning::default() };
        let thread = Arc::new(LoadedThread::new(child, origin, beginning));
        self.threads.insert(&thread);
        let of_parent = known.map(|parent| parent.state().participants()).unwrap_or_default();
        thread.state().subscribe_all(&self.hub.everybody(), &of_parent);
    }

    /// Gives an agent's thread a file. Without one the agent works all the same.
    fn store_agent(
        &self,
        child: &Agent,
        parent: &ThreadId,
        settings: &trace_runtime::Settings,
        origin: &mut Origin,
    ) -> Option<crate::store::ThreadWriter> {
        let made = self.store.create(NewThread {
            id: child.id().clone(),
            session: child.root().clone(),
            created_at_ms: self.now_ms(),
            settings: settings.clone(),
            originator: origin.originator.clone(),
            version: origin.version.clone(),
            source: origin.source.clone(),
            thread_source: origin.thread_source.clone(),
            history_mode: origin.history_mode,
            forked_from: None,
            parent: Some(parent.clone()),
            agent_nickname: origin.agent_nickname.clone(),
            agent_role: origin.agent_role.clone(),
            agent_path: Some(child.path().to_owned()),
            dynamic_tools: child.dynamic_tools().to_vec(),
            git: None,
        });
        let stored = made.and_then(|writer| {
            origin.path = Some(writer.path());
            writer.materialize()?;
            self.store.spawn_edge(parent, child.id(), EdgeStatus::Open)?;
            Ok(writer)
        });
        stored
            .inspect_err(|error: &StoreError| {
                tracing::error!(thread = %child.id(), %error, "the thread of an agent could not be stored");
            })
            .ok()
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Core").field("threads", &self.threads.count()).finish_non_exhaustive()
    }
}
