//! Agents that start agents: a tree of threads that run concurrently and send messages to each other.
//!
//! The root of a tree is a thread that a client started. With the tools of [`tools`] its model can start other agents, give
//! them tasks, send messages, wait for messages, interrupt agents, and list their status. Every agent has its own thread:
//! the runtime creates it, hands it to the host before anything happens in it, and records it in the bundle of its root.
//! When a turn of an agent ends, its parent gets the last message or the error by mail, however the turn ended.
//!
//! An agent can reach all agents of its own tree, and none of another tree. The limits of a tree are [`TreeLimits`] and
//! [`MAX_KEPT_AGENTS`].

mod arguments;
mod collaboration;
mod fork;
mod letter;
mod limits;
mod load;
mod nickname;
mod operations;
mod path;
mod refused;
mod registry;
mod role;
mod specification;
mod status;
mod wait;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use limits::{MAX_MESSAGE_BYTES, MAX_NAME_BYTES};
pub use load::{Below, Rejoined, StoredAgent, load_order, rejoin};
pub use path::ROOT;
pub use registry::{AgentEntry, TreeLimits};
pub use role::Role;
pub use specification::NAMESPACE;
pub use status::{AgentStatus, MAX_STATUS_CHARS};
pub use wait::{DEFAULT_WAIT_MS, MAX_WAIT_MS, MIN_WAIT_MS};

pub use crate::options::MAX_KEPT_AGENTS;

use crate::agent::Agent;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::Mail;
use crate::tool::Tool;

/// Why a stored agent cannot join a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{path}` does not join the tree: {reason}")]
pub struct JoinError {
    path: String,
    reason: String,
}

/// Returns the tools with which agents start and message each other. They must be in the tool set of all agents, because
/// agents that are started need them too.
pub fn tools(limits: TreeLimits) -> Vec<Arc<dyn Tool>> {
    tools_with_roles(limits, Vec::new())
}

/// Returns the same tools, which can also start agents with a role.
pub fn tools_with_roles(limits: TreeLimits, roles: Vec<Role>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(collaboration::Collaboration::new(limits, roles))]
}

/// Puts an agent that was loaded again back into its tree, so that other agents can reach it. If the tree does not exist
/// yet, it is created with `limits`; otherwise it keeps its limits. `last` is how the last turn of the agent ended.
///
/// # Errors
///
/// Returns an error if the agent belongs to another tree, its path is taken, or the tree is shut down.
pub fn join(root: &Agent, child: &Agent, last: &TurnOutcome, limits: TreeLimits) -> Result<(), JoinError> {
    let error = |reason: String| JoinError { path: child.path().to_owned(), reason };
    if child.root() != root.id() || child.lineage().is_none() {
        return Err(error("it belongs to another one".to_owned()));
    }
    let tree = registry::Tree::of(root, limits).map_err(|refused| error(refused.to_string()))?;
    tree.join(child, AgentStatus::of(last)).map_err(|refused| error(refused.to_string()))
}

/// Returns the ends of turns that the parent of a loaded agent must know: how the last turn in which the agent worked
/// ended, and that the agent did not start the newest task that waits for it. Each has the id of its turn, by which the
/// parent can tell whether it was told already. The last one gives the status of the agent.
pub fn ends(last_work: Option<(TurnId, TurnOutcome)>, open: &[Mail]) -> Vec<(TurnId, TurnOutcome)> {
    let task = registry::waiting_task(open).map(|task| (task, TurnOutcome::Interrupted));
    last_work.into_iter().chain(task).collect()
}

/// Sends one of the [`ends`] of a loaded agent to its parent, unless the parent has received it already. `known` are the
/// ids of all messages that the parent ever received.
pub fn report_if_unknown(root: &Agent, child: &Agent, turn: &TurnId, last: &TurnOutcome, known: &BTreeSet<String>) {
    if !known.contains(&Mail::id_of_result(turn))
        && let Some(tree) = registry::Tree::known(root)
    {
        tree.report(child, turn, last);
    }
}

/// Returns the agents of the tree that an agent belongs to, the root first. Returns an empty list if there is no tree.
pub fn agents(agent: &Agent) -> Vec<AgentEntry> {
    registry::Tree::known(agent).map(|tree| tree.entries(ROOT)).unwrap_or_default()
}
