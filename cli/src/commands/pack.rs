//! `trace pack`: packs each bundle into one small file.

use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{Cell, CellAlignment};
use serde::Serialize;
use tempfile::NamedTempFile;
use trace_import::SessionRef;
use trace_recorder::bundle::is_bundle;
use trace_recorder::pack::{
    DEFAULT_LEVEL, Level, PACKED_EXTENSION, PackError, PackStats, PackedBundle, Source, is_growing, is_packed, pack,
    verify,
};
use trace_recorder::retention::delete;
use trace_recorder::write::finish_growing;

use crate::argument::{self, StoredArg};
use crate::bundles::{self, Found};
use crate::named::{self, Named};
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;
use crate::{foreign, replace, unfinished};

const AFTER_HELP: &str = "\
Examples:
  trace pack traces/trace-1                    writes traces/trace-1.trace
  trace pack traces                            a packed bundle beside every one below traces
  trace pack traces -o archive                 archive/<name of the bundle>.trace for each
  trace pack traces/trace-1 -o session.trace   to a file of this name
  trace pack --delete-source traces            frees the space, bundle by bundle

A packed bundle contains every file of the bundle, byte for byte, except state.json and state.compact.json, which \
`trace reduce` makes again. All commands read it like the directory; `trace unpack` restores the directory. Damaged bundles are packed as they \
are. A bundle that is being recorded is refused, and so is one with anything that is neither a file nor a directory.

The packed file is written under a temporary name, read back and compared with the bundle byte by byte before it is \
renamed. Only its owner can read it, since it contains what the session saw. With --delete-source, the bundle is then \
deleted, unless it has changed or its session may go on; recorders cannot open it until then. An existing packed file \
with the same content is accepted. --force never replaces a packed file that contains files which the bundle lacks.

--json writes an array of objects with bundle, target, files, bytes, packed, deleted and problem.

Exit codes: 0 all packed; 1 a bundle could not be packed or deleted (the others were packed); 2 wrong usage; 3 an \
internal error.";

/// Packs bundles into one file each, many times smaller
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PackArgs {
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them
    #[arg(required = true, value_name = "BUNDLE", add = argument::sessions())]
    bundles: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// The packed bundle: a file for one bundle, a directory for several [default: beside the bundle]
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Compression level, from 1 (fast) to 22 (small) [default: 19]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    level: Option<i32>,
    /// Delete each bundle after its packed file was compared with it
    #[arg(long)]
    delete_source: bool,
    /// Overwrite existing packed files
    #[arg(long)]
    force: bool,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing but failures
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// A bundle and its packed file.
struct Job {
    bundle: PathBuf,
    target: PathBuf,
    /// The nearest directory above the target that existed before anything was created.
    existing: PathBuf,
}

/// The result for a bundle. An element of the array of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    bundle: String,
    target: String,
    files: Option<u64>,
    bytes: Option<u64>,
    packed: Option<u64>,
    deleted: bool,
    problem: Option<String>,
    #[serde(skip)]
    stats: Option<PackStats>,
}

impl Outcome {
    fn is(&mut self, stats: PackStats) {
        (self.files, self.bytes, self.packed) = (Some(stats.files), Some(stats.bytes), Some(stats.packed_bytes));
        self.stats = Some(stats);
    }
}

