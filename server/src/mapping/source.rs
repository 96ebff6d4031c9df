//! Converts the origin of a thread.

use trace_protocol::thread::{SessionSource, SubAgentSource};
use trace_runtime::Agent;

/// Returns the origin of a thread whose agent was spawned by another agent.
pub(crate) fn source_of_agent(agent: &Agent) -> SessionSource {
    let Some(lineage) = agent.lineage() else { return SessionSource::Vscode };
    SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
        depth: i32::try_from(lineage.depth).unwrap_or(i32::MAX),
        parent_thread_id: lineage.parent.to_string(),
        agent_nickname: lineage.nickname.clone(),
        agent_path: Some(lineage.path.clone()),
        agent_role: lineage.role.clone(),
    })
}
