//! Facts of the log that `state.json` has no place for.
//!
//! The format of `state.json` drops what cannot be linked: events of the client protocol, messages that nobody
//! received, and children's answers as such. Reports about failures need them.

use super::ids::{PayloadIdx, Symbol, ThreadIdx};
use super::{Anchor, EdgeKind, Moment};

/// An event of the client protocol, such as `error`, `turn_aborted` or `turn_complete`. Its payload may name a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtocolEvent {
    /// When it was observed.
    pub at: Moment,
    /// Its type.
    pub event_type: Symbol,
    /// Its payload.
    pub payload: PayloadIdx,
}

/// A message, task or result between agents that no item of the receiving thread shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// Id that its edge would have had.
    pub edge_id: Symbol,
    /// Its kind.
    pub kind: EdgeKind,
    /// What sent it.
    pub source: Anchor,
    /// Id of the receiving thread, which need not be in the trace.
    pub target_thread_id: Symbol,
    /// Agent path of the sender.
    pub author: Symbol,
    /// The text that was sent.
    pub text: Box<str>,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// Sequence number of the first event that reported it.
    pub seq: u64,
}

/// The answer that a parent received from its child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentResult {
    /// When it was observed.
    pub at: Moment,
    /// Id of its edge. The edge need not be in the trace: the parent may never have read the answer.
    pub edge_id: Symbol,
    /// The child.
    pub child: ThreadIdx,
    /// Id of the child's turn that answered; the turn need not be in the trace.
    pub child_turn_id: Symbol,
    /// Id of the parent, which need not be in the trace.
    pub parent_thread_id: Symbol,
    /// Text of the answer.
    pub message: Box<str>,
    /// Id of the payload with the child's status.
    pub payload_id: Option<Symbol>,
}
