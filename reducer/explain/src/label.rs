//! Short names of objects for people.

use trace_reducer::model::{ToolCall, ToolKind, ToolSummary, Trace};

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
