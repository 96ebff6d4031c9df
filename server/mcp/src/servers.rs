//! The servers of one tree of agents.
//!
//! They start in parallel and independently. They run as long as an agent holds one of their tools. After that, or when
//! they are told to, they end with all their processes.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, RwLock, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trace_runtime::tool::Tool;

use crate::config::{ServerConfig, Transport};
use crate::connection::{self, Connection, LIST_TIMEOUT, Origin, Running, with_last_error_line};
use crate::environment::Variables;
use crate::failure::{Remedy, StartFailure, shown};
use crate::launch_folders::LaunchPolicy;
use crate::name;
use crate::oauth::OAuth;
use crate::oauth::tokens::Tokens;
use crate::process::EXIT_TIMEOUT;
use crate::resources::{self, ResourceTool};
use crate::restart::{Deaths, MAX_RESTART_DEATHS, RESTART_PERIOD};
use crate::roots::Roots;
use crate::server_slot::{
    Details, Listener, Restart, ServerReport, ServerSlot, ServersShutdown, Startup, State, StatusListener, TreeServers,
    Wake,
};
use crate::tool::ServerTool;

/// Pause between two requests for a server's list of tools, however often the server says that it has changed.
pub const REFRESH_PAUSE: Duration = Duration::from_secs(1);

/// The servers of one tree of agents. Clones refer to the same servers.
#[derive(Clone)]
pub struct Servers(Arc<TreeServers>);

/// A weak reference to servers, which may have ended.
#[derive(Clone)]
pub struct WeakServers(Weak<TreeServers>);

impl Servers {
    /// Starts servers. Must be called inside a tokio runtime. Each process runs in a folder of its own, unless another
    /// one is configured. `roots` are the folders in which the agents work.
    #[must_use]
    pub fn start(
        configs: Vec<ServerConfig>,
        variables: &Variables,
        launch: &LaunchPolicy,
        roots: Vec<PathBuf>,
    ) -> Self {
        let (status_listener, roots) = (Arc::new(StatusListener::default()), Arc::new(Roots::new(roots)));
        let logins = OAuth::of_home(&launch.home);
        let (enabled, disabled): (Vec<_>, Vec<_>) = configs.into_iter().partition(|config| config.enabled);
        let mut namespaces = name::namespaces(enabled.iter().map(|config| config.name.as_str()));
        let ending = ServersShutdown { end: CancellationToken::new(), tasks: TaskTracker::new() };
        let mut slots = Vec::new();
        for config in enabled {
            // If a name occurs twice, the first server is used.
            let Some(namespace) = namespaces.remove(&config.name) else { continue };
            let (wake, woken) = mpsc::unbounded_channel();
            let slot = Arc::new(ServerSlot {
                logins: logins.clone(),
                config,
                namespace,
                state: watch::Sender::new(State::Starting),
                status_listener: Arc::clone(&status_listener),
                last: RwLock::default(),
                wake,
                end: ending.end.clone(),
                roots: Arc::clone(&roots),
            });
            let life = Life {
                slot: Arc::clone(&slot),
                variables: variables.clone(),
                launch: launch.clone(),
                end: ending.end.clone(),
                woken,
                deaths: Deaths::default(),
            };
            ending.tasks.spawn(life.run());
            slots.push(slot);
        }
        ending.tasks.close();
        Self(Arc::new(TreeServers { slots, disabled, roots, status_listener, ending }))
    }

    /// Sets a listener. It is called with the current status of each server, and at every change.
    pub fn listen(&self, listener: Listener) {
        let mut status_listener = self.0.status_listener.lock();
        for slot in &self.0.slots {
            let state = slot.state.borrow().clone();
            listener(&slot.config.name, &Startup::Starting);
            match state.startup() {
                Startup::Starting => {}
                settled => listener(&slot.config.name, &settled),
            }
        }
        *status_listener = Some(listener);
    }

