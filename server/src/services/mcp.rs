//! Starts the MCP servers that the agents of a tree share, and lists MCP servers for clients.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trace_mcp::{
    Details, LaunchPolicy, OAuth, Remedy, ServerConfig, ServerReport, Servers, ServersShutdown, Startup, Transport,
    Variables, WeakServers,
};
use trace_protocol::RpcError;
use trace_protocol::catalog::{
    ListMcpServerStatusParams, ListMcpServerStatusResponse, McpAuthStatus, McpServerConnectionStatus, McpServerStatus,
    McpServerStatusDetail, Tool,
};
use trace_runtime::sandbox::WritableFolderRegistry;
use trace_runtime::settings::SandboxPolicy;
use trace_runtime::{Settings, ThreadId};

use super::page::page;
use crate::config::Config;

/// Starts MCP servers for threads, and lists them for clients.
#[derive(Debug)]
pub struct McpService {
    cwd: PathBuf,
    variables: Variables,
    /// The folder in which each MCP server gets its own folder.
    home: PathBuf,
    /// The folders that commands may write to.
    folders: Arc<WritableFolderRegistry>,
    trees: Mutex<HashMap<ThreadId, WeakServers>>,
    /// The same servers, by the ids of the child threads that share them.
    below: Mutex<HashMap<ThreadId, WeakServers>>,
    /// The last reports that were made without a thread. The lock is held while servers are started for them, so that
    /// concurrent requests start the servers only once.
    cached: tokio::sync::Mutex<Option<CachedReports>>,
    /// The endings of all servers that were started and may still run, also of those whose thread is gone.
    endings: Mutex<Vec<ServersShutdown>>,
    /// The logins of users at MCP servers.
    pub(super) logins: OAuth,
    /// Has one permit for each further login that may wait for a user.
    login_room: Arc<Semaphore>,
    /// The last login at each MCP server, by its name.
    waiting_logins: Mutex<HashMap<String, WaitingLogin>>,
    /// Is cancelled when the server shuts down.
    pub(super) ending: CancellationToken,
}

/// A login that waits for the user, or has ended.
#[derive(Debug)]
pub(super) struct WaitingLogin {
    /// Is cancelled when another login takes its place.
    pub(super) replaced: CancellationToken,
    /// Holds the port to which the browser returns.
    pub(super) task: JoinHandle<()>,
}

/// Most logins that wait for users at the same time.
pub const LOGINS_AT_ONCE: usize = 16;

/// How long the reports of servers that were started only for a request are reused.
pub const REPORTS_CACHED_FOR: Duration = Duration::from_secs(5);

/// Longest start-up time of servers that are started only for a request, even if the configuration allows more.
pub const STARTUP_FOR_ANSWER_MAX: Duration = Duration::from_secs(30);

/// The reports of servers that were started only for a request.
#[derive(Debug)]
struct CachedReports {
    at: Instant,
    configs: Vec<ServerConfig>,
    details: Details,
    reports: Vec<ServerReport>,
}

impl McpService {
    /// Creates the service. `cwd` is the folder of the server, and `home` contains the folders of the MCP servers.
    /// `folders` are those that commands may write to.
    #[must_use]
    pub fn new(cwd: PathBuf, variables: Variables, home: PathBuf, folders: Arc<WritableFolderRegistry>) -> Self {
        Self {
            cwd,
            variables,
            logins: OAuth::of_home(&home),
            login_room: Arc::new(Semaphore::new(LOGINS_AT_ONCE)),
            waiting_logins: Mutex::default(),
            ending: CancellationToken::new(),
            home,
            folders,
            trees: Mutex::default(),
            below: Mutex::default(),
            cached: tokio::sync::Mutex::default(),
            endings: Mutex::default(),
        }
    }

    /// Starts the configured servers for a thread and the agents below it. Returns `None` if no servers are configured.
    pub fn start(&self, thread: &ThreadId, config: &Config, settings: &Settings) -> Option<Servers> {
        if config.mcp_servers.is_empty() {
            return None;
        }
        let launch = self.launch(&settings.cwd, settings.sandbox.clone());
        let servers = self.started(config.mcp_servers.clone(), &launch, roots(settings));
        let mut trees = self.trees();
        trees.retain(|_, servers| servers.upgrade().is_some());
        trees.insert(thread.clone(), servers.downgrade());
        Some(servers)
    }

