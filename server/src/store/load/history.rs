//! What the model sees.

use std::collections::HashSet;

use serde_json::{Value, json};
use trace_runtime::item::ModelItem;

/// The model's history as it grows, is replaced and goes back.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Histories, each of which replaced the one before it.
    replaced: Vec<Vec<ModelItem>>,
    items: Vec<ModelItem>,
    /// How long the history was when each turn began, and which one it was.
    begun: Vec<(usize, usize)>,
}

impl History {
    /// Adds an item. What is no object is none: a service would refuse all that follows with it.
    pub(super) fn push(&mut self, mut item: Value) {
        let Some(members) = item.as_object_mut() else { return };
        // Another program notes there what no model is told.
        members.shift_remove("internal_chat_message_metadata_passthrough");
        self.items.push(item.into());
    }

    /// Replaces the history by what is left of it.
    pub(super) fn compact(&mut self, compacted: &Value) {
        let left = match compacted.get("replacement_history").and_then(Value::as_array) {
            Some(items) => items.clone(),
            None => kept_of_old(&self.items, compacted.get("message").and_then(Value::as_str).unwrap_or_default()),
        };
        self.replaced.push(std::mem::take(&mut self.items));
        for item in left {
            self.push(item);
        }
    }

    /// Notes how many turns have begun.
    pub(super) fn turn(&mut self, turns: usize) {
        while self.begun.len() < turns {
            self.begun.push((self.replaced.len(), self.items.len()));
        }
    }

    /// Goes back to the beginning of a turn.
    pub(super) fn back_to(&mut self, turn: usize) {
        let Some(&(history, length)) = self.begun.get(turn) else { return };
        self.begun.truncate(turn);
        if history < self.replaced.len() {
            self.replaced.truncate(history + 1);
            self.items = self.replaced.pop().unwrap_or_default();
        }
        self.items.truncate(length);
    }

    /// Returns the history, in which every call has an output.
    pub(super) fn finish(self) -> Vec<ModelItem> {
        let mut aborted = aborted(&self.items).into_iter().peekable();
        let mut items = Vec::with_capacity(self.items.len());
        for (position, item) in self.items.into_iter().enumerate() {
            items.push(item);
            items.extend(aborted.next_if(|(call, _)| *call == position).map(|(_, output)| output));
        }
        items
    }
}

/// Returns the calls of a history that have no output, with the output that says so.
///
/// A model does not go on from a call without an output, and a process that ends in the middle leaves such calls.
fn aborted(history: &[ModelItem]) -> Vec<(usize, ModelItem)> {
    let text = |item: &ModelItem, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let answered: HashSet<String> = history
        .iter()
        .filter(|item| text(item, "type").is_some_and(|kind| kind.ends_with("_output")))
        .filter_map(|item| text(item, "call_id"))
        .collect();
    history
        .iter()
        .enumerate()
        .filter_map(|(position, item)| {
            let output = match text(item, "type")?.as_str() {
                "function_call" | "local_shell_call" => "function_call_output",
                "custom_tool_call" => "custom_tool_call_output",
                _ => return None,
            };
            let call = text(item, "call_id").filter(|call| !answered.contains(call))?;
            let output = json!({"type": output, "call_id": call, "output": "aborted"});
            Some((position, output.into()))
        })
        .collect()
}

/// Returns what an old way to shorten a history leaves: what users said, and the summary.
fn kept_of_old(items: &[ModelItem], summary: &str) -> Vec<Value> {
    let is_message = |item: &&ModelItem| {
        item.get("type").and_then(Value::as_str) == Some("message")
            && item.get("role").and_then(Value::as_str) == Some("user")
            && !is_context(item)
    };
    let mut kept: Vec<Value> = items.iter().filter(is_message).map(|item| Value::clone(item)).collect();
    if !summary.is_empty() {
        kept.push(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}));
    }
    kept
}

/// Tells whether a message only says where the agent works.
fn is_context(item: &Value) -> bool {
    let text = item.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    ["<environment_context>", "<user_instructions>", "# AGENTS.md"].iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    fn user(text: &str) -> Value {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    }

    fn texts(items: &[ModelItem]) -> Vec<String> {
        items.iter().map(|item| item.pointer("/content/0/text").unwrap().as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn going_back_undoes_what_replaced_the_history() {
        let mut history = History::default();
        history.turn(1);
        history.push(user("one"));
        history.turn(2);
        history.push(user("two"));
        history.compact(&json!({"message": "", "replacement_history": [user("short")]}));
        history.turn(3);
        history.push(user("three"));
        history.compact(&json!({"message": "", "replacement_history": [user("shorter")]}));
        history.back_to(2);
        assert_eq!(texts(&history.items), ["short"]);
        history.back_to(1);
        assert_eq!(texts(&history.items), ["one"]);
        history.turn(2);
        history.push(user("again"));
        assert_eq!(texts(&history.finish()), ["one", "again"]);
    }

    #[test]
    fn the_old_way_keeps_what_users_said() {
        let mut history = History::default();
        for text in ["<environment_context>x", "hello", "world"] {
            history.push(user(text));
        }
        history.push(json!({"type": "message", "role": "assistant", "content": []}));
        history.compact(&json!({"message": "summary"}));
        assert_eq!(texts(&history.finish()), ["hello", "world", "summary"]);
    }

    #[test]
    fn calls_without_output_are_aborted() {
        let mut history = History::default();
        history.push(json!({"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"}));
        history.push(json!({"type": "function_call", "call_id": "b", "name": "x", "arguments": "{}"}));
        history.push(json!({"type": "custom_tool_call", "call_id": "c", "name": "x", "input": ""}));
        history.push(json!({"type": "function_call_output", "call_id": "a", "output": "done"}));
        let items = history.finish();
        let shown: Vec<String> = items.iter().map(|item| format!("{} {}", item["type"], item["call_id"])).collect();
        assert_eq!(
            shown,
            [
                r#""function_call" "a""#,
                r#""function_call" "b""#,
                r#""function_call_output" "b""#,
                r#""custom_tool_call" "c""#,
                r#""custom_tool_call_output" "c""#,
                r#""function_call_output" "a""#,
            ]
        );
    }

    #[test]
    fn what_is_no_item_is_left_out() {
        let mut history = History::default();
        history.push(Value::Null);
        history.push(json!([1]));
        history.compact(&json!({"message": "", "replacement_history": [5, user("left")]}));
        assert_eq!(texts(&history.finish()), ["left"]);
    }

    #[test]
    fn notes_of_other_programs_are_dropped() {
        let mut history = History::default();
        let mut item = user("hi");
        item["internal_chat_message_metadata_passthrough"] = json!({"turn_id": "x"});
        history.push(item);
        assert_eq!(*history.finish()[0], user("hi"));
    }
}
