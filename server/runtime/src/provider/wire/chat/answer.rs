//! Parses answers in chunks of Chat Completions.
//!
//! Unknown members and chunks are ignored. Calls are returned in order when the answer is complete, with the arguments as
//! the model wrote them. Servers number calls differently: calls with equal indexes, without an index, or without an id are
//! supported.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::json_end::JsonEnd;
use crate::event::TokenCounts;
use crate::provider::wire::functions::Functions;
use crate::provider::wire::open_text::{OpenText, TextKind};
use crate::provider::wire::reader::Reader;
use crate::provider::wire::responses::PARTS_MAX;
use crate::provider::{ModelEvent, ProviderError, failure};

/// Parses the chunks of one answer.
#[derive(Debug)]
pub(in crate::provider::wire) struct ChunkReader {
    functions: Functions,
    request_id: Option<String>,
    /// Unique part of the ids of this answer.
    answer: String,
    response_id: Option<String>,
    has_begun: bool,
    items: usize,
    text: Option<OpenText>,
    calls: Vec<CallDraft>,
    /// The newest call for each index.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    finish_reason: Option<String>,
    usage: Option<Value>,
}

/// A call that is being streamed.
#[derive(Debug, Default)]
struct CallDraft {
    id: String,
    name: String,
    arguments: String,
    end: JsonEnd,
}

impl ChunkReader {
    pub(in crate::provider::wire) fn new(functions: Functions, request_id: Option<String>, answer: &str) -> Self {
        Self {
            functions,
            request_id,
            answer: answer.to_owned(),
            response_id: None,
            has_begun: false,
            items: 0,
            text: None,
            calls: Vec::new(),
            by_index: HashMap::new(),
            by_id: HashMap::new(),
            finish_reason: None,
            usage: None,
        }
    }

    fn next_id(&mut self) -> String {
        self.items += 1;
        format!("{}_{}", self.answer, self.items)
    }

    fn broken_off(&self, details: impl Into<String>) -> ProviderError {
        failure::broken_off(details.into(), self.request_id.clone())
    }

    fn read_chunk(&mut self, chunk: &Value, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let Some(choices) = chunk.get("choices").and_then(Value::as_array) else { return Ok(()) };
        if !self.has_begun {
            self.has_begun = true;
            self.response_id = chunk["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
            let (response_id, request_id) = (self.response_id.clone(), self.request_id.clone());
            heard.push_back(ModelEvent::Created { response_id, request_id });
        }
        // Only one choice was requested; others are ignored.
        let Some(choice) = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0) else {
            return Ok(());
        };
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        for name in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(text) = delta[name].as_str() {
                self.grow(TextKind::Reasoning, text, heard);
                // Some servers send the same text in two members.
                break;
            }
        }
        match &delta["content"] {
            Value::String(text) => self.grow(TextKind::Message, text, heard),
            Value::Array(parts) => {
                for part in parts {
                    self.read_part(part, heard);
                }
            }
            _ => {}
        }
        if let Some(text) = delta["refusal"].as_str() {
            self.grow(TextKind::Message, text, heard);
        }
        for call in delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
            self.read_call(call)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.finish_reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn read_part(&mut self, part: &Value, heard: &mut VecDeque<ModelEvent>) {
        if let Some(text) = part["text"].as_str() {
            self.grow(TextKind::Message, text, heard);
        }
        match &part["thinking"] {
            Value::String(text) => self.grow(TextKind::Reasoning, text, heard),
            Value::Array(parts) => {
                for text in parts.iter().filter_map(|part| part["text"].as_str()) {
                    self.grow(TextKind::Reasoning, text, heard);
                }
            }
            _ => {}
        }
    }

    fn grow(&mut self, kind: TextKind, more: &str, heard: &mut VecDeque<ModelEvent>) {
        if more.is_empty() {
            return;
        }
        if self.text.as_ref().is_some_and(|open| open.kind != kind) {
            self.close_text(heard);
        }
        if self.text.is_none() {
            let id = self.next_id();
            self.text = Some(OpenText::new(kind, &id));
        }
        if let Some(open) = &mut self.text {
            open.grow(more, heard);
        }
    }

    fn close_text(&mut self, heard: &mut VecDeque<ModelEvent>) {
        if let Some(open) = self.text.take() {
            open.close(None, heard);
        }
    }

