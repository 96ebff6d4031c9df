//! `trace tail`: follows a session while it is recorded.

mod audited;
mod imported;
mod line;
mod newest;
mod screen;
mod status;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::Args;
use trace_explain::Session;
use trace_explain::live::{Happening, Narrator};
use trace_recorder::Bundle;
use trace_recorder::activity::{Activity, DELETE_AFTER};
use trace_recorder::follow::{End, Growth, LogFollower, Standing};
use trace_reducer::live::Update;
use trace_reducer::model::SchemaVersion;
use trace_reducer::{LiveReduction, Options, ReduceError};

use self::audited::Auditor;
use self::imported::{Broken, Imported};
use self::screen::Screen;
use crate::argument;
use crate::foreign::{self, import_failure};
use crate::named::{self, LAST, Named};
use crate::recorded;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace tail traces/trace-1
  trace tail                      the newest session below $TRACE_ROOT
  trace tail --wait               the next one that is started there
  trace tail @last                the session that another agent, such as Claude Code, wrote to last
  trace tail traces/trace-1 --from-start --no-follow | less
  trace tail traces/trace-1 --json | jq -c 'select(.event == \"tool_ended\" and .exit_code != 0)'

Each line begins with the time since the start of the session and the path of the agent. On a terminal, a status line \
at the bottom shows what each agent is doing. When a turn has ended, findings of `trace audit` of high severity follow, \
each once; of turns that ended earlier, only if their end is among the lines shown. The command ends when the recording ends, and says so if the process \
that recorded died. The Codex CLI does not lock its recordings: if it dies, this is known only after the log was not \
written to for a day; Ctrl-C ends the wait. The session of another agent is followed in the same way.

--json writes one object per line: seq, at_unix_ms, elapsed_ms, event, object, thread_id, agent_path, to_agent_path, \
status, subject, detail, exit_code, duration_ms, tokens. docs/schema/tail.schema.json describes them. Unknown values \
are null.

Exit codes: 0 the recording has ended, or Ctrl-C; 1 the bundle cannot be read, its recorder died or had to stop, or its \
log was replaced; 2 wrong usage; 3 an internal error.";

/// Most earlier events that are shown, unless `--lines` is given.
const FIRST_LINES: usize = 10;

/// How long to wait for the recorder to close the log after the session has ended.
const CLOSED_WITHIN: Duration = Duration::from_secs(2);

/// Pause between two reads of the log.
const PAUSE: Duration = Duration::from_millis(50);

/// Follows a session while it is recorded, one line per event of interest
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TailArgs {
    /// The bundle, the session of another agent, or a folder whose newest bundle or session is followed (default: $TRACE_ROOT, then
    /// $CODEX_ROLLOUT_TRACE_ROOT, then traces in the server home, then @last)
    #[arg(add = argument::sessions())]
    bundle: Option<PathBuf>,
    /// The session of a store that has several, such as opencode.db
    #[arg(long, value_name = "ID", requires = "bundle", conflicts_with = "wait")]
    session: Option<String>,
    /// Show this many lines of earlier events
    #[arg(short = 'n', long, value_name = "N", default_value_t = FIRST_LINES)]
    lines: usize,
    /// Show all earlier events
    #[arg(long, conflicts_with = "lines")]
    from_start: bool,
    /// Show only this agent and those below it, such as /root/docs
    #[arg(long, value_name = "PATH")]
    thread: Option<String>,
    /// Stop at the current end of the log
    #[arg(long, conflicts_with = "wait")]
    no_follow: bool,
    /// Wait for the next bundle that is started in the folder
    #[arg(long)]
    wait: bool,
    /// Write JSON Lines, described below
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TailArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    if !args.no_follow {
        let interrupted = Arc::clone(&interrupted);
        ctrlc::set_handler(move || interrupted.store(true, Ordering::Relaxed)).map_err(Failure::internal)?;
    }
    let path = match &args.bundle {
        Some(path) => match &args.session {
            Some(id) => foreign::in_store(path, id),
            None => path.clone(),
        },
        None if args.wait => recorded::root_from_environment("tail")?,
        None => recorded::root_from_environment("tail").or_else(last)?,
    };
    let followed = if args.wait {
        match newest::wait_for_one(&path, &interrupted)? {
            Some(path) => Named::Bundle(path),
            None => return Ok(Ending::Done),
        }
    } else {
        newest::newest(&path)?
    };
    match followed {
        Named::Bundle(path) => Tail::open(args, &path, terminal)?.run(&path, &interrupted),
        Named::Imported(session) => follow_imported(args, Imported::new(session), terminal, &interrupted),
    }
}

