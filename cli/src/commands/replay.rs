//! `trace replay`: plays a recorded session again and reports where the replay diverges.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::future::Future;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use trace_protocol::common::AbsolutePath;
use trace_protocol::item::UserInput;
use trace_protocol::methods::method;
use trace_protocol::settings::{AskForApproval, NetworkAccess, SandboxMode, SandboxPolicy};
use trace_protocol::thread::{ThreadCompactStartParams, ThreadInjectItemsParams, ThreadStartParams};
use trace_protocol::turn::{TurnStartParams, TurnStatus};
use trace_protocol::{Experimental, RpcError, ServerNotification};
use trace_runtime::replay::{
    FirstTurn, OnDivergence, PROVIDER_NAME, Replay, ReplayOptions, ReplayTools, Step, StepKind, ThreadReport,
};
use trace_runtime::settings::{Network, SandboxPolicy as RecordedSandbox};
use trace_server::Server;
use trace_server::outbound::OutboundPolicy;
use trace_server::transport::in_process::{self, ClientHandle, Event, Events};

use crate::address::{is_address, unreadable};
use crate::argument::BundleArg;
use crate::bundles;
use crate::serving::{self, Preparation, ServingArgs};
use crate::signals::Signals;
use crate::turn::{bundle_of, refused};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace replay traces/trace-1                    does the session go the same way with this version?
  trace replay traces/trace-1 --from 3           start at the third turn, and keep the history before it
  trace replay traces/trace-1 --tools live -C .  run the commands, in this folder; differing results are shown as a diff
  trace serve --replay traces/trace-1            the same for a client, which sends the user's messages

The model's output comes from the recording, so neither an API key nor a network is needed. Each request is compared \
with the recorded one; values that always differ (ids, times, dates, the working folder) are ignored. The replay is a \
session of its own and writes its own bundle.

Exit codes: 0 the same; 1 it diverged, or the bundle cannot be played; 2 wrong usage; 3 an internal error.";

/// Replays a recorded session, and shows where it diverges
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    bundle: BundleArg,
    #[command(flatten)]
    how: HowArgs,
    /// Begin with this turn of the root agent: its number, counted from 1, or its id
    #[arg(long, value_name = "TURN")]
    from: Option<String>,
    /// Work in this folder [default: the recorded one if it exists, else the current one; with --tools live there is no
    /// default]
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serving: ServingArgs,
}

/// Options of a replay.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct HowArgs {
    /// Where outputs of tools come from: recorded or live. Tools that spawn and message agents always run
    #[arg(long, value_name = "WHERE", default_value = "recorded", hide_possible_values = true)]
    tools: Tools,
    /// After the first divergence: stop, which fails the turn, or continue with recorded outputs
    #[arg(long, value_name = "HOW", default_value = "stop", hide_possible_values = true)]
    on_divergence: AfterDivergence,
}

#[derive(Debug, Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Tools {
    Recorded,
    Live,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum AfterDivergence {
    Stop,
    Continue,
}

impl HowArgs {
    /// Returns whether the recorded commands really run.
    pub(crate) fn runs_commands(self) -> bool {
        self.tools == Tools::Live
    }

    /// Opens a bundle for a replay.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be replayed.
    pub(crate) fn open(self, bundle: &Path, from: Option<&str>) -> Result<Replay, Failure> {
        let options = ReplayOptions {
            from: from.map(|from| match from.parse() {
                Ok(number) => FirstTurn::Number(number),
                Err(_) => FirstTurn::Id(from.to_owned()),
            }),
            tools: match self.tools {
                Tools::Recorded => ReplayTools::Recorded,
                Tools::Live => ReplayTools::Live,
            },
            on_divergence: match self.on_divergence {
                AfterDivergence::Stop => OnDivergence::Stop,
                AfterDivergence::Continue => OnDivergence::Continue,
            },
        };
        if is_address(bundle) {
            // What a store fails to send would count as a divergence.
            return Err(unreadable(bundle));
        }
        Replay::of(bundles::open(bundle)?, &options).map_err(Failure::data)
    }
}

