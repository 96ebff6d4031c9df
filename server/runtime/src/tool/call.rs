//! A call of a tool: what the model asks for, how it is recorded, and what comes of it.

use serde_json::Value;

use crate::id::ItemId;

/// A call by a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id of the call, and of the item that shows it.
    pub id: ItemId,
    /// Namespace that the model named.
    pub namespace: Option<String>,
    /// Name that the model named.
    pub name: String,
    /// What the tool is called with.
    pub input: ToolInput,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// A JSON text; perhaps a broken one.
    Arguments(String),
    /// Free text.
    Text(String),
}

/// How a call is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDescription {
    /// Kind of tool in the words of the bundle: `exec_command`, `apply_patch`, `spawn_agent`; `other` with a name.
    pub kind: String,
    /// Short label.
    pub label: String,
    /// Short preview of the input.
    pub input_preview: Option<String>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// What the model gets: a text, or a list of content parts.
    pub output: Value,
    /// Whether it worked.
    pub success: bool,
    /// Whether the turn goes on.
    pub then: AfterCall,
}

/// Whether the turn goes on after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCall {
    /// It does.
    Continue,
    /// A person stopped it.
    Interrupt,
}
