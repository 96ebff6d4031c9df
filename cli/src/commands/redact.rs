//! `trace redact`: copies a bundle without its secrets, or checks whether it has any.

mod report;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use trace_recorder::Bundle;
use trace_recorder::pack::{DEFAULT_LEVEL, PACKED_EXTENSION, Source};
use trace_recorder::redact::{self, MAX_LITERAL_BYTES, MIN_LITERAL_BYTES, RedactError, Report, Rules};

use crate::address::{is_address, unreadable};
use crate::argument::BundleArg;
use crate::bundles;
use crate::commands::pack;
use crate::named;
use crate::replace;
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

/// Largest size of a file for `--literal-file`, in bytes.
const MAX_LITERAL_FILE_BYTES: u64 = 16 << 20;

const AFTER_HELP: &str = "\
Examples:
  trace redact traces/trace-1 -o shared/trace-1        a copy without secrets, and a list of what was replaced
  trace redact traces/trace-1 -o trace-1.trace         the same, packed
  trace redact --check traces/trace-1                  exit code 1 if anything would be replaced
  trace redact B -o OUT --env DATABASE_PASSWORD        the value of a variable, wherever it occurs
  trace redact B -o OUT --literal-file names.txt       each line of a file
  trace redact B -o OUT --regex 'ticket=TICKET-[0-9]+' what a regular expression matches

Keys and tokens of the common providers, private keys, authorization headers, cookies, passwords in URLs, and values \
that are assigned to names such as API_KEY or password are replaced by [redacted:KIND:HASH]. They are found in every \
payload and event, also in JSON inside strings and in base64. Equal secrets have equal hashes, so the copy reduces to \
a graph of the same shape. Everything else is copied byte for byte. The bundle itself is never changed. Other files of \
the bundle are redacted and copied too, except for state.json and state.compact.json, which `trace reduce` makes again, and backups of \
repairs.

Redaction is best effort. Read the report, and check what you are about to share.

HASH is the beginning of a SHA-256 of the secret. It lets a reader confirm a guess of a short password, unless --salt \
is given.

--json writes an object with bundle, output (null with --check) and report: secrets (array of kind, hash, occurrences, \
documents, places), documents, documents_with_secrets, damaged, unreadable and left_out.

Exit codes: 0 redacted, or --check found nothing; 1 --check found something, or the bundle cannot be read in full or the \
copy cannot be written; 2 wrong usage; 3 an internal error.";

/// Copies a bundle without its secrets, or checks whether it has any
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RedactArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// The directory of the copy, or a packed bundle if the name ends in .trace; must not exist
    #[arg(short, long, value_name = "OUT", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// Write nothing, and fail if anything would be replaced
    #[arg(long, conflicts_with = "output")]
    check: bool,
    /// Also replace what a regular expression, or its first group, matches; NAME is the kind in placeholders
    #[arg(long, value_name = "NAME=PATTERN")]
    regex: Vec<String>,
    /// Also replace each line of a file wherever it occurs, even in ids; - is stdin
    #[arg(long, value_name = "FILE|-")]
    literal_file: Vec<PathBuf>,
    /// Also replace the value of an environment variable wherever it occurs
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// A secret text that is mixed into the hashes
    #[arg(long, value_name = "TEXT", hide_default_value = true)]
    salt: Option<String>,
    /// Write the report as JSON, described below
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RedactArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let rules = rules(args)?;
    let path = args.bundle.path();
    let path = named::find(&path)?.map_or(path, |named| named.argument());
    // The symlinks must be refused before anything in the bundle is read.
    redact::refuse_links(&path).map_err(failure)?;
    if is_address(&path) {
        // What a store fails to send would be missing in the copy.
        return Err(unreadable(&path));
    }
    let bundle = bundles::open(&path)?;
    let report = match &args.output {
        Some(output) if output.extension().is_some_and(|extension| extension == PACKED_EXTENSION) => {
            packed_copy(&bundle, &rules, output)?
        }
        Some(output) => redact::redact(&bundle, &rules, output).map_err(failure)?,
        None => redact::scan(&bundle, &rules).map_err(failure)?,
    };
    let (named, copy) = (args.bundle.path(), args.output.as_deref());
    if args.json {
        terminal.print_json(&report::json(&named, copy, &report))?;
    } else {
        terminal.print(&report::render(&named, copy, &report, terminal))?;
    }
    // A check fails if something could not be searched.
    let is_well =
        if args.check { report.is_clean() && report.left_out.is_empty() } else { report.unreadable.is_empty() };
    Ok(if is_well { Ending::Done } else { Ending::Failed(Kind::Data) })
}

