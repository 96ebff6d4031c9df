//! The history of a thread: the items that the model sees, with their invariants.
//!
//! **Every call has exactly one output after it, and every output has its call before it.** While a turn runs, calls of the
//! newest answer may still have no output; [`History::unanswered`] returns outputs for them. Every item has an id, so that
//! recordings can tell which items joined the conversation. Items that providers would reject are refused.

use std::collections::HashMap;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::item::ModelItem;

/// Output of a call that was not completed.
pub(crate) const ABORTED: &str = "aborted";

/// The items that the model sees.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    items: Vec<ModelItem>,
    /// Ids and kinds of the calls without an output, in order.
    open: Vec<(String, CallKind)>,
}

/// Kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Function,
    Custom,
}

impl CallKind {
    pub(crate) fn output_type(self) -> &'static str {
        match self {
            Self::Function => "function_call_output",
            Self::Custom => "custom_tool_call_output",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Function => "fco",
            Self::Custom => "ctco",
        }
    }
}

impl History {
    /// Creates a history from stored items. Calls without an output get the output `aborted`. Outputs without a call,
    /// duplicate outputs and unknown items are dropped.
    pub(crate) fn restore(items: Vec<ModelItem>) -> Self {
        let mut answered: HashMap<String, usize> = HashMap::new();
        for item in &items {
            if let Some(Part::Output(id, _)) = part(item) {
                *answered.entry(id.to_owned()).or_default() += 1;
            }
        }
        let mut history = Self::default();
        for item in items {
            let Ok(item) = with_id(item) else { continue };
            match part(&item) {
                Some(Part::Call(id, kind)) => {
                    let (id, has_output) = (id.to_owned(), answered.contains_key(id));
                    if history.open.iter().any(|(open, _)| *open == id) {
                        continue;
                    }
                    history.push(&item);
                    if !has_output {
                        history.push(&output(&id, kind, &json!(ABORTED)));
                    }
                }
                Some(Part::Output(id, kind))
                    if !history.open.iter().any(|open| (open.0.as_str(), open.1) == (id, kind)) => {}
                _ => history.push(&item),
            }
        }
        for item in history.unanswered() {
            history.push(&item);
        }
        history
    }

    pub(crate) fn items(&self) -> &[ModelItem] {
        &self.items
    }

    pub(crate) fn into_items(self) -> Vec<ModelItem> {
        self.items
    }

    /// Appends an item that [`with_id`] has accepted. The call of an output must be open.
    pub(crate) fn push(&mut self, item: &ModelItem) {
        match part(item) {
            Some(Part::Call(id, kind)) => self.open.push((id.to_owned(), kind)),
            Some(Part::Output(id, _)) => self.open.retain(|(open, _)| open != id),
            None => {}
        }
        self.items.push(item.kept());
    }

    /// Returns the output `aborted` for all calls without an output.
    pub(crate) fn unanswered(&self) -> Vec<ModelItem> {
        self.open.iter().map(|(id, kind)| output(id, *kind, &json!(ABORTED))).collect()
    }
}

enum Part<'a> {
    Call(&'a str, CallKind),
    Output(&'a str, CallKind),
}

fn part(item: &Value) -> Option<Part<'_>> {
    let id = item.get("call_id")?.as_str()?;
    Some(match item.get("type")?.as_str()? {
        "function_call" => Part::Call(id, CallKind::Function),
        "custom_tool_call" => Part::Call(id, CallKind::Custom),
        "function_call_output" => Part::Output(id, CallKind::Function),
        "custom_tool_call_output" => Part::Output(id, CallKind::Custom),
        _ => return None,
    })
}

/// Returns the item with the output of a call.
pub(crate) fn output(call_id: &str, kind: CallKind, output: &Value) -> ModelItem {
    ModelItem::from(json!({
        "type": kind.output_type(),
        "id": format!("{}_{}", kind.prefix(), Uuid::now_v7()),
        "call_id": call_id,
        "output": output,
    }))
}

/// Returns a message that the runtime adds to the history.
pub(crate) fn message(role: &str, parts: &[Value]) -> ModelItem {
    ModelItem::from(json!({
        "type": "message",
        "id": format!("msg_{}", Uuid::now_v7()),
        "role": role,
        "content": parts,
    }))
}

/// Returns a message with one text.
pub(crate) fn text_message(role: &str, text: &str) -> ModelItem {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    message(role, &[json!({ "type": kind, "text": text })])
}

/// Returns the id of an item.
pub(crate) fn id(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_str)
}

