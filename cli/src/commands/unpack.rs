//! `trace unpack`: restores the directories of packed bundles.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use trace_recorder::bundle::find_bundles;
use trace_recorder::pack::{
    MAX_UNPACKED_BYTES, PACKED_EXTENSION, PackedBundle, PackedError, UnpackError, is_packed, unpack,
};

use crate::bundles;
use crate::named::{self, Named};
use crate::replace;
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace unpack traces/trace-1.trace              makes traces/trace-1
  trace unpack traces/trace-1.trace -o copy      makes copy
  trace unpack archive/*.trace -o traces/        traces/<name> for each

--json writes an array of objects with file, target, files, bytes and problem.

The directory is written under a temporary name, and renamed when all checksums are correct. An existing directory is \
never touched. Directories and files are readable only by their owner.

Exit codes: 0 all unpacked; 1 a file is damaged, or a directory could not be written (the others were unpacked); 2 \
wrong usage; 3 an internal error.";

/// Restores the directories of packed bundles
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct UnpackArgs {
    /// Packed bundles, or folders with packed bundles below them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the bundle goes: a new directory for one file, an existing directory (or a name that ends with /) for
    /// several
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Most bytes of an unpacked bundle, such as 500MB or 2GB [default: 64GiB]
    #[arg(long, value_name = "SIZE", value_parser = crate::ui::amount::parse_size)]
    max_size: Option<u64>,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing but failures
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// The result for a packed bundle. An element of the array of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    file: String,
    target: String,
    files: Option<u64>,
    bytes: Option<u64>,
    problem: Option<String>,
}

pub(crate) fn run(args: &UnpackArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    bundles::refuse_stdout(args.output.as_deref())?;
    let mut files = Vec::new();
    let mut failed = Failed::new(terminal);
    for argument in &args.files {
        match packed_below(argument) {
            Ok(found) => files.extend(found),
            Err(failure) => failed.say(&failure, None),
        }
    }
    let is_one = args.files.len() == 1 && files.len() == 1 && files[0] == args.files[0];
    let into = args.output.as_deref().filter(|output| !is_one || output.is_dir() || ends_with_separator(output));
    let jobs: Vec<(PathBuf, PathBuf)> = match (into, &args.output) {
        (Some(directory), _) => bundles::unique_names(files, "")
            .into_iter()
            .map(|(file, name)| (file, directory.join(bundles::unpacked_path(&name))))
            .collect(),
        (None, Some(output)) => files.into_iter().map(|file| (file, output.clone())).collect(),
        (None, None) => files.into_iter().map(|file| (file.clone(), bundles::unpacked_path(&file))).collect(),
    };
    let mut outcomes = Vec::new();
    for (file, target) in jobs {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut outcome = Outcome { file: text(&file), target: text(&target), files: None, bytes: None, problem: None };
        match unpack_to(&file, &target, args.max_size.unwrap_or(MAX_UNPACKED_BYTES)) {
            Ok(bundle) => (outcome.files, outcome.bytes) = (Some(bundle.files().len() as u64), Some(bundle.bytes())),
            Err(failure) => {
                failed.say(&failure, Some(&file));
                outcome.problem = Some(failure.message());
            }
        }
        outcomes.push(outcome);
    }
    if args.json {
        terminal.print_json(&outcomes)?;
    } else if !args.quiet {
        terminal.print(&outcomes.iter().map(Outcome::render).collect::<String>())?;
    }
    Ok(failed.ending())
}

impl Outcome {
    /// Formats the result as a line.
    fn render(&self) -> String {
        let (Some(files), Some(bytes)) = (self.files, self.bytes) else { return String::new() };
        let target = bundles::shown(Path::new(&self.target)).to_string_lossy();
        format!("{}: {}, {}\n", text::clean(&target), text::count(files, "file"), text::bytes(bytes))
    }
}

/// Resolves an argument to packed bundles.
fn packed_below(argument: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !argument.is_dir() {
        return match named::find(argument)? {
            Some(Named::Bundle(path)) => Ok(vec![path]),
            Some(Named::Imported(session)) => {
                let error =
                    anyhow::anyhow!("{} is the session of another agent, and not packed", session.path.display());
                Err(Failure::data(error).with_hint("`trace import` makes a directory of it"))
            }
            None => Ok(vec![argument.to_owned()]),
        };
    }
    let below: Vec<_> = find_bundles(argument)?.into_iter().filter(|bundle| is_packed(bundle)).collect();
    if below.is_empty() {
        let error = anyhow::anyhow!("there is no packed bundle below {}", argument.display());
        return Err(Failure::data(error));
    }
    Ok(below)
}

fn unpack_to(file: &Path, target: &Path, max_bytes: u64) -> Result<PackedBundle, Failure> {
    let bundle = PackedBundle::open(file).map_err(UnpackError::from)?;
    if fs::symlink_metadata(target).is_ok() {
        return Err(Failure::data(anyhow::anyhow!("{} exists already", target.display()))
            .with_hint("-o names another place; an existing directory is never touched"));
    }
    let cannot_write =
        |error: std::io::Error| Failure::data(error).context(format!("cannot write {}", target.display()));
    fs::create_dir_all(replace::directory(target)).map_err(cannot_write)?;
    let temporary = replace::directory_beside(target).map_err(cannot_write)?;
    unpack(&bundle, temporary.path(), max_bytes)?;
    fs::rename(temporary.path(), target).map_err(cannot_write)?;
    // The directory was renamed, so the temporary path no longer exists.
    let _ = temporary.keep();
    Ok(bundle)
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|byte| *byte == b'/')
}

impl From<UnpackError> for Failure {
    fn from(error: UnpackError) -> Self {
        let hint = match &error {
            UnpackError::TooLarge { .. } => "--max-size allows more",
            UnpackError::Packed(PackedError::Io { path, .. }) if !path.exists() => {
                let packed = bundles::with_suffix(path, &format!(".{PACKED_EXTENSION}"));
                if !is_packed(&packed) {
                    return Self::data(error).with_hint("`trace ls ROOT` lists the bundles below a folder");
                }
                let hint = format!("{} exists", packed.display());
                return Self::data(error).with_hint(hint);
            }
            UnpackError::Packed(PackedError::NotPacked { .. }) => "`trace pack` makes packed bundles",
            UnpackError::Packed(PackedError::Block { .. }) => "`trace show` and `trace reduce` read the other blocks",
            _ => return Self::data(error),
        };
        Self::data(error).with_hint(hint)
    }
}
