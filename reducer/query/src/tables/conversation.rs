//! `items` and `item_parts`.

use std::borrow::Cow;

use trace_explain::object::item_id;
use trace_reducer::model::{ConversationItem, ItemIdx, Part, Producer, Trace};

use crate::table::table;

/// Returns type and id of the object that produced an item.
fn producer(trace: &Trace, producer: Producer) -> (&'static str, &str) {
    match producer {
        Producer::Inference(call) => ("inference_call", &trace.symbols[trace.inferences[call].id]),
        Producer::Tool(tool) => ("tool_call", &trace.symbols[trace.tools[tool].id]),
        Producer::Cell(cell) => ("code_cell", &trace.symbols[trace.cells[cell].id]),
        Producer::Compaction(compaction) => ("compaction", &trace.symbols[trace.compactions[compaction].id]),
    }
}

fn first_producer<'t>(trace: &'t Trace, item: &ConversationItem) -> Option<(&'static str, &'t str)> {
    item.produced_by.first().map(|first| producer(trace, *first))
}

/// Returns the text of a part, or `None` if only the payload has it.
pub(super) fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Summary(text) => Some(text),
        Part::Encoded { value, .. } => Some(value),
        Part::Json { summary } => Some(summary),
        Part::Code { source, .. } => Some(source),
        Part::PayloadRef { .. } => None,
    }
}

fn bytes(part: &Part) -> usize {
    text(part).map_or(0, str::len)
}

table! {
    ITEMS = "items", "One item of a conversation: what a model read or wrote.";
    index ["item_id"];
    rows |s, take| s.trace.items.handles().try_for_each(|item| take(&item));
    each (s, key: ItemIdx) item = &s.trace.items[*key];
    item_id Text "Id of the item." = item_id(*key);
    thread_id Text "The thread whose conversation contains it." = s.thread_id(item.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(item.thread);
    turn_id Text "The turn in which it was first seen." = s.text(item.codex_turn_id);
    position Integer "Its index among the items of its thread, from 0; null if it never became part of them."
        = s.position(*key);
    role Text "Its author: `system`, `developer`, `user`, `assistant`, `tool`." = item.role.as_str();
    channel Text "Its audience: `analysis` (the model), `commentary` (work in progress), `final` (the answer), \
                  `summary` (stands for earlier items)."
        = item.channel.map(trace_reducer::model::Channel::as_str);
    kind Text "Its kind: `message`, `reasoning`, `function_call`, `function_call_output`, `custom_tool_call`, \
               `custom_tool_call_output`, `compaction_marker`." = item.kind.as_str();
    author Text "Agent path of the sender, of a message between agents." = s.text(item.agent_message.map(|(author, _)| author));
    recipient Text "Agent path of the recipient, of a message between agents."
        = s.text(item.agent_message.map(|(_, recipient)| recipient));
    call_id Text "Id of the call that the item makes, or whose output it is." = s.text(item.call_id);
    responses_item_id Text "Id that the provider gave the item." = s.text(item.responses_item_id);
    first_seen_at_unix_ms Integer "When it was first seen." = item.first_seen.unix_ms;
    accepted_seq Integer "Sequence number of the event by which it became part of the history; null if there is none."
        = item.accepted.map(|accepted| accepted.seq);
    first_seen_seq Integer "Sequence number of the event that showed it first." = item.first_seen.seq;
    accepted_at_unix_ms Integer "When it became part of the thread's history; null if no event records it."
        = item.accepted.map(|accepted| accepted.unix_ms);
    first_seen_by Text "The first inference call whose request contains it."
        = s.first_seen_by(*key).map(|call| s.inference_id(call));
    seen_count Integer "Number of inference calls whose requests contain it; `seen_by(bundle_id, item_id)` lists them." = s.seen_count(*key);
    produced_by_type Text "Type of the first object that produced it: `inference_call`, `tool_call`, `code_cell`, \
                           `compaction`."
        = first_producer(s.trace, item).map(|(kind, _)| kind);
    produced_by_id Text "Id of the first object that produced it." = first_producer(s.trace, item).map(|(_, id)| id);
    producers Integer "Number of objects that produced it, as far as the log shows." = item.produced_by.len();
    parts Integer "Number of rows in `item_parts`." = item.parts.len();
    text_bytes Integer "Bytes of text of all its parts." = item.parts.iter().map(bytes).sum::<usize>();
    payload_id Text "The payload that contains what its parts only refer to." = s.text(item.payload_id);
}

/// Returns the label of a part, which distinguishes parts of the same type.
fn label(part: &Part) -> Option<&str> {
    match part {
        Part::Encoded { label, .. } => Some(label),
        Part::Code { language, .. } => Some(language),
        Part::PayloadRef { label, .. } => Some(label),
        Part::Text(_) | Part::Summary(_) | Part::Json { .. } => None,
    }
}

table! {
    ITEM_PARTS = "item_parts", "One part of an item's content, with its whole text.";
    index ["item_id"];
    rows |s, take| {
        let parts = |(item, value): (ItemIdx, &ConversationItem)| (0..value.parts.len()).map(move |part| (item, part));
        s.trace.items.iter().flat_map(parts).try_for_each(|key| take(&key))
    };
    each (s, key: (ItemIdx, usize)) part = &s.trace.items[key.0].parts[key.1];
    item_id Text "The item." = item_id(key.0);
    part Integer "Index of the part in the item, from 0." = key.1;
    thread_id Text "The thread whose conversation contains the item." = s.thread_id(s.trace.items[key.0].thread);
    role Text "Author of the item, as in `items`." = s.trace.items[key.0].role.as_str();
    type Text "`text`, `summary` (of reasoning), `encoded` (only the provider can read it), `json`, `code`, \
               `payload_ref` (such as an image)." = match part {
        Part::Text(_) => "text",
        Part::Summary(_) => "summary",
        Part::Encoded { .. } => "encoded",
        Part::Json { .. } => "json",
        Part::Code { .. } => "code",
        Part::PayloadRef { .. } => "payload_ref",
    };
    text Text "The whole text. For `json` only the first 240 bytes: `payload(bundle_id, payload_id)` has the rest. \
               Null for `payload_ref`." = text(part).map(Cow::Borrowed);
    bytes Integer "Bytes of the text." = bytes(part);
    label Text "Name of an encoding, language of code, or kind of a `payload_ref`." = label(part).map(Cow::Borrowed);
    content_sha256 Text "SHA-256 of the content that a `payload_ref` refers to." = match part {
        Part::PayloadRef { content_sha256, .. } => content_sha256.as_deref(),
        _ => None,
    };
    payload_id Text "The payload with the whole content of `json` and `payload_ref`." = match part {
        Part::Json { .. } | Part::PayloadRef { .. } => s.text(s.trace.items[key.0].payload_id),
        _ => None,
    };
}