/// Returns the session that an agent of this user wrote last, if nothing was recorded.
fn last(nothing_recorded: Failure) -> Result<PathBuf, Failure> {
    named::find(Path::new(LAST))?.map(|named| named.argument()).ok_or(nothing_recorded)
}

/// Follows the session of another agent until it was not written to for a day.
fn follow_imported(
    args: &TailArgs,
    mut session: Imported,
    terminal: &Terminal,
    interrupted: &AtomicBool,
) -> Result<Ending, Failure> {
    let mut screen = Screen::new(terminal, args.json, !args.no_follow);
    let failure = |error| match error {
        Broken::Import(error) => import_failure(error),
        Broken::Reduce(error) => never_refused(error),
    };
    let mut is_first = true;
    while !interrupted.load(Ordering::Relaxed) {
        let news = session.news(args.no_follow).map_err(failure)?.unwrap_or_default();
        let shown: Vec<_> = news.into_iter().filter(|news| is_wanted(news, args.thread.as_deref())).collect();
        let skipped = if is_first && !args.from_start { shown.len().saturating_sub(args.lines) } else { 0 };
        is_first = false;
        session.hide(&shown[..skipped]);
        screen.print(&shown[skipped..])?;
        let findings = session.findings(args.no_follow).map_err(failure)?;
        let findings: Vec<_> = findings.into_iter().filter(|news| is_wanted(news, args.thread.as_deref())).collect();
        screen.print(&findings)?;
        if args.no_follow || session.written().is_some_and(is_abandoned) {
            break;
        }
        screen.show_status(session.status());
        session.wait(interrupted);
    }
    screen.clear();
    if !session.has_agent(|agent| args.thread.as_deref().is_none_or(|path| is_at_or_below(agent, trimmed(path)))) {
        warn_of_unknown_agent(args, terminal);
    }
    Ok(Ending::Done)
}

struct Tail<'a> {
    args: &'a TailArgs,
    terminal: &'a Terminal,
    bundle: Bundle,
    live: LiveReduction,
    narrator: Narrator,
    screen: Screen<'a>,
    /// Audits the session as its turns end.
    auditor: Auditor,
    /// Earlier events, while they are read; `None` afterwards. The last lines of them are printed at once.
    before: Option<VecDeque<Happening>>,
    /// The log of a packed bundle, which is complete.
    packed_log: Option<Vec<u8>>,
}

impl<'a> Tail<'a> {
    fn open(args: &'a TailArgs, path: &Path, terminal: &'a Terminal) -> Result<Self, Failure> {
        let bundle = Bundle::open_to_follow(path)?;
        let live = LiveReduction::begin(&bundle, Options::default()).map_err(never_refused)?;
        let packed_log = bundle.packed().map(|_| bundle.log().map(|log| log.as_bytes().to_vec()).unwrap_or_default());
        Ok(Self {
            args,
            terminal,
            bundle,
            live,
            narrator: Narrator::default(),
            auditor: Auditor::default(),
            screen: Screen::new(terminal, args.json, !args.no_follow),
            before: (!args.from_start).then(VecDeque::new),
            packed_log,
        })
    }

