//! Resolves the bundles to reduce, and decides where the output of each goes.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trace_recorder::bundle::{is_bundle, is_bundle_directory};
use trace_recorder::format::{COMPACT_STATE_FILE, EVENT_LOG_FILE, MANIFEST_FILE, PAYLOADS_DIR, STATE_FILE};
use trace_recorder::pack::is_packed;

use crate::bundles::{self, Found};
use crate::replace::replace;
use crate::ui::failure::Failure;
use crate::ui::output::stdout_failure;

/// What is written of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `state.json`, with every list spelt out.
    SpeltOut,
    /// `state.compact.json`, with lists as ranges of shared lines.
    Compact,
}

impl Form {
    /// All forms.
    pub(crate) const ALL: [Self; 2] = [Self::SpeltOut, Self::Compact];

    /// Returns the name of the file in the directory of a bundle.
    fn file_name(self) -> &'static str {
        match self {
            Self::SpeltOut => STATE_FILE,
            Self::Compact => COMPACT_STATE_FILE,
        }
    }

    /// Returns what follows the name of a bundle in a folder of outputs.
    fn suffix(self) -> &'static str {
        match self {
            Self::SpeltOut => ".json",
            Self::Compact => ".compact.json",
        }
    }
}

/// The jobs of a run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    /// Arguments that cannot be reduced.
    pub(super) failures: Vec<Failure>,
}

/// A bundle to reduce.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) bundle: PathBuf,
    pub(super) target: Target,
}

/// Where the output of a bundle goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file that is replaced atomically.
    Replace(PathBuf),
    /// An existing path that is not a plain file, such as `/dev/null`, and must not be replaced by one.
    WriteInto(PathBuf),
    Stdout,
}

impl Target {
    /// Writes an output that is not a `state.json`.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let (path, written) = match self {
            Self::Replace(path) => (path, replace(path, |mut file| write(&mut file))),
            Self::WriteInto(path) => {
                (path, OpenOptions::new().write(true).open(path).and_then(|mut file| write(&mut file)))
            }
            Self::Stdout => return write(&mut io::stdout().lock()).map_err(stdout_failure),
        };
        written.map_err(|error| Failure::data(error).context(format!("cannot write {}", path.display())))
    }
}

/// Returns whether an output argument stands for stdout.
pub(super) fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}

/// Resolves the bundles and decides where their outputs go.
///
/// # Errors
///
/// Returns an error if the output does not fit the number of bundles. An argument that cannot be resolved is in
/// [`Plan::failures`] instead.
pub(super) fn plan(arguments: &[PathBuf], output: Option<&Path>, form: Form) -> Result<Plan, Failure> {
    let Found { bundles, failures, is_one } = bundles::find(arguments);
    let jobs = match output {
        None => {
            // Nothing is written into the folders of other agents.
            if let Some(foreign) = bundles.iter().find(|bundle| !is_bundle(bundle)) {
                return Err(Failure::usage(format!("{} is the session of another agent", foreign.display()))
                    .with_hint("-o FILE says where the graph goes; -o - prints it"));
            }
            let with_state = |bundle: PathBuf| Job { target: Target::Replace(state_path(&bundle, form)), bundle };
            bundles.into_iter().map(with_state).collect()
        }
        Some(output) if is_stdout(output) => {
            bundles.into_iter().map(|bundle| Job { bundle, target: Target::Stdout }).collect()
        }
        Some(output) if is_one && !is_directory(output) => {
            let job = |bundle: PathBuf| Ok(Job { target: file_target(output)?, bundle });
            bundles.into_iter().map(job).collect::<Result<_, Failure>>()?
        }
        Some(output) => in_directory(bundles, output, form)?,
    };
    Ok(Plan { jobs, failures })
}

/// Returns the default output path of a bundle: inside a directory, beside a packed bundle.
pub(crate) fn state_path(bundle: &Path, form: Form) -> PathBuf {
    let name = form.file_name();
    if bundle.is_dir() {
        bundle.join(name)
    } else {
        bundles::with_suffix(&bundles::unpacked_path(bundle), &format!(".{name}"))
    }
}

fn is_directory(output: &Path) -> bool {
    let ends_with_separator = output.as_os_str().as_encoded_bytes().last().is_some_and(|byte| *byte == b'/');
    output.is_dir() || ends_with_separator
}

/// Decides how to write to the output file that the user named for one bundle.
///
/// # Errors
///
/// Returns an error if the file belongs to a recording.
pub(crate) fn file_target(output: &Path) -> Result<Target, Failure> {
    // If the user named a symlink, its target is written to.
    let path = output.canonicalize().unwrap_or_else(|_| output.to_owned());
    if path.exists() && !path.is_file() {
        return Ok(Target::WriteInto(path));
    }
    if is_record(&path) {
        return Err(belongs_to_recording(output));
    }
    Ok(Target::Replace(path))
}

/// Returns whether a recorder writes a file of this path.
fn is_record(path: &Path) -> bool {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default();
    let is_named_so = name == OsStr::new(MANIFEST_FILE) || name == OsStr::new(EVENT_LOG_FILE);
    (is_named_so && is_bundle_directory(directory)) || is_of_payloads(directory) || is_packed(path)
}

/// Returns whether a directory contains the payloads of a bundle.
fn is_of_payloads(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    directory.file_name() == Some(OsStr::new(PAYLOADS_DIR)) && directory.parent().is_some_and(is_bundle_directory)
}

fn belongs_to_recording(output: &Path) -> Failure {
    Failure::usage(format!("{} belongs to a recording and is not overwritten", output.display()))
        .with_hint("name another output with -o")
}

/// Gives each bundle an output file in `directory`.
fn in_directory(bundles: Vec<PathBuf>, directory: &Path, form: Form) -> Result<Vec<Job>, Failure> {
    if directory.exists() && !directory.is_dir() {
        let message = format!("-o {} is a file, but several bundles are to be reduced", directory.display());
        return Err(Failure::usage(message).with_hint("name a directory, or leave -o out to write into the bundles"));
    }
    let named: Vec<_> = bundles::unique_names(bundles, form.suffix())
        .into_iter()
        .map(|(bundle, name)| (bundle, directory.join(name)))
        .collect();
    if let Some((_, path)) = named.iter().find(|(_, path)| is_record(path)) {
        return Err(belongs_to_recording(path));
    }
    // Only names that contain parent components need directories of their own.
    let mut parents: Vec<&Path> = named.iter().filter_map(|(_, path)| path.parent()).collect();
    parents.push(directory);
    parents.sort_unstable();
    parents.dedup();
    for parent in parents {
        std::fs::create_dir_all(parent)
            .map_err(|error| Failure::data(error).context(format!("cannot create {}", parent.display())))?;
    }
    Ok(named.into_iter().map(|(bundle, path)| Job { bundle, target: Target::Replace(path) }).collect())
}
