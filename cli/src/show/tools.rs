//! What a tool call is called, and how its command exited.

use std::borrow::Cow;

use trace_reducer::model::{OperationIdx, ToolCall, ToolKind, Trace};

/// Returns the name by which people know a tool.
pub(super) fn tool_name<'t>(trace: &'t Trace, tool: &ToolCall) -> Cow<'t, str> {
    match tool.kind {
        ToolKind::Mcp { server, tool } => format!("{}/{}", trace.text(server), trace.text(tool)).into(),
        ToolKind::Other { name } => trace.text(name).into(),
        kind => kind.as_str().into(),
    }
}

/// Returns the exit code of a command that did not exit as commands should.
pub(super) fn exit_code(trace: &Trace, operation: Option<OperationIdx>) -> Option<i64> {
    let code = trace.operations[operation?].result.as_ref()?.exit_code?;
    (code != 0).then_some(code)
}
