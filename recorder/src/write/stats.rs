//! What a writer counts.

use std::time::Duration;

/// Where a recording stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingState {
    /// Events are taken.
    Recording,
    /// The recording ended in good order.
    Completed,
    /// Events are taken no more, though the session may go on.
    Stopped {
        /// Last event in the log.
        after_seq: u64,
        /// What went wrong.
        reason: String,
    },
}

/// What a writer has done so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Where the recording stands.
    pub state: RecordingState,
    /// Sequence number of the last event that was taken.
    pub last_seq: u64,
    /// Sequence number of the last event that survives what the durability promises, with everything before it.
    pub acknowledged_seq: u64,
    /// Payload files that were written.
    pub payloads: u64,
    /// Bytes of those payloads.
    pub payload_bytes: u64,
    /// Bytes of the log that were written.
    pub log_bytes: u64,
    /// How often lines were written, each time all that had gathered.
    pub batches: u64,
    /// Bytes of event lines that wait for the disk, small payloads among them.
    pub queued_line_bytes: u64,
    /// Bytes of payload bodies that wait for the disk.
    pub queued_body_bytes: u64,
    /// How often a caller waited for room.
    pub waits: u64,
    /// How long callers waited, together.
    pub waited: Duration,
    /// Payload bodies that were dropped.
    pub dropped_bodies: u64,
    /// Bytes of those bodies.
    pub dropped_bytes: u64,
    /// Events that are lost because the recording stopped.
    pub lost_events: u64,
}
