//! Where a failure began: what a fault or a stop says of itself, and what the judge passes up from agent to agent.

use trace_reducer::model::{Moment, ThreadIdx, ToolIdx, TurnIdx};

use super::verdict::{Category, Confidence};
use super::words::shortened;
use crate::object::Object;

/// Where a failure began.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) category: Category,
    pub(super) object: Object,
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<TurnIdx>,
    /// When it failed.
    pub(super) at: Moment,
    pub(super) message: String,
    pub(super) confidence: Confidence,
    pub(super) http_status: Option<u16>,
    pub(super) exit_code: Option<i64>,
    pub(super) attempts: usize,
    /// The write that returned the exit code, if another call had started the command.
    pub(super) told_by: Option<ToolIdx>,
    /// Evidence: earlier attempts, the call that closed the agent, what was running.
    pub(super) rests_on: Vec<Object>,
    pub(super) missing: Vec<String>,
}

/// Where a failure became a fact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) object: Object,
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<TurnIdx>,
    pub(super) at: Moment,
}

impl Cause {
    /// Makes the cause of a failure that the structure of the recording shows, with one attempt and no evidence beside its
    /// object.
    pub(super) fn new(category: Category, place: Place, message: &str) -> Self {
        let Place { object, thread, turn, at } = place;
        Self {
            category,
            object,
            thread,
            turn,
            at,
            message: shortened(message),
            confidence: Confidence::High,
            http_status: None,
            exit_code: None,
            attempts: 1,
            told_by: None,
            rests_on: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Lowers the confidence, and names the evidence that would have raised it.
    pub(super) fn lacks(mut self, confidence: Confidence, missing: &str) -> Self {
        self.confidence = confidence;
        self.missing.push(missing.to_owned());
        self
    }
}
