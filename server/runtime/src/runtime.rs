//! Makes agents for a host.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::agent::{Agent, NewAgent, WeakAgent};
use crate::host::Host;
pub use crate::options::{COMPACT_AT_PERCENT, MAX_KEPT_AGENTS, MAX_PROJECT_BYTES, ModelWindow, RuntimeOptions};
use crate::shared::Shared;
use crate::tool::ToolContext;

/// A host that also takes over the agents that other agents start.
pub trait AgentHost: Host {
    /// Takes over the thread of an agent that another agent started, before anything happens in it.
    fn adopt(&self, child: Agent);

    /// Gives back the thread of an agent that was adopted: it had nothing to do for long, and others need its place. It has
    /// been shut down. What is stored of it stays.
    fn release(&self, child: &Agent) {
        let _ = child;
    }
}

/// Makes agents for a host. Made once; [`start`](Self::start) makes agents.
pub struct Runtime {
    shared: Arc<Shared>,
    host: Arc<dyn AgentHost>,
}

impl Runtime {
    /// Returns a runtime that works for a host.
    pub fn new(options: RuntimeOptions, host: Arc<dyn AgentHost>) -> Arc<Self> {
        let shared = Shared::new(options, Arc::clone(&host) as Arc<dyn Host>);
        Arc::new(Self { shared, host })
    }

    /// Returns what the runtime works with.
    pub fn options(&self) -> &RuntimeOptions {
        &self.shared.options
    }

    /// Returns a new agent. Nothing happens and nothing is recorded before it is asked for something.
    pub fn start(self: &Arc<Self>, new: NewAgent) -> Agent {
        let agent = Agent::new(&self.shared, new);
        agent.extension::<Maker>().0.get_or_init(|| (Arc::clone(self), agent.downgrade()));
        agent
    }

    pub(crate) fn host(&self) -> &Arc<dyn AgentHost> {
        &self.host
    }
}

/// What the runtime keeps with each agent that it makes.
#[derive(Default)]
struct Maker(OnceLock<(Arc<Runtime>, WeakAgent)>);

/// The agent that calls a tool, and its runtime, for tools that start agents or reach others.
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
