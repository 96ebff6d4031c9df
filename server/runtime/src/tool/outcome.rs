//! What tools say in short.

use serde_json::Value;

use crate::tool::{AfterCall, CallDescription, ToolCall, ToolInput, ToolOutcome};

/// Most characters of an input that a description of a call shows.
pub const MAX_PREVIEW_CHARS: usize = 240;

/// Returns the outcome of a call that worked.
pub(crate) fn done(output: impl Into<Value>) -> ToolOutcome {
    ToolOutcome { output: output.into(), success: true, then: AfterCall::Continue }
}

/// Returns the outcome of a call that did not work.
pub(crate) fn failed(output: impl Into<Value>) -> ToolOutcome {
    ToolOutcome { output: output.into(), success: false, then: AfterCall::Continue }
}

/// Describes a call by its name and both ends of its input: what is run must not hide behind what it begins with.
pub(crate) fn describe(kind: &str, call: &ToolCall) -> CallDescription {
    let (ToolInput::Arguments(input) | ToolInput::Text(input)) = &call.input;
    CallDescription { kind: kind.to_owned(), label: call.name.clone(), input_preview: Some(preview(input)) }
}

/// Characters of a long input that are its end.
const END_CHARS: usize = 80;

fn preview(input: &str) -> String {
    if input.char_indices().nth(MAX_PREVIEW_CHARS).is_none() {
        return input.to_owned();
    }
    let head = input.char_indices().nth(MAX_PREVIEW_CHARS - END_CHARS - 1).map_or(input.len(), |(at, _)| at);
    let tail = input.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", &input[..head], &input[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_of_inputs_have_both_ends() {
        let shown = preview(&format!("echo {}; rm -rf é", "ä".repeat(20_000)));
        assert!(shown.starts_with("echo ää") && shown.ends_with("ä; rm -rf é"), "{shown}");
        assert_eq!(shown.chars().count(), MAX_PREVIEW_CHARS);
        assert_eq!(preview(&"ä".repeat(MAX_PREVIEW_CHARS)), "ä".repeat(MAX_PREVIEW_CHARS));
    }
}