/// The result of a replay.
#[derive(Debug, Serialize)]
struct Outcome {
    /// Whether every request was equal to the recorded one, and every turn had the recorded outcome.
    same: bool,
    /// Whether the last turn of the recording has no end. Everything before that is compared.
    recording_ends: bool,
    /// Whether only the items of the conversation were compared, and not the instructions and tools.
    only_conversation: bool,
    turns: Vec<TurnOutcome>,
    agents: Vec<ThreadReport>,
    /// The bundle of the replay; `None` if nothing was recorded.
    bundle: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct TurnOutcome {
    number: usize,
    recorded_turn: String,
    turn: Option<String>,
    status: Option<TurnStatus>,
    same: bool,
    /// Whether the recording ends inside this turn.
    recording_ends: bool,
    tokens: u64,
    duration_ms: u64,
    error: Option<String>,
}

pub(crate) fn run(args: &ReplayArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let replay = args.how.open(&args.bundle.path(), args.from.as_deref())?;
    let cwd = folder(args.cwd.as_deref(), &replay)?;
    if args.cwd.is_none() && args.how.runs_commands() && !may_work_in(&cwd, terminal)? {
        return Ok(Ending::Interrupted);
    }
    replay.work_in(&cwd);
    let serving = args.serving.prepare_with(&cwd, &Preparation { replay: Some(&replay), ..Preparation::default() })?;
    let runtime = serving::tokio_runtime()?;
    let outcome = runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let server = serving.start()?;
        let outcome = tokio::select! {
            outcome = play(&server, &replay, &cwd, args.how.tools) => outcome.map(Ok),
            caught = signals.next() => Ok(Err(caught)),
        };
        replay.end();
        // The shutdown ends running commands and checks what they left.
        server.shutdown().await;
        outcome
    })?;
    runtime.shutdown_background();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(caught) => return Ok(Ending::Stopped(caught.exit_code())),
    };
    if args.json {
        terminal.print_json(&outcome)?;
    } else {
        terminal.print(&summary(&outcome))?;
    }
    Ok(if outcome.same { Ending::Done } else { Ending::Failed(Kind::Data) })
}

fn folder(asked: Option<&Path>, replay: &Replay) -> Result<PathBuf, Failure> {
    let cwd = match asked {
        Some(cwd) if !cwd.is_dir() => return Err(Failure::usage(format!("{} is not a folder", cwd.display()))),
        Some(cwd) => std::path::absolute(cwd),
        None => match replay.settings().cwd.filter(|cwd| cwd.is_dir()) {
            Some(cwd) => Ok(cwd),
            None => std::env::current_dir(),
        },
    };
    cwd.map_err(|error| Failure::data(error).context("there is no working folder"))
}

/// Asks whether recorded commands may run in a folder that the user did not name. A recording may be untrusted, and it
/// names the folder that commands may write to.
///
/// # Errors
///
/// Returns an error if there is no terminal to ask on.
fn may_work_in(cwd: &Path, terminal: &Terminal) -> Result<bool, Failure> {
    // The thread resolves symlinks when it starts, so the question shows the resolved path.
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let folder = trace_text::path(&real);
    if !std::io::stdin().is_terminal() {
        let message = format!(
            "--tools live runs the recorded commands, and -C does not name the folder for them, which would be {folder}"
        );
        return Err(Failure::usage(message).with_hint("name the folder with -C DIR, or use --tools recorded"));
    }
    let strong = terminal.paint_stderr().strong;
    let question = format!(
        "The recorded commands will run, and may write as the configuration allows, in the folder\n  {strong}{folder}{strong:#}\nwhich was not named with -C. Run them there? [y/N] "
    );
    let _ = std::io::stderr().write_all(question.as_bytes());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(Failure::data)?;
    Ok(line.trim().eq_ignore_ascii_case("y"))
}

