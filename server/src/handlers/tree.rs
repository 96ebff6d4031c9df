//! Trees of agents that are loaded again, when a client resumes their root.
//!
//! The agents below come back with it: they are reached under their paths, share its bundle, and have the mail that they
//! had not read. None of them goes on by itself. What a parent was not told before, it is told now: how the last turn of
//! an agent ended, or that it was cut off.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::item::ThreadItem;
use trace_protocol::notification::ThreadStatusChangedNotification;
use trace_protocol::thread::ThreadStatus;
use trace_protocol::turn::{Turn, TurnStatus};
use trace_runtime::event::{ErrorKind, TurnError, TurnOutcome};
use trace_runtime::tree::{self, TreeLimits};
use trace_runtime::{Item, ItemId, ThreadId, TurnId, item::ItemKind};

use super::overrides::Overrides;
use crate::core::Core;
use crate::store::{EdgeStatus, Store, StoredMail, ThreadSummary};
use crate::threads::LoadedThread;

impl Core {
    /// Loads the agents below a root that was loaded, whose mail is given. An agent that cannot be loaded is left out, with
    /// those below it.
    pub(super) async fn load_tree(&self, root: &Arc<LoadedThread>, mail: &StoredMail) -> Result<(), RpcError> {
        let id = root.id().clone();
        let agents = self.config().agents;
        let limits = TreeLimits {
            max_threads: usize::try_from(agents.max_threads).unwrap_or(usize::MAX),
            max_depth: agents.max_depth,
        };
        let below = self.blocking(move |core| open_agents(&core.store, &id, limits.kept())).await?;
        let mut known = HashMap::from([(root.id().clone(), mail.known.clone())]);
        for summary in below {
            let Some(told) = summary.parent.as_ref().and_then(|parent| known.get(parent)) else { continue };
            match self.load_agent(root, &summary, told, limits).await {
                Ok(mail) => {
                    known.insert(summary.id, mail.known);
                }
                Err(error) => {
                    tracing::warn!(thread = %summary.id, error = error.message, "an agent of the tree is not loaded");
                }
            }
        }
        Ok(())
    }

    async fn load_agent(
        &self,
        root: &Arc<LoadedThread>,
        summary: &ThreadSummary,
        told: &BTreeSet<String>,
        limits: TreeLimits,
    ) -> Result<StoredMail, RpcError> {
        if self.threads.get(&summary.id).is_some() || self.is_leaving(&summary.id) {
            return Err(RpcError::invalid_request("the thread is loaded already, or about to go"));
        }
        let (thread, mail) = self.load_thread(&summary.id, &Overrides::default()).await?;
        let ends = tree::ends(last_work(&thread, &mail), &mail.open);
        let outcome = ends.last().map_or(TurnOutcome::Interrupted, |(_, outcome)| outcome.clone());
        if let Err(error) = tree::join(root.agent(), thread.agent(), &outcome, limits) {
            self.unload(thread.id()).await;
            return Err(RpcError::invalid_request(&error));
        }
        for connection in self.hub.everybody() {
            thread.state().subscribe(&connection);
        }
        let thread_id = thread.id().to_string();
        self.hub.broadcast(ThreadStatusChangedNotification { thread_id, status: ThreadStatus::Idle });
        // A thread that knows of no mail was recorded by a program that stores none: what it told is not known either.
        if !mail.known.is_empty() {
            for (turn, outcome) in ends {
                tree::report_if_unknown(root.agent(), thread.agent(), &turn, &outcome, told);
            }
        }
        Ok(mail)
    }
}

/// Returns the agents below a root that belong to it still, parents first; of too many, those that worked last.
fn open_agents(store: &Store, root: &ThreadId, most: usize) -> Vec<ThreadSummary> {
    let mut found: Vec<ThreadSummary> = Vec::new();
    let mut next = vec![root.clone()];
    while let Some(parent) = next.pop() {
        for (child, status) in store.children(&parent) {
            if status == EdgeStatus::Closed || found.iter().any(|known| known.id == child) {
                continue;
            }
            let Ok(summary) = store.find(&child) else { continue };
            if summary.agent_path.is_some() {
                next.push(child);
                found.push(summary);
            }
        }
    }
    if found.len() > most {
        found.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at_ms));
        found.truncate(most);
    }
    found.sort_by_key(|summary| summary.agent_path.as_ref().map_or(0, |path| path.matches('/').count()));
    found
}

/// Returns the newest turn in which an agent worked, and how it ended.
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
