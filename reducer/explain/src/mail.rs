//! Messages between agents: those that nobody got, and those that stopped what their reader was doing.
//!
//! The graph knows a message as delivered when an item of its target names its author. Older releases put the message into
//! the target's conversation as the words of a user, without an author; such a message has arrived too.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use trace_reducer::model::{
    Anchor, EdgeKind, ExecutionStatus, Part, Role, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx, Undelivered,
};

use crate::family::Family;
use crate::session::Session;

/// Returns the messages that no item of their targets shows, in the order of the log.
pub fn lost_messages(trace: &Trace) -> Vec<&Undelivered> {
    if trace.undelivered.is_empty() {
        return Vec::new();
    }
    let targets: HashSet<Symbol> = trace.undelivered.iter().map(|lost| lost.target_thread_id).collect();
    // When each text was last said to each target by a user.
    let mut said: HashMap<(Symbol, &str), u64> = HashMap::new();
    let id_of = |thread: ThreadIdx| trace.threads[thread].id;
    for item in trace.items.values().filter(|item| item.role == Role::User && targets.contains(&id_of(item.thread))) {
        if let [Part::Text(text)] = &*item.parts {
            let seq = said.entry((id_of(item.thread), text)).or_default();
            *seq = (*seq).max(item.first_seen.seq);
        }
    }
    let has_arrived =
        |lost: &Undelivered| said.get(&(lost.target_thread_id, &*lost.text)).is_some_and(|seq| *seq >= lost.seq);
    trace.undelivered.iter().filter(|lost| !has_arrived(lost)).collect()
}

/// Returns the calls whose messages interrupted an agent, and the turns that they ended.
pub fn interruptions(session: &Session, family: &Family) -> Vec<(ToolIdx, TurnIdx)> {
    let trace = session.trace();
    let ended = messages(trace).into_iter().filter_map(|(tool, target)| {
        let turn = family.turn_ended_by(trace, tool, target)?;
        (trace.turns[turn].execution.status == ExecutionStatus::Cancelled).then_some((tool, turn))
    });
    ended.filter(|(tool, _)| interrupts(session, *tool)).collect()
}

/// Returns the calls that sent messages and tasks, and to whom, delivered or not.
fn messages(trace: &Trace) -> Vec<(ToolIdx, ThreadIdx)> {
    let is_message = |kind| matches!(kind, EdgeKind::SendMessage | EdgeKind::AssignAgentTask);
    let by_id: HashMap<Symbol, ThreadIdx> = trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
    let delivered = trace.edges.values().filter(|edge| is_message(edge.kind)).filter_map(|edge| {
        let (Anchor::Tool(tool), Anchor::Item(item)) = (edge.source, edge.target) else { return None };
        Some((tool, trace.items[item].thread))
    });
    let others = trace.undelivered.iter().filter(|message| is_message(message.kind)).filter_map(|message| {
        let Anchor::Tool(tool) = message.source else { return None };
        Some((tool, *by_id.get(&message.target_thread_id)?))
    });
    delivered.chain(others).collect()
}

/// Says whether a call asks to stop what its target is doing.
fn interrupts(session: &Session, tool: ToolIdx) -> bool {
    let invocation = session.trace().tools[tool].invocation_payload_id.and_then(|id| session.payload(id).ok());
    let arguments = invocation.as_ref().and_then(|value| value.get("payload")?.get("arguments")?.as_str());
    let arguments = arguments.and_then(|text| serde_json::from_str::<Value>(text).ok());
    arguments.is_some_and(|arguments| arguments.get("interrupt").and_then(Value::as_bool) == Some(true))
}