pub(crate) fn run(args: &PackArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let level = args.level.map_or(Ok(DEFAULT_LEVEL), Level::new).map_err(Failure::usage)?;
    bundles::refuse_stdout(args.output.as_deref())?;
    let Found { bundles, mut failures, is_one } = bundles::find(&args.stored.of(&args.bundles)?);
    // Packed bundles below a folder come from earlier runs.
    let is_finished = |bundle: &PathBuf| is_packed(bundle) && !is_growing(bundle).unwrap_or(false);
    let (packed, bundles): (Vec<_>, Vec<_>) = bundles.into_iter().partition(is_finished);
    for bundle in packed.iter().filter(|bundle| args.bundles.contains(bundle)) {
        failures.push(Failure::data(anyhow::anyhow!("{} is already packed", bundle.display())));
    }
    if let Some(session) = bundles.iter().find(|bundle| !is_bundle(bundle)) {
        let refused = |message: &str, hint: &str| {
            Err(Failure::usage(format!("{} is the session of another agent{message}", session.display()))
                .with_hint(hint))
        };
        // Nothing is written into the folders of other agents, or deleted there.
        if args.delete_source {
            return refused(", whose files are not deleted", "leave --delete-source out");
        }
        if args.output.is_none() {
            return refused("", "-o FILE.trace or -o DIR says where the packed bundle goes");
        }
    }
    let is_all_packed = bundles.is_empty() && failures.is_empty();
    let jobs = plan(bundles, args, is_one)?;
    let mut failed = Failed::new(terminal);
    for failure in &failures {
        failed.say(failure, None);
    }
    let mut outcomes = Vec::new();
    for job in jobs {
        let mut outcome = job.outcome();
        if let Err(failure) = job.run(level, args, &mut outcome) {
            failed.say(&failure, Some(&job.bundle));
            outcome.problem = Some(failure.message());
        }
        outcomes.push(outcome);
    }
    if args.json {
        terminal.print_json(&outcomes)?;
    } else if is_all_packed && !args.quiet {
        let count = text::count(packed.len() as u64, "bundle");
        terminal.print(&format!("nothing to pack: {count} found, all of them packed\n"))?;
    } else if !args.quiet {
        terminal.print(&render(&outcomes, terminal))?;
    }
    Ok(failed.ending())
}

/// Decides where the packed file of each bundle goes.
fn plan(bundles: Vec<PathBuf>, args: &PackArgs, is_one: bool) -> Result<Vec<Job>, Failure> {
    let names_a_file = |output: &Path| output.extension().is_some_and(|extension| extension == PACKED_EXTENSION);
    let into = match args.output.as_deref() {
        Some(output) if output.is_dir() || ends_with_separator(output) => Some(output),
        // The argument is a folder that contains exactly one bundle.
        Some(output) if names_a_file(output) && bundles.len() == 1 => None,
        Some(output) if names_a_file(output) && bundles.len() > 1 && !output.exists() => {
            let message = format!("-o {} names a file, but several bundles are to be packed", output.display());
            return Err(Failure::usage(message).with_hint("end the name with / if it is a directory"));
        }
        output => output.filter(|_| !is_one),
    };
    if let Some(directory) = into.filter(|directory| directory.exists() && !directory.is_dir()) {
        let message = format!("-o {} is a file, but several bundles are to be packed", directory.display());
        return Err(Failure::usage(message).with_hint("name a directory, or leave -o out"));
    }
    let suffix = format!(".{PACKED_EXTENSION}");
    let job = |bundle, target: PathBuf| {
        let existing = bundles::nearest_directory(replace::directory(&target));
        Job { bundle, target, existing }
    };
    if let Some(directory) = into {
        let (own, sessions): (Vec<_>, Vec<_>) = bundles.into_iter().partition(|bundle| is_bundle(bundle));
        let named = bundles::unique_names(own, &suffix).into_iter();
        // A growing bundle has the suffix already.
        let once = |name: PathBuf| match name.file_stem() {
            Some(stem) if Path::new(stem).extension().is_some_and(|suffix| suffix == PACKED_EXTENSION) => stem.into(),
            _ => name,
        };
        let mut jobs: Vec<_> = named.map(|(bundle, name)| job(bundle, directory.join(once(name)))).collect();
        let taken = jobs.iter().filter_map(|job: &Job| job.target.file_stem()?.to_str().map(str::to_owned)).collect();
        let sessions = sessions.into_iter().map(|path| {
            let named = named::find(&path)?.and_then(Named::imported);
            let vanished = || Failure::data(anyhow::anyhow!("{} is no session any more", path.display()));
            Ok((named.ok_or_else(vanished)?, path))
        });
        let (sessions, paths): (Vec<_>, Vec<_>) = sessions.collect::<Result<Vec<_>, Failure>>()?.into_iter().unzip();
        let names = foreign::file_names_beside(&sessions, taken);
        jobs.extend(paths.into_iter().zip(names).map(|(path, name)| job(path, directory.join(name + &suffix))));
        return Ok(jobs);
    }
    let beside = |bundle: PathBuf| {
        let real = bundle.canonicalize().unwrap_or_else(|_| bundle.clone());
        let name = Path::new(real.file_name().unwrap_or("bundle".as_ref()));
        // A growing bundle has the name of a packed one already.
        let has_suffix = real.is_file() && name.extension().is_some_and(|extension| extension == PACKED_EXTENSION);
        let name = if has_suffix { name.to_owned() } else { bundles::with_suffix(name, &suffix) };
        let target = match &args.output {
            Some(output) => output.clone(),
            // A path such as `.` has no file name. The packed file is put beside the directory that it stands for.
            None if bundle.file_name().is_none() => replace::directory(&real).join(name),
            None => replace::directory(&bundle).join(name),
        };
        job(bundle, target)
    };
    Ok(bundles.into_iter().map(beside).collect())
}