    /// Waits until no server is starting any more.
    pub async fn settled(&self) {
        join_all(self.0.slots.iter().map(|slot| slot.settled())).await;
    }

    /// Waits for the servers that are required, and returns those that are not available, with the reasons.
    pub async fn missing(&self) -> Vec<(String, StartFailure)> {
        let required = self.0.slots.iter().filter(|slot| slot.config.required);
        let states = join_all(required.map(async |slot| (slot.config.name.clone(), slot.settled().await))).await;
        let missing = states.into_iter().filter_map(|(name, state)| match state.startup() {
            Startup::Ready | Startup::Starting => None,
            Startup::Failed(failure) => Some((name, failure)),
            Startup::Cancelled => Some((name, StartFailure::new("it was ended"))),
        });
        missing.collect()
    }

    /// Returns the tools for agents: those of each server, and those for resources.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let set = &self.0;
        let of_servers = set.slots.iter().map(|slot| {
            let (set, slot) = (Arc::clone(set), Arc::clone(slot));
            Arc::new(ServerTool { set, slot }) as Arc<dyn Tool>
        });
        let for_resources = resources::ALL.into_iter().filter(|_| !set.slots.is_empty());
        let for_resources =
            for_resources.map(|operation| Arc::new(ResourceTool { set: Arc::clone(set), operation }) as Arc<dyn Tool>);
        of_servers.chain(for_resources).collect()
    }

    /// Returns reports on all servers, sorted by name. For a server that does not answer, the lists are empty.
    pub async fn report(&self, details: Details) -> Vec<ServerReport> {
        let mut reports = join_all(self.0.slots.iter().map(|slot| slot.report(details))).await;
        reports.extend(self.0.disabled.iter().map(|config| ServerReport::empty(config, None)));
        reports.sort_by(|one, other| one.name.cmp(&other.name));
        reports
    }

    /// Returns the servers that are started.
    pub(crate) fn slots(&self) -> &[Arc<ServerSlot>] {
        &self.0.slots
    }

    /// Returns why a server cannot be used, for users.
    pub(crate) fn failure(&self, slot: &ServerSlot) -> Option<String> {
        match slot.state.borrow().startup() {
            Startup::Failed(failure) => Some(failure.message),
            Startup::Starting | Startup::Ready | Startup::Cancelled => None,
        }
    }

    /// Starts all servers again that are not there or are reached over HTTP, and leaves the other ones alone. It does not
    /// wait for them.
    pub fn reload(&self) {
        for slot in &self.0.slots {
            let (done, _) = oneshot::channel();
            let _ = slot.wake.send(Wake::Reload(done));
        }
    }

    /// Connects to a server at which a user has logged in. It does not wait for the connection.
    pub fn logged_in(&self, server: &str) {
        for slot in self.0.slots.iter().filter(|slot| slot.config.name == server) {
            let (done, _) = oneshot::channel();
            let _ = slot.wake.send(Wake::LoggedIn(done));
        }
    }

    /// Sets the folders in which the agents work. Servers that get them are told if they have changed.
    pub fn set_roots(&self, roots: Vec<PathBuf>) {
        if self.0.roots.set(roots) {
            for slot in self.0.slots.iter().filter(|slot| slot.config.roots) {
                if let Ok(connection) = slot.connection() {
                    self.0.ending.tasks.spawn(async move { connection.tell_of_roots().await });
                }
            }
        }
    }

    /// Starts to end all servers, and does not wait.
    pub fn stop(&self) {
        self.0.ending.end.cancel();
    }

    /// Ends all servers, and waits until they have ended.
    pub async fn shutdown(&self) {
        self.0.ending.shutdown().await;
    }

    /// Returns a handle that ends the servers and waits for their end.
    #[must_use]
    pub fn ending(&self) -> ServersShutdown {
        self.0.ending.clone()
    }

    /// Returns a weak reference.
    #[must_use]
    pub fn downgrade(&self) -> WeakServers {
        WeakServers(Arc::downgrade(&self.0))
    }
}

