//! Findings about turns and causes of failures, before they are worded.

use std::rc::Rc;

use trace_reducer::model::{Moment, ThreadIdx, ToolIdx, TurnIdx};

use super::charges::HopIdx;
use super::faults::Fault;
use super::stops::Stop;
use super::{Category, Confidence, Outcome};
use crate::object::Object;

/// Where a failure began. The judge passes it up from agent to agent.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) category: Category,
    pub(super) object: Object,
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<TurnIdx>,
    pub(super) at: Moment,
    pub(super) message: String,
    pub(super) confidence: Confidence,
    pub(super) http_status: Option<u16>,
    pub(super) exit_code: Option<i64>,
    pub(super) attempts: usize,
    /// The write that returned the exit code, if another call had started the command.
    pub(super) told_by: Option<ToolIdx>,
    pub(super) rests_on: Vec<Object>,
    pub(super) missing: Vec<String>,
}

impl Cause {
    pub(super) fn of_fault(fault: &Fault) -> Self {
        Self {
            category: fault.category,
            object: fault.object,
            thread: fault.thread,
            turn: fault.turn,
            at: fault.at,
            message: fault.message.clone(),
            confidence: fault.confidence,
            http_status: fault.http_status,
            exit_code: fault.exit_code,
            attempts: fault.attempts,
            told_by: fault.told_by,
            rests_on: fault.rests_on.clone(),
            missing: fault.missing.clone(),
        }
    }

    pub(super) fn of_stop(stop: Stop, thread: ThreadIdx, turn: TurnIdx) -> Self {
        Self {
            category: stop.category,
            object: stop.object,
            thread,
            turn: Some(turn),
            at: stop.at,
            message: stop.message,
            confidence: stop.confidence,
            http_status: None,
            exit_code: None,
            attempts: 1,
            told_by: None,
            rests_on: stop.rests_on,
            missing: stop.missing,
        }
    }
}

/// What the judge found about one turn.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) outcome: Outcome,
    pub(super) cause: Option<Rc<Cause>>,
    /// Other failures that were not made good.
    pub(super) others: Vec<Rc<Cause>>,
    /// The hop to the agent where the cause is; `None` if the cause is in this turn.
    pub(super) hop: Option<HopIdx>,
    /// Spans of time that were lost, in milliseconds since the Unix epoch.
    pub(super) lost: Vec<(i64, i64)>,
}
