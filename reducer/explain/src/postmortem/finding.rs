//! Findings about turns, before they are worded.

use std::rc::Rc;

use super::cause::Cause;
use super::charges::HopIdx;
use super::verdict::Outcome;

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