/// Plays the user's part of a session, turn by turn.
async fn play(server: &Server, replay: &Replay, cwd: &Path, tools: Tools) -> Result<Outcome, Failure> {
    let steps = replay.play_user().map_err(Failure::data)?;
    let history = replay.history().map_err(Failure::data)?;
    let (client, events) = in_process::connect(server.opener(), OutboundPolicy::Wait);
    client.initialize("trace", env!("CARGO_PKG_VERSION"), Experimental::Enabled).await.map_err(refused)?;
    let start = thread(replay, cwd, tools);
    let thread = client.call::<method::ThreadStart>(&start).await.map_err(refused)?.thread.id;
    if !history.is_empty() {
        let params = ThreadInjectItemsParams { thread_id: thread.clone(), items: history };
        client.call::<method::ThreadInjectItems>(&params).await.map_err(refused)?;
    }
    let sandbox = sandbox(replay, tools);
    let (begun, ended) = (VecDeque::new(), HashMap::new());
    let mut user = User { client, events, thread, sandbox, tokens: 0, begun, ended };
    let mut turns = Vec::new();
    for step in steps {
        user.until(replay.before_turn(&step)).await?;
        if replay.stops() {
            break;
        }
        let mut turn = user.take(&step, replay).await?;
        let of_turn = |report: &ThreadReport| {
            report.divergence.as_ref().is_some_and(|found| found.turn_id.as_ref() == Some(&step.turn))
        };
        turn.same = turn.status.is_some() && !replay.stops() && !replay.reports().iter().any(of_turn);
        let goes_on = turn.status.is_some();
        turns.push(turn);
        if !goes_on || replay.stops() {
            break;
        }
    }
    // Other agents may still be running.
    if !replay.stops() {
        user.until(replay.rest()).await?;
    }
    let (client, thread) = (user.client.clone(), user.thread.clone());
    let bundle = user.until(bundle_of(&client, &thread)).await?;
    let agents = replay.reports();
    let same = !replay.has_diverged() && agents.iter().all(|agent| agent.divergence.is_none());
    let recording_ends = agents.iter().any(|agent| agent.recording_ends);
    let only_conversation = replay.compares_only_the_conversation();
    Ok(Outcome { same, recording_ends, only_conversation, turns, agents, bundle })
}

/// Returns the settings of the recorded thread. If tools really run, the sandbox is the configured one, or a stricter
/// one.
fn thread(replay: &Replay, cwd: &Path, tools: Tools) -> ThreadStartParams {
    let settings = replay.settings();
    let sandbox = settings.sandbox.as_ref().map(sandbox_mode);
    // A recording is not trusted: if commands really run, it must not widen the sandbox.
    let sandbox = sandbox.filter(|mode| tools == Tools::Recorded || *mode == SandboxMode::ReadOnly);
    let approval = settings.approval.as_ref().and_then(Value::as_str).filter(|_| tools == Tools::Recorded);
    ThreadStartParams {
        model: settings.model.clone(),
        model_provider: Some(PROVIDER_NAME.to_owned()),
        cwd: Some(cwd.display().to_string()),
        base_instructions: settings.instructions.clone(),
        developer_instructions: settings.developer_instructions.clone(),
        sandbox,
        // A question that is not in the recording is not asked.
        approval_policy: Some(match approval {
            Some("untrusted") => AskForApproval::Untrusted,
            Some("on-request") => AskForApproval::OnRequest,
            _ => AskForApproval::Never,
        }),
        ..ThreadStartParams::default()
    }
}

/// Returns the mode of a recorded sandbox policy: a text, the member `type` or `mode`, or the name of the only member.
fn sandbox_mode(policy: &Value) -> SandboxMode {
    let members = policy.as_object();
    let named = policy.get("type").or_else(|| policy.get("mode")).and_then(Value::as_str);
    let only = || members.and_then(|members| members.keys().next()).map(String::as_str);
    match policy.as_str().or(named).or_else(only) {
        Some("ReadOnly" | "read-only" | "readOnly") => SandboxMode::ReadOnly,
        Some("WorkspaceWrite" | "workspace-write" | "workspaceWrite") => SandboxMode::WorkspaceWrite,
        _ => SandboxMode::DangerFullAccess,
    }
}

