//! Translates requests to the Messages API.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::REDACTED;
use crate::provider::config::Thinking;
use crate::provider::wire::functions::Functions;
use crate::provider::wire::open_text::ANTHROPIC_REASONING;
use crate::provider::wire::transcript::{Block, CallResult, Part, Transcript, Turn};

/// Version of the API that every request must name.
pub const VERSION: &str = "2023-06-01";

/// Default of the most tokens of an answer; the API requires a value.
pub const MAX_OUTPUT_TOKENS_DEFAULT: u64 = 32_000;

/// The smallest token budget for reasoning that the API accepts.
const BUDGET_MIN: u64 = 1024;

/// Picture formats that the API accepts. A picture in another format would make it reject every request of the
/// conversation.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns a request in the format of the Messages API.
pub(in crate::provider::wire) fn body(request: &Value, max_output_tokens: Option<u64>, thinking: Thinking) -> Value {
    let functions = Functions::of(&request["tools"]);
    let transcript = Transcript::of(request, &functions);
    let max_tokens = max_output_tokens.unwrap_or(MAX_OUTPUT_TOKENS_DEFAULT);
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", request["model"].clone());
    put("max_tokens", json!(max_tokens));
    if !transcript.system.is_empty() {
        let mut blocks: Vec<Value> = transcript.system.iter().map(|text| text_block(text)).collect();
        // Everything before the conversation, including tools, is the same in all requests of a thread.
        mark(blocks.last_mut());
        put("system", Value::Array(blocks));
    }
    put("messages", Value::Array(messages(&transcript)));
    let offered = functions.list().iter().map(|function| {
        json!({ "name": function.wire_name, "description": function.description, "input_schema": function.parameters })
    });
    let (mut tools, mut choice): (Vec<Value>, _) = (offered.collect(), "auto");
    if tools.is_empty() {
        // The API requires that the tools of all calls in the conversation are defined.
        (tools, choice) = (called(&transcript), "none");
    }
    if !tools.is_empty() {
        put("tools", Value::Array(tools));
        put("tool_choice", json!({ "type": choice }));
    }
    let mut output = Map::new();
    let told = reasoning(&request["reasoning"], max_tokens, thinking);
    let told = told.filter(|_| thinking != Thinking::Budget || may_reason(&transcript));
    if let Some((thinking, effort)) = told {
        put("thinking", thinking);
        output.extend(effort.map(|effort| ("effort".to_owned(), json!(effort))));
    }
    let format = &request["text"]["format"];
    if format["type"] == "json_schema" {
        output.insert("format".to_owned(), json!({ "type": "json_schema", "schema": format["schema"] }));
    }
    if !output.is_empty() {
        put("output_config", Value::Object(output));
    }
    if let Some(tier @ ("auto" | "standard_only")) = request["service_tier"].as_str() {
        put("service_tier", json!(tier));
    }
    put("stream", json!(true));
    Value::Object(body)
}

/// Returns the setting for reasoning, and the effort if the model decides itself how much to reason.
fn reasoning(wanted: &Value, max_tokens: u64, thinking: Thinking) -> Option<(Value, Option<&str>)> {
    let effort = wanted["effort"].as_str().filter(|effort| *effort != "none")?;
    let (mut told, effort) = match thinking {
        Thinking::Off => return None,
        Thinking::Adaptive => {
            let effort = if effort == "minimal" { "low" } else { effort };
            (json!({ "type": "adaptive" }), Some(effort))
        }
        Thinking::Budget => {
            let budget: u64 = match effort {
                "minimal" => BUDGET_MIN,
                "low" => 4096,
                "medium" => 8192,
                _ => 24_576,
            };
            // Reasoning counts as part of the answer, so half of the tokens are left for the text.
            let budget = budget.min(max_tokens / 2);
            if budget < BUDGET_MIN {
                return None;
            }
            (json!({ "type": "enabled", "budget_tokens": budget }), None)
        }
    };
    if wanted["summary"].as_str().is_some_and(|summary| summary != "none") {
        told["display"] = json!("summarized");
    }
    Some((told, effort))
}

/// Returns whether a model with a token budget may reason. After a call it may only if the answer since the last message of
/// the user begins with reasoning of this provider. Reasoning of another provider, or none, does not count.
fn may_reason(transcript: &Transcript<'_>) -> bool {
    let mut turns = transcript.turns.iter().rev();
    let mut first = None;
    // A user message directly after results is sent in one message with them.
    let mut next = turns.next();
    while let Some(turn) = next {
        next = turns.next();
        match turn {
            Turn::Model(blocks) => first = Some(blocks),
            Turn::Results(_) => {}
            Turn::User(_) if matches!(next, Some(Turn::Results(_))) => {}
            Turn::User(_) => break,
        }
    }
    let Some(blocks) = first else { return true };
    let begins = blocks.first().is_some_and(|block| match block {
        Block::Reasoning(item) => thinking_block(item).is_some(),
        Block::Text(_) | Block::Call { .. } => false,
    });
    begins || !blocks.iter().any(|block| matches!(block, Block::Call { .. }))
}

