//! `trace show --object`: one object of the graph, and the events that it comes from.

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;
use trace_explain::object::ObjectRef;
use trace_explain::session::SourceLine;
use trace_explain::{Object, Session};
use trace_recorder::log::parse_lines;
use trace_reducer::model::Window;
use trace_reducer::state_json;

use crate::ui::failure::Failure;
use crate::ui::output::{Paint, Terminal};
use crate::ui::text;

/// Most columns of a path or an id.
const MAX_COLUMNS: usize = 200;

/// One object. The output of `--json`.
#[derive(Debug, Serialize)]
struct Report<'s> {
    format: u32,
    bundle: String,
    object: ObjectRef,
    agent_path: Option<&'s str>,
    /// The line of a session file that the object comes from, if the session is imported.
    source: Option<SourceLine<'s>>,
    /// The events that began and ended it, or that first named it.
    events: Vec<EventReport<'s>>,
    /// The object as `state.json` has it.
    state: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct EventReport<'s> {
    seq: u64,
    r#type: String,
    at_unix_ms: i64,
    source: Option<SourceLine<'s>>,
}

/// Prints an object.
///
/// # Errors
///
/// Returns an error if the session has no such object, or if the output cannot be written.
pub(super) fn show(
    bundle: &Path,
    session: &Session,
    name: &ObjectRef,
    is_json: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let object = session.find(name).ok_or_else(|| {
        Failure::usage(format!("the session has no object {name}"))
            .with_hint("`trace query BUNDLE --tables` and `trace reduce` show the objects with their ids")
    })?;
    let (_, state) = state_json::object(session.trace(), object).map_err(Failure::internal)?;
    let state = RawValue::from_string(state).map_err(Failure::internal)?;
    let events = events(session, object, name);
    let source = session.source_of(object).or_else(|| events.first()?.source);
    let report = Report {
        format: 1,
        bundle: bundle.to_string_lossy().into_owned(),
        object: session.name(object),
        agent_path: session.thread_of(object).map(|thread| session.agent_path(thread)),
        source,
        events,
        state,
    };
    if is_json { terminal.print_json(&report) } else { terminal.print(&render(&report, terminal)?) }
}

/// Returns the events that show the beginning and the end of an object, in the order of the log.
fn events<'s>(session: &'s Session, object: Object, name: &ObjectRef) -> Vec<EventReport<'s>> {
    let trace = session.trace();
    let ended = |window: &Window| window.ended.map(|ended| ended.seq);
    let end = match object {
        Object::Thread(it) => ended(&trace.threads[it].execution),
        Object::Turn(it) => ended(&trace.turns[it].execution),
        Object::Inference(it) => ended(&trace.inferences[it].execution),
        Object::Cell(it) => ended(&trace.cells[it].execution),
        Object::Tool(it) => ended(&trace.tools[it].execution),
        Object::Operation(it) => ended(&trace.operations[it].execution),
        Object::CompactionRequest(it) => ended(&trace.compaction_requests[it].execution),
        Object::Item(it) => trace.items[it].accepted.map(|accepted| accepted.seq),
        Object::Session(_) | Object::Compaction(_) | Object::Edge(_) | Object::Payload(_) => None,
    };
    let seqs = [session.seq_of(object), end];
    let names = |payload: &str| matches!(object, Object::Payload(_)) && payload == name.id;
    let Ok(log) = session.bundle().log() else { return Vec::new() };
    let mut events = Vec::new();
    let lines: Vec<_> = log.lines().collect();
    for line in parse_lines(&lines) {
        let Ok(Some(event)) = line.event else { continue };
        let refers = || event.payload.payload_refs().iter().any(|payload| names(payload.raw_payload_id.as_str()));
        if seqs.contains(&Some(event.seq)) || refers() {
            events.push(EventReport {
                seq: event.seq,
                r#type: event.payload.tag().to_owned(),
                at_unix_ms: event.wall_time_unix_ms,
                source: session.source_of_event(event.seq),
            });
        }
    }
    events
}

fn render(report: &Report<'_>, terminal: &Terminal) -> Result<String, Failure> {
    let Paint { strong, dim, .. } = terminal.paint();
    let mut out = format!("{strong}{}{strong:#}\n", text::preview(&report.object.short_name(), MAX_COLUMNS));
    let mut field = |name: &str, value: &str| out.push_str(&format!("  {dim}{name:<6}{dim:#}  {value}\n"));
    if let Some(agent) = report.agent_path {
        field("agent", &text::preview(agent, MAX_COLUMNS));
    }
    if let Some(source) = report.source {
        field("source", &place(source));
    }
    for event in &report.events {
        let source = event.source.filter(|source| report.source.is_none_or(|known| known.line != source.line));
        let at = source.map(|source| format!(", {}", place(source))).unwrap_or_default();
        let guess =
            if event.source.is_some_and(|source| !source.is_timed) { ", its time is not in the file" } else { "" };
        let time = text::moment(event.at_unix_ms);
        field("event", &format!("seq {}, {}, {time}{at}{guess}", event.seq, text::clean(&event.r#type)));
    }
    let state: serde_json::Value = serde_json::from_str(report.state.get()).map_err(Failure::internal)?;
    let state = serde_json::to_string_pretty(&state).map_err(Failure::internal)?;
    // Control characters in texts of the session are escapes in JSON, but not all that a terminal obeys.
    out.push_str(&state.lines().map(|line| format!("  {}\n", text::clean(line))).collect::<String>());
    Ok(out)
}

/// Returns a place as editors and compilers write it.
fn place(source: SourceLine<'_>) -> String {
    format!("{}:{}", text::clean(source.file), source.line)
}
