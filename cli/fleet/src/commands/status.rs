//! `trace fleet status`: what a lake has.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use super::{LakeArg, open_lake, runtime};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, bytes, number};

/// Most commits that are shown.
const SHOWN_COMMITS: u64 = 10;

/// Tells what a lake has: sessions, rows, files, and the last commits
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet status --lake s3://bucket/lake

--json writes an object with version, sessions, batches, files, bytes, tables (rows, files and bytes by table) and commits (the \
last ten, with version, action, at_unix_ms, sessions added and removed).

Exit codes: 0 told; 1 the lake cannot be read.")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    lake: LakeArg,
    /// Write JSON, described below
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StatusArgs) -> Result<Ending, Failure> {
    let runtime = runtime()?;
    let lake = open_lake(&args.lake, &runtime)?;
    let snapshot = runtime.block_on(lake.snapshot())?;
    let mut tables: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for (table, file) in snapshot.batches.values().flat_map(|batch| &batch.files) {
        let (rows, files, size) = tables.entry(table).or_default();
        (*rows, *files, *size) = (*rows + file.rows, *files + 1, *size + file.bytes);
    }
    let first = (snapshot.version + 1).saturating_sub(SHOWN_COMMITS);
    let commits = runtime.block_on(lake.commits(&(first..=snapshot.version).rev().collect::<Vec<_>>()))?;
    let (files, size) = tables.values().fold((0, 0), |(files, size), it| (files + it.1, size + it.2));
    let sum = |batches: &[trace_fleet::lake::record::Batch]| batches.iter().map(|it| it.sessions).sum::<u64>();
    if args.json {
        let value = json!({
            "version": snapshot.version, "sessions": snapshot.sessions(), "batches": snapshot.batches.len(),
            "files": files, "bytes": size,
            "tables": tables.iter().map(|(name, (rows, files, bytes))| ((*name).to_owned(), json!({"rows": rows, "files": files, "bytes": bytes}))).collect::<serde_json::Map<_, _>>(),
            "commits": commits.iter().map(|it| json!({"version": it.version, "action": it.action, "at_unix_ms": it.at_unix_ms, "added": sum(&it.add), "removed": sum(&it.remove)})).collect::<Vec<_>>(),
        });
        terminal::print(&format!("{value}\n")).map_err(Failure::data)?;
        return Ok(Ending::Done);
    }
    let mut text = format!(
        "version {}: {} sessions in {} batches, {} files, {}\n\n{:<16} {:>14} {:>8} {:>10}\n",
        snapshot.version,
        number(snapshot.sessions()),
        number(snapshot.batches.len() as u64),
        number(files),
        bytes(size),
        "table",
        "rows",
        "files",
        "size",
    );
    for (name, (rows, files, size)) in &tables {
        text.push_str(&format!("{name:<16} {:>14} {:>8} {:>10}\n", number(*rows), number(*files), bytes(*size)));
    }
    text.push_str(&format!("\n{:<10} {:<10} {:<22} {:>10} {:>10}\n", "commit", "action", "at", "added", "removed"));
    for it in &commits {
        let at = jiff::Timestamp::from_millisecond(it.at_unix_ms).map(|at| at.to_string()).unwrap_or_default();
        let at = at.split('.').next().unwrap_or_default().trim_end_matches('Z').to_owned();
        let (added, removed) = (number(sum(&it.add)), number(sum(&it.remove)));
        text.push_str(&format!("{:<10} {:<10} {at:<22} {added:>10} {removed:>10}\n", it.version, it.action.as_str()));
    }
    terminal::print(&text).map_err(Failure::data)?;
    Ok(Ending::Done)
}
