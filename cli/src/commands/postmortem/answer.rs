//! The answer of `trace postmortem`: the turns that are shown, and how many turns there are of each outcome.

use serde::Serialize;
use trace_explain::postmortem::{Outcome, Postmortem, TurnVerdict};

/// Numbers of turns by outcome, among the turns that were asked for.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) turns: usize,
    pub(super) failed: usize,
    pub(super) cancelled: usize,
    pub(super) unfinished: usize,
    pub(super) degraded: usize,
    pub(super) recovered: usize,
    pub(super) ok: usize,
}

impl Counts {
    pub(super) fn of(turns: &[TurnVerdict]) -> Self {
        let mut counts = Self { turns: turns.len(), ..Self::default() };
        for turn in turns {
            let count = match turn.outcome {
                Outcome::Failed => &mut counts.failed,
                Outcome::Cancelled => &mut counts.cancelled,
                Outcome::Unfinished => &mut counts.unfinished,
                Outcome::Degraded => &mut counts.degraded,
                Outcome::Recovered => &mut counts.recovered,
                Outcome::Ok => &mut counts.ok,
            };
            *count += 1;
        }
        counts
    }

    pub(super) fn well(&self) -> usize {
        self.recovered + self.ok
    }
}

/// What is shown, and the object of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub(super) counts: Counts,
    #[serde(flatten)]
    pub(super) postmortem: Postmortem,
}
