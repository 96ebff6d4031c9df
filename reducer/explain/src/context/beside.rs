//! Reads from the payload of a request what is not an item, and the names of the items' tools.

use std::collections::HashMap;

use serde_json::Value;
use trace_reducer::model::Symbol;

use super::answer::{Beside, Parameter, Text, Tool};
use super::estimate;
use super::texts::{Texts, shortened};
use crate::session::{PayloadProblem, Session};

/// Most characters of a parameter's value.
const PARAMETER_CHARS: usize = 200;

/// What the payload of a request contains.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) beside: Beside,
    /// What the payload adds to the items that have a place in the graph.
    pub(super) items: Vec<WrittenItem>,
    /// Whether the request continues an earlier response, so that it does not repeat that context.
    pub(super) is_incremental: bool,
}

/// What the payload adds to an item.
#[derive(Debug)]
pub(super) struct WrittenItem {
    /// Name of the tool that the item calls, or whose output it is.
    pub(super) name: Option<String>,
    /// The complete arguments or output, of which the graph has only the beginning.
    pub(super) json: Option<String>,
}

/// Reads the payload of a request.
pub(super) fn read(session: &Session, payload: Symbol, texts: Texts) -> Result<Written, PayloadProblem> {
    let mut value = session.payload(payload)?;
    let mut written = Written {
        beside: Beside { instructions: None, tools: Vec::new(), response_format: None, parameters: Vec::new() },
        items: Vec::new(),
        is_incremental: value.get("previous_response_id").is_some_and(Value::is_string),
    };
    let Some(object) = value.as_object_mut() else { return Ok(written) };
    let mut names: HashMap<String, String> = HashMap::new();
    for (name, value) in object {
        match (name.as_str(), &mut *value) {
            ("input", Value::Array(items)) => {
                for item in items {
                    match item.get("type").and_then(Value::as_str) {
                        Some("additional_tools") => push_tools(&mut written.beside.tools, "", item.get("tools")),
                        _ => written.items.push(written_item(item, &mut names)),
                    }
                }
            }
            ("instructions", Value::String(instructions)) if !instructions.is_empty() => {
                written.beside.instructions = Some(text(instructions, texts));
            }
            ("tools", tools @ Value::Array(_)) => push_tools(&mut written.beside.tools, "", Some(tools)),
            ("text", Value::Object(members)) => {
                if let Some(format) = members.remove("format") {
                    written.beside.response_format = Some(text(&format.to_string(), texts));
                }
                push_parameter(&mut written.beside.parameters, name, value);
            }
            _ => push_parameter(&mut written.beside.parameters, name, value),
        }
    }
    Ok(written)
}

fn text(whole: &str, texts: Texts) -> Text {
    let (text, is_cut) = shortened(whole, texts);
    let bytes = whole.len() as u64;
    Text { text, bytes, is_cut, tokens: estimate::of_bytes(bytes), share: 0.0 }
}

fn push_parameter(parameters: &mut Vec<Parameter>, name: &str, value: &Value) {
    let whole = value.to_string();
    let cut = whole.char_indices().nth(PARAMETER_CHARS).map(|(end, _)| format!("{}…", &whole[..end]));
    let bytes = whole.len() as u64;
    parameters.push(Parameter { name: name.to_owned(), value: cut.unwrap_or(whole), bytes });
}

/// Lists tools. The tools of a namespace are listed one by one.
fn push_tools(tools: &mut Vec<Tool>, namespace: &str, list: Option<&Value>) {
    for tool in list.and_then(Value::as_array).into_iter().flatten() {
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or("unknown");
        let own = tool.get("name").or_else(|| tool.get("server_label")).and_then(Value::as_str).unwrap_or(kind);
        let name = if namespace.is_empty() { own.to_owned() } else { format!("{namespace}.{own}") };
        if kind == "namespace" && namespace.is_empty() {
            push_tools(tools, own, tool.get("tools"));
            continue;
        }
        let bytes = tool.to_string().len() as u64;
        tools.push(Tool { name, kind: kind.to_owned(), bytes, tokens: estimate::of_bytes(bytes), share: 0.0 });
    }
}

/// Reads an item. An output gets the name of its call, which comes before it.
fn written_item(item: &Value, names: &mut HashMap<String, String>) -> WrittenItem {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let name = match (text("namespace"), text("name")) {
        (Some(namespace), Some(name)) if !namespace.is_empty() => Some(format!("{namespace}.{name}")),
        (_, Some(name)) => Some(name.to_owned()),
        // A hosted tool has no name, so its type is used.
        _ => text("type").filter(|kind| kind.ends_with("_call") && *kind != "function_call").map(str::to_owned),
    };
    let name = match (name, text("call_id")) {
        (Some(name), Some(call_id)) => {
            names.insert(call_id.to_owned(), name.clone());
            Some(name)
        }
        (None, Some(call_id)) => names.get(call_id).cloned(),
        (name, None) => name,
    };
    let json = ["arguments", "output", "action"].iter().find_map(|name| item.get(name)).map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    WrittenItem { name, json }
}
