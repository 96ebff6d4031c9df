//! Errors of a query, with the place in its text.

use trace_query::QueryError;
use unicode_width::UnicodeWidthStr;

use crate::ui::failure::Failure;
use crate::ui::text;

/// Most columns of a line of SQL that are shown before and after an error.
const MAX_EXCERPT_COLUMNS: usize = 60;

/// Returns the failure for an error of a query. `sql` is the text of the query.
pub(super) fn failure(error: QueryError, sql: Option<&str>) -> Failure {
    match error {
        QueryError::Sql { message, at } => {
            let mut failure = Failure::usage(&message);
            if let (Some(sql), Some(at)) = (sql, at) {
                failure = failure.with_excerpt(excerpt(sql, at));
            }
            match hint(&message) {
                Some(hint) => failure.with_hint(hint),
                None => failure,
            }
        }
        QueryError::SeveralStatements => {
            Failure::usage(error).with_hint("one statement can have several parts: WITH a AS (SELECT ...) SELECT ...")
        }
        QueryError::Parameter { .. } => Failure::usage(error).with_hint("write the value instead"),
        QueryError::NotAllowed { .. } | QueryError::Empty | QueryError::TooLong { .. } => Failure::usage(error),
        QueryError::Failed { .. } => Failure::data(error),
        QueryError::TimedOut { .. } => Failure::data(error).with_hint("--timeout SECONDS allows more time"),
        QueryError::OutOfMemory => {
            Failure::data(error).with_hint("a WHERE clause or a LIMIT reduces the rows to sort and to group")
        }
        QueryError::Output(error) => crate::ui::output::stdout_failure(error),
        QueryError::Database(_) | QueryError::File(_) => Failure::data(error),
        QueryError::NotFilled => Failure::internal(error),
    }
}

fn hint(message: &str) -> Option<&'static str> {
    if message.starts_with("no such table") {
        Some("`trace query --tables` lists the tables")
    } else if message.starts_with("no such column") || message.starts_with("ambiguous column") {
        Some("`trace query --tables TABLE` lists the columns of a table")
    } else if message.starts_with("no such function") {
        Some("`trace query --tables` lists the functions beside those of SQLite")
    } else {
        None
    }
}

/// Returns the line of a text that contains the byte at `at`, with a mark below the byte.
fn excerpt(sql: &str, at: usize) -> String {
    let mut at = at.min(sql.len());
    while !sql.is_char_boundary(at) {
        at -= 1;
    }
    let (before, behind) = sql.split_at(at);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let behind = behind.split('\n').next().unwrap_or_default();
    let skipped = before.char_indices().rev().nth(MAX_EXCERPT_COLUMNS).map(|(start, _)| start);
    let before = match skipped {
        Some(start) => format!("…{}", text::clean(&before[start..])),
        None => text::clean(before).into_owned(),
    };
    let behind: String = behind.chars().take(MAX_EXCERPT_COLUMNS).collect();
    let mark = " ".repeat(before.width());
    format!("  {before}{}\n  {mark}^\n", text::clean(&behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_marked() {
        assert_eq!(excerpt("SELECT x\nFROM ü, nowhere\n", 18), "  FROM ü, nowhere\n          ^\n");
        assert_eq!(excerpt("a", 9), "  a\n   ^\n");
        let long = format!("SELECT {} nowhere {}", "x, ".repeat(100), "y".repeat(100));
        let shown = excerpt(&long, long.find("nowhere").expect("is there"));
        insta::assert_snapshot!(shown, @r"
        …x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x,  nowhere yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
                                                                      ^
        ");
    }
}
