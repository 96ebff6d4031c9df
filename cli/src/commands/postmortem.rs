//! `trace postmortem`: finds out why turns failed.

mod answer;
mod view;

use clap::Args;
use trace_explain::audit::audit_beside;
use trace_explain::postmortem::{TurnVerdict, postmortem};

use self::answer::{Answer, Audited, Counts};
use crate::argument::BundleArg;
use crate::session;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text::clean;

const AFTER_HELP: &str = "\
Examples:
  trace postmortem traces/trace-1
  trace postmortem traces/trace-1 --all
  trace postmortem traces/trace-1 --thread /root/tests
  trace postmortem traces/trace-1 --json | jq '.turns[].root_cause.category'

Outcomes: failed, cancelled, unfinished (the recording has no end for the turn, or only one of the whole session), \
degraded (completed after a failure that was not recovered), recovered (its failures were recovered later) and ok. \
Without --all, recovered and ok turns are only counted.

A failure counts as recovered if the same kind of operation later succeeds in the same thread, or if the failed child \
later succeeds. A failure that is not recovered propagates to the turns of the agents above; their root cause is the \
original one.

Categories: provider_error, rate_limited, auth_error, context_overflow, model_error, stream_interrupted, tool_failed, \
tool_timeout, tool_unknown, tool_bad_arguments, tool_declined, patch_failed, mcp_error, code_cell_failed, agent_failed \
(only inside a path), agent_never_finished, message_undelivered, wait_timeout, interrupted_by_user, \
interrupted_by_agent, recording_truncated, unknown.

A turn can complete and still have claimed what is not so. The findings of `trace audit` in the turns are named, too, unless \
the session has more than 2,000 tool calls, or more than 16 MiB of messages, arguments and outputs: `trace audit SESSION` tells \
those of any session.

--json writes one object; docs/schema/postmortem.schema.json describes it.

Exit codes: 0 success, whatever the verdicts; 1 not a bundle, or unreadable; 2 wrong usage, or no such turn or thread; \
3 an internal error.";

/// Explains why turns failed: the root cause, and the path from the symptom back to it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PostmortemArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// Show only this turn, given by its id or the beginning or end of its id
    #[arg(long, value_name = "ID", conflicts_with = "thread")]
    turn: Option<String>,
    /// Show only the turns of this thread, given by its agent path or id
    #[arg(long, value_name = "PATH")]
    thread: Option<String>,
    /// Also show the turns that came out well
    #[arg(short, long)]
    all: bool,
    /// Write a JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &PostmortemArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let session = session::open(&args.bundle.path())?;
    let mut postmortem = postmortem(&session);
    if args.turn.as_ref().is_some_and(String::is_empty) {
        let hint = "`trace postmortem --all` lists the turns with their ids";
        return Err(Failure::usage("--turn needs an id".to_owned()).with_hint(hint));
    }
    if let Some(id) = &args.turn {
        postmortem.turns = vec![find_turn(postmortem.turns, id)?];
    }
    if let Some(thread) = &args.thread {
        let is_it = |turn: &TurnVerdict| turn.agent_path == *thread || turn.thread_id == *thread;
        let known =
            session.trace().threads.values().any(|known| {
                session.trace().text(known.agent_path) == thread || session.trace().text(known.id) == thread
            });
        if !known {
            let hint = "`trace show` lists the threads with their paths";
            return Err(Failure::usage(format!("the bundle has no thread {}", clean(thread))).with_hint(hint));
        }
        postmortem.turns.retain(is_it);
    }
    let counts = Counts::of(&postmortem.turns);
    let findings = audit_beside(&session).map(|audit| Audited::of(audit, &postmortem.turns));
    if !args.all && args.turn.is_none() {
        postmortem = postmortem.only_attention();
    }
    let answer = Answer { counts, findings, postmortem };
    if args.json {
        terminal.print_json(&answer)?;
    } else {
        terminal.print(&view::render(&answer, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

/// Finds the turn with this id, or the only turn whose id begins or ends with it.
fn find_turn(turns: Vec<TurnVerdict>, id: &str) -> Result<TurnVerdict, Failure> {
    let hint = "`trace postmortem --all` lists the turns with their ids";
    let is_part = |turn: &TurnVerdict| turn.turn_id.starts_with(id) || turn.turn_id.ends_with(id);
    let fits = turns.iter().filter(|turn| is_part(turn)).count();
    let found = turns.into_iter().find(|turn| turn.turn_id == id || (fits == 1 && is_part(turn)));
    found.ok_or_else(|| {
        let message = match fits {
            0 => format!("the bundle has no turn {}", clean(id)),
            _ => format!("{fits} turns have ids that begin or end with {}", clean(id)),
        };
        Failure::usage(message).with_hint(hint)
    })
}
