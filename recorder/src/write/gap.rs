//! The gap event, which tells what is missing in a recording.
//!
//! It is a `protocol_event_observed` with the type [`GAP_EVENT`], so that every reader of the format accepts it. Its
//! payload is a [`Gap`].

use serde::{Deserialize, Serialize};

/// `event_type` of the event that tells what is missing in a recording.
pub const GAP_EVENT: &str = "trace_gap";

/// Why something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The disk was slower than the session, so the recorder dropped the content of payloads.
    QueueFull,
    /// An earlier recorder of the bundle stopped or died, and another one continues. The time in between was not recorded.
    Reopened,
    /// The bundle was damaged. A repair made it readable again, but could not restore what was lost.
    Repaired,
}

/// What is missing in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Why it is missing.
    pub reason: GapReason,
    /// Sequence number of the last event before the first loss.
    pub after_seq: u64,
    /// Number of payloads whose content was dropped. Their documents have the member
    /// [`DROPPED_MEMBER`](super::skeleton::DROPPED_MEMBER). After a repair, their events may have no payload reference
    /// instead.
    pub dropped_bodies: u64,
    /// Size of this content in bytes, as far as it was counted.
    pub dropped_bytes: u64,
    /// Number of missing events, as far as they were counted.
    pub lost_events: u64,
}