/// Returns the session of another agent at a path that [`bundles::find`] returned.
fn imported(path: &Path) -> Option<SessionRef> {
    named::find(path).ok().flatten().and_then(Named::imported)
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|byte| *byte == b'/')
}

impl Job {
    fn outcome(&self) -> Outcome {
        Outcome {
            bundle: self.bundle.to_string_lossy().into_owned(),
            target: self.target.to_string_lossy().into_owned(),
            files: None,
            bytes: None,
            packed: None,
            deleted: false,
            problem: None,
            stats: None,
        }
    }

    fn run(&self, level: Level, args: &PackArgs, outcome: &mut Outcome) -> Result<(), Failure> {
        if is_growing(&self.bundle).map_err(Failure::data)? {
            return self.finish(level, args, outcome);
        }
        let is_there = fs::symlink_metadata(&self.target).is_ok();
        if is_there && !args.force && !args.delete_source {
            return Err(self.is_there_already());
        }
        if is_there && !is_packed(&self.target) {
            let error = anyhow::anyhow!("{} is not a packed bundle and is not overwritten", self.target.display());
            return Err(Failure::data(error));
        }
        if args.delete_source {
            unfinished::refuse_to_delete(&self.bundle)?;
        }
        let real = (self.existing.canonicalize().ok()).zip(self.bundle.canonicalize().ok());
        if real.is_some_and(|(directory, bundle)| directory.starts_with(bundle)) {
            let error = anyhow::anyhow!("{} would be inside the bundle that is packed", self.target.display());
            return Err(Failure::data(error).with_hint("-o names another place"));
        }
        let written = match imported(&self.bundle) {
            Some(session) => {
                fs::create_dir_all(replace::directory(&self.target)).map_err(|error| self.cannot_write(error))?;
                Some(bundles::write_beside(&session, &self.target)?)
            }
            None => None,
        };
        let bundle = written.as_ref().map_or(&self.bundle, |written| &written.path);
        let source = if args.delete_source { Source::hold(bundle) } else { Source::list(bundle) }?;
        let stats = if is_there && !args.force {
            self.compare(&source)?
        } else {
            if is_there {
                self.check_loses_nothing(&source)?;
            }
            self.make(&source, level, args)?
        };
        outcome.is(stats);
        if args.delete_source {
            self.sync_directories().map_err(|error| self.cannot_write(error))?;
            source.delete().map_err(|error| {
                Failure::from(error).context(format!("packed as {}, but not deleted", self.target.display()))
            })?;
            outcome.deleted = true;
        }
        Ok(())
    }