    /// Returns the servers that were started for a thread, if they still run.
    pub fn of_thread(&self, thread: &ThreadId) -> Option<Servers> {
        self.trees().get(thread)?.upgrade()
    }

    /// Returns the servers that a thread uses: its own, or those of the agents above it.
    pub(super) fn of_tree(&self, thread: &ThreadId) -> Option<Servers> {
        self.of_thread(thread).or_else(|| self.below().get(thread).and_then(WeakServers::upgrade))
    }

    /// Returns the servers of all threads.
    pub(super) fn all(&self) -> Vec<Servers> {
        self.trees().values().filter_map(WeakServers::upgrade).collect()
    }

    /// Tells the servers of a thread in which folders it works from now on.
    pub fn settings_changed(&self, thread: &ThreadId, settings: &Settings) {
        if let Some(servers) = self.of_thread(thread) {
            servers.set_roots(roots(settings));
        }
    }

    /// Takes a place among the logins that wait for users. `None` if there is none.
    pub(super) fn login_room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.login_room).try_acquire_owned().ok()
    }

    pub(super) fn waiting_logins(&self) -> MutexGuard<'_, HashMap<String, WaitingLogin>> {
        self.waiting_logins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the reports that were made without a thread.
    pub(super) async fn forget_reports(&self) {
        *self.cached.lock().await = None;
    }

    /// Starts one configured server for one request.
    pub(super) fn started_for(&self, config: &Config, server: &str) -> Servers {
        let mut configs: Vec<_> = config.mcp_servers.iter().filter(|known| known.name == server).cloned().collect();
        for config in &mut configs {
            config.startup_timeout = config.startup_timeout.min(STARTUP_FOR_ANSWER_MAX);
        }
        let launch = self.launch(&self.cwd, config.sandbox(config.sandbox_mode));
        self.started(configs, &launch, Vec::new())
    }

    /// Makes an agent share the servers of its parent.
    pub fn share(&self, parent: &ThreadId, child: &ThreadId) {
        let of_parent = self.trees().get(parent).cloned().or_else(|| self.below().get(parent).cloned());
        let mut below = self.below();
        below.retain(|_, servers| servers.upgrade().is_some());
        if let Some(servers) = of_parent {
            below.insert(child.clone(), servers);
        }
    }

    /// Ends the servers that were started for a thread.
    pub fn end(&self, thread: &ThreadId) {
        let servers = self.trees().remove(thread);
        if let Some(servers) = servers.and_then(|servers| servers.upgrade()) {
            servers.stop();
        }
    }

    /// Lists the MCP servers of a thread. Without a thread, the configured servers are started only for this request.
    ///
    /// # Errors
    ///
    /// Returns an error if the cursor is invalid.
    pub async fn list(
        &self,
        config: &Config,
        params: &ListMcpServerStatusParams,
    ) -> Result<ListMcpServerStatusResponse, RpcError> {
        let details = match params.detail {
            Some(McpServerStatusDetail::ToolsAndAuthOnly) => Details::Tools,
            Some(McpServerStatusDetail::Full) | None => Details::All,
        };
        let thread = params.thread_id.as_deref().map(ThreadId::from);
        let of_thread = thread.and_then(|id| self.of_tree(&id));
        let mut statuses: Vec<_> = match of_thread {
            Some(servers) => servers.report(details).await.into_iter().map(status).collect(),
            None => {
                let wanted =
                    |server: &&ServerConfig| params.server_name.as_ref().is_none_or(|name| server.name == *name);
                let configs = config.mcp_servers.iter().filter(wanted).cloned().collect();
                // The servers were started only for this request, so they have no run-time status.
                let unconnected = |report| McpServerStatus { runtime_status: None, ..status(report) };
                self.reports_without_thread(configs, details, config).await.into_iter().map(unconnected).collect()
            }
        };
        if let Some(name) = &params.server_name {
            statuses.retain(|status| status.name == *name);
        }
        let (data, next_cursor) = page(statuses, params.cursor.as_deref(), params.limit)?;
        Ok(ListMcpServerStatusResponse { data, next_cursor })
    }

    /// Ends all servers and waits until they have ended.
    pub async fn shutdown(&self) {
        self.ending.cancel();
        self.trees().clear();
        // Servers of threads that are gone may still be ending, and only `endings` knows them.
        let endings = self.endings().clone();
        join_all(endings.iter().map(ServersShutdown::shutdown)).await;
    }

    /// Returns the reports of servers that are started only for this request, or the last reports if they are recent.
    async fn reports_without_thread(
        &self,
        mut configs: Vec<ServerConfig>,
        details: Details,
        config: &Config,
    ) -> Vec<ServerReport> {
        for config in &mut configs {
            config.startup_timeout = config.startup_timeout.min(STARTUP_FOR_ANSWER_MAX);
        }
        let mut cached = self.cached.lock().await;
        if let Some(cached) = &*cached
            && (cached.details, &cached.configs) == (details, &configs)
            && cached.at.elapsed() < REPORTS_CACHED_FOR
        {
            return cached.reports.clone();
        }
        let launch = self.launch(&self.cwd, config.sandbox(config.sandbox_mode));
        let servers = self.started(configs.clone(), &launch, Vec::new());
        servers.settled().await;
        let reports = servers.report(details).await;
        servers.shutdown().await;
        *cached = Some(CachedReports { at: Instant::now(), configs, details, reports: reports.clone() });
        reports
    }

    fn below(&self) -> MutexGuard<'_, HashMap<ThreadId, WeakServers>> {
        self.below.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn launch(&self, cwd: &Path, sandbox: SandboxPolicy) -> LaunchPolicy {
        let (home, folders) = (self.home.clone(), Arc::clone(&self.folders));
        LaunchPolicy { home, cwd: cwd.to_owned(), sandbox, folders }
    }

    fn started(&self, configs: Vec<ServerConfig>, launch: &LaunchPolicy, roots: Vec<PathBuf>) -> Servers {
        let servers = Servers::start(configs, &self.variables, launch, roots);
        let mut endings = self.endings();
        endings.retain(|ending| !ending.is_over());
        endings.push(servers.ending());
        servers
    }

    fn endings(&self) -> MutexGuard<'_, Vec<ServersShutdown>> {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trees(&self) -> MutexGuard<'_, HashMap<ThreadId, WeakServers>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the folders in which a thread works: its working folder, and those that the user has added.
