//! `trace audit`: holds what agents said and did against what the recording shows.

mod answer;
mod view;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rayon::prelude::*;
use trace_explain::audit::{Finding, Kind, Options, Severity, audit};

use self::answer::{Answer, Audited};
use crate::argument::{self, StoredArg};
use crate::bundles;
use crate::session;
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace audit traces/trace-1
  trace audit @last --all
  trace audit traces/trace-1 --kind stale_check --kind wrong_figure
  trace audit ~/.claude/projects                all sessions below a folder, with a summary
  trace audit B --fail-on high || echo refused  for CI
  trace audit B --json | jq '.findings[] | [.kind, .message]'

It tells where the words of an agent and the recording differ: tests that are said to pass and failed, were not run, or ran \
before the last change; numbers that no run printed; changes, commits and pushes that no call made; quotations that nothing \
holds; failed children that are passed over; and acts that a user should know of: tests weakened, results written into the \
code, checks avoided, data destroyed, secrets written, instructions followed that came with data, the same call again and again.

No model is used, and the same session always has the same answer. In doubt nothing is told: a claim that the recording can \
neither bear out nor refute counts as unverifiable. docs/audit.md has the rules, with an example of each kind.

Kinds: false_success, check_not_run, stale_check, wrong_figure, action_not_done, unsupported_detail, child_failure_hidden, \
tests_weakened, hardcoded_result, check_bypassed, destructive_command, secret_exposed, injected_instruction, repeated_call.

--json writes one object, described by docs/schema/audit.schema.json: of one session its findings and claims, of several an \
object with sessions and a summary.

Exit codes: 0 audited, whatever was found; 1 a session could not be read; 2 wrong usage, or no such turn or thread; 3 an \
internal error; 4 a finding is at least as severe as --fail-on says.";

/// Exit code if a finding is at least as severe as asked.
const FOUND: u8 = 4;

/// Number of sessions that are audited before their answers are printed.
const SESSIONS_AT_A_TIME: usize = 16;

/// Holds what agents said and did against what the recording shows
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AuditArgs {
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them
    #[arg(value_name = "BUNDLE", required = true, add = argument::sessions())]
    bundles: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// Show only findings of this kind; repeatable
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<Kind>,
    /// Show only the findings of this turn, given by its id or the beginning or end of its id
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// Show only the findings of this thread, given by its agent path or id
    #[arg(long, value_name = "PATH")]
    thread: Option<String>,
    /// Also show findings that have other explanations
    #[arg(short, long)]
    all: bool,
    /// End with exit code 4 if a finding is at least this severe: high, medium or low
    #[arg(long, value_name = "SEVERITY", hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// Write a JSON object
    #[arg(long)]
    json: bool,
}

/// A value of `--fail-on`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    High,
    Medium,
    Low,
}

impl FailOn {
    fn severity(self) -> Severity {
        match self {
            Self::High => Severity::High,
            Self::Medium => Severity::Medium,
            Self::Low => Severity::Low,
        }
    }
}

fn kind(name: &str) -> Result<Kind, String> {
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    Kind::of_name(&name.replace('-', "_")).ok_or_else(|| format!("the kinds are {}", kinds.join(", ")))
}

pub(crate) fn run(args: &AuditArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let found = bundles::find(&args.stored.of(&args.bundles)?);
    let mut failed = Failed::new(terminal);
    found.failures.iter().for_each(|failure| failed.say(failure, None));
    let mut audited: Vec<Audited> = Vec::new();
    let mut worst: Option<Severity> = None;
    for paths in found.bundles.chunks(SESSIONS_AT_A_TIME) {
        let answers: Vec<Result<Audited, Failure>> =
            paths.par_iter().map(|path| look(args, path, found.is_one)).collect();
        for (path, answer) in paths.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    worst = worst.max(answer.audit.findings.iter().map(|finding| finding.severity).max());
                    if !args.json {
                        terminal.print(&view::session(&answer, found.is_one, terminal))?;
                    }
                    audited.push(answer);
                }
                Err(failure) if found.is_one => return Err(failure),
                Err(failure) => failed.say(&failure, Some(path)),
            }
        }
    }
    if args.json {
        match (&*audited, found.is_one) {
            ([one], true) => terminal.print_json(&one.audit)?,
            _ => terminal.print_json(&Answer::of(&audited))?,
        }
    } else if !found.is_one {
        terminal.print(&view::summary(&Answer::of(&audited), terminal))?;
    }
    let is_found = args.fail_on.is_some_and(|least| worst >= Some(least.severity()));
    match failed.ending() {
        Ending::Done if is_found => Ok(Ending::Found(FOUND)),
        ending => Ok(ending),
    }
}

/// Audits one session and keeps the findings that were asked for.
fn look(args: &AuditArgs, path: &std::path::Path, is_one: bool) -> Result<Audited, Failure> {
    let session = session::open(path)?;
    let mut audit = audit(&session, Options { low: args.all });
    if !args.kind.is_empty() {
        audit.findings.retain(|finding| args.kind.contains(&finding.kind));
    }
    let trace = session.trace();
    if let Some(thread) = &args.thread {
        let known = trace.threads.values().any(|it| trace.text(it.agent_path) == thread || trace.text(it.id) == thread);
        if !known && is_one {
            let hint = "`trace show` lists the threads with their paths";
            let name = crate::ui::text::clean(thread);
            return Err(Failure::usage(format!("the bundle has no thread {name}")).with_hint(hint));
        }
        audit.findings.retain(|finding| finding.agent_path == *thread || finding.thread_id == *thread);
    }
    if let Some(turn) = &args.turn {
        let fits = |id: &str| id.starts_with(turn.as_str()) || id.ends_with(turn.as_str());
        if turn.is_empty() || (is_one && !trace.turns.values().any(|it| fits(trace.text(it.id)))) {
            let hint = "`trace postmortem --all` lists the turns with their ids";
            let name = crate::ui::text::clean(turn);
            return Err(Failure::usage(format!("the bundle has no turn {name:?}")).with_hint(hint));
        }
        let is_it = |finding: &Finding| finding.turn_id.as_deref().is_some_and(fits);
        audit.findings.retain(is_it);
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Audited { bundle: bundles::shown(path).display().to_string(), audit })
}
