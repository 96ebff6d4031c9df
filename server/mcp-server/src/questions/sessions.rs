//! `sessions`: lists recorded sessions, newest first.

use std::cmp::Reverse;
use std::path::Path;

use serde_json::{Value, json};
use trace_explain::words;

use super::asked::Asked;
use super::row::{MAX_ROWS, moment, number, object, text};
use crate::answer::{Cursor, Page};
use crate::arguments::Arguments;
use crate::library::{Entry, Shelf, Summary};
use crate::problem::Problem;

/// Rows of a page, unless the call asks for another number.
const DEFAULT_ROWS: u64 = 10;

/// Most characters of a prompt.
const PROMPT_CHARS: usize = 120;

/// Sessions that are summarized at a time.
const LOOKED_AT: usize = 16;

const NARROW: &str = "since=7d, status=failed, or query=word of the prompt";

/// What the list shows.
struct Wanted<'a> {
    query: Option<String>,
    since: Option<i64>,
    status: Option<&'a str>,
    cwd: Option<&'a Path>,
}

impl Wanted<'_> {
    fn fits(&self, entry: &Entry, summary: &Summary) -> bool {
        let has = |query: &String| {
            let texts = [Some(&entry.id), summary.prompt.as_ref()].into_iter().flatten().chain(&entry.other_ids);
            texts.into_iter().any(|text| text.to_lowercase().contains(query))
        };
        let status = |status: &str| {
            summary.outcome.as_deref() == Some(status) || (status == "failed" && summary.failed_turns > 0)
        };
        let last = summary.ended_unix_ms.or(entry.started_unix_ms);
        self.query.as_ref().is_none_or(has)
            && self.since.is_none_or(|since| last.is_some_and(|last| last >= since))
            && self.status.is_none_or(status)
            && self.cwd.is_none_or(|cwd| summary.cwd.as_deref().is_some_and(|at| Path::new(at).starts_with(cwd)))
    }
}

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    let wanted = Wanted {
        query: arguments.text("query")?.map(str::to_lowercase),
        since: arguments.text("since")?.map(|since| asked.library.moment(since)).transpose()?,
        status: arguments.one_of("status", &["completed", "failed", "cancelled", "aborted", "running"])?,
        cwd: arguments.text("cwd")?.map(Path::new),
    };
    let cursors = Cursor::of("sessions", arguments.all());
    let begin: Option<(i64, u64)> = arguments.text("cursor")?.map(|cursor| cursors.read(cursor)).transpose()?;
    let rows = arguments.number("limit", 1..=MAX_ROWS)?.unwrap_or(DEFAULT_ROWS);
    let shelf = Shelf::of(&*asked.library)?;
    let mut page = Page::new(&asked.redactor);
    page.limit_rows(usize::try_from(rows).unwrap_or(usize::MAX));
    page.head("recorded", json!(shelf.0.len()), |_| String::new());
    page.list("sessions");
    let from = begin.map_or(0, |(at, key)| shelf.0.partition_point(|entry| entry.place() <= (Reverse(at), key)));
    let mut last = None;
    // With a few rows, not many more than those need to be looked at.
    let step = LOOKED_AT.min(usize::try_from(rows).unwrap_or(LOOKED_AT) + 1);
    'all: for entries in shelf.0[from..].chunks(step) {
        for (entry, summary) in entries.iter().zip(asked.library.summaries(entries)) {
            if !wanted.fits(entry, &summary) {
                continue;
            }
            if !page.row("sessions", row(entry, &summary), line) {
                break 'all;
            }
            last = Some(entry.place());
        }
    }
    if page.rows() == 0 {
        page.say(match shelf.0.len() {
            0 => "nothing was recorded, and no agent of this user has a session",
            _ => "no session matches; leave an argument out",
        });
    }
    match last.filter(|_| page.is_full()) {
        Some((Reverse(at), key)) => Ok(page.end_at(cursors.write(&(at, key)), NARROW)),
        None => Ok(page.end()),
    }
}

fn row(entry: &Entry, summary: &Summary) -> Value {
    let took =
        entry.started_unix_ms.zip(summary.ended_unix_ms).map(|(began, ended)| ended.saturating_sub(began).max(0));
    let prompt = summary.prompt.as_deref().map(|prompt| trace_text::cut(prompt.trim(), PROMPT_CHARS).into_owned());
    object([
        ("session", json!(entry.id)),
        ("agent", json!(entry.agent)),
        ("started", json!(entry.started_unix_ms.and_then(moment))),
        ("duration_ms", json!(took)),
        ("prompt", json!(prompt)),
        ("outcome", json!(summary.outcome)),
        ("agents", json!(summary.agents)),
        ("turns", json!(summary.turns)),
        ("failed_turns", json!(summary.failed_turns)),
        ("tool_calls", json!(summary.tool_calls)),
        ("failed_tool_calls", json!(summary.failed_tool_calls)),
        ("input_tokens", json!(summary.input_tokens)),
        ("output_tokens", json!(summary.output_tokens)),
        ("model", json!(summary.model)),
        ("cwd", json!(summary.cwd)),
        ("problem", json!(summary.problem)),
    ])
}

fn line(row: &Value) -> String {
    let what = match row["problem"].as_str() {
        Some(problem) => format!("cannot be read: {problem}"),
        None => format!(
            "{}, {} ({} failed), {} ({} failed), {}, {} tokens: {}",
            row["outcome"].as_str().unwrap_or("no turn"),
            words::count(number(row, "turns"), "turn"),
            number(row, "failed_turns"),
            words::count(number(row, "tool_calls"), "tool call"),
            number(row, "failed_tool_calls"),
            words::count(number(row, "agents"), "agent"),
            words::number(number(row, "input_tokens").saturating_add(number(row, "output_tokens"))),
            text(row, "prompt"),
        ),
    };
    format!("{} {} {} {what}", text(row, "session"), text(row, "agent"), text(row, "started"))
}
