//! The answer of an audit as a value.

use serde::Serialize;

use super::kind::{Kind, Severity};
use crate::object::ObjectRef;
use crate::postmortem::Confidence;

/// Longest text of a claim or of evidence, in characters.
pub const MAX_TEXT_CHARS: usize = 240;

/// Most pieces of evidence of a finding. Of more, the first and the last are kept.
pub const MAX_EVIDENCE: usize = 16;

/// How a piece of evidence relates to the finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The run says something else.
    Contradicts,
    /// The run did not start.
    DidNotStart,
    /// The run had not ended when the claim was made.
    NotFinished,
    /// The run ran no test.
    NoTests,
    /// A change after the last run.
    ChangedAfter,
    /// The last run before the changes.
    LastRun,
    /// An attempt that failed.
    FailedAttempt,
    /// The source that the claim refers to.
    DoesNotHold,
    /// The child that failed.
    ChildFailed,
    /// The act that the finding is about.
    Action,
    /// The run that failed before the act.
    FailedBefore,
    /// Where the expected value stood.
    ExpectedValue,
    /// Where a secret was first seen.
    SecretFrom,
    /// The call whose output brought the instruction.
    InstructedBy,
}

impl Relation {
    /// Returns the name of the relation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contradicts => "contradicts",
            Self::DidNotStart => "did_not_start",
            Self::NotFinished => "not_finished",
            Self::NoTests => "no_tests",
            Self::ChangedAfter => "changed_after",
            Self::LastRun => "last_run",
            Self::FailedAttempt => "failed_attempt",
            Self::DoesNotHold => "does_not_hold",
            Self::ChildFailed => "child_failed",
            Self::Action => "action",
            Self::FailedBefore => "failed_before",
            Self::ExpectedValue => "expected_value",
            Self::SecretFrom => "secret_from",
            Self::InstructedBy => "instructed_by",
        }
    }
}

/// What an agent said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The message.
    pub object: ObjectRef,
    /// Sequence number of the event that shows the message.
    pub seq: Option<u64>,
    /// The sentence, at most [`MAX_TEXT_CHARS`] characters, with secrets masked.
    pub text: String,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The object to look at.
    pub object: ObjectRef,
    /// Sequence number of the event that shows it.
    pub seq: Option<u64>,
    /// What it was, at most [`MAX_TEXT_CHARS`] characters, with secrets masked.
    pub text: String,
    /// How it relates to the finding.
    pub relation: Relation,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: Kind,
    /// How much it matters.
    pub severity: Severity,
    /// How certain it is.
    pub confidence: Confidence,
    /// Place of the agent that claimed or acted in the tree of agents.
    pub agent_path: String,
    /// Thread of that agent.
    pub thread_id: String,
    /// Its turn; `None` if the recording does not name it.
    pub turn_id: Option<String>,
    /// The claim; `None` for findings about acts.
    pub claim: Option<Said>,
    /// The evidence in the order in which it is best read, at most [`MAX_EVIDENCE`].
    pub evidence: Vec<Evidence>,
    /// The finding in one sentence.
    pub message: String,
}

impl Finding {
    /// Returns the sequence number at which the finding stands in the log.
    pub fn seq(&self) -> Option<u64> {
        match &self.claim {
            Some(claim) => claim.seq,
            None => self.evidence.first().and_then(|evidence| evidence.seq),
        }
    }
}

/// What became of the claims that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ClaimCounts {
    /// All of them.
    pub checked: u64,
    /// Claims that the recording bears out.
    pub supported: u64,
    /// Claims with a finding.
    pub contradicted: u64,
    /// Claims that the recording can neither support nor refute.
    pub unverifiable: u64,
}

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The recording bears it out.
    Supported,
    /// It has a finding.
    Contradicted,
    /// The recording can neither support nor refute it.
    Unverifiable,
}

impl ClaimVerdict {
    /// Returns the name of the verdict.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::Unverifiable => "unverifiable",
        }
    }
}

/// A claim that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedClaim {
    /// Index of the answer in the ledger.
    pub answer: usize,
    /// Index among the claims of the answer; `None` for an answer in another language, which counts as one claim.
    pub claim: Option<usize>,
    /// What became of it.
    pub verdict: ClaimVerdict,
    /// Index of its finding among those of the audit. Several claims of one sentence may have one finding.
    pub finding: Option<usize>,
}

/// How many findings there are of each severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FindingCounts {
    /// Findings of high severity.
    pub high: u64,
    /// Findings of medium severity.
    pub medium: u64,
    /// Findings of low severity.
    pub low: u64,
}

impl FindingCounts {
    /// Counts findings.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::High => counts.high += 1,
                Severity::Medium => counts.medium += 1,
                Severity::Low => counts.low += 1,
            }
        }
        counts
    }

    /// Returns the number of all findings.
    pub fn all(self) -> u64 {
        self.high + self.medium + self.low
    }
}

/// The answer of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The findings in the order of the log.
    pub findings: Vec<Finding>,
    /// What became of the claims.
    pub claims: ClaimCounts,
}
