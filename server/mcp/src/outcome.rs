//! Outcomes that all tools of servers have in common.

use serde_json::Value;
use trace_runtime::tool::{AfterCall, CallDescription, MAX_PREVIEW_CHARS, ToolCall, ToolInput, ToolOutcome};

/// Describes a call by its name and the beginning of its input.
pub(crate) fn describe(call: &ToolCall) -> CallDescription {
    let (ToolInput::Arguments(input) | ToolInput::Text(input)) = &call.input;
    let label = match &call.namespace {
        Some(namespace) => format!("{namespace}.{}", call.name),
        None => call.name.clone(),
    };
    let preview = input.chars().take(MAX_PREVIEW_CHARS).collect();
    CallDescription { kind: "other".to_owned(), label, input_preview: Some(preview) }
}

/// Returns the outcome of a failed call.
pub(crate) fn failed(output: impl Into<Value>) -> ToolOutcome {
    ToolOutcome { output: output.into(), success: false, then: AfterCall::Continue }
}
