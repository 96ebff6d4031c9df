//! `trace costs`: adds up what all sessions of all agents used.

mod sums;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, CellAlignment};
use jiff::tz::TimeZone;
use serde::Serialize;

use self::sums::{By, Period, Row, Sums};
use crate::argument;
use crate::period::{self, Bound};
use crate::prices;
use crate::stored::{self, Wanted};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace costs                                   tokens of each day, all agents
  trace costs --by month,model --prices prices.toml
  trace costs --by project --since 7d --source claude-code
  trace costs ~/.claude/projects traces         only what is below these folders
  trace costs --json --by day | jq '.rows[] | [.key.day, .tokens.input]'

Without paths, the sessions of all agents of this user and the recordings in the default root are added up. A call that \
several files have, because a session was resumed or forked, counts once. Days are those of the local time zone (TZ), or of UTC \
with --utc; weeks begin on Monday and are named as in ISO 8601. A call without a time belongs to the start of its session.

trace has no prices. Without --prices only tokens are shown; samples/prices.toml is an example of a table. A model that is \
not in the table has an unknown cost, shown as ?, and is named below.

--json writes one object, described by docs/schema/costs.schema.json.

Exit codes: 0 shown, even if some sessions cannot be read; 1 a path has no session, or not a price table; 2 wrong usage; 3 an \
internal error.";

/// Adds up the tokens, and the money, of all sessions of all agents
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CostsArgs {
    /// Files, folders, stores, ids, @last or bundles [default: all sessions of this user]
    #[arg(add = argument::sessions())]
    paths: Vec<PathBuf>,
    /// What the rows are: day, week, month, agent, model, project, session; several are combined [default: day]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    by: Vec<By>,
    #[command(flatten)]
    wanted: Wanted,
    /// Only what happened until a day (included), a time, or an age ago
    #[arg(long, value_name = "WHEN", value_parser = period::parse)]
    until: Option<Bound>,
    /// A price table, to show what it cost
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Use days of UTC
    #[arg(long)]
    utc: bool,
    /// Write a JSON object
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    time_zone: String,
    since_unix_ms: Option<i64>,
    until_unix_ms: Option<i64>,
    by: &'a [By],
    currency: Option<&'a str>,
    unpriced_models: Vec<&'a str>,
    sessions: u64,
    copied_calls: u64,
    problems: Vec<Problem>,
    total: &'a Row,
    rows: &'a [Row],
}

/// A session that cannot be read.
#[derive(Debug, Serialize)]
struct Problem {
    session: String,
    problem: String,
}

pub(crate) fn run(args: &CostsArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prices = prices::read(args.prices.as_deref())?;
    let zone = if args.utc { TimeZone::UTC } else { TimeZone::system() };
    let mut by = if args.by.is_empty() { vec![By::Day] } else { args.by.clone() };
    let mut seen = Vec::new();
    by.retain(|by| {
        !seen.contains(by) && {
            seen.push(*by);
            true
        }
    });
    let period = Period {
        since: args.wanted.since.map(|since| since.start(&zone)),
        until: args.until.map(|until| until.end(&zone)),
    };
    // The earliest session that has a call counts it, unless a copy has more of its tokens.
    let mut sessions = stored::find(&args.paths, &args.wanted)?;
    sessions.sort_by_cached_key(|session| {
        (session.summary.as_ref().ok().and_then(|summary| summary.started_at), session.path.clone())
    });
    let is_here = |session: &stored::Stored| {
        Wanted { since: None, cwd: args.wanted.cwd.clone(), source: Vec::new() }.fits(session, &zone)
    };
    let mut sums = Sums::new(&by, &zone, prices.as_ref(), period);
    sessions.iter().filter_map(|session| session.summary.as_ref().ok()).for_each(|summary| sums.look(summary));
    sums.begin();
    let mut problems = Vec::new();
    for session in &sessions {
        match &session.summary {
            Ok(summary) => sums.add(session, summary, is_here(session)),
            Err(problem) => {
                problems.push(Problem { session: session.path.display().to_string(), problem: problem.clone() });
            }
        }
    }
    let sums = sums.finish();
    if args.json {
        terminal.print_json(&Answer {
            format: 1,
            time_zone: zone.iana_name().unwrap_or("local").to_owned(),
            since_unix_ms: period.since,
            until_unix_ms: period.until,
            by: &by,
            currency: prices.as_ref().map(trace_explain::prices::Prices::currency),
            unpriced_models: sums.unpriced.iter().map(String::as_str).collect(),
            sessions: sums.total.sessions,
            copied_calls: sums.copied_calls,
            problems,
            total: &sums.total,
            rows: &sums.rows,
        })?;
        return Ok(Ending::Done);
    }
    let mut header: Vec<String> = by.iter().map(|by| by.name().to_uppercase()).collect();
    header.extend(["CALLS", "INPUT", "CACHED", "CACHE WRITE", "OUTPUT", "REASONING"].map(str::to_owned));
    header.extend(prices.as_ref().map(|prices| format!("COST {}", text::clean(prices.currency()))));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = terminal.table(&header);
    for sum in sums.rows.iter().chain([&sums.total]) {
        let keys = by.iter().enumerate().map(|(index, by)| match sum.key.get(by.name()) {
            Some(Some(name)) => Cell::new(text::clean(name)),
            Some(None) => Cell::new("-"),
            None => Cell::new(if index == 0 { "total" } else { "" }),
        });
        let tokens = &sum.tokens;
        let counts =
            [sum.calls, tokens.input, tokens.cached_input, tokens.cache_write, tokens.output, tokens.reasoning_output];
        let mut cells: Vec<Cell> = keys.collect();
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        cells.extend(counts.map(|count| right(text::number(count))));
        cells.extend(
            sum.cost.as_ref().map(|cost| right(cost.amount.map_or("?".to_owned(), |money| format!("{money:.4}")))),
        );
        table.add_row(row(cells));
    }
    let mut lines = String::new();
    push_table(&mut lines, "", table);
    for model in &sums.unpriced {
        let name = if model.is_empty() { "calls without a model".into() } else { text::clean(model) };
        lines.push_str(&format!("not in the price table: {name}\n"));
    }
    for Problem { session, problem } in &problems {
        lines.push_str(&format!("not counted: {}: {}\n", text::clean(session), text::preview(problem, 100)));
    }
    terminal.print(&lines)?;
    if prices.is_none() {
        let hint = "--prices FILE shows what it cost; samples/prices.toml shows how to write one";
        let _ = std::io::stderr().write_all(terminal.hint_line(hint).as_bytes());
    }
    Ok(Ending::Done)
}
