//! Secrets in the column of a table whose heading names them: CSV, tabs, bars, and the columns of an `INSERT`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::contexts::is_announced;
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::is_secret;
use super::marks::{Mark, Marks};
use super::names::{PASSWORD, sensitive_name};
use super::plausible::Form;
use super::random::is_memorable;

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
pub(crate) fn find(text: &str, names: &[Range<usize>], marks: Marks, found: &mut Vec<Found>) {
    let statements = marks.has(Mark::Insert).then(|| INSERT.captures_iter(text.as_bytes()));
    for captures in statements.into_iter().flatten() {
        if let (Some(whole), Some(columns)) = (captures.get(0), captures.get(1))
            && let Some(columns) = text.get(columns.range())
        {
            rows_of_insert(text, whole.end(), &kinds(columns.split(',')), found);
        }
    }
    if !has_heading(text, names) {
        return;
    }
    for delimiter in [',', '\t', '|', ';', '│', '┃', '║'] {
        let mut written = [0; 4];
        if memchr::memmem::find(text.as_bytes(), delimiter.encode_utf8(&mut written).as_bytes()).is_some() {
            find_delimited(text, delimiter, found);
        }
    }
    if memchr::memmem::find(text.as_bytes(), b"  ").is_some() {
        find_aligned(text, found);
    }
}

/// Returns whether a name of a secret is beside a delimiter, as a heading or the name of a row does.
fn has_heading(text: &str, names: &[Range<usize>]) -> bool {
    let bytes = text.as_bytes();
    let is_mark = |byte: &u8| matches!(byte, b' ' | b'"' | b'`' | b'*');
    // The bars of boxes begin with 0xe2 and end with the others.
    let is_delimiter = |byte: Option<&u8>| matches!(byte, Some(b',' | b'\t' | b'|' | b';' | 0xe2 | 0x82 | 0x83 | 0x91));
    names.iter().any(|name| {
        let behind = bytes[name.end..].iter().take(MAX_PADDING_BYTES).find(|byte| !is_mark(byte));
        let before = bytes[..name.start]
            .iter()
            .rev()
            .take(MAX_PADDING_BYTES)
            .find(|byte| !is_mark(byte) && !byte.is_ascii_alphabetic());
        let is_last =
            matches!(behind, None | Some(b'\n' | b'\r')) && (is_delimiter(before) || has_gap(&bytes[..name.start]));
        (is_delimiter(behind) || is_last || has_gap_behind(&bytes[name.end..]))
            && (sensitive_name(&text[name.clone()]).is_some() || is_spaced_name(text, name))
    })
}

/// Returns whether a name of several words with spaces between ends in another, as `Secret Access Key`.
fn is_spaced_name(text: &str, name: &Range<usize>) -> bool {
    let before = &text.as_bytes()[name.start.saturating_sub(MAX_PADDING_BYTES)..name.start];
    let words = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    text.get(name.start - words..name.end).is_some_and(|whole| sensitive_name(whole.trim()).is_some())
}

/// Returns whether a text ends in the gap between two aligned columns, or begins with one.
fn has_gap(before: &[u8]) -> bool {
    before.ends_with(b"  ") && before.trim_ascii_end().last().is_some_and(u8::is_ascii_graphic)
}

fn has_gap_behind(behind: &[u8]) -> bool {
    let blanks = behind.iter().take(MAX_PADDING_BYTES).take_while(|byte| **byte == b' ').count();
    blanks >= 2 && behind.get(blanks).is_some_and(u8::is_ascii_graphic)
}

/// Most spaces between a heading and its delimiter.
const MAX_PADDING_BYTES: usize = 40;

/// Returns what each column holds.
fn kinds<'a>(headings: impl Iterator<Item = &'a str>) -> Vec<Option<(Kind, String)>> {
    let named = |heading: &str| {
        let name = heading.trim().trim_matches(['"', '`', '\'', '[', ']', '*']).to_owned();
        let kind =
            sensitive_name(&name).or_else(|| matches!(name.as_str(), "pass" | "pw" | "Pass").then_some(PASSWORD));
        kind.map(|kind| (kind, name))
    };
    headings.take(MAX_COLUMNS).map(named).collect()
}

