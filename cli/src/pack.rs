//! `trace pack`: bundles become one small file each.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{Cell, CellAlignment};
use tempfile::NamedTempFile;
use trace_recorder::pack::{
    DEFAULT_LEVEL, Level, PACKED_EXTENSION, PackError, PackStats, PackedBundle, Source, is_packed, pack, verify,
};

use crate::bundles::{self, Found};
use crate::failure::{Ending, Failed, Failure};
use crate::output::{Terminal, push_table, row};
use crate::{may_go_on, replace, text};

const AFTER_HELP: &str = "\
Examples:
  trace pack traces/trace-1                    writes traces/trace-1.trace
  trace pack traces                            a packed bundle beside every one below traces
  trace pack traces -o archive                 archive/<name of the bundle>.trace for each
  trace pack traces/trace-1 -o session.trace   to a file of this name
  trace pack --delete-source traces            frees the space, bundle by bundle

A packed bundle holds every file of the bundle to the byte, except state.json, which `trace reduce` makes again. All \
commands read it as they read the directory; `trace unpack` makes the directory again. Damaged bundles are packed as \
they are. A bundle that is being recorded is refused, and so is one with anything that is neither a file nor a directory.

The file is written under another name, read back and compared with the bundle byte by byte before it takes its place. \
It is readable by its owner alone, since it holds what the session saw. With --delete-source the bundle is deleted after \
that, unless it changed meanwhile or its session seems to go on.

Exit codes: 0 all packed; 1 a bundle could not be packed or deleted (the others are packed all the same); 2 wrong usage; \
3 an internal error.";

/// Packs bundles into one file each, many times smaller
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PackArgs {
    /// Bundles, or folders with bundles below them
    #[arg(required = true, value_name = "BUNDLE")]
    bundles: Vec<PathBuf>,
    /// Where the packed bundle goes instead of beside the bundle: a file for one bundle, a directory for several
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// How hard to compress, from 1 (fast) to 22 (small) [default: 19]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    level: Option<i32>,
    /// Delete each bundle after its packed file was compared with it
    #[arg(long)]
    delete_source: bool,
    /// Overwrite packed files that are there
    #[arg(long)]
    force: bool,
    /// Say nothing but what could not be done
    #[arg(short, long)]
    quiet: bool,
}

/// One bundle, and where it goes.
struct Job {
    bundle: PathBuf,
    target: PathBuf,
}

pub(crate) fn run(args: &PackArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let level = args.level.map_or(Ok(DEFAULT_LEVEL), Level::new).map_err(Failure::usage)?;
    let Found { bundles, mut failures, is_one } = bundles::find(&args.bundles);
    let jobs = plan(bundles, args, is_one, &mut failures)?;
    let mut failed = Failed::new(terminal);
    for failure in &failures {
        failed.say(failure, None);
    }
    let mut packed = Vec::new();
    for job in jobs {
        match job.run(level, args) {
            Ok(stats) => packed.push((job.target, stats)),
            Err(failure) => failed.say(&failure, Some(&job.bundle)),
        }
    }
    if !args.quiet && !packed.is_empty() {
        terminal.print(&render(&packed, terminal))?;
    }
    Ok(failed.ending())
}

/// Decides where each bundle goes.
fn plan(
    bundles: Vec<PathBuf>,
    args: &PackArgs,
    is_one: bool,
    failures: &mut Vec<Failure>,
) -> Result<Vec<Job>, Failure> {
    let into = args.output.as_deref().filter(|output| !is_one || output.is_dir() || ends_with_separator(output));
    if let Some(directory) = into {
        if directory.exists() && !directory.is_dir() {
            let message = format!("-o {} is a file, but several bundles are to be packed", directory.display());
            return Err(Failure::usage(message).with_hint("name a directory, or leave -o out"));
        }
        fs::create_dir_all(directory)
            .map_err(|error| Failure::data(error).context(format!("cannot create {}", directory.display())))?;
    }
    // Packed ones below a folder are what earlier runs made.
    let (packed, bundles): (Vec<_>, Vec<_>) = bundles.into_iter().partition(|bundle| is_packed(bundle));
    for bundle in packed.iter().filter(|bundle| args.bundles.contains(bundle)) {
        failures.push(Failure::data(anyhow::anyhow!("{} is packed already", bundle.display())));
    }
    let suffix = format!(".{PACKED_EXTENSION}");
    if let Some(directory) = into {
        return bundles::unique_names(bundles, &suffix)
            .into_iter()
            .map(|(bundle, name)| {
                let target = directory.join(name);
                let parent = replace::directory(&target);
                fs::create_dir_all(parent)
                    .map_err(|error| Failure::data(error).context(format!("cannot create {}", parent.display())))?;
                Ok(Job { bundle, target })
            })
            .collect();
    }
    let beside = |bundle: PathBuf| {
        let real = bundle.canonicalize().unwrap_or_else(|_| bundle.clone());
        let name = bundles::with_suffix(Path::new(real.file_name().unwrap_or("bundle".as_ref())), &suffix);
        let target = match &args.output {
            Some(output) => output.clone(),
            // What is named as `.` still goes beside the directory that it is.
            None if bundle.file_name().is_none() => replace::directory(&real).join(name),
            None => replace::directory(&bundle).join(name),
        };
        Job { bundle, target }
    };
    Ok(bundles.into_iter().map(beside).collect())
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|byte| *byte == b'/')
}