    fn run(mut self, path: &Path, interrupted: &AtomicBool) -> Result<Ending, Failure> {
        if let Some(log) = self.packed_log.take() {
            self.feed(&log)?;
            return self.end(None);
        }
        let mut follower = LogFollower::new(path);
        let mut bytes = Vec::new();
        let failure = |error: io::Error| {
            let is_too_large = error.kind() == io::ErrorKind::FileTooLarge;
            let failure = Failure::data(error).context(format!("cannot read the log of {}", path.display()));
            if !is_too_large {
                return failure;
            }
            failure.with_hint("no recorder writes a log of this size: move the file away, or cut it to its first lines")
        };
        while !interrupted.load(Ordering::Relaxed) {
            // The state of the recorder is read before the log. If it has ended, everything that it wrote is then in
            // the log.
            let standing = follower.standing().map_err(failure)?;
            bytes.clear();
            match follower.read(&mut bytes).map_err(failure)? {
                Growth::Grew => self.feed(&bytes)?,
                Growth::Rewritten => {
                    self.show_what_was_before()?;
                    self.screen.clear();
                    let error = anyhow::anyhow!("the log of {} was replaced while it was followed", path.display());
                    return Err(Failure::data(error)
                        .with_hint("what was shown is not in it any more, because it was repaired or recorded again; start `trace tail` again to see it"));
                }
                Growth::Still => {
                    self.show_what_was_before()?;
                    self.tell_findings(self.args.no_follow)?;
                    match standing {
                        // The end of a session is written before the ends of its threads. Without a lock, the end of
                        // the recording can only be guessed.
                        Standing::Over(End::Complete) if self.may_be_closed_yet(&follower) => thread::sleep(PAUSE),
                        Standing::Over(end) => {
                            follower.read_rest(&mut bytes).map_err(failure)?;
                            self.feed(&bytes)?;
                            return self.end(Some(&end));
                        }
                        _ if self.args.no_follow => {
                            self.warn_of_unknown_agent();
                            return Ok(Ending::Done);
                        }
                        Standing::Silent { since } if is_abandoned(since) => {
                            self.screen.clear();
                            let hint =
                                "the log has no end and was not written to for a day: its process must have died";
                            let _ = io::stderr().write_all(self.terminal.hint_line(hint).as_bytes());
                            return Ok(Ending::Done);
                        }
                        Standing::Recorded | Standing::Silent { .. } => {
                            self.screen.show_status(&self.narrator.status(self.live.trace()));
                            thread::sleep(PAUSE);
                        }
                    }
                }
            }
        }
        self.screen.clear();
        Ok(Ending::Done)
    }

    /// Returns whether the session has just ended, and a recorder that takes no lock may still be closing the log.
    fn may_be_closed_yet(&self, follower: &LogFollower) -> bool {
        let trace = self.live.trace();
        let is_closed = trace.recording_complete || trace.schema_version < SchemaVersion::V2;
        let written = follower.written().unwrap_or(SystemTime::UNIX_EPOCH);
        let is_quiet = Activity::Silent { since: written }.is_quiet(CLOSED_WITHIN, SystemTime::now());
        !is_closed && !is_quiet && !self.args.no_follow
    }

