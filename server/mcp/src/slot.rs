//! The state of servers that run: how far each of them is, who hears of it, and what the tools of one tree share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::ServerCapabilities;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{ServerConfig, Transport};
use crate::connection::{Connection, LIST_TIMEOUT, all};
use crate::failure::StartFailure;

/// How far a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// It starts.
    Starting,
    /// It can be used.
    Ready,
    /// It did not start, or has ended.
    Failed(StartFailure),
    /// It was ended before it had started.
    Cancelled,
}

/// Hears how far servers are: by name, one thing after the other.
pub type Listener = Arc<dyn Fn(&str, &Startup) + Send + Sync>;

/// The end of servers: by it they are ended and waited for, also when nobody has a tool of theirs any more. It does not keep
/// them.
#[derive(Debug, Clone)]
pub struct Ending {
    pub(crate) end: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// How much is told of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Details {
    /// Its tools.
    Tools,
    /// What there is to read, too.
    All,
}

/// A server and what it has, in the words of the protocol where it comes from there.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// How far it is; nothing if it is not used.
    pub startup: Option<Startup>,
    /// Its tools.
    pub tools: Vec<Value>,
    /// Things to read.
    pub resources: Vec<Value>,
    /// Patterns of things to read.
    pub resource_templates: Vec<Value>,
    /// What it says of itself.
    pub info: Option<Value>,
    /// What it can do.
    pub capabilities: Option<Value>,
}

/// What the tools of one tree hold together.
pub(crate) struct Set {
    pub(crate) slots: Vec<Arc<Slot>>,
    pub(crate) disabled: Vec<ServerConfig>,
    pub(crate) board: Arc<Board>,
    pub(crate) ending: Ending,
}

/// One server.
pub(crate) struct Slot {
    pub(crate) config: ServerConfig,
    pub(crate) namespace: String,
    pub(crate) state: watch::Sender<State>,
    pub(crate) board: Arc<Board>,
}

/// How far a server is, with the connection.
#[derive(Clone)]
pub(crate) enum State {
    Starting,
    Ready(Arc<Connection>),
    Failed(StartFailure),
    Cancelled,
}

/// Who hears of servers. Held while somebody is told, so that what is told has one order.
#[derive(Default)]
pub(crate) struct Board(Mutex<Option<Listener>>);

impl Ending {
    /// Ends all servers and waits until they have ended.
    pub async fn shutdown(&self) {
        self.end.cancel();
        self.tasks.wait().await;
    }

    /// Tells whether nothing of the servers is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.ending.end.cancel();
    }
}

impl Board {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Returns the connection, or what the model is told if there is none.
    pub(crate) fn connection(&self) -> Result<Arc<Connection>, String> {
        let name = &self.config.name;
        match &*self.state.borrow() {
            State::Ready(connection) => Ok(Arc::clone(connection)),
            State::Starting => Err(format!("the MCP server {name} has not started yet")),
            // What happened is for people: it may tell what models, and who reads what they are sent, need not know.
            State::Failed(_) => Err(format!("the MCP server {name} is not there")),
            State::Cancelled => Err(format!("the MCP server {name} was ended")),
        }
    }

    /// Tells whether the server starts still.
    pub(crate) fn is_starting(&self) -> bool {
        matches!(*self.state.borrow(), State::Starting)
    }

    /// Waits until the server starts no more.
    pub(crate) async fn settled(&self) -> State {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| !matches!(state, State::Starting)).await;
        settled.map_or(State::Cancelled, |state| state.clone())
    }

    /// Tells how far the server is, and whoever listens hears it.
    pub(crate) fn set(&self, state: State) {
        let board = self.board.lock();
        let startup = state.startup();
        self.state.send_replace(state);
        if let Some(listener) = &*board {
            listener(&self.config.name, &startup);
        }
    }

    /// Returns what the server has.
    pub(crate) async fn report(&self, details: Details) -> ServerReport {
        let state = self.state.borrow().clone();
        let mut report = ServerReport::empty(&self.config, Some(state.startup()));
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
            Self::Failed(failure) => Startup::Failed(failure.clone()),
            Self::Cancelled => Startup::Cancelled,
        }
    }
}

impl ServerReport {
    /// Returns a server of which nothing is known but how it is configured.
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
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
