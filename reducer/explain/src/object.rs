//! Objects of the graph by handle, and as answers name them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use trace_reducer::model::{
    CellIdx, CompactionIdx, CompactionRequestIdx, EdgeIdx, Handle, InferenceIdx, ItemIdx, OperationIdx, PayloadIdx,
    SessionIdx, ThreadIdx, ToolIdx, TurnIdx,
};

/// Any object of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A thread.
    Thread(ThreadIdx),
    /// A turn.
    Turn(TurnIdx),
    /// A conversation item.
    Item(ItemIdx),
    /// An inference call.
    Inference(InferenceIdx),
    /// A code cell.
    Cell(CellIdx),
    /// A tool call.
    Tool(ToolIdx),
    /// A terminal.
    Session(SessionIdx),
    /// A terminal operation.
    Operation(OperationIdx),
    /// A compaction.
    Compaction(CompactionIdx),
    /// A request for a compaction.
    CompactionRequest(CompactionRequestIdx),
    /// An interaction edge.
    Edge(EdgeIdx),
    /// A payload.
    Payload(PayloadIdx),
}

impl Object {
    /// Returns the name of the object's type: that of its map in `state.json`, in the singular.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Thread(_) => "thread",
            Self::Turn(_) => "codex_turn",
            Self::Item(_) => "conversation_item",
            Self::Inference(_) => "inference_call",
            Self::Cell(_) => "code_cell",
            Self::Tool(_) => "tool_call",
            Self::Session(_) => "terminal_session",
            Self::Operation(_) => "terminal_operation",
            Self::Compaction(_) => "compaction",
            Self::CompactionRequest(_) => "compaction_request",
            Self::Edge(_) => "interaction_edge",
            Self::Payload(_) => "raw_payload",
        }
    }
}

/// Names of all types of objects, in the order of the maps of `state.json`.
pub const TYPE_NAMES: [&str; 12] = [
    "thread",
    "codex_turn",
    "conversation_item",
    "inference_call",
    "code_cell",
    "tool_call",
    "terminal_session",
    "terminal_operation",
    "compaction",
    "compaction_request",
    "interaction_edge",
    "raw_payload",
];

/// Returns the id that `state.json` gives an item.
pub fn item_id(item: ItemIdx) -> String {
    format!("conversation_item:{}", item.index() + 1)
}

/// Returns the id that `state.json` gives a terminal operation.
pub fn operation_id(operation: OperationIdx) -> String {
    format!("terminal_operation:{}", operation.index() + 1)
}

/// An object as answers name it. Written `TYPE:ID` on the command line; ids that begin with their type stand for
/// themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectRef {
    /// Type of the object, one of [`TYPE_NAMES`].
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id in `state.json`.
    pub id: String,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.strip_prefix(&*self.kind) {
            // The id says it already.
            Some(rest) if rest.starts_with(':') => f.write_str(&self.id),
            _ => write!(f, "{}:{}", self.kind, self.id),
        }
    }
}

/// A text is not the name of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not TYPE:ID with one of the types {}", TYPE_NAMES.join(", "))]
pub struct NotAnObject {
    /// The text.
    pub text: String,
}

impl FromStr for ObjectRef {
    type Err = NotAnObject;

    /// Parses `TYPE:ID`. Ids that begin with their type (`conversation_item:3`) are objects by themselves.
    fn from_str(text: &str) -> Result<Self, NotAnObject> {
        let error = || NotAnObject { text: text.to_owned() };
        let (kind, id) = text.split_once(':').ok_or_else(error)?;
        if !TYPE_NAMES.contains(&kind) || id.is_empty() {
            return Err(error());
        }
        let begins_with_type = match kind {
            "conversation_item" | "terminal_operation" | "code_cell" | "raw_payload" => true,
            "terminal_session" => id.starts_with("terminal_operation:"),
            _ => false,
        };
        let is_whole = begins_with_type && !id.starts_with(&format!("{kind}:"));
        let id = if is_whole { text.to_owned() } else { id.to_owned() };
        Ok(Self { kind: kind.to_owned(), id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, String)> {
        text.parse().ok().map(|ObjectRef { kind, id }| (kind, id))
    }

    #[test]
    fn objects_are_named_by_type_and_id() {
        let pair = |kind: &str, id: &str| Some((kind.to_owned(), id.to_owned()));
        assert_eq!(parsed("tool_call:call_1"), pair("tool_call", "call_1"));
        assert_eq!(parsed("interaction_edge:edge:tool:x"), pair("interaction_edge", "edge:tool:x"));
        assert_eq!(parsed("conversation_item:3"), pair("conversation_item", "conversation_item:3"));
        assert_eq!(parsed("conversation_item:conversation_item:3"), pair("conversation_item", "conversation_item:3"));
        assert_eq!(parsed("tool_call:"), None);
        assert_eq!(parsed("banana:3"), None);
        assert_eq!(parsed("call_1"), None);
    }
}
