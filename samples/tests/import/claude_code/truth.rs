//! What happened: the requests that the service received, beside the requests of a bundle.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use trace_recorder::Bundle;

/// A block of a request, without what only the transport needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block(Value);

/// A request as a list of blocks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) blocks: Vec<Block>,
    pub(crate) has_tools: bool,
}

impl Block {
    /// Returns whether the program put the block in front of a prompt. Older versions do not record that.
    pub(crate) fn is_reminder(&self) -> bool {
        self.0["text"].as_str().is_some_and(|text| text.starts_with("<system-reminder>"))
    }

    /// Returns the start of the block.
    pub(crate) fn shown(&self) -> String {
        self.0.to_string().chars().take(160).collect()
    }
}

/// Returns the requests that the service received.
pub(crate) fn sent(folder: &Path) -> Vec<Asked> {
    let text = std::fs::read_to_string(folder.join("model-requests.jsonl")).expect("the requests");
    let requests = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("is JSON"));
    requests
        .map(|request| {
            let messages = request["messages"].as_array().expect("messages");
            Asked {
                blocks: messages.iter().flat_map(blocks).collect(),
                has_tools: request["tools"].as_array().is_some_and(|tools| !tools.is_empty()),
            }
        })
        .collect()
}

fn blocks(message: &Value) -> Vec<Block> {
    let role = &message["role"];
    match &message["content"] {
        Value::String(text) => vec![Block(json!({"role": role, "text": text}))],
        Value::Array(blocks) => blocks.iter().map(|block| Block(plain(role, block))).collect(),
        other => panic!("{other}"),
    }
}

fn plain(role: &Value, block: &Value) -> Value {
    match block["type"].as_str().unwrap_or_default() {
        "text" => json!({"role": role, "text": block["text"]}),
        "thinking" => json!({"thinking": block["thinking"], "signature": block["signature"]}),
        "tool_use" => json!({"call": block["id"], "name": block["name"], "input": block["input"]}),
        "tool_result" => json!({"result": block["tool_use_id"], "content": content(&block["content"])}),
        _ => json!({"role": role, "other": block}),
    }
}

fn content(content: &Value) -> Value {
    match content {
        Value::Array(parts) => parts
            .iter()
            .map(|part| match part["type"].as_str() {
                Some("text" | "input_text") => json!({"text": part["text"]}),
                _ => part.clone(),
            })
            .collect(),
        Value::Null => json!(""),
        other => other.clone(),
    }
}

/// Returns whether a request is none of a session: questions about commands, warm-ups, and the request for a summary.
pub(crate) fn is_side_question(request: &Asked) -> bool {
    let last = request.blocks.last().and_then(|block| block.0["text"].as_str()).unwrap_or_default();
    !request.has_tools
        || last == "Warmup"
        || last.starts_with("Your task is to create a detailed summary")
        || last.starts_with("CRITICAL: Respond with TEXT ONLY")
}

/// Returns the requests of a bundle.
pub(crate) fn asked(bundle: &Bundle) -> Vec<Asked> {
    let log = std::str::from_utf8(bundle.log().expect("a log").as_bytes()).expect("UTF-8").to_owned();
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("is JSON"));
    let mut asked = Vec::new();
    for event in events {
        let payload = &event["payload"];
        if payload["type"] != "inference_started" {
            continue;
        }
        let mut bytes = Vec::new();
        let path = payload["request_payload"]["path"].as_str().expect("a path");
        bundle.payloads().read(path, &mut bytes).expect("reads");
        let body: Value = serde_json::from_slice(&bytes).expect("is JSON");
        let items = body["input"].as_array().expect("items");
        asked.push(Asked { blocks: items.iter().flat_map(item).collect(), has_tools: !body["tools"].is_null() });
    }
    asked
}

fn item(item: &Value) -> Vec<Block> {
    match item["type"].as_str().expect("a type") {
        "message" => item["content"]
            .as_array()
            .expect("content")
            .iter()
            .map(|part| match part["type"].as_str() {
                Some("input_text" | "output_text") => Block(json!({"role": item["role"], "text": part["text"]})),
                _ => Block(json!({"role": item["role"], "other": part})),
            })
            .collect(),
        "reasoning" => {
            vec![Block(json!({"thinking": item["content"][0]["text"], "signature": item["encrypted_content"]}))]
        }
        "function_call" => {
            let input: Value = serde_json::from_str(item["arguments"].as_str().expect("a text")).expect("is JSON");
            vec![Block(json!({"call": item["call_id"], "name": item["name"], "input": input}))]
        }
        "function_call_output" => {
            vec![Block(json!({"result": item["call_id"], "content": content(&item["output"])}))]
        }
        other => panic!("{other}"),
    }
}