/// Returns whether a cell may be a heading.
fn is_heading(cell: &str) -> bool {
    let cell = cell.trim().trim_matches(['"', '`', '\'', '*']);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.');
    !cell.is_empty()
        && cell.len() <= 40
        && cell.bytes().all(is_name)
        && cell.as_bytes()[0].is_ascii_alphabetic()
        && !cell.starts_with("REG_")
        && !is_announced(cell)
}

/// What the columns of a table are.
#[derive(Debug, Clone)]
enum Columns {
    /// The headings are yet to come.
    Unknown,
    /// Each column has a heading.
    Headed(Vec<Option<(Kind, String)>>),
    /// The first column has names, the second their values.
    Named,
}

fn find_delimited(text: &str, delimiter: char, found: &mut Vec<Found>) {
    let mut columns = Columns::Unknown;
    let mut rows = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let line_start = start;
        start += line.len();
        // Where borders are taken for marks of a layout, nothing is left of a line that draws one.
        if is_ruler(body) || (rows == 0 && body.trim().is_empty()) {
            continue;
        }
        let cells = cells(body, line_start, delimiter);
        match &columns {
            Columns::Headed(kinds) if cells.len() == kinds.len() && rows < MAX_ROWS => {
                rows += 1;
                for (cell, column) in cells.iter().zip(kinds) {
                    if let Some((kind, name)) = column {
                        push(text, cell.clone(), name, kind, found);
                    }
                }
                continue;
            }
            // A value may have the delimiter in it.
            Columns::Headed(kinds) if cells.len() > kinds.len() && rows < MAX_ROWS && delimiter == '|' => {
                if let Some(cells) = rejoined(&cells, kinds) {
                    rows += 1;
                    for (cell, name, kind) in cells {
                        push(text, cell, &name, &kind, found);
                    }
                    continue;
                }
            }
            Columns::Named if cells.len() >= 2 && rows < MAX_ROWS => {
                rows += 1;
                let name = bare(&text[cells[0].clone()]);
                if let Some(kind) = sensitive_name(name) {
                    let last = if cells.len() == 2 { cells[1].end } else { cells[1].end.max(cells[1].start) };
                    push(text, cells[1].start..last, &variable(name), &kind, found);
                }
                continue;
            }
            _ => {}
        }
        rows = 0;
        columns = Columns::Unknown;
        let is_table = cells.len() > 1 && cells.iter().all(|cell| is_heading(&text[cell.clone()]));
        if is_table {
            let named = kinds(cells.iter().map(|cell| &text[cell.clone()]));
            if named.iter().any(Option::is_some) {
                columns = Columns::Headed(named);
            } else if is_of_names(&text[cells[0].clone()], &text[cells[1].clone()]) {
                columns = Columns::Named;
            }
        }
        // A row of a name and a value whose heading is not there.
        if matches!(columns, Columns::Unknown) && is_bar(delimiter) && cells.len() >= 2 {
            let (name, value) = (bare(&text[cells[0].clone()]), bare(&text[cells[1].clone()]));
            if let Some(kind) = sensitive_name(name)
                && (is_announced(value) || (kind == PASSWORD && is_memorable(value)))
            {
                push(text, cells[1].clone(), &variable(name), &kind, found);
            }
        }
    }
}

/// Returns whether a line only draws the border of a table.
fn is_ruler(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.chars().all(|c| {
        matches!(
            c,
            '-' | '+'
                | '|'
                | '='
                | ':'
                | ' '
                | '─'
                | '┼'
                | '├'
                | '┤'
                | '┬'
                | '┴'
                | '═'
                | '╪'
                | '┌'
                | '┐'
                | '└'
                | '┘'
                | '╭'
                | '╮'
                | '╰'
                | '╯'
                | '│'
                | '━'
                | '┏'
                | '┓'
                | '┗'
                | '┛'
                | '┣'
                | '┫'
                | '┳'
                | '┻'
                | '╋'
                | '┡'
                | '┩'
                | '╇'
                | '╞'
                | '╡'
                | '╤'
                | '╧'
                | '╔'
                | '╗'
                | '╚'
                | '╝'
                | '╠'
                | '╣'
                | '╦'
                | '╩'
                | '╬'
                | '║'
                | '┃'
                | '╟'
                | '╢'
                | '╫'
                | '╒'
                | '╕'
                | '╘'
                | '╛'
                | '╓'
                | '╖'
                | '╙'
                | '╜'
                | '╨'
                | '╥'
        )
    }) && trimmed.contains(['-', '=', '─', '═', '+', '━'])
}

