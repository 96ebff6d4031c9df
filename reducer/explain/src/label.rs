//! Short names of objects, for output to users.

use trace_reducer::model::{ExecutionStatus, TerminalRequest, ToolCall, ToolKind, ToolSummary, Trace};

/// Returns the name of a call's tool: `server.tool` for MCP, else the name that the model used, else the kind of the
/// tool.
pub fn tool_name(trace: &Trace, call: &ToolCall) -> String {
    match (&call.kind, &call.summary) {
        (ToolKind::Mcp { server, tool }, _) => format!("{}.{}", trace.text(*server), trace.text(*tool)),
        (ToolKind::Other { .. }, ToolSummary::Generic { label, .. }) => trace.text(*label).to_owned(),
        (ToolKind::Other { name }, _) => trace.text(*name).to_owned(),
        (kind, _) => kind.as_str().to_owned(),
    }
}

/// Most characters that [`tool_subject`] returns.
pub const MAX_SUBJECT_CHARS: usize = 200;

/// Number of characters from the end of a long subject. A command could otherwise be hidden behind a harmless
/// beginning.
const END_CHARS: usize = 79;

/// Returns the beginning and the end of a long text, with `…` in place of the middle.
fn both_ends(text: &str) -> String {
    if text.char_indices().nth(MAX_SUBJECT_CHARS).is_none() {
        return text.to_owned();
    }
    let head = text.char_indices().nth(MAX_SUBJECT_CHARS - END_CHARS - 1).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Returns words as a line for a shell, quoted so that each word can be recognised.
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str> + Clone) -> String {
    shlex::try_join(words.clone()).unwrap_or_else(|_| words.into_iter().collect::<Vec<_>>().join(" "))
}

/// Returns the command or the input of a request to a terminal, shortened in the middle.
pub fn request_subject(request: &TerminalRequest) -> String {
    match request {
        // The script says more than the command that starts the shell.
        TerminalRequest::ExecCommand { command, .. } => match &command[..] {
            [_, flag, script] if matches!(&**flag, "-c" | "-lc") => both_ends(script),
            _ => both_ends(&command_line(command.iter().map(|word| &**word))),
        },
        TerminalRequest::WriteStdin { stdin, .. } => both_ends(stdin),
    }
}

/// Returns the name of a status.
pub fn status_name(status: ExecutionStatus) -> &'static str {
    match status {
        ExecutionStatus::Running => "running",
        ExecutionStatus::Completed => "completed",
        ExecutionStatus::Failed => "failed",
        ExecutionStatus::Cancelled => "cancelled",
        ExecutionStatus::Aborted | ExecutionStatus::Unknown => "aborted",
    }
}

/// Returns what a tool was called for: the command, the message or the input, shortened in the middle. The text may
/// contain any characters, also control characters.
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
