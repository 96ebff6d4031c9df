//! The sessions that other agents stored, as `trace ls` lists them.

use std::cmp::Reverse;
use std::path::Path;

use comfy_table::{Cell, CellAlignment, Color};
use serde::Serialize;
use trace_import::Summary;

use crate::stored::{OWN, Stored};
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;

/// Sessions that are listed without `--all`.
const FIRST_ROWS: usize = 30;

/// Most columns of the name of a model or a directory.
const MAX_COLUMNS: usize = 40;

/// One session. An element of the array of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    session: String,
    format: &'static str,
    agent: &'static str,
    id: String,
    agent_version: Option<String>,
    title: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    /// How the last turn ended; `running` if the file does not show its end.
    status: Option<String>,
    started_at_unix_ms: Option<i64>,
    ended_at_unix_ms: Option<i64>,
    threads: u64,
    turns: u64,
    tool_calls: u64,
    failed_tool_calls: u64,
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    /// Why the session cannot be read.
    problem: Option<String>,
}

/// Returns the sessions as they are listed, newest first.
pub(super) fn entries(sessions: Vec<Stored>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = sessions.into_iter().map(entry).collect();
    entries.sort_by(|a, b| {
        let age = |entry: &Entry| Reverse(entry.started_at_unix_ms);
        age(a).cmp(&age(b)).then_with(|| a.session.cmp(&b.session))
    });
    entries
}

fn entry(session: Stored) -> Entry {
    let (summary, problem) = match session.summary {
        Ok(summary) => (summary, None),
        Err(problem) => (Summary::default(), Some(problem)),
    };
    let sum = |count: fn(&trace_import::Usage) -> u64| {
        summary.spent.iter().fold(0, |sum: u64, spent| sum.saturating_add(count(&spent.usage)))
    };
    Entry {
        session: session.path.to_string_lossy().into_owned(),
        format: session.format,
        agent: session.agent,
        input_tokens: sum(|usage| usage.input),
        cached_input_tokens: sum(|usage| usage.cached_input),
        output_tokens: sum(|usage| usage.output),
        id: summary.id,
        agent_version: summary.agent_version,
        title: summary.title,
        cwd: summary.cwd,
        model: summary.model,
        status: summary.outcome,
        started_at_unix_ms: summary.started_at,
        ended_at_unix_ms: summary.ended_at,
        threads: summary.threads,
        turns: summary.turns,
        tool_calls: summary.tool_calls,
        failed_tool_calls: summary.failed_tool_calls,
        problem,
    }
}

impl Entry {
    /// Returns whether the session is a recording.
    pub(super) fn is_recorded(&self) -> bool {
        self.format == OWN
    }
}

/// Formats the sessions as a table.
pub(super) fn render(entries: &[Entry], all: bool, terminal: &Terminal) -> String {
    let shown = if all { entries.len() } else { FIRST_ROWS.min(entries.len()) };
    let mut table =
        terminal.table(&["STARTED", "AGENT", "STATUS", "TURNS", "TOKENS IN", "OUT", "MODEL", "FOLDER", "SESSION", ""]);
    for entry in &entries[..shown] {
        let status = entry.status.as_deref().unwrap_or("-");
        let color = match status {
            "failed" => Some(Color::DarkRed),
            "cancelled" | "aborted" => Some(Color::DarkYellow),
            "running" => Some(Color::DarkCyan),
            _ => None,
        };
        let status = Cell::new(text::clean(status));
        let right = |count: u64| Cell::new(text::number(count)).set_alignment(CellAlignment::Right);
        let short = |text: &Option<String>| text::preview(text.as_deref().unwrap_or("-"), MAX_COLUMNS);
        // The end of a path tells more than its beginning.
        let folder = entry
            .cwd
            .as_deref()
            .map(|cwd| Path::new(cwd).file_name().unwrap_or_default().to_string_lossy().into_owned());
        let id = if entry.id.is_empty() || entry.is_recorded() { &entry.session } else { &entry.id };
        table.add_row(row(vec![
            Cell::new(entry.started_at_unix_ms.map(text::short_moment).unwrap_or_default()),
            Cell::new(entry.agent),
            color.map_or(status.clone(), |color| status.fg(color)),
            right(entry.turns),
            right(entry.input_tokens),
            right(entry.output_tokens),
            Cell::new(short(&entry.model)),
            Cell::new(short(&folder)),
            // The id is shown in full, so that it can be pasted after `trace show`.
            Cell::new(text::clean(id)),
            Cell::new(entry.problem.as_deref().map(|problem| text::preview(problem, 100)).unwrap_or_default())
                .fg(Color::DarkYellow),
        ]));
    }
    let mut lines = String::new();
    push_table(&mut lines, "", table);
    if shown < entries.len() {
        let more = text::number((entries.len() - shown) as u64);
        lines.push_str(&format!("... and {more} more (--all lists them)\n"));
    }
    lines
}
