//! The answer of `trace postmortem`: the turns that are shown, and how many turns there are of each outcome.

use serde::Serialize;
use trace_explain::audit::{Audit, Finding, Kind, Severity};
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

/// A finding of `trace audit` in a turn.
#[derive(Debug, Serialize)]
pub(super) struct Audited {
    pub(super) kind: Kind,
    pub(super) severity: Severity,
    agent_path: String,
    thread_id: String,
    pub(super) turn_id: Option<String>,
    pub(super) seq: Option<u64>,
    pub(super) message: String,
}

impl Audited {
    /// Returns the findings in these turns, also in those that came out well.
    pub(super) fn of(audit: Audit, turns: &[TurnVerdict]) -> Vec<Self> {
        let is_in = |finding: &Finding| turns.iter().any(|turn| Some(&turn.turn_id) == finding.turn_id.as_ref());
        audit.findings.into_iter().filter(is_in).map(Self::new).collect()
    }

    fn new(finding: Finding) -> Self {
        let seq = finding.seq();
        let Finding { kind, severity, agent_path, thread_id, turn_id, message, .. } = finding;
        Self { kind, severity, agent_path, thread_id, turn_id, seq, message }
    }
}

/// What is shown, and the object of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub(super) counts: Counts,
    /// What an audit found in the turns that were asked for. `None` if the session is too large to audit it beside.
    pub(super) findings: Option<Vec<Audited>>,
    #[serde(flatten)]
    pub(super) postmortem: Postmortem,
}
