//! What tools say in short.

use serde_json::Value;

use crate::tool::{CallDescription, Then, ToolCall, ToolInput, ToolOutcome};

/// Most characters of an input that a description of a call shows.
pub const MAX_PREVIEW_CHARS: usize = 240;

/// Returns the outcome of a call that worked.
pub(crate) fn done(output: impl Into<Value>) -> ToolOutcome {
    ToolOutcome { output: output.into(), success: true, then: Then::Continue }
}

/// Returns the outcome of a call that did not work.
pub(crate) fn failed(output: impl Into<Value>) -> ToolOutcome {
    ToolOutcome { output: output.into(), success: false, then: Then::Continue }
}

/// Describes a call by its name and the beginning of its input.
pub(crate) fn describe(kind: &str, call: &ToolCall) -> CallDescription {
    let (ToolInput::Arguments(input) | ToolInput::Text(input)) = &call.input;
    let end = input.char_indices().nth(MAX_PREVIEW_CHARS).map_or(input.len(), |(at, _)| at);
    CallDescription { kind: kind.to_owned(), label: call.name.clone(), input_preview: Some(input[..end].to_owned()) }
}
