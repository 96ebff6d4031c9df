//! `trace prune`: deletes old bundles, or the oldest ones above a total size.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Color};
use rayon::prelude::*;
use serde::Serialize;
use trace_recorder::bundle::find_bundles;
use trace_recorder::retention::{
    Candidate, Protection, Rules, Verdict, decide, delete, delete_leftover, find_leftovers, look_at,
};

use crate::recorded;
use crate::ui::amount;
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;
use crate::unfinished::moment;

const AFTER_HELP: &str = "\
Examples:
  trace prune traces --keep-days 30                    what is older than 30 days
  trace prune traces --max-size 2G                     the oldest, until the rest takes 2 GB
  trace prune traces --keep-days 30 --max-size 2G --delete

Nothing is deleted without --delete. If both rules are given, bundles that are too old are selected first, and then \
the oldest of the rest. The age of a bundle is the time since its last event or the last change to its files (other \
than state.json and state.compact.json), whichever is later; an event that is dated more than a day in the future does not count. Sizes are \
500M, 2G or 1.5GiB; ages are days, or 12h, 30d, 2w.

Bundles that are being recorded, or that were written to within the last ten minutes, are never deleted. Without \
--force, bundles are kept that contain a file which belongs to no bundle. Bundles whose log has no end are kept until \
they were not written to for a day, since their sessions may go on. A bundle is renamed to the hidden name \
.pruned-NAME before it is removed; what an earlier run left under such a name is removed too, and so is what a \
killed process left of a packed bundle, .NAME.trace.tmp, ten minutes later.

--json writes an object with dry_run, bytes, bytes_going, bytes_deleted, bundles (bundle, last_used_unix_ms, bytes, \
verdict: stays, protected, too_old or too_much; protection: null, being_recorded, recent, no_end, unknown_file, \
symbolic_link or unreadable; protection_message, deleted, problem) and leftovers (path, deleted, problem).

Exit codes: 0 done; 1 the folder cannot be listed, or a bundle could not be deleted; 2 wrong usage; 3 an internal error.";

/// Deletes old bundles, or the oldest ones above a total size; a dry run without --delete
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PruneArgs {
    /// The folder [default: $TRACE_ROOT, then $CODEX_ROLLOUT_TRACE_ROOT, then traces in the server home]
    root: Option<PathBuf>,
    /// Select bundles that were last used longer ago than this
    #[arg(long, value_name = "DAYS", value_parser = amount::parse_age)]
    keep_days: Option<Duration>,
    /// Select the oldest bundles, until the others take at most this much space
    #[arg(long, value_name = "SIZE", value_parser = amount::parse_size)]
    max_size: Option<u64>,
    /// Delete the selected bundles; without it, they are only listed
    #[arg(long)]
    delete: bool,
    /// Also delete bundles that contain files which belong to no bundle, or whose log has no end
    #[arg(long)]
    force: bool,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    dry_run: bool,
    bytes: u64,
    bytes_going: u64,
    bytes_deleted: u64,
    bundles: Vec<Entry>,
    leftovers: Vec<Leftover>,
}

#[derive(Debug, Serialize)]
struct Entry {
    bundle: String,
    last_used_unix_ms: Option<i64>,
    bytes: u64,
    verdict: &'static str,
    protection: Option<&'static str>,
    protection_message: Option<String>,
    deleted: bool,
    problem: Option<String>,
    #[serde(skip)]
    path: PathBuf,
    #[serde(skip)]
    goes: bool,
}

#[derive(Debug, Serialize)]
struct Leftover {
    #[serde(serialize_with = "lossy")]
    path: PathBuf,
    deleted: bool,
    problem: Option<String>,
}

