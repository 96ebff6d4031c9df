//! Invariants that hold at the end of every story, when all agents are idle, and for its recordings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::Value;
use trace_runtime::Agent;
use trace_runtime::event::TurnKind;
use trace_runtime::mail::Wake;
use trace_runtime::tree::{self, AgentStatus};

use super::keeper::Keeper;
use super::store::{Called, RESULT, Store, words};

/// A recorded life.
pub(super) struct Life {
    pub(super) number: usize,
    pub(super) bundle: PathBuf,
    /// Whether the life ended with a shutdown.
    pub(super) is_whole: bool,
}

/// Checks idle agents: each is in the state that was reported last, and every call has its output.
pub(super) fn of_quiet(keeper: &Keeper) {
    let agents = keeper.agents();
    let mut store = keeper.store();
    let Some(root) = agents.iter().find(|agent| agent.lineage().is_none()) else { return };
    let entries = tree::agents(root);
    for entry in &entries {
        if agents.iter().all(|agent| *agent.id() != entry.thread) {
            store.broke(format!("{} is in the tree, and is gone", entry.path));
        }
    }
    let mut names = BTreeSet::new();
    for name in agents.iter().filter_map(|agent| agent.lineage()?.nickname.as_deref()) {
        if !names.insert(name) {
            store.broke(format!("two agents have the name {name}"));
        }
    }
    for agent in &agents {
        let name = store.name(agent.id());
        check_history(&mut store, &name, agent);
        let waiting: Vec<String> = store.threads[agent.id()].open.iter().map(|mail| mail.id.clone()).collect();
        if agent.open_mail().into_iter().map(|mail| mail.id).ne(waiting) {
            store.broke(format!("the store and {name} do not agree about its mail"));
        }
        let Some(entry) = entries.iter().find(|entry| entry.thread == *agent.id()) else {
            let is_alone = entries.is_empty();
            if !is_alone {
                store.broke(format!("{name} is not in its tree"));
            }
            continue;
        };
        let kept = &store.threads[agent.id()];
        let last = kept.turns.iter().rev().find(|turn| turn.kind == TurnKind::Regular);
        let told = last.and_then(|turn| turn.outcome.as_ref()).map_or_else(|| "interrupted".to_owned(), words);
        let shown = match &entry.status {
            AgentStatus::Running => "running".to_owned(),
            AgentStatus::Completed(_) => "completed".to_owned(),
            AgentStatus::Interrupted => "interrupted".to_owned(),
            AgentStatus::Failed(message) => format!("failed ({message})"),
        };
        let has_task = kept.open.iter().any(|mail| mail.wake == Wake::Agent);
        // A root that has done nothing yet counts as working; a root with a task that it never started counts as
        // interrupted.
        let is_new = kept.turns.iter().all(|turn| turn.life != store.life || turn.kind != TurnKind::Regular);
        let is_new_root = agent.lineage().is_none() && shown == "running" && is_new;
        if shown != told && !is_new_root && !(has_task && shown == "interrupted") {
            store.broke(format!("{name} is {shown}, and {told} was told"));
        }
    }
}

/// Checks that every call has one output.
fn check_history(store: &mut Store, name: &str, agent: &Agent) {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for item in agent.history() {
        let call_id = || item["call_id"].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => {
                open.insert(call_id(), 0);
            }
            "function_call_output" => *open.entry(call_id()).or_insert(7) += 1,
            _ => {}
        }
    }
    if open.values().any(|outputs| *outputs != 1) {
        store.broke(format!("calls of {name} and their outputs do not fit"));
    }
}

/// Checks invariants that hold at the end, whatever happened before.
pub(super) fn of_the_end(store: &mut Store) {
    let mut broken = Vec::new();
    broken.extend(unreported_ends(store));
    broken.extend(unreported_tasks(store));
    broken.extend(lost_words(store));
    for what in broken {
        store.broke(what);
    }
}

/// Returns ends of turns that were not reported to the parent. That none is reported twice is checked when it is reported.
fn unreported_ends(store: &Store) -> Vec<String> {
    let mut broken = Vec::new();
    for kept in store.threads.values() {
        let Some(parent) = parent(store, &kept.lineage) else { continue };
        for turn in kept.turns.iter().filter(|turn| turn.kind == TurnKind::Regular) {
            let is_owed = turn.outcome.is_some() || !kept.is_closed;
            if is_owed && !parent.known.contains(&format!("{RESULT}{}", turn.id)) {
                let how = turn.outcome.as_ref().map_or_else(|| "cut off".to_owned(), words);
                broken.push(format!("{} was not told of a turn of {}: {how}", parent.name, kept.name));
            }
        }
    }
    broken
}

