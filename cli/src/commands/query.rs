//! `trace query`: runs SQL queries over sessions.

mod answer;
mod arguments;
mod follow;
mod keep;
mod listing;
mod problem;
mod rows;
mod table;
mod watchdog;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use rayon::prelude::*;
use trace_query::{Builder, Limits, Query};

use self::answer::Form;
use self::arguments::Arguments;
use self::keep::DatabaseDraft;
use self::problem::failure;
use self::rows::Cells;
use self::watchdog::Watchdog;
use crate::argument::{self, StoredArg};
use crate::bundles::{self, Found};
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;
use crate::{prices, session};

const AFTER_HELP: &str = "\
Examples:
  trace query traces/trace-1 \"SELECT agent_path, status, duration_ms FROM turns\"
  trace query traces/trace-1 @slowest-tools        a named query; --queries lists them
  trace query traces @mine.sql --csv > mine.csv    a query in a file, over all bundles below traces
  trace query @last @spawn-tree --follow           answers again while an agent writes its session
  trace query --tables turns payload               describes tables and functions
  trace query traces -o all.sqlite                 keeps all tables for any SQLite tool
  trace query B \"SELECT payload(bundle_id, request_payload_id) ->> '$.model' FROM inference_calls\"

The query is one read-only statement in the SQL dialect of SQLite. The last argument is the statement itself, @NAME \
for a named query, @FILE for a file (with a / in its name or ending in .sql), or - for stdin. Each table has a column \
bundle_id: the name of the bundle's directory, with as much of its path as is needed to tell bundles apart. Ids are \
those of state.json; times are in milliseconds. docs/query.md describes every table.

--json writes an array with an object per row, --jsonl an object per line, --csv a header and a line per row (null is \
empty). A spreadsheet evaluates a cell that begins with =, +, - or @ as a formula, and texts of a session are not \
trusted: --csv therefore puts ' in front of such a text, and --csv-exact, for programs, does not. Bytes are written as \
hexadecimal digits; equal column names get the suffixes _2, _3 and so on. If an answer is incomplete, for instance \
because of --timeout, its end is missing and the exit code is 1.

Exit codes: 0 answered; 1 a bundle could not be read (the others were queried), the query reached a limit or failed at \
a value of a row, or the output could not be written; 2 wrong usage, or SQL that is not accepted; 3 an internal \
error.";

const USAGE: &str = "\
trace query [OPTIONS] <BUNDLE>... <SQL|@NAME|@FILE|->
       trace query [OPTIONS] <BUNDLE>... -o <FILE> [SQL]
       trace query --tables [NAME]...
       trace query --queries [NAME]...";

/// Most rows of an answer, unless `--limit` is given.
const DEFAULT_ROWS: u64 = 10_000;

/// Longest time of a query in seconds, unless `--timeout` is given.
const DEFAULT_SECONDS: f64 = 10.0;

/// Largest value of `--timeout`, in seconds.
const MAX_SECONDS: f64 = 1e9;

/// Most memory of a query, without that of the tables.
const MEMORY_BYTES: u64 = 1 << 30;