fn list<'s>(state: &'s Value, name: &str) -> Vec<&'s Value> {
    state[name].as_object().map(|objects| objects.values().collect()).unwrap_or_default()
}

/// Returns the statuses of the root's turns, in order.
pub(crate) fn turns(state: &Value) -> Vec<String> {
    let root = &state["root_thread_id"];
    let mut turns: Vec<_> = list(state, "codex_turns").into_iter().filter(|turn| turn["thread_id"] == *root).collect();
    turns.sort_by_key(|turn| turn["execution"]["started_seq"].as_u64());
    turns.iter().map(|turn| turn["execution"]["status"].as_str().expect("a status").to_owned()).collect()
}

/// Returns what happened in a session in one line.
pub(crate) fn facts(state: &Value) -> String {
    let counts = |name: &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for object in list(state, name) {
            *counts.entry(object["execution"]["status"].as_str().expect("a status")).or_default() += 1;
        }
        let counts: Vec<_> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        if counts.is_empty() { "none".to_owned() } else { counts.join(" ") }
    };
    let root = &state["root_thread_id"];
    let mut agents: Vec<_> = list(state, "codex_turns")
        .into_iter()
        .filter(|turn| turn["thread_id"] != *root)
        .map(|turn| {
            let thread = &state["threads"][turn["thread_id"].as_str().expect("an id")];
            format!(
                "{} {}",
                thread["agent_path"].as_str().unwrap_or_default(),
                turn["execution"]["status"].as_str().unwrap_or_default()
            )
        })
        .collect();
    agents.sort();
    let kinds: Vec<_> = list(state, "interaction_edges").into_iter().filter_map(|edge| edge["kind"].as_str()).collect();
    let agents = if agents.is_empty() { String::new() } else { format!("; agents {}", agents.join(", ")) };
    let edges = if kinds.is_empty() { String::new() } else { format!("; edges {}", kinds.join(", ")) };
    format!(
        "turns {}; model {}; tools {}; compactions {}{agents}{edges}",
        turns(state).join(", "),
        counts("inference_calls"),
        counts("tool_calls"),
        list(state, "compactions").len(),
    )
}

/// Returns the tokens by model of all transcripts below a folder.
pub(crate) fn counted(folder: &Path) -> BTreeMap<String, [u64; 4]> {
    let mut calls: BTreeMap<String, (String, [u64; 4])> = BTreeMap::new();
    visit(folder, &mut calls);
    let mut sums = BTreeMap::new();
    for (model, counts) in calls.into_values() {
        let sum: &mut [u64; 4] = sums.entry(model).or_default();
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

fn visit(folder: &Path, calls: &mut BTreeMap<String, (String, [u64; 4])>) {
    for entry in std::fs::read_dir(folder).expect("lists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            visit(&path, calls);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = std::fs::read_to_string(&path).expect("reads");
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).expect("is JSON");
                let message = &line["message"];
                let Some(id) = message["id"].as_str() else { continue };
                let request = line["requestId"].as_str().unwrap_or_default();
                if line["type"] != "assistant" || message["model"] == "<synthetic>" {
                    continue;
                }
                let count = |name: &str| message["usage"][name].as_u64().unwrap_or_default();
                let counts = [
                    count("input_tokens"),
                    count("cache_read_input_tokens"),
                    count("cache_creation_input_tokens"),
                    count("output_tokens"),
                ];
                let model = message["model"].as_str().unwrap_or_default().to_owned();
                let known = calls.entry(format!("{id}:{request}")).or_insert((model, counts));
                if known.1[3] < counts[3] {
                    known.1 = counts;
                }
            }
        }
    }
}

/// Returns what each run printed, as the lines of a file. Runs without a session are left out.
pub(crate) fn printed(folder: &Path) -> Vec<String> {
    let script = std::fs::read_to_string(folder.join("script.json")).expect("the script");
    let script: Value = serde_json::from_str(&script).expect("is JSON");
    let runs = script["runs"].as_array().cloned().unwrap_or_default();
    let lines = runs.iter().filter_map(|run| run["stream_json"].as_array());
    lines
        .filter(|lines| lines.iter().any(|line| line["subtype"] == "init"))
        .map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
        .collect()
}