/// Returns the prefix of ids for this kind of item.
pub(crate) fn prefix(item: &Value) -> &'static str {
    match item.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message" => "msg",
        "reasoning" => "rs",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "function_call_output" => CallKind::Function.prefix(),
        "custom_tool_call_output" => CallKind::Custom.prefix(),
        "web_search_call" => "ws",
        "agent_message" => "amsg",
        "compaction" | "compaction_summary" | "context_compaction" => "cmp",
        _ => "item",
    }
}

/// Checks that an item of a model may join the history: models create such items, and providers accept them.
///
/// # Errors
///
/// Returns what is wrong with the item.
pub(crate) fn of_model(item: &Value) -> Result<(), &'static str> {
    let is_made_by_models = matches!(
        item.get("type").and_then(Value::as_str),
        Some(
            "message"
                | "reasoning"
                | "function_call"
                | "custom_tool_call"
                | "web_search_call"
                | "image_generation_call"
        )
    );
    if is_made_by_models { check(item) } else { Err("an item that models do not make") }
}

/// Returns the item with an id, if providers and readers of recordings accept it.
///
/// # Errors
///
/// Returns what is wrong with the item.
pub(crate) fn with_id(item: ModelItem) -> Result<ModelItem, &'static str> {
    check(&item)?;
    if id(&item).is_some_and(|id| !id.is_empty()) {
        return Ok(item);
    }
    let id = format!("{}_{}", prefix(&item), Uuid::now_v7());
    let mut value = item.into_value();
    value["id"] = json!(id);
    Ok(value.into())
}

/// Checks that providers and readers of recordings accept an item.
///
/// An invalid item in the history would make providers reject all later requests, and would make the recording unreadable.
fn check(item: &Value) -> Result<(), &'static str> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    match text("type").ok_or("an item without `type`")? {
        "message" => {
            let role = text("role").ok_or("a message without `role`")?;
            if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
                return Err("a message with an unknown `role`");
            }
            if item.get("content").is_some_and(Value::is_array) {
                Ok(())
            } else {
                Err("a message whose `content` is not a list")
            }
        }
        "reasoning" => check_reasoning(item),
        "function_call" | "custom_tool_call" if text("name").is_none_or(str::is_empty) => Err("a call without `name`"),
        "function_call" | "custom_tool_call" | "function_call_output" | "custom_tool_call_output" => {
            text("call_id").filter(|id| !id.is_empty()).map(|_| ()).ok_or("a call without `call_id`")
        }
        "web_search_call" | "image_generation_call" => Ok(()),
        "compaction" | "compaction_summary" | "context_compaction" => {
            text("encrypted_content").map(|_| ()).ok_or("a compaction without `encrypted_content`")
        }
        "agent_message" => check_agent_message(item),
        _ => Err("an item of an unknown type"),
    }
}

fn check_reasoning(item: &Value) -> Result<(), &'static str> {
    const ODD: &str = "reasoning with parts of an unknown shape";
    let count = |name: &str, types: &[&str]| match item.get(name) {
        None => Ok(0),
        // Readers treat a summary that is null as malformed.
        Some(Value::Null) if name == "content" => Ok(0),
        Some(Value::Array(parts)) => {
            let is_fine = |part: &Value| {
                part.get("type").and_then(Value::as_str).is_some_and(|kind| types.contains(&kind))
                    && part.get("text").is_some_and(Value::is_string)
            };
            if parts.iter().all(is_fine) { Ok(parts.len()) } else { Err(ODD) }
        }
        Some(_) => Err(ODD),
    };
    let parts = count("content", &["reasoning_text", "text"])? + count("summary", &["summary_text"])?;
    match item.get("encrypted_content") {
        Some(Value::String(_)) => Ok(()),
        None | Some(Value::Null) if parts > 0 => Ok(()),
        _ => Err("reasoning without any content"),
    }
}

