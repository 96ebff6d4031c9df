//! Tools that belong to one thread: those of its servers of tools, and the one that updates its goal.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_runtime::agent::Lineage;
use trace_runtime::pace::Pace;
use trace_runtime::tool::{Tool, ToolFamily};
use trace_runtime::{Settings, ThreadId};

use super::configuration::ThreadConfiguration;
use super::goals::{GoalHandlers, UpdateGoal};
use super::overrides::Overrides;
use crate::mapping;
use crate::services::McpService;
use crate::threads::Registry;

/// Makes the tools that belong to one thread.
pub(crate) struct ThreadTools {
    pub(crate) threads: Arc<Registry>,
    pub(crate) mcp: Arc<McpService>,
    pub(crate) configuration: Arc<ThreadConfiguration>,
    pub(crate) goals: Arc<GoalHandlers>,
    pub(crate) pace: Option<Arc<dyn Pace>>,
}

impl ThreadTools {
    /// Returns the tools of a thread's servers, and the tool that updates its goal.
    pub(crate) async fn own(
        &self,
        thread: &ThreadId,
        overrides: &Overrides,
        settings: &Settings,
        without: &[ToolFamily],
        lineage: Option<&Lineage>,
        dynamic: &[serde_json::Value],
    ) -> Result<Vec<Arc<dyn Tool>>, RpcError> {
        let mut tools = self.of_servers(thread, overrides, settings, without, lineage).await?;
        tools.retain(|tool| tool.family() != ToolFamily::Own);
        // A dynamic tool of a client with the same name takes precedence.
        if dynamic.iter().all(|tool| tool.get("name").is_none_or(|name| name != UpdateGoal::NAME)) {
            tools.push(Arc::new(UpdateGoal { goals: Arc::downgrade(&self.goals), thread: thread.clone() }));
        }
        Ok(tools)
    }

    /// Returns the tools of servers for a thread. A thread whose parent is loaded shares the parent's servers; for others, servers
    /// are started. There are none for an agent without a folder to work in, and in a replay that does not run tools.
    ///
    /// # Errors
    ///
    /// Returns an error if a required server did not start, or if the client's configuration is invalid.
    async fn of_servers(
        &self,
        thread: &ThreadId,
        overrides: &Overrides,
        settings: &Settings,
        without: &[ToolFamily],
        lineage: Option<&Lineage>,
    ) -> Result<Vec<Arc<dyn Tool>>, RpcError> {
        let pace = self.pace.as_ref();
        if without.contains(&ToolFamily::Files) || pace.is_some_and(|pace| !pace.runs_tools()) {
            return Ok(Vec::new());
        }
        if let Some(parent) = lineage.and_then(|lineage| self.threads.get(&lineage.parent)) {
            self.mcp.share(parent.agent().id(), thread);
            return Ok(parent.agent().toolbox().own().to_vec());
        }
        let configured = self.configuration.current();
        let config = match &overrides.config {
            Some(map) => Arc::new(configured.with(map).map_err(|error| RpcError::invalid_request(&error))?),
            None => configured,
        };
        let Some(servers) = self.mcp.start(thread, &config, settings) else { return Ok(Vec::new()) };
        let missing = servers.missing().await;
        if missing.is_empty() {
            return Ok(servers.tools());
        }
        servers.shutdown().await;
        let missing: Vec<_> = missing.iter().map(|(name, failure)| format!("{name}: {}", failure.message)).collect();
        Err(RpcError::internal(format!("required MCP servers did not start: {}", missing.join("; "))))
    }

    /// Notifies the subscribers of a thread of the startup of its servers of tools, from now on.
    pub(crate) fn tell_of_servers(&self, thread: &ThreadId) {
        let Some(servers) = self.mcp.of_thread(thread) else { return };
        let (threads, thread) = (Arc::downgrade(&self.threads), thread.clone());
        servers.listen(Arc::new(move |name, startup| {
            let Some(loaded) = threads.upgrade().and_then(|threads| threads.get(&thread)) else { return };
            loaded.state().tell(mapping::elicitation::startup(&thread, name, startup));
        }));
    }
}
