//! `trace fleet fsck`: holds a lake against itself and against its sources.

use clap::Args;
use trace_fleet::ingest::{Ingest, Options};
use trace_fleet::sessions;

use super::{LakeArg, open_lake, runtime, store_options};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, number};

/// Checks a lake: files, rows, tables against each other, Delta tables against the log
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet fsck --lake s3://bucket/lake
  trace fleet fsck --lake lake --source traces     also tells which sessions of a source the lake lacks

Every file is read. Problems: file_missing, file_changed, file_damaged, session_twice, row_without_session, wrong_count, \
delta_differs. --json writes an object with version, batches, sessions, rows, delta_behind, problems (problem, place and \
message) and, with --source, source (listed, known, new and changed).

Exit codes: 0 no problem; 1 a problem, or the lake cannot be read; 2 wrong usage.")]
pub(crate) struct FsckArgs {
    #[command(flatten)]
    lake: LakeArg,
    /// Compare the lake with a source, too
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Write JSON, described below
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &FsckArgs) -> Result<Ending, Failure> {
    let runtime = runtime()?;
    let lake = open_lake(&args.lake, &runtime)?;
    let snapshot = runtime.block_on(lake.snapshot())?;
    let checked = runtime.block_on(lake.check(&snapshot))?;
    let mut found = Vec::new();
    for source in &args.source {
        found.extend(sessions::find(source, &store_options(), runtime.handle()).map_err(Failure::data)?);
    }
    let plan = match args.source.is_empty() {
        true => None,
        false => Some(Ingest::new(&lake, Options::default(), runtime.handle())?.plan(found)),
    };
    if args.json {
        let mut value = serde_json::to_value(&checked).map_err(Failure::data)?;
        if let Some(plan) = &plan {
            value["source"] = serde_json::json!({"listed": plan.listed, "known": plan.known, "new": plan.new, "changed": plan.changed});
        }
        terminal::print(&format!("{value}\n")).map_err(Failure::data)?;
    } else {
        let mut text = String::new();
        for it in &checked.problems {
            let place = trace_text::line(&it.place, trace_text::Usage::Command);
            text.push_str(&format!("{}: {place}: {}\n", it.problem.as_str(), it.message));
        }
        let rows = checked.rows.iter().map(|(table, rows)| format!("{} {table}", number(*rows)));
        text.push_str(&format!(
            "version {}: {} batches, {}\n",
            checked.version,
            number(checked.batches),
            rows.collect::<Vec<_>>().join(", ")
        ));
        if checked.delta_behind > 0 {
            text.push_str(&format!(
                "the Delta tables lack {} commits; the next ingest completes them\n",
                checked.delta_behind
            ));
        }
        if let Some(plan) = &plan {
            text.push_str(&format!(
                "sources: {} sessions, of which the lake has {}, lacks {} and has {} as they were before a change\n",
                plan.listed, plan.known, plan.new, plan.changed
            ));
        }
        text.push_str(if checked.problems.is_empty() { "no problem\n" } else { "" });
        terminal::print(&text).map_err(Failure::data)?;
    }
    Ok(if checked.problems.is_empty() { Ending::Done } else { Ending::Failed })
}
