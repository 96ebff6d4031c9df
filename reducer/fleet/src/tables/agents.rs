//! `edges`: spawns, tasks, messages, results and closes between agents, delivered or not.

use trace_reducer::model::{Anchor, EdgeIdx, EdgeKind, ThreadIdx, Trace};

use super::Source;
use super::table::table;

/// An edge of the graph, or a message that has no edge because no item of the receiving thread shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handed {
    Delivered(EdgeIdx),
    /// Index in `Trace::undelivered`.
    Undelivered(usize),
}

fn thread_of(trace: &Trace, anchor: Anchor) -> ThreadIdx {
    match anchor {
        Anchor::Item(item) => trace.items[item].thread,
        Anchor::Tool(tool) => trace.tools[tool].thread,
        Anchor::Thread(thread) => thread,
    }
}

impl Handed {
    fn all(s: &Source<'_>) -> Vec<Self> {
        let Some(it) = s.known() else { return Vec::new() };
        let undelivered = (0..it.trace.undelivered.len()).map(Self::Undelivered);
        it.trace.edges.handles().map(Self::Delivered).chain(undelivered).collect()
    }

    fn sender(self, trace: &Trace) -> ThreadIdx {
        let anchor = match self {
            Self::Delivered(edge) => trace.edges[edge].source,
            Self::Undelivered(index) => trace.undelivered[index].source,
        };
        thread_of(trace, anchor)
    }

    fn receiver(self, trace: &Trace) -> Option<ThreadIdx> {
        match self {
            Self::Delivered(edge) => Some(thread_of(trace, trace.edges[edge].target)),
            Self::Undelivered(_) => None,
        }
    }

    fn kind(self, trace: &Trace) -> EdgeKind {
        match self {
            Self::Delivered(edge) => trace.edges[edge].kind,
            Self::Undelivered(index) => trace.undelivered[index].kind,
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
}

table! {
    EDGES = "edges", "A spawn, task, message, result or close between agents, also one that never arrived.";
    rows Handed::all;
    each (s, key: Handed) trace = s.answers().trace;
    model None;
    edge_id Text "Id of the edge." = trace.text(match *key {
        Handed::Delivered(edge) => trace.edges[edge].id,
        Handed::Undelivered(index) => trace.undelivered[index].edge_id,
    });
    kind Text "`spawn_agent`, `assign_agent_task`, `send_message`, `agent_result` or `close_agent`." = key.kind(trace).as_str();
    delivered Truth "Whether an item of the receiving thread shows it." = matches!(key, Handed::Delivered(_));
    seq Integer "Sequence number of the first event that reported it." = match *key {
        Handed::Delivered(edge) => trace.edges[edge].seq,
        Handed::Undelivered(index) => trace.undelivered[index].seq,
    };
    source_thread_id Text "The sending thread." = s.answers().thread_id(key.sender(trace));
    source_agent_path Text "Place of the sender in the tree of agents." = s.answers().agent_path(key.sender(trace));
    target_thread_id Text "The receiving thread; it need not be in the session." = match *key {
        Handed::Delivered(edge) => s.answers().thread_id(thread_of(trace, trace.edges[edge].target)),
        Handed::Undelivered(index) => trace.text(trace.undelivered[index].target_thread_id),
    };
    target_agent_path Text "Place of the receiver in the tree of agents; null if it never arrived."
        = key.receiver(trace).map(|thread| s.answers().agent_path(thread));
    started_at Time "When it was sent." = key.started(trace);
    ended_at Time "When it was complete." = key.ended(trace);
    duration_ms Integer "Time from sending to completion." = key.ended(trace).map(|ended| ended.saturating_sub(key.started(trace)).max(0));
}