/// Returns definitions of the tools that a conversation calls.
fn called(transcript: &Transcript<'_>) -> Vec<Value> {
    let blocks = transcript.turns.iter().filter_map(|turn| match turn {
        Turn::Model(blocks) => Some(blocks),
        Turn::User(_) | Turn::Results(_) => None,
    });
    let names: BTreeSet<&str> = blocks
        .flatten()
        .filter_map(|block| match block {
            Block::Call { name, .. } => Some(name.as_str()),
            Block::Text(_) | Block::Reasoning(_) => None,
        })
        .collect();
    let schema = json!({ "type": "object", "properties": {} });
    names.into_iter().map(|name| json!({ "name": name, "input_schema": schema })).collect()
}

fn messages(transcript: &Transcript<'_>) -> Vec<Value> {
    let mut names = CallIds::default();
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in &transcript.turns {
        let (role, blocks): (&str, Vec<Value>) = match turn {
            Turn::User(parts) => ("user", parts.iter().map(part).collect()),
            Turn::Model(blocks) => ("assistant", blocks.iter().filter_map(|block| answer(block, &mut names)).collect()),
            Turn::Results(results) => ("user", results.iter().map(|result| output(result, &mut names)).collect()),
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            // Results and the user message after them are sent as one message.
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    // The next request begins with everything up to the newest message; this request begins with what the previous one
    // ended with.
    let of_users = messages.iter_mut().rev().filter(|(role, _)| *role == "user");
    for (_, blocks) in of_users.take(2) {
        mark(blocks.last_mut());
    }
    messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Marks a position up to which the provider should cache the request.
fn mark(block: Option<&mut Value>) {
    if let Some(block) = block {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn answer(block: &Block<'_>, names: &mut CallIds) -> Option<Value> {
    Some(match block {
        Block::Text(text) => text_block(text),
        Block::Reasoning(item) => return thinking_block(item),
        Block::Call { id, name, arguments } => {
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({ "type": "tool_use", "id": names.of(id), "name": name, "input": input })
        }
    })
}

/// Returns reasoning as it was received. `None` if it has no signature, because the API would reject it.
fn thinking_block(item: &Value) -> Option<Value> {
    if !item["id"].as_str()?.starts_with(ANTHROPIC_REASONING) {
        return None;
    }
    let sealed = item["encrypted_content"].as_str()?;
    if let Some(data) = sealed.strip_prefix(REDACTED) {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let parts = item["summary"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    Some(json!({ "type": "thinking", "thinking": text, "signature": sealed }))
}

fn output(result: &CallResult<'_>, names: &mut CallIds) -> Value {
    let mut content: Vec<Value> = result.parts.iter().map(part).collect();
    // The API rejects blank texts.
    content.retain(|block| block["text"].as_str().is_none_or(|text| !text.trim().is_empty()));
    json!({ "type": "tool_result", "tool_use_id": names.of(result.id), "content": content })
}

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => text_block(text),
        Part::Image { url, .. } => match picture(url) {
            Some(source) => json!({ "type": "image", "source": source }),
            None => text_block("(A picture that cannot be shown here.)"),
        },
    }
}

fn picture(url: &str) -> Option<Value> {
    if url.starts_with("https://") || url.starts_with("http://") {
        return Some(json!({ "type": "url", "url": url }));
    }
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    PICTURES.contains(&kind).then_some(())?;
    Some(json!({ "type": "base64", "media_type": kind, "data": data }))
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Ids of calls in the form that the API accepts. Calls from other wire formats have other ids.
#[derive(Debug, Default)]
struct CallIds {
    renamed: Vec<String>,
}

impl CallIds {
    fn of(&mut self, id: &str) -> String {
        if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            return id.to_owned();
        }
        let number = self.renamed.iter().position(|known| known == id).unwrap_or_else(|| {
            self.renamed.push(id.to_owned());
            self.renamed.len() - 1
        });
        format!("renamed_call_{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(parts: &Value) -> Value {
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
                user(&json!([{ "type": "input_text", "text": "look" }, image])),
                { "type": "reasoning", "id": "rs_anthropic_1", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "c2ln" },
                { "type": "reasoning", "id": "rs_anthropic_2", "summary": [], "encrypted_content": "redacted_thinking:ZGF0YQ==" },
                { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "of another provider" },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "fine" }] },
                { "type": "function_call", "call_id": "a:1", "namespace": "team", "name": "ask", "arguments": "{\"a\":1}" },
                { "type": "custom_tool_call", "call_id": "2", "name": "apply_patch", "input": "*** Begin" },
                { "type": "function_call_output", "call_id": "a:1", "output": "" },
                { "type": "custom_tool_call_output", "call_id": "2", "output": [{ "type": "input_text", "text": "seen" }, image] },
                user(&json!([{ "type": "input_text", "text": "go" }])),
            ],
            "tools": [
                { "type": "namespace", "name": "team", "description": "Others.", "tools": [{ "type": "function", "name": "ask", "strict": false }] },
                { "type": "custom", "name": "apply_patch", "description": "patches" },
            ],
            "reasoning": { "effort": "high", "summary": "auto" },
            "text": { "format": { "type": "json_schema", "name": "n", "schema": {}, "strict": true } },
            "store": false, "include": [], "prompt_cache_key": "k",
        });
        let body = body(&request, None, Thinking::Adaptive);
        insta::assert_snapshot!(serde_json::to_string_pretty(&body).expect("JSON"));
    }

    #[test]
    fn an_effort_is_told_as_the_model_takes_it() {
        let told = |effort: Option<&str>, max: Option<u64>, thinking| {
            let request = json!({ "model": "m", "input": [], "reasoning": { "effort": effort } });
            let body = body(&request, max, thinking);
            (body["thinking"].clone(), body["output_config"].clone(), body["max_tokens"].clone())
        };
        let budget = |tokens: u64| json!({ "type": "enabled", "budget_tokens": tokens });
        let adaptive = json!({ "type": "adaptive" });
        let default = json!(MAX_OUTPUT_TOKENS_DEFAULT);
        assert_eq!(told(None, None, Thinking::Adaptive), (Value::Null, Value::Null, default.clone()));
        assert_eq!(told(Some("none"), None, Thinking::Adaptive).0, Value::Null);
        assert_eq!(told(Some("high"), None, Thinking::Off).0, Value::Null);
        assert_eq!(told(Some("minimal"), None, Thinking::Adaptive), (adaptive, json!({ "effort": "low" }), default));
        assert_eq!(told(Some("low"), None, Thinking::Budget).0, budget(4096));
        assert_eq!(told(Some("max"), None, Thinking::Budget).0, budget(16_000));
        assert_eq!(told(Some("max"), Some(4096), Thinking::Budget).0, budget(2048));
        assert_eq!(told(Some("max"), Some(2000), Thinking::Budget), (Value::Null, Value::Null, json!(2000)));
    }

    #[test]
    fn a_budget_waits_for_the_end_of_calls_without_reasoning_of_this_wire() {
        let call = json!({ "type": "function_call", "call_id": "1", "name": "f", "arguments": "{}" });
        let result = json!({ "type": "function_call_output", "call_id": "1", "output": "x" });
        let own = json!({ "type": "reasoning", "id": "rs_anthropic_1", "summary": [], "encrypted_content": "c2ln" });
        let foreign = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln" });
        let (user, steer) = (user(&json!([{ "type": "input_text", "text": "go" }])), user(&json!("more")));
        let told = |input: &[&Value], thinking| {
            let request = json!({ "model": "m", "input": input, "reasoning": { "effort": "high" } });
            !body(&request, None, thinking)["thinking"].is_null()
        };
        for (input, expected) in [
            (vec![&user], true),
            (vec![&user, &call, &result], false),
            (vec![&user, &foreign, &call, &result], false),
            (vec![&user, &own, &call, &result], true),
            (vec![&user, &own, &call, &result, &call, &result], true),
            (vec![&user, &call, &result, &steer], false),
        ] {
            assert_eq!(told(&input, Thinking::Budget), expected, "{input:?}");
            assert!(told(&input, Thinking::Adaptive));
        }
        let answer =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "fine" }] });
        assert!(told(&[&user, &call, &result, &answer, &user], Thinking::Budget));
    }

    #[test]
    fn calls_of_tools_that_are_not_offered_have_tools() {
        let call = json!({ "type": "function_call", "call_id": "1", "name": "f", "arguments": "{}" });
        let body = body(&json!({ "model": "m", "input": [call], "tools": [] }), None, Thinking::Off);
        assert_eq!((&body["tools"][0]["name"], &body["tool_choice"]), (&json!("f"), &json!({ "type": "none" })));
    }

    #[test]
    fn pictures_have_a_source() {
        assert_eq!(picture("https://h/p.png"), Some(json!({ "type": "url", "url": "https://h/p.png" })));
        assert_eq!(picture("data:image/gif,x"), None);
        assert_eq!(picture("data:image/gif;base64,x").expect("a picture")["media_type"], "image/gif");
        assert_eq!(picture("data:image/svg+xml;base64,x"), None);
        assert_eq!(picture("file:///etc/passwd"), None);
    }
}
