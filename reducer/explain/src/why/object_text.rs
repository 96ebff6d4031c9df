//! The text of an object, for callers that ask by object.

use trace_reducer::model::{Anchor, ItemIdx, Part, TerminalRequest, Trace};

use crate::object::{Object, ObjectRef};
use crate::session::Session;
use crate::texts::{Aspect, Texts};

/// Why an object has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// The session has no object with this name.
    #[error("the session has no {}", .object.short_name())]
    Unknown {
        /// The object.
        object: ObjectRef,
    },
    /// The object has no text.
    #[error("{} has no text of its own", .object.short_name())]
    Empty {
        /// The object.
        object: ObjectRef,
    },
}

/// Text before the body of a message between agents.
const PAYLOAD_MARK: &str = "\nPayload:\n";

/// Returns the text of an object without trailing line feeds:
///
/// - for a conversation item, its longest part; for a message between agents, the body without its header;
/// - for an inference call, the longest message of its response, or else the longest item;
/// - for a tool call, its printed output, or else its result, or else its arguments;
/// - for a terminal operation, its output, or else its command or input; for a terminal, the output of its first
///   operation;
/// - for a code cell, its code;
/// - for an interaction edge, the text that it carried.
///
/// # Errors
///
/// Returns an error if there is no such object, or if it has no text. Threads, turns, compactions, compaction requests
/// and payloads have none.
pub fn object_text(session: &Session, name: &ObjectRef) -> Result<String, NoText> {
    let object = session.find(name).ok_or_else(|| NoText::Unknown { object: name.clone() })?;
    let text = text_of(session, object).unwrap_or_default();
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() { Err(NoText::Empty { object: name.clone() }) } else { Ok(text.to_owned()) }
}

fn text_of(session: &Session, object: Object) -> Option<String> {
    let trace = session.trace();
    match object {
        Object::Item(item) => item_text(session, item),
        Object::Inference(inference) => {
            let items = &trace.inferences[inference].response_items;
            let longest = |items: &mut dyn Iterator<Item = &ItemIdx>| {
                items.filter_map(|item| item_text(session, *item)).max_by_key(String::len)
            };
            let is_message = |item: &&ItemIdx| trace.items[**item].kind == trace_reducer::model::ItemKind::Message;
            longest(&mut items.iter().filter(is_message)).or_else(|| longest(&mut items.iter()))
        }
        Object::Tool(_) => [Aspect::Printed, Aspect::Result, Aspect::Arguments]
            .into_iter()
            .find_map(|aspect| longest_text(session, object, Some(aspect))),
        Object::Operation(operation) => {
            let it = &trace.operations[operation];
            let output = it.result.as_ref().map(|result| [&result.stdout, &result.stderr]);
            let printed = output.into_iter().flatten().find(|text| !text.is_empty()).map(|text| text.to_string());
            printed.or_else(|| match &it.request {
                TerminalRequest::ExecCommand { command, .. } => command.last().map(|word| word.to_string()),
                TerminalRequest::WriteStdin { stdin, .. } => Some(stdin.to_string()),
            })
        }
        Object::Session(terminal) => text_of(session, Object::Operation(trace.sessions[terminal].created_by)),
        Object::Cell(cell) => Some(trace.cells[cell].source_js.to_string()),
        Object::Edge(edge) => {
            let edge = &trace.edges[edge];
            let carried = edge.carried_items.first().and_then(|item| item_text(session, *item));
            carried.or_else(|| match edge.source {
                Anchor::Item(item) => item_text(session, item),
                Anchor::Tool(tool) => longest_text(session, Object::Tool(tool), Some(Aspect::Arguments)),
                Anchor::Thread(_) => None,
            })
        }
        Object::Thread(_)
        | Object::Turn(_)
        | Object::Compaction(_)
        | Object::CompactionRequest(_)
        | Object::Payload(_) => None,
    }
}

fn item_text(session: &Session, item: ItemIdx) -> Option<String> {
    let trace = session.trace();
    if trace.items[item].agent_message.is_some() {
        return message_text(trace, item);
    }
    longest_text(session, Object::Item(item), None)
}

fn message_text(trace: &Trace, item: ItemIdx) -> Option<String> {
    let parts = &trace.items[item].parts;
    let sealed = parts.iter().find_map(|part| match part {
        Part::Encoded { value, .. } => Some(value.to_string()),
        _ => None,
    });
    sealed.or_else(|| match parts.first() {
        Some(Part::Text(text)) => {
            let sent = text.split_once(PAYLOAD_MARK).map_or(&**text, |(_, sent)| sent);
            Some(sent.to_owned())
        }
        _ => None,
    })
}

fn longest_text(session: &Session, object: Object, aspect: Option<Aspect>) -> Option<String> {
    let found = Texts::new(session).collect(|place, text| {
        let is_asked = place.object == object && aspect.is_none_or(|aspect| aspect == place.aspect);
        is_asked.then(|| text.to_owned())
    });
    // Of several texts of the same length, take the first.
    found.into_iter().rev().max_by_key(String::len)
}
