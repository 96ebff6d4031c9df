//! `trace fleet query` and `trace fleet questions`: asks a lake.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use trace_explain::prices::{MAX_TABLE_BYTES, Prices};
use trace_fleet::query::{
    self, DEFAULT_MEMORY_BYTES, DEFAULT_ROWS, DEFAULT_TIMEOUT, Engine, Format, Limits, OutputError, Question, named,
};

use super::cluster::ClusterArgs;
use super::{LakeArg, open_lake, runtime, stop_flag, stopped};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, number};

const AFTER_HELP: &str = "\
Examples:
  trace fleet query --lake lake @failures
  trace fleet query --lake lake --since 7d --team red @cost-by-model --prices prices.toml
  trace fleet query --lake lake @similar --param address=/traces/trace-1
  trace fleet query --lake lake @worse --param before=1.0.3 --param after=1.1.0
  trace fleet query --lake lake 'SELECT tool, count(*) FROM tool_calls GROUP BY tool'
  trace fleet query --lake lake --format parquet -o calls.parquet 'SELECT * FROM inference_calls'
  trace fleet query --lake s3://bucket/lake --cluster http://127.0.0.1:50050 @failures

`trace fleet questions` lists the named questions, and `trace fleet tables` the tables. A question can only read the tables of \
one version of the lake. It has a limit of time, memory and rows.

Exit codes: 0 answered, also if rows were left out (stderr tells it); 1 the question was refused or failed; 2 wrong usage; 130 interrupted.";

/// Asks a lake with SQL or a named question
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct QueryArgs {
    /// SQL, or @ and the name of a question; - reads SQL from stdin
    #[arg(value_name = "SQL|@NAME")]
    question: String,
    #[command(flatten)]
    lake: LakeArg,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Value of a parameter of the question
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_parameter)]
    param: Vec<(String, String)>,
    /// Only rows of this team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Only sessions that started on or after this day, or for an age such as 7d
    #[arg(long, value_name = "WHEN", value_parser = parse_day)]
    since: Option<String>,
    /// Only sessions that started on or before this day
    #[arg(long, value_name = "WHEN", value_parser = parse_day)]
    until: Option<String>,
    /// Only rows for which this SQL condition on the common columns holds
    #[arg(long = "where", value_name = "SQL")]
    condition: Option<String>,
    /// A table of prices, for the money in `costs`; docs/costs.md describes it
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Format of the answer: table, json, csv, arrow or parquet
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = parse_format)]
    format: Format,
    /// Write the answer to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Version of the lake to ask [default: the last one]
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// Longest time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Most memory for sorting, joining and grouping, in MiB; on a cluster, each executor has its own limit
    #[arg(long, value_name = "MIB", default_value_t = (DEFAULT_MEMORY_BYTES >> 20) as u64, value_parser = clap::value_parser!(u64).range(1..))]
    memory: u64,
    /// Most rows of the answer
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ROWS as u64, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
}

/// Lists the named questions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet questions
  trace fleet questions @worse      the SQL of one

Exit codes: 0 listed; 2 there is no such question.")]
pub(crate) struct QuestionsArgs {
    /// Show the SQL of this one
    #[arg(value_name = "@NAME")]
    name: Option<String>,
}

fn parse_parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim_start_matches('$').to_owned(), value.to_owned()))
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::of_name(text).ok_or_else(|| format!("expected one of {}", Format::NAMES.join(", ")))
}

/// Parses a bound of days into `YYYY-MM-DD`.
fn parse_day(text: &str) -> Result<String, String> {
    let at = super::parse_since(text)?;
    let at = jiff::Timestamp::from_millisecond(at).map_err(|error| error.to_string())?;
    Ok(at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}

impl QueryArgs {
    /// Returns the condition to which the tables are narrowed.
    fn condition(&self) -> Option<String> {
        let team = self.team.as_ref().map(|team| format!("team = {}", query::literal(team)));
        let since = self.since.as_ref().map(|day| format!("day >= DATE '{day}'"));
        let until = self.until.as_ref().map(|day| format!("day <= DATE '{day}'"));
        let own = self.condition.as_ref().map(|condition| format!("({condition}\n)"));
        let all: Vec<String> = [team, since, until, own].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(" AND "))
    }
}

