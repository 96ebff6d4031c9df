//! Builds items with the shape and key order of real requests.

use serde_json::{Value, json};

/// Returns a message to the model.
pub(crate) fn input_message(id: &str, role: &str, texts: &[&str]) -> Value {
    let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
    json!({ "type": "message", "id": id, "role": role, "content": content })
}

/// Returns a message of the model.
pub(crate) fn output_message(id: &str, text: &str) -> Value {
    json!({
        "type": "message",
        "id": id,
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

/// Returns a reasoning item of the model: its summary, and the encrypted reasoning.
pub(crate) fn reasoning(id: &str, summary: &str, encrypted: &str) -> Value {
    json!({
        "type": "reasoning",
        "id": id,
        "summary": [{ "type": "summary_text", "text": summary }],
        "content": null,
        "encrypted_content": encrypted,
    })
}

/// Returns a call of a tool.
pub(crate) fn function_call(id: &str, name: &str, namespace: Option<&str>, arguments: &str, call_id: &str) -> Value {
    match namespace {
        Some(namespace) => json!({
            "type": "function_call",
            "id": id,
            "name": name,
            "namespace": namespace,
            "arguments": arguments,
            "call_id": call_id,
        }),
        None => json!({
            "type": "function_call",
            "id": id,
            "name": name,
            "arguments": arguments,
            "call_id": call_id,
        }),
    }
}

/// Returns a call of a tool that takes free text.
pub(crate) fn custom_tool_call(id: &str, name: &str, input: &str, call_id: &str) -> Value {
    json!({ "type": "custom_tool_call", "id": id, "call_id": call_id, "name": name, "input": input })
}

/// Returns the output of a tool as an item of the history.
pub(crate) fn function_call_output(id: &str, call_id: &str, output: &str) -> Value {
    json!({ "type": "function_call_output", "id": id, "call_id": call_id, "output": output })
}

/// A message from one agent to another.
#[derive(Debug, Clone)]
pub(crate) struct AgentMessage {
    pub(crate) author: String,
    pub(crate) recipient: String,
    pub(crate) content: AgentContent,
}

/// The content of a message between agents.
#[derive(Debug, Clone)]
pub(crate) enum AgentContent {
    /// A task or note: a readable header, and the text in a part that the provider may encrypt.
    Sent(String),
    /// A result: one readable text that includes the header.
    Result(String),
}

impl AgentMessage {
    pub(crate) fn item(&self, id: &str) -> Value {
        let Self { author, recipient, content } = self;
        let content = match content {
            AgentContent::Sent(text) => json!([
                { "type": "input_text", "text": message_head("NEW_TASK", recipient, author) },
                { "type": "encrypted_content", "encrypted_content": text },
            ]),
            AgentContent::Result(text) => json!([{ "type": "input_text", "text": text }]),
        };
        json!({ "type": "agent_message", "id": id, "author": author, "recipient": recipient, "content": content })
    }

    /// Returns the item as it is recorded when its receiver accepts it, with the origin of each part.
    pub(crate) fn receipt(&self, id: &str, turn_id: &str, unix_ms: i64) -> Value {
        let mut item = self.item(id);
        let parts = item["content"].as_array().map_or(0, Vec::len);
        let origin = json!({ "provenance": { "type": "tool", "namespace": "collaboration" } });
        item["internal_chat_message_metadata_passthrough"] = json!({
            "turn_id": turn_id,
            "create_time": seconds(unix_ms),
            "content_item_metadata": vec![origin; parts],
        });
        item
    }
}

/// Returns the header that the Codex CLI puts before messages between agents.
pub(crate) fn message_head(kind: &str, recipient: &str, sender: &str) -> String {
    format!("Message Type: {kind}\nTask name: {recipient}\nSender: {sender}\nPayload:\n")
}

fn seconds(unix_ms: i64) -> f64 {
    unix_ms as f64 / 1000.0
}
