//! The answers of `trace audit` for several sessions.

use serde::Serialize;
use trace_explain::audit::{Audit, ClaimCounts, Kind};

/// The audit of one session.
#[derive(Debug, Serialize)]
pub(super) struct Audited {
    pub(super) bundle: String,
    #[serde(flatten)]
    pub(super) audit: Audit,
}

/// How many findings there are of a kind.
#[derive(Debug, Serialize)]
pub(super) struct OfKind {
    pub(super) kind: Kind,
    pub(super) findings: usize,
    pub(super) sessions: usize,
}

/// Sums over all sessions.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) sessions: usize,
    pub(super) sessions_with_findings: usize,
    pub(super) findings: usize,
    pub(super) claims: ClaimCounts,
    pub(super) kinds: Vec<OfKind>,
}

/// The object of `--json` for several sessions.
#[derive(Debug, Serialize)]
pub(super) struct Answer<'a> {
    pub(super) sessions: &'a [Audited],
    pub(super) summary: Summary,
}

impl<'a> Answer<'a> {
    pub(super) fn of(sessions: &'a [Audited]) -> Self {
        let mut claims = ClaimCounts::default();
        for session in sessions {
            claims.checked += session.audit.claims.checked;
            claims.supported += session.audit.claims.supported;
            claims.contradicted += session.audit.claims.contradicted;
            claims.unverifiable += session.audit.claims.unverifiable;
        }
        let of = |kind: Kind| {
            let counts =
                sessions.iter().map(|session| session.audit.findings.iter().filter(|it| it.kind == kind).count());
            let counts: Vec<usize> = counts.filter(|count| *count > 0).collect();
            OfKind { kind, findings: counts.iter().sum(), sessions: counts.len() }
        };
        let kinds: Vec<OfKind> = Kind::ALL.into_iter().map(of).filter(|it| it.findings > 0).collect();
        let summary = Summary {
            sessions: sessions.len(),
            sessions_with_findings: sessions.iter().filter(|session| !session.audit.findings.is_empty()).count(),
            findings: kinds.iter().map(|it| it.findings).sum(),
            claims,
            kinds,
        };
        Self { sessions, summary }
    }
}
