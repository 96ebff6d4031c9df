//! The servers of tools that a thread's agents have.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_runtime::agent::Lineage;
use trace_runtime::tool::{Tool, ToolFamily};
use trace_runtime::{Settings, ThreadId};

use super::overrides::Overrides;
use crate::core::Core;
use crate::mapping;

impl Core {
    /// Returns the tools of servers for the agent of a thread: those of its parent's servers, if it has a parent that is
    /// loaded, and else those of servers that are started for it. An agent that has no place to work in has
    /// none, and so has one whose calls are answered out of a recording.
    ///
    /// # Errors
    ///
    /// A server did not start without which no thread starts, or the client's configuration makes no sense.
    pub(crate) async fn server_tools(
        &self,
        thread: &ThreadId,
        overrides: &Overrides,
        settings: &Settings,
        without: &[ToolFamily],
        lineage: Option<&Lineage>,
    ) -> Result<Vec<Arc<dyn Tool>>, RpcError> {
        let pace = self.runtime().options().pace.as_ref();
        if without.contains(&ToolFamily::Files) || pace.is_some_and(|pace| !pace.runs_tools()) {
            return Ok(Vec::new());
        }
        if let Some(parent) = lineage.and_then(|lineage| self.threads.get(&lineage.parent)) {
            self.services.mcp.share(parent.agent().id(), thread);
            return Ok(parent.agent().own_tools().to_vec());
        }
        let configured = self.config();
        let config = match &overrides.config {
            Some(map) => Arc::new(configured.with(map).map_err(|error| RpcError::invalid_request(&error))?),
            None => configured,
        };
        let Some(servers) = self.services.mcp.start(thread, &config, settings) else { return Ok(Vec::new()) };
        let missing = servers.missing().await;
        if missing.is_empty() {
            return Ok(servers.tools());
        }
        servers.shutdown().await;
        let missing: Vec<_> = missing.iter().map(|(name, failure)| format!("{name}: {}", failure.message)).collect();
        Err(RpcError::internal(format!("required MCP servers did not start: {}", missing.join("; "))))
    }

    /// Tells those who listen to a thread how far its servers of tools are, from now on.
    pub(crate) fn tell_of_servers(&self, thread: &ThreadId) {
        let (Some(servers), Some(core)) = (self.services.mcp.of_thread(thread), self.this()) else { return };
        let (core, thread) = (Arc::downgrade(&core), thread.clone());
        servers.listen(Arc::new(move |name, startup| {
            let Some(loaded) = core.upgrade().and_then(|core| core.threads.get(&thread)) else { return };
            loaded.state().tell(mapping::elicitation::startup(&thread, name, startup));
        }));
    }
}
