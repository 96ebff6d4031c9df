//! References to objects of the graph in answers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
pub use trace_reducer::model::Object;
use trace_reducer::model::{Handle, ItemIdx, OperationIdx, Trace};

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

/// Returns the id of an item in `state.json`.
pub fn item_id(item: ItemIdx) -> String {
    format!("conversation_item:{}", item.index() + 1)
}

/// Returns the id of a terminal operation in `state.json`.
pub fn operation_id(operation: OperationIdx) -> String {
    format!("terminal_operation:{}", operation.index() + 1)
}

/// Returns the reference to an object.
pub fn name_of(trace: &Trace, object: Object) -> ObjectRef {
    let id = match object {
        Object::Item(item) => item_id(item),
        Object::Operation(operation) => operation_id(operation),
        Object::Thread(thread) => trace.text(trace.threads[thread].id).to_owned(),
        Object::Turn(turn) => trace.text(trace.turns[turn].id).to_owned(),
        Object::Inference(inference) => trace.text(trace.inferences[inference].id).to_owned(),
        Object::Cell(cell) => trace.text(trace.cells[cell].id).to_owned(),
        Object::Tool(tool) => trace.text(trace.tools[tool].id).to_owned(),
        Object::Session(session) => trace.text(trace.sessions[session].id).to_owned(),
        Object::Compaction(compaction) => trace.text(trace.compactions[compaction].id).to_owned(),
        Object::CompactionRequest(request) => trace.text(trace.compaction_requests[request].id).to_owned(),
        Object::Edge(edge) => trace.text(trace.edges[edge].id).to_owned(),
        Object::Payload(payload) => trace.text(trace.payloads[payload].id).to_owned(),
    };
    ObjectRef { kind: object.type_name().to_owned(), id }
}

/// Type and id of an object. The command line writes it as `TYPE:ID`, or as the id alone if the id begins with the
/// type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectRef {
    /// Type of the object, one of [`TYPE_NAMES`].
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id in `state.json`.
    pub id: String,
}

impl ObjectRef {
    /// Returns the short form of the reference: the id alone if it begins with the type.
    pub fn short_name(&self) -> String {
        let says_type = self.id.strip_prefix(self.kind.as_str()).is_some_and(|rest| rest.starts_with(':'));
        if says_type { self.id.clone() } else { self.to_string() }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.strip_prefix(&*self.kind) {
            // The id begins with the type.
            Some(rest) if rest.starts_with(':') => f.write_str(&self.id),
            _ => write!(f, "{}:{}", self.kind, self.id),
        }
    }
}

/// Error for a text that is not the name of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not TYPE:ID with one of the types {}", TYPE_NAMES.join(", "))]
pub struct NotAnObject {
    /// The text.
    pub text: String,
}

impl FromStr for ObjectRef {
    type Err = NotAnObject;

    /// Parses `TYPE:ID`. An id that begins with its type (`conversation_item:3`) is a complete name.
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

    #[test]
    fn short_names_are_names() {
        for (name, short) in [("conversation_item:3", "conversation_item:3"), ("tool_call:x", "tool_call:x")] {
            let object: ObjectRef = name.parse().expect("a name");
            assert_eq!(object.short_name(), short);
            assert_eq!(object.short_name().parse(), Ok(object));
        }
    }
}