pub(crate) fn prices(path: &PathBuf) -> Result<Prices, Failure> {
    let named = |error: anyhow::Error| Failure::data(error.context(format!("{} cannot be used", path.display())));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| named(error.into()))?;
    file.take(MAX_TABLE_BYTES as u64 + 1).read_to_string(&mut text).map_err(|error| named(error.into()))?;
    Prices::parse(&text).map_err(|error| named(error.into()))
}

pub(crate) fn run(args: QueryArgs) -> Result<Ending, Failure> {
    if args.format.is_binary() && args.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("the format is not text").with_hint("-o FILE, or a pipe"));
    }
    let sql = match args.question.as_str() {
        "-" => {
            let mut text = String::new();
            let limit = query::MAX_SQL_BYTES as u64 + 1;
            io::stdin().lock().take(limit).read_to_string(&mut text).map_err(Failure::data)?;
            text
        }
        text => text.to_owned(),
    };
    let prices = args.prices.as_ref().map(prices).transpose()?;
    let workers = args.cluster.open()?;
    let runtime = runtime()?;
    let lake = open_lake(&args.lake, &runtime)?;
    let snapshot = match args.at {
        Some(version) => runtime.block_on(lake.snapshot_at(version))?,
        None => runtime.block_on(lake.snapshot())?,
    };
    let limits = Limits {
        timeout: Duration::from_secs(args.timeout),
        memory_bytes: usize::try_from(args.memory << 20).unwrap_or(usize::MAX),
        rows: usize::try_from(args.rows).unwrap_or(usize::MAX),
        ..Limits::default()
    };
    let question = Question { sql, condition: args.condition(), parameters: args.param };
    let engine = match &workers {
        None => Engine::new(&lake, &snapshot, prices, limits)?,
        Some(workers) => Engine::on(Arc::clone(workers), &lake, &snapshot, prices, limits)?,
    };
    let answer = match &workers {
        // An interrupt ends this program as it is.
        None => Some(runtime.block_on(engine.ask(&question))),
        Some(workers) => {
            // An interrupt has to be told to the cluster, which would go on.
            let stop = stop_flag()?;
            runtime.block_on(async {
                let answer = tokio::select! {
                    answer = engine.ask(&question) => Some(answer),
                    () = stopped(&stop) => None,
                };
                workers.settle().await;
                answer
            })
        }
    };
    // A question that took too long may still be at work on a thread; nobody waits for it.
    runtime.shutdown_background();
    let Some(answer) = answer else { return Ok(Ending::Interrupted) };
    let answer = answer?;
    let written = match &args.output {
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                Failure::data(anyhow::Error::from(error).context(format!("cannot write {}", path.display())))
            })?;
            query::write(&answer, args.format, BufWriter::new(file))
        }
        None => match query::write(&answer, args.format, BufWriter::new(io::stdout())) {
            Err(OutputError::Io(error)) => terminal::ignore_closed(Err(error)).map_err(OutputError::Io),
            other => other,
        },
    };
    written.map_err(Failure::data)?;
    if answer.is_cut {
        let rows = number(answer.count() as u64);
        terminal::say(&format!("note: only the first {rows} rows are shown; --rows N shows more"));
    }
    Ok(Ending::Done)
}

pub(crate) fn list(args: &QuestionsArgs) -> Result<Ending, Failure> {
    let text = match &args.name {
        Some(name) => {
            let found = named::find(name).ok_or_else(|| {
                Failure::usage(format!("there is no question {name}")).with_hint("`trace fleet questions` lists them")
            })?;
            format!("-- {}\n{}\n", found.text, found.sql)
        }
        None => {
            let width = named::all().iter().map(|named| named.name.len()).max().unwrap_or(0);
            let line = |it: &named::Named| {
                let parameters: Vec<String> = it.parameters.iter().map(|name| format!(" --param {name}=…")).collect();
                format!("@{:width$}  {}{}\n", it.name, it.text, parameters.concat())
            };
            named::all().iter().map(line).collect()
        }
    };
    terminal::print(&text).map_err(Failure::data)?;
    Ok(Ending::Done)
}
