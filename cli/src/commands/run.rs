//! `trace run`: one turn of an agent, from the prompt to the recorded session.

mod narration;
mod question;

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse,
    FileChangeApprovalDecision, FileChangeRequestApprovalParams, FileChangeRequestApprovalResponse,
};
use trace_protocol::item::UserInput;
use trace_protocol::methods::method;
use trace_protocol::settings::{AskForApproval, SandboxMode};
use trace_protocol::thread::ThreadStartParams;
use trace_protocol::trace::TraceListParams;
use trace_protocol::turn::{TurnInterruptParams, TurnStartParams, TurnStatus};
use trace_protocol::{Experimental, RequestId, RpcError, ServerNotification};
use trace_server::Server;
use trace_server::outbound::OutboundPolicy;
use trace_server::transport::in_process::{self, CallError, ClientHandle, Event, Events};

pub(crate) use self::narration::Narration;
use crate::serving::{self, ServingArgs};
use crate::signals::{Caught, Signals};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace run \"find out why the tests of the parser fail\"
  trace run --sandbox read-only --json \"what does this repository do?\"
  trace run --provider scripted 'RUN [[{\"say\": \"hello\"}]]'     no key, no network
  git diff | trace run -                                       the prompt from stdin

It runs one turn in the working folder, and says on stderr where the session was recorded: `trace show` and all other commands \
read it from there. On a terminal it asks before a command runs, or files change, that need a decision; elsewhere they are declined. What it asks \
about is shown as it will run: characters that act, hide or look like others are written as escapes.

Exit codes: 0 the turn completed; 1 it failed, or could not begin; 2 wrong usage; 3 an internal error; 130 it was interrupted, 143 by SIGTERM, 129 by SIGHUP.";

/// Runs one turn of an agent and records it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    /// What the agent is asked for; - reads it from stdin
    #[arg(value_name = "PROMPT")]
    prompt: String,
    /// Print what happens as JSON, one notification of the protocol per line
    #[arg(long)]
    json: bool,
    /// Work in this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What commands may touch: read-only, workspace-write or danger-full-access
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    sandbox: Option<Sandbox>,
    /// When to ask: untrusted, on-request or never
    #[arg(long, value_name = "WHEN", hide_possible_values = true)]
    approval: Option<Approval>,
    #[command(flatten)]
    serving: ServingArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Approval {
    Untrusted,
    OnRequest,
    Never,
}

/// What becomes of what happens.
pub(crate) trait Audience {
    /// Hears a notification, as it was sent and as it was understood.
    fn hear(&mut self, text: &RawNotification<'_>, notification: Option<&ServerNotification>) -> Result<(), Failure>;

    /// Decides whether a command may run.
    fn may_run(&mut self, question: &CommandExecutionRequestApprovalParams) -> CommandExecutionApprovalDecision;

    /// Decides whether files may be changed.
    fn may_change(&mut self, question: &FileChangeRequestApprovalParams) -> FileChangeApprovalDecision;

    /// Takes note of what any agent tells, since a question may be about it.
    fn overhear(&mut self, notification: &ServerNotification);
}

/// A notification as it was sent.
#[derive(Debug, serde::Serialize)]
pub(crate) struct RawNotification<'a> {
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

/// How a turn came out.
pub(crate) struct Outcome {
    pub(crate) status: TurnStatus,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// The recorded session.
    pub(crate) bundle: Option<PathBuf>,
}

pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prompt = prompt(&args.prompt)?;
    let cwd = match &args.cwd {
        Some(cwd) if !cwd.is_dir() => {
            return Err(Failure::usage(format!("{} is no folder", cwd.display())));
        }
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| Failure::data(error).context("there is no working folder"))?;
    let serving = args.serving.prepare(&cwd)?;
    let nobody_decides = !can_ask(args.json) && !serving.has_approval_policy();
    let start = ThreadStartParams {
        sandbox: args.sandbox.map(|sandbox| match sandbox {
            Sandbox::ReadOnly => SandboxMode::ReadOnly,
            Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
        }),
        approval_policy: args
            .approval
            .map(|approval| match approval {
                Approval::Untrusted => AskForApproval::Untrusted,
                Approval::OnRequest => AskForApproval::OnRequest,
                Approval::Never => AskForApproval::Never,
            })
            .or(nobody_decides.then_some(AskForApproval::Never)),
        ..ThreadStartParams::default()
    };
    let runtime = serving::tokio_runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let server = serving.start()?;
        let mut narration = Narration::new(terminal, args.json);
        let mut caught = None;
        let outcome = turn(&server, start, prompt, &mut narration, (&mut signals, &mut caught)).await;
        // Ends what runs and looks at what it left, also if nobody can be told any more how the turn ended.
        server.shutdown().await;
        Ok::<_, Failure>((outcome, caught))
    });
    runtime.shutdown_background();
    serving::end_descendants();
    let (outcome, caught) = ended?;
    if let Some(caught) = caught.filter(|caught| *caught != Caught::Interrupt) {
        return Ok(Ending::Stopped(caught.exit_code()));
    }
    let outcome = outcome?;
    if let Some(bundle) = &outcome.bundle {
        serving::note(terminal, &format!("recorded in {}", bundle.display()));
    }
    match outcome.status {
        TurnStatus::Completed => Ok(Ending::Done),
        TurnStatus::Interrupted => Ok(Ending::Interrupted),
        TurnStatus::Failed | TurnStatus::InProgress => {
            let error = outcome.error.unwrap_or_else(|| "the turn failed".to_owned());
            let _ = std::io::Write::write_all(&mut std::io::stderr(), terminal.error_line(&error).as_bytes());
            Ok(Ending::Failed(Kind::Data))
        }
    }
}