/// Returns the sandbox policy of a session that this program recorded; `None` if tools really run.
fn sandbox(replay: &Replay, tools: Tools) -> Option<SandboxPolicy> {
    let recorded = replay.settings().sandbox.filter(|_| tools == Tools::Recorded)?;
    let is_open = |network: Network| network == Network::Open;
    Some(match serde_json::from_value(recorded).ok()? {
        RecordedSandbox::FullAccess => SandboxPolicy::DangerFullAccess,
        RecordedSandbox::ReadOnly { network } => SandboxPolicy::ReadOnly { network_access: is_open(network) },
        RecordedSandbox::External { network } => SandboxPolicy::ExternalSandbox {
            network_access: if is_open(network) { NetworkAccess::Enabled } else { NetworkAccess::Restricted },
        },
        RecordedSandbox::WorkspaceWrite { writable_roots, network, closed } => SandboxPolicy::WorkspaceWrite {
            exclude_slash_tmp: closed.slash_tmp,
            exclude_tmpdir_env_var: closed.tmpdir,
            network_access: is_open(network),
            writable_roots: writable_roots
                .iter()
                .filter_map(|root| AbsolutePath::new(root.display().to_string()).ok())
                .collect(),
        },
    })
}

/// Plays the user of a replay.
struct User {
    client: ClientHandle,
    events: Events,
    thread: String,
    sandbox: Option<SandboxPolicy>,
    /// Tokens of all turns so far.
    tokens: u64,
    /// Turns that have started, and that `next` has not returned yet.
    begun: VecDeque<String>,
    /// Turns that have ended, and that `end_of` has not returned yet.
    ended: HashMap<String, (TurnStatus, Option<String>)>,
}

impl User {
    /// Starts a turn as the user did, and waits for its end.
    async fn take(&mut self, step: &Step, replay: &Replay) -> Result<TurnOutcome, Failure> {
        let (began, before, client) = (Instant::now(), self.tokens, self.client.clone());
        let turn = match &step.kind {
            StepKind::Say(messages) => {
                // The first message starts the turn. The others are delivered when the turn reads its mailbox.
                let input = messages.first().map(|parts| inputs(parts)).unwrap_or_default();
                let settings = step.settings.clone();
                let summary = settings.summary.and_then(|summary| serde_json::from_value(summary.into()).ok());
                let params = TurnStartParams {
                    thread_id: self.thread.clone(),
                    input,
                    model: settings.model,
                    effort: settings.effort,
                    summary,
                    output_schema: settings.output_schema,
                    sandbox_policy: self.sandbox.clone(),
                    ..TurnStartParams::default()
                };
                let begun = self.until(client.call::<method::TurnStart>(&params)).await?.map_err(refused)?;
                Some(begun.turn.id)
            }
            StepKind::Compact => {
                self.begun.clear();
                let params = ThreadCompactStartParams { thread_id: self.thread.clone() };
                self.until(client.call::<method::ThreadCompactStart>(&params)).await?.map_err(refused)?;
                None
            }
            StepKind::ByItself => None,
        };
        let turn = match turn {
            Some(turn) => Some(turn),
            None => self.next(step, replay).await?,
        };
        let (status, error) = match &turn {
            Some(turn) => {
                let (status, error) = self.end_of(turn).await?;
                (Some(status), error)
            }
            None => (None, Some("the recorded turn began by itself; this one did not".to_owned())),
        };
        Ok(TurnOutcome {
            number: step.number,
            recorded_turn: step.turn.clone(),
            turn,
            status,
            same: false,
            recording_ends: step.status.is_none(),
            tokens: self.tokens.saturating_sub(before),
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            error,
        })
    }

    /// Waits for the next turn that starts; `None` if no turn starts.
    async fn next(&mut self, step: &Step, replay: &Replay) -> Result<Option<String>, Failure> {
        let mut rest = std::pin::pin!(replay.rest());
        while self.begun.is_empty() {
            tokio::select! {
                biased;
                event = self.events.next() => self.receive(event).await?,
                () = &mut rest => break,
            }
        }
        // The turn may already have ended before its start was received.
        Ok(self.begun.pop_front().or_else(|| replay.live_turn(step)))
    }

