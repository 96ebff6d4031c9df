//! `trace check`: checks bundles against their format, and repairs them.

mod view;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use trace_recorder::Bundle;
use trace_recorder::bundle::is_bundle;
use trace_recorder::check::{Changes, RepairError, Report, check, preview_repair, repair};
use trace_recorder::pack::is_growing;

use self::view::{Detail, Entry, RepairEntry};
use crate::argument::{self, StoredArg};
use crate::bundles::{self, Found};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;
use crate::ui::text;
use crate::unfinished::may_write;

/// Number of bundles that are checked in parallel before their results are printed.
const CHUNK_BUNDLES: usize = 32;

const AFTER_HELP: &str = "\
Examples:
  trace check traces/trace-1
  trace check traces                              every bundle below traces
  trace check traces/trace-1 --repair --dry-run   what a repair would change
  trace check traces/trace-1 --repair
  trace check traces --json | jq '.[] | select(.errors > 0) | .bundle'

Every line of the log and every payload is read once; no graph is made. An error breaks a rule of the format, and \
something is lost. A warning is something that recorders do not write. A note is worth knowing. docs/check.md lists \
the codes.

--repair cuts off a torn tail, removes lines that are not events, corrects numbers and references, and replaces a lost \
payload by the smallest document that readers accept; an event says what is missing. Everything that it changes is \
first copied to before-repair-1 (or the next number) in the bundle. It refuses a bundle that is being recorded, and a \
damaged bundle without an end that was written to within the last ten minutes. It does not change a sound bundle.

--json writes an array of objects with bundle, errors, warnings, notes, checks (check, looked_at, errors, warnings, \
notes), findings (code, severity, line, seq, path, message), left_out (code, count), repair (dry_run, changes, \
changes_left_out, backup; null without --repair) and problem (why the bundle could not be checked or repaired). With \
--repair, the findings are those after the repair.

Exit codes: 0 no errors (with --repair: none left); 1 a bundle has errors, or could not be read or repaired; 2 wrong \
usage; 3 an internal error.";

/// Checks bundles against their format, and repairs them
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them
    #[arg(required = true, value_name = "BUNDLE", add = argument::sessions())]
    bundles: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// Repair what can be repaired
    #[arg(long)]
    repair: bool,
    /// With --repair: only print what would be changed
    #[arg(long, requires = "repair")]
    dry_run: bool,
    /// Write a JSON array, described below
    #[arg(long)]
    json: bool,
    /// Print nothing about bundles without errors, and only the errors of other bundles
    #[arg(short, long)]
    quiet: bool,
}

/// What to do besides checking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Check,
    Preview,
    Repair,
}

pub(crate) fn run(args: &CheckArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let Arguments { bundles, failures, is_one } = Arguments::find(&args.stored.of(&args.bundles)?);
    let mode = match (args.repair, args.dry_run) {
        (false, _) => Mode::Check,
        (true, true) => Mode::Preview,
        (true, false) => Mode::Repair,
    };
    let detail = match (args.quiet, is_one) {
        (true, _) => Detail::Errors,
        (false, true) => Detail::All,
        (false, false) => Detail::Damaged,
    };
    let mut failed = failures.len();
    let mut entries = Vec::new();
    for (argument, failure) in &failures {
        say_failure(failure, terminal);
        entries.push(Entry::unreadable(argument, failure));
    }
    for chunk in bundles.chunks(CHUNK_BUNDLES) {
        let done: Vec<Entry> = chunk.par_iter().with_max_len(1).map(|bundle| look_at(bundle, mode)).collect();
        for entry in done {
            failed += usize::from(!entry.is_well());
            if args.json {
                entries.push(entry);
            } else {
                terminal.print(&view::render(&entry, detail, terminal))?;
            }
        }
    }
    if args.json {
        terminal.print_json(&entries)?;
    } else if !is_one && !args.quiet {
        let all = text::count((bundles.len() + failures.len()) as u64, "bundle");
        let summary =
            if failed == 0 { format!("{all}, no errors\n") } else { format!("{failed} of {all} with errors\n") };
        terminal.print(&summary)?;
    }
    Ok(if failed == 0 { Ending::Done } else { Ending::Failed(Kind::Data) })
}

