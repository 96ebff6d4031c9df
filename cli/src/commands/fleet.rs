//! `trace fleet`: starts `trace-fleet`, a program of its own, because the engine that it links takes longer to build than
//! everything else.

use std::ffi::OsString;
use std::process::Command;

use clap::Args;

use crate::address::{fleet_program, not_started};
use crate::ui::failure::{Ending, Failure};

const AFTER_HELP: &str = "\
Commands:
  ingest SOURCE... --lake URL      add sessions to a lake of tables, in a folder or in object storage
  query --lake URL SQL|@NAME       ask a lake with SQL or a named question
  questions, tables                list the named questions; list the tables and their columns
  show, why, view ADDRESS          open a session that an answer names
  push ROOT... URL, watch          upload finished sessions, packed, redacted on request, and once each
  status, fsck, compact, vacuum    look after a lake

Examples:
  trace fleet ingest ~/.codex/sessions --lake lake
  trace fleet query --lake lake @failures
  trace fleet query --help

The program `trace-fleet` does the work. It is looked for beside `trace` and on the PATH, and gets all arguments. It is built \
from the folder reducer/fleet of the sources; docs/fleet/README.md has more.

Exit codes: those of `trace-fleet`; 1 if there is no such program.";

/// Asks all sessions of a company: a lake of tables in object storage, and SQL
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct FleetArgs {
    /// Arguments of trace-fleet
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    arguments: Vec<OsString>,
}

/// Runs a program in place of this one where the system can do that, so that signals reach it alone.
#[cfg(unix)]
fn run_instead(command: &mut Command) -> std::io::Result<Ending> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn run_instead(command: &mut Command) -> std::io::Result<Ending> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(if code == 0 { Ending::Done } else { Ending::Stopped(code) })
}

pub(crate) fn run(args: &FleetArgs) -> Result<Ending, Failure> {
    let program = fleet_program();
    run_instead(Command::new(&program).args(&args.arguments)).map_err(|error| not_started(&program, error))
}