/// Joins the cells of a row that has more of them than there are columns, if only one column is that of a secret.
fn rejoined(cells: &[Range<usize>], kinds: &[Option<(Kind, String)>]) -> Option<Vec<(Range<usize>, String, Kind)>> {
    let surplus = cells.len() - kinds.len();
    let mut secret = kinds.iter().enumerate().filter_map(|(at, kind)| Some((at, kind.as_ref()?)));
    let (at, (kind, name)) = secret.next()?;
    if secret.next().is_some() {
        return None;
    }
    Some(vec![(cells[at].start..cells[at + surplus].end, name.clone(), kind.clone())])
}

/// Returns whether the headings of two columns are those of names and values.
fn is_of_names(first: &str, second: &str) -> bool {
    let lower = |text: &str| bare(text).to_ascii_lowercase();
    let (first, second) = (lower(first), lower(second));
    let names = [
        "name",
        "key",
        "variable",
        "setting",
        "field",
        "property",
        "parameter",
        "option",
        "env",
        "secret",
        "item",
        "attribute",
    ];
    let values = ["value", "val", "current", "current value", "content", "data", "default"];
    names.iter().any(|name| first.ends_with(name)) && values.contains(&second.as_str())
}

/// Returns a cell without what emphasizes it.
fn bare(cell: &str) -> &str {
    cell.trim().trim_matches(['"', '`', '\'', '*'])
}

/// Spells a name so that whatever is beside it is its value.
fn variable(name: &str) -> String {
    format!("{}_", name.to_ascii_uppercase())
}

/// Finds the columns of tables without delimiters: what is below a heading, and the values beside their names.
fn find_aligned(text: &str, found: &mut Vec<Found>) {
    let mut columns: Vec<(usize, Option<(Kind, String)>)> = Vec::new();
    let mut is_named = false;
    let mut rows = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let line_start = start;
        start += line.len();
        if is_ruler(body) {
            continue;
        }
        let cells = aligned_cells(body);
        if body.trim().is_empty() || !body.is_ascii() {
            columns.clear();
            is_named = false;
            continue;
        }
        let at = |cell: &Range<usize>| line_start + cell.start..line_start + cell.end;
        if is_named && let [name, value, ..] = cells.as_slice() {
            rows += 1;
            if let Some(kind) = sensitive_name(bare(&body[name.clone()])).filter(|_| rows < MAX_ROWS) {
                push(text, at(value), &variable(bare(&body[name.clone()])), &kind, found);
            }
            continue;
        }
        if !columns.is_empty() && rows < MAX_ROWS {
            let mut is_row = false;
            for cell in &cells {
                // The last column that begins at or before the cell, if the one after it does not.
                let column = columns.iter().rposition(|(from, _)| *from <= cell.start).map(|at| &columns[at]);
                if let Some((from, Some((kind, name)))) = column.filter(|(from, _)| *from == cell.start) {
                    let _ = from;
                    is_row = true;
                    push(text, at(cell), name, kind, found);
                } else if column.is_some_and(|(from, _)| *from == cell.start) {
                    is_row = true;
                }
            }
            if is_row {
                rows += 1;
                continue;
            }
        }
        columns.clear();
        is_named = false;
        rows = 0;
        if cells.len() < 2 || !cells.iter().all(|cell| is_heading(&body[cell.clone()])) {
            continue;
        }
        let named = kinds(cells.iter().map(|cell| &body[cell.clone()]));
        if named.iter().any(Option::is_some) {
            columns = cells.iter().map(|cell| cell.start).zip(named).collect();
        } else {
            is_named = is_of_names(&body[cells[0].clone()], &body[cells[1].clone()]);
        }
    }
}

