//! `query`: SQL over sessions.

use serde_json::{Map, Value, json};
use trace_explain::words;
use trace_query::{Query, QueryError, named};
use trace_text::Usage;
use xxhash_rust::xxh3::xxh3_64;

use super::asked::Asked;
use crate::answer::{Cursor, Page};
use crate::arguments::Arguments;
use crate::library::{Entry, LATEST, Shelf};
use crate::problem::Problem;
use crate::resources;

/// Most rows that a call can page to.
pub const MAX_QUERY_ROWS: u64 = 10_000;

/// Most sessions of one query.
pub const MAX_QUERY_SESSIONS: usize = 64;

/// Rows that are asked for beside those of the pages before. Of narrow rows, about so many fit onto a page.
const ROWS_AHEAD: u64 = 300;

const NARROW: &str = "fewer columns, substr(text, 1, 80), or LIMIT";

pub(super) async fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    let sql = statement(arguments.required("sql")?)?;
    let cursors = Cursor::of("query", arguments.all());
    // Rows have no ids, and their order is the statement's. So the place is a number of rows, and it is only good for the same sessions.
    let (begin, of): (u64, Option<u64>) = match arguments.text("cursor")? {
        Some(cursor) => {
            let (begin, of) = cursors.read(cursor)?;
            (begin, Some(of))
        }
        None => (0, None),
    };
    let names = arguments.text("session")?.unwrap_or(LATEST).to_owned();
    let library = asked.library.clone();
    let checked = sql.to_owned();
    let prepared = tokio::task::spawn_blocking(move || {
        let query = Query::new(&checked).map_err(problem)?;
        Ok::<_, Problem>((query.columns().to_vec(), entries(&Shelf::of(&*library)?, &names)?))
    });
    let internal = |_| Err(Problem::new("an internal error: this is a bug in trace; stderr has more"));
    let (columns, entries) = prepared.await.unwrap_or_else(internal)?;
    let sessions = xxh3_64(&entries.iter().flat_map(|entry| entry.key().to_le_bytes()).collect::<Vec<u8>>());
    if of.is_some_and(|of| of != sessions) {
        return Err(Problem::new("the cursor is of other sessions: a newer one was recorded meanwhile")
            .with_hint("name the session by its id, and repeat the call without `cursor`"));
    }
    let limit = begin.saturating_add(ROWS_AHEAD).min(MAX_QUERY_ROWS);
    let rows = asked.library.rows(sql, &entries, limit).await?;
    let mut page = Page::new(&asked.redactor);
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).take(3).collect();
    page.head("sessions", json!(ids), |_| String::new());
    page.head("columns", json!(columns), |columns| {
        let columns = columns.as_array().into_iter().flatten().map(|column| column.as_str().unwrap_or_default());
        columns.collect::<Vec<_>>().join(" | ")
    });
    page.list("rows");
    let count = rows.len() as u64;
    let from = usize::try_from(begin).unwrap_or(usize::MAX);
    for row in rows.iter().skip(from) {
        let row: Map<String, Value> = serde_json::from_str(row).map_err(Problem::new)?;
        let row: Vec<Value> = row.into_iter().map(|(_, value)| value).collect();
        if !page.row("rows", row.into(), line) {
            break;
        }
    }
    if page.rows() == 0 && begin == 0 {
        page.say("no row");
    }
    let next = begin + page.rows() as u64;
    if next < count || count == limit {
        if next >= MAX_QUERY_ROWS {
            let rows = words::number(MAX_QUERY_ROWS);
            page.say(&format!("more than {rows} rows; the rest cannot be read. Narrow the query: {NARROW}"));
            return Ok(page.end());
        }
        return Ok(page.end_at(cursors.write(&(next, sessions)), NARROW));
    }
    Ok(page.end())
}

/// Returns the statement, or the one that `@NAME` stands for.
fn statement(sql: &str) -> Result<&str, Problem> {
    let Some(name) = sql.trim().strip_prefix('@') else { return Ok(sql) };
    named::find(name).map(|query| query.sql).ok_or_else(|| {
        let names: Vec<&str> = named::all().iter().map(|query| query.name).collect();
        Problem::new(format!("there is no named query {}", trace_text::quoted(name, 60)))
            .with_hint(format!("there are @{}", names.join(", @")))
    })
}

/// Returns the sessions that a text names: one, or several separated by commas. No session is named twice.
fn entries(shelf: &Shelf, names: &str) -> Result<Vec<Entry>, Problem> {
    let mut entries: Vec<Entry> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let entry = shelf.find(name)?;
        if !entries.contains(entry) {
            entries.push(entry.clone());
        }
        if entries.len() > MAX_QUERY_SESSIONS {
            return Err(Problem::new(format!("a query is over {MAX_QUERY_SESSIONS} sessions at most")));
        }
    }
    if entries.is_empty() {
        return Err(Problem::new("`session` of `query` names no session"));
    }
    Ok(entries)
}

/// Returns the problem of a statement that is not accepted.
fn problem(error: QueryError) -> Problem {
    let hint = match &error {
        QueryError::Sql { message, .. } if message.starts_with("no such table") => {
            format!("the tables and views are {}", resources::table_names().join(", "))
        }
        QueryError::Sql { message, .. } if message.contains("column") => {
            format!("read {} for the columns of a table", resources::TABLE_TEMPLATE)
        }
        QueryError::Sql { .. } => format!("the SQL is SQLite's; read {} for the tables", resources::SCHEMA),
        QueryError::NotAllowed { .. } => "a query is one SELECT; recordings are never changed".to_owned(),
        QueryError::SeveralStatements => "one statement can have parts: WITH a AS (SELECT …) SELECT …".to_owned(),
        _ => return Problem::new(error),
    };
    Problem::new(error).with_hint(hint)
}

fn line(row: &Value) -> String {
    let cells = row.as_array().into_iter().flatten().map(|cell| match cell {
        Value::String(text) => trace_text::preview(text, Usage::Prose, 80),
        Value::Null => String::new(),
        other => other.to_string(),
    });
    cells.collect::<Vec<_>>().join(" | ")
}
