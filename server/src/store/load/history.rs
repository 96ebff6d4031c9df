//! The history that the model sees.

use std::collections::HashSet;

use serde_json::{Value, json};
use trace_runtime::item::ModelItem;

/// The history while the lines of a thread are applied: it grows, is replaced by compactions, and is reverted.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The histories before each compaction.
    replaced: Vec<Vec<ModelItem>>,
    items: Vec<ModelItem>,
    /// For each turn, the number of compactions before it, and the length of the history at its start.
    begun: Vec<(usize, usize)>,
}

impl History {
    /// Adds an item. A value that is not an object is skipped, because a provider would refuse every request that
    /// contains it.
    pub(super) fn push(&mut self, mut item: Value) {
        let Some(members) = item.as_object_mut() else { return };
        // The Codex CLI adds metadata here that are not sent to the model.
        members.shift_remove("internal_chat_message_metadata_passthrough");
        self.items.push(item.into());
    }

    /// Replaces the history by the result of a compaction.
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

    /// Records the starts of turns, up to the given number of turns.
    pub(super) fn turn(&mut self, turns: usize) {
        while self.begun.len() < turns {
            self.begun.push((self.replaced.len(), self.items.len()));
        }
    }

    /// Reverts the history to the start of a turn.
    pub(super) fn back_to(&mut self, turn: usize) {
        let Some(&(history, length)) = self.begun.get(turn) else { return };
        self.begun.truncate(turn);
        if history < self.replaced.len() {
            self.replaced.truncate(history + 1);
            self.items = self.replaced.pop().unwrap_or_default();
        }
        self.items.truncate(length);
    }

    /// Returns the history. Every call in it has an output.
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

/// Returns an output for each call without one, with the position of the call.
///
/// Providers refuse calls without an output. A process that ends during a call leaves such a call.
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

/// Returns the history after a compaction in the old format: the messages of users, and the summary.
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

/// Returns whether a message only describes the environment of the agent.
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
    fn a_revert_undoes_compactions() {
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
    fn an_old_compaction_keeps_user_messages() {
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
    fn values_that_are_not_items_are_skipped() {
        let mut history = History::default();
        history.push(Value::Null);
        history.push(json!([1]));
        history.compact(&json!({"message": "", "replacement_history": [5, user("left")]}));
        assert_eq!(texts(&history.finish()), ["left"]);
    }

    #[test]
    fn metadata_of_other_programs_are_removed() {
        let mut history = History::default();
        let mut item = user("hi");
        item["internal_chat_message_metadata_passthrough"] = json!({"turn_id": "x"});
        history.push(item);
        assert_eq!(*history.finish()[0], user("hi"));
    }
}
