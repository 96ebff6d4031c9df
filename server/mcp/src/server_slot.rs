//! The status of running servers, and the state that the tools of one tree have in common.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rmcp::model::ServerCapabilities;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{ServerConfig, Transport};
use crate::connection::{Connection, LIST_TIMEOUT, all};
use crate::failure::StartFailure;
use crate::oauth::OAuth;
use crate::roots::Roots;

/// The status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// It is starting.
    Starting,
    /// It can be used.
    Ready,
    /// It did not start, or it has ended.
    Failed(StartFailure),
    /// It was ended before it had started.
    Cancelled,
}

/// Is called with the name and the status of a server at every change. Calls do not overlap.
pub type Listener = Arc<dyn Fn(&str, &Startup) + Send + Sync>;

/// A handle that ends servers and waits for their end, even after their last tool was dropped. It does not keep the
/// servers alive.
#[derive(Debug, Clone)]
pub struct ServersShutdown {
    pub(crate) end: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// How detailed a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Details {
    /// Only the tools.
    Tools,
    /// The tools, the resources and the resource templates.
    All,
}

/// A server and what it offers. Values that the server sent are unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// Its status; `None` if it is disabled.
    pub startup: Option<Startup>,
    /// Its tools, as the server sent them.
    pub tools: Vec<Value>,
    /// Its resources, as the server sent them.
    pub resources: Vec<Value>,
    /// Its resource templates, as the server sent them.
    pub resource_templates: Vec<Value>,
    /// Its name and version, as the server sent them.
    pub info: Option<Value>,
    /// Its capabilities, as the server sent them.
    pub capabilities: Option<Value>,
    /// Whether a user has logged in at the server by OAuth.
    pub is_logged_in: bool,
}

/// The state that the tools of one tree have in common.
pub(crate) struct TreeServers {
    pub(crate) slots: Vec<Arc<ServerSlot>>,
    pub(crate) disabled: Vec<ServerConfig>,
    pub(crate) roots: Arc<Roots>,
    pub(crate) status_listener: Arc<StatusListener>,
    pub(crate) ending: ServersShutdown,
}

/// One server.
pub(crate) struct ServerSlot {
    pub(crate) config: ServerConfig,
    pub(crate) namespace: String,
    pub(crate) state: watch::Sender<State>,
    pub(crate) status_listener: Arc<StatusListener>,
    /// The connection that was used last. Its tools stay on offer while the server can be started again.
    pub(crate) last: RwLock<Option<Arc<Connection>>>,
    /// Wakes the task that runs the server.
    pub(crate) wake: mpsc::UnboundedSender<Wake>,
    /// Is cancelled when the servers of the tree are to end.
    pub(crate) end: CancellationToken,
    /// The folders that the server gets if it is configured to.
    pub(crate) roots: Arc<Roots>,
    /// The logins of users at servers.
    pub(crate) logins: OAuth,
}

/// Why a server is started again. The sender is dropped when that has been tried, or was not needed.
pub(crate) enum Wake {
    /// A call needs the server.
    Call(oneshot::Sender<()>),
    /// A user wants the server to be started, whatever happened before.
    Reload(oneshot::Sender<()>),
    /// A user has logged in.
    LoggedIn(oneshot::Sender<()>),
}

/// Whether a server that is not there is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    /// At the next call.
    AtNextCall,
    /// When a user asks for it.
    OnReload,
}

/// The status of a server, with its connection.
#[derive(Clone)]
pub(crate) enum State {
    Starting,
    Ready(Arc<Connection>),
    Failed(StartFailure, Restart),
    Cancelled,
}

/// The listener. The lock is held while the listener is called, so that its calls are in order.
#[derive(Default)]
pub(crate) struct StatusListener(Mutex<Option<Listener>>);

impl ServersShutdown {
    /// Ends all servers, and waits until they have ended.
    pub async fn shutdown(&self) {
        self.end.cancel();
        self.tasks.wait().await;
    }

    /// Returns whether all processes and connections of the servers have ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl Drop for TreeServers {
    fn drop(&mut self) {
        self.ending.end.cancel();
    }
}

impl StatusListener {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerSlot {
    /// Returns the connection, or an error message for the model.
    pub(crate) fn connection(&self) -> Result<Arc<Connection>, String> {
        let name = &self.config.name;
        match &*self.state.borrow() {
            State::Ready(connection) => Ok(Arc::clone(connection)),
            State::Starting => Err(format!("the MCP server {name} has not started yet")),
            // The reason of the failure is for users. It may contain details that must not be sent to a model provider.
            State::Failed(..) => Err(format!("the MCP server {name} is not there")),
            State::Cancelled => Err(self.was_ended()),
        }
    }

    /// Returns the connection whose tools are offered: the present one, or the last one if the server is started again at
    /// the next call.
    pub(crate) fn offered(&self) -> Option<Arc<Connection>> {
        match &*self.state.borrow() {
            State::Ready(connection) => Some(Arc::clone(connection)),
            State::Starting | State::Failed(_, Restart::AtNextCall) => {
                self.last.read().unwrap_or_else(PoisonError::into_inner).clone()
            }
            State::Failed(_, Restart::OnReload) | State::Cancelled => None,
        }
    }

