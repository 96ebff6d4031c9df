//! Arranges a conversation as Chat Completions and the Messages API require: instructions first, then alternating sides,
//! and each call followed by its result.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::functions::{self, Functions};

/// User message between two consecutive messages of the model, or after the last one: services treat a conversation that
/// ends with the model as the beginning of its answer, or reject it.
const GO_ON: &str = "Go on.";

/// Output of a call without a result.
const NO_RESULT: &str = "aborted";

#[derive(Debug)]
pub(super) struct Transcript<'a> {
    /// Standing instructions.
    pub(super) system: Vec<Cow<'a, str>>,
    /// The messages. The first and the last one come from the user's side.
    pub(super) turns: Vec<Turn<'a>>,
}

/// Consecutive messages of one side.
#[derive(Debug, PartialEq)]
pub(super) enum Turn<'a> {
    User(Vec<Part<'a>>),
    Model(Vec<Block<'a>>),
    /// Results of the preceding calls, in their order.
    Results(Vec<CallResult<'a>>),
}

/// A part of a message of the user's side.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Image { url: &'a str, detail: Option<&'a str> },
}

/// A part of an answer of the model.
#[derive(Debug, PartialEq)]
pub(super) enum Block<'a> {
    Text(String),
    Reasoning(&'a Value),
    Call { id: &'a str, name: String, arguments: Cow<'a, str> },
}

/// The result of a call.
#[derive(Debug, PartialEq)]
pub(super) struct CallResult<'a> {
    pub(super) id: &'a str,
    pub(super) parts: Vec<Part<'a>>,
}

impl<'a> Transcript<'a> {
    /// Returns the conversation of a request in the format of the Responses API.
    pub(super) fn of(body: &'a Value, functions: &Functions) -> Self {
        let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut results: HashMap<&str, &Value> = HashMap::new();
        for item in items {
            if let (Some("function_call_output" | "custom_tool_call_output"), Some(id)) =
                (text(item, "type"), text(item, "call_id"))
            {
                results.entry(id).or_insert(&item["output"]);
            }
        }
        let mut writer = Writer { turns: Vec::new(), model: Vec::new(), results, called: HashSet::new() };
        let mut system: Vec<Cow<'a, str>> = text(body, "instructions").map(Cow::Borrowed).into_iter().collect();
        system.extend(functions.notes().iter().map(|note| Cow::Owned(note.clone())));
        for item in items {
            match (text(item, "type"), text(item, "role")) {
                (Some("message"), Some("assistant")) => writer.say(item),
                (Some("message"), Some("developer" | "system")) if writer.is_empty() => {
                    system.extend(parts(&item["content"]).into_iter().filter_map(|part| match part {
                        Part::Text(text) => Some(text),
                        Part::Image { .. } => None,
                    }));
                }
                (Some("message"), Some("developer" | "system")) => {
                    let said = parts(&item["content"]).into_iter().map(|part| match part {
                        Part::Text(text) => Part::Text(format!("<developer>\n{text}\n</developer>").into()),
                        image @ Part::Image { .. } => image,
                    });
                    writer.hear(said.collect());
                }
                (Some("message"), _) => writer.hear(parts(&item["content"])),
                (Some("agent_message"), _) => writer.hear(vec![Part::Text(letter(item).into())]),
                (Some("reasoning"), _) => writer.model.push(Block::Reasoning(item)),
                (Some("function_call"), _) => {
                    writer.call(item, functions, arguments(text(item, "arguments").unwrap_or_default()));
                }
                (Some("custom_tool_call"), _) => {
                    let input = text(item, "input").unwrap_or_default();
                    writer.call(item, functions, functions::free_text_arguments(input).into());
                }
                (Some("function_call_output" | "custom_tool_call_output"), _) => writer.flush(),
                _ => {}
            }
        }
        writer.flush();
        if matches!(writer.turns.last(), None | Some(Turn::Model(_))) {
            writer.turns.push(Turn::User(vec![Part::Text(GO_ON.into())]));
        }
        if !matches!(writer.turns.first(), Some(Turn::User(_))) {
            writer.turns.insert(0, Turn::User(vec![Part::Text(GO_ON.into())]));
        }
        system.retain(|text| !text.trim().is_empty());
        Self { system, turns: writer.turns }
    }
}