    fn read_call(&mut self, delta: &Value) -> Result<(), ProviderError> {
        let id = delta["id"].as_str().unwrap_or_default();
        let name = delta["function"]["name"].as_str().unwrap_or_default();
        let arguments = match &delta["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers send the object instead of its text.
            other => other.to_string(),
        };
        let index = delta["index"].as_u64();
        let known = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.by_id.get(id).copied().or(self.calls.len().checked_sub(1)),
        };
        let known = known.filter(|known| !self.calls[*known].is_another(id, name));
        let position = match known {
            Some(position) => position,
            None => {
                if self.calls.len() >= PARTS_MAX {
                    return Err(self.broken_off(format!("it has more than {PARTS_MAX} calls")));
                }
                self.calls.push(CallDraft::default());
                self.calls.len() - 1
            }
        };
        if let Some(index) = index {
            self.by_index.insert(index, position);
        }
        let call = &mut self.calls[position];
        if call.id.is_empty() && !id.is_empty() {
            id.clone_into(&mut call.id);
            self.by_id.insert(id.to_owned(), position);
        }
        // Names come in one chunk, in pieces, or repeated in every chunk.
        if call.name != name && call.arguments.is_empty() {
            call.name.push_str(name);
        }
        call.end.push(&arguments);
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// Appends the end of the answer, and an error if the provider ended it early.
    fn finish(&mut self, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let cut_short = match self.finish_reason.as_deref() {
            Some("length") => Some("max_output_tokens"),
            Some("content_filter") => Some("content_filter"),
            _ => None,
        };
        self.close_text(heard);
        for call in std::mem::take(&mut self.calls) {
            let own_id = self.next_id();
            // Drop incomplete calls: they cannot be run.
            if cut_short.is_some() && !call.end.is_whole() {
                continue;
            }
            let id = if call.id.is_empty() { format!("call_{own_id}") } else { call.id };
            heard.push_back(ModelEvent::ItemDone(self.functions.call(&call.name, &id, call.arguments, &own_id)));
        }
        if let Some(reason) = cut_short {
            return Err(failure::incomplete(Some(reason), self.request_id.clone()));
        }
        let raw_usage = self.usage.take();
        heard.push_back(ModelEvent::Completed {
            response_id: self.response_id.clone(),
            usage: raw_usage.as_ref().map(token_counts),
            raw_usage,
        });
        Ok(())
    }
}

impl CallDraft {
    /// Returns whether a chunk with the same index belongs to another call. Some servers give every piece of a call a new
    /// id.
    fn is_another(&self, id: &str, name: &str) -> bool {
        if !id.is_empty() && !self.id.is_empty() {
            return id != self.id && (!name.is_empty() || self.end.is_whole());
        }
        !name.is_empty() && self.end.is_whole()
    }
}

impl Reader for ChunkReader {
    fn read(&mut self, name: Option<&str>, data: &str, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            if !self.has_begun {
                return Err(self.broken_off("it ended before it began"));
            }
            return self.finish(heard);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| self.broken_off(format!("an event of the answer is not JSON: {error}")))?;
        let error = match chunk.get("error") {
            Some(error @ (Value::Object(_) | Value::String(_))) => Some(error),
            _ if name == Some("error") || chunk["object"] == "error" => Some(&chunk),
            _ => None,
        };
        if let Some(error) = error {
            return Err(failure::failed(error, self.request_id.clone()));
        }
        self.read_chunk(&chunk, heard)?;
        match self.finish_reason.as_deref() {
            // If there were more information, it would have come as an error object.
            Some("error") => Err(failure::failed(&Value::Null, self.request_id.clone())),
            // Only the usage follows an answer that was cut off, and it is not needed.
            Some("length" | "content_filter") => self.finish(heard),
            _ => Ok(()),
        }
    }

    fn end(&mut self, heard: &mut VecDeque<ModelEvent>) {
        if self.finish_reason.is_some() {
            self.finish(heard).expect("answers that were cut short have ended before");
        }
    }

    fn last_event(&self) -> &'static str {
        "[DONE]"
    }

    fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }
}