/// The result of resolving the arguments.
struct Arguments {
    bundles: Vec<PathBuf>,
    /// Arguments that could not be resolved, with the reason.
    failures: Vec<(PathBuf, Failure)>,
    /// Whether there was one argument, and it is a bundle and not a folder with bundles below it.
    is_one: bool,
}

impl Arguments {
    fn find(arguments: &[PathBuf]) -> Self {
        let mut all = Self { bundles: Vec::new(), failures: Vec::new(), is_one: arguments.len() == 1 };
        let mut seen = HashSet::new();
        for argument in arguments {
            let Found { bundles, failures, is_one } = bundles::find(std::slice::from_ref(argument));
            all.is_one &= is_one;
            all.bundles.extend(bundles.into_iter().filter(|bundle| seen.insert(bundle.clone())));
            all.failures.extend(failures.into_iter().map(|failure| (argument.clone(), failure)));
        }
        all
    }
}

fn say_failure(failure: &Failure, terminal: &Terminal) {
    use std::io::Write;

    let mut lines = terminal.error_line(&failure.message());
    lines.push_str(failure.excerpt().unwrap_or_default());
    if let Some(hint) = failure.hint() {
        lines.push_str(&terminal.hint_line(hint));
    }
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

fn look_at(path: &Path, mode: Mode) -> Entry {
    let checked = |path: &Path| bundles::open(path).map(|bundle| (schema_of(&bundle), check(&bundle)));
    let (schema, mut report) = match checked(path) {
        Ok(checked) => checked,
        Err(failure) => return Entry::unreadable(path, &failure),
    };
    let mut problem = None;
    let repaired = match mode {
        Mode::Check => None,
        Mode::Preview | Mode::Repair => match change(path, mode, &report) {
            Ok(repaired) => Some(repaired),
            Err(failure) => {
                problem = Some(failure);
                None
            }
        },
    };
    if mode == Mode::Repair
        && repaired.as_ref().is_some_and(RepairEntry::has_changes)
        && let Ok((_, after)) = checked(path)
    {
        report = after;
    }
    Entry::new(path, schema, &report, repaired, problem.as_ref())
}

fn schema_of(bundle: &Bundle) -> Option<u32> {
    bundle.manifest().ok().map(|manifest| manifest.schema_version.0)
}

fn change(path: &Path, mode: Mode, report: &Report) -> Result<RepairEntry, Failure> {
    let is_preview = mode != Mode::Repair;
    if !is_bundle(path) {
        let message = "the session of another agent is not repaired: its files belong to that agent";
        return Err(Failure::data(anyhow::anyhow!(message)).with_hint(
            "damaged lines are left out when it is read, and `trace show` counts them; `trace import` makes a bundle without them",
        ));
    }
    // A sound packed bundle is left as it is. For a damaged one, the repair returns an error that asks to unpack it.
    if path.is_file() && report.is_sound() && !is_growing(path).map_err(Failure::data)? {
        return Ok(RepairEntry::new(is_preview, &Changes::default(), None));
    }
    let preview = preview_repair(path).map_err(repair_failure)?;
    if preview.is_empty() {
        return Ok(RepairEntry::new(is_preview, &preview, None));
    }
    if may_write(path) {
        let message =
            "the log has no end and was written to within the last ten minutes; a recorder may still write to it";
        return Err(Failure::data(anyhow::anyhow!(message)).with_hint("try again when the recording has ended"));
    }
    if is_preview {
        return Ok(RepairEntry::new(true, &preview, None));
    }
    let repaired = repair(path).map_err(repair_failure)?;
    Ok(RepairEntry::new(false, &repaired.changes, repaired.backup.as_deref()))
}

fn repair_failure(error: RepairError) -> Failure {
    match error {
        RepairError::BeingRecorded { .. } => {
            Failure::data(error).with_hint("a bundle can be repaired when its recording has ended")
        }
        RepairError::NotADirectory { .. } => Failure::data(error).with_hint("`trace unpack` it first"),
        error => Failure::data(error),
    }
}
