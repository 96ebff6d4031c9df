//! The result of a replay.

use std::fmt;

use serde::Serialize;

/// The first difference between an agent and the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// Path of the agent.
    pub agent: String,
    /// Number of the recorded turn, from 1. `None` if there is none.
    pub turn: Option<usize>,
    /// Id of the recorded turn. `None` if there is none.
    pub turn_id: Option<String>,
    /// Number of the request in the turn, from 1. `None` if the divergence does not concern a request.
    pub request: Option<usize>,
    /// What differs: `input[3]`, `tools[0]`, `call exec_command`.
    pub place: String,
    /// Message for users.
    pub message: String,
    /// A unified diff from the recorded to the live value. `None` if there is nothing to compare.
    pub diff: Option<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the replay diverged from the recording: {}", self.agent)?;
        if let Some(turn) = self.turn {
            write!(formatter, ", turn {turn}")?;
        }
        if let Some(request) = self.request {
            write!(formatter, ", request {request}")?;
        }
        write!(formatter, ", {}: {}", self.place, self.message)
    }
}

/// Comparison of the agents with one path with the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadReport {
    /// Path of the agents.
    pub agent: String,
    /// Number of recorded requests from the first turn of the replay on.
    pub recorded_requests: usize,
    /// Number of requests that were equal.
    pub same_requests: usize,
    /// The first divergence.
    pub divergence: Option<Divergence>,
    /// Whether the recording ends in a turn that had not ended, so that what followed is not known.
    pub recording_ends: bool,
}
