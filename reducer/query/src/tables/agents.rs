//! `edges`: spawns, tasks, messages, results and closes between agents, delivered or not.

use trace_explain::object::item_id;
use trace_reducer::model::{Anchor, HandOver, ThreadIdx, Trace};

use crate::source::Source;
use crate::table::{TakeKey, table};

fn hand_overs(source: &Source<'_>, take: &mut TakeKey<'_, HandOver>) -> rusqlite::Result<()> {
    HandOver::all(source.trace).try_for_each(|one| take(&one))
}

/// Returns the receiving thread, also of a message that never arrived if the bundle has the thread.
fn target_thread(one: HandOver, source: &Source<'_>) -> Option<ThreadIdx> {
    match one {
        HandOver::Delivered(_) => one.target_thread(source.trace),
        HandOver::Undelivered(_) => source.thread_with_id(one.target_thread_id(source.trace)),
    }
}

/// Returns the text that was sent, as far as the log shows it.
fn message<'a>(one: HandOver, source: &'a Source<'_>) -> Option<&'a str> {
    let trace = source.trace;
    match one {
        HandOver::Undelivered(index) => Some(&trace.undelivered[index].text),
        HandOver::Delivered(edge) => {
            let items = trace.edges[edge].carried_items.iter();
            let carried = items.flat_map(|item| trace.items[*item].parts.iter()).find_map(super::conversation::text);
            carried.or_else(|| source.answer(trace.edges[edge].id))
        }
    }
}

fn anchor_type(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Item(_) => "conversation_item",
        Anchor::Tool(_) => "tool_call",
        Anchor::Thread(_) => "thread",
    }
}

fn anchor_id(trace: &Trace, anchor: Anchor) -> String {
    match anchor {
        Anchor::Item(item) => item_id(item),
        Anchor::Tool(tool) => trace.text(trace.tools[tool].id).to_owned(),
        Anchor::Thread(thread) => trace.text(trace.threads[thread].id).to_owned(),
    }
}

table! {
    EDGES = "edges", "A spawn, task, message, result or close between agents, also one that never arrived.";
    index ["edge_id"];
    rows hand_overs;
    each (s, key: HandOver) trace = s.trace;
    edge_id Text "Id of the edge, also if it never arrived." = s.text(key.id(trace));
    kind Text "Its kind: `spawn_agent`, `assign_agent_task`, `send_message`, `agent_result`, `close_agent`."
        = key.kind(trace).as_str();
    delivered Integer "0 if no item of the receiving thread shows it. Such an edge is not in `state.json`."
        = matches!(key, HandOver::Delivered(_));
    source_thread_id Text "The sending thread." = s.thread_id(trace.thread_of(key.source(trace)));
    source_agent_path Text "Place of that thread in the tree of agents." = s.agent_path(trace.thread_of(key.source(trace)));
    source_type Text "Type of the object where it starts: `conversation_item`, `tool_call` or `thread`." = anchor_type(key.source(trace));
    source_id Text "Id of the object where it starts." = anchor_id(trace, key.source(trace));
    target_thread_id Text "The receiving thread. If the edge never arrived, the thread need not be in the bundle." = s.text(key.target_thread_id(trace));
    target_agent_path Text "Place of that thread in the tree of agents."
        = target_thread(*key, s).map(|thread| s.agent_path(thread));
    target_type Text "Type of the object where it ends; null if it never arrived." = key.target(trace).map(anchor_type);
    target_id Text "Id of the object where it ends; null if it never arrived." = key.target(trace).map(|target| anchor_id(trace, target));
    started_at_unix_ms Integer "When it was sent." = key.started_at_unix_ms(trace);
    ended_at_unix_ms Integer "When it was complete." = key.ended_at_unix_ms(trace);
    duration_ms Integer "Time from `started_at_unix_ms` to `ended_at_unix_ms`." = key.duration_ms(trace);
    seq Integer "Sequence number of the first event that reported it." = key.seq(trace);
    carried_items Integer "Number of items that it carried." = match *key {
        HandOver::Delivered(edge) => trace.edges[edge].carried_items.len(),
        HandOver::Undelivered(_) => 0,
    };
    message Text "The text that was sent, as far as an item or the log shows it." = message(*key, s);
    payload_id Text "The first payload that describes it." = match *key {
        HandOver::Delivered(edge) => s.text(trace.edges[edge].carried_payload_ids.first().copied()),
        HandOver::Undelivered(_) => None,
    };
}