    /// Waits for the end of a turn, and returns its status and its error.
    async fn end_of(&mut self, turn: &str) -> Result<(TurnStatus, Option<String>), Failure> {
        loop {
            if let Some(ended) = self.ended.remove(turn) {
                self.begun.retain(|begun| begun != turn);
                return Ok(ended);
            }
            let event = self.events.next().await;
            self.receive(event).await?;
        }
    }

    /// Waits for a future, and receives notifications meanwhile. The server waits for its clients, so they must not be
    /// left in the queue.
    async fn until<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                done = &mut future => return Ok(done),
                event = self.events.next() => self.receive(event).await?,
            }
        }
    }

    async fn receive(&mut self, event: Option<Event>) -> Result<(), Failure> {
        let (method, params) = match event {
            None => return Err(Failure::internal(anyhow::anyhow!("the server ended before the replay did"))),
            Some(Event::Notification { method, params }) => (method, params),
            Some(Event::Request { id, method, .. }) => {
                let refusal = RpcError::invalid_request(format!("a replay does not answer `{method}`"));
                return self.client.refuse(&id, &refusal).await.map_err(refused);
            }
        };
        let Ok(Some(notification)) = ServerNotification::decode(&method, params.as_deref()) else { return Ok(()) };
        if notification.thread_id().is_some_and(|thread| thread != self.thread) {
            return Ok(());
        }
        match notification {
            ServerNotification::TurnStarted(started) => self.begun.push_back(started.turn.id),
            ServerNotification::ThreadTokenUsageUpdated(updated) => {
                self.tokens = u64::try_from(updated.token_usage.total.total_tokens).unwrap_or_default();
            }
            ServerNotification::TurnCompleted(ended) => {
                let error = ended.turn.error.map(|error| error.message);
                self.ended.insert(ended.turn.id, (ended.turn.status, error));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Converts the parts of a recorded message to user inputs.
fn inputs(parts: &[Value]) -> Vec<UserInput> {
    let text = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
    let input = |part: &Value| match text(part, "image_url") {
        Some(url) => {
            let image = serde_json::json!({ "type": "image", "url": url, "detail": part.get("detail") });
            serde_json::from_value(image).ok()
        }
        None => Some(UserInput::Text { text: text(part, "text")?, text_elements: Vec::new() }),
    };
    parts.iter().filter_map(input).collect()
}

/// Formats the result of a replay.
fn summary(outcome: &Outcome) -> String {
    let mut out = String::new();
    for turn in &outcome.turns {
        let verdict = match (turn.same, turn.status) {
            (true, _) if turn.recording_ends => "same until the recording ends",
            (true, Some(TurnStatus::Failed)) => "same, failed as recorded",
            (true, Some(TurnStatus::Interrupted)) => "same, interrupted as recorded",
            (true, _) => "same",
            (false, _) => "diverged",
        };
        let (number, tokens) = (turn.number, text::number(turn.tokens));
        let seconds = Duration::from_millis(turn.duration_ms).as_secs_f64();
        let _ = writeln!(out, "turn {number}: {verdict}, {tokens} tokens, {seconds:.1} s");
    }
    for agent in &outcome.agents {
        match &agent.divergence {
            None => {
                let count = |count: usize| text::number(count as u64);
                let (same, all) = (agent.same_requests, agent.recorded_requests);
                let what = match (same == all, agent.recording_ends) {
                    (true, false) => format!("{} requests, all the same", count(all)),
                    (true, true) => format!("{} requests, all the same; then the recording ends", count(all)),
                    (false, _) => format!("{} of {} requests, all the same", count(same), count(all)),
                };
                let _ = writeln!(out, "{}: {what}", text::clean(&agent.agent));
            }
            Some(found) => {
                let _ = writeln!(out, "\n{}", text::clean(&found.to_string()));
                for line in found.diff.iter().flat_map(|diff| diff.lines()) {
                    let _ = writeln!(out, "{}", text::clean(line));
                }
            }
        }
    }
    if outcome.only_conversation {
        out.push_str("another program recorded this: only the conversation was compared\n");
    }
    if let Some(bundle) = &outcome.bundle {
        let _ = writeln!(out, "recorded in {}", bundle.display());
    }
    out
}
