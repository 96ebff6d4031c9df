//! Translates requests to Chat Completions.
//!
//! Only members that most servers accept are sent, because some servers reject unknown ones.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::provider::config::Thinking;
use crate::provider::wire::functions::Functions;
use crate::provider::wire::open_text::CHAT_REASONING;
use crate::provider::wire::transcript::{Block, CallResult, Part, Transcript, Turn};

/// Returns a request in the format of Chat Completions.
pub(in crate::provider::wire) fn body(request: &Value, max_output_tokens: Option<u64>, thinking: Thinking) -> Value {
    let functions = Functions::of(&request["tools"]);
    let transcript = Transcript::of(request, &functions);
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", request["model"].clone());
    put("messages", Value::Array(messages(&transcript)));
    if !functions.list().is_empty() {
        let tools = functions.list().iter().map(|function| {
            json!({ "type": "function", "function": {
                "name": function.wire_name, "description": function.description, "parameters": function.parameters,
            } })
        });
        put("tools", tools.collect());
        put("tool_choice", json!("auto"));
        put("parallel_tool_calls", json!(true));
    }
    // Servers reject an effort for models that do not reason.
    if let Some(effort) = request["reasoning"]["effort"].as_str().filter(|_| thinking != Thinking::Off) {
        put("reasoning_effort", json!(effort));
    }
    if let Some(tokens) = max_output_tokens {
        put("max_tokens", json!(tokens));
    }
    let format = &request["text"]["format"];
    if format["type"] == "json_schema" {
        let schema = json!({ "name": format["name"], "schema": format["schema"], "strict": format["strict"] });
        put("response_format", json!({ "type": "json_schema", "json_schema": schema }));
    }
    if let Some(tier) = request["service_tier"].as_str() {
        put("service_tier", json!(tier));
    }
    put("stream", json!(true));
    put("stream_options", json!({ "include_usage": true }));
    Value::Object(body)
}

fn messages(transcript: &Transcript<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !transcript.system.is_empty() {
        messages.push(json!({ "role": "system", "content": transcript.system.join("\n\n") }));
    }
    // Reasoning is sent back only during its turn; later it has no effect.
    let newest_user = transcript.turns.iter().rposition(|turn| matches!(turn, Turn::User(_))).unwrap_or(0);
    // Messages of the user's side up to the next answer, including pictures in results, which can contain only text.
    let mut heard: Vec<Value> = Vec::new();
    for (index, turn) in transcript.turns.iter().enumerate() {
        match turn {
            Turn::User(parts) => heard.extend(parts.iter().map(part)),
            Turn::Model(blocks) => {
                if let Some(message) = answer(blocks, index > newest_user) {
                    messages.extend(user(std::mem::take(&mut heard)));
                    messages.push(message);
                }
            }
            Turn::Results(results) => messages.extend(results.iter().map(|result| output(result, &mut heard))),
        }
    }
    messages.extend(user(heard));
    messages
}

fn user(parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({ "role": "user", "content": content(parts) }))
}

fn answer(blocks: &[Block<'_>], is_reasoning_given_back: bool) -> Option<Value> {
    let mut message = json!({ "role": "assistant", "content": "" });
    let (mut said, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text(text) => {
                if !said.is_empty() {
                    said.push_str("\n\n");
                }
                said.push_str(text);
            }
            Block::Reasoning(item) => {
                let is_of_this_wire = item["id"].as_str().is_some_and(|id| id.starts_with(CHAT_REASONING));
                let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
                if is_of_this_wire && is_reasoning_given_back {
                    thought.extend(parts.iter().filter_map(|part| part["text"].as_str()));
                }
            }
            Block::Call { id, name, arguments } => {
                let function = json!({ "name": name, "arguments": arguments });
                calls.push(json!({ "id": id, "type": "function", "function": function }));
            }
        }
    }
    if said.is_empty() && calls.is_empty() {
        return None;
    }
    message["content"] = json!(said);
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    Some(message)
}

fn output(result: &CallResult<'_>, heard: &mut Vec<Value>) -> Value {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    let mut has_picture = false;
    for shown in &result.parts {
        match shown {
            Part::Text(text) => texts.push(Cow::Borrowed(text)),
            Part::Image { .. } => {
                if !has_picture {
                    has_picture = true;
                    texts.push("The picture follows.".into());
                    heard.push(text_part(&format!("What the call {} showed:", result.id)));
                }
                heard.push(part(shown));
            }
        }
    }
    json!({ "role": "tool", "tool_call_id": result.id, "content": texts.join("\n") })
}

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => text_part(text),
        Part::Image { url, detail } => {
            let mut image = json!({ "url": url });
            if let Some(detail) = detail {
                image["detail"] = json!(detail);
            }
            json!({ "type": "image_url", "image_url": image })
        }
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Joins parts to one text if all are texts: some servers do not accept parts.
fn content(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    match texts {
        Some(texts) => json!(texts.join("\n\n")),
        None => Value::Array(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(parts: &Value) -> Value {
        json!({ "type": "message", "role": "user", "content": parts })
    }

    #[test]
    fn a_request_is_translated_whole() {
        let image = json!({ "type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "high" });
        let request = json!({
            "model": "m",
            "instructions": "be good",
            "input": [
                { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "mind this" }] },
                said(&json!([{ "type": "input_text", "text": "look" }, image])),
                { "type": "reasoning", "id": "rs_chat_0", "summary": [], "content": [{ "type": "reasoning_text", "text": "old" }] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "fine" }] },
                said(&json!([{ "type": "input_text", "text": "go" }])),
                { "type": "reasoning", "id": "rs_chat_1", "summary": [], "content": [{ "type": "reasoning_text", "text": "new" }] },
                { "type": "reasoning", "id": "rs_anthropic_1", "summary": [{ "type": "summary_text", "text": "no" }] },
                { "type": "function_call", "call_id": "1", "namespace": "team", "name": "ask", "arguments": "{\"a\":1}" },
                { "type": "custom_tool_call", "call_id": "2", "name": "apply_patch", "input": "*** Begin" },
                { "type": "function_call_output", "call_id": "1", "output": "yes" },
                { "type": "custom_tool_call_output", "call_id": "2", "output": [{ "type": "input_text", "text": "seen" }, image] },
            ],
            "tools": [
                { "type": "namespace", "name": "team", "description": "Others.", "tools": [{ "type": "function", "name": "ask", "strict": false }] },
                { "type": "custom", "name": "apply_patch", "description": "patches" },
            ],
            "reasoning": { "effort": "high", "summary": "auto" },
            "text": { "format": { "type": "json_schema", "name": "n", "schema": {}, "strict": true } },
            "store": false, "include": [], "prompt_cache_key": "k",
        });
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&body(&request, Some(100), Thinking::default())).expect("JSON")
        );
    }

    #[test]
    fn a_request_without_anything_is_small() {
        let expected = json!({
            "model": "m",
            "messages": [{ "role": "user", "content": "Go on." }],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let request = json!({ "model": "m", "input": [], "tools": [], "reasoning": { "effort": "high" } });
        assert_eq!(body(&request, None, Thinking::Off), expected);
    }
}
