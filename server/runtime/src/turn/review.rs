//! Reviews: a separate conversation with its own instructions, whose result joins the thread.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use trace_recorder::format::ExecutionStatus;

use super::converse::converse;
use super::request::{Audience, Offered, Question};
use super::task::{Conversation, Stop, Task};
use crate::history::{self, History};
use crate::id::ItemId;
use crate::instructions;
use crate::item::{Item, ItemKind};

/// Instructions of the reviewer.
const INSTRUCTIONS: &str = "\
You review changes that somebody else made to a code base. Look at them with the tools that you have; change nothing.

Report what the author would want to mend before the change goes in: wrong results, lost data, races, holes in security, \
broken callers, missing error handling that matters. Leave out taste, style and what was there before the change. Name a \
problem only if you can say when it happens and what follows. Prefer few findings that hold to many that may.

When you are done, answer with one JSON object and nothing else:

{\"findings\": [{\"title\": \"...\", \"body\": \"when it happens and what follows\", \"priority\": 0,
  \"code_location\": {\"absolute_file_path\": \"/...\", \"line_range\": {\"start\": 1, \"end\": 2}}}],
 \"overall_correctness\": \"patch is correct\" or \"patch is incorrect\",
 \"overall_explanation\": \"...\",
 \"overall_confidence_score\": 0.9}

`priority` is 0 for what must be mended at once, 1 for what is urgent, 2 for the ordinary, 3 for the small. Without findings the \
list is empty.";

const INTERRUPTED: &str = "The review was stopped before it was done.";

/// Reviews changes and returns the last message of the agent.
pub(crate) async fn review(task: &Task, instructions: &str, shown: &str) -> Result<Arc<Item>, Stop> {
    let item = |kind| Item { id: ItemId::new(), kind };
    task.agent.link.show_item(&task.turn, item(ItemKind::EnteredReview { review: shown.to_owned() }));
    let done = ask_reviewer(task, instructions).await;
    let text = match &done {
        Ok(said) => plain(said),
        Err(Stop::Interrupted) => INTERRUPTED.to_owned(),
        Err(Stop::Failed(error)) => format!("The review failed: {}", error.message),
    };
    task.agent.link.show_item(&task.turn, item(ItemKind::ExitedReview { review: text.clone() }));
    let asked = format!("<review>\nThe user asked for a review: {shown}\nThe reviewer's answer follows.\n</review>");
    let answer = history::text_message("assistant", &text);
    let id = history::id(&answer).map_or_else(ItemId::new, ItemId::from);
    task.remember(vec![history::text_message("user", &asked), answer]);
    done?;
    Ok(task.agent.link.show_item(&task.turn, Item { id, kind: ItemKind::AgentMessage { text, phase: None } }))
}

async fn ask_reviewer(task: &Task, instructions: &str) -> Result<String, Stop> {
    let trace = task.agent.record_review().await;
    let aside = Task {
        agent: task.agent.clone(),
        turn: task.turn.clone(),
        root_turn: task.root_turn.clone(),
        settings: Mutex::new(task.settings()),
        cancelled: task.cancelled.clone(),
        trace: trace.turn().clone(),
        conversation: Conversation::Aside(Mutex::new(History::default())),
        jitter: task.jitter.fork(),
    };
    let mut first = instructions::context(&aside.settings(), aside.agent.options()).await;
    first.push(history::text_message("user", instructions));
    aside.remember(first);
    let question = Question {
        audience: Audience::Asker,
        instructions: INSTRUCTIONS.to_owned(),
        last: None,
        tools: Offered::All,
        output_schema: None,
        service_tier: None,
    };
    let said = converse(&aside, &question).await;
    aside.answer_open_calls();
    trace.end(match &said {
        Ok(_) => ExecutionStatus::Completed,
        Err(Stop::Interrupted) => ExecutionStatus::Cancelled,
        Err(Stop::Failed(_)) => ExecutionStatus::Failed,
    });
    match said?.as_deref().map(|item| &item.kind) {
        Some(ItemKind::AgentMessage { text, .. }) => Ok(text.clone()),
        _ => Ok(String::new()),
    }
}

/// Formats a JSON review as plain text. Any other text is returned unchanged.
fn plain(said: &str) -> String {
    let json = said.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    let Ok(Value::Object(review)) = serde_json::from_str::<Value>(json) else { return said.trim().to_owned() };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let (verdict, explanation) = (text(review.get("overall_correctness")), text(review.get("overall_explanation")));
    let mut lines = match (verdict.is_empty(), explanation.is_empty()) {
        (false, false) => format!("{verdict}: {explanation}"),
        (false, true) => verdict,
        (true, _) => explanation,
    };
    let findings = review.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for finding in findings {
        let place = finding.get("code_location").map(place).unwrap_or_default();
        let title = text(finding.get("title"));
        let priority = finding.get("priority").and_then(Value::as_u64).map(|priority| format!("[P{priority}] "));
        let _ = write!(lines, "\n\n- {}{title}{place}", priority.unwrap_or_default());
        for line in text(finding.get("body")).lines() {
            let _ = write!(lines, "\n  {line}");
        }
    }
    if lines.is_empty() { said.trim().to_owned() } else { lines.trim_start().to_owned() }
}

fn place(location: &Value) -> String {
    let path = location.get("absolute_file_path").or_else(|| location.get("path")).and_then(Value::as_str);
    let line = |name: &str| location.get("line_range").and_then(|range| range.get(name)).and_then(Value::as_u64);
    match (path, line("start"), line("end")) {
        (Some(path), Some(start), Some(end)) if end > start => format!(" ({path}:{start}-{end})"),
        (Some(path), Some(start), _) => format!(" ({path}:{start})"),
        (Some(path), None, _) => format!(" ({path})"),
        (None, ..) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_review_becomes_plain_text() {
        let review = json!({
            "findings": [
                {"title": "Index past the end", "body": "An empty list panics.\nIt is the default.", "priority": 1,
                 "code_location": {"absolute_file_path": "/p/a.rs", "line_range": {"start": 3, "end": 5}}},
                {"title": "Typo"},
            ],
            "overall_correctness": "patch is incorrect",
            "overall_explanation": "It breaks on empty lists.",
        });
        insta::assert_snapshot!(plain(&review.to_string()), @r"
        patch is incorrect: It breaks on empty lists.

        - [P1] Index past the end (/p/a.rs:3-5)
          An empty list panics.
          It is the default.

        - Typo
        ");
    }

    #[test]
    fn what_is_no_review_stays() {
        for said in ["", "all well", "[1]", "{}", "{\"findings\": 3}"] {
            assert_eq!(plain(said), said);
        }
        assert_eq!(plain("```json\n{\"overall_explanation\": \"fine\"}\n```"), "fine");
    }
}
