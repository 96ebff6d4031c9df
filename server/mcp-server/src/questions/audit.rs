//! `audit`: what agents said and did that the recording does not bear out.

use serde_json::{Value, json};
use trace_explain::audit::{Evidence, Finding, FindingCounts, Options, Severity, audit};
use trace_explain::words;

use super::asked::{Asked, Subject, subject};
use super::filling::{Filling, Place, end};
use super::row::{number, object, text};
use crate::answer::Page;
use crate::arguments::Arguments;
use crate::problem::Problem;

/// Most pieces of evidence of a finding that are shown.
const EVIDENCE: usize = 6;

/// Most characters of the text of a piece of evidence.
const EVIDENCE_CHARS: usize = 160;

const NARROW: &str = "severity=high, or query with a WHERE on findings";

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    let all = arguments.flag("all")?;
    let least = match arguments.text("severity")? {
        None => Severity::Low,
        Some(name) => Severity::ALL.into_iter().find(|severity| severity.as_str() == name).ok_or_else(|| {
            let name = trace_text::quoted(name, 60);
            Problem::new(format!("there is no severity {name}")).with_hint("severity is high, medium or low")
        })?,
    };
    let subject: Subject<Place> = subject(asked, "audit", arguments)?;
    let mut found = audit(&subject.session, Options { low: all });
    found.findings.retain(|finding| finding.severity >= least);
    let mut page = Page::new(&asked.redactor);
    page.head("session", json!(subject.entry.id), |id| format!("session {}", id.as_str().unwrap_or_default()));
    page.head("counts", json!(FindingCounts::of(&found.findings)), |counts| {
        format!(
            "findings: {} high, {} medium, {} low",
            number(counts, "high"),
            number(counts, "medium"),
            number(counts, "low")
        )
    });
    page.head("claims", json!(found.claims), |claims| {
        format!(
            "{} looked at: {} supported, {} contradicted, {} unverifiable",
            words::count(number(claims, "checked"), "claim"),
            number(claims, "supported"),
            number(claims, "contradicted"),
            number(claims, "unverifiable")
        )
    });
    if found.findings.is_empty() && subject.place.is_none() {
        page.say("nothing is told; that is no proof that every claim is true");
    }
    let mut filling = Filling::new(&mut page, subject.place);
    let id = |finding: &&Finding| (finding.kind, finding.seq(), finding.message.clone());
    filling.list("findings", &found.findings, id, |finding| row(finding), line);
    let next = filling.next()?;
    Ok(end(page, &subject, next, NARROW))
}

fn row(finding: &Finding) -> Value {
    let evidence: Vec<Value> = finding.evidence.iter().take(EVIDENCE).map(piece).collect();
    let more = finding.evidence.len().saturating_sub(EVIDENCE);
    let claim = finding.claim.as_ref().map(|claim| {
        object([("text", json!(claim.text)), ("object", json!(claim.object.to_string())), ("seq", json!(claim.seq))])
    });
    object([
        ("kind", json!(finding.kind.as_str())),
        ("severity", json!(finding.severity.as_str())),
        ("confidence", json!(finding.confidence.as_str())),
        ("agent", json!(finding.agent_path)),
        ("turn", json!(finding.turn_id)),
        ("message", json!(finding.message)),
        ("claim", json!(claim)),
        ("evidence", if evidence.is_empty() { Value::Null } else { evidence.into() }),
        ("more_evidence", if more > 0 { more.into() } else { Value::Null }),
    ])
}

fn piece(evidence: &Evidence) -> Value {
    object([
        ("relation", json!(evidence.relation.as_str())),
        ("object", json!(evidence.object.to_string())),
        ("seq", json!(evidence.seq)),
        ("text", json!(trace_text::cut(&evidence.text, EVIDENCE_CHARS))),
    ])
}

fn line(row: &Value) -> String {
    let mut lines =
        format!("{} ({}) {}: {}", text(row, "kind"), text(row, "severity"), text(row, "agent"), text(row, "message"));
    if row["claim"].is_object() {
        lines.push_str(&format!("\n  said {}: {}", text(&row["claim"], "object"), text(&row["claim"], "text")));
    }
    for piece in row["evidence"].as_array().into_iter().flatten() {
        lines.push_str(&format!("\n  {} {}: {}", text(piece, "relation"), text(piece, "object"), text(piece, "text")));
    }
    lines
}