    /// Reads further bytes of the log, and prints their events.
    fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut pending = Vec::new();
        let Self { live, narrator, bundle, args, before, auditor, .. } = self;
        let payloads = bundle.payloads();
        let hear = |update: Update<'_>| {
            let happenings = narrator.hear(&update, payloads);
            auditor.hear(&happenings);
            let shown = happenings.into_iter().filter(|happening| is_wanted(happening, args.thread.as_deref()));
            match before {
                Some(before) => {
                    for happening in shown {
                        before.push_back(happening);
                        keep_last(before, args.lines, auditor);
                    }
                }
                None => pending.extend(shown),
            }
        };
        live.feed(bytes, payloads, hear).map_err(never_refused)?;
        self.screen.print(&pending)
    }

    fn show_what_was_before(&mut self) -> Result<(), Failure> {
        match self.before.take() {
            Some(before) => self.screen.print(&Vec::from(before)),
            None => Ok(()),
        }
    }

    /// Prints findings of high severity in turns that have ended, each once.
    fn tell_findings(&mut self, is_over: bool) -> Result<(), Failure> {
        if !self.auditor.is_due(is_over) {
            return Ok(());
        }
        let Self { live, bundle, auditor, .. } = self;
        let mut news = auditor.news(|| -> Result<Session, Failure> {
            let reduction = live.snapshot(bundle.payloads()).map_err(never_refused)?;
            Ok(Session::new(bundle.follow_again()?, reduction))
        })?;
        news.retain(|happening| is_wanted(happening, self.args.thread.as_deref()));
        self.screen.print(&news)
    }

    /// Prints a hint if nothing was shown because the session has no agent with the given path.
    fn warn_of_unknown_agent(&self) {
        let Some(path) = self.args.thread.as_deref() else { return };
        let trace = self.live.trace();
        if !trace.threads.values().any(|thread| is_at_or_below(trace.text(thread.agent_path), trimmed(path))) {
            warn_of_unknown_agent(self.args, self.terminal);
        }
    }

    /// Prints what only the end of the log shows, and returns why nothing more follows.
    fn end(mut self, end: Option<&End>) -> Result<Ending, Failure> {
        let mut pending = Vec::new();
        let Self { live, narrator, bundle, args, before, auditor, .. } = &mut self;
        let payloads = bundle.payloads();
        let hear = |update: Update<'_>| {
            let happenings = narrator.hear(&update, payloads);
            auditor.hear(&happenings);
            pending.extend(happenings.into_iter().filter(|happening| is_wanted(happening, args.thread.as_deref())));
        };
        live.feed_rest(payloads, hear).map_err(never_refused)?;
        if let Some(before) = before {
            before.extend(pending.drain(..));
            keep_last(before, args.lines, auditor);
        }
        self.show_what_was_before()?;
        self.screen.print(&pending)?;
        self.tell_findings(true)?;
        self.screen.clear();
        self.warn_of_unknown_agent();
        let is_over = self.live.trace().recording_complete || self.live.trace().ended.is_some();
        match end {
            Some(End::Died { pid }) if !is_over => {
                let error = anyhow::anyhow!("the recording process {pid} has died; the log has no end");
                Err(Failure::data(error).with_hint("`trace show` shows how far the session came"))
            }
            Some(End::Stopped(stopped)) => {
                let reason = text::clean(&stopped.reason).into_owned();
                let after = stopped.after_seq;
                Err(Failure::data(anyhow::anyhow!("the recorder had to stop after seq {after}: {reason}")))
            }
            _ => Ok(Ending::Done),
        }
    }
}

/// Keeps the last earlier events. The others are not shown, and neither are the findings of turns that they ended.
fn keep_last(before: &mut VecDeque<Happening>, lines: usize, auditor: &mut Auditor) {
    while before.len() > lines {
        before.pop_front().iter().for_each(|happening| auditor.hide(happening));
    }
}

/// Returns whether an event concerns an agent at or below a path, as its subject or its receiver.
fn is_wanted(happening: &Happening, path: Option<&str>) -> bool {
    let Some(path) = path.map(trimmed) else { return true };
    [&happening.agent_path, &happening.to_agent_path].into_iter().flatten().any(|of| is_at_or_below(of, path))
}

fn is_at_or_below(agent: &str, path: &str) -> bool {
    agent.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

fn warn_of_unknown_agent(args: &TailArgs, terminal: &Terminal) {
    let path = text::clean(args.thread.as_deref().unwrap_or_default());
    let _ = io::stderr().write_all(terminal.hint_line(&format!("the session has no agent {path}")).as_bytes());
}

/// Returns whether a log without an end was not written to for so long that its session counts as dead.
fn is_abandoned(since: SystemTime) -> bool {
    Activity::Silent { since }.is_quiet(DELETE_AFTER, SystemTime::now())
}

/// Converts an error that only a strict reduction returns.
fn never_refused(error: ReduceError) -> Failure {
    Failure::internal(error)
}
