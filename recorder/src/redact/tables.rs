//! Secrets in the column of a table whose heading names them: CSV, tabs, bars, and the columns of an `INSERT`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::assignments::names;
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::is_secret;
use super::names::{PASSWORD, sensitive_name};
use super::plausible::Form;

/// Most rows below a heading that are looked at.
const MAX_ROWS: usize = 2000;

/// Most columns of a table.
const MAX_COLUMNS: usize = 64;

static INSERT: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"(?i)\binsert\s{1,9}(?:ignore\s{1,9})?into\s{1,9}[^\s(]{1,120}\s{0,9}\(([^()\n]{1,2000})\)\s{0,9}values\s{0,9}")
        .unicode(false)
        .build()
        .expect("the built-in patterns are tested")
});

/// Finds the secrets of tables.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    for captures in INSERT.captures_iter(text.as_bytes()) {
        if let (Some(whole), Some(columns)) = (captures.get(0), captures.get(1))
            && let Some(columns) = text.get(columns.range())
        {
            rows_of_insert(text, whole.end(), &kinds(columns.split(',')), found);
        }
    }
    if !has_heading(text) {
        return;
    }
    for delimiter in [',', '\t', '|', ';'] {
        if memchr::memchr(delimiter as u8, text.as_bytes()).is_some() {
            find_delimited(text, delimiter, found);
        }
    }
}

/// Says whether a name of a secret stands beside a delimiter, as a heading does.
fn has_heading(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_mark = |byte: &u8| matches!(byte, b' ' | b'"' | b'`');
    let is_delimiter = |byte: Option<&u8>| matches!(byte, Some(b',' | b'\t' | b'|' | b';'));
    names(text).any(|name| {
        let behind = bytes[name.end..].iter().take(MAX_PADDING_BYTES).find(|byte| !is_mark(byte));
        let before = bytes[..name.start].iter().rev().take(MAX_PADDING_BYTES).find(|byte| !is_mark(byte));
        let is_last = matches!(behind, None | Some(b'\n' | b'\r')) && is_delimiter(before);
        (is_delimiter(behind) || is_last) && sensitive_name(&text[name]).is_some()
    })
}

/// Most blanks between a heading and its delimiter.
const MAX_PADDING_BYTES: usize = 40;

/// Returns what each column holds.
fn kinds<'a>(headings: impl Iterator<Item = &'a str>) -> Vec<Option<(Kind, String)>> {
    let named = |heading: &str| {
        let name = heading.trim().trim_matches(['"', '`', '\'', '[', ']']).to_owned();
        let kind =
            sensitive_name(&name).or_else(|| matches!(name.as_str(), "pass" | "pw" | "Pass").then_some(PASSWORD));
        kind.map(|kind| (kind, name))
    };
    headings.take(MAX_COLUMNS).map(named).collect()
}

/// Says whether a cell may be a heading.
fn is_heading(cell: &str) -> bool {
    let cell = cell.trim().trim_matches(['"', '`', '\'']);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.');
    !cell.is_empty() && cell.len() <= 40 && cell.bytes().all(is_name) && cell.as_bytes()[0].is_ascii_alphabetic()
}

fn find_delimited(text: &str, delimiter: char, found: &mut Vec<Found>) {
    let mut columns: Vec<Option<(Kind, String)>> = Vec::new();
    let mut rows = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let cells = cells(body, start, delimiter);
        start += line.len();
        if !columns.is_empty() && cells.len() == columns.len() && rows < MAX_ROWS {
            rows += 1;
            for (cell, column) in cells.iter().zip(&columns) {
                if let Some((kind, name)) = column {
                    push(text, cell.clone(), name, kind, found);
                }
            }
            continue;
        }
        columns.clear();
        rows = 0;
        let is_table = cells.len() > 1 && cells.iter().all(|cell| is_heading(&text[cell.clone()]));
        if is_table {
            let named = kinds(cells.iter().map(|cell| &text[cell.clone()]));
            if named.iter().any(Option::is_some) {
                columns = named;
            }
        }
    }
}

/// Splits a line into its cells. A bar at either end is a border.
fn cells(line: &str, start: usize, delimiter: char) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut at = start;
    for cell in line.split(delimiter) {
        let trimmed = cell.trim();
        let offset = cell.len() - cell.trim_start().len();
        cells.push(at + offset..at + offset + trimmed.len());
        at += cell.len() + 1;
        if cells.len() > MAX_COLUMNS {
            return Vec::new();
        }
    }
    if delimiter == '|' {
        if cells.first().is_some_and(Range::is_empty) {
            cells.remove(0);
        }
        if cells.last().is_some_and(Range::is_empty) {
            cells.pop();
        }
    }
    cells
}

fn push(text: &str, cell: Range<usize>, name: &str, kind: &Kind, found: &mut Vec<Found>) {
    let written = &text[cell.clone()];
    let value = written.trim_matches(['"', '\'', '`']);
    let start = cell.start + written.find(value).unwrap_or_default();
    if is_secret(value, name, Form::Quoted, kind) {
        found.push(Found::new(start..start + value.len(), kind.clone(), Evidence::Context));
    }
}

/// Looks at the rows in parentheses behind `VALUES`.
fn rows_of_insert(text: &str, from: usize, columns: &[Option<(Kind, String)>], found: &mut Vec<Found>) {
    if columns.iter().all(Option::is_none) {
        return;
    }
    let bytes = text.as_bytes();
    let mut at = from;
    for _ in 0..MAX_ROWS {
        if bytes.get(at) != Some(&b'(') {
            return;
        }
        at += 1;
        let mut column = 0;
        let mut cell = at;
        let mut quote = None;
        loop {
            let Some(byte) = bytes.get(at) else { return };
            match (quote, byte) {
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), b'\\') => at += 1,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => quote = Some(*byte),
                (None, b',' | b')') => {
                    if let (Some(Some((kind, name))), Some(written)) = (columns.get(column), text.get(cell..at)) {
                        let offset = written.len() - written.trim_start().len();
                        push(text, cell + offset..cell + offset + written.trim().len(), name, kind, found);
                    }
                    column += 1;
                    cell = at + 1;
                    if *byte == b')' {
                        break;
                    }
                }
                (None, b'\n' | _) => {}
            }
            at += 1;
        }
        at += 1;
        while bytes.get(at).is_some_and(|byte| matches!(byte, b',' | b' ' | b'\n' | b'\t')) {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_tables_are_found() {
        for text in [
            "name,password\njoe,h7kQ!zP2m\n",
            "id\tuser\tpassword\n1\tjoe\th7kQ!zP2m\n",
            "| user | password  | role |\n|------|-----------|------|\n| joe  | h7kQ!zP2m | admin |\n",
            " user | password\n------+----------\n joe | h7kQ!zP2m\n",
            "INSERT INTO users (name, password) VALUES ('ann', NULL), ('joe', 'h7kQ!zP2m');",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            let values: Vec<_> = found.into_iter().map(|found| &text[found.span]).collect();
            let has_table = text.starts_with(" user") || values == ["h7kQ!zP2m"];
            assert!(has_table, "{text}: {values:?}");
        }
        let mut found = Vec::new();
        find("the name, password and role\nare things, that matter, much\n", &mut found);
        assert!(found.is_empty());
    }
}