/// Runs an SQL query over one or more sessions
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct QueryArgs {
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them; followed by SQL, @NAME,
    /// @FILE or -
    #[arg(value_name = "BUNDLE|SQL", add = argument::sessions())]
    arguments: Vec<OsString>,
    #[command(flatten)]
    stored: StoredArg,
    /// List tables, views and functions; or describe the ones that are named
    #[arg(long, conflicts_with = "queries")]
    tables: bool,
    /// List the named queries; or show the ones that are named
    #[arg(long)]
    queries: bool,
    /// Write an array of objects
    #[arg(long)]
    json: bool,
    /// Write an object per line
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// Write comma-separated values (RFC 4180) for spreadsheets: ' is put in front of a cell that would be taken for a
    /// formula
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    csv: bool,
    /// Write comma-separated values for programs: cells are not changed. Do not open the file in a spreadsheet
    #[arg(long, conflicts_with_all = ["json", "jsonl", "csv"])]
    csv_exact: bool,
    /// Keep all tables in an SQLite database; the query is then optional
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Answer again whenever a session was written to, until Ctrl-C
    #[arg(long, conflicts_with = "output")]
    follow: bool,
    /// Replace an existing database
    #[arg(long, requires = "output")]
    force: bool,
    /// Most rows to write; 0 is no limit [default: 10000]
    #[arg(long, value_name = "ROWS")]
    limit: Option<u64>,
    /// Most seconds that the query may take; 0 is no limit [default: 10]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// A price table, for the column costs.money
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) fn run(args: &QueryArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    if args.tables || args.queries {
        return list(args, terminal);
    }
    let limits = limits(args)?;
    let Arguments { bundles, sql } = arguments::split(&args.arguments, args.output.is_some())?;
    if sql.is_none() && (args.json || args.jsonl || args.csv || args.csv_exact) {
        let failure = Failure::usage("--json, --jsonl, --csv and --csv-exact need a query");
        return Err(failure.with_hint("give a query after the bundles"));
    }
    let query = sql.map(|sql| Query::new(&sql).map_err(|error| failure(error, Some(&sql)))).transpose()?;
    let prices = prices::read(args.prices.as_deref())?;
    let Found { bundles, failures, .. } = bundles::find(&args.stored.of(&bundles)?);
    let mut failed = Failed::new(terminal);
    for failure in &failures {
        failed.say(failure, None);
    }
    let named = bundles::unique_names(bundles, "");
    if named.is_empty() {
        return Ok(failed.ending());
    }
    if let (true, Some(query)) = (args.follow, &query) {
        follow::run(form(args), &named, query, prices.as_ref(), &limits, terminal, &mut failed)?;
        return Ok(failed.ending());
    }
    let keep = args.output.as_deref().map(|output| DatabaseDraft::begin(output, args.force, &named)).transpose()?;
    let builder = match (&keep, &query) {
        (Some(keep), query) => Builder::in_file(keep.path(), query.as_ref()),
        (None, Some(query)) => Builder::in_memory(query),
        (None, None) => return Err(Failure::internal(anyhow::anyhow!("nothing to ask and nothing to keep"))),
    };
    let mut builder = builder.map_err(|error| failure(error, None))?.with_prices(prices);
    let mut count = 0;
    // Bundles are read in chunks, so that only a few graphs are in memory at once.
    for some in named.chunks(rayon::current_num_threads().max(1)) {
        let sessions: Vec<_> = some.par_iter().map(|(bundle, _)| session::open(bundle)).collect();
        for ((bundle, name), session) in some.iter().zip(sessions) {
            match session {
                Ok(session) => {
                    builder.add(&name.to_string_lossy(), session).map_err(|error| failure(error, None))?;
                    count += 1;
                }
                Err(failure) => failed.say(&failure, Some(bundle)),
            }
        }
    }
    if count == 0 {
        return Ok(failed.ending());
    }
    let mut database = builder.finish().map_err(|error| failure(error, None))?;
    let unfinished = keep.as_ref().map(DatabaseDraft::path);
    let answered = query.as_ref().map(|query| {
        let watchdog = Watchdog::begin(limits.time, unfinished, terminal);
        answer::write(form(args), terminal, &mut database, query, &limits, &watchdog)
    });
    if let Some(keep) = keep {
        drop(database);
        let kept = keep.finish()?;
        if query.is_none() {
            let (bundles, bytes) = (text::count(count, "bundle"), text::bytes(kept.bytes));
            terminal.print(&format!("{}: {bundles}, {bytes}\n", text::clean(&kept.path.to_string_lossy())))?;
        } else if answered.as_ref().is_some_and(Result::is_err) {
            let note = format!("{} was written nevertheless", text::clean(&kept.path.to_string_lossy()));
            let _ = io::stderr().write_all(terminal.note_line(&note).as_bytes());
        }
    } else {
        // The process is about to end. Freeing millions of rows and objects one by one would only delay that.
        std::mem::forget(database);
    }
    answered.transpose()?;
    Ok(failed.ending())
}

/// Runs `--tables` and `--queries`.
fn list(args: &QueryArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    if args.output.is_some() || args.jsonl || args.csv {
        return Err(Failure::usage("--tables and --queries are written as text or with --json"));
    }
    let names: Vec<String> = args.arguments.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let list = if args.queries { listing::queries } else { listing::tables };
    list(&names, args.json, terminal)?;
    Ok(Ending::Done)
}

fn form(args: &QueryArgs) -> Form {
    match args {
        QueryArgs { json: true, .. } => Form::Json,
        QueryArgs { jsonl: true, .. } => Form::JsonLines,
        QueryArgs { csv: true, .. } => Form::Csv(Cells::ForSpreadsheets),
        QueryArgs { csv_exact: true, .. } => Form::Csv(Cells::Exact),
        _ => Form::Table,
    }
}

fn limits(args: &QueryArgs) -> Result<Limits, Failure> {
    let seconds = args.timeout.unwrap_or(DEFAULT_SECONDS);
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return Err(Failure::usage(format!("--timeout {seconds} is not a number of seconds from 0 to {MAX_SECONDS}")));
    }
    let rows = args.limit.unwrap_or(DEFAULT_ROWS);
    Ok(Limits {
        time: (seconds > 0.0).then(|| Duration::from_secs_f64(seconds)),
        rows: (rows > 0).then_some(rows),
        memory: Some(MEMORY_BYTES),
    })
}
