//! `trace import`: makes bundles of the sessions of other agents.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use trace_import::SessionRef;
use trace_recorder::Bundle;
use trace_recorder::bundle::is_bundle;
use trace_recorder::format::ImportNote;
use trace_recorder::pack::{DEFAULT_LEVEL, PACKED_EXTENSION, Source};

use crate::argument::{self, StoredArg};
use crate::bundles;
use crate::commands::pack;
use crate::foreign::{self, import_failure};
use crate::named::{self, Named};
use crate::replace;
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace import ~/.codex/sessions/2026/11/22/rollout-....jsonl -o bundle   makes the directory bundle
  trace import 01a2051b -o session.trace                                 by the beginning of its id, packed
  trace import ~/.codex/sessions -o traces/                              traces/<name> for each session

A session is named by its file, by a folder with sessions below it, by its id or the beginning of it, or by @last. The files of \
children are found beside that of their parent.

Other commands read such sessions without an import. What the files do not tell is listed with stable codes, which \
docs/import.md explains.

--json writes an array of objects with session, format, target, notes and problem.

Exit codes: 0 all imported; 1 a session could not be read, or a bundle could not be written (the others were imported); 2 \
wrong usage; 3 an internal error.";

/// Makes bundles of sessions that other agents stored
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ImportArgs {
    /// Session files, folders with sessions below them, ids, or @last
    #[arg(required = true, value_name = "SESSION", add = argument::sessions())]
    sessions: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// Where the bundle goes: a new directory, or a new file that ends with .trace; for several sessions an existing
    /// directory (or a name that ends with /)
    #[arg(short, long, value_name = "PATH", required = true)]
    output: PathBuf,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
}

/// The result for a session. An element of the array of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    session: String,
    format: &'static str,
    target: String,
    notes: Vec<ImportNote>,
    problem: Option<String>,
}

pub(crate) fn run(args: &ImportArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    bundles::refuse_stdout(Some(&args.output))?;
    let mut failed = Failed::new(terminal);
    let mut sessions = Vec::new();
    let mut seen = HashSet::new();
    for argument in args.stored.of(&args.sessions)? {
        match resolve(&argument) {
            Ok(found) => sessions.extend(found.into_iter().filter(|session| seen.insert(session.clone()))),
            Err(failure) => failed.say(&failure, None),
        }
    }
    let jobs = targets(sessions, &args.output)?;
    let mut outcomes = Vec::new();
    for (session, target) in jobs {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let mut outcome = Outcome {
            session: path(&session.path),
            format: session.format,
            target: path(&target),
            notes: Vec::new(),
            problem: None,
        };
        match import(&session, &target) {
            Ok(notes) => outcome.notes = notes,
            Err(failure) => {
                failed.say(&failure, Some(&session.path));
                outcome.problem = Some(failure.message());
            }
        }
        outcomes.push(outcome);
    }
    if args.json {
        terminal.print_json(&outcomes)?;
    } else {
        terminal.print(&outcomes.iter().map(Outcome::render).collect::<String>())?;
    }
    Ok(failed.ending())
}

impl Outcome {
    /// Formats the result: a line for the bundle, and one for each note.
    fn render(&self) -> String {
        if self.problem.is_some() {
            return String::new();
        }
        let target = bundles::shown(Path::new(&self.target)).to_string_lossy();
        let mut lines = format!("{}: {} session\n", text::clean(&target), self.format);
        for note in &self.notes {
            lines.push_str(&format!("  {} ({}): {}\n", note.code, note.count, note.message));
        }
        lines
    }
}

fn resolve(argument: &Path) -> Result<Vec<SessionRef>, Failure> {
    let found = foreign::sessions(argument)?;
    if !found.is_empty() {
        return Ok(found);
    }
    match named::find(argument)? {
        Some(Named::Imported(session)) => Ok(vec![session]),
        Some(Named::Bundle(bundle)) => Err(Failure::usage(format!("{} is a bundle already", bundle.display()))
            .with_hint("`trace pack` makes one file of it, and `cp -r` copies it")),
        None => Err(named::nothing(argument).unwrap_or_else(|| {
            let error = Failure::data(anyhow::anyhow!("{} names no session of an agent", argument.display()));
            error.with_hint("docs/import.md lists the agents whose sessions can be read")
        })),
    }
}

/// Decides where each bundle goes.
fn targets(sessions: Vec<SessionRef>, output: &Path) -> Result<Vec<(SessionRef, PathBuf)>, Failure> {
    let ends_with_separator = output.as_os_str().as_encoded_bytes().last().is_some_and(|byte| *byte == b'/');
    // An import never goes into another bundle.
    let is_folder = ends_with_separator || (output.is_dir() && !is_bundle(output));
    if !is_folder && sessions.len() > 1 {
        return Err(Failure::usage(format!("{} sessions cannot become one bundle", sessions.len()))
            .with_hint("-o DIR/ names a folder for all of them"));
    }
    if !is_folder {
        return Ok(sessions.into_iter().map(|session| (session, output.to_owned())).collect());
    }
    fs::create_dir_all(output)
        .map_err(|error| Failure::data(error).context(format!("cannot create {}", output.display())))?;
    let names = foreign::file_names(&sessions);
    Ok(sessions.into_iter().zip(names).map(|(session, name)| (session, output.join(name))).collect())
}

fn import(session: &SessionRef, target: &Path) -> Result<Vec<ImportNote>, Failure> {
    let bundle = trace_import::open(session).map_err(import_failure)?;
    if target.extension().is_some_and(|extension| extension == PACKED_EXTENSION) {
        write_packed(&bundle, target)?;
    } else {
        trace_import::write(&bundle, target).map_err(import_failure)?;
    }
    Ok(bundle.import().map(|import| import.notes.clone()).unwrap_or_default())
}

/// Writes a bundle as a packed one. The file appears when it is complete.
fn write_packed(bundle: &Bundle, target: &Path) -> Result<(), Failure> {
    let cannot_write = |error: io::Error| Failure::data(error).context(format!("cannot write {}", target.display()));
    if target.symlink_metadata().is_ok() {
        return Err(cannot_write(io::ErrorKind::AlreadyExists.into()));
    }
    let directory = replace::directory_beside(target).map_err(cannot_write)?;
    let copy = directory.path().join("bundle");
    trace_import::write(bundle, &copy).map_err(import_failure)?;
    let temporary = replace::beside(target).map_err(cannot_write)?;
    pack::write(&Source::list(&copy)?, &temporary, target, DEFAULT_LEVEL)?;
    temporary.persist_noclobber(target).map_err(|error| cannot_write(error.error))?;
    Ok(())
}