fn token_counts(usage: &Value) -> TokenCounts {
    let count = |value: &Value| value.as_u64();
    let (input, output) =
        (count(&usage["prompt_tokens"]).unwrap_or(0), count(&usage["completion_tokens"]).unwrap_or(0));
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]).or(count(&usage["prompt_cache_hit_tokens"]));
    TokenCounts {
        input,
        cached_input: cached.unwrap_or(0).min(input),
        cache_write_input: 0,
        output,
        reasoning_output: count(&usage["completion_tokens_details"]["reasoning_tokens"]).unwrap_or(0),
        total: count(&usage["total_tokens"]).unwrap_or_else(|| input.saturating_add(output)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::ErrorKind;
    use crate::provider::config::Wire;
    use crate::provider::{RetryDecision, wire};

    fn read(chunks: &[Value]) -> (Vec<ModelEvent>, Option<ProviderError>) {
        let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        text.push_str("data: [DONE]\n\n");
        wire::stream::tests::read(Wire::Chat, &json!({}), text.as_bytes())
    }

    fn chunk(delta: &Value) -> Value {
        json!({ "id": "c1", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
    }

    fn call(delta: &Value) -> Value {
        chunk(&json!({ "tool_calls": [delta] }))
    }

    fn end(reason: &str) -> Value {
        json!({ "id": "c1", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
    }

    /// Returns the calls of an answer: name, id and arguments.
    fn calls(chunks: &[Value]) -> Vec<(String, String, String)> {
        let (events, error) = read(chunks);
        assert_eq!(error, None);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::ItemDone(item) if item["type"] == "function_call" => {
                    Some((text(&item["name"]), text(&item["call_id"]), text(&item["arguments"])))
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn an_answer_with_everything_is_read() {
        let chunks = [
            chunk(&json!({ "role": "assistant", "content": "" })),
            chunk(&json!({ "reasoning_content": "hm", "reasoning": "hm" })),
            chunk(&json!({ "reasoning_content": ", so" })),
            chunk(&json!({ "content": "\n\n" })),
            chunk(&json!({ "content": "Let me " })),
            chunk(&json!({ "content": "look." })),
            call(
                &json!({ "index": 0, "id": "call_a", "type": "function", "function": { "name": "ls", "arguments": "" } }),
            ),
            call(&json!({ "index": 0, "function": { "arguments": "{\"p\":" } })),
            call(&json!({ "index": 0, "function": { "arguments": "1}" } })),
            end("tool_calls"),
            json!({ "id": "c1", "choices": [], "usage": {
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                "prompt_tokens_details": { "cached_tokens": 4 }, "completion_tokens_details": { "reasoning_tokens": 2 } } }),
        ];
        let (events, error) = read(&chunks);
        assert_eq!(error, None);
        insta::assert_debug_snapshot!(events);
    }

    #[test]
    fn calls_are_told_apart_however_a_server_numbers_them() {
        let whole = |index: &Value, id: &Value, name: &str| {
            call(&json!({ "index": index, "id": id, "function": { "name": name, "arguments": "{}" } }))
        };
        let own = |name: &str, id: &str| (name.to_owned(), id.to_owned(), "{}".to_owned());
        let expected = vec![own("a", "1"), own("b", "2")];
        for (what, chunks) in [
            ("numbered", [whole(&json!(0), &json!("1"), "a"), whole(&json!(1), &json!("2"), "b")]),
            ("one index", [whole(&json!(0), &json!("1"), "a"), whole(&json!(0), &json!("2"), "b")]),
            ("no index", [whole(&json!(null), &json!("1"), "a"), whole(&json!(null), &json!("2"), "b")]),
        ] {
            assert_eq!(calls(&chunks), expected, "{what}");
        }
        for index in [json!(0), json!(null)] {
            let found = calls(&[whole(&index, &json!(""), "a"), whole(&index, &json!(null), "b")]);
            assert_eq!(found.iter().map(|call| call.0.as_str()).collect::<Vec<_>>(), ["a", "b"]);
            assert!(found[0].1.starts_with("call_") && found[0].1 != found[1].1, "{found:?}");
        }
    }

    #[test]
    fn an_id_of_its_own_for_each_piece_makes_no_other_call() {
        for index in [json!(0), json!(null)] {
            let piece = |id: &str, name: &Value, arguments: &str| {
                call(&json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }))
            };
            let nameless = Value::Null;
            let chunks = [
                piece("1", &json!("look"), ""),
                piece("2", &nameless, "{\"a\""),
                piece("3", &nameless, ":1}"),
                piece("4", &json!("see"), "{}"),
            ];
            let expected = [("look", "1", "{\"a\":1}"), ("see", "4", "{}")];
            let expected = expected.map(|(name, id, arguments)| (name.to_owned(), id.to_owned(), arguments.to_owned()));
            assert_eq!(calls(&chunks), expected, "{index}");
        }
    }

    #[test]
    fn names_that_come_again_or_in_pieces_and_arguments_that_are_objects_are_understood() {
        let delta = |name: &str, arguments: &Value| {
            call(&json!({ "index": 0, "id": "1", "function": { "name": name, "arguments": arguments } }))
        };
        let again = [delta("look", &json!("")), delta("look", &json!("{\"a\"")), delta("look", &json!(":1}"))];
        let in_pieces = [delta("lo", &json!("")), delta("ok", &json!("{\"a\":1}"))];
        let object = [delta("look", &json!({ "a": 1 }))];
        for chunks in [&again[..], &in_pieces[..], &object[..]] {
            assert_eq!(calls(chunks), [("look".to_owned(), "1".to_owned(), "{\"a\":1}".to_owned())]);
        }
        let odd = [delta("look", &json!("not json"))];
        assert_eq!(calls(&odd)[0].2, "not json", "whoever is called says what is wrong with it");
    }

    #[test]
    fn an_answer_that_was_cut_short_keeps_what_was_whole() {
        let half = call(&json!({ "index": 1, "id": "2", "function": { "name": "b", "arguments": "{\"a\":" } }));
        let whole = call(&json!({ "index": 0, "id": "1", "function": { "name": "a", "arguments": "{}" } }));
        let (events, error) = read(&[chunk(&json!({ "content": "so" })), whole, half, end("length")]);
        let error = error.expect("it was cut short");
        assert_eq!(
            (error.message.as_str(), error.retry),
            ("the provider cut the answer short: max_output_tokens", RetryDecision::Never)
        );
        let done: Vec<&Value> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::ItemDone(item) => Some(&item["type"]),
                _ => None,
            })
            .collect();
        assert_eq!(done, ["message", "function_call"]);
        assert!(read(&[end("content_filter")]).1.expect("cut short").message.ends_with("content_filter"));
    }

    #[test]
    fn errors_in_the_stream_are_errors() {
        for (event, kind) in [
            (json!({ "error": { "message": "m", "code": 500 } }), ErrorKind::Other),
            (
                json!({ "error": { "message": "m", "type": "exceed_context_size_error" } }),
                ErrorKind::ContextWindowExceeded,
            ),
            (json!({ "object": "error", "message": "m" }), ErrorKind::Other),
            (json!({ "error": "m" }), ErrorKind::Other),
        ] {
            let error = read(&[chunk(&json!({ "content": "a" })), event.clone()]).1.expect("an error");
            assert_eq!((error.message.as_str(), error.kind), ("m", kind), "{event}");
        }
        assert_eq!(read(&[end("error")]).1.expect("an error").kind, ErrorKind::Other);
    }

    #[test]
    fn the_end_is_known_also_without_its_word() {
        let text = |chunks: &[Value]| chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>();
        let (events, error) = wire::stream::tests::read(Wire::Chat, &json!({}), text(&[end("stop")]).as_bytes());
        assert!(error.is_none() && matches!(events.last(), Some(ModelEvent::Completed { .. })), "{events:?}");
        let half = text(&[chunk(&json!({ "content": "a" }))]);
        let (_, error) = wire::stream::tests::read(Wire::Chat, &json!({}), half.as_bytes());
        let details = error.expect("it broke off").details;
        assert_eq!(details.as_deref(), Some("the stream ended before the event `[DONE]`"));
        let (_, error) = wire::stream::tests::read(Wire::Chat, &json!({}), b"data: [DONE]\n\n");
        assert_eq!(error.expect("nothing came").kind, ErrorKind::StreamDisconnected { status: None });
        let (events, error) = read(&[end("stop")]);
        assert_eq!((events.len(), error), (2, None), "an answer may be empty");
    }

    #[test]
    fn usage_has_one_meaning() {
        let counts =
            token_counts(&json!({ "prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 4 }));
        assert_eq!((counts.input, counts.cached_input, counts.output, counts.total), (10, 4, 5, 15));
    }
}
