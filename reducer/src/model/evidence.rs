//! What the log tells and the format of `state.json` has no place for.
//!
//! The format drops what its reader could not link: events of the client protocol, messages that nobody got, the answers
//! of children as such. Questions about failures need them.

use super::ids::{PayloadIdx, Symbol, ThreadIdx};
use super::{Anchor, EdgeKind, Moment};

/// An event of the client protocol, such as `error`, `turn_aborted` or `turn_complete`. Its payload tells of which turn,
/// if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtocolEvent {
    /// When it was observed.
    pub at: Moment,
    /// Its type.
    pub event_type: Symbol,
    /// What it says.
    pub payload: PayloadIdx,
}

/// A hand-over that no item of its target shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// Id that its edge would have had.
    pub edge_id: Symbol,
    /// What it is.
    pub kind: EdgeKind,
    /// Where it comes from.
    pub source: Anchor,
    /// Id of the thread that it was meant for, which need not be in the trace.
    pub target_thread_id: Symbol,
    /// Agent path of the sender.
    pub author: Symbol,
    /// The text that was sent.
    pub text: Box<str>,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// The event that told of it first.
    pub seq: u64,
}

/// The answer of a child that was handed to its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentResult {
    /// When it was observed.
    pub at: Moment,
    /// Id of its edge, which need not be in the trace: the parent may never have read the answer.
    pub edge_id: Symbol,
    /// The child.
    pub child: ThreadIdx,
    /// Id of the child's turn that answered; the turn need not be in the trace.
    pub child_turn_id: Symbol,
    /// Id of the parent, which need not be in the trace.
    pub parent_thread_id: Symbol,
    /// What the parent was told.
    pub message: Box<str>,
    /// Id of the payload with the child's status.
    pub payload_id: Option<Symbol>,
}