impl WeakServers {
    /// Returns the servers, if an agent still holds tools of them.
    #[must_use]
    pub fn upgrade(&self) -> Option<Servers> {
        self.0.upgrade().map(Servers)
    }
}

/// The life of a server: its starts and its ends.
struct Life {
    slot: Arc<ServerSlot>,
    variables: Variables,
    launch: LaunchPolicy,
    end: CancellationToken,
    woken: mpsc::UnboundedReceiver<Wake>,
    deaths: Deaths,
}

/// Why a connection has ended.
enum Ended {
    /// The server is to end.
    Told { has_started: bool },
    /// A user wants another connection.
    Replaced(oneshot::Sender<()>),
    /// It failed, after it could be used or before.
    Failed { failure: StartFailure, ready_since: Option<Instant> },
}

impl Life {
    async fn run(mut self) {
        // Callers that wait until the server has started.
        let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
        loop {
            let (failure, ready_since) = match self.live(&mut waiting).await {
                // A server that could be used keeps its status.
                Ended::Told { has_started: true } => return,
                Ended::Told { has_started: false } => return self.slot.set(State::Cancelled),
                Ended::Replaced(waits) => {
                    self.slot.set(State::Starting);
                    waiting.push(waits);
                    continue;
                }
                Ended::Failed { failure, ready_since } => (failure, ready_since),
            };
            let next = match failure.need {
                // Another start would fail in the same way.
                Remedy::Login => None,
                Remedy::Unknown => self.deaths.count(Instant::now(), ready_since),
            };
            let restart = if next.is_some() { Restart::AtNextCall } else { Restart::OnReload };
            self.slot.set(State::Failed(told(&self.slot.config, failure, restart), restart));
            waiting.clear();
            let Some(waits) = self.wanted(next).await else { return };
            waiting = waits;
            self.slot.set(State::Starting);
        }
    }

    /// Waits until a server that has ended is wanted again. `next` is when it may be started for a call. `None` if the
    /// server is to end.
    async fn wanted(&mut self, next: Option<Instant>) -> Option<Vec<oneshot::Sender<()>>> {
        let mut waiting = Vec::new();
        loop {
            let is_wanted = !waiting.is_empty();
            let pause = async {
                match next {
                    Some(next) if is_wanted => sleep_until(next).await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.end.cancelled() => return None,
                woken = self.woken.recv() => match woken? {
                    Wake::Call(waits) if next.is_some() => waiting.push(waits),
                    // The call is told what the state is.
                    Wake::Call(_) => {}
                    Wake::Reload(waits) | Wake::LoggedIn(waits) => {
                        self.deaths = Deaths::default();
                        waiting.push(waits);
                        return Some(waiting);
                    }
                },
                () = pause => return Some(waiting),
            }
        }
    }

    /// Runs a server from one start to its end. Whoever waits for the start is released when the server can be used.
    async fn live(&mut self, waiting: &mut Vec<oneshot::Sender<()>>) -> Ended {
        let (slot, end) = (Arc::clone(&self.slot), self.end.clone());
        let config = &slot.config;
        let failed = |failure| Ended::Failed { failure, ready_since: None };
        let origin = Origin { config, namespace: &slot.namespace, logins: &slot.logins, roots: &slot.roots };
        let launch_folders = self.launch.now();
        let opened = tokio::select! {
            biased;
            () = end.cancelled() => return Ended::Told { has_started: false },
            opened = timeout(config.startup_timeout, connection::open(&origin, &self.variables, &launch_folders)) => opened,
        };
        let (connection, running) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(failure)) => return failed(failure),
            Err(_) => {
                let message = format!(
                    "it did not answer within {} s; `startup_timeout_sec` sets the limit",
                    config.startup_timeout.as_secs_f64()
                );
                return failed(StartFailure::new(message));
            }
        };
        let connection = Arc::new(connection);
        slot.set(State::Ready(Arc::clone(&connection)));
        waiting.clear();
        let ready_since = Some(Instant::now());
        let Running { service, keeper, last_error_line, requests: _requests, tokens } = running;
        let close = service.cancellation_token();
        let closing = service.waiting();
        tokio::pin!(closing);
        let ended = tokio::select! {
            biased;
            () = end.cancelled() => Ended::Told { has_started: true },
            _ = &mut closing => {
                let failure = with_last_error_line(StartFailure::new("it has ended"), &last_error_line).await;
                Ended::Failed { failure, ready_since }
            }
            () = login_ended(tokens.as_ref()) => {
                let failure = StartFailure { need: Remedy::Login, ..StartFailure::new("its login has ended") };
                Ended::Failed { failure, ready_since }
            }
            waits = self.replaced() => Ended::Replaced(waits),
            never = keep_tools(&slot, &connection) => match never {},
        };
        if !matches!(ended, Ended::Failed { ref failure, .. } if failure.need == Remedy::Unknown) {
            close.cancel();
            let _ = timeout(EXIT_TIMEOUT, &mut closing).await;
        }
        if let Some(keeper) = keeper {
            let now = CancellationToken::new();
            now.cancel();
            keeper.keep(now).await;
        }
        ended
    }

    /// Waits until a connection that works is to be replaced by another one.
    async fn replaced(&mut self) -> oneshot::Sender<()> {
        let is_remote = matches!(self.slot.config.transport, Transport::Http { .. });
        loop {
            match self.woken.recv().await {
                Some(Wake::Reload(waits)) => {
                    self.deaths = Deaths::default();
                    if is_remote {
                        return waits;
                    }
                }
                Some(Wake::LoggedIn(waits)) => return waits,
                // The server is there.
                Some(Wake::Call(_)) => {}
                None => std::future::pending().await,
            }
        }
    }
}