    /// Makes a packed bundle of a growing one, whose recorder died. Without another target, the packed bundle takes the place of the
    /// growing one.
    fn finish(&self, level: Level, args: &PackArgs, outcome: &mut Outcome) -> Result<(), Failure> {
        let is_elsewhere = self.target.canonicalize().ok() != self.bundle.canonicalize().ok();
        if is_elsewhere && fs::symlink_metadata(&self.target).is_ok() && !args.force {
            return Err(self.is_there_already());
        }
        if is_elsewhere && self.target.exists() {
            let loses =
                || anyhow::anyhow!("{} is another bundle, or none, and is not overwritten", self.target.display());
            let growing = PackedBundle::open(&self.bundle).map_err(PackError::from)?;
            let known: HashSet<&str> = growing.files().map(|file| file.path).collect();
            let there = PackedBundle::open(&self.target).map_err(|_| Failure::data(loses()))?;
            if there.is_growing() || there.files().any(|file| !known.contains(file.path)) {
                return Err(Failure::data(loses()).with_hint("its content would be lost; -o names another place"));
            }
        }
        let packed = PackedBundle::open(&self.bundle).map_err(PackError::from)?;
        if packed.has_records_behind_damage().map_err(Failure::data)? {
            let error = anyhow::anyhow!("a record in the middle of {} is damaged", self.bundle.display());
            return Err(
                Failure::data(error).with_hint("`trace check --repair` keeps the file beside the packed bundle")
            );
        }
        let parent = replace::directory(&self.target);
        fs::create_dir_all(parent).map_err(|error| self.cannot_write(error))?;
        outcome.is(finish_growing(&self.bundle, &self.target, level).map_err(Failure::data)?);
        if let Some(modified) = packed.modified() {
            // Rules about the age of bundles apply to it.
            let file = File::open(&self.target).map_err(Failure::data)?;
            file.set_times(FileTimes::new().set_modified(modified)).map_err(Failure::data)?;
        }
        if is_elsewhere && args.delete_source {
            delete(&self.bundle).map_err(Failure::data)?;
            outcome.deleted = true;
        }
        Ok(())
    }

    /// Checks that the existing packed bundle has the same content as the source.
    fn compare(&self, source: &Source) -> Result<PackStats, Failure> {
        let differs = |error: PackError| match error {
            PackError::Different { .. } | PackError::ReadBack(_) => Failure::data(error)
                .context(format!("{} exists already and has other content", self.target.display()))
                .with_hint("--force overwrites it, if it has no file that the bundle lacks; -o names another place"),
            error => error.into(),
        };
        let file = File::open(&self.target).map_err(Failure::data)?;
        let packed_bytes = file.metadata().map_err(Failure::data)?.len();
        let packed =
            PackedBundle::from_file(file.try_clone().map_err(Failure::data)?, &self.target).map_err(PackError::from);
        verify(&packed.map_err(differs)?, source).map_err(differs)?;
        file.sync_all().map_err(Failure::data)?;
        Ok(PackStats { files: source.paths().count() as u64, bytes: source.bytes(), packed_bytes })
    }

    /// Refuses to replace a packed bundle that contains files which the source lacks. If the index of the packed bundle
    /// is lost, it contains nothing that could be lost.
    fn check_loses_nothing(&self, source: &Source) -> Result<(), Failure> {
        let Ok(packed) = PackedBundle::open(&self.target) else { return Ok(()) };
        let paths: HashSet<&str> = source.paths().collect();
        match packed.files().find(|file| !paths.contains(file.path)) {
            None => Ok(()),
            Some(file) => {
                let error = anyhow::anyhow!("{} contains {}, which the bundle lacks", self.target.display(), file.path);
                Err(Failure::data(error).with_hint("its content would be lost; -o names another place"))
            }
        }
    }

    fn make(&self, source: &Source, level: Level, args: &PackArgs) -> Result<PackStats, Failure> {
        let parent = replace::directory(&self.target);
        fs::create_dir_all(parent)
            .map_err(|error| Failure::data(error).context(format!("cannot create {}", parent.display())))?;
        let temporary = replace::beside(&self.target)
            .map_err(|error| self.cannot_write(error).with_hint("-o FILE writes it elsewhere"))?;
        let stats = write(source, &temporary, &self.target, level)?;
        if let Some(modified) = source.modified() {
            // The packed file gets the modification time of the bundle, so that rules about the age of bundles apply to
            // it.
            let times = FileTimes::new().set_modified(modified);
            temporary.as_file().set_times(times).map_err(|error| self.cannot_write(error))?;
        }
        if args.delete_source {
            temporary.as_file().sync_all().map_err(|error| self.cannot_write(error))?;
        }
        if args.force {
            temporary.persist(&self.target).map_err(|error| self.cannot_write(error.error))?;
        } else {
            temporary.persist_noclobber(&self.target).map_err(|error| match error.error {
                error if error.kind() == io::ErrorKind::AlreadyExists => self.is_there_already(),
                error => self.cannot_write(error),
            })?;
        }
        Ok(stats)
    }

