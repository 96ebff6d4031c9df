//! What a replay found out.

use std::fmt;

use serde::Serialize;

/// The first thing in which an agent did something else than in the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// Path of the agent.
    pub agent: String,
    /// Number of the recorded turn, from 1; nothing if there is none.
    pub turn: Option<usize>,
    /// Id of the recorded turn.
    pub turn_id: Option<String>,
    /// Number of the request in the turn, from 1, if it is about a request.
    pub request: Option<usize>,
    /// What differs: `input[3]`, `tools[0]`, `call exec_command`.
    pub place: String,
    /// What happened, for people.
    pub message: String,
    /// A unified diff from the recorded to the live, if there is something to compare.
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

/// How the agents of a path compare with the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadReport {
    /// Path of the agents.
    pub agent: String,
    /// Requests that the recording has from the first turn of the replay on.
    pub recorded_requests: usize,
    /// Requests that were the same.
    pub same_requests: usize,
    /// The first divergence.
    pub divergence: Option<Divergence>,
    /// Whether the recording ends in a turn that had not ended: what came then is not known.
    pub recording_ends: bool,
}