/// Returns agents whose parents got no report after their last task.
fn unreported_tasks(store: &Store) -> Vec<String> {
    let mut broken = Vec::new();
    for (id, kept) in &store.threads {
        if parent(store, &kept.lineage).is_none() {
            continue;
        }
        let task = store.came.iter().rposition(|came| came.to == *id && came.wake == Wake::Agent);
        let own: BTreeSet<String> = kept.turns.iter().map(|turn| format!("{RESULT}{}", turn.id)).collect();
        let of_tasks = store.came.iter().filter(|came| came.to == *id).map(|came| format!("{RESULT}{}", came.id));
        let own: BTreeSet<String> = own.into_iter().chain(of_tasks).collect();
        let told = store.came.iter().rposition(|came| own.contains(&came.id));
        if task.is_some() && told < task {
            broken.push(format!("nobody was told what came of the last task of {}", kept.name));
        }
    }
    broken
}

fn parent<'a>(store: &'a Store, lineage: &Option<trace_runtime::agent::Lineage>) -> Option<&'a super::store::Kept> {
    let parent = &store.threads[&lineage.as_ref()?.parent];
    (!parent.is_closed).then_some(parent)
}

/// Returns messages that arrived although the call failed, or did not arrive although it succeeded.
fn lost_words(store: &Store) -> Vec<String> {
    let mut broken = Vec::new();
    let mut said: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for called in store.calls.values() {
        let Some(number) = called.number else { continue };
        let counts = said.entry(number).or_default();
        counts.0 += usize::from(called.is_done());
        counts.1 += usize::from(called.is_open());
    }
    for (number, (done, open)) in said {
        let came = store.came.iter().filter(|came| came.number == Some(number)).count();
        if came < done || came > done + open {
            broken.push(format!("note {number} was sent {done} times ({open} unclear) and came {came} times"));
        }
    }
    broken
}

/// Checks the recordings: the strict reducer accepts them, and their edges have both ends and the right number.
pub(super) fn of_bundles(store: &mut Store, lives: &[Life]) {
    for life in lives {
        let state = match crate::bench::state_of(&life.bundle) {
            Ok((state, is_whole)) if is_whole >= life.is_whole => state,
            Ok(_) => {
                store.broke(format!("the bundle of life {} has no end", life.number));
                continue;
            }
            Err(error) => {
                store.broke(format!("the bundle of life {} is not taken: {error}", life.number));
                continue;
            }
        };
        let broken = edges(store, life, &state);
        for what in broken {
            store.broke(format!("in the bundle of life {}: {what}", life.number));
        }
    }
}

fn edges(store: &Store, life: &Life, state: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    let mut kinds: HashMap<&str, usize> = HashMap::new();
    for edge in state["interaction_edges"].as_object().expect("an object").values() {
        let kind = edge["kind"].as_str().expect("a text");
        *kinds.entry(kind).or_default() += 1;
        for end in ["source", "target"] {
            if !is_there(state, &edge[end]) {
                broken.push(format!("an edge {kind} has no {end}: {}", edge[end]));
            }
        }
    }
    if life.is_whole {
        for (tool, kind) in [
            ("spawn_agent", "spawn_agent"),
            ("send_message", "send_message"),
            ("followup_task", "assign_agent_task"),
            ("interrupt_agent", "close_agent"),
        ] {
            let calls = || store.calls.values().filter(|called| called.life == life.number && called.tool == tool);
            // A message that was sent but not read yet gives no edge.
            let is_read =
                |called: &&Called| called.number.is_none_or(|number| store.read.contains(&(number, life.number)));
            let least = calls().filter(|called| called.is_done()).filter(is_read).count();
            let most = calls().filter(|called| called.is_done() || called.is_open()).count();
            let found = kinds.get(kind).copied().unwrap_or_default();
            if !(least..=most).contains(&found) {
                broken.push(format!("{found} edges {kind}, and there were {least} to {most} hand-overs"));
            }
        }
        // Reports that a parent got when it was loaded belong to an earlier bundle.
        let turns = store.threads.values().flat_map(|kept| &kept.turns).filter(|turn| turn.life == life.number);
        let read = turns.filter(|turn| store.read_ends.contains(&(turn.id.clone(), life.number))).count();
        let found = kinds.get("agent_result").copied().unwrap_or_default();
        if found != read {
            broken.push(format!("{found} edges agent_result, and {read} were read"));
        }
    }
    broken
}

fn is_there(state: &Value, anchor: &Value) -> bool {
    let (table, name) = match anchor["type"].as_str().unwrap_or_default() {
        "tool_call" => ("tool_calls", "tool_call_id"),
        "conversation_item" => ("conversation_items", "item_id"),
        "thread" => ("threads", "thread_id"),
        _ => return false,
    };
    anchor[name].as_str().is_some_and(|id| state[table].get(id).is_some())
}
