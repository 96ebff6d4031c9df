//! Attributes a text to its author and to the object that it came from.

use trace_reducer::model::{CellIdx, ConversationItem, ItemIdx, ItemKind, Part, Role, ToolIdx, ToolKind, Trace};

use super::answer::Kind;
use super::needle::Strings;
use crate::object::Object;
use crate::texts::{Aspect, Calls, Place};

/// Beginnings of messages that have the user's role but are not written by a user: files of instructions, the
/// environment and other context that the client describes; answers of children, in schema 1; and the summary that a
/// model wrote in place of a conversation.
const NOT_BY_USER: [(&str, Kind); 12] = [
    ("# AGENTS.md instructions for ", Kind::Instructions),
    ("<INSTRUCTIONS>", Kind::Instructions),
    ("<collaboration_mode>", Kind::Instructions),
    ("<context_window", Kind::Instructions),
    ("<environment_context>", Kind::Instructions),
    ("<model_switch>", Kind::Instructions),
    ("<permissions instructions>", Kind::Instructions),
    ("<skill>", Kind::Instructions),
    ("<turn_aborted>", Kind::Instructions),
    ("<user_instructions>", Kind::Instructions),
    ("<subagent_notification>", Kind::AgentMessage),
    ("Another language model started to solve this problem and produced a summary", Kind::ModelOutput),
];

/// Returns the kind and the object of a place's text, as if no earlier place had the text.
pub(crate) fn attribute(trace: &Trace, calls: &Calls, place: &Place) -> (Kind, Object) {
    match (place.object, place.aspect) {
        (Object::Item(item), Aspect::Message) => (Kind::AgentMessage, Object::Item(item)),
        (Object::Item(item), _) => of_item(trace, calls, item),
        (Object::Tool(tool), Aspect::Arguments | Aspect::Request) => (of_arguments(trace, tool), place.object),
        (Object::Tool(_), Aspect::Message) => (Kind::AgentMessage, place.object),
        (Object::Tool(_), _) => (Kind::ToolOutput, place.object),
        (Object::Edge(_), _) => (Kind::AgentMessage, place.object),
        (Object::Cell(cell), Aspect::Source) => (Kind::ToolArguments, call_of(trace, calls, cell)),
        (Object::Cell(cell), _) => (Kind::ToolOutput, call_of(trace, calls, cell)),
        (Object::Inference(_), _) => (Kind::Instructions, place.object),
        (_, Aspect::Message) => (Kind::AgentMessage, place.object),
        _ => (Kind::Unknown, place.object),
    }
}

/// Returns the call that started a cell; a cell's code and output belong to that call. Schema 1 does not record the
/// call.
fn call_of(trace: &Trace, calls: &Calls, cell: CellIdx) -> Object {
    calls.tool_of_cell(trace, cell).map_or(Object::Cell(cell), Object::Tool)
}

fn of_item(trace: &Trace, calls: &Calls, item: ItemIdx) -> (Kind, Object) {
    let it = &trace.items[item];
    // In schema 1, a code cell has no tool call.
    let call = || {
        let tool = calls.tool_of(trace, item).map(Object::Tool);
        tool.or_else(|| calls.cell_of(trace, item).map(Object::Cell)).unwrap_or(Object::Item(item))
    };
    match it.kind {
        ItemKind::FunctionCall | ItemKind::CustomToolCall => {
            let kind = calls.tool_of(trace, item).map_or(Kind::ToolArguments, |tool| of_arguments(trace, tool));
            (kind, call())
        }
        ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput => (Kind::ToolOutput, call()),
        ItemKind::Reasoning => (Kind::ModelOutput, Object::Item(item)),
        ItemKind::CompactionMarker => (Kind::Unknown, Object::Item(item)),
        ItemKind::Message => (of_message(it), Object::Item(item)),
    }
}

fn of_message(item: &ConversationItem) -> Kind {
    match item.role {
        _ if item.agent_message.is_some() => Kind::AgentMessage,
        Role::System | Role::Developer => Kind::Instructions,
        Role::User => by_user_role(item),
        Role::Assistant => Kind::ModelOutput,
        Role::Tool => Kind::ToolOutput,
    }
}

/// Returns whether a message was written by a user and does not just have the user's role.
pub(super) fn is_from_user(item: &ConversationItem) -> bool {
    item.agent_message.is_none() && item.role == Role::User && by_user_role(item) == Kind::UserInput
}

/// Returns whether a message is the summary that replaced a conversation.
pub(super) fn is_summary(item: &ConversationItem) -> bool {
    item.agent_message.is_none() && item.role == Role::User && by_user_role(item) == Kind::ModelOutput
}

/// Returns the kind of a message with the user's role.
pub(crate) fn by_user_role(item: &ConversationItem) -> Kind {
    let text = item.parts.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.trim_start()),
        _ => None,
    });
    let is_start = |start: &str| text.is_some_and(|text| text.starts_with(start));
    NOT_BY_USER.iter().find(|(start, _)| is_start(start)).map_or(Kind::UserInput, |(_, kind)| *kind)
}

fn of_arguments(trace: &Trace, tool: ToolIdx) -> Kind {
    if is_message(trace, tool) { Kind::AgentMessage } else { Kind::ToolArguments }
}

/// Returns whether a tool call is a message to an agent: a spawn, a further task, or a message.
pub(super) fn is_message(trace: &Trace, tool: ToolIdx) -> bool {
    matches!(trace.tools[tool].kind, ToolKind::SpawnAgent | ToolKind::AssignAgentTask | ToolKind::SendMessage)
}

/// Returns where the text at a place may contain JSON strings. In code, quotes and escapes have another meaning. A
/// message to an agent is prose.
pub(super) fn strings_of(trace: &Trace, calls: &Calls, place: &Place) -> Strings {
    match (place.object, place.aspect) {
        (Object::Tool(tool), Aspect::Arguments | Aspect::Request) if is_message(trace, tool) => Strings::Loose,
        (_, Aspect::Arguments) => Strings::Arguments,
        (_, Aspect::Request) => Strings::Command,
        (_, Aspect::Source) => Strings::Quoted,
        (Object::Item(item), _) if trace.items[item].kind.is_call() => {
            let is_sent = calls.tool_of(trace, item).is_some_and(|tool| is_message(trace, tool));
            if is_sent { Strings::Loose } else { Strings::Arguments }
        }
        _ => Strings::Loose,
    }
}
