//! One answer in every wire format.

use serde_json::{Value, json};
use trace_runtime::provider::Wire;

/// A part of an answer.
pub(crate) enum Said {
    /// Reasoning.
    Think(&'static str),
    /// A message.
    Say(&'static str),
    /// A call with id, namespace, name and arguments.
    Call(&'static str, Option<&'static str>, &'static str, Value),
    /// A call of a tool with free text: id, name and text.
    Custom(&'static str, &'static str, &'static str),
}

/// How answers over the Responses API contain reasoning. The other wire formats have one way each.
#[derive(Clone, Copy)]
pub(crate) enum Reasoning {
    /// As text.
    Open,
    /// As a summary with encrypted content.
    Summary,
}

/// Returns the stream of an answer.
pub(crate) fn answer(wire: Wire, reasoning: Reasoning, said: &[Said]) -> Vec<u8> {
    let events = match wire {
        Wire::Responses => responses(reasoning, said),
        Wire::Chat => chat(said),
        Wire::Anthropic => anthropic(said),
    };
    let mut text: String = events
        .iter()
        .map(|event| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
        .collect();
    if wire == Wire::Chat {
        text.push_str("data: [DONE]\n\n");
    }
    text.into_bytes()
}

/// Splits a text in two halves.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (first, second) = text.split_at(middle);
    [first, second]
}

fn responses(reasoning: Reasoning, said: &[Said]) -> Vec<Value> {
    let mut events = vec![json!({ "type": "response.created", "response": { "id": "answer-1" } })];
    for (index, said) in said.iter().enumerate() {
        let id = format!("item_{index}");
        let item = match said {
            Said::Think(text) => match reasoning {
                Reasoning::Open => {
                    json!({ "type": "reasoning", "id": id, "summary": [], "content": [{ "type": "reasoning_text", "text": text }] })
                }
                Reasoning::Summary => {
                    json!({ "type": "reasoning", "id": id, "summary": [{ "type": "summary_text", "text": text }], "encrypted_content": "c2VhbA==" })
                }
            },
            Said::Say(text) => {
                json!({ "type": "message", "id": id, "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
            }
            Said::Call(call, namespace, name, arguments) => {
                let mut item = json!({ "type": "function_call", "id": id, "call_id": call, "name": name, "arguments": arguments.to_string() });
                if let Some(namespace) = namespace {
                    item["namespace"] = json!(namespace);
                }
                item
            }
            Said::Custom(call, name, input) => {
                json!({ "type": "custom_tool_call", "id": id, "call_id": call, "name": name, "input": input })
            }
        };
        events.push(json!({ "type": "response.output_item.done", "item": item }));
    }
    let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 40 }, "output_tokens": 10 });
    events.push(json!({ "type": "response.completed", "response": { "id": "answer-1", "usage": usage } }));
    events
}

fn chat(said: &[Said]) -> Vec<Value> {
    let chunk = |delta: Value, reason: Option<&str>| json!({ "id": "answer-1", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    let (mut calls, mut reason) = (0, "stop");
    for said in said {
        let (id, name, arguments) = match said {
            Said::Think(text) => {
                events.extend(halves(text).map(|half| chunk(json!({ "reasoning_content": half }), None)));
                continue;
            }
            Said::Say(text) => {
                events.extend(halves(text).map(|half| chunk(json!({ "content": half }), None)));
                continue;
            }
            Said::Call(id, namespace, name, arguments) => (id, wire_name(*namespace, name), arguments.to_string()),
            Said::Custom(id, name, input) => (id, (*name).to_owned(), json!({ "input": input }).to_string()),
        };
        let call = |function: Value, id: Option<&str>| {
            chunk(
                json!({ "tool_calls": [{ "index": calls, "id": id, "type": "function", "function": function }] }),
                None,
            )
        };
        events.push(call(json!({ "name": name, "arguments": "" }), Some(id)));
        events.extend(halves(&arguments).map(|half| call(json!({ "arguments": half }), None)));
        calls += 1;
        reason = "tool_calls";
    }
    events.push(chunk(json!({}), Some(reason)));
    let usage = json!({ "prompt_tokens": 100, "prompt_tokens_details": { "cached_tokens": 40 }, "completion_tokens": 10, "total_tokens": 110 });
    events.push(json!({ "id": "answer-1", "object": "chat.completion.chunk", "choices": [], "usage": usage }));
    events
}

fn anthropic(said: &[Said]) -> Vec<Value> {
    let usage = json!({ "input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1 });
    let message = json!({ "id": "answer-1", "type": "message", "role": "assistant", "content": [], "usage": usage });
    let mut events = vec![json!({ "type": "message_start", "message": message }), json!({ "type": "ping" })];
    let mut reason = "end_turn";
    for (index, said) in said.iter().enumerate() {
        let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        let pieces = |kind: &str, member: &str, text: &str| {
            halves(text).map(|half| delta(json!({ "type": kind, member: half }))).to_vec()
        };
        let (block, deltas) = match said {
            Said::Think(text) => {
                let mut deltas = pieces("thinking_delta", "thinking", text);
                deltas.push(delta(json!({ "type": "signature_delta", "signature": "c2VhbA==" })));
                (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas)
            }
            Said::Say(text) => (json!({ "type": "text", "text": "" }), pieces("text_delta", "text", text)),
            Said::Call(id, namespace, name, arguments) => (
                json!({ "type": "tool_use", "id": id, "name": wire_name(*namespace, name), "input": {} }),
                pieces("input_json_delta", "partial_json", &arguments.to_string()),
            ),
            Said::Custom(id, name, input) => (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                pieces("input_json_delta", "partial_json", &json!({ "input": input }).to_string()),
            ),
        };
        if matches!(said, Said::Call(..) | Said::Custom(..)) {
            reason = "tool_use";
        }
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.extend(deltas);
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events
        .push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 10 } }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn wire_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}"))
}
