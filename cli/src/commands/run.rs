//! `trace run`: one turn of an agent, from the prompt to the recorded session.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trace_protocol::settings::{AskForApproval, SandboxMode};
use trace_protocol::thread::ThreadStartParams;
use trace_protocol::turn::TurnStatus;

use crate::prompt;
use crate::serving::{self, ServingArgs};
use crate::signals::{Caught, Signals};
use crate::turn::{self, Messages, Narration, can_ask};
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

pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let prompt = prompt::read(args.prompt.as_deref())?;
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
        let messages = if args.json { Messages::Json } else { Messages::Stdout };
        let mut narration = Narration::new(terminal, messages);
        let mut caught = None;
        let outcome = turn::run(&server, start, prompt, &mut narration, (&mut signals, &mut caught)).await;
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
