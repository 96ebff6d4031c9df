//! `trace demo`: records and shows a small session, without an API key and without a network.

mod team;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use trace_protocol::settings::{AskForApproval, SandboxMode};
use trace_protocol::thread::ThreadStartParams;
use trace_protocol::turn::TurnStatus;

use crate::commands::show::{self, ShowArgs};
use crate::serving::{self, ServingArgs};
use crate::signals::Signals;
use crate::turn::{self, Messages, Narration};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace demo              run it in a new temporary folder
  trace demo -o session   run it in the new folder `session`
  trace demo --team       run a team of agents: a planner, three workers, a reviewer

A scripted agent writes a small program, runs it, sees that it fails, and fixes it. The commands really run, in a \
folder of their own. With --team, a planner gives parts of such a program to other agents. One of them fails and gets \
its task again, and a reviewer tells another one what is wrong. The session is recorded like any other, reduced, and \
shown; the last lines name further commands to try.

Exit codes: 0 done; 1 the demo could not be run or recorded; 2 wrong usage; 3 an internal error.";

/// The program of the demo, which has an error at first.
const WRONG: &str = "numbers=\"3 4 5\"\nsum=0\nfor number in $numbers; do sum=$((sum + numbr)); done\ntest \"$sum\" = 12 || { echo \"sum is $sum, not 12\" >&2; exit 1; }\necho \"sum is $sum\"\n";
/// The line with the error.
const MISTAKE: &str = "for number in $numbers; do sum=$((sum + numbr)); done";
/// The corrected line.
const MENDED: &str = "for number in $numbers; do sum=$((sum + number)); done";

/// Runs, records and shows a small session, without an API key
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DemoArgs {
    /// The folder for the session; it must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Run a team of agents instead of one agent
    #[arg(long)]
    team: bool,
}

pub(crate) fn run(args: &DemoArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let folder = folder(args)?;
    let work = folder.join("work");
    let failed = |error: std::io::Error| Failure::data(error).context(format!("cannot use {}", folder.display()));
    std::fs::create_dir_all(&work).map_err(failed)?;
    let serving = ServingArgs::scripted(folder.join("home")).prepare(&work)?;
    let runtime = serving::tokio_runtime()?;
    let prompt = if args.team { team::prompt() } else { prompt() };
    let outcome = runtime.block_on(async {
        let server = serving.start()?;
        let start = ThreadStartParams {
            // All commands of the demo are in this file, so they may run without a sandbox where the system provides
            // none.
            sandbox: Some(SandboxMode::DangerFullAccess),
            approval_policy: Some(AskForApproval::Never),
            model: args.team.then(|| team::MODEL.to_owned()),
            ..ThreadStartParams::default()
        };
        let mut narration = Narration::new(terminal, Messages::Stdout);
        let (mut signals, mut caught) = (Signals::catch()?, None);
        let outcome = turn::run(&server, start, prompt, &mut narration, (&mut signals, &mut caught)).await;
        server.shutdown().await;
        outcome
    });
    runtime.shutdown_background();
    serving::end_descendants();
    let outcome = outcome?;
    let Some(bundle) = outcome.bundle else {
        return Err(Failure::internal(anyhow::anyhow!("the session was not recorded")));
    };
    if outcome.status != TurnStatus::Completed {
        let error = outcome.error.unwrap_or_else(|| "the turn did not complete".to_owned());
        return Err(Failure::data(anyhow::anyhow!("{error}")).context("the demo failed"));
    }
    terminal.print("\nWhat was recorded:\n\n")?;
    match show::run(&ShowArgs::of(bundle.clone()), terminal)? {
        Ending::Done => {}
        _ => return Ok(Ending::Failed(Kind::Data)),
    }
    let bundle = bundle.display();
    let question = if args.team { format!("postmortem {bundle}") } else { format!("why {bundle} --text numbr") };
    let next = format!(
        "\nNext steps:\n  trace view {bundle} --open\n  trace {question}\n  trace timeline {bundle}\n  trace graph {bundle} -o session.svg\n"
    );
    let _ = std::io::stderr().write_all(next.as_bytes());
    Ok(Ending::Done)
}

fn folder(args: &DemoArgs) -> Result<PathBuf, Failure> {
    let Some(output) = &args.output else {
        let made = tempfile::Builder::new().prefix("trace-demo-").tempdir();
        return Ok(made.map_err(|error| Failure::data(error).context("no folder can be made"))?.keep());
    };
    if output.exists() {
        let message = format!("{} exists already", output.display());
        return Err(Failure::usage(message).with_hint("name a folder that does not exist yet"));
    }
    std::path::absolute(output).map_err(|error| Failure::data(error).context("the folder has no path"))
}

/// Returns the prompt. It contains the script that the agent plays.
fn prompt() -> String {
    let patch =
        |body: &str| json!({ "custom": "apply_patch", "input": format!("*** Begin Patch\n{body}*** End Patch\n") });
    let added: String = WRONG.lines().map(|line| format!("+{line}\n")).collect();
    let script = json!([
        [{ "think": "A small program first, and then a look at whether it works." },
         { "say": "I write the program.", "phase": "commentary" },
         patch(&format!("*** Add File: sum.sh\n{added}"))],
        [{ "call": "exec_command", "args": { "cmd": "sh sum.sh" } }],
        [{ "think": "The sum is 0, so the name in the loop must be wrong." },
         { "say": "It fails: the name of the number is misspelt. I mend that.", "phase": "commentary" },
         patch(&format!("*** Update File: sum.sh\n@@\n-{MISTAKE}\n+{MENDED}\n"))],
        [{ "call": "exec_command", "args": { "cmd": "sh sum.sh" } }],
        [{ "say": "The program works now: the sum is 12." }],
    ]);
    format!("Write a program that adds some numbers, and make sure that it works.\nRUN {script}")
}