fn roots(settings: &Settings) -> Vec<PathBuf> {
    let added = match &settings.sandbox {
        SandboxPolicy::WorkspaceWrite { writable_roots, .. } => writable_roots.as_slice(),
        _ => &[],
    };
    let mut roots = vec![settings.cwd.clone()];
    roots.extend(added.iter().filter(|folder| **folder != settings.cwd).cloned());
    roots
}

/// Converts a report to the status that clients get.
fn status(report: ServerReport) -> McpServerStatus {
    let needs_login = matches!(&report.startup, Some(Startup::Failed(failure)) if failure.need == Remedy::Login);
    let (auth_status, http_origin) = match &report.transport {
        Transport::Process { .. } => (McpAuthStatus::Unsupported, None),
        Transport::Http { url, bearer_token_env_var, .. } => {
            let auth = match bearer_token_env_var {
                _ if needs_login => McpAuthStatus::NotLoggedIn,
                Some(_) => McpAuthStatus::BearerToken,
                None if report.is_logged_in => McpAuthStatus::OAuth,
                None => McpAuthStatus::Unknown,
            };
            (auth, Some(url.origin().ascii_serialization()))
        }
    };
    let (runtime_status, tools_error) = match &report.startup {
        None => (McpServerConnectionStatus::Disabled, None),
        Some(Startup::Starting) => (McpServerConnectionStatus::Starting, None),
        Some(Startup::Ready) => (McpServerConnectionStatus::Connected, None),
        Some(Startup::Cancelled) => (McpServerConnectionStatus::Cancelled, None),
        Some(Startup::Failed(failure)) if needs_login => {
            (McpServerConnectionStatus::AuthenticationRequired, Some(failure.message.clone()))
        }
        Some(Startup::Failed(failure)) => (McpServerConnectionStatus::Failed, Some(failure.message.clone())),
    };
    let tools: Vec<Tool> = readable(report.tools);
    McpServerStatus {
        auth_status,
        name: report.name,
        resource_templates: readable(report.resource_templates),
        resources: readable(report.resources),
        tools: tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect::<BTreeMap<_, _>>(),
        http_origin,
        plugin_id: None,
        runtime_status: Some(runtime_status),
        server_capabilities: report.capabilities,
        server_info: report.info.and_then(|info| serde_json::from_value(info).ok()),
        tool_list_meta: None,
        tools_error,
    }
}

/// Leaves out values that clients could not decode.
fn readable<T: DeserializeOwned>(values: Vec<Value>) -> Vec<T> {
    values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect()
}
