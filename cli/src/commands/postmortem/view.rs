//! `trace postmortem` as text.

use anstyle::Style;
use trace_explain::postmortem::{Outcome, TurnVerdict};

use super::answer::{Answer, Audited};
use crate::ui::output::{Paint, Terminal, Written};
use crate::ui::text::{self, count, preview};

/// Most columns of a text.
const MAX_COLUMNS: usize = 160;

pub(super) fn render(answer: &Answer, terminal: &Terminal) -> String {
    let mut view = View { out: Written::new(terminal) };
    let counts = &answer.counts;
    let Paint { strong, dim, .. } = view.out.paint;
    let attention = counts.turns - counts.well();
    let heading = match attention {
        0 => format!("{strong}no turn needs attention{strong:#}"),
        1 => format!("{strong}1 turn needs attention{strong:#}"),
        _ => format!("{strong}{attention} turns need attention{strong:#}"),
    };
    let recovered = match counts.recovered {
        0 => String::new(),
        recovered => format!(", {recovered} recovered"),
    };
    view.out.line(&format!("{heading} {dim}({}{recovered}){dim:#}", count(counts.turns as u64, "turn")));
    for turn in &answer.postmortem.turns {
        view.turn(turn, answer.findings.as_deref().unwrap_or_default());
    }
    let shown = answer.postmortem.turns.len();
    if shown < counts.turns {
        let rest = count((counts.turns - shown) as u64, "turn");
        view.out.line(&format!("\n{dim}{rest} came out well (--all lists them){dim:#}"));
    }
    view.findings(answer);
    view.out.text
}

struct View {
    out: Written,
}

impl View {
    fn field(&mut self, name: &str, value: &str) {
        let dim = self.out.paint.dim;
        self.out.line(&format!("  {dim}{name:<10}{dim:#}{value}"));
    }

    fn style(&self, outcome: Outcome) -> Style {
        match outcome {
            Outcome::Failed | Outcome::Degraded => self.out.paint.bad,
            Outcome::Cancelled | Outcome::Unfinished => self.out.paint.odd,
            Outcome::Recovered | Outcome::Ok => self.out.paint.good,
        }
    }

    /// Tells of findings in turns that are not shown: most are in turns that completed.
    fn findings(&mut self, answer: &Answer) {
        let Some(findings) = answer.findings.as_deref() else {
            let dim = self.out.paint.dim;
            self.out.line(&format!(
                "\n{dim}a session of this size is not audited here (trace audit SESSION does it){dim:#}"
            ));
            return;
        };
        let is_shown =
            |finding: &&Audited| {
                answer.postmortem.turns.iter().any(|turn| {
                    turn.outcome != Outcome::Ok && Some(turn.turn_id.as_str()) == finding.turn_id.as_deref()
                })
            };
        let rest = findings.len() - findings.iter().filter(is_shown).count();
        if rest == 0 {
            return;
        }
        let more = if rest < findings.len() { "more " } else { "" };
        let found = match rest {
            1 => format!("1 {more}finding"),
            _ => format!("{rest} {more}findings"),
        };
        let Paint { odd, dim, .. } = self.out.paint;
        self.out.line(&format!(
            "\n{odd}the audit has {found} in turns that completed{odd:#} {dim}(trace audit shows them){dim:#}"
        ));
    }

    fn turn(&mut self, turn: &TurnVerdict, findings: &[Audited]) {
        let Paint { dim, strong, accent, .. } = self.out.paint;
        let style = self.style(turn.outcome);
        let id = preview(&turn.turn_id, 60);
        let path = preview(&turn.agent_path, 80);
        let outcome = turn.outcome.as_str();
        self.out.line(&format!("\n{style}{outcome}{style:#} {strong}{path}{strong:#} {dim}turn {id}{dim:#}"));
        if turn.outcome == Outcome::Ok {
            return;
        }
        self.out.line(&format!("  {}", preview(&turn.verdict, MAX_COLUMNS)));
        if let Some(cause) = &turn.root_cause {
            let object = preview(&cause.object.to_string(), 80);
            let seq = cause.seq.map(|seq| format!(" at seq {seq}")).unwrap_or_default();
            let category = cause.category.as_str();
            let confidence = cause.confidence.as_str();
            self.field(
                "cause",
                &format!("{accent}{category}{accent:#} {object}{seq} {dim}(confidence: {confidence}){dim:#}"),
            );
        }
        if turn.time_lost_ms > 0 {
            let lost = i64::try_from(turn.time_lost_ms).unwrap_or(i64::MAX);
            self.field("time lost", &text::duration(lost));
        }
        for (index, step) in turn.chain.iter().enumerate() {
            let seq = step.seq.map_or_else(|| " ".repeat(8), |seq| format!("{seq:>6}  "));
            let object = preview(&step.object.to_string(), 60);
            let relation = step.relation;
            let line = format!("{dim}{seq}{dim:#}{relation:<12}  {object}");
            self.field(if index == 0 { "way" } else { "" }, &line);
            self.out.line(&format!(
                "  {:<10}{:>6}  {:<12}  {dim}{}{dim:#}",
                "",
                "",
                "",
                preview(&step.text, MAX_COLUMNS)
            ));
        }
        for (index, cause) in turn.other_causes.iter().enumerate() {
            let object = preview(&cause.object.to_string(), 60);
            let value = format!("{} {object}: {}", cause.category.as_str(), preview(&cause.message, MAX_COLUMNS));
            self.field(if index == 0 { "also" } else { "" }, &value);
        }
        if !turn.rests_on.is_empty() {
            let objects: Vec<String> = turn.rests_on.iter().map(|object| preview(&object.to_string(), 60)).collect();
            self.field("rests on", &objects.join(", "));
        }
        let own = findings.iter().filter(|finding| finding.turn_id.as_deref() == Some(turn.turn_id.as_str()));
        for (index, finding) in own.enumerate() {
            let seq = finding.seq.map(|seq| format!(" at seq {seq}")).unwrap_or_default();
            let value = format!(
                "{accent}{}{accent:#} {dim}({}){dim:#}{seq}: {}",
                finding.kind.as_str(),
                finding.severity.as_str(),
                preview(&finding.message, MAX_COLUMNS)
            );
            self.field(if index == 0 { "audit" } else { "" }, &value);
        }
        for (index, missing) in turn.missing.iter().enumerate() {
            self.field(if index == 0 { "missing" } else { "" }, &preview(missing, MAX_COLUMNS));
        }
    }
}
