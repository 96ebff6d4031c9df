//! The servers of one tree of agents.
//!
//! They start in parallel and independently. They run as long as an agent holds one of their tools. After that, or when
//! they are told to, they end with all their processes.

use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trace_runtime::tool::Tool;

use crate::config::{ServerConfig, Transport};
use crate::connection::{self, Connection, LIST_TIMEOUT, Running, with_last_error_line};
use crate::environment::Variables;
use crate::failure::{Remedy, StartFailure, shown};
use crate::launch_folders::LaunchFolders;
use crate::name;
use crate::process::EXIT_TIMEOUT;
use crate::resources::{self, ResourceTool};
use crate::server_slot::{
    Details, Listener, ServerReport, ServerSlot, ServersShutdown, Startup, State, StatusListener, TreeServers,
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
    /// one is configured.
    #[must_use]
    pub fn start(configs: Vec<ServerConfig>, variables: &Variables, launch_folders: &LaunchFolders) -> Self {
        let status_listener = Arc::new(StatusListener::default());
        let (enabled, disabled): (Vec<_>, Vec<_>) = configs.into_iter().partition(|config| config.enabled);
        let mut namespaces = name::namespaces(enabled.iter().map(|config| config.name.as_str()));
        let slots: Vec<_> = enabled
            .into_iter()
            // If a name occurs twice, the first server is used.
            .filter_map(|config| {
                let namespace = namespaces.remove(&config.name)?;
                let state = watch::Sender::new(State::Starting);
                Some(Arc::new(ServerSlot { config, namespace, state, status_listener: Arc::clone(&status_listener) }))
            })
            .collect();
        let ending = ServersShutdown { end: CancellationToken::new(), tasks: TaskTracker::new() };
        for slot in &slots {
            ending.tasks.spawn(run(Arc::clone(slot), variables.clone(), launch_folders.clone(), ending.end.clone()));
        }
        ending.tasks.close();
        Self(Arc::new(TreeServers { slots, disabled, status_listener, ending }))
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

/// Runs a server from its start to its end.
async fn run(slot: Arc<ServerSlot>, variables: Variables, launch_folders: LaunchFolders, end: CancellationToken) {
    let config = &slot.config;
    let opened = tokio::select! {
        biased;
        () = end.cancelled() => return slot.set(State::Cancelled),
        opened = timeout(config.startup_timeout, connection::open(config, &slot.namespace, &variables, &launch_folders)) => opened,
    };
    let (connection, running) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(failure)) => return slot.set(failed(config, failure)),
        Err(_) => {
            let message = format!(
                "it did not answer within {} s; `startup_timeout_sec` sets the limit",
                config.startup_timeout.as_secs_f64()
            );
            return slot.set(failed(config, StartFailure::new(message)));
        }
    };
    let connection = Arc::new(connection);
    slot.set(State::Ready(Arc::clone(&connection)));
    let Running { service, keeper, last_error_line, requests: _requests } = running;
    let close = service.cancellation_token();
    let ended = service.waiting();
    tokio::pin!(ended);
    tokio::select! {
        biased;
        () = end.cancelled() => {
            close.cancel();
            let _ = timeout(EXIT_TIMEOUT, &mut ended).await;
        }
        _ = &mut ended => {
            let failure = with_last_error_line(StartFailure::new("it has ended"), &last_error_line);
            slot.set(failed(config, failure));
        }
        never = keep_tools(&slot, &connection) => match never {},
    }
    if let Some(keeper) = keeper {
        let now = CancellationToken::new();
        now.cancel();
        keeper.keep(now).await;
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

fn failed(config: &ServerConfig, failure: StartFailure) -> State {
    tracing::warn!(server = %config.name, error = %failure.message, "an MCP server cannot be used");
    let has_token = matches!(&config.transport, Transport::Http { bearer_token_env_var: Some(_), .. });
    let message = match (failure.need, has_token) {
        (Remedy::Login, false) => {
            format!("{}; it requires a token: name its variable in `bearer_token_env_var`", failure.message)
        }
        (Remedy::Login, true) => format!("{}; it does not accept the token", failure.message),
        (Remedy::Unknown, _) => failure.message,
    };
    State::Failed(StartFailure { need: failure.need, ..StartFailure::new(message) })
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
