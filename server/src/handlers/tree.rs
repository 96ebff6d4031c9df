//! Loads the agents below a thread that a client resumes.
//!
//! The agents have the same paths as before, share the bundle of the root, and keep their unread mail. None of them continues
//! by itself. A parent that was not told how the last turn of a child ended, or that it was cut off, is told now.

use std::collections::BTreeSet;
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::item::ThreadItem;
use trace_protocol::thread::ThreadStatus;
use trace_protocol::turn::{Turn, TurnStatus};
use trace_runtime::event::{ErrorKind, TurnError, TurnKind, TurnOutcome};
use trace_runtime::tree::{self, Below, StoredAgent, TreeLimits};
use trace_runtime::{Item, ItemId, ThreadId, TurnId, item::ItemKind};

use super::overrides::Overrides;
use super::resume::ResumeHandlers;
use crate::blocking::blocking;
use crate::store::{Store, StoredMail, ThreadSummary};
use crate::threads::{LoadedThread, tell_status};

impl ResumeHandlers {
    /// Loads the agents below a loaded root, whose mailbox is given. An agent that cannot be loaded is left out, with those below
    /// it. `wanted` names an agent that a client resumes, with the client's overrides.
    pub(super) async fn load_below(
        &self,
        root: &Arc<LoadedThread>,
        mail: &StoredMail,
        wanted: Option<(&ThreadId, &Overrides)>,
    ) -> Result<(), RpcError> {
        let id = root.id().clone();
        let limits = self.limits;
        let below = blocking(&self.store, move |store| open_agents(store, &id, limits.kept())).await?;
        let mut below = Below::new(root.id(), mail.known.clone(), below, stored_agent);
        while let Some((summary, told)) = below.next_agent() {
            let overrides = match wanted {
                Some((id, overrides)) if *id == summary.id => overrides,
                _ => &Overrides::default(),
            };
            match self.load_agent(root, &summary, &told, overrides).await {
                Ok(mail) => below.loaded(&summary.id, mail.known),
                Err(error) => {
                    tracing::warn!(thread = %summary.id, error = error.message, "an agent of the tree is not loaded");
                }
            }
        }
        Ok(())
    }

    /// Loads one agent into a loaded tree.
    pub(super) async fn load_into(
        &self,
        root: &Arc<LoadedThread>,
        summary: &ThreadSummary,
        overrides: &Overrides,
    ) -> Result<Arc<LoadedThread>, RpcError> {
        let told = match summary.parent.clone() {
            Some(parent) => blocking(&self.store, move |store| store.load(&parent)).await??.mail.known,
            None => BTreeSet::new(),
        };
        self.load_agent(root, summary, &told, overrides).await?;
        let loaded = self.threads.get(&summary.id);
        loaded.ok_or_else(|| RpcError::invalid_request(format!("thread {} is closing: try again", summary.id)))
    }

    async fn load_agent(
        &self,
        root: &Arc<LoadedThread>,
        summary: &ThreadSummary,
        told: &BTreeSet<String>,
        overrides: &Overrides,
    ) -> Result<StoredMail, RpcError> {
        if let Some(thread) = self.threads.get(&summary.id) {
            // The agent was loaded by itself when its root could not be loaded.
            let id = summary.id.clone();
            let mail = blocking(&self.store, move |store| store.load(&id)).await??.mail;
            let rejoined = rejoin(root, &thread, &mail, self.limits)?;
            // An agent that works reports the end of its turn itself.
            if thread.agent().active_turn().is_none_or(|(_, kind)| kind != TurnKind::Regular) {
                rejoined.report(root.agent(), thread.agent(), &mail.known, told);
            }
            return Ok(mail);
        }
        let (thread, mail) = self.starts.load(&summary.id, overrides).await?;
        let rejoined = match rejoin(root, &thread, &mail, self.limits) {
            Ok(rejoined) => rejoined,
            Err(error) => {
                self.unloading.unload(thread.id()).await;
                return Err(error);
            }
        };
        let of_root = self.threads.get(root.id()).map(|root| root.state().participants()).unwrap_or_default();
        thread.state().subscribe_all(&self.hub.everybody(), &of_root);
        tell_status(&self.hub, thread.id(), ThreadStatus::Idle);
        rejoined.report(root.agent(), thread.agent(), &mail.known, told);
        Ok(mail)
    }
}

fn rejoin(
    root: &LoadedThread,
    thread: &LoadedThread,
    mail: &StoredMail,
    limits: TreeLimits,
) -> Result<tree::Rejoined, RpcError> {
    tree::rejoin(root.agent(), thread.agent(), last_work(thread, mail), &mail.open, limits)
        .map_err(|error| RpcError::invalid_request(&error))
}

/// Returns the agents below a root whose edges are open, in the order of [`tree::load_order`].
fn open_agents(store: &Store, root: &ThreadId, most: usize) -> Vec<ThreadSummary> {
    let found = store.open_descendants(root);
    let found = found.iter().filter_map(|child| store.find(child).ok()).filter(|summary| summary.agent_path.is_some());
    tree::load_order(found.collect(), stored_agent, most)
}

fn stored_agent(summary: &ThreadSummary) -> StoredAgent<'_> {
    StoredAgent {
        id: &summary.id,
        parent: summary.parent.as_ref(),
        path: summary.agent_path.as_deref().unwrap_or_default(),
        worked_at: summary.updated_at_ms,
    }
}

/// Returns the last turn in which an agent worked, with its outcome.
fn last_work(thread: &LoadedThread, mail: &StoredMail) -> Option<(TurnId, TurnOutcome)> {
    let id = mail.last_work.as_ref()?;
    let state = thread.state();
    let turn = state.view.snapshot().into_iter().rfind(|turn| turn.id == id.as_str())?;
    Some((id.clone(), outcome(&turn)))
}

fn outcome(turn: &Turn) -> TurnOutcome {
    match turn.status {
        TurnStatus::Completed => {
            let said = turn.items.iter().rev().find_map(|item| match item {
                ThreadItem::AgentMessage(message) => Some(Item {
                    id: ItemId::from(message.id.as_str()),
                    kind: ItemKind::AgentMessage { text: message.text.clone(), phase: None },
                }),
                _ => None,
            });
            TurnOutcome::Completed { last_message: said.map(Arc::new) }
        }
        TurnStatus::Failed => TurnOutcome::Failed(TurnError {
            message: turn.error.as_ref().map_or_else(|| "the turn failed".to_owned(), |error| error.message.clone()),
            details: None,
            kind: ErrorKind::Other,
        }),
        TurnStatus::Interrupted | TurnStatus::InProgress => TurnOutcome::Interrupted,
    }
}
