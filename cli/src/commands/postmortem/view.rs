//! `trace postmortem` as text.

use anstyle::Style;
use trace_explain::postmortem::{Outcome, TurnVerdict};

use super::answer::Answer;
use crate::ui::output::{Paint, Terminal};
use crate::ui::text::{self, count, preview};

/// Most columns of a text.
const MAX_COLUMNS: usize = 160;

pub(super) fn render(answer: &Answer, terminal: &Terminal) -> String {
    let mut view = View { text: String::new(), paint: terminal.paint() };
    let counts = &answer.counts;
    let Paint { strong, dim, .. } = view.paint;
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
    view.line(&format!("{heading} {dim}({}{recovered}){dim:#}", count(counts.turns as u64, "turn")));
    for turn in &answer.postmortem.turns {
        view.turn(turn);
    }
    let shown = answer.postmortem.turns.len();
    if shown < counts.turns {
        let rest = count((counts.turns - shown) as u64, "turn");
        view.line(&format!("\n{dim}{rest} came out well (--all lists them){dim:#}"));
    }
    view.text
}

struct View {
    text: String,
    paint: Paint,
}

impl View {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn field(&mut self, name: &str, value: &str) {
        let dim = self.paint.dim;
        self.line(&format!("  {dim}{name:<10}{dim:#}{value}"));
    }

    fn style(&self, outcome: Outcome) -> Style {
        match outcome {
            Outcome::Failed | Outcome::Degraded => self.paint.bad,
            Outcome::Cancelled | Outcome::Unfinished => self.paint.odd,
            Outcome::Recovered | Outcome::Ok => self.paint.good,
        }
    }

    fn turn(&mut self, turn: &TurnVerdict) {
        let Paint { dim, strong, accent, .. } = self.paint;
        let style = self.style(turn.outcome);
        let id = preview(&turn.turn_id, 60);
        let path = preview(&turn.agent_path, 80);
        let outcome = turn.outcome.as_str();
        self.line(&format!("\n{style}{outcome}{style:#} {strong}{path}{strong:#} {dim}turn {id}{dim:#}"));
        if turn.outcome == Outcome::Ok {
            return;
        }
        self.line(&format!("  {}", preview(&turn.verdict, MAX_COLUMNS)));
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
            self.line(&format!("  {:<10}{:>6}  {:<12}  {dim}{}{dim:#}", "", "", "", preview(&step.text, MAX_COLUMNS)));
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
        for (index, missing) in turn.missing.iter().enumerate() {
            self.field(if index == 0 { "missing" } else { "" }, &preview(missing, MAX_COLUMNS));
        }
    }
}