fn check_agent_message(item: &Value) -> Result<(), &'static str> {
    let is_text = |value: &Value, name: &str| value.get(name).is_some_and(Value::is_string);
    let is_part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("input_text") => is_text(part, "text"),
        Some("encrypted_content") => is_text(part, "encrypted_content"),
        _ => false,
    };
    let has_parts = match item.get("content") {
        Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(is_part),
        _ => false,
    };
    if has_parts && is_text(item, "author") && is_text(item, "recipient") {
        Ok(())
    } else {
        Err("an agent's message of an unknown shape")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(id: &str) -> ModelItem {
        json!({ "type": "function_call", "call_id": id, "name": "x", "arguments": "{}" }).into()
    }

    fn told(history: &History) -> Vec<String> {
        let tell = |item: &ModelItem| match part(item) {
            Some(Part::Call(id, _)) => format!("call {id}"),
            Some(Part::Output(id, _)) => format!("output {id} {}", item["output"]),
            None => item["type"].to_string(),
        };
        history.items().iter().map(tell).collect()
    }

    #[test]
    fn a_history_from_elsewhere_is_mended() {
        let history = History::restore(vec![
            output("lost", CallKind::Function, &json!("nobody asked")),
            call("1"),
            call("2"),
            call("2"),
            output("2", CallKind::Custom, &json!("of the wrong kind")),
            output("2", CallKind::Function, &json!("fine")),
            output("2", CallKind::Function, &json!("again")),
            json!({ "type": "surprise" }).into(),
            json!(null).into(),
            text_message("user", "hello"),
        ]);
        let expected = ["call 1", "output 1 \"aborted\"", "call 2", "output 2 \"fine\"", "\"message\""];
        assert_eq!(told(&history), expected);
    }

    #[test]
    fn open_calls_are_named_until_they_are_answered() {
        let mut history = History::default();
        history.push(&call("1"));
        history.push(&call("2"));
        history.push(&output("1", CallKind::Function, &json!("done")));
        let open = history.unanswered();
        assert_eq!(open.len(), 1);
        assert_eq!((&open[0]["call_id"], &open[0]["output"]), (&json!("2"), &json!("aborted")));
        history.push(&open[0]);
        assert!(history.unanswered().is_empty());
    }

    #[test]
    fn items_get_ids_and_keep_those_they_have() {
        let named = with_id(json!({ "type": "message", "role": "user", "content": [], "id": "mine" }).into()).unwrap();
        assert_eq!(id(&named), Some("mine"));
        let unnamed = with_id(call("1")).unwrap();
        assert!(id(&unnamed).unwrap().starts_with("fc_"));
    }

    #[test]
    fn what_no_provider_takes_is_refused() {
        for (item, reason) in [
            (json!([]), "an item without `type`"),
            (json!({ "type": "message", "content": [] }), "a message without `role`"),
            (json!({ "type": "message", "role": "ghost", "content": [] }), "a message with an unknown `role`"),
            (json!({ "type": "message", "role": "user", "content": "a" }), "a message whose `content` is not a list"),
            (json!({ "type": "function_call", "name": "n", "call_id": "" }), "a call without `call_id`"),
            (json!({ "type": "function_call", "call_id": "c" }), "a call without `name`"),
            (json!({ "type": "custom_tool_call", "call_id": "c", "name": "" }), "a call without `name`"),
            (json!({ "type": "reasoning", "summary": [] }), "reasoning without any content"),
            (json!({ "type": "reasoning", "summary": null }), "reasoning with parts of an unknown shape"),
            (json!({ "type": "reasoning", "summary": [{ "type": "x" }] }), "reasoning with parts of an unknown shape"),
            (json!({ "type": "compaction" }), "a compaction without `encrypted_content`"),
            (json!({ "type": "agent_message", "content": [] }), "an agent's message of an unknown shape"),
            (json!({ "type": "configuration_update" }), "an item of an unknown type"),
        ] {
            assert_eq!(with_id(item.into()), Err(reason));
        }
        let output = json!({ "type": "function_call_output", "call_id": "1", "output": "" });
        assert!(of_model(&output).is_err() && with_id(output.into()).is_ok());
    }

    proptest! {
        #[test]
        fn any_history_from_elsewhere_keeps_the_law(kinds in proptest::collection::vec((0_u8..5, 0_u8..4), 0..40)) {
            let items = kinds.into_iter().map(|(kind, id): (u8, u8)| {
                let id = id.to_string();
                match kind {
                    0 => call(&id),
                    1 => json!({ "type": "custom_tool_call", "call_id": id, "name": "x", "input": "" }).into(),
                    2 => output(&id, CallKind::Function, &json!("f")),
                    3 => output(&id, CallKind::Custom, &json!("c")),
                    _ => text_message("user", "hello"),
                }
            });
            let mut history = History::restore(items.collect());
            prop_assert!(history.unanswered().is_empty());
            let mut open = Vec::new();
            for item in history.items() {
                match part(item) {
                    Some(Part::Call(id, kind)) => open.push((id.to_owned(), kind)),
                    Some(Part::Output(id, kind)) => {
                        let call = open.iter().position(|call| *call == (id.to_owned(), kind));
                        open.remove(call.expect("an output has a call before it"));
                    }
                    None => {}
                }
            }
            prop_assert!(open.is_empty());
            let again = told(&History::restore(history.items().to_vec()));
            prop_assert_eq!(told(&history), again);
            history.push(&call("new"));
            prop_assert_eq!(history.unanswered().len(), 1);
        }
    }
}
