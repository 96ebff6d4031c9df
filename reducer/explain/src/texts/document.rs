//! Finds the texts in payloads.

use serde_json::Value;
use trace_reducer::model::{ConversationItem, ItemKind, Part, Trace};

/// Members of a tool runtime's report that repeat the request, or are names and ids.
const NOT_PRINTED: [&str; 23] = [
    "agent_path",
    "agent_thread_id",
    "call_id",
    "command",
    "cwd",
    "duration",
    "event_id",
    "interaction_input",
    "invocation",
    "kind",
    "model",
    "parsed_cmd",
    "process_id",
    "prompt",
    "reasoning_effort",
    "receiver_thread_id",
    "receiver_thread_ids",
    "sender_thread_id",
    "source",
    "status",
    "thread_id",
    "turn_id",
    "type",
];

/// Members of a result that are names and ids.
const NAMES: [&str; 6] = ["call_id", "cell_id", "chunk_id", "id", "status", "type"];

/// Calls `found` with each string in a value, except those in members with one of the `skipped` names.
pub(crate) fn strings(value: &Value, skipped: &[&str], found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) if !text.is_empty() => found(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, skipped, found)),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !skipped.contains(&name.as_str()));
            kept.for_each(|(_, value)| strings(value, skipped, found));
        }
        _ => {}
    }
}

/// Finds the arguments or the input of an invocation, as the caller wrote them.
pub(super) fn arguments(invocation: &Value, found: &mut dyn FnMut(&str)) {
    match invocation.get("payload") {
        Some(payload) => strings(payload, &["type"], found),
        None => strings(invocation, &["tool_name", "tool_namespace", "type"], found),
    }
}

/// Finds the texts of a request to a tool's runtime.
pub(super) fn requests(begin: &Value, found: &mut dyn FnMut(&str)) {
    for name in ["command", "interaction_input", "invocation", "prompt", "changes", "query"] {
        if let Some(value) = begin.get(name) {
            strings(value, &["server", "tool"], found);
        }
    }
}

/// Finds the printed output in the report of a tool's runtime.
pub(super) fn printed(end: &Value, found: &mut dyn FnMut(&str)) {
    strings(end, &NOT_PRINTED, found);
}

/// Finds the texts that a tool call or a code cell returned.
pub(super) fn results(result: &Value, found: &mut dyn FnMut(&str)) {
    let value = result.get("response_item").or_else(|| result.get("value")).or_else(|| result.get("response"));
    strings(value.unwrap_or(result), &NAMES, found);
}

/// Finds the instructions of a request.
pub(super) fn instructions(request: &Value, found: &mut dyn FnMut(&str)) {
    if let Some(text) = request.get("instructions") {
        strings(text, &[], found);
    }
}

/// Finds the descriptions of the tools in a request, which are in `tools` or in an item.
pub(super) fn tools(request: &Value, found: &mut dyn FnMut(&str)) {
    let mut describe = |tools: &Value| {
        strings(tools, &["type", "name", "required", "enum", "syntax"], found);
    };
    if let Some(tools) = request.get("tools") {
        describe(tools);
    }
    for item in items(request) {
        if kind_name(item) == Some("additional_tools")
            && let Some(tools) = item.get("tools")
        {
            describe(tools);
        }
    }
}

/// Returns whether the graph has only the beginning of one of the item's parts, or nothing of it.
pub(super) fn is_cut(item: &ConversationItem) -> bool {
    item.parts.iter().any(is_cut_part)
}

/// Returns whether a part has at most the beginning of its text.
pub(super) fn is_cut_part(part: &Part) -> bool {
    match part {
        Part::Json { summary } => cut_beginning(summary).is_some(),
        Part::PayloadRef { label, .. } => &**label == "content",
        _ => false,
    }
}

/// Returns the beginning of a JSON text that the graph has cut, or `None` if the text is complete.
fn cut_beginning(summary: &str) -> Option<&str> {
    let beginning = summary.strip_suffix("...")?;
    // A summary is cut at 240 bytes, or up to three bytes earlier at the beginning of a character.
    (beginning.len() > 236).then_some(beginning)
}

/// Finds, in the payload that an item came from, the texts of its parts that the graph has cut.
pub(super) fn whole(trace: &Trace, item: &ConversationItem, payload: &Value, found: &mut dyn FnMut(&str)) {
    let call_id = item.call_id.map(|id| trace.text(id));
    let item_id = item.responses_item_id.map(|id| trace.text(id));
    for part in item.parts.iter().filter(|part| is_cut_part(part)) {
        for candidate in items(payload) {
            let id = candidate.get("id").and_then(Value::as_str);
            let is_other = id.is_some() && item_id.is_some() && id != item_id;
            if is_other || candidate.get("call_id").and_then(Value::as_str) != call_id {
                continue;
            }
            match part {
                Part::Json { summary } => {
                    let Some(text) = cut_beginning(summary).and_then(|start| json_text(candidate, item.kind, start))
                    else {
                        continue;
                    };
                    found(&text);
                }
                _ => match candidate.get("content").or_else(|| candidate.get("output")) {
                    Some(Value::String(text)) => found(text),
                    _ => continue,
                },
            }
            break;
        }
    }
}

/// Returns the text of an item that is JSON, if its compact form begins with `start`.
fn json_text(item: &Value, kind: ItemKind, start: &str) -> Option<String> {
    let member = if kind.is_call() { "arguments" } else { "output" };
    match item.get(member) {
        // Arguments are returned as the model wrote them, with its white space.
        Some(Value::String(text)) if kind.is_call() => {
            let compact = serde_json::from_str::<Value>(text).ok()?.to_string();
            compact.starts_with(start).then(|| text.clone())
        }
        Some(value) if value.to_string().starts_with(start) => Some(value.to_string()),
        _ => Some(item.to_string()).filter(|text| text.starts_with(start)),
    }
}

/// Returns the items in a payload of any kind.
fn items(payload: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["input", "output_items", "input_history", "replacement_history"];
    let listed = lists.into_iter().filter_map(|name| payload.get(name)).filter_map(Value::as_array).flatten();
    // The payload of an accepted message between agents is the item itself.
    listed.chain(kind_name(payload).map(|_| payload))
}

fn kind_name(item: &Value) -> Option<&str> {
    item.get("type").and_then(Value::as_str)
}
