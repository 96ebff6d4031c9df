//! `trace replay`: plays a recorded session again and says where it goes another way.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use trace_protocol::item::UserInput;
use trace_protocol::methods::method;
use trace_protocol::settings::{AskForApproval, SandboxMode};
use trace_protocol::thread::{ThreadCompactStartParams, ThreadInjectItemsParams, ThreadStartParams};
use trace_protocol::turn::{TurnInterruptParams, TurnStartParams, TurnStatus, TurnSteerParams};
use trace_protocol::{Experimental, RpcError, ServerNotification};
use trace_runtime::replay::{
    Cue, CueKind, FirstTurn, OnDivergence, PROVIDER_NAME, Replay, ReplayOptions, ReplayTools, Step, StepKind,
    ThreadReport,
};
use trace_server::Server;
use trace_server::outbound::OutboundPolicy;
use trace_server::transport::in_process::{self, ClientHandle, Event, Events};

use crate::failure::{Ending, Failure, Kind};
use crate::output::Terminal;
use crate::run::{bundle_of, refused};
use crate::serving::{self, ServingArgs};
use crate::text;

/// How long a turn is waited for that mail begins in the recording.
const MAIL_PATIENCE: Duration = Duration::from_secs(60);

const AFTER_HELP: &str = "\
Examples:
  trace replay traces/trace-1                    is the session the same with this version, these instructions?
  trace replay traces/trace-1 --from 3           only from the third turn on
  trace replay traces/trace-1 --tools live       commands run; a result that differs is shown as a diff
  trace serve --replay traces/trace-1            the same for a client, which types what the user said

The model's answers come from the recording, so no key and no network are needed. Each request is held against the recorded one; \
what is never the same twice (ids, times, dates, the working folder) does not count. The replay is a session of its own and \
leaves a bundle of its own.

Exit codes: 0 the same; 1 it diverged, or the bundle cannot be played; 2 wrong usage; 3 an internal error.";

/// Plays a recorded session again, and shows where it goes another way
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReplayArgs {
    /// The recorded session
    bundle: PathBuf,
    #[command(flatten)]
    how: HowArgs,
    /// Begin with this turn of the first agent: its number, from 1, or its id
    #[arg(long, value_name = "TURN")]
    from: Option<String>,
    /// Work in this folder [default: the recorded one if it is there, else this one]
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serving: ServingArgs,
}

/// How a bundle is played.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct HowArgs {
    /// Where answers of tools come from: recorded or live. Tools for other agents work in any case
    #[arg(long, value_name = "WHERE", default_value = "recorded", hide_possible_values = true)]
    tools: Tools,
    /// After the first divergence: stop, which fails the turn, or continue with recorded answers
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
    /// Opens a bundle to be played.
    ///
    /// # Errors
    ///
    /// It cannot be played.
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
        Replay::open(bundle, &options).map_err(Failure::data)
    }
}