/// Splits a line where two spaces or more are.
fn aligned_cells(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut cells: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() && cells.len() < MAX_COLUMNS {
        let blanks = bytes[at..].iter().take_while(|byte| **byte == b' ').count();
        let start = at + blanks;
        let end = bytes[start..].windows(2).position(|pair| pair == b"  ").map_or(bytes.len(), |gap| start + gap);
        if end > start {
            let written = &bytes[start..end];
            cells.push(start..start + written.trim_ascii_end().len());
        }
        at = end.max(at + 1);
    }
    cells
}

/// Returns whether a delimiter is a bar, which may also be a border.
fn is_bar(delimiter: char) -> bool {
    matches!(delimiter, '|' | '│' | '┃' | '║')
}

/// Splits a line into its cells. A bar at either end is a border.
fn cells(line: &str, start: usize, delimiter: char) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut at = start;
    for cell in line.split(delimiter) {
        let trimmed = cell.trim();
        let offset = cell.len() - cell.trim_start().len();
        cells.push(at + offset..at + offset + trimmed.len());
        at += cell.len() + delimiter.len_utf8();
        if cells.len() > MAX_COLUMNS {
            return Vec::new();
        }
    }
    if is_bar(delimiter) {
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
    let value = written.trim_matches(['"', '\'', '`', '*']);
    let start = cell.start + written.find(value).unwrap_or_default();
    if is_secret(value, name, Form::Quoted, kind)
        || (is_announced(value) && value.len() >= 10 && !value.contains(char::is_whitespace))
        || (name.ends_with('_') && is_secret(value, name, Form::Environment, kind))
    {
        found.push(Found::new(start..start + value.len(), kind.clone(), Evidence::Context));
    }
}

/// Looks at the rows in parentheses after `VALUES`.
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
        let (mut column, mut depth) = (0, 0);
        let mut cell = at;
        let mut quote = None;
        loop {
            let Some(byte) = bytes.get(at) else { return };
            match (quote, byte) {
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), b'\\') => at += 1,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => quote = Some(*byte),
                (None, b'(') => depth += 1,
                (None, b')') if depth > 0 => depth -= 1,
                (None, b',') if depth > 0 => {}
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
    use crate::redact::assignments::names;
    use crate::redact::found::values_found;

    #[test]
    fn rows_are_looked_at_to_a_limit() {
        let text = format!("name,password\n{}", "joe,h7kQ!zP2m\n".repeat(MAX_ROWS + 5));
        let mut found = Vec::new();
        find(&text, &names(&text).collect::<Vec<_>>(), Marks::of(&text), &mut found);
        assert_eq!(found.len(), MAX_ROWS);
    }

    #[test]
    fn columns_of_tables_are_found() {
        for text in [
            "name,password\njoe,h7kQ!zP2m\n",
            "id\tuser\tpassword\n1\tjoe\th7kQ!zP2m\n",
            "| user | password  | role |\n|------|-----------|------|\n| joe  | h7kQ!zP2m | admin |\n",
            " user | password\n------+----------\n joe | h7kQ!zP2m\n",
            "INSERT INTO users (name, password) VALUES ('ann', NULL), ('joe', 'h7kQ!zP2m');",
            "INSERT INTO users (id, password) VALUES (f(1, 'x'), 'h7kQ!zP2m');",
            "+------+-----------+\n| user | password  |\n+------+-----------+\n| joe  | h7kQ!zP2m |\n+------+-----------+\n",
            "User Name,Access Key Id,Secret Access Key\n\"joe\",AKIA1,h7kQ!zP2m\n",
            "| Variable | Value |\n|---|---|\n| `DB_PASSWORD` | `h7kQ!zP2m` |\n",
            "Key         Value\n---         -----\npassword    h7kQ!zP2m\nusername    app\n",
            "NAME   PASSWORD   AGE\njoe    h7kQ!zP2m  3d\n",
        ] {
            let values =
                values_found(text, |found| find(text, &names(text).collect::<Vec<_>>(), Marks::of(text), found));
            assert_eq!(values, ["h7kQ!zP2m"], "{text}");
        }
        let mut found = Vec::new();
        let text = "the name, password and role\nare things, that matter, much\n";
        find(text, &names(text).collect::<Vec<_>>(), Marks::of(text), &mut found);
        assert!(found.is_empty());
    }
}