/// Serializes a path that may not be UTF-8.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(crate) fn run(args: &PruneArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    if args.keep_days.is_none() && args.max_size.is_none() {
        return Err(Failure::usage("neither --keep-days nor --max-size is given")
            .with_hint("`trace prune FOLDER --keep-days 30` shows what is older than 30 days"));
    }
    let root = match &args.root {
        Some(root) => root.clone(),
        None => recorded::root_from_environment("prune")?,
    };
    let now = SystemTime::now();
    let found = find_bundles(&root)?;
    let mut candidates: Vec<Candidate> = found.par_iter().map(|bundle| look_at(bundle, now)).collect();
    candidates.sort_by(|a, b| (a.last_used, &a.path).cmp(&(b.last_used, &b.path)));
    if args.force {
        for candidate in &mut candidates {
            if matches!(candidate.protection, Protection::UnknownFile { .. } | Protection::NoEnd { .. }) {
                candidate.protection = Protection::None;
            }
        }
    }
    let rules = Rules { max_age: args.keep_days, max_bytes: args.max_size };
    let verdicts = decide(&candidates, rules, now);
    let mut outcome = Outcome::new(!args.delete, &candidates, &verdicts, leftovers(&root, &found, now));
    if args.delete {
        outcome.carry_out(now);
    }
    if args.json {
        terminal.print_json(&outcome)?;
    } else {
        terminal.print(&outcome.render(&root, terminal))?;
    }
    Ok(if outcome.has_problem() { Ending::Failed(Kind::Data) } else { Ending::Done })
}

/// Finds what earlier runs renamed and did not delete, and packed bundles that killed processes did not write to their end.
fn leftovers(root: &Path, found: &[PathBuf], now: SystemTime) -> Vec<Leftover> {
    let mut folders: BTreeSet<&Path> = found.iter().filter_map(|bundle| bundle.parent()).collect();
    if !found.iter().any(|bundle| bundle == root) {
        folders.insert(root);
    }
    let paths = folders.into_iter().flat_map(|folder| find_leftovers(folder, now).unwrap_or_default());
    paths.map(|path| Leftover { path, deleted: false, problem: None }).collect()
}

impl Outcome {
    fn new(dry_run: bool, candidates: &[Candidate], verdicts: &[Verdict], leftovers: Vec<Leftover>) -> Self {
        let bundles: Vec<Entry> =
            candidates.iter().zip(verdicts).map(|(candidate, verdict)| Entry::new(candidate, *verdict)).collect();
        let bytes = |entries: &mut dyn Iterator<Item = &Entry>| entries.map(|entry| entry.bytes).sum();
        Self {
            dry_run,
            bytes: bytes(&mut bundles.iter()),
            bytes_going: bytes(&mut bundles.iter().filter(|entry| entry.goes)),
            bytes_deleted: 0,
            bundles,
            leftovers,
        }
    }

    fn carry_out(&mut self, now: SystemTime) {
        for leftover in &mut self.leftovers {
            match delete_leftover(&leftover.path, now) {
                Ok(()) => leftover.deleted = true,
                Err(error) => leftover.problem = Some(error.to_string()),
            }
        }
        for entry in self.bundles.iter_mut().filter(|entry| entry.goes) {
            match delete(&entry.path) {
                Ok(()) => {
                    entry.deleted = true;
                    self.bytes_deleted += entry.bytes;
                }
                Err(error) => entry.problem = Some(error.to_string()),
            }
        }
    }

    fn has_problem(&self) -> bool {
        let of_bundles = self.bundles.iter().map(|entry| &entry.problem);
        of_bundles.chain(self.leftovers.iter().map(|leftover| &leftover.problem)).any(Option::is_some)
    }

