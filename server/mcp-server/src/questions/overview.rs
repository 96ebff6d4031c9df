//! `overview`: what happened in a session: agents, turns, what failed, tokens.

use serde_json::{Value, json};
use trace_explain::audit::{FindingCounts, audit_beside};
use trace_explain::costs::{AgentCosts, Costs, ToolCosts};
use trace_explain::postmortem::{TurnVerdict, postmortem};
use trace_explain::words;

use super::asked::{Asked, Subject, subject};
use super::filling::{Filling, Place, end};
use super::row::{moment, number, object, text};
use crate::answer::Page;
use crate::arguments::Arguments;
use crate::problem::Problem;

const NARROW: &str = "postmortem for the failures alone, or query with a WHERE on agent_path";

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    arguments.required("session")?;
    let subject: Subject<Place> = subject(asked, "overview", arguments)?;
    let session = &*subject.session;
    let trace = session.trace();
    let costs = Costs::new(trace, None);
    let failures = postmortem(session).only_attention().turns;
    let mut page = Page::new(&asked.redactor);
    page.head("session", json!(subject.entry.id), |id| format!("session {}", id.as_str().unwrap_or_default()));
    if subject.place.is_none() {
        let models: Vec<&str> = costs.models.iter().map(|model| model.model.as_str()).take(4).collect();
        let ended = trace.ended.map(|ended| ended.unix_ms);
        let total = &costs.total;
        let audit = audit_beside(session).map(|audit| FindingCounts::of(&audit.findings));
        let head = object([
            ("status", json!(trace.status.as_str())),
            ("started", json!(moment(trace.started_at_unix_ms))),
            ("duration_ms", json!(ended.map(|ended| ended.saturating_sub(trace.started_at_unix_ms)))),
            ("agent", json!(subject.entry.agent)),
            ("models", json!(models)),
            ("agents", json!(trace.threads.len())),
            ("turns", json!(total.turns.count)),
            ("inference_calls", json!(total.inference_calls.count)),
            ("tool_calls", json!(total.tool_calls.count)),
            ("failed_tool_calls", json!(total.tool_calls.failed)),
            ("input_tokens", json!(total.tokens.input)),
            ("cached_input_tokens", json!(total.tokens.cached_input)),
            ("output_tokens", json!(total.tokens.output)),
            ("diagnostics", json!(session.diagnostics().iter().count())),
            ("findings", json!(audit)),
        ]);
        page.head("totals", head, totals);
        let has_findings = audit.is_some_and(|counts| counts.high + counts.medium > 0);
        page.head("next", json!(next(&subject.entry.id, failures.first(), has_findings)), |next| {
            format!("ask next: {}", next.as_str().unwrap_or_default())
        });
    }
    let mut filling = Filling::new(&mut page, subject.place);
    filling.list("failures", &failures, |turn| turn.turn_id.clone(), |turn| failure(turn), failure_line);
    filling.list("agents", &costs.agents, |agent| agent.thread_id.clone(), |agent| agent_row(agent), agent_line);
    filling.list("tools", &costs.tools, |tool| tool.tool.clone(), |tool| tool_row(tool), tool_line);
    let next = filling.next()?;
    Ok(end(page, &subject, next, NARROW))
}

/// Returns the tool that tells more, with its arguments.
fn next(session: &str, failure: Option<&TurnVerdict>, has_findings: bool) -> String {
    match failure {
        Some(_) => format!("postmortem session={session}"),
        None if has_findings => format!("audit session={session}"),
        None => format!("context session={session} for what the model saw, or grep session={session} pattern=…"),
    }
}

fn totals(head: &Value) -> String {
    format!(
        "{} {} started {}; {}, {}, {} ({} failed); {} tokens in, {} out{}",
        text(head, "agent"),
        text(head, "status"),
        text(head, "started"),
        words::count(number(head, "agents"), "agent"),
        words::count(number(head, "turns"), "turn"),
        words::count(number(head, "tool_calls"), "tool call"),
        number(head, "failed_tool_calls"),
        words::number(number(head, "input_tokens")),
        words::number(number(head, "output_tokens")),
        audited(&head["findings"]),
    )
}

/// Returns the findings of an audit in words, if there are some.
fn audited(counts: &Value) -> String {
    let [high, medium, low] = ["high", "medium", "low"].map(|severity| number(counts, severity));
    match high + medium + low {
        0 => String::new(),
        all => format!("; {} of the audit ({high} high)", words::count(all, "finding")),
    }
}

fn failure(turn: &TurnVerdict) -> Value {
    let cause = turn.root_cause.as_ref();
    object([
        ("outcome", json!(turn.outcome.as_str())),
        ("agent", json!(turn.agent_path)),
        ("turn", json!(turn.turn_id)),
        ("verdict", json!(turn.verdict)),
        ("cause", json!(cause.map(|cause| cause.category.as_str()))),
        ("object", json!(cause.map(|cause| cause.object.to_string()))),
    ])
}

fn failure_line(row: &Value) -> String {
    format!("{} {}: {}", text(row, "outcome"), text(row, "agent"), text(row, "verdict"))
}

fn agent_row(agent: &AgentCosts) -> Value {
    let own = &agent.own;
    object([
        ("agent", json!(agent.agent_path)),
        ("thread", json!(agent.thread_id)),
        ("nickname", json!(agent.nickname)),
        ("turns", json!(own.turns.count)),
        ("failed_turns", json!(own.turns.failed)),
        ("inference_calls", json!(own.inference_calls.count)),
        ("tool_calls", json!(own.tool_calls.count)),
        ("failed_tool_calls", json!(own.tool_calls.failed)),
        ("input_tokens", json!(own.tokens.input)),
        ("output_tokens", json!(own.tokens.output)),
    ])
}

fn agent_line(row: &Value) -> String {
    format!(
        "agent {}: {} ({} failed), {} ({} failed), {} tokens",
        text(row, "agent"),
        words::count(number(row, "turns"), "turn"),
        number(row, "failed_turns"),
        words::count(number(row, "tool_calls"), "tool call"),
        number(row, "failed_tool_calls"),
        words::number(number(row, "input_tokens").saturating_add(number(row, "output_tokens"))),
    )
}

fn tool_row(tool: &ToolCosts) -> Value {
    let ToolCosts { tool, calls } = tool;
    json!({"tool": tool, "calls": calls.count, "failed": calls.failed, "duration_ms": calls.time.sum_ms})
}

fn tool_line(row: &Value) -> String {
    let calls = words::count(number(row, "calls"), "call");
    format!("tool {}: {calls}, {} failed", text(row, "tool"), number(row, "failed"))
}