struct Writer<'a> {
    turns: Vec<Turn<'a>>,
    /// What the model said since the last message of the other side.
    model: Vec<Block<'a>>,
    results: HashMap<&'a str, &'a Value>,
    /// Ids of calls so far: services reject a second call with the same id.
    called: HashSet<&'a str>,
}

impl<'a> Writer<'a> {
    fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.model.is_empty()
    }

    fn say(&mut self, item: &'a Value) {
        let said: String = parts(&item["content"])
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(&**text),
                Part::Image { .. } => None,
            })
            .collect();
        if !said.trim().is_empty() {
            self.model.push(Block::Text(said));
        }
    }

    fn hear(&mut self, mut parts: Vec<Part<'a>>) {
        // Services reject blank texts.
        parts.retain(|part| !matches!(part, Part::Text(text) if text.trim().is_empty()));
        if parts.is_empty() {
            return;
        }
        self.flush();
        match self.turns.last_mut() {
            Some(Turn::User(said)) => said.extend(parts),
            _ => self.turns.push(Turn::User(parts)),
        }
    }

    fn call(&mut self, item: &'a Value, functions: &Functions, arguments: Cow<'a, str>) {
        let Some(id) = text(item, "call_id") else { return };
        if self.called.insert(id) {
            let name = functions.wire_name(text(item, "namespace"), text(item, "name").unwrap_or_default());
            self.model.push(Block::Call { id, name, arguments });
        }
    }

    /// Ends the answer of the model. The results of its calls follow directly, wherever they are in the conversation.
    fn flush(&mut self) {
        if self.model.is_empty() {
            return;
        }
        let blocks = std::mem::take(&mut self.model);
        let results: Vec<CallResult<'a>> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Call { id, .. } => Some(CallResult { id, parts: self.result(id) }),
                Block::Text(_) | Block::Reasoning(_) => None,
            })
            .collect();
        self.turns.push(Turn::Model(blocks));
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
    }

    fn result(&self, id: &str) -> Vec<Part<'a>> {
        match self.results.get(id) {
            None => vec![Part::Text(NO_RESULT.into())],
            Some(Value::String(text)) => vec![Part::Text(text.into())],
            Some(list @ Value::Array(_)) => parts(list),
            Some(other) => vec![Part::Text(other.to_string().into())],
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Returns the parts of a message or a result that can be sent.
fn parts(content: &Value) -> Vec<Part<'_>> {
    let shown = |part| match text(part, "type") {
        Some("input_image") => text(part, "image_url").map(|url| Part::Image { url, detail: text(part, "detail") }),
        _ => ["text", "refusal"].iter().find_map(|name| text(part, name)).map(|text| Part::Text(text.into())),
    };
    content.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(shown).collect()
}

/// Returns a message between agents as the model reads it.
fn letter(item: &Value) -> String {
    let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said: String = parts
        .iter()
        .filter_map(|part| ["text", "encrypted_content"].iter().find_map(|name| text(part, name)))
        .collect();
    let (author, recipient) = (text(item, "author").unwrap_or("?"), text(item, "recipient").unwrap_or("?"));
    format!("<agent_message from=\"{author}\" to=\"{recipient}\">\n{said}\n</agent_message>")
}

