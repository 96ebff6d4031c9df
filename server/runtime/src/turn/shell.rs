//! Commands that a user runs beside the model. They are not confined.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::core::AgentCore;
use crate::event::Delta;
use crate::history;
use crate::id::{ItemId, TurnId};
use crate::item::{CommandItem, CommandSource, Item, ItemKind, ModelItem, WorkStatus};
use crate::open_item::OpenItem;
use crate::settings::Settings;
use crate::tool::exec::actions::actions;
use crate::tool::exec::output::{Decoder, HeadAndTail, ItemOutput};
use crate::tool::exec::process::{Launch, Process, Streams, exit_code};

/// Default timeout of a command.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Most bytes of the output that the model gets.
pub(crate) const MODEL_OUTPUT_BYTES: usize = 40_000;

/// Size of the read buffer.
const CHUNK_BYTES: usize = 16 << 10;

/// Runs a command and shows it as an item. Returns the text for the model.
pub(crate) async fn run(
    agent: &AgentCore,
    turn: &TurnId,
    settings: &Settings,
    cancelled: &CancellationToken,
    command: String,
    timeout: Option<Duration>,
) -> ModelItem {
    let shell = agent.options().shell.clone();
    let began = Instant::now();
    let line = shlex::try_join([&*shell.to_string_lossy(), "-lc", &command]).unwrap_or_else(|_| command.clone());
    let item = CommandItem {
        command: line,
        cwd: settings.cwd.clone(),
        source: CommandSource::UserShell,
        process_id: None,
        actions: actions(&command, &settings.cwd),
        output: None,
        exit_code: None,
        duration_ms: None,
        status: WorkStatus::InProgress,
    };
    let mut open =
        OpenItem::start(&agent.link, turn, Item { id: ItemId::new(), kind: ItemKind::Command(item.clone()) });
    let mut output = ItemOutput::default();
    let mut kept = HeadAndTail::new(MODEL_OUTPUT_BYTES / 2, MODEL_OUTPUT_BYTES / 2);
    let mut say = |text: &str| {
        kept.push(text);
        if let Some(now) = output.push(text) {
            open.grow(Delta::Output(now.to_owned()));
        }
    };
    let deadline = began + timeout.unwrap_or(DEFAULT_TIMEOUT);
    let options = agent.options();
    let words = [shell.to_string_lossy().into_owned(), "-lc".to_owned(), command.clone()];
    let words =
        options.environment.guarded_outside(&words, &options.folders.writable(&settings.cwd, &settings.sandbox));
    let launch = Launch {
        program: &shell,
        arguments: &words[1..],
        cwd: &settings.cwd,
        environment: &options.environment,
        hidden_variables: &options.hidden_variables,
        streams: Streams::Pipe,
    };
    let end = match Process::start(launch) {
        Ok(mut process) => {
            let end = tokio::select! {
                biased;
                () = cancelled.cancelled() => End::Stopped,
                () = sleep_until(deadline) => End::TooLong,
                end = listen(agent, &mut process, &mut say) => end,
            };
            if !matches!(end, End::Exited(_)) {
                process.kill();
                // Reaps the process; its exit status does not matter.
                let _ = process.parts().0.wait().await;
            }
            end
        }
        Err(error) => End::Failed(error),
    };
    if let End::Failed(error) = &end {
        say(&format!("{}: {error}\n", shell.display()));
    }
    if let Some(last) = output.finish() {
        open.grow(Delta::Output(last));
    }
    let (status, exit_code, how) = match end {
        End::Exited(code) => {
            let status = if code == 0 { WorkStatus::Completed } else { WorkStatus::Failed };
            (status, Some(code), format!("Exit code: {code}"))
        }
        End::Stopped => (WorkStatus::Interrupted, None, "The user stopped it.".to_owned()),
        End::TooLong => (WorkStatus::Failed, None, "It took too long and was stopped.".to_owned()),
        End::Failed(_) => (WorkStatus::Failed, None, "It could not be started.".to_owned()),
    };
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let done = CommandItem { output: output.shown(), exit_code, duration_ms: Some(duration_ms), status, ..item };
    open.complete(ItemKind::Command(done));
    let excerpt = kept.within(MODEL_OUTPUT_BYTES);
    let middle = match excerpt.left_out {
        0 => String::new(),
        bytes => format!("\n[... {bytes} bytes left out ...]\n"),
    };
    let text = format!(
        "<user_shell_command>\nThe user ran: {command}\n{how}\nOutput:\n{}{middle}{}\n</user_shell_command>",
        excerpt.head, excerpt.tail
    );
    history::text_message("user", &text)
}

/// How a command ended.
enum End {
    Exited(i32),
    Stopped,
    TooLong,
    Failed(io::Error),
}

/// Reads the output of a process until it ends. Output of processes that it left running is ignored.
async fn listen(agent: &AgentCore, process: &mut Process, say: &mut impl FnMut(&str)) -> End {
    let (child, mut output) = process.parts();
    let mut decoder = Decoder::default();
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut exited: Option<io::Result<ExitStatus>> = None;
    loop {
        let length = tokio::select! {
            biased;
            length = output.read(&mut bytes) => length,
            status = child.wait(), if exited.is_none() => {
                exited = Some(status);
                continue;
            }
            // Output from before the end is in the pipe already, so there is no need to wait.
            () = std::future::ready(()), if exited.is_some() => break,
        };
        if length == 0 {
            break;
        }
        say(&decoder.decode(&bytes[..length]));
        agent.link.ready().await;
    }
    say(&decoder.finish());
    let status = match exited {
        Some(status) => status,
        None => child.wait().await,
    };
    match status {
        Ok(status) => End::Exited(exit_code(status)),
        Err(error) => End::Failed(error),
    }
}
