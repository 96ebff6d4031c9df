//! `postmortem`: why turns failed.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trace_explain::postmortem::{RootCause, Step, TurnVerdict, postmortem};
use trace_explain::words;

use super::asked::{Asked, Subject, subject};
use super::filling::{Filling, Place, end};
use super::row::{object, text};
use crate::answer::Page;
use crate::arguments::Arguments;
use crate::problem::Problem;

/// Steps of the way to a cause that are shown from its beginning, and from its end.
const FIRST_STEPS: usize = 6;
const LAST_STEPS: usize = 4;

/// Most characters of the text of a step, and of another cause.
const STEP_CHARS: usize = 160;

/// Most other causes that are shown.
const OTHER_CAUSES: usize = 4;

const NARROW: &str = "leave out all, or use overview for one line a turn";

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    let all = arguments.flag("all")?;
    let subject: Subject<Place> = subject(asked, "postmortem", arguments)?;
    let mut verdicts = postmortem(&subject.session);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for turn in &verdicts.turns {
        *counts.entry(turn.outcome.as_str()).or_default() += 1;
    }
    let turns = verdicts.turns.len();
    if !all {
        verdicts = verdicts.only_attention();
    }
    let mut page = Page::new(&asked.redactor);
    page.head("session", json!(subject.entry.id), |id| format!("session {}", id.as_str().unwrap_or_default()));
    page.head("counts", json!(counts), |counts| {
        let counts = counts.as_object().into_iter().flatten().map(|(outcome, count)| format!("{count} {outcome}"));
        format!("{}: {}", words::count(turns as u64, "turn"), counts.collect::<Vec<_>>().join(", "))
    });
    if verdicts.turns.is_empty() && subject.place.is_none() {
        page.say("no turn needs attention: every failure was made good, or there was none");
    }
    let mut filling = Filling::new(&mut page, subject.place);
    filling.list("turns", &verdicts.turns, |turn| turn.turn_id.clone(), |turn| verdict(turn), line);
    let next = filling.next()?;
    Ok(end(page, &subject, next, NARROW))
}

fn verdict(turn: &TurnVerdict) -> Value {
    let left_out = turn.chain.len().saturating_sub(FIRST_STEPS + LAST_STEPS);
    let steps = turn.chain.iter().enumerate();
    let shown = steps.filter(|(index, _)| *index < FIRST_STEPS || *index >= FIRST_STEPS + left_out);
    let way: Vec<Value> = shown.map(|(_, shown)| step(shown)).collect();
    let also: Vec<Value> = turn.other_causes.iter().take(OTHER_CAUSES).map(other).collect();
    let more = turn.other_causes.len().saturating_sub(OTHER_CAUSES);
    object([
        ("outcome", json!(turn.outcome.as_str())),
        ("agent", json!(turn.agent_path)),
        ("turn", json!(turn.turn_id)),
        ("verdict", json!(turn.verdict)),
        ("root_cause", turn.root_cause.as_ref().map_or(Value::Null, root_cause)),
        ("way", if way.is_empty() { Value::Null } else { way.into() }),
        ("steps_left_out", if left_out > 0 { left_out.into() } else { Value::Null }),
        ("also", if also.is_empty() { Value::Null } else { also.into() }),
        ("more_causes", if more > 0 { more.into() } else { Value::Null }),
        ("time_lost_ms", if turn.time_lost_ms > 0 { turn.time_lost_ms.into() } else { Value::Null }),
        ("missing", if turn.missing.is_empty() { Value::Null } else { json!(turn.missing) }),
    ])
}

fn root_cause(cause: &RootCause) -> Value {
    object([
        ("category", json!(cause.category.as_str())),
        ("object", json!(cause.object.to_string())),
        ("agent", json!(cause.agent_path)),
        ("seq", json!(cause.seq)),
        ("message", json!(cause.message)),
        ("confidence", json!(cause.confidence.as_str())),
        ("http_status", json!(cause.http_status)),
        ("exit_code", json!(cause.exit_code)),
        ("signal", json!(cause.signal)),
        ("attempts", if cause.attempts > 1 { cause.attempts.into() } else { Value::Null }),
    ])
}

fn step(step: &Step) -> Value {
    json!({
        "relation": step.relation,
        "object": step.object.to_string(),
        "text": trace_text::cut(&step.text, STEP_CHARS),
    })
}

fn other(cause: &RootCause) -> Value {
    json!({
        "category": cause.category.as_str(),
        "object": cause.object.to_string(),
        "message": trace_text::cut(&cause.message, STEP_CHARS),
    })
}

fn line(row: &Value) -> String {
    let mut lines = format!("{} {}: {}", text(row, "outcome"), text(row, "agent"), text(row, "verdict"));
    let cause = &row["root_cause"];
    if cause.is_object() {
        lines.push_str(&format!(
            "\n  cause: {} {}: {}",
            text(cause, "category"),
            text(cause, "object"),
            text(cause, "message")
        ));
    }
    for step in row["way"].as_array().into_iter().flatten() {
        lines.push_str(&format!("\n  {} {}", text(step, "relation"), text(step, "object")));
    }
    lines
}