    /// Syncs the directory of the target and all directories that were created for it. Their entries must be on the
    /// disk before the source, the only other copy, is deleted.
    fn sync_directories(&self) -> io::Result<()> {
        if !cfg!(unix) {
            // Other systems cannot open directories.
            return Ok(());
        }
        let parent = replace::directory(&self.target);
        for directory in parent.ancestors() {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            File::open(directory).and_then(|directory| directory.sync_all())?;
            if directory == self.existing {
                break;
            }
        }
        Ok(())
    }

    fn is_there_already(&self) -> Failure {
        Failure::data(anyhow::anyhow!("{} exists already", self.target.display()))
            .with_hint("--force overwrites it; -o names another place")
    }

    fn cannot_write(&self, error: io::Error) -> Failure {
        Failure::data(error).context(format!("cannot write {}", self.target.display()))
    }
}

/// Packs a bundle into a temporary file for `target`, and compares it with the bundle.
pub(crate) fn write(
    source: &Source,
    temporary: &NamedTempFile,
    target: &Path,
    level: Level,
) -> Result<PackStats, Failure> {
    let stats = pack(source, BufWriter::new(temporary.as_file()), level).map_err(|error| match error {
        PackError::Write(error) => Failure::data(error).context(format!("cannot write {}", target.display())),
        error => error.into(),
    })?;
    let written = temporary.as_file().try_clone().map_err(Failure::data)?;
    let packed = PackedBundle::from_file(written, target).map_err(PackError::from)?;
    verify(&packed, source)?;
    Ok(stats)
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let hint = match &error {
            PackError::BeingRecorded { .. } => "pack it when its session has ended",
            PackError::NotAFile { .. } => "a bundle has only plain files; move this one away to pack the rest",
            PackError::Changed { .. } => "the session may still be recorded; pack it when it has ended",
            PackError::Different { .. } => "this is a bug in trace, or a fault of the disk; the bundle was not changed",
            _ => return Self::data(error),
        };
        Self::data(error).with_hint(hint)
    }
}

fn render(outcomes: &[Outcome], terminal: &Terminal) -> String {
    let packed: Vec<(&str, PackStats)> =
        outcomes.iter().filter_map(|outcome| Some((outcome.target.as_str(), outcome.stats?))).collect();
    if packed.is_empty() {
        return String::new();
    }
    let mut table = terminal.table(&["FILES", "BYTES", "PACKED", "RATIO", "FILE"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let mut add = |stats: PackStats, name: &str| {
        table.add_row(row(vec![
            right(text::number(stats.files)),
            right(text::bytes(stats.bytes)),
            right(text::bytes(stats.packed_bytes)),
            right(ratio(stats)),
            Cell::new(name),
        ]));
    };
    for (target, stats) in &packed {
        let target = bundles::shown(Path::new(target)).to_string_lossy();
        add(*stats, &text::clean(&target));
    }
    if packed.len() > 1 {
        let sum = |of: fn(&PackStats) -> u64| packed.iter().map(|(_, stats)| of(stats)).sum();
        let all = PackStats {
            files: sum(|stats| stats.files),
            bytes: sum(|stats| stats.bytes),
            packed_bytes: sum(|stats| stats.packed_bytes),
        };
        add(all, "in all");
    }
    let mut text = String::new();
    push_table(&mut text, "", table);
    text
}

fn ratio(stats: PackStats) -> String {
    let ratio = stats.bytes as f64 / stats.packed_bytes as f64;
    let digits = usize::from(ratio < 100.0);
    format!("{ratio:.digits$}")
}
