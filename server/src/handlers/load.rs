//! Loads stored threads.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::thread::{SessionSource, SubAgentSource};
use trace_runtime::agent::{Lineage, NewAgent, RecordingTarget};
use trace_runtime::{ThreadId, TurnId};

use super::overrides::{Overrides, Place};
use super::start::StartHandlers;
use crate::blocking::blocking;
use crate::store::{StoreError, StoredMail, ThreadSummary};
use crate::threads::{InitialState, LoadedThread, Origin};

impl StartHandlers {
    /// Loads a stored thread. Returns it with its mailbox.
    pub(crate) async fn load(
        &self,
        id: &ThreadId,
        overrides: &Overrides,
    ) -> Result<(Arc<LoadedThread>, StoredMail), RpcError> {
        let wanted = id.clone();
        let (summary, stored, queue, writer) = blocking(&self.store, move |store| -> Result<_, StoreError> {
            let summary = store.find(&wanted)?;
            // The writer is opened first, because it keeps other processes from appending to what is read.
            let writer = store.open_writer(&wanted)?;
            Ok((summary, store.load(&wanted)?, store.queue(&wanted), writer))
        })
        .await??;
        let mut without = self.configuration.without(overrides.config.as_ref(), Place::Folder)?;
        let stored_settings = stored.settings.over(self.configuration.defaults());
        let settings = self.configuration.settings(overrides, Some(&stored_settings))?;
        let origin = origin_of(&summary);
        let lineage = lineage(&summary);
        // An agent may not use tools that its parent may not use.
        let parent = lineage.as_ref().and_then(|lineage| self.threads.get(&lineage.parent));
        without.extend(parent.iter().flat_map(|parent| parent.agent().toolbox().without()).copied());
        let tools = self.tools.own(id, overrides, &settings, &without, lineage.as_ref(), &stored.dynamic_tools).await?;
        let agent = self.runtime.start(NewAgent {
            tools,
            history: stored.history,
            mail: stored.mail.open.clone(),
            usage: stored.usage.unwrap_or_default(),
            dynamic_tools: stored.dynamic_tools,
            without,
            recorded: match lineage.as_ref().and_then(|lineage| self.threads.get(&lineage.parent)) {
                Some(parent) => RecordingTarget::BundleOf(parent.agent().clone()),
                None => RecordingTarget::OwnBundle,
            },
            source: Some("vscode".to_owned()),
            lineage,
            ..NewAgent::new(id.clone(), settings)
        });
        let last_turn = stored.turns.last().map(|turn| TurnId::from(turn.id.as_str()));
        let initial = InitialState {
            turns: stored.turns,
            usage: last_turn.zip(stored.usage),
            plan: stored.plan,
            name: summary.name,
            preview: summary.preview,
            git_info: summary.git,
            updated_at: summary.updated_at_ms.div_euclid(1000),
            goal: stored.goal,
            queue,
            writer: Some(writer),
        };
        let thread = Arc::new(LoadedThread::new(agent, origin, initial));
        self.threads.insert(&thread);
        Ok((thread, stored.mail))
    }
}

fn origin_of(summary: &ThreadSummary) -> Origin {
    Origin {
        forked_from: summary.forked_from.as_ref().map(ToString::to_string),
        is_ephemeral: false,
        created_at: summary.created_at_ms.div_euclid(1000),
        path: Some(summary.path.clone()),
        source: summary.source.clone(),
        thread_source: summary.thread_source.clone(),
        originator: summary.originator.clone(),
        history_mode: summary.history_mode,
        version: summary.version.clone(),
        agent_nickname: summary.agent_nickname.clone(),
        agent_role: summary.agent_role.clone(),
    }
}

/// Returns the place of a stored agent in its tree, or `None` for a root agent.
fn lineage(summary: &ThreadSummary) -> Option<Lineage> {
    let parent = summary.parent.clone()?;
    let depth = match &summary.source {
        SessionSource::SubAgent(SubAgentSource::ThreadSpawn { depth, .. }) => u32::try_from(*depth).unwrap_or(1),
        _ => 1,
    };
    Some(Lineage {
        parent,
        root: summary.session.clone(),
        path: summary.agent_path.clone().unwrap_or_else(|| format!("/root/{}", summary.id)),
        depth,
        nickname: summary.agent_nickname.clone(),
        role: summary.agent_role.clone(),
    })
}