/// What came of a replay.
#[derive(Debug, Serialize)]
struct Outcome {
    /// Whether every request was the recorded one.
    same: bool,
    /// Whether only the conversation was compared.
    only_conversation: bool,
    turns: Vec<TurnOutcome>,
    agents: Vec<ThreadReport>,
    /// The bundle of the replay.
    bundle: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct TurnOutcome {
    number: usize,
    recorded_turn: String,
    turn: Option<String>,
    status: Option<TurnStatus>,
    same: bool,
    tokens: u64,
    duration_ms: u64,
    error: Option<String>,
}

pub(crate) fn run(args: &ReplayArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let replay = args.how.open(&args.bundle, args.from.as_deref())?;
    let cwd = folder(args.cwd.as_deref(), &replay)?;
    replay.work_in(&cwd);
    let serving = args.serving.prepare_replay(&cwd, Some(&replay))?;
    let runtime = serving::tokio_runtime()?;
    let outcome = runtime.block_on(async {
        let server = serving.start()?;
        let outcome = play(&server, &replay, &cwd, args.how.tools).await;
        server.shutdown().await;
        outcome
    })?;
    runtime.shutdown_background();
    if args.json {
        terminal.print_json(&outcome)?;
    } else {
        terminal.print(&told(&outcome))?;
    }
    Ok(if outcome.same { Ending::Done } else { Ending::Failed(Kind::Data) })
}

fn folder(asked: Option<&Path>, replay: &Replay) -> Result<PathBuf, Failure> {
    let cwd = match asked {
        Some(cwd) if !cwd.is_dir() => return Err(Failure::usage(format!("{} is no folder", cwd.display()))),
        Some(cwd) => std::path::absolute(cwd),
        None => match replay.settings().cwd.filter(|cwd| cwd.is_dir()) {
            Some(cwd) => Ok(cwd),
            None => std::env::current_dir(),
        },
    };
    cwd.map_err(|error| Failure::data(error).context("there is no working folder"))
}

/// Plays the user of a session, turn by turn.
async fn play(server: &Server, replay: &Replay, cwd: &Path, tools: Tools) -> Result<Outcome, Failure> {
    let steps = replay.steps().map_err(Failure::data)?;
    let history = replay.history().map_err(Failure::data)?;
    let (client, events) = in_process::connect(server.entrance(), OutboundPolicy::Wait);
    client.initialize("trace", env!("CARGO_PKG_VERSION"), Experimental::Enabled).await.map_err(refused)?;
    let start = thread(replay, cwd, tools);
    let thread = client.call::<method::ThreadStart>(&start).await.map_err(refused)?.thread.id;
    if !history.is_empty() {
        let params = ThreadInjectItemsParams { thread_id: thread.clone(), items: history };
        client.call::<method::ThreadInjectItems>(&params).await.map_err(refused)?;
    }
    let mut user = User { client, events, thread, cues: replay.cues(), tokens: 0, begun: HashMap::new() };
    let settings = replay.settings();
    let mut turns = Vec::new();
    for step in steps {
        replay.before_turn(&step).await;
        let mut turn = user.take(&step, &settings.effort).await?;
        let of_turn = |report: &ThreadReport| {
            report.divergence.as_ref().is_some_and(|found| found.turn_id.as_ref() == Some(&step.turn))
        };
        turn.same = turn.status.is_some() && !replay.reports().iter().any(of_turn);
        let goes_on = turn.status.is_some();
        turns.push(turn);
        if !goes_on || replay.stops() {
            break;
        }
    }
    let bundle = bundle_of(&user.client, &user.thread).await;
    let agents = replay.reports();
    let same = agents.iter().all(|agent| agent.divergence.is_none());
    Ok(Outcome { same, only_conversation: replay.compares_only_the_conversation(), turns, agents, bundle })
}

/// Returns the thread as it was set up in the recording. With tools that run, the sandbox is the configured one, or a closer one.
fn thread(replay: &Replay, cwd: &Path, tools: Tools) -> ThreadStartParams {
    let settings = replay.settings();
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let sandbox = settings.sandbox.as_ref().map(|policy| policy.to_string());
    let sandbox = sandbox.map(|policy| {
        let is = |name: &str| policy.contains(name);
        if is("ReadOnly") || is("read-only") {
            SandboxMode::ReadOnly
        } else if is("WorkspaceWrite") || is("workspace-write") {
            SandboxMode::WorkspaceWrite
        } else {
            SandboxMode::DangerFullAccess
        }
    });
    // A recording may come from anywhere: what it says must not open anything to commands that really run.
    let sandbox = sandbox.filter(|mode| tools == Tools::Recorded || *mode == SandboxMode::ReadOnly);
    ThreadStartParams {
        model: settings.model.clone(),
        model_provider: Some(PROVIDER_NAME.to_owned()),
        cwd: Some(cwd.display().to_string()),
        base_instructions: settings.instructions.clone(),
        sandbox,
        approval_policy: text(&settings.approval).and_then(|policy| match policy.as_str() {
            "untrusted" => Some(AskForApproval::Untrusted),
            "on-request" => Some(AskForApproval::OnRequest),
            "never" => Some(AskForApproval::Never),
            _ => None,
        }),
        ..ThreadStartParams::default()
    }
}

/// The user of a replay.
struct User {
    client: ClientHandle,
    events: Events,
    thread: String,
    cues: mpsc::Receiver<Cue>,
    /// Tokens of all turns until now.
    tokens: u64,
    /// Turns that began by themselves, and that nobody waited for yet.
    begun: HashMap<String, ()>,
}

impl User {
    /// Does what the user did in a turn, and waits for its end.
    async fn take(&mut self, step: &Step, effort: &Option<String>) -> Result<TurnOutcome, Failure> {
        let began = std::time::Instant::now();
        let before = self.tokens;
        let mut outcome = TurnOutcome {
            number: step.number,
            recorded_turn: step.turn.clone(),
            turn: None,
            status: None,
            same: false,
            tokens: 0,
            duration_ms: 0,
            error: None,
        };
        match &step.kind {
            StepKind::Say(messages) => {
                let mut messages = messages.iter();
                let input = messages.next().map(|parts| inputs(parts)).unwrap_or_default();
                let thread_id = self.thread.clone();
                let params = TurnStartParams { thread_id, input, effort: effort.clone(), ..TurnStartParams::default() };
                let turn = self.client.call::<method::TurnStart>(&params).await.map_err(refused)?.turn.id;
                for parts in messages {
                    self.steer(&turn, parts).await;
                }
                outcome.turn = Some(turn);
            }
            StepKind::Compact => {
                let params = ThreadCompactStartParams { thread_id: self.thread.clone() };
                self.client.call::<method::ThreadCompactStart>(&params).await.map_err(refused)?;
            }
            StepKind::ByItself => {}
        }
        if outcome.turn.is_none() {
            outcome.turn = self.begun.keys().next().cloned();
        }
        let ended = self.follow(outcome.turn.clone()).await?;
        outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome.tokens = self.tokens.saturating_sub(before);
        match ended {
            Some((turn, status, error)) => {
                self.begun.remove(&turn);
                (outcome.turn, outcome.status, outcome.error) = (Some(turn), Some(status), error);
            }
            None => outcome.error = Some("the recorded turn began by itself; this one did not".to_owned()),
        }
        Ok(outcome)
    }

