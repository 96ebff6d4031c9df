//! `grep`: lines that models saw or tools printed.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trace_explain::grep::{CaseRule, Line, LineKind, Matcher, Selection, Syntax, TextHits, WholeWords, grep};
use trace_explain::why::Kind;
use trace_explain::words;

use super::asked::Asked;
use super::filling::{Filling, Place};
use super::row::{MAX_ROWS, number, object, text};
use crate::answer::{Cursor, Page};
use crate::arguments::Arguments;
use crate::library::{Entry, Shelf};
use crate::problem::Problem;

/// Rows of a page, unless the call asks for another number.
const DEFAULT_ROWS: u64 = 20;

/// Which sessions are searched if the call names none.
const DEFAULT_SINCE: &str = "7d";

/// Most characters of a line that matches, around the match.
const MATCH_CHARS: usize = 300;

/// Most characters of the lines around it.
const AROUND_CHARS: usize = 120;

/// Longest search of one call, in seconds. What is left is searched by the next call.
pub const MAX_SECONDS: u64 = 20;

const NARROW: &str = "session=latest, agent=/root, kind=tool_output, or a longer pattern";

/// The sessions of a search, and where it goes on.
struct Searched {
    entries: Vec<Entry>,
    place: Option<Place>,
}

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    let pattern = arguments.required("pattern")?;
    let case = if arguments.flag("ignore_case")? { CaseRule::Ignored } else { CaseRule::Exact };
    let matcher = Matcher::new(&[pattern], Syntax::Regex, case, WholeWords::No)
        .map_err(|error| Problem::new(error).with_hint("escape characters such as ( [ { . * to search for them"))?;
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let kind = arguments.one_of("kind", &kinds)?;
    let selection = Selection {
        threads: arguments.text("agent")?.map(str::to_owned).into_iter().collect(),
        kinds: Kind::ALL.into_iter().filter(|known| Some(known.as_str()) == kind).collect(),
        before: 1,
        after: 1,
        ..Selection::default()
    };
    let rows = arguments.number("limit", 1..=MAX_ROWS)?.unwrap_or(DEFAULT_ROWS);
    let cursors = Cursor::of("grep", arguments.all());
    let Searched { entries, mut place } = searched(asked, cursors, arguments)?;
    let mut page = Page::new(&asked.redactor);
    page.limit_rows(usize::try_from(rows).unwrap_or(usize::MAX));
    page.list("matches");
    let began = Instant::now();
    let (mut looked_at, mut unreadable, mut agents) = (0, 0, Vec::new());
    let mut next = None;
    for entry in &entries {
        if looked_at > 0 && began.elapsed() > Duration::from_secs(MAX_SECONDS) {
            next = Some((entry.clone(), None));
            break;
        }
        looked_at += 1;
        // One session that cannot be read does not keep the others away.
        let Ok(session) = asked.library.open(entry) else {
            unreadable += 1;
            place = None;
            continue;
        };
        let found = grep(&session, &matcher, &selection);
        if agents.len() < 8 && entries.len() == 1 {
            agents = session.trace().threads.handles().take(8).map(|it| session.agent_path(it).to_owned()).collect();
        }
        let matches: Vec<Match<'_>> = found.texts.iter().flat_map(matches).collect();
        let mut filling = Filling::new(&mut page, place.take());
        let id = |it: &Match<'_>| (it.hits.object.to_string(), it.hits.seq, it.line.line_number);
        filling.list("matches", matches, id, |it| it.row(asked, entry, &matcher), line);
        if let Some(place) = filling.next()? {
            next = Some((entry.clone(), Some(place)));
            break;
        }
        if page.is_full() {
            // Nothing of this session fitted, so it begins the next page.
            next = Some((entry.clone(), None));
            break;
        }
    }
    page.head("searched", json!(looked_at), |_| String::new());
    if unreadable > 0 {
        page.head("unreadable", json!(unreadable), |n| format!("{n} sessions could not be read"));
    }
    if page.rows() == 0 {
        let of = match &*agents {
            [] => String::new(),
            agents => format!(" Its agents are {}.", agents.join(", ")),
        };
        let searched = words::count(looked_at, "session");
        page.say(&format!("no line matches in {searched}.{of}"));
    }
    match next {
        Some((entry, place)) => Ok(page.end_at(cursors.write(&(entry.place().0.0, entry.key(), place)), NARROW)),
        None => Ok(page.end()),
    }
}

