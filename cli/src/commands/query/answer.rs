//! The answer of a query in each of its forms, with notes about what is missing.

use std::io::{self, Write};

use trace_query::{Database, Limits, Outcome, Query, QueryError, TakeAnswer};

use super::problem::failure;
use super::rows::Cells;
use super::watchdog::Watchdog;
use super::{rows, table};
use crate::ui::failure::Failure;
use crate::ui::output::{Terminal, json_stdout};
use crate::ui::text;

/// Most columns of the reason for a null.
const MAX_NOTE_COLUMNS: usize = 300;

/// The form of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A table for people.
    Table,
    /// An array of objects.
    Json,
    /// An object per line.
    JsonLines,
    /// Comma-separated values.
    Csv(Cells),
}

/// Runs the query and writes its answer, and then notes about what is missing in it.
pub(super) fn write(
    form: Form,
    terminal: &Terminal,
    database: &mut Database,
    query: &Query,
    limits: &Limits,
    watchdog: &Watchdog,
) -> Result<(), Failure> {
    let mut ask = |answer: &mut dyn TakeAnswer| {
        database.ask(query, limits, &mut watchdog.watched(answer)).map_err(|error| failure(error, Some(query.sql())))
    };
    let mut cut_cells = 0;
    let outcome = match form {
        Form::Json => {
            let mut rows = rows::Json::array(json_stdout());
            let outcome = ask(&mut rows)?;
            rows.end().map(|()| outcome)
        }
        Form::JsonLines => {
            let mut rows = rows::Json::lines(json_stdout());
            let outcome = ask(&mut rows)?;
            rows.end().map(|()| outcome)
        }
        Form::Csv(cells) => {
            let mut rows = rows::Csv::new(cells);
            let outcome = ask(&mut rows)?;
            rows.end().map(|()| outcome)
        }
        Form::Table => {
            let mut rows = table::Cells::default();
            let outcome = ask(&mut rows)?;
            let shown = rows.render(terminal);
            cut_cells = shown.cut_cells;
            terminal.print(&shown.text)?;
            Ok(outcome)
        }
    };
    let outcome = outcome.map_err(|error| failure(QueryError::Output(error), None))?;
    say(terminal, &outcome, limits, cut_cells);
    Ok(())
}

/// Prints notes about what an answer lacks to stderr.
fn say(terminal: &Terminal, outcome: &Outcome, limits: &Limits, cut_cells: u64) {
    let mut lines = String::new();
    let mut note = |text: String| lines.push_str(&terminal.note_line(&text));
    if let (true, Some(limit)) = (outcome.is_cut, limits.rows) {
        note(format!("there are more than {}; --limit 0 writes all", text::count(limit, "row")));
    }
    if cut_cells > 0 {
        let are = if cut_cells == 1 { "is" } else { "are" };
        note(format!("{} {are} cut; --json, --jsonl and --csv write them in full", text::count(cut_cells, "cell")));
    }
    for reason in &outcome.notes {
        note(format!("a payload is null: {}", text::preview(reason, MAX_NOTE_COLUMNS)));
    }
    if outcome.notes_left_out > 0 {
        let times = text::number(outcome.notes_left_out);
        note(format!("a payload is null {times} more times; payload_error(bundle_id, payload_id) says why"));
    }
    let _ = io::stderr().write_all(lines.as_bytes());
}
