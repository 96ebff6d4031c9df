//! Messages between agents: those that nobody received, and those that interrupted the receiver's turn.
//!
//! In the graph a message is delivered if an item of the receiving thread names its author. Older releases added the
//! message to that thread as a user's message without an author; such a message counts as received too.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use trace_reducer::model::{
    Anchor, EdgeKind, ExecutionStatus, Part, Role, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx, Undelivered,
};

use crate::family::Family;
use crate::session::Session;

/// Returns the messages that no item of the receiving threads shows, in the order of the log.
pub fn lost_messages(trace: &Trace) -> Vec<&Undelivered> {
    if trace.undelivered.is_empty() {
        return Vec::new();
    }
    let targets: HashSet<Symbol> = trace.undelivered.iter().map(|lost| lost.target_thread_id).collect();
    // For each thread and text, when a user message with this text was last seen.
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

/// Returns the calls whose messages interrupted an agent, with the turns that they ended.
pub fn interruptions(session: &Session, family: &Family) -> Vec<(ToolIdx, TurnIdx)> {
    let trace = session.trace();
    let ended = messages(trace).into_iter().filter_map(|(tool, target)| {
        let turn = family.turn_ended_by(trace, tool, target)?;
        (trace.turns[turn].execution.status == ExecutionStatus::Cancelled).then_some((tool, turn))
    });
    ended.filter(|(tool, _)| interrupts(session, *tool)).collect()
}

/// Returns the calls that sent messages and tasks, with the receiving threads, whether delivered or not.
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

/// Returns whether a call asks to interrupt the receiver.
fn interrupts(session: &Session, tool: ToolIdx) -> bool {
    let invocation = session.trace().tools[tool].invocation_payload_id.and_then(|id| session.payload(id).ok());
    let arguments = invocation.as_ref().and_then(|value| value.get("payload")?.get("arguments")?.as_str());
    let arguments = arguments.and_then(|text| serde_json::from_str::<Value>(text).ok());
    arguments.is_some_and(|arguments| arguments.get("interrupt").and_then(Value::as_bool) == Some(true))
}
