//! Loads the stored agents of a tree: which of them, in which order, and what their parents must be told.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::{JoinError, TreeLimits, ends, join, report_if_unknown};
use crate::agent::Agent;
use crate::event::TurnOutcome;
use crate::id::{ThreadId, TurnId};
use crate::mail::Mail;

/// What a host has stored of an agent, as far as loading its tree depends on it.
#[derive(Debug, Clone, Copy)]
pub struct StoredAgent<'a> {
    /// Id of its thread.
    pub id: &'a ThreadId,
    /// Thread of its parent.
    pub parent: Option<&'a ThreadId>,
    /// Path in its tree.
    pub path: &'a str,
    /// When the agent worked last. Only the order of these values matters.
    pub worked_at: i64,
}

/// Returns the agents below a root that are loaded with it, in the order in which they are loaded: parents first, and among siblings
/// those last that worked last, because earlier ones are the first to be shut down for others. If there are more than `most`, those
/// that worked last are returned, with their parents. Of agents with equal paths, the one that worked last is returned.
pub fn load_order<T>(mut agents: Vec<T>, of: impl Fn(&T) -> StoredAgent<'_>, most: usize) -> Vec<T> {
    agents.sort_by_key(|agent| Reverse(of(agent).worked_at));
    let mut paths = HashSet::new();
    agents.retain(|agent| paths.insert(of(agent).path.to_owned()));
    if agents.len() > most {
        let parents: HashMap<_, _> = agents.iter().map(&of).map(|agent| (agent.id, agent.parent)).collect();
        let mut kept = HashSet::new();
        for agent in agents.iter().take(most) {
            // The agents above are kept too, because an agent is reached through them.
            let above = std::iter::successors(Some(of(agent).id), |id| parents.get(id).copied().flatten());
            kept.extend(above.take(parents.len()).cloned());
        }
        agents.retain(|agent| kept.contains(of(agent).id));
    }
    agents.sort_by_key(|agent| {
        let StoredAgent { path, worked_at, .. } = of(agent);
        (path.matches('/').count(), worked_at)
    });
    agents
}

/// The agents below a root while they are loaded. Those below an agent that cannot be loaded are left out.
#[derive(Debug)]
pub struct Below<T> {
    left: VecDeque<T>,
    of: fn(&T) -> StoredAgent<'_>,
    /// The ids of all messages that the loaded agents ever received.
    known: HashMap<ThreadId, Arc<BTreeSet<String>>>,
}

impl<T> Below<T> {
    /// Begins with the agents in their [`load_order`]. `known` are the ids of all messages that the root ever received.
    pub fn new(root: &ThreadId, known: BTreeSet<String>, agents: Vec<T>, of: fn(&T) -> StoredAgent<'_>) -> Self {
        Self { left: agents.into(), of, known: HashMap::from([(root.clone(), Arc::new(known))]) }
    }

    /// Returns the next agent to load, with the ids of all messages that its parent ever received.
    pub fn next_agent(&mut self) -> Option<(T, Arc<BTreeSet<String>>)> {
        loop {
            let agent = self.left.pop_front()?;
            let told = (self.of)(&agent).parent.and_then(|parent| self.known.get(parent)).cloned();
            if let Some(told) = told {
                return Some((agent, told));
            }
        }
    }

    /// Records that an agent was loaded. `known` are the ids of all messages that it ever received.
    pub fn loaded(&mut self, id: &ThreadId, known: BTreeSet<String>) {
        self.known.insert(id.clone(), Arc::new(known));
    }
}

/// An agent that is back in its tree, and what its parent must know of it.
#[derive(Debug)]
#[must_use = "the parent is not told how the last turn ended"]
pub struct Rejoined {
    ends: Vec<(TurnId, TurnOutcome)>,
}

/// Puts an agent that was loaded back into its tree. `last_work` is its newest turn that worked for a user or another agent, and
/// `open` are the messages that it has not read.
///
/// # Errors
///
/// Returns the errors of [`join`].
pub fn rejoin(
    root: &Agent,
    child: &Agent,
    last_work: Option<(TurnId, TurnOutcome)>,
    open: &[Mail],
    limits: TreeLimits,
) -> Result<Rejoined, JoinError> {
    let ends = ends(last_work, open);
    let outcome = ends.last().map_or(TurnOutcome::Interrupted, |(_, outcome)| outcome.clone());
    join(root, child, &outcome, limits)?;
    Ok(Rejoined { ends })
}

impl Rejoined {
    /// Tells the parent of the agent what it does not know yet. `known` and `told` are the ids of all messages that the agent and
    /// its parent ever received. Without any, a program stored the agent that does not store messages; then it is unknown what the
    /// parent was told, and it is told nothing.
    pub fn report(self, root: &Agent, child: &Agent, known: &BTreeSet<String>, told: &BTreeSet<String>) {
        if known.is_empty() {
            return;
        }
        for (turn, outcome) in self.ends {
            report_if_unknown(root, child, &turn, &outcome, told);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (ThreadId, Option<ThreadId>, &'static str, i64);

    fn row(id: &str, parent: &str, path: &'static str, worked_at: i64) -> Row {
        (ThreadId::from(id), Some(ThreadId::from(parent)), path, worked_at)
    }

    fn stored(row: &Row) -> StoredAgent<'_> {
        let (id, parent, path, worked_at) = row;
        StoredAgent { id, parent: parent.as_ref(), path, worked_at: *worked_at }
    }

    fn order(rows: &[Row], most: usize) -> Vec<String> {
        load_order(rows.to_vec(), stored, most).into_iter().map(|row| row.0.to_string()).collect()
    }

    #[test]
    fn agents_below_one_that_is_not_loaded_are_left_out() {
        let rows = ["a r", "b r", "aa a", "bb b"].map(|text| {
            let (id, parent) = text.split_once(' ').expect("two ids");
            row(id, parent, "/root/x", 1)
        });
        let known = |id: &str| BTreeSet::from([format!("to {id}")]);
        let mut below = Below::new(&ThreadId::from("r"), known("r"), rows.to_vec(), stored);
        let mut seen = Vec::new();
        while let Some((row, told)) = below.next_agent() {
            if row.0.as_str() != "a" {
                below.loaded(&row.0, known(row.0.as_str()));
            }
            seen.push((row.0.to_string(), BTreeSet::clone(&told)));
        }
        assert_eq!(seen, [("a", "r"), ("b", "r"), ("bb", "b")].map(|(id, told)| (id.to_owned(), known(told))));
    }

    #[test]
    fn parents_come_first_and_siblings_in_the_order_of_their_work() {
        let rows = [row("b", "r", "/root/b", 3), row("aa", "a", "/root/a/a", 1), row("a", "r", "/root/a", 2)];
        assert_eq!(order(&rows, 9), ["a", "b", "aa"]);
    }

    #[test]
    fn the_agents_that_worked_last_are_loaded_with_their_parents() {
        let rows = [row("a", "r", "/root/a", 1), row("aa", "a", "/root/a/a", 4), row("b", "r", "/root/b", 3)];
        assert_eq!(order(&rows, 1), ["a", "aa"]);
    }

    #[test]
    fn of_agents_with_one_path_the_newest_is_loaded() {
        let rows = [row("old", "r", "/root/a", 1), row("new", "r", "/root/a", 2)];
        assert_eq!(order(&rows, 9), ["new"]);
    }
}
