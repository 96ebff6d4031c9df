//! How tool calls of Gemini CLI ended.

use trace_recorder::format::{ExecutionStatus, ToolKind};

/// Lines that the shell tool puts behind the output of a command.
const TRAILERS: [&str; 4] = ["Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// The line before the reason why a child stopped.
const TERMINATION: &str = "Termination Reason: ";

/// Returns the kind of a tool by its name.
pub(crate) fn kind(name: &str) -> ToolKind<'static> {
    match name {
        "run_shell_command" => ToolKind::ExecCommand,
        "invoke_agent" => ToolKind::SpawnAgent,
        "google_web_search" | "web_fetch" => ToolKind::Web,
        _ => ToolKind::Other { name: name.to_owned().into() },
    }
}

/// Returns the output of a command and its exit code from what the model saw; a command that a signal ended has none. Returns
/// `None` if the text does not say how the command ended.
///
/// The tool names the exit code only if it is not 0, and says so in its description. Lines that look alike may be output of the
/// command, so only those at the end count.
pub(crate) fn shell(text: &str) -> Option<(&str, Option<i32>)> {
    let text = text.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text);
    let text = text.trim_start().strip_prefix("<untrusted_context>").unwrap_or(text);
    let mut rest = text.trim_end().trim_start_matches('\n').strip_prefix("Output: ")?;
    let mut exit = Some(0);
    loop {
        let (before, line) = rest.rsplit_once('\n').unwrap_or(("", rest));
        let Some(trailer) = TRAILERS.iter().find(|trailer| line.starts_with(**trailer)) else { break };
        // The text must not be a line of the output alone.
        if before.is_empty() && !rest.contains('\n') {
            break;
        }
        match *trailer {
            "Exit Code: " => exit = line[trailer.len()..].trim().parse().ok(),
            "Signal: " => exit = exit.filter(|exit| *exit != 0),
            _ => {}
        }
        rest = before;
    }
    Some((rest, exit))
}

/// Returns how a child ended, from what its parent saw. Returns `None` if the text does not say it.
pub(crate) fn termination(text: &str) -> Option<ExecutionStatus> {
    let reason = text.lines().find_map(|line| line.strip_prefix(TERMINATION))?;
    Some(match reason.trim() {
        "GOAL" => ExecutionStatus::Completed,
        "ABORTED" => ExecutionStatus::Cancelled,
        _ => ExecutionStatus::Failed,
    })
}

/// Returns the status of a call by the word of the file.
pub(crate) fn status(word: &str) -> Option<ExecutionStatus> {
    match word {
        "success" => Some(ExecutionStatus::Completed),
        "error" => Some(ExecutionStatus::Failed),
        "cancelled" => Some(ExecutionStatus::Cancelled),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_text_tells_the_exit_code() {
        let text = |inner: &str| format!("<untrusted_context>\n{inner}\n</untrusted_context>");
        let failed = text("Output: (empty)\nExit Code: 3\nProcess Group PGID: 15095");
        assert_eq!(shell(&failed), Some(("(empty)", Some(3))));
        let fine = text("Output: a\nExit Code: 9\nb\nProcess Group PGID: 1");
        assert_eq!(shell(&fine), Some(("a\nExit Code: 9\nb", Some(0))));
        assert_eq!(shell("Output: one"), Some(("one", Some(0))));
        assert_eq!(shell(&text("Output: x\nSignal: 9\nProcess Group PGID: 1")), Some(("x", None)));
        assert_eq!(shell(&text("Output: x\nExit Code: 1\nSignal: 9")), Some(("x", Some(1))));
        assert_eq!(shell("Command moved to background (PID: 7)."), None);
        assert_eq!(shell("Output: Exit Code: 5"), Some(("Exit Code: 5", Some(0))));
    }

    #[test]
    fn children_that_reached_no_goal_failed() {
        let text = |reason: &str| format!("Subagent 'a' finished.\nTermination Reason: {reason}\nResult:\nx");
        assert_eq!(termination(&text("GOAL")), Some(ExecutionStatus::Completed));
        assert_eq!(termination(&text("ERROR_NO_COMPLETE_TASK_CALL")), Some(ExecutionStatus::Failed));
        assert_eq!(termination(&text("MAX_TURNS")), Some(ExecutionStatus::Failed));
        assert_eq!(termination(&text("ABORTED")), Some(ExecutionStatus::Cancelled));
        assert_eq!(termination("something else"), None);
    }
}
