//! Trees of agents that are loaded again, when a client resumes their root.
//!
//! The agents below come back with it: they are reached under their paths, share its bundle, and have the mail that they
//! had not read. None of them goes on by itself. What a parent was not told before, it is told now: how the last turn of
//! an agent ended, or that it was cut off.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::item::ThreadItem;
use trace_protocol::notification::ThreadStatusChangedNotification;
use trace_protocol::thread::ThreadStatus;
use trace_protocol::turn::{Turn, TurnStatus};
use trace_runtime::event::{ErrorKind, TurnError, TurnKind, TurnOutcome};
use trace_runtime::tree::{self, TreeLimits};
use trace_runtime::{Item, ItemId, ThreadId, TurnId, item::ItemKind};

use super::overrides::Overrides;
use super::resume::ResumeHandlers;
use crate::blocking::blocking;
use crate::store::{Store, StoredMail, ThreadSummary};
use crate::threads::LoadedThread;

impl ResumeHandlers {
    /// Loads the agents below a root that was loaded, whose mail is given. An agent that cannot be loaded is left out, with
    /// those below it. A client may want one of them other than stored.
    pub(super) async fn load_below(
        &self,
        root: &Arc<LoadedThread>,
        mail: &StoredMail,
        wanted: Option<(&ThreadId, &Overrides)>,
    ) -> Result<(), RpcError> {
        let id = root.id().clone();
        let limits = self.limits;
        let below = blocking(&self.store, move |store| open_agents(store, &id, limits.kept())).await?;
        let mut known = HashMap::from([(root.id().clone(), mail.known.clone())]);
        for summary in below {
            let Some(told) = summary.parent.as_ref().and_then(|parent| known.get(parent)) else { continue };
            let overrides = match wanted {
                Some((id, overrides)) if *id == summary.id => overrides,
                _ => &Overrides::default(),
            };
            match self.load_agent(root, &summary, told, overrides).await {
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

    /// Loads one agent into a tree that is there.
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
            // It was loaded when its root could not be.
            let id = summary.id.clone();
            let mail = blocking(&self.store, move |store| store.load(&id)).await??.mail;
            let ends = join(root, &thread, &mail, self.limits)?;
            // One that works tells itself how that ends.
            if thread.agent().active_turn().is_none_or(|(_, kind)| kind != TurnKind::Regular) {
                tell(root, &thread, &mail, told, ends);
            }
            return Ok(mail);
        }
        let (thread, mail) = self.starts.load(&summary.id, overrides).await?;
        let ends = match join(root, &thread, &mail, self.limits) {
            Ok(ends) => ends,
            Err(error) => {
                self.unloading.unload(thread.id()).await;
                return Err(error);
            }
        };
        let of_root = self.threads.get(root.id()).map(|root| root.state().participants()).unwrap_or_default();
        thread.state().subscribe_all(&self.hub.everybody(), &of_root);
        let thread_id = thread.id().to_string();
        self.hub.broadcast(ThreadStatusChangedNotification { thread_id, status: ThreadStatus::Idle });
        tell(root, &thread, &mail, told, ends);
        Ok(mail)
    }
}

/// Ends of turns of which a parent has to know.
type Ends = Vec<(TurnId, TurnOutcome)>;

/// Joins an agent to its tree.
fn join(root: &LoadedThread, thread: &LoadedThread, mail: &StoredMail, limits: TreeLimits) -> Result<Ends, RpcError> {
    let ends = tree::ends(last_work(thread, mail), &mail.open);
    let outcome = ends.last().map_or(TurnOutcome::Interrupted, |(_, outcome)| outcome.clone());
    tree::join(root.agent(), thread.agent(), &outcome, limits).map_err(|error| RpcError::invalid_request(&error))?;
    Ok(ends)
}

/// Tells an agent's parent what it was not told before.
fn tell(root: &LoadedThread, thread: &LoadedThread, mail: &StoredMail, told: &BTreeSet<String>, ends: Ends) {
    // A thread that knows of no mail was recorded by a program that stores none: what it told is not known either.
    if !mail.known.is_empty() {
        for (turn, outcome) in ends {
            tree::report_if_unknown(root.agent(), thread.agent(), &turn, &outcome, told);
        }
    }
}

/// Returns the agents below a root that belong to it still, parents first; of too many, those that worked last.
fn open_agents(store: &Store, root: &ThreadId, most: usize) -> Vec<ThreadSummary> {
    let mut found: Vec<ThreadSummary> = store
        .open_descendants(root)
        .iter()
        .filter_map(|child| store.find(child).ok())
        .filter(|summary| summary.agent_path.is_some())
        .collect();
    found.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at_ms));
    // Of two with one path the one that worked last is it.
    let mut paths = HashSet::new();
    found.retain(|summary| paths.insert(summary.agent_path.clone()));
    if found.len() > most {
        let parents: HashMap<ThreadId, Option<ThreadId>> =
            found.iter().map(|summary| (summary.id.clone(), summary.parent.clone())).collect();
        let mut kept = HashSet::new();
        for summary in found.iter().take(most) {
            // Whoever is above comes too: nobody reaches an agent without them.
            let above = std::iter::successors(Some(summary.id.clone()), |id| parents.get(id).cloned().flatten());
            for id in above.take(parents.len()) {
                kept.insert(id);
            }
        }
        found.retain(|summary| kept.contains(&summary.id));
    }
    // Parents first; among siblings those that worked last are the last to make room.
    found.sort_by_key(|summary| {
        let depth = summary.agent_path.as_ref().map_or(0, |path| path.matches('/').count());
        (depth, summary.updated_at_ms)
    });
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
