//! Servers of tools: those that the agents of a tree share, and what is told of them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trace_mcp::{Details, Need, ServerReport, Servers, Startup, Transport, Variables, WeakServers};
use trace_protocol::RpcError;
use trace_protocol::catalog::{
    ListMcpServerStatusParams, ListMcpServerStatusResponse, McpAuthStatus, McpServerConnectionStatus, McpServerStatus,
    McpServerStatusDetail, Tool,
};
use trace_runtime::ThreadId;

use super::page::page;
use crate::config::Config;

/// Starts servers of tools and tells what they have.
#[derive(Debug)]
pub struct McpService {
    cwd: PathBuf,
    variables: Variables,
    trees: Mutex<HashMap<ThreadId, WeakServers>>,
}

impl McpService {
    /// Returns the service of a server that works in a folder.
    #[must_use]
    pub fn new(cwd: PathBuf, variables: Variables) -> Self {
        Self { cwd, variables, trees: Mutex::default() }
    }

    /// Starts the configured servers for the agents below a thread that works in a folder, if any are configured.
    pub fn start(&self, thread: &ThreadId, config: &Config, cwd: &Path) -> Option<Servers> {
        if config.mcp_servers.is_empty() {
            return None;
        }
        let servers = Servers::start(config.mcp_servers.clone(), &self.variables, cwd);
        let mut trees = self.trees();
        trees.retain(|_, servers| servers.upgrade().is_some());
        trees.insert(thread.clone(), servers.downgrade());
        Some(servers)
    }

    /// Returns the servers that were started for a thread and are there still.
    pub fn of_thread(&self, thread: &ThreadId) -> Option<Servers> {
        self.trees().get(thread)?.upgrade()
    }

    /// Ends the servers that were started for a thread.
    pub fn end(&self, thread: &ThreadId) {
        let servers = self.trees().remove(thread);
        if let Some(servers) = servers.and_then(|servers| servers.upgrade()) {
            servers.stop();
        }
    }

    /// Tells what servers there are. Without a thread that has some, the configured ones are started for the answer.
    ///
    /// # Errors
    ///
    /// The cursor is none.
    pub async fn list(
        &self,
        config: &Config,
        params: &ListMcpServerStatusParams,
    ) -> Result<ListMcpServerStatusResponse, RpcError> {
        let details = match params.detail {
            Some(McpServerStatusDetail::ToolsAndAuthOnly) => Details::Tools,
            Some(McpServerStatusDetail::Full) | None => Details::All,
        };
        let of_thread = params.thread_id.as_deref().and_then(|id| self.of_thread(&ThreadId::from(id)));
        let mut statuses: Vec<_> = match of_thread {
            Some(servers) => servers.report(details).await.into_iter().map(status).collect(),
            None => {
                let servers = Servers::start(config.mcp_servers.clone(), &self.variables, &self.cwd);
                servers.settled().await;
                let reports = servers.report(details).await;
                servers.shutdown().await;
                // These connections were for the answer only.
                let unconnected = |report| McpServerStatus { runtime_status: None, ..status(report) };
                reports.into_iter().map(unconnected).collect()
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
        let trees: Vec<_> = self.trees().drain().filter_map(|(_, servers)| servers.upgrade()).collect();
        join_all(trees.iter().map(Servers::shutdown)).await;
    }

    fn trees(&self) -> MutexGuard<'_, HashMap<ThreadId, WeakServers>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says to clients what there is of a server.
fn status(report: ServerReport) -> McpServerStatus {
    let needs_login = matches!(&report.startup, Some(Startup::Failed(failure)) if failure.need == Need::Login);
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

/// Leaves out what clients could not read.
fn readable<T: DeserializeOwned>(values: Vec<Value>) -> Vec<T> {
    values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect()
}