    /// Hears what happens until a turn has ended; without one, until the next has.
    async fn follow(
        &mut self,
        mut turn: Option<String>,
    ) -> Result<Option<(String, TurnStatus, Option<String>)>, Failure> {
        loop {
            // A turn that runs ends by itself, or is stopped by a cue.
            let patience = if turn.is_none() { MAIL_PATIENCE } else { Duration::MAX };
            let event = tokio::select! {
                Some(cue) = self.cues.recv() => {
                    self.act(turn.as_deref(), cue).await;
                    continue;
                }
                event = timeout(patience, self.events.next()) => match event {
                    Ok(event) => event,
                    Err(_) => return Ok(None),
                },
            };
            let (method, params) = match event {
                None => return Err(Failure::internal(anyhow::anyhow!("the server ended before the turn did"))),
                Some(Event::Notification { method, params }) => (method, params),
                Some(Event::Request { id, method, .. }) => {
                    let refusal = RpcError::invalid_request(format!("nobody answers `{method}` in a replay"));
                    self.client.refuse(&id, &refusal).await.map_err(refused)?;
                    continue;
                }
            };
            let Ok(Some(notification)) = ServerNotification::decode(&method, params.as_deref()) else { continue };
            if notification.thread_id().is_some_and(|thread| thread != self.thread) {
                continue;
            }
            match notification {
                ServerNotification::TurnStarted(started) => {
                    turn.get_or_insert_with(|| started.turn.id.clone());
                    self.begun.insert(started.turn.id, ());
                }
                ServerNotification::ThreadTokenUsageUpdated(updated) => {
                    self.tokens = u64::try_from(updated.token_usage.total.total_tokens).unwrap_or_default();
                }
                ServerNotification::TurnCompleted(ended) if turn.as_ref() == Some(&ended.turn.id) => {
                    let error = ended.turn.error.map(|error| error.message);
                    return Ok(Some((ended.turn.id, ended.turn.status, error)));
                }
                _ => {}
            }
        }
    }

    /// Does what the user did while a turn ran.
    async fn act(&self, turn: Option<&str>, cue: Cue) {
        if let Some(turn) = turn {
            match &cue.kind {
                CueKind::Steer(messages) => {
                    for parts in messages {
                        self.steer(turn, parts).await;
                    }
                }
                CueKind::Interrupt => {
                    let params = TurnInterruptParams { thread_id: self.thread.clone(), turn_id: turn.to_owned() };
                    // A turn that has just ended cannot be interrupted, and tells so by its end.
                    let _ = self.client.call::<method::TurnInterrupt>(&params).await;
                }
            }
        }
        let _ = cue.done.send(());
    }

    async fn steer(&self, turn: &str, parts: &[Value]) {
        let params = TurnSteerParams {
            thread_id: self.thread.clone(),
            expected_turn_id: turn.to_owned(),
            input: inputs(parts),
            ..TurnSteerParams::default()
        };
        // What does not reach the turn is missing in its next request, where it is told.
        let _ = self.client.call::<method::TurnSteer>(&params).await;
    }
}

/// Returns what a user says, out of the parts of a recorded message.
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

/// Tells a person what came of a replay.
fn told(outcome: &Outcome) -> String {
    let mut told = String::new();
    for turn in &outcome.turns {
        let verdict = match (turn.same, turn.status) {
            (true, Some(TurnStatus::Failed)) => "same, failed as recorded",
            (true, Some(TurnStatus::Interrupted)) => "same, interrupted as recorded",
            (true, _) => "same",
            (false, _) => "diverged",
        };
        let (number, tokens) = (turn.number, text::number(turn.tokens));
        let seconds = Duration::from_millis(turn.duration_ms).as_secs_f64();
        let _ = writeln!(told, "turn {number}: {verdict}, {tokens} tokens, {seconds:.1} s");
    }
    for agent in &outcome.agents {
        match &agent.divergence {
            None => {
                let count = text::number(agent.same_requests as u64);
                let _ = writeln!(told, "{}: {count} requests, all the same", text::clean(&agent.agent));
            }
            Some(found) => {
                let _ = writeln!(told, "\n{}", text::clean(&found.to_string()));
                for line in found.diff.iter().flat_map(|diff| diff.lines()) {
                    let _ = writeln!(told, "{}", text::clean(line));
                }
            }
        }
    }
    if outcome.only_conversation {
        told.push_str("another program recorded this: only the conversation was compared\n");
    }
    if let Some(bundle) = &outcome.bundle {
        let _ = writeln!(told, "recorded in {}", bundle.display());
    }
    told
}
