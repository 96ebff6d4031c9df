//! Threads of agents that other agents spawn.

use std::sync::Arc;

use jiff::Timestamp;
use trace_protocol::notification::ThreadClosedNotification;
use trace_protocol::thread::{ThreadHistoryMode, ThreadStatus};
use trace_runtime::{Agent, ThreadId};

use super::loaded::LoadedThread;
use super::origin::{InitialState, Origin};
use super::registry::Registry;
use super::status::tell_status;
use crate::hub::Hub;
use crate::mapping::source_of_agent;
use crate::services::McpService;
use crate::store::{EdgeStatus, NewThread, Store, StoreError, ThreadWriter};

/// Gives spawned agents their threads, and removes the threads when the agents are shut down.
#[derive(Debug)]
pub(crate) struct ChildThreads {
    pub(crate) threads: Arc<Registry>,
    pub(crate) store: Store,
    pub(crate) hub: Hub,
    pub(crate) mcp: Arc<McpService>,
    /// Version of the server that is written to rollout files.
    pub(crate) version: String,
}

impl ChildThreads {
    /// Makes a loaded thread for an agent that another agent spawned, and subscribes all clients to it.
    pub(crate) fn adopt(&self, child: Agent) {
        let Some(parent) = child.parent().cloned() else { return };
        self.mcp.share(&parent, child.id());
        let now_ms = Timestamp::now().as_millisecond();
        let known = self.threads.get(&parent);
        let mut origin = Origin {
            forked_from: None,
            is_ephemeral: known.as_ref().is_some_and(|parent| parent.origin().is_ephemeral),
            created_at: now_ms.div_euclid(1000),
            path: None,
            source: source_of_agent(&child),
            thread_source: Some("subagent".to_owned()),
            originator: known.as_ref().and_then(|parent| parent.origin().originator.clone()),
            history_mode: known.as_ref().map_or(ThreadHistoryMode::Paginated, |parent| parent.origin().history_mode),
            version: self.version.clone(),
            agent_nickname: child.lineage().and_then(|lineage| lineage.nickname.clone()),
            agent_role: child.lineage().and_then(|lineage| lineage.role.clone()),
        };
        let writer = if origin.is_ephemeral { None } else { self.store_agent(&child, &parent, &mut origin) };
        if let Some(writer) = &writer {
            let history = child.history();
            if let Err(error) = writer.remember(&history) {
                tracing::error!(thread = %child.id(), %error, "what an agent was given could not be stored");
            }
        }
        let initial = InitialState { updated_at: origin.created_at, writer, ..InitialState::default() };
        let thread = Arc::new(LoadedThread::new(child, origin, initial));
        self.threads.insert(&thread);
        let of_parent = known.map(|parent| parent.state().participants()).unwrap_or_default();
        thread.state().subscribe_all(&self.hub.everybody(), &of_parent);
    }

    /// Creates the rollout file of an agent's thread. If that fails, the agent works without a file.
    fn store_agent(&self, child: &Agent, parent: &ThreadId, origin: &mut Origin) -> Option<ThreadWriter> {
        let made = self.store.create(NewThread {
            session: child.root().clone(),
            parent: Some(parent.clone()),
            agent_path: Some(child.path().to_owned()),
            dynamic_tools: child.toolbox().definitions().to_vec(),
            ..origin.new_thread(child.id(), &child.settings(), Timestamp::now().as_millisecond())
        });
        let stored = made.and_then(|writer| {
            origin.path = Some(writer.path());
            writer.materialize()?;
            self.store.spawn_edge(parent, child.id(), EdgeStatus::Open)?;
            Ok(writer)
        });
        stored
            .inspect_err(|error: &StoreError| {
                tracing::error!(thread = %child.id(), %error, "the thread of an agent could not be stored");
            })
            .ok()
    }

    /// Removes the thread of an agent that was shut down.
    pub(crate) fn released(&self, id: &ThreadId) {
        let Some(thread) = self.threads.get(id) else { return };
        self.threads.remove(&thread);
        // Its path may be given to another agent.
        if let Some(parent) = thread.agent().parent()
            && let Err(error) = self.store.spawn_edge(parent, id, EdgeStatus::Closed)
        {
            tracing::warn!(thread = %id, %error, "that an agent was let go is not stored");
        }
        thread.close_file();
        tell_status(&self.hub, id, ThreadStatus::NotLoaded);
        self.hub.broadcast(ThreadClosedNotification { thread_id: id.to_string() });
    }
}