/// Returns the sessions that a call searches, newest first, from the one on that its cursor is of.
fn searched(asked: &Asked, cursors: Cursor, arguments: Arguments<'_>) -> Result<Searched, Problem> {
    let shelf = Shelf::of(&*asked.library)?;
    let begin: Option<(i64, u64, Option<Place>)> =
        arguments.text("cursor")?.map(|cursor| cursors.read(cursor)).transpose()?;
    let since = arguments.text("since")?;
    if let Some(name) = arguments.text("session")? {
        if since.is_some() {
            return Err(Problem::new("`grep` takes either `session` or `since`"));
        }
        let entry = match &begin {
            Some((_, key, _)) => shelf.with_key(*key)?,
            None => shelf.find(name)?,
        };
        return Ok(Searched { entries: vec![entry.clone()], place: begin.and_then(|(.., place)| place) });
    }
    let since = asked.library.moment(since.unwrap_or(DEFAULT_SINCE))?;
    let from = begin.map_or(0, |(at, key, _)| shelf.0.partition_point(|entry| entry.place() < (Reverse(at), key)));
    let entries: Vec<Entry> = shelf.0.into_iter().skip(from).collect();
    let summaries = asked.library.summaries(&entries);
    let last = |(entry, ended): (&Entry, Option<i64>)| ended.or(entry.started_unix_ms).is_some_and(|at| at >= since);
    let ended = summaries.iter().map(|summary| summary.ended_unix_ms);
    let keep: Vec<bool> = entries.iter().zip(ended).map(last).collect();
    let mut keep = keep.into_iter();
    let place = match &begin {
        Some((_, key, place)) if entries.first().is_some_and(|entry| entry.key() == *key) => *place,
        _ => None,
    };
    let entries = entries.into_iter().filter(|_| keep.next().unwrap_or(false)).collect();
    Ok(Searched { entries, place })
}

/// A line that matches, with the lines around it.
struct Match<'f> {
    hits: &'f TextHits,
    line: &'f Line,
    before: Option<&'f Line>,
    after: Option<&'f Line>,
}

fn matches(hits: &TextHits) -> impl Iterator<Item = Match<'_>> {
    let around = |at: Option<usize>, number: u64| {
        at.and_then(|at| hits.lines.get(at)).filter(|line| line.kind == LineKind::Context && line.line_number == number)
    };
    let lines = hits.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Match);
    lines.map(move |(at, line)| Match {
        hits,
        line,
        before: around(at.checked_sub(1), line.line_number.wrapping_sub(1)),
        after: around(Some(at + 1), line.line_number + 1),
    })
}

impl Match<'_> {
    fn row(&self, asked: &Asked, entry: &Entry, matcher: &Matcher) -> Value {
        // Secrets are taken out of the whole line: a part of one could not be recognised any more.
        let whole = asked.redactor.redacted(json!(self.line.text));
        let whole = whole.as_str().unwrap_or_default();
        let first = matcher.find_all(whole).next().map_or(0, |(start, _)| start);
        let around =
            |line: Option<&Line>| line.map(|line| trace_text::cut(line.text.trim_end(), AROUND_CHARS).into_owned());
        object([
            ("session", json!(entry.id)),
            ("agent", json!(self.hits.agent_path)),
            ("turn", json!(self.hits.turn)),
            ("kind", json!(self.hits.kind.as_str())),
            ("object", json!(self.hits.object.to_string())),
            ("seq", json!(self.hits.seq)),
            ("line", json!(self.line.line_number)),
            ("before", json!(around(self.before))),
            ("text", json!(around_match(whole, first))),
            ("after", json!(around(self.after))),
        ])
    }
}

/// Returns a line, or the part of a long one around a match that begins at `first`.
fn around_match(line: &str, first: usize) -> String {
    let line = line.trim_end_matches('\r');
    let chars_before = line.get(..first).map_or(0, |before| before.chars().count());
    // A third of the characters are those before the match.
    let skipped = chars_before.saturating_sub(MATCH_CHARS / 3);
    if skipped == 0 {
        return trace_text::cut(line, MATCH_CHARS).into_owned();
    }
    let from = line.char_indices().nth(skipped).map_or(0, |(at, _)| at);
    format!("…{}", trace_text::cut(&line[from..], MATCH_CHARS - 1))
}

fn line(row: &Value) -> String {
    format!(
        "{} {} {} line {}: {}",
        text(row, "session"),
        text(row, "agent"),
        text(row, "object"),
        number(row, "line"),
        text(row, "text").trim(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_the_match() {
        assert_eq!(around_match("short\r", 2), "short");
        let line = format!("{}needle{}", "ä".repeat(900), "ü".repeat(900));
        let shown = around_match(&line, line.find("needle").expect("is there"));
        assert!(shown.starts_with("…ä") && shown.contains("äneedleü") && shown.ends_with('…'), "{shown}");
        assert_eq!(shown.chars().count(), MATCH_CHARS);
        assert_eq!(around_match(&line, usize::MAX).chars().count(), MATCH_CHARS, "a place behind the line");
    }
}
