//! A tool call: its input, its description in the recording, and its outcome.

use serde_json::Value;

use crate::id::ItemId;

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id of the call, and of the item that shows it.
    pub id: ItemId,
    /// Namespace that the model named.
    pub namespace: Option<String>,
    /// Name that the model named.
    pub name: String,
    /// Input of the call.
    pub input: ToolInput,
}

/// Input of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// Arguments as a JSON text, which may be invalid.
    Arguments(String),
    /// Free text.
    Text(String),
}

/// How a call is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDescription {
    /// Kind of the tool as bundles name it, such as `exec_command`, `apply_patch` or `spawn_agent`; `other` for the rest.
    pub kind: String,
    /// Short label.
    pub label: String,
    /// Short preview of the input.
    pub input_preview: Option<String>,
}

/// Outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// Output for the model: a text, or a list of content parts.
    pub output: Value,
    /// Whether the call succeeded.
    pub success: bool,
    /// Whether the turn continues.
    pub then: AfterCall,
}

/// Whether a turn continues after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCall {
    /// The turn continues.
    Continue,
    /// The turn ends, because the user declined the call and interrupted the turn.
    Interrupt,
}
