//! The event that says what a recording lacks.
//!
//! It is a `protocol_event_observed` of the type [`GAP_EVENT`], so that every reader of the format accepts it. Its
//! payload is a [`Gap`].

use serde::{Deserialize, Serialize};

/// `event_type` of the event that says what a recording lacks.
pub const GAP_EVENT: &str = "trace_gap";

/// Why something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The disk was slower than the session: bodies of payloads were dropped.
    QueueFull,
    /// An earlier recorder of the bundle stopped or died, and this one goes on. What happened between is not recorded.
    Reopened,
    /// The bundle was damaged, and a repair made it acceptable again without what is lost.
    Repaired,
}

/// What a recording lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Why.
    pub reason: GapReason,
    /// Last event before the first that lacks something.
    pub after_seq: u64,
    /// Payloads whose bodies were dropped. Their documents have the member
    /// [`DROPPED_MEMBER`](super::skeleton::DROPPED_MEMBER); after a repair their events may name no payload instead.
    pub dropped_bodies: u64,
    /// Bytes of those bodies, as far as they were counted.
    pub dropped_bytes: u64,
    /// Events that are missing, as far as they were counted.
    pub lost_events: u64,
}
