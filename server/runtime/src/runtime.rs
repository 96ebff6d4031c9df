//! Creates agents for a host.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::agent::{Agent, NewAgent, WeakAgent};
use crate::host::Host;
pub use crate::options::{COMPACT_AT_PERCENT, MAX_KEPT_AGENTS, MAX_PROJECT_BYTES, ModelWindow, RuntimeOptions};
use crate::shared::Shared;
use crate::tool::ToolContext;

/// A host that also gets the agents that other agents spawn.
pub trait AgentHost: Host {
    /// Receives an agent that another agent spawned, before anything happens in its thread.
    fn adopt(&self, child: Agent);

    /// Called after an adopted agent was shut down to make room for others, because it was idle for the longest time. What is stored
    /// of it stays.
    fn release(&self, child: &Agent) {
        let _ = child;
    }
}

/// Creates agents for a host. A host creates one runtime.
pub struct Runtime {
    shared: Arc<Shared>,
    host: Arc<dyn AgentHost>,
}

impl Runtime {
    /// Creates the runtime of a host.
    pub fn new(options: RuntimeOptions, host: Arc<dyn AgentHost>) -> Arc<Self> {
        let shared = Shared::new(options, Arc::clone(&host) as Arc<dyn Host>);
        Arc::new(Self { shared, host })
    }

    /// Returns the options.
    pub fn options(&self) -> &RuntimeOptions {
        &self.shared.options
    }

    /// Creates an agent. Nothing happens and nothing is recorded before its first request.
    pub fn start(self: &Arc<Self>, new: NewAgent) -> Agent {
        let agent = Agent::new(&self.shared, new);
        agent.extension::<Maker>().0.get_or_init(|| (Arc::clone(self), agent.downgrade()));
        agent
    }

    pub(crate) fn host(&self) -> &Arc<dyn AgentHost> {
        &self.host
    }
}

/// State that the runtime keeps with each agent.
#[derive(Default)]
struct Maker(OnceLock<(Arc<Runtime>, WeakAgent)>);

/// The agent that calls a tool, and its runtime, for tools that spawn agents or message others.
pub(crate) struct Caller {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) agent: Agent,
}

impl Caller {
    /// Returns the caller, unless the agent is gone.
    pub(crate) fn of(context: &ToolContext) -> Option<Self> {
        let maker = context.agent.extension::<Maker>();
        let (runtime, agent) = maker.0.get()?;
        Some(Self { runtime: Arc::clone(runtime), agent: agent.upgrade()? })
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}