/// Tells whether somebody sits at the terminal who can be asked.
pub(crate) fn can_ask(is_json: bool) -> bool {
    !is_json && std::io::stdin().is_terminal()
}

fn prompt(given: &str) -> Result<String, Failure> {
    let prompt = if given == "-" {
        let mut text = String::new();
        if std::io::stdin().is_terminal() {
            serving_hint();
        }
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failure::data(error).context("the prompt cannot be read from stdin"))?;
        text
    } else {
        given.to_owned()
    };
    if prompt.trim().is_empty() { Err(Failure::usage("the prompt is empty")) } else { Ok(prompt) }
}

fn serving_hint() {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), b"reading the prompt from stdin, until its end\n");
}

/// Runs one turn in a server, from a new thread to the recorded session.
///
/// # Errors
///
/// The turn could not begin, or what happens could not be told.
pub(crate) async fn turn(
    server: &Server,
    start: ThreadStartParams,
    prompt: String,
    audience: &mut impl Audience,
    signals: (&mut Signals, &mut Option<Caught>),
) -> Result<Outcome, Failure> {
    let (client, mut events) = in_process::connect(server.entrance(), OutboundPolicy::Wait);
    client.initialize("trace", env!("CARGO_PKG_VERSION"), Experimental::Enabled).await.map_err(refused)?;
    let thread = client.call::<method::ThreadStart>(&start).await.map_err(refused)?.thread.id;
    let input = vec![UserInput::Text { text: prompt, text_elements: Vec::new() }];
    let params = TurnStartParams { thread_id: thread.clone(), input, ..TurnStartParams::default() };
    let turn = client.call::<method::TurnStart>(&params).await.map_err(refused)?.turn.id;
    let (status, error) = follow(&client, &mut events, &thread, &turn, audience, signals).await?;
    let bundle = bundle_of(&client, &thread).await;
    Ok(Outcome { status, error, bundle })
}

/// Hears what happens until the turn has ended. Signals interrupt it, and the last one is noted.
async fn follow(
    client: &ClientHandle,
    events: &mut Events,
    thread: &str,
    turn: &str,
    audience: &mut impl Audience,
    (signals, caught): (&mut Signals, &mut Option<Caught>),
) -> Result<(TurnStatus, Option<String>), Failure> {
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            signal = signals.next() => {
                *caught = Some(signal);
                let params = TurnInterruptParams { thread_id: thread.to_owned(), turn_id: turn.to_owned() };
                // A turn that has just ended cannot be interrupted, and tells so by its end.
                let _ = client.call::<method::TurnInterrupt>(&params).await;
                continue;
            }
        };
        match event {
            None => return Err(Failure::internal(anyhow::anyhow!("the server ended before the turn did"))),
            Some(Event::Notification { method, params }) => {
                let notification = ServerNotification::decode(&method, params.as_deref()).ok().flatten();
                let text = RawNotification { method: &method, params: params.as_deref() };
                if let Some(notification) = &notification {
                    audience.overhear(notification);
                }
                // What other agents say is theirs; programs that read JSON hear all.
                let is_own =
                    notification.as_ref().and_then(ServerNotification::thread_id).is_none_or(|id| id == thread);
                audience.hear(&text, notification.as_ref().filter(|_| is_own))?;
                if let Some(ServerNotification::TurnCompleted(ended)) = notification
                    && ended.turn.id == turn
                {
                    return Ok((ended.turn.status, ended.turn.error.map(|error| error.message)));
                }
            }
            Some(Event::Request { id, method, params }) => {
                answer(client, &id, &method, params.as_deref(), audience).await.map_err(refused)?;
            }
        }
    }
}

/// Answers what the server asks.
async fn answer(
    client: &ClientHandle,
    id: &RequestId,
    method: &str,
    params: Option<&RawValue>,
    audience: &mut impl Audience,
) -> Result<(), CallError> {
    match method {
        "item/commandExecution/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = audience.may_run(&question);
                client.answer(id, &CommandExecutionRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the question makes no sense")).await,
        },
        "item/fileChange/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = audience.may_change(&question);
                client.answer(id, &FileChangeRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the question makes no sense")).await,
        },
        other => client.refuse(id, &RpcError::invalid_request(format!("nobody answers `{other}` here"))).await,
    }
}

fn decoded<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    trace_protocol::common::from_raw(params?).ok()
}

pub(crate) async fn bundle_of(client: &ClientHandle, thread: &str) -> Option<PathBuf> {
    let traces = client.call::<method::TraceList>(&TraceListParams::default()).await.ok()?;
    let trace = traces.data.into_iter().find(|trace| trace.thread_ids.iter().any(|known| known == thread))?;
    Some(PathBuf::from(trace.path.into_string()))
}

pub(crate) fn refused(error: CallError) -> Failure {
    match error {
        CallError::Refused(refusal) => Failure::data(anyhow::anyhow!("{}", refusal.message)),
        other => Failure::internal(other),
    }
}
