//! `trace fleet ingest`: reduces sessions that a lake does not have, and commits their rows.

use std::io::IsTerminal;
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trace_fleet::Store;
use trace_fleet::ingest::{DEFAULT_BATCH_SESSIONS, Ingest, Observer, Options, Plan, Report};
use trace_fleet::lake::Lake;
use trace_fleet::sessions::{self, Given};

use super::cluster::ClusterArgs;
use super::{LakeArg, parse_since, runtime, stop_flag, store_options};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, number};

const AFTER_HELP: &str = "\
Examples:
  trace fleet ingest traces --lake lake                          bundles below a folder
  trace fleet ingest ~/.codex/sessions --lake s3://bucket/lake   sessions of an agent
  trace fleet ingest s3://bucket/sessions --lake s3://bucket/lake --team red
  trace fleet ingest s3://bucket/sessions --lake s3://bucket/lake --shard 3/16
  trace fleet ingest traces --lake lake --since 1d --dry-run
  trace fleet ingest s3://bucket/sessions --lake s3://bucket/lake --cluster http://127.0.0.1:50050

The lake is made if there is none. What it has is not reduced again; a session that changed replaces its rows. Several \
ingests may run at once. A session that cannot be read is a row of `diagnostics`. Ctrl-C commits what is reduced and ends; \
an ingest that is killed leaves a whole lake, and the next one goes on.

--shard I/N is for jobs that share the work: job I of N, counted from 0, takes the sessions that a hash of their address \
gives to it. --json writes an object with listed, known, committed, replaced, unreadable, raced, failed, vanished, commits, \
version and stopped.

With --cluster, executors reduce and write, and this program commits (docs/fleet/cluster.md), a round of up to 32 batches \
at once. Ctrl-C then ends the round that is at work; its sessions are reduced again by the next ingest.

Exit codes: 0 all done; 1 a session could not be fetched, or the lake failed; 2 wrong usage; 130 interrupted.";

/// Adds sessions to a lake
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct IngestArgs {
    /// Bundles, sessions of other agents, folders with such below them, or URLs of folders with packed bundles
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    #[command(flatten)]
    lake: LakeArg,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Team of all sessions [default: the folder team=NAME of their address]
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Repository of all sessions [default: the folder repository=NAME of their address, or of their working directory]
    #[arg(long, value_name = "NAME")]
    repository: Option<String>,
    /// Only sessions that were written since a day, a time, or for an age such as 7d or 12h
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    since: Option<i64>,
    /// Only the sessions of job I of N, from 0
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<(u64, u64)>,
    /// Tell what would be reduced, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Number of threads, without a cluster [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Sessions of a data file
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_SESSIONS as u32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: u32,
    /// Write the result as JSON, described below
    #[arg(long)]
    json: bool,
    /// Print nothing but failures
    #[arg(short, long)]
    quiet: bool,
}

/// Parses `I/N`.
fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once('/').and_then(|(own, all)| Some((own.parse().ok()?, all.parse().ok()?)));
    parsed.filter(|(own, all)| own < all).ok_or_else(|| "expected I/N with I from 0 to N - 1, such as 3/16".to_owned())
}

/// Shows how far an ingest is.
struct Bar(ProgressBar);

impl Observer for Bar {
    fn planned(&self, plan: &Plan) {
        self.0.set_length(plan.candidates.len() as u64);
    }

    fn reduced(&self) {
        self.0.inc(1);
    }

    fn committed(&self, version: u64, _sessions: usize) {
        self.0.set_message(format!("commit {version}"));
    }
}

fn bar(is_quiet: bool) -> Bar {
    if is_quiet || !std::io::stderr().is_terminal() {
        return Bar(ProgressBar::hidden());
    }
    let style = ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} sessions, {per_sec}, {eta} left  {msg}");
    Bar(ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
}

pub(crate) fn run(args: IngestArgs) -> Result<Ending, Failure> {
    let workers = args.cluster.open()?;
    let runtime = runtime()?;
    let options = store_options();
    let mut found = Vec::new();
    for source in &args.sources {
        found.extend(sessions::find(source, &options, runtime.handle()).map_err(Failure::data)?);
    }
    let settings = Options {
        given: Given { team: args.team, repository: args.repository },
        since_unix_ms: args.since,
        shard: args.shard,
        batch_sessions: args.batch as usize,
        jobs: args.jobs.map_or(Options::default().jobs, usize::from),
    };
    let store = Store::open(&args.lake.lake, &options)?;
    let lake = runtime.block_on(Lake::open_or_create(store))?;
    let mut ingest = Ingest::new(&lake, settings, runtime.handle())?;
    let plan = ingest.plan(found);
    if args.dry_run {
        if args.json {
            let value = serde_json::json!({"listed": plan.listed, "known": plan.known, "new": plan.new, "changed": plan.changed});
            terminal::print(&format!("{value}\n")).map_err(Failure::data)?;
        } else {
            let mut text = String::new();
            for candidate in &plan.candidates {
                text.push_str(&trace_text::line(&candidate.address, trace_text::Usage::Command));
                text.push('\n');
            }
            terminal::print(&text).map_err(Failure::data)?;
            terminal::say(&format!("{} new, {} changed, {} known", plan.new, plan.changed, plan.known));
        }
        return Ok(Ending::Done);
    }
    let stop = stop_flag()?;
    let bar = bar(args.quiet || args.json);
    let report = match &workers {
        None => ingest.run(plan, &stop, &bar),
        Some(workers) => {
            let report = ingest.run_on(workers.as_ref(), plan, &stop, &bar);
            runtime.block_on(workers.settle());
            report
        }
    };
    bar.0.finish_and_clear();
    let report = report?;
    for (address, why) in &report.failed {
        terminal::say(&format!("failed: {}: {why}", trace_text::line(address, trace_text::Usage::Command)));
    }
    if args.json {
        let text = serde_json::to_string(&report).map_err(Failure::data)?;
        terminal::print(&format!("{text}\n")).map_err(Failure::data)?;
    } else if !args.quiet {
        terminal::print(&told(&report)).map_err(Failure::data)?;
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(Ending::Interrupted);
    }
    Ok(if report.failed.is_empty() { Ending::Done } else { Ending::Failed })
}

fn told(report: &Report) -> String {
    let count = |count: usize| number(count as u64);
    let mut text = format!("{} sessions committed", count(report.committed));
    for (number, what) in [
        (report.replaced, "replaced earlier rows"),
        (report.unreadable, "cannot be read"),
        (report.raced, "were committed by another ingest"),
        (report.vanished, "vanished"),
        (report.failed.len(), "could not be fetched"),
        (report.known, "were there already"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {} {what}", count(number)));
        }
    }
    text.push_str(&format!("; the lake is at version {}\n", report.version));
    if report.stopped {
        text.push_str("stopped; the next ingest goes on\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_several() {
        assert_eq!(parse_shard("3/16"), Ok((3, 16)));
        for text in ["", "3", "16/16", "-1/2", "0/0", "a/b"] {
            parse_shard(text).expect_err(text);
        }
    }
}
