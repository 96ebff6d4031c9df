//! Short names of objects for people.

use trace_reducer::model::{ExecutionStatus, TerminalRequest, ToolCall, ToolKind, ToolSummary, Trace};

/// Returns the name of a call's tool: `server.tool` for MCP, the name that the model used where the call has it, and the
/// kind of the tool otherwise.
pub fn tool_name(trace: &Trace, call: &ToolCall) -> String {
    match (&call.kind, &call.summary) {
        (ToolKind::Mcp { server, tool }, _) => format!("{}.{}", trace.text(*server), trace.text(*tool)),
        (ToolKind::Other { .. }, ToolSummary::Generic { label, .. }) => trace.text(*label).to_owned(),
        (ToolKind::Other { name }, _) => trace.text(*name).to_owned(),
        (kind, _) => kind.as_str().to_owned(),
    }
}

/// Most characters of what [`tool_subject`] returns.
pub const MAX_SUBJECT_CHARS: usize = 200;

/// Characters of a long subject that are its end. What is run must not hide behind what it begins with.
const END_CHARS: usize = 79;

/// Returns both ends of a text, with `…` in place of the middle.
fn both_ends(text: &str) -> String {
    if text.char_indices().nth(MAX_SUBJECT_CHARS).is_none() {
        return text.to_owned();
    }
    let head = text.char_indices().nth(MAX_SUBJECT_CHARS - END_CHARS - 1).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Returns words as a line for a shell, so that it can be seen where each begins and ends.
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str> + Clone) -> String {
    shlex::try_join(words.clone()).unwrap_or_else(|_| words.into_iter().collect::<Vec<_>>().join(" "))
}

/// Returns what a terminal was asked to do: both ends of the command, or of the input.
pub fn request_subject(request: &TerminalRequest) -> String {
    match request {
        // What a shell is asked to run says more than how the shell is started.
        TerminalRequest::ExecCommand { command, .. } => match &command[..] {
            [_, flag, script] if matches!(&**flag, "-c" | "-lc") => both_ends(script),
            _ => both_ends(&command_line(command.iter().map(|word| &**word))),
        },
        TerminalRequest::WriteStdin { stdin, .. } => both_ends(stdin),
    }
}

/// Returns the word for a status of execution.
pub fn status_name(status: ExecutionStatus) -> &'static str {
    match status {
        ExecutionStatus::Running => "running",
        ExecutionStatus::Completed => "completed",
        ExecutionStatus::Failed => "failed",
        ExecutionStatus::Cancelled => "cancelled",
        ExecutionStatus::Aborted | ExecutionStatus::Unknown => "aborted",
    }
}

/// Returns both ends of what a tool was called for: the command, the message, the input. May hold any characters.
pub fn tool_subject(trace: &Trace, call: &ToolCall) -> Option<String> {
    let text = match (&call.summary, call.operation) {
        (_, Some(operation)) => request_subject(&trace.operations[operation].request),
        (ToolSummary::Agent { target_agent_path, task_name, .. }, _) => {
            let path = trace.text(*target_agent_path);
            let task = task_name.map(|name| trace.text(name));
            both_ends(if path.is_empty() { task.unwrap_or_default() } else { path })
        }
        (ToolSummary::WaitAgent { target_agent_path, .. }, _) => both_ends(trace.text((*target_agent_path)?)),
        (ToolSummary::Generic { input_preview, .. }, _) => both_ends(input_preview.as_deref()?),
        (ToolSummary::Terminal { .. }, None) => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_keep_both_ends() {
        let shown = both_ends(&format!("echo {}; rm -rf é", "ä".repeat(20_000)));
        assert!(shown.starts_with("echo ää") && shown.ends_with("ä; rm -rf é"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_SUBJECT_CHARS);
        assert_eq!(both_ends(&"ä".repeat(MAX_SUBJECT_CHARS)), "ä".repeat(MAX_SUBJECT_CHARS));
    }

    #[test]
    fn words_are_told_apart() {
        assert_eq!(command_line(["ls", "a b; rm x"]), "ls 'a b; rm x'");
        assert_eq!(command_line(["ls", "a\0b"]), "ls a\0b");
    }
}
