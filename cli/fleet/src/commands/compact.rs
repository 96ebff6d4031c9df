//! `trace fleet compact`: merges small data files.

use std::sync::atomic::Ordering;

use clap::Args;
use trace_fleet::lake::compact::DEFAULT_TARGET_SESSIONS;

use super::cluster::ClusterArgs;
use super::{LakeArg, open_lake, runtime, stop_flag};
use crate::failure::{Ending, Failure};
use crate::terminal;

/// Merges small data files of a lake, so that questions open few
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet compact --lake s3://bucket/lake
  trace fleet compact --lake s3://bucket/lake --cluster http://127.0.0.1:50050

Files of near days are merged. The rows are the same before and after, and ingests may run meanwhile. The merged files stay \
until `trace fleet vacuum` deletes them, because readers may still use them. Ctrl-C ends after a merge.

Exit codes: 0 done; 1 the lake failed; 130 interrupted.")]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    lake: LakeArg,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Sessions of a merged file
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TARGET_SESSIONS, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    target: u64,
}

pub(crate) fn run(args: &CompactArgs) -> Result<Ending, Failure> {
    let workers = args.cluster.open()?;
    let runtime = runtime()?;
    let lake = open_lake(&args.lake, &runtime)?;
    let stop = stop_flag()?;
    let done = match &workers {
        None => runtime.block_on(lake.compact(args.target, &|| stop.load(Ordering::Relaxed)))?,
        Some(workers) => {
            let done = runtime.block_on(lake.compact_on(workers.as_ref(), args.target, &stop));
            runtime.block_on(workers.settle());
            done?
        }
    };
    let mut text = format!("{} batches merged into {}", done.merged, done.made);
    if done.given_up > 0 {
        text.push_str(&format!("; {} merges were given up, because a batch changed meanwhile", done.given_up));
    }
    terminal::print(&format!("{text}\n")).map_err(Failure::data)?;
    Ok(if stop.load(Ordering::Relaxed) { Ending::Interrupted } else { Ending::Done })
}
