//! What is found about a turn, and the cause of a failure, as they pass from the judge to whoever words them.

use std::rc::Rc;

use trace_reducer::model::{Moment, ThreadIdx, ToolIdx, TurnIdx};

use super::charges::HopIdx;
use super::faults::Fault;
use super::stops::Stop;
use super::{Category, Confidence, Outcome};
use crate::object::Object;

/// Where a failure began, as the judge passes it on from agent to agent.
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
    /// The write that told how a command ended that another call had started.
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

/// What the judge finds about one turn.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) outcome: Outcome,
    pub(super) cause: Option<Rc<Cause>>,
    /// What else failed and was not made good.
    pub(super) others: Vec<Rc<Cause>>,
    /// The way by which the cause came, if it is not the turn's own.
    pub(super) hop: Option<HopIdx>,
    /// When time was lost: from, until, in milliseconds since the Unix epoch.
    pub(super) lost: Vec<(i64, i64)>,
}
