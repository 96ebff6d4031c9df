//! `trace context`: what the model saw in one request, and what a compaction did.

mod view;

use clap::Args;
use trace_explain::context::{self, Against, Context, ContextError, Texts};
use trace_explain::{Session, context::FoundCompaction};
use trace_reducer::model::InferenceIdx;

use crate::argument::BundleArg;
use crate::session;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace context traces/trace-1 --last
  trace context traces/trace-1 --inference call-12 --diff
  trace context traces/trace-1 --turn 01a2 --full | less
  trace context traces/trace-1 --compaction c-1
  trace context traces/trace-1 --last --json | jq '.beside.tools | sort_by(-.tokens)[:5]'

An id may be shortened to a prefix that is unique. Each item is shown with its tokens and their share, the request of \
its thread in which it first appeared (#1 is the first request), its origin, and the beginning of its text. The tokens \
of the whole request are those that the provider reported, if it did. The tokens of its parts are estimated from their \
sizes, and scaled to add up to the whole. Tools and instructions that are sent beside the items count too.

--diff compares the request with the one before it in its thread: + is new, - is gone, ~ changed under its id. If most \
items are gone and no compaction was recorded, the client has summarised the history by itself.

--json writes one object, described by docs/schema/context.schema.json; texts are cut at 400 characters unless --full.

Exit codes: 0 shown; 1 not a bundle, or it has no request; 2 wrong usage, or no such request or compaction; 3 an \
internal error.";

/// Most characters of each text in JSON, unless `--full` is given.
const SHORT_CHARS: usize = 400;

/// Shows what the model saw in one request, item by item, with origins and token counts
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    bundle: BundleArg,
    #[command(flatten)]
    which: Which,
    /// Compare the request with the one before it
    #[arg(long, conflicts_with = "compaction")]
    diff: bool,
    /// Show texts in full
    #[arg(long)]
    full: bool,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// This request, by the id of its inference call
    #[arg(long, value_name = "ID")]
    inference: Option<String>,
    /// The last request of this turn
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// The last request of the session
    #[arg(long)]
    last: bool,
    /// What this compaction removed, kept and summarised
    #[arg(long, value_name = "ID")]
    compaction: Option<String>,
}

enum Wanted {
    Request(InferenceIdx),
    Compaction(FoundCompaction),
}

pub(crate) fn run(args: &ContextArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let session = session::open(&args.bundle.path())?;
    let texts = if args.full { Texts::Whole } else { Texts::Beginnings { chars: SHORT_CHARS } };
    let against = if args.diff { Against::RequestBefore } else { Against::Nothing };
    let answer = match args.which.find(&session).map_err(not_found)? {
        Wanted::Request(inference) => Context::Request(context::request(&session, inference, texts, against)),
        Wanted::Compaction(found) => Context::Compaction(context::compaction(&session, &found, texts)),
    };
    if args.json {
        terminal.print_json(&answer)?;
    } else {
        let shown = if args.full { view::Shown::Whole } else { view::Shown::Beginnings };
        terminal.print(&view::render(&answer, shown, args.diff, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

impl Which {
    fn find(&self, session: &Session) -> Result<Wanted, ContextError> {
        let trace = session.trace();
        let request = match (&self.inference, &self.turn, &self.compaction) {
            (Some(id), ..) => context::find_inference(trace, id)?,
            (_, Some(id), _) => context::last_of_turn(trace, id)?,
            (.., Some(id)) => return Ok(Wanted::Compaction(context::find_compaction(trace, id)?)),
            (None, None, None) => context::last_of_session(trace)?,
        };
        Ok(Wanted::Request(request))
    }
}

/// Adds a hint that names valid values.
fn not_found(error: ContextError) -> Failure {
    let hint = match &error {
        ContextError::Unknown { suggestions, what, .. } if suggestions.is_empty() => {
            format!("the session has no {what}")
        }
        ContextError::Unknown { suggestions, .. } => format!("it has, for example, {}", suggestions.join(", ")),
        ContextError::Ambiguous { suggestions, .. } => format!("for example {}", suggestions.join(", ")),
        ContextError::NoRequest { .. } => return Failure::data(error),
    };
    Failure::usage(error).with_hint(text::clean(&hint))
}
