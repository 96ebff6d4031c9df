//! `trace show`: an overview of a session.

mod attention;
mod object;
mod report;
mod view;

use std::path::PathBuf;

use clap::Args;
use trace_explain::object::ObjectRef;

use self::report::Report;
use crate::argument::BundleArg;
use crate::session;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace show traces/trace-1
  trace show traces/trace-1 --all | less
  trace show traces/trace-1 --object tool_call:call_7
  trace show traces/trace-1 --json | jq '.attention[] | select(.state == \"failed\")'

The output begins with the session, and with what needs attention: failed or cancelled operations, commands with a \
nonzero exit code, messages that never arrived, operations that never ended (`running` while the log has no end, \
`unfinished` after that), findings of an audit (only counted, and not for sessions with more than 2,000 tool calls or 16 MiB of messages, arguments \
and outputs; `trace audit SESSION` tells those of any session), and \
damage of the bundle. The threads follow, one per agent, each below the one that spawned it.

--json writes one object:
  format       1; is increased if a field changes its meaning, not if one is added
  bundle       path of the bundle
  session      ids, status, times, recording_complete, tokens, models, counts
  attention    worst first: what, state, id, thread_id, agent_path, seq, at_unix_ms, exit_code,
               subject (the operation) and detail (its result)
  findings     of an audit: high, medium, low (counts); null if the session has more than 2,000 tool
               calls or 16 MiB of messages, arguments and outputs
  diagnostics  errors, warnings and notes (counts), and a list of code, severity, seq, line,
               raw_payload_id, message
  threads      parents first: thread_id, parent_thread_id, depth, agent_path, nickname, status,
               times, counts, tokens
  tools        most used first: tool, calls, failed, unfinished, duration_ms
  edges        kind, count
Times are in milliseconds. Unknown values are null. Texts are cut at 2000 columns.

--object shows one object as state.json has it, with the events that began and ended it. Of an imported session, it \
names the file and the line that they come from.

Exit codes: 0 shown, damaged or not; 1 not a bundle, or unreadable; 2 wrong usage; 3 an internal error.";

/// Shows what happened in a session, and what went wrong
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Show all rows instead of the first ones
    #[arg(short, long)]
    all: bool,
    /// Show one object instead, with the events that it comes from: TYPE:ID, with the names of state.json
    #[arg(short, long, value_name = "TYPE:ID", conflicts_with = "all")]
    object: Option<ObjectRef>,
}

impl ShowArgs {
    /// Returns arguments that show the overview of a bundle as text.
    pub(crate) fn of(bundle: PathBuf) -> Self {
        Self { bundle: BundleArg::of(bundle), json: false, all: false, object: None }
    }
}

pub(crate) fn run(args: &ShowArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let session = session::open(&args.bundle.path())?;
    if let Some(name) = &args.object {
        object::show(&args.bundle.path(), &session, name, args.json, terminal)?;
        std::mem::forget(session);
        return Ok(Ending::Done);
    }
    let report = Report::new(&args.bundle.path(), &session);
    if args.json {
        terminal.print_json(&report)?;
    } else {
        let rows = if args.all { view::Rows::All } else { view::Rows::First };
        terminal.print(&view::render(&report, session.diagnostics(), rows, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}
