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

fn begin(text: &str) -> String {
    text.chars().take(MAX_SUBJECT_CHARS).collect()
}

/// Returns the beginning of what a terminal was asked to do: the command, or the input.
pub fn request_subject(request: &TerminalRequest) -> String {
    match request {
        // What a shell is asked to run says more than how the shell is started.
        TerminalRequest::ExecCommand { command, .. } => match &command[..] {
            [_, flag, script] if matches!(&**flag, "-c" | "-lc") => begin(script),
            _ => begin(&command.join(" ")),
        },
        TerminalRequest::WriteStdin { stdin, .. } => begin(stdin),
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

/// Returns the beginning of what a tool was called for: the command, the message, the input. May hold any characters.
pub fn tool_subject(trace: &Trace, call: &ToolCall) -> Option<String> {
    let text = match (&call.summary, call.operation) {
        (_, Some(operation)) => request_subject(&trace.operations[operation].request),
        (ToolSummary::Agent { target_agent_path, task_name, .. }, _) => {
            let path = trace.text(*target_agent_path);
            let task = task_name.map(|name| trace.text(name));
            begin(if path.is_empty() { task.unwrap_or_default() } else { path })
        }
        (ToolSummary::WaitAgent { target_agent_path, .. }, _) => begin(trace.text((*target_agent_path)?)),
        (ToolSummary::Generic { input_preview, .. }, _) => begin(input_preview.as_deref()?),
        (ToolSummary::Terminal { .. }, None) => return None,
    };
    (!text.is_empty()).then_some(text)
}