    /// Returns the connection. A server that has ended is started again if that is allowed. Otherwise the error is a message
    /// for the model.
    pub(crate) async fn available(&self) -> Result<Arc<Connection>, String> {
        tokio::select! {
            biased;
            // The task that runs the server may have ended without another status.
            () = self.end.cancelled() => Err(self.was_ended()),
            available = self.started() => available,
        }
    }

    fn was_ended(&self) -> String {
        format!("the MCP server {} was ended", self.config.name)
    }

    async fn started(&self) -> Result<Arc<Connection>, String> {
        let mut may_restart = true;
        loop {
            let state = self.settled().await;
            match state {
                State::Ready(connection) if connection.peer.is_transport_closed() => {
                    // The task that runs the server notices it as well.
                    let mut states = self.state.subscribe();
                    let is_other = |state: &State| match state {
                        State::Ready(other) => !Arc::ptr_eq(other, &connection),
                        State::Starting | State::Failed(..) | State::Cancelled => true,
                    };
                    if states.wait_for(is_other).await.is_err() {
                        return Err(self.was_ended());
                    }
                }
                State::Failed(_, Restart::AtNextCall) if may_restart => {
                    may_restart = false;
                    self.wake(Wake::Call).await;
                }
                State::Ready(_) | State::Starting | State::Failed(..) | State::Cancelled => return self.connection(),
            }
        }
    }

    /// Wakes the task that runs the server, and waits until the server was started again or that has failed.
    pub(crate) async fn wake(&self, why: impl FnOnce(oneshot::Sender<()>) -> Wake) {
        let (done, waits) = oneshot::channel();
        if self.wake.send(why(done)).is_ok() {
            let _ = waits.await;
        }
    }

    /// Returns whether the server is still starting.
    pub(crate) fn is_starting(&self) -> bool {
        matches!(*self.state.borrow(), State::Starting)
    }

    /// Waits until the server is no longer starting, and returns its state.
    pub(crate) async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, State::Starting)).await;
        settled.map_or(State::Cancelled, |state| state.clone())
    }

    /// Sets the state of the server, and calls the listener.
    pub(crate) fn set(&self, state: State) {
        let status_listener = self.status_listener.lock();
        let startup = state.startup();
        if let State::Ready(connection) = &state {
            *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(connection));
        }
        self.state.send_replace(state);
        if let Some(listener) = &*status_listener {
            listener(&self.config.name, &startup);
        }
    }

    /// Returns whether a user has logged in at the server by OAuth.
    async fn is_logged_in(&self) -> bool {
        let (logins, config) = (self.logins.clone(), self.config.clone());
        let stored = tokio::task::spawn_blocking(move || logins.stored(&config)).await;
        matches!(stored, Ok(Ok(Some(_))))
    }

    /// Returns a report on the server.
    pub(crate) async fn report(&self, details: Details) -> ServerReport {
        let state = self.state.borrow().clone();
        let mut report = ServerReport::empty(&self.config, Some(state.startup()));
        report.is_logged_in = self.is_logged_in().await;
        let State::Ready(connection) = state else { return report };
        report.tools = connection.tools().iter().map(|tool| json(&tool.remote)).collect();
        if let Some(info) = &connection.info {
            report.info = info.server_info.as_ref().map(json);
            report.capabilities = Some(json::<ServerCapabilities>(&info.capabilities));
        }
        if details == Details::All && connection.has_resources() {
            let lists = async {
                let resources = all(|cursor| connection.resources_page(cursor)).await;
                (resources, all(|cursor| connection.templates_page(cursor)).await)
            };
            if let Ok((resources, templates)) = timeout(LIST_TIMEOUT, lists).await {
                report.resources = resources.iter().flatten().map(json).collect();
                report.resource_templates = templates.iter().flatten().map(json).collect();
            }
        }
        report
    }
}

impl State {
    pub(crate) fn startup(&self) -> Startup {
        match self {
            Self::Starting => Startup::Starting,
            Self::Ready(_) => Startup::Ready,
            Self::Failed(failure, _) => Startup::Failed(failure.clone()),
            Self::Cancelled => Startup::Cancelled,
        }
    }
}

impl ServerReport {
    /// Returns the report on a server of which only the configuration is known.
    pub(crate) fn empty(config: &ServerConfig, startup: Option<Startup>) -> Self {
        Self {
            name: config.name.clone(),
            transport: config.transport.clone(),
            startup,
            tools: Vec::new(),
            resources: Vec::new(),
            resource_templates: Vec::new(),
            info: None,
            capabilities: None,
            is_logged_in: false,
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_server_is_told_that_it_was_ended() {
        let table: toml::Table = "url = 'https://a/mcp'".parse().expect("TOML");
        let (wake, _woken) = mpsc::unbounded_channel();
        let slot = ServerSlot {
            config: ServerConfig::read("docs", &toml::Value::Table(table)).expect("a server").server,
            namespace: "docs".to_owned(),
            state: watch::Sender::new(State::Starting),
            status_listener: Arc::default(),
            last: RwLock::default(),
            wake,
            end: CancellationToken::new(),
            roots: Arc::new(Roots::new(Vec::new())),
            logins: OAuth::of_home(Path::new("/nowhere")),
        };
        let (available, ()) = tokio::join!(slot.available(), async {
            tokio::task::yield_now().await;
            slot.end.cancel();
        });
        assert_eq!(available.err().as_deref(), Some("the MCP server docs was ended"));
    }
}