/// Writes the copy as a packed bundle. The file appears when it is complete.
fn packed_copy(bundle: &Bundle, rules: &Rules, output: &Path) -> Result<Report, Failure> {
    let exists = || failure(RedactError::Exists { path: output.to_owned() });
    if output.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let cannot_write = |source| failure(RedactError::Write { path: output.to_owned(), source });
    // The redacted files are private, in a temporary directory beside the output.
    let directory = replace::directory_beside(output).map_err(cannot_write)?;
    let copy = directory.path().join("bundle");
    let report = redact::redact(bundle, rules, &copy).map_err(failure)?;
    let temporary = replace::beside(output).map_err(cannot_write)?;
    pack::write(&Source::list(&copy)?, &temporary, output, DEFAULT_LEVEL)?;
    temporary.persist_noclobber(output).map_err(|error| match error.error {
        error if error.kind() == io::ErrorKind::AlreadyExists => exists(),
        error => cannot_write(error),
    })?;
    Ok(report)
}

fn rules(args: &RedactArgs) -> Result<Rules, Failure> {
    let mut rules = Rules::default();
    for rule in &args.regex {
        let (name, pattern) = rule.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--regex {rule} has no name"))
                .with_hint("--regex NAME=PATTERN, as in 'ticket=T-[0-9]+'")
        })?;
        rules = rules
            .with_pattern(name, pattern)
            .map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::from(error))))?;
    }
    for path in &args.literal_file {
        rules = with_lines(rules, path)?;
    }
    for name in &args.env {
        let value = std::env::var(name).map_err(|_| {
            Failure::usage(format!("--env {name}: the variable is not set, or not UTF-8"))
                .with_hint(format!("`export {name}` first, or leave --env {name} out"))
        })?;
        rules = rules.with_variable(name, &value).map_err(|error| Failure::usage(format!("--env {name}: {error}")))?;
    }
    Ok(match &args.salt {
        Some(salt) => rules.with_salt(salt),
        None => rules,
    })
}

fn with_lines(mut rules: Rules, path: &Path) -> Result<Rules, Failure> {
    let mut text = String::new();
    let opened: io::Result<Box<dyn Read>> = if path == Path::new("-") {
        Ok(Box::new(io::stdin().lock()))
    } else {
        std::fs::File::open(path).map(|file| Box::new(file) as Box<dyn Read>)
    };
    opened
        .and_then(|file| file.take(MAX_LITERAL_FILE_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| Failure::usage(format!("cannot read --literal-file {}: {error}", path.display())))?;
    if text.len() as u64 > MAX_LITERAL_FILE_BYTES {
        let message = format!("--literal-file {} has more than {MAX_LITERAL_FILE_BYTES} bytes", path.display());
        return Err(Failure::usage(message));
    }
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        rules = rules.with_literal(line).map_err(|_| {
            // The line may be a secret, so the message does not contain it.
            Failure::usage(format!(
                "line {} of --literal-file {} has {} bytes; {MIN_LITERAL_BYTES} to {MAX_LITERAL_BYTES} can be searched for",
                index + 1,
                path.display(),
                line.len()
            ))
        })?;
    }
    Ok(rules)
}

fn failure(error: RedactError) -> Failure {
    let hint = match &error {
        RedactError::BeingRecorded { .. } => {
            "wait until the session ends; `--check` can search it meanwhile".to_owned()
        }
        RedactError::Exists { path } => format!("name another place, or remove {} first", path.display()),
        RedactError::Write { path, .. } => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
                format!("`mkdir -p {}` first", parent.display())
            }
            _ => return Failure::data(error),
        },
        RedactError::NotPlain { path } => format!(
            "recorders write no symlinks: `ls -l {}` shows its target; replace the symlink by the file if it belongs to the bundle",
            path.display()
        ),
        RedactError::Read { .. } => return Failure::data(error),
    };
    Failure::data(error).with_hint(hint)
}
