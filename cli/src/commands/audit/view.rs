//! `trace audit` as text.

use anstyle::Style;
use trace_explain::audit::{Finding, Severity};

use super::answer::{Answer, Audited};
use crate::ui::output::{Paint, Terminal, Written};
use crate::ui::text::{count, preview};

/// Most columns of a text.
const MAX_COLUMNS: usize = 200;

/// Shows the audit of one session. Of several, each has its name above it, and those without findings are left to the
/// summary.
pub(super) fn session(audited: &Audited, is_one: bool, terminal: &Terminal) -> String {
    let mut view = View { out: Written::new(terminal) };
    let Paint { strong, dim, .. } = view.out.paint;
    let audit = &audited.audit;
    if !is_one {
        if audit.findings.is_empty() {
            return String::new();
        }
        view.out.line(&format!("{strong}{}{strong:#}", preview(&audited.bundle, MAX_COLUMNS)));
    }
    let found = match audit.findings.len() {
        0 => "no findings".to_owned(),
        findings => count(findings as u64, "finding"),
    };
    let claims = &audit.claims;
    let checked = format!(
        "{} checked: {} supported, {} contradicted, {} unverifiable",
        count(claims.checked, "claim"),
        claims.supported,
        claims.contradicted,
        claims.unverifiable
    );
    view.out.line(&format!("{strong}{found}{strong:#} {dim}({checked}){dim:#}"));
    for finding in &audit.findings {
        view.finding(finding);
    }
    if !is_one {
        view.out.line("");
    }
    view.out.text
}

/// Shows the sums over several sessions.
pub(super) fn summary(answer: &Answer<'_>, terminal: &Terminal) -> String {
    let mut view = View { out: Written::new(terminal) };
    let Paint { strong, dim, .. } = view.out.paint;
    let sums = &answer.summary;
    view.out.line(&format!(
        "{strong}{} in {} of {}{strong:#} {dim}({} checked: {} supported, {} contradicted, {} unverifiable){dim:#}",
        count(sums.findings as u64, "finding"),
        sums.sessions_with_findings,
        count(sums.sessions as u64, "session"),
        count(sums.claims.checked, "claim"),
        sums.claims.supported,
        sums.claims.contradicted,
        sums.claims.unverifiable
    ));
    for of in &sums.kinds {
        let sessions = count(of.sessions as u64, "session");
        view.out.line(&format!("  {:>6}  {:<22}{dim}in {sessions}{dim:#}", of.findings, of.kind.as_str()));
    }
    view.out.text
}

struct View {
    out: Written,
}

impl View {
    fn style(&self, severity: Severity) -> Style {
        match severity {
            Severity::High => self.out.paint.bad,
            Severity::Medium => self.out.paint.odd,
            Severity::Low => self.out.paint.dim,
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let Paint { dim, strong, accent, .. } = self.out.paint;
        let style = self.style(finding.severity);
        let kind = finding.kind.as_str();
        let severity = finding.severity.as_str();
        let path = preview(&finding.agent_path, 80);
        let turn = finding.turn_id.as_deref().map(|id| format!(" turn {}", preview(id, 60))).unwrap_or_default();
        let confidence = finding.confidence.as_str();
        self.out.line(&format!(
            "\n{style}{kind}{style:#} {dim}({severity}, confidence: {confidence}){dim:#} {strong}{path}{strong:#}{dim}{turn}{dim:#}"
        ));
        self.out.line(&format!("  {}", preview(&finding.message, MAX_COLUMNS)));
        if let Some(claim) = &finding.claim {
            let place = place(claim.seq, &claim.object.short_name());
            self.out.line(&format!("  {accent}{:<16}{accent:#}{place}", "said"));
            self.out.line(&format!("  {:<16}  “{}”", "", preview(&claim.text, MAX_COLUMNS)));
        }
        for proof in &finding.evidence {
            let place = place(proof.seq, &proof.object.short_name());
            self.out.line(&format!("  {accent}{:<16}{accent:#}{place}", proof.relation.as_str()));
            self.out.line(&format!("  {:<16}  {dim}{}{dim:#}", "", preview(&proof.text, MAX_COLUMNS)));
        }
        if finding.evidence.is_empty() {
            self.out.line(&format!("  {dim}nothing in the recording shows it{dim:#}"));
        }
    }
}

/// Returns where to look: the sequence number and the object.
fn place(seq: Option<u64>, object: &str) -> String {
    let seq = seq.map_or_else(|| " ".repeat(8), |seq| format!("{seq:>6}  "));
    format!("{seq}{}", preview(object, 80))
}
