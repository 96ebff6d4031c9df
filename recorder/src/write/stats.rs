//! The counters of a writer.

use std::time::Duration;

/// State of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingState {
    /// Events are recorded.
    Recording,
    /// The recording is complete.
    Completed,
    /// Events are no longer recorded, though the session may continue.
    Stopped {
        /// Sequence number of the last event in the log.
        after_seq: u64,
        /// Error message for people.
        reason: String,
    },
}

/// Counters of a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// State of the recording.
    pub state: RecordingState,
    /// Sequence number of the last event that was accepted.
    pub last_seq: u64,
    /// Sequence number up to which all events survive what the [`Durability`](super::Durability) promises.
    pub acknowledged_seq: u64,
    /// Number of payload files that were written.
    pub payloads: u64,
    /// Size of these payloads in bytes.
    pub payload_bytes: u64,
    /// Number of bytes that were written to the log.
    pub log_bytes: u64,
    /// Number of writes to the log. Each writes all lines that were in the queue.
    pub batches: u64,
    /// Bytes of event lines and small payloads that wait for the disk.
    pub queued_line_bytes: u64,
    /// Bytes of other payloads that wait for the disk.
    pub queued_body_bytes: u64,
    /// Number of times that a caller waited for room.
    pub waits: u64,
    /// Total time that callers waited.
    pub waited: Duration,
    /// Number of payloads whose content was dropped.
    pub dropped_bodies: u64,
    /// Size of this content in bytes.
    pub dropped_bytes: u64,
    /// Number of events that are lost because the recording stopped.
    pub lost_events: u64,
}