/// Returns arguments as services accept them: a JSON object. Other arguments of a model are wrapped in one.
fn arguments(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        return "{}".into();
    }
    match serde_json::from_str::<serde_json::Map<String, Value>>(text) {
        Ok(_) => text.into(),
        Err(_) => serde_json::json!({ "not_json": text }).to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Value {
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
    }

    fn said(text: &str) -> Value {
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
    }

    fn call(id: &str) -> Value {
        json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" })
    }

    fn output(id: &str) -> Value {
        json!({ "type": "function_call_output", "call_id": id, "output": id })
    }

    /// Formats a conversation with one line per turn.
    fn told(items: &[Value]) -> (Vec<String>, Vec<String>) {
        let body = json!({ "instructions": "be good", "input": items });
        let transcript = Transcript::of(&body, &Functions::default());
        let part = |part: &Part<'_>| match part {
            Part::Text(text) => text.to_string(),
            Part::Image { url, detail } => format!("[{url} {detail:?}]"),
        };
        let join = |parts: &[Part<'_>]| parts.iter().map(part).collect::<Vec<_>>().join("+");
        let turns = transcript.turns.iter().map(|turn| match turn {
            Turn::User(parts) => format!("user: {}", join(parts)),
            Turn::Model(blocks) => {
                let block = |block: &Block<'_>| match block {
                    Block::Text(text) => text.clone(),
                    Block::Reasoning(item) => format!("({})", item["id"]),
                    Block::Call { id, name, arguments } => format!("{name}#{id}{arguments}"),
                };
                format!("model: {}", blocks.iter().map(block).collect::<Vec<_>>().join("+"))
            }
            Turn::Results(results) => {
                let result = |result: &CallResult<'_>| format!("{}={}", result.id, join(&result.parts));
                format!("results: {}", results.iter().map(result).collect::<Vec<_>>().join("+"))
            }
        });
        (transcript.system.iter().map(ToString::to_string).collect(), turns.collect())
    }

    #[test]
    fn both_sides_speak_in_turn_and_results_follow_their_calls() {
        let developer = |text: &str| json!({ "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": text }] });
        let (system, turns) = told(&[
            developer("first"),
            user("a"),
            user("b"),
            json!({ "type": "reasoning", "id": "rs" }),
            said("hm"),
            said("  "),
            call("1"),
            call("2"),
            user("meanwhile"),
            output("1"),
            output("2"),
            call("3"),
            call("3"),
            output("3"),
            developer("later"),
            json!({ "type": "custom_tool_call", "call_id": "4", "name": "p", "input": "x" }),
            json!({ "type": "agent_message", "author": "/root", "recipient": "/root/a", "content": [
                { "type": "input_text", "text": "Head:" }, { "type": "encrypted_content", "encrypted_content": "words" }] }),
            said("end"),
        ]);
        assert_eq!(system, ["be good", "first"]);
        assert_eq!(
            turns,
            [
                "user: a+b",
                "model: (\"rs\")+hm+f#1{}+f#2{}",
                "results: 1=1+2=2",
                "user: meanwhile",
                "model: f#3{}",
                "results: 3=3",
                "user: <developer>\nlater\n</developer>",
                "model: p#4{\"input\":\"x\"}",
                "results: 4=aborted",
                "user: <agent_message from=\"/root\" to=\"/root/a\">\nHead:words\n</agent_message>",
                "model: end",
                "user: Go on.",
            ]
        );
    }

    #[test]
    fn an_empty_conversation_and_one_that_a_model_begins_have_a_user() {
        assert_eq!(told(&[]).1, ["user: Go on."]);
        assert_eq!(told(&[call("1"), output("1")]).1, ["user: Go on.", "model: f#1{}", "results: 1=1"]);
    }

    #[test]
    fn pictures_and_odd_arguments_are_kept() {
        let image = json!([{ "type": "input_text", "text": "see" }, { "type": "input_image", "image_url": "data:x", "detail": "low" }]);
        let mut odd = call("1");
        odd["arguments"] = json!("{broken");
        let mut result = output("1");
        result["output"] = image;
        assert_eq!(
            told(&[user("a"), odd, result]).1[1..],
            ["model: f#1{\"not_json\":\"{broken\"}".to_owned(), "results: 1=see+[data:x Some(\"low\")]".to_owned()]
        );
        assert_eq!(arguments(" "), "{}");
        assert_eq!(arguments("[1]"), r#"{"not_json":"[1]"}"#);
    }
}