impl Job {
    fn run(&self, level: Level, args: &PackArgs) -> Result<PackStats, Failure> {
        let exists = || {
            Failure::data(anyhow::anyhow!("{} is there already", self.target.display()))
                .with_hint("--force overwrites it; -o names another place")
        };
        let is_there = fs::symlink_metadata(&self.target).is_ok();
        if is_there && !args.force {
            return Err(exists());
        }
        if is_there && !is_packed(&self.target) {
            let error = anyhow::anyhow!("{} is no packed bundle and is not overwritten", self.target.display());
            return Err(Failure::data(error));
        }
        if args.delete_source {
            may_go_on::refuse_to_delete(&self.bundle)?;
        }
        let inside = replace::directory(&self.target).canonicalize().ok().zip(self.bundle.canonicalize().ok());
        if inside.is_some_and(|(directory, bundle)| directory.starts_with(bundle)) {
            let error = anyhow::anyhow!("{} would lie in the bundle that it is made of", self.target.display());
            return Err(Failure::data(error).with_hint("-o names another place"));
        }
        let source = Source::list(&self.bundle)?;
        let cannot_write =
            |error: io::Error| Failure::data(error).context(format!("cannot write {}", self.target.display()));
        let temporary = replace::beside(&self.target)
            .map_err(|error| cannot_write(error).with_hint("-o FILE writes it elsewhere"))?;
        let stats = self.write(&source, &temporary, level)?;
        if args.delete_source {
            temporary.as_file().sync_all().map_err(cannot_write)?;
        }
        if args.force {
            temporary.persist(&self.target).map_err(|error| cannot_write(error.error))?;
        } else {
            temporary.persist_noclobber(&self.target).map_err(|error| match error.error {
                error if error.kind() == io::ErrorKind::AlreadyExists => exists(),
                error => cannot_write(error),
            })?;
        }
        if args.delete_source {
            // The name has to be on the disk before the only other copy goes.
            File::open(replace::directory(&self.target)).and_then(|parent| parent.sync_all()).map_err(cannot_write)?;
            source.delete().map_err(|error| {
                Failure::from(error).context(format!("packed as {}, but not deleted", self.target.display()))
            })?;
        }
        Ok(stats)
    }

    fn write(&self, source: &Source, temporary: &NamedTempFile, level: Level) -> Result<PackStats, Failure> {
        let stats = pack(source, BufWriter::new(temporary.as_file()), level).map_err(|error| match error {
            PackError::Write(error) => Failure::data(error).context(format!("cannot write {}", self.target.display())),
            error => error.into(),
        })?;
        let written = temporary.as_file().try_clone().map_err(Failure::data)?;
        let packed = PackedBundle::from_file(written, &self.target).map_err(PackError::from)?;
        verify(&packed, source)?;
        Ok(stats)
    }
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let hint = match &error {
            PackError::BeingRecorded { .. } => "pack it when its session has ended",
            PackError::NotAFile { .. } => "a bundle holds plain files alone; move it away to pack the rest",
            PackError::Changed { .. } => "the session may still be recorded; pack it when it has ended",
            PackError::Different { .. } => "this is a bug in trace, or of the disk; the bundle is as it was",
            _ => return Self::data(error),
        };
        Self::data(error).with_hint(hint)
    }
}

fn render(packed: &[(PathBuf, PackStats)], terminal: &Terminal) -> String {
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
    for (target, stats) in packed {
        add(*stats, &text::clean(&target.to_string_lossy()));
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
