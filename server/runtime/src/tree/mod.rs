//! Agents that start agents: a tree of threads that work at the same time and write to each other.
//!
//! The root of a tree is a thread that a client started. The tools of [`tools`] let its model start others, give them tasks,
//! tell them something, wait for mail, stop them, and see how far they are. Every agent is a thread of its own: it is made by
//! the runtime, handed to the host before anything happens in it, and recorded in the bundle of its root. When a turn of an
//! agent ends, its parent gets what it said last as mail, whatever the end was.
//!
//! An agent reaches all others of its tree, and none of another tree. Limits of a tree are [`TreeLimits`] and
//! [`MAX_KEPT_AGENTS`].

mod arguments;
mod collaboration;
mod fork;
mod letter;
mod limits;
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
pub use path::ROOT;
pub use registry::{AgentEntry, TreeLimits};
pub use role::Role;
pub use specification::NAMESPACE;
pub use status::{AgentStatus, MAX_STATUS_CHARS};
pub use wait::{DEFAULT_WAIT_MS, MAX_WAIT_MS, MIN_WAIT_MS};

pub use crate::runtime::MAX_KEPT_AGENTS;

use crate::agent::Agent;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::Mail;
use crate::tool::Tool;

/// Why an agent that worked before does not join a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{path}` does not join the tree: {reason}")]
pub struct JoinError {
    path: String,
    reason: String,
}

/// Returns the tools with which agents start and reach each other. They belong into the set of all agents: those that are
/// started need them as well.
pub fn tools(limits: TreeLimits) -> Vec<Arc<dyn Tool>> {
    tools_with_roles(limits, Vec::new())
}

/// Returns the same tools, with which a model can also start agents with a role.
pub fn tools_with_roles(limits: TreeLimits, roles: Vec<Role>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(collaboration::Collaboration::new(limits, roles))]
}

/// Puts an agent that worked in a tree before, and was loaded again, back into it, so that the others reach it. The limits are
/// those of a tree that this begins; one that there is already keeps its own. `last` is how its last turn ended.
///
/// # Errors
///
/// Refuses agents of another tree, paths that are taken, and trees that are shut down.
pub fn join(root: &Agent, child: &Agent, last: &TurnOutcome, limits: TreeLimits) -> Result<(), JoinError> {
    let error = |reason: String| JoinError { path: child.path().to_owned(), reason };
    if child.root() != root.id() || child.lineage().is_none() {
        return Err(error("it belongs to another one".to_owned()));
    }
    let tree = registry::Tree::of(root, limits).map_err(|refused| error(refused.to_string()))?;
    tree.join(child, AgentStatus::of(last)).map_err(|refused| error(refused.to_string()))
}

/// Returns what the parent of an agent that is loaded again has to know, each with the id that tells whether it knows it: how
/// the newest turn ended in which the agent worked, and that it did not come to the newest task that waits for it. The last of
/// them says how far the agent is.
pub fn ends(last_work: Option<(TurnId, TurnOutcome)>, open: &[Mail]) -> Vec<(TurnId, TurnOutcome)> {
    let task = registry::waiting_task(open).map(|task| (task, TurnOutcome::Interrupted));
    last_work.into_iter().chain(task).collect()
}

/// Tells the parent of an agent that joined a tree again about one of its [`ends`], unless the parent was told: `known` are the
/// ids of all messages that it ever got.
pub fn report_if_unknown(root: &Agent, child: &Agent, turn: &TurnId, last: &TurnOutcome, known: &BTreeSet<String>) {
    if !known.contains(&Mail::id_of_result(turn))
        && let Some(tree) = registry::Tree::known(root)
    {
        tree.report(child, turn, last);
    }
}

/// Returns the agents of the tree that an agent stands in, the root first; nothing if there is no tree.
pub fn agents(agent: &Agent) -> Vec<AgentEntry> {
    registry::Tree::known(agent).map(|tree| tree.entries(ROOT)).unwrap_or_default()
}
