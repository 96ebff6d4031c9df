//! Starts the MCP servers that the agents of a tree share, and lists MCP servers for clients.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;
use trace_mcp::{
    Details, LaunchFolders, Remedy, ServerConfig, ServerReport, Servers, ServersShutdown, Startup, Transport,
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
}

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
        let servers = self.started(config.mcp_servers.clone(), &self.launch_folders(&settings.cwd, &settings.sandbox));
        let mut trees = self.trees();
        trees.retain(|_, servers| servers.upgrade().is_some());
        trees.insert(thread.clone(), servers.downgrade());
        Some(servers)
    }

    /// Returns the servers that were started for a thread, if they still run.
    pub fn of_thread(&self, thread: &ThreadId) -> Option<Servers> {
        self.trees().get(thread)?.upgrade()
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
        let of_thread =
            thread.and_then(|id| self.of_thread(&id).or_else(|| self.below().get(&id).and_then(WeakServers::upgrade)));
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
        let servers =
            self.started(configs.clone(), &self.launch_folders(&self.cwd, &config.sandbox(config.sandbox_mode)));
        servers.settled().await;
        let reports = servers.report(details).await;
        servers.shutdown().await;
        *cached = Some(CachedReports { at: Instant::now(), configs, details, reports: reports.clone() });
        reports
    }

    fn below(&self) -> MutexGuard<'_, HashMap<ThreadId, WeakServers>> {
        self.below.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn launch_folders(&self, cwd: &Path, sandbox: &SandboxPolicy) -> LaunchFolders {
        let writable = Arc::new(self.folders.writable(cwd, sandbox));
        LaunchFolders { home: self.home.clone(), cwd: cwd.to_owned(), writable }
    }

    fn started(&self, configs: Vec<ServerConfig>, launch_folders: &LaunchFolders) -> Servers {
        let servers = Servers::start(configs, &self.variables, launch_folders);
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

/// Converts a report to the status that clients get.
fn status(report: ServerReport) -> McpServerStatus {
    let needs_login = matches!(&report.startup, Some(Startup::Failed(failure)) if failure.need == Remedy::Login);
    let (auth_status, http_origin) = match &report.transport {
        Transport::Process { .. } => (McpAuthStatus::Unsupported, None),
        Transport::Http { url, bearer_token_env_var, .. } => {
            let auth = match bearer_token_env_var {
                _ if needs_login => McpAuthStatus::NotLoggedIn,
                Some(_) => McpAuthStatus::BearerToken,
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