    fn render(&self, root: &Path, terminal: &Terminal) -> String {
        let mut out = String::new();
        if self.bundles.is_empty() {
            out.push_str(&format!("no bundles below {}\n", text::clean(&root.to_string_lossy())));
        } else {
            let mut table = terminal.table(&["LAST USED", "SIZE", "VERDICT", "BUNDLE", ""]);
            for entry in &self.bundles {
                let (verdict, color) = entry.shown();
                let why = entry.protection_message.as_deref().filter(|_| entry.verdict == "protected");
                let remark = entry.problem.as_deref().or(why).unwrap_or_default();
                let verdict = Cell::new(verdict);
                table.add_row(row(vec![
                    Cell::new(entry.last_used_unix_ms.map(text::short_moment).unwrap_or_default()),
                    Cell::new(text::bytes(entry.bytes)).set_alignment(CellAlignment::Right),
                    color.map_or(verdict.clone(), |color| verdict.fg(color)),
                    Cell::new(text::clean(&entry.bundle)),
                    Cell::new(text::preview(remark, 100)).fg(Color::DarkYellow),
                ]));
            }
            push_table(&mut out, "", table);
        }
        for leftover in &self.leftovers {
            let path = leftover.path.to_string_lossy();
            let path = text::clean(&path);
            out.push_str(&match &leftover.problem {
                None if leftover.deleted => format!("{path}, left by an earlier run, is deleted\n"),
                None => format!("{path}, left by an earlier run, would be deleted\n"),
                Some(problem) => format!("{path}, left by an earlier run, could not be deleted: {problem}\n"),
            });
        }
        let going = self.bundles.iter().filter(|entry| if self.dry_run { entry.goes } else { entry.deleted });
        let (count, bytes) = going.fold((0, 0_u64), |(count, bytes), entry| (count + 1, bytes + entry.bytes));
        let what = if self.dry_run { "would delete" } else { "deleted" };
        out.push_str(&format!(
            "{what} {count} of {}, {} of {}\n",
            text::count(self.bundles.len() as u64, "bundle"),
            text::bytes(bytes),
            text::bytes(self.bytes)
        ));
        if self.dry_run && (count > 0 || !self.leftovers.is_empty()) {
            out.push_str("--delete deletes them\n");
        }
        out
    }
}

impl Entry {
    fn new(candidate: &Candidate, verdict: Verdict) -> Self {
        let since_epoch = candidate.last_used.duration_since(UNIX_EPOCH).ok().filter(|time| !time.is_zero());
        Self {
            bundle: candidate.path.to_string_lossy().into_owned(),
            last_used_unix_ms: since_epoch.and_then(|time| i64::try_from(time.as_millis()).ok()),
            bytes: candidate.bytes,
            verdict: match verdict {
                Verdict::Stays => "stays",
                Verdict::Protected => "protected",
                Verdict::TooOld => "too_old",
                Verdict::TooMuch => "too_much",
            },
            protection: code(&candidate.protection),
            protection_message: describe(&candidate.protection),
            deleted: false,
            problem: None,
            path: candidate.path.clone(),
            goes: verdict.goes(),
        }
    }

    fn shown(&self) -> (&'static str, Option<Color>) {
        match (self.verdict, &self.problem) {
            (_, Some(_)) => ("not deleted", Some(Color::DarkRed)),
            ("too_old", None) => ("too old", Some(Color::DarkRed)),
            ("too_much", None) => ("too much", Some(Color::DarkRed)),
            ("protected", None) => ("protected", Some(Color::DarkYellow)),
            _ => ("stays", None),
        }
    }
}

/// Returns the stable name of what protects a bundle.
fn code(protection: &Protection) -> Option<&'static str> {
    match protection {
        Protection::None => None,
        Protection::BeingRecorded => Some("being_recorded"),
        Protection::Recent => Some("recent"),
        Protection::NoEnd { .. } => Some("no_end"),
        Protection::UnknownFile { .. } => Some("unknown_file"),
        Protection::SymbolicLink => Some("symbolic_link"),
        Protection::Unreadable { .. } => Some("unreadable"),
    }
}

fn describe(protection: &Protection) -> Option<String> {
    match protection {
        Protection::None => None,
        Protection::BeingRecorded => Some("is being recorded".to_owned()),
        Protection::Recent => Some("was written to a moment ago".to_owned()),
        Protection::NoEnd { until } => Some(format!("has no end; may go from {} on, or by --force", moment(*until))),
        Protection::UnknownFile { name } => {
            Some(format!("contains {}, which belongs to no bundle", name.to_string_lossy()))
        }
        Protection::SymbolicLink => Some("is a symbolic link; name the bundle itself".to_owned()),
        Protection::Unreadable { reason } => Some(format!("cannot be read: {reason}")),
    }
}
