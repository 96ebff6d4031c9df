//! `edges`: spawns, tasks, messages, results and closes between agents, delivered or not.

use trace_explain::object::item_id;
use trace_reducer::model::{Anchor, EdgeIdx, EdgeKind, ThreadIdx, Trace};

use crate::source::Source;
use crate::table::{TakeKey, table};

/// An edge of the graph, or a message that has no edge because no item of the receiving thread shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HandOver {
    Delivered(EdgeIdx),
    /// Index in `Trace::undelivered`.
    Undelivered(usize),
}

fn hand_overs(source: &Source<'_>, take: &mut TakeKey<'_, HandOver>) -> rusqlite::Result<()> {
    source.trace.edges.handles().try_for_each(|edge| take(&HandOver::Delivered(edge)))?;
    (0..source.trace.undelivered.len()).try_for_each(|index| take(&HandOver::Undelivered(index)))
}

impl HandOver {
    fn source(self, trace: &Trace) -> Anchor {
        match self {
            Self::Delivered(edge) => trace.edges[edge].source,
            Self::Undelivered(index) => trace.undelivered[index].source,
        }
    }

    fn target(self, trace: &Trace) -> Option<Anchor> {
        match self {
            Self::Delivered(edge) => Some(trace.edges[edge].target),
            Self::Undelivered(_) => None,
        }
    }

    fn target_thread(self, source: &Source<'_>) -> Option<ThreadIdx> {
        match self {
            Self::Delivered(edge) => Some(source.thread_of(source.trace.edges[edge].target)),
            Self::Undelivered(index) => source.thread_with_id(source.trace.undelivered[index].target_thread_id),
        }
    }

    fn started(self, trace: &Trace) -> i64 {
        match self {
            Self::Delivered(edge) => trace.edges[edge].started_at_unix_ms,
            Self::Undelivered(index) => trace.undelivered[index].started_at_unix_ms,
        }
    }

    fn ended(self, trace: &Trace) -> Option<i64> {
        match self {
            Self::Delivered(edge) => trace.edges[edge].ended_at_unix_ms,
            Self::Undelivered(_) => None,
        }
    }

    /// Returns the text that was sent, as far as the log shows it.
    fn message<'a>(self, source: &'a Source<'_>) -> Option<&'a str> {
        let trace = source.trace;
        match self {
            Self::Undelivered(index) => Some(&trace.undelivered[index].text),
            Self::Delivered(edge) => {
                let items = trace.edges[edge].carried_items.iter();
                let carried =
                    items.flat_map(|item| trace.items[*item].parts.iter()).find_map(super::conversation::text);
                carried.or_else(|| source.answer(trace.edges[edge].id))
            }
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
    edge_id Text "Id of the edge, also if it never arrived." = s.text(match *key {
        HandOver::Delivered(edge) => trace.edges[edge].id,
        HandOver::Undelivered(index) => trace.undelivered[index].edge_id,
    });
    kind Text "Its kind: `spawn_agent`, `assign_agent_task`, `send_message`, `agent_result`, `close_agent`."
        = EdgeKind::as_str(match *key {
            HandOver::Delivered(edge) => trace.edges[edge].kind,
            HandOver::Undelivered(index) => trace.undelivered[index].kind,
        });
    delivered Integer "0 if no item of the receiving thread shows it. Such an edge is not in `state.json`."
        = matches!(key, HandOver::Delivered(_));
    source_thread_id Text "The sending thread." = s.thread_id(s.thread_of(key.source(trace)));
    source_agent_path Text "Place of that thread in the tree of agents." = s.agent_path(s.thread_of(key.source(trace)));
    source_type Text "Type of the object where it starts: `conversation_item`, `tool_call` or `thread`." = anchor_type(key.source(trace));
    source_id Text "Id of the object where it starts." = anchor_id(trace, key.source(trace));
    target_thread_id Text "The receiving thread. If the edge never arrived, the thread need not be in the bundle." = match *key {
        HandOver::Delivered(edge) => s.thread_id(s.thread_of(trace.edges[edge].target)),
        HandOver::Undelivered(index) => s.text(trace.undelivered[index].target_thread_id),
    };
    target_agent_path Text "Place of that thread in the tree of agents."
        = key.target_thread(s).map(|thread| s.agent_path(thread));
    target_type Text "Type of the object where it ends; null if it never arrived." = key.target(trace).map(anchor_type);
    target_id Text "Id of the object where it ends; null if it never arrived." = key.target(trace).map(|target| anchor_id(trace, target));
    started_at_unix_ms Integer "When it was sent." = key.started(trace);
    ended_at_unix_ms Integer "When it was complete." = key.ended(trace);
    duration_ms Integer "Time from `started_at_unix_ms` to `ended_at_unix_ms`." = key.ended(trace).map(|ended| ended.saturating_sub(key.started(trace)).max(0));
    seq Integer "Sequence number of the first event that reported it." = match *key {
        HandOver::Delivered(edge) => trace.edges[edge].seq,
        HandOver::Undelivered(index) => trace.undelivered[index].seq,
    };
    carried_items Integer "Number of items that it carried." = match *key {
        HandOver::Delivered(edge) => trace.edges[edge].carried_items.len(),
        HandOver::Undelivered(_) => 0,
    };
    message Text "The text that was sent, as far as an item or the log shows it." = key.message(s);
    payload_id Text "The first payload that describes it." = match *key {
        HandOver::Delivered(edge) => s.text(trace.edges[edge].carried_payload_ids.first().copied()),
        HandOver::Undelivered(_) => None,
    };
}
