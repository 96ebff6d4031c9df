//! `trace run`: one turn of an agent, from the prompt to the recorded session.

mod narration;
mod observer;
mod question;

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use trace_protocol::approval::{CommandExecutionRequestApprovalResponse, FileChangeRequestApprovalResponse};
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
use self::observer::{RawNotification, TurnObserver, can_ask};
use crate::serving::{self, ServingArgs};
use crate::signals::{Caught, Signals};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace run \"find out why the tests of the parser fail\"
  trace run --sandbox read-only --json \"what does this repository do?\"
  trace run --provider scripted 'RUN [[{\"say\": \"hello\"}]]'     no key, no network
  git diff | trace run \"review these changes\"                 stdin is added to the prompt
  trace run < prompt.md                                        the prompt from stdin

It runs one turn in the working folder, and prints to stderr where the session was recorded; `trace show` and all \
other commands read the recording. On a terminal, it asks before it runs commands or changes files that need an \
approval; without a terminal, these are declined. Commands are shown as they will run: characters that are invisible, \
that act on the terminal or that look like other characters are written as escapes.

Exit codes: 0 the turn completed; 1 it failed, or could not start; 2 wrong usage; 3 an internal error; 129, 130 or 143 \
it was ended by SIGHUP, Ctrl-C or SIGTERM.";

/// Runs one turn of an agent and records it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    /// The prompt; without it, or if it is -, it is read from stdin. Piped input is added to a prompt as a block
    /// `<stdin>`
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// Print notifications of the protocol as JSON, one per line
    #[arg(long)]
    json: bool,
    /// Work in this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What commands may write to: read-only, workspace-write or danger-full-access
    #[arg(short = 's', long, value_name = "MODE", hide_possible_values = true)]
    sandbox: Option<Sandbox>,
    /// When to ask for approval: untrusted, on-request or never
    #[arg(short = 'a', long, value_name = "WHEN", hide_possible_values = true)]
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

/// The outcome of a turn.
pub(crate) struct Outcome {
    pub(crate) status: TurnStatus,
    /// Why the turn failed; `None` if it did not.
    pub(crate) error: Option<String>,
    /// The bundle of the session; `None` if nothing was recorded.
    pub(crate) bundle: Option<PathBuf>,
}

pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prompt = prompt(args.prompt.as_deref())?;
    let cwd = match &args.cwd {
        Some(cwd) if !cwd.is_dir() => {
            return Err(Failure::usage(format!("{} is not a folder", cwd.display())));
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
        // The shutdown ends running commands and checks what they left, even if the outcome of the turn cannot be
        // printed.
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

/// Returns the prompt of the command line, with piped input added, or the prompt from stdin.
fn prompt(given: Option<&str>) -> Result<String, Failure> {
    let prompt = match given.filter(|given| *given != "-") {
        None => {
            if std::io::stdin().is_terminal() {
                let hint = b"reading the prompt from stdin until end of input\n";
                let _ = std::io::Write::write_all(&mut std::io::stderr(), hint);
            }
            stdin("the prompt")?
        }
        Some(given) if is_piped() => {
            let hint = b"reading more of the prompt from stdin until end of input; < /dev/null leaves it out\n";
            let _ = std::io::Write::write_all(&mut std::io::stderr(), hint);
            match stdin("the piped input")?.trim_end_matches('\n') {
                "" => given.to_owned(),
                piped => format!("{given}\n\n<stdin>\n{piped}\n</stdin>"),
            }
        }
        Some(given) => given.to_owned(),
    };
    if prompt.trim().is_empty() { Err(Failure::usage("the prompt is empty")) } else { Ok(prompt) }
}

/// Most bytes of a prompt, or of a part of it, that are read from stdin.
const MAX_STDIN_BYTES: u64 = 16 << 20;

fn stdin(what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_STDIN_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::data(error).context(format!("{what} cannot be read from stdin")))?;
    if text.len() as u64 > MAX_STDIN_BYTES {
        return Err(Failure::usage(format!("{what} on stdin has more than {} MiB", MAX_STDIN_BYTES >> 20)));
    }
    Ok(text)
}

/// Returns whether stdin is a pipe or a file. Nothing is read from other programs that pass on a socket or a device.
#[cfg(unix)]
fn is_piped() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;

    let stdin = std::io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let metadata = stdin.and_then(|stdin| stdin.metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.is_file())
}

#[cfg(not(unix))]
fn is_piped() -> bool {
    false
}

/// Runs one turn of a new thread in a server.
///
/// # Errors
///
/// Returns an error if the turn cannot start, or if the output cannot be written.
pub(crate) async fn turn(
    server: &Server,
    start: ThreadStartParams,
    prompt: String,
    observer: &mut impl TurnObserver,
    signals: (&mut Signals, &mut Option<Caught>),
) -> Result<Outcome, Failure> {
    let (client, mut events) = in_process::connect(server.opener(), OutboundPolicy::Wait);
    client.initialize("trace", env!("CARGO_PKG_VERSION"), Experimental::Enabled).await.map_err(refused)?;
    let thread = client.call::<method::ThreadStart>(&start).await.map_err(refused)?.thread.id;
    let input = vec![UserInput::Text { text: prompt, text_elements: Vec::new() }];
    let params = TurnStartParams { thread_id: thread.clone(), input, ..TurnStartParams::default() };
    let turn = client.call::<method::TurnStart>(&params).await.map_err(refused)?.turn.id;
    let (status, error) = follow(&client, &mut events, &thread, &turn, observer, signals).await?;
    let bundle = bundle_of(&client, &thread).await;
    Ok(Outcome { status, error, bundle })
}

/// Receives notifications until the turn has ended. A signal interrupts the turn; the last signal is returned.
async fn follow(
    client: &ClientHandle,
    events: &mut Events,
    thread: &str,
    turn: &str,
    observer: &mut impl TurnObserver,
    (signals, caught): (&mut Signals, &mut Option<Caught>),
) -> Result<(TurnStatus, Option<String>), Failure> {
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            signal = signals.next() => {
                *caught = Some(signal);
                let params = TurnInterruptParams { thread_id: thread.to_owned(), turn_id: turn.to_owned() };
                // The request is refused if the turn has just ended. Its end is then received as a notification.
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
                    observer.on_tree_notification(notification);
                }
                // People see only the notifications of the root thread. Programs that read JSON get all of them.
                let is_own =
                    notification.as_ref().and_then(ServerNotification::thread_id).is_none_or(|id| id == thread);
                observer.on_notification(&text, notification.as_ref().filter(|_| is_own))?;
                if let Some(ServerNotification::TurnCompleted(ended)) = notification
                    && ended.turn.id == turn
                {
                    return Ok((ended.turn.status, ended.turn.error.map(|error| error.message)));
                }
            }
            Some(Event::Request { id, method, params }) => {
                answer(client, &id, &method, params.as_deref(), observer).await.map_err(refused)?;
            }
        }
    }
}

/// Answers a request of the server.
async fn answer(
    client: &ClientHandle,
    id: &RequestId,
    method: &str,
    params: Option<&RawValue>,
    observer: &mut impl TurnObserver,
) -> Result<(), CallError> {
    match method {
        "item/commandExecution/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = observer.may_run(&question);
                client.answer(id, &CommandExecutionRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the request is not valid")).await,
        },
        "item/fileChange/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = observer.may_change(&question);
                client.answer(id, &FileChangeRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the request is not valid")).await,
        },
        other => client.refuse(id, &RpcError::invalid_request(format!("`trace run` does not answer `{other}`"))).await,
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
