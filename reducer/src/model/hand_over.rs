//! What agents hand over to each other, whether or not it arrived.

use super::{Anchor, EdgeIdx, EdgeKind, Symbol, ThreadIdx, Trace};

/// An edge of the graph, or a message that has no edge because no item of the receiving thread shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandOver {
    /// An edge.
    Delivered(EdgeIdx),
    /// Index in [`Trace::undelivered`].
    Undelivered(usize),
}

impl HandOver {
    /// Returns all edges, and then all messages without an edge.
    pub fn all(trace: &Trace) -> impl Iterator<Item = Self> {
        let undelivered = (0..trace.undelivered.len()).map(Self::Undelivered);
        trace.edges.handles().map(Self::Delivered).chain(undelivered)
    }

    /// Returns the id of the edge, or the id that it would have had.
    pub fn id(self, trace: &Trace) -> Symbol {
        match self {
            Self::Delivered(edge) => trace.edges[edge].id,
            Self::Undelivered(index) => trace.undelivered[index].edge_id,
        }
    }

    /// Returns its kind.
    pub fn kind(self, trace: &Trace) -> EdgeKind {
        match self {
            Self::Delivered(edge) => trace.edges[edge].kind,
            Self::Undelivered(index) => trace.undelivered[index].kind,
        }
    }

    /// Returns what sent it.
    pub fn source(self, trace: &Trace) -> Anchor {
        match self {
            Self::Delivered(edge) => trace.edges[edge].source,
            Self::Undelivered(index) => trace.undelivered[index].source,
        }
    }

    /// Returns what received it, or `None` if it never arrived.
    pub fn target(self, trace: &Trace) -> Option<Anchor> {
        match self {
            Self::Delivered(edge) => Some(trace.edges[edge].target),
            Self::Undelivered(_) => None,
        }
    }

    /// Returns the id of the receiving thread. If it never arrived, the thread need not be in the trace.
    pub fn target_thread_id(self, trace: &Trace) -> Symbol {
        match self {
            Self::Delivered(edge) => trace.threads[trace.thread_of(trace.edges[edge].target)].id,
            Self::Undelivered(index) => trace.undelivered[index].target_thread_id,
        }
    }

    /// Returns the receiving thread, or `None` if it never arrived.
    pub fn target_thread(self, trace: &Trace) -> Option<ThreadIdx> {
        self.target(trace).map(|target| trace.thread_of(target))
    }

    /// Returns when it was sent, in milliseconds since the Unix epoch.
    pub fn started_at_unix_ms(self, trace: &Trace) -> i64 {
        match self {
            Self::Delivered(edge) => trace.edges[edge].started_at_unix_ms,
            Self::Undelivered(index) => trace.undelivered[index].started_at_unix_ms,
        }
    }

    /// Returns when it was complete, in milliseconds since the Unix epoch, or `None` if it is not.
    pub fn ended_at_unix_ms(self, trace: &Trace) -> Option<i64> {
        match self {
            Self::Delivered(edge) => trace.edges[edge].ended_at_unix_ms,
            Self::Undelivered(_) => None,
        }
    }

    /// Returns the time from sending to completion in milliseconds, or `None` if it is not complete.
    pub fn duration_ms(self, trace: &Trace) -> Option<i64> {
        let ended = self.ended_at_unix_ms(trace)?;
        Some(ended.saturating_sub(self.started_at_unix_ms(trace)).max(0))
    }

    /// Returns the sequence number of the first event that reported it.
    pub fn seq(self, trace: &Trace) -> u64 {
        match self {
            Self::Delivered(edge) => trace.edges[edge].seq,
            Self::Undelivered(index) => trace.undelivered[index].seq,
        }
    }
}
