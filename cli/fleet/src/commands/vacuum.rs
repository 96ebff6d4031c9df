//! `trace fleet vacuum`: deletes data files that nothing needs any more.

use std::time::Duration;

use clap::Args;
use trace_fleet::lake::vacuum::{DEFAULT_KEEP, MIN_KEEP};

use super::{LakeArg, open_lake, parse_age, runtime};
use crate::failure::{Ending, Failure};
use crate::terminal::{self, bytes, number};

/// Deletes data files of a lake that no row is read from any more
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet vacuum --lake s3://bucket/lake --dry-run
  trace fleet vacuum --lake s3://bucket/lake --keep 30d

Deleted are files that a compaction or a change replaced, and files of ingests that died, if they were written longer ago \
than --keep [default: 7d; at least 1h]. Earlier versions of the lake (`trace fleet query --at N`) can then be read no more.

Exit codes: 0 done; 1 the lake failed; 2 wrong usage.")]
pub(crate) struct VacuumArgs {
    #[command(flatten)]
    lake: LakeArg,
    /// Age up to which files are kept, such as 7d or 12h
    #[arg(long, value_name = "AGE", value_parser = parse_keep)]
    keep: Option<Duration>,
    /// Tell what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

fn parse_keep(text: &str) -> Result<Duration, String> {
    let age = parse_age(text).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
    let age = age.ok_or("expected an age such as 7d or 12h")?;
    if age < MIN_KEEP {
        return Err("files are kept for at least 1h: an ingest may not have committed them yet".to_owned());
    }
    Ok(age)
}

pub(crate) fn run(args: &VacuumArgs) -> Result<Ending, Failure> {
    let runtime = runtime()?;
    let lake = open_lake(&args.lake, &runtime)?;
    let now = jiff::Timestamp::now().as_millisecond();
    let done = runtime.block_on(lake.vacuum(args.keep.unwrap_or(DEFAULT_KEEP), now, args.dry_run))?;
    let verb = if args.dry_run { "would be deleted" } else { "deleted" };
    let text = format!(
        "{} files are not used, of which {} are old enough: {} {verb}\n",
        number(done.unused),
        number(done.deleted),
        bytes(done.bytes)
    );
    terminal::print(&text).map_err(Failure::data)?;
    Ok(Ending::Done)
}
