//! References to objects of the graph in answers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
pub use trace_reducer::model::Object;
use trace_reducer::model::{Handle, ItemIdx, OperationIdx, Symbol, Trace};

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

/// Returns the id that the recording gave an object. Items and operations have numbers instead.
pub(crate) fn own_id(trace: &Trace, object: Object) -> Option<Symbol> {
    Some(match object {
        Object::Item(_) | Object::Operation(_) => return None,
        Object::Thread(thread) => trace.threads[thread].id,
        Object::Turn(turn) => trace.turns[turn].id,
        Object::Inference(inference) => trace.inferences[inference].id,
        Object::Cell(cell) => trace.cells[cell].id,
        Object::Tool(tool) => trace.tools[tool].id,
        Object::Session(session) => trace.sessions[session].id,
        Object::Compaction(compaction) => trace.compactions[compaction].id,
        Object::CompactionRequest(request) => trace.compaction_requests[request].id,
        Object::Edge(edge) => trace.edges[edge].id,
        Object::Payload(payload) => trace.payloads[payload].id,
    })
}

/// Returns the object with an id that is a number of its type, if there is one.
pub(crate) fn numbered(trace: &Trace, name: &ObjectRef) -> Option<Object> {
    let index = name.id.rsplit_once(':')?.1.parse::<usize>().ok()?.checked_sub(1)?;
    let object = match &*name.kind {
        "conversation_item" if index < trace.items.len() => Object::Item(ItemIdx::from_index(index)),
        "terminal_operation" if index < trace.operations.len() => Object::Operation(OperationIdx::from_index(index)),
        _ => return None,
    };
    // The number may be spelt in another way than ids have it.
    (name_of(trace, object) == *name).then_some(object)
}

/// Returns the reference to an object.
pub fn name_of(trace: &Trace, object: Object) -> ObjectRef {
    let id = match object {
        Object::Item(item) => item_id(item),
        Object::Operation(operation) => operation_id(operation),
        other => own_id(trace, other).map(|id| trace.text(id).to_owned()).unwrap_or_default(),
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