/// Waits until the login at a server has ended.
async fn login_ended(tokens: Option<&Tokens>) {
    match tokens {
        Some(tokens) => tokens.ended().await,
        None => std::future::pending().await,
    }
}

/// Requests a server's tools whenever it says that they have changed, with a pause between requests.
async fn keep_tools(slot: &ServerSlot, connection: &Connection) -> Infallible {
    let config = &slot.config;
    loop {
        connection.registry.changed.notified().await;
        match timeout(LIST_TIMEOUT, connection.refresh_tools(config, &slot.namespace)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(server = %config.name, error = %shown(&error), "the new tools cannot be listed");
            }
            Err(_) => tracing::warn!(server = %config.name, "the new tools cannot be listed: no answer"),
        }
        sleep(REFRESH_PAUSE).await;
    }
}

/// Adds to a failure what the user can do about it.
fn told(config: &ServerConfig, failure: StartFailure, restart: Restart) -> StartFailure {
    tracing::warn!(server = %config.name, error = %failure.message, "an MCP server cannot be used");
    let has_token = matches!(&config.transport, Transport::Http { bearer_token_env_var: Some(_), .. });
    let message = match (failure.need, has_token) {
        (Remedy::Login, false) => format!(
            "{}; log in with `trace mcp login {}`, or name the variable of a token in `bearer_token_env_var`",
            failure.message, config.name
        ),
        (Remedy::Login, true) => format!("{}; it does not accept the token", failure.message),
        (Remedy::Unknown, _) if restart == Restart::OnReload => format!(
            "{}; that was {MAX_RESTART_DEATHS} times within {} s, so it is started again only by `config/mcpServer/reload`",
            failure.message,
            RESTART_PERIOD.as_secs()
        ),
        (Remedy::Unknown, _) => failure.message,
    };
    StartFailure { need: failure.need, ..StartFailure::new(message) }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.0.slots.iter().map(|slot| &slot.config.name)).finish()
    }
}

impl std::fmt::Debug for WeakServers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WeakServers").finish_non_exhaustive()
    }
}
