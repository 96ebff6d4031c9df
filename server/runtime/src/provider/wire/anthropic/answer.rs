//! Parses answers in events of the Messages API.
//!
//! Unknown events, blocks and deltas are ignored. Each block becomes an item when it ends, in the order of the ends.
//! Arguments of calls stay as the model wrote them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::REDACTED;
use crate::event::TokenCounts;
use crate::provider::wire::functions::Functions;
use crate::provider::wire::open_text::{OpenText, TextKind};
use crate::provider::wire::reader::Reader;
use crate::provider::wire::responses::PARTS_MAX;
use crate::provider::{ModelEvent, ProviderError, failure};

/// Parses the events of one answer.
#[derive(Debug)]
pub(in crate::provider::wire) struct MessageReader {
    functions: Functions,
    request_id: Option<String>,
    /// Unique part of the ids of this answer.
    answer: String,
    response_id: Option<String>,
    items: usize,
    open: BTreeMap<u64, OpenBlock>,
    stop_reason: Option<String>,
    /// Usage so far. Later values replace earlier ones.
    usage: Map<String, Value>,
}

/// A block that is being streamed.
#[derive(Debug)]
enum OpenBlock {
    Text(OpenText),
    Thinking {
        text: OpenText,
        signature: String,
    },
    Redacted {
        text: OpenText,
        data: String,
    },
    Call {
        own_id: String,
        id: String,
        name: String,
        arguments: String,
        first: Option<Value>,
    },
    /// A block of an unknown kind.
    Unknown,
}

impl MessageReader {
    pub(in crate::provider::wire) fn new(functions: Functions, request_id: Option<String>, answer: &str) -> Self {
        Self {
            functions,
            request_id,
            answer: answer.to_owned(),
            response_id: None,
            items: 0,
            open: BTreeMap::new(),
            stop_reason: None,
            usage: Map::new(),
        }
    }

    fn malformed(&self, kind: &str, what: &str) -> ProviderError {
        failure::broken_off(format!("the event `{kind}` {what}"), self.request_id.clone())
    }

    fn index(&self, kind: &str, event: &Value) -> Result<u64, ProviderError> {
        let index = event["index"].as_u64().filter(|index| *index < PARTS_MAX as u64);
        index.ok_or_else(|| self.malformed(kind, "has an invalid index of a block"))
    }

    fn read_usage(&mut self, usage: &Value) {
        let Some(members) = usage.as_object() else { return };
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            self.usage.insert(name.clone(), value.clone());
        }
    }

    fn start(&mut self, event: &Value, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let kind = "content_block_start";
        let index = self.index(kind, event)?;
        if self.open.contains_key(&index) {
            return Err(self.malformed(kind, "begins a block that is open already"));
        }
        self.items += 1;
        let own_id = format!("{}_{}", self.answer, self.items);
        let block = &event["content_block"];
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let open = match block["type"].as_str() {
            Some("text") => {
                let mut open = OpenText::new(TextKind::Message, &own_id);
                open.grow(text("text"), heard);
                OpenBlock::Text(open)
            }
            Some("thinking") => {
                let mut open = OpenText::new(TextKind::Summary, &own_id);
                open.grow(text("thinking"), heard);
                OpenBlock::Thinking { text: open, signature: text("signature").to_owned() }
            }
            Some("redacted_thinking") => {
                let open = OpenText::new(TextKind::Summary, &own_id);
                OpenBlock::Redacted { text: open, data: text("data").to_owned() }
            }
            Some("tool_use") => OpenBlock::Call {
                own_id,
                id: text("id").to_owned(),
                name: text("name").to_owned(),
                arguments: String::new(),
                // Some services send the arguments here and no deltas.
                first: block.get("input").filter(|input| !input.is_null()).cloned(),
            },
            Some(_) => OpenBlock::Unknown,
            None => return Err(self.malformed(kind, "has no block")),
        };
        self.open.insert(index, open);
        Ok(())
    }

    fn grow(&mut self, event: &Value, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let kind = "content_block_delta";
        let index = self.index(kind, event)?;
        let delta = &event["delta"];
        let more = |name: &str| delta[name].as_str().unwrap_or_default();
        match self.open.get_mut(&index) {
            None => return Err(self.malformed(kind, "is for a block that is not open")),
            Some(OpenBlock::Text(open)) => open.grow(more("text"), heard),
            Some(OpenBlock::Thinking { text, signature }) => {
                text.grow(more("thinking"), heard);
                signature.push_str(more("signature"));
            }
            Some(OpenBlock::Call { arguments, .. }) => arguments.push_str(more("partial_json")),
            Some(OpenBlock::Redacted { .. } | OpenBlock::Unknown) => {}
        }
        Ok(())
    }

    fn stop(&mut self, event: &Value, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let kind = "content_block_stop";
        let index = self.index(kind, event)?;
        match self.open.remove(&index) {
            None => return Err(self.malformed(kind, "is for a block that is not open")),
            Some(block) => self.close(block, heard),
        }
        Ok(())
    }

    fn close(&self, block: OpenBlock, heard: &mut VecDeque<ModelEvent>) {
        match block {
            OpenBlock::Text(open) => open.close(None, heard),
            OpenBlock::Thinking { text, signature } => {
                text.close(Some(signature).filter(|signature| !signature.is_empty()), heard);
            }
            OpenBlock::Redacted { text, data } => text.close(Some(format!("{REDACTED}{data}")), heard),
            OpenBlock::Call { own_id, id, name, arguments, first } => {
                let id = if id.is_empty() { format!("call_{own_id}") } else { id };
                let arguments = match first {
                    _ if !arguments.is_empty() => arguments,
                    Some(first) => first.to_string(),
                    None => "{}".to_owned(),
                };
                heard.push_back(ModelEvent::ItemDone(self.functions.call(&name, &id, arguments, &own_id)));
            }
            OpenBlock::Unknown => {}
        }
    }

    /// Appends the end of the answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the provider ended the answer early.
    fn finish(&mut self, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let cut_short = match self.stop_reason.as_deref() {
            Some("max_tokens") => Some(failure::incomplete(Some("max_output_tokens"), self.request_id.clone())),
            Some("refusal") => Some(failure::incomplete(Some("content_filter"), self.request_id.clone())),
            Some("model_context_window_exceeded") => Some(failure::window_exceeded(self.request_id.clone())),
            _ => None,
        };
        for block in std::mem::take(&mut self.open).into_values() {
            match block {
                // Drop incomplete calls and incomplete redacted blocks: neither can be sent back to the model.
                OpenBlock::Call { .. } | OpenBlock::Redacted { .. } if cut_short.is_some() => {}
                OpenBlock::Thinking { text, .. } if cut_short.is_some() => text.close(None, heard),
                block => self.close(block, heard),
            }
        }
        if let Some(error) = cut_short {
            return Err(error);
        }
        let raw_usage = (!self.usage.is_empty()).then(|| Value::Object(std::mem::take(&mut self.usage)));
        heard.push_back(ModelEvent::Completed {
            response_id: self.response_id.clone(),
            usage: raw_usage.as_ref().map(token_counts),
            raw_usage,
        });
        Ok(())
    }
}

impl Reader for MessageReader {
    fn read(&mut self, name: Option<&str>, data: &str, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        if data.trim().is_empty() || data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|error| {
            failure::broken_off(format!("an event of the answer is not JSON: {error}"), self.request_id.clone())
        })?;
        match event["type"].as_str().or(name).unwrap_or_default() {
            "message_start" => {
                self.read_usage(&event["message"]["usage"]);
                self.response_id = event["message"]["id"].as_str().map(str::to_owned);
                let (response_id, request_id) = (self.response_id.clone(), self.request_id.clone());
                heard.push_back(ModelEvent::Created { response_id, request_id });
                Ok(())
            }
            "content_block_start" => self.start(&event, heard),
            "content_block_delta" => self.grow(&event, heard),
            "content_block_stop" => self.stop(&event, heard),
            "message_delta" => {
                self.read_usage(&event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stop_reason = Some(reason.to_owned());
                }
                Ok(())
            }
            "message_stop" => self.finish(heard),
            "error" => {
                let error = if event["error"].is_object() { &event["error"] } else { &event };
                Err(failure::failed(error, self.request_id.clone()))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, heard: &mut VecDeque<ModelEvent>) {
        // For an answer that was cut off, the reason is only in its final event.
        if matches!(self.stop_reason.as_deref(), Some("end_turn" | "tool_use" | "stop_sequence"))
            && self.open.is_empty()
        {
            self.finish(heard).expect("the reasons are those of whole answers");
        }
    }

    fn last_event(&self) -> &'static str {
        "message_stop"
    }

    fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }
}

/// Returns the usage with the common meaning: tokens that were read from a cache or written to it are part of the input.
fn token_counts(usage: &Value) -> TokenCounts {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let (cached_input, cache_write_input) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let input = count("input_tokens").saturating_add(cached_input).saturating_add(cache_write_input);
    let output = count("output_tokens");
    let thinking = &usage["output_tokens_details"]["thinking_tokens"];
    TokenCounts {
        input,
        cached_input,
        cache_write_input,
        output,
        reasoning_output: thinking.as_u64().unwrap_or(0).min(output),
        total: input.saturating_add(output),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::ErrorKind;
    use crate::provider::config::Wire;
    use crate::provider::{RetryDecision, wire};

    fn read(events: &[Value]) -> (Vec<ModelEvent>, Option<ProviderError>) {
        let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("none"));
        let text: String = events.iter().map(line).collect();
        wire::stream::tests::read(Wire::Anthropic, &json!({}), text.as_bytes())
    }

    fn start() -> Value {
        json!({ "type": "message_start", "message": { "id": "msg_1", "role": "assistant", "content": [],
            "usage": { "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 1 } } })
    }

    fn block(index: u64, block: &Value) -> Value {
        json!({ "type": "content_block_start", "index": index, "content_block": block })
    }

    fn delta(index: u64, delta: &Value) -> Value {
        json!({ "type": "content_block_delta", "index": index, "delta": delta })
    }

    fn stop(index: u64) -> Value {
        json!({ "type": "content_block_stop", "index": index })
    }

    fn end(reason: &str) -> [Value; 2] {
        let usage = json!({ "output_tokens": 7, "input_tokens": null });
        let delta = json!({ "stop_reason": reason, "stop_sequence": null });
        [json!({ "type": "message_delta", "delta": delta, "usage": usage }), json!({ "type": "message_stop" })]
    }

    fn all(events: Vec<Value>, reason: &str) -> Vec<Value> {
        [vec![start()], events, end(reason).to_vec()].concat()
    }

    #[test]
    fn an_answer_with_everything_is_read() {
        let events = all(
            vec![
                json!({ "type": "ping" }),
                block(0, &json!({ "type": "thinking", "thinking": "", "signature": "" })),
                delta(0, &json!({ "type": "thinking_delta", "thinking": "hm" })),
                delta(0, &json!({ "type": "signature_delta", "signature": "c2ln" })),
                stop(0),
                block(1, &json!({ "type": "redacted_thinking", "data": "ZGF0YQ==" })),
                stop(1),
                block(2, &json!({ "type": "text", "text": "" })),
                delta(2, &json!({ "type": "text_delta", "text": "Let me " })),
                delta(2, &json!({ "type": "text_delta", "text": "look." })),
                delta(2, &json!({ "type": "citations_delta", "citation": {} })),
                stop(2),
                block(3, &json!({ "type": "tool_use", "id": "toolu_1", "name": "ls", "input": {} })),
                delta(3, &json!({ "type": "input_json_delta", "partial_json": "" })),
                delta(3, &json!({ "type": "input_json_delta", "partial_json": "{\"p\":" })),
                delta(3, &json!({ "type": "input_json_delta", "partial_json": " 1}" })),
                stop(3),
                block(4, &json!({ "type": "novelty" })),
                delta(4, &json!({ "type": "novel_delta" })),
                stop(4),
                block(5, &json!({ "type": "thinking", "thinking": "", "signature": "b21pdHRlZA==" })),
                stop(5),
            ],
            "tool_use",
        );
        let (events, error) = read(&events);
        assert_eq!(error, None);
        insta::assert_debug_snapshot!(events);
    }

    #[test]
    fn arguments_come_in_pieces_or_at_once_or_not_at_all() {
        let arguments = |events: Vec<Value>| {
            let (events, error) = read(&all(events, "tool_use"));
            assert_eq!(error, None);
            let Some(ModelEvent::ItemDone(item)) = events.get(1) else { panic!("no call: {events:?}") };
            item["arguments"].as_str().expect("a text").to_owned()
        };
        let call = |input: &Value| block(0, &json!({ "type": "tool_use", "id": "1", "name": "f", "input": input }));
        let piece = delta(0, &json!({ "type": "input_json_delta", "partial_json": "{broken" }));
        assert_eq!(arguments(vec![call(&json!({})), piece, stop(0)]), "{broken");
        assert_eq!(arguments(vec![call(&json!({ "a": 1 })), stop(0)]), "{\"a\":1}");
        assert_eq!(arguments(vec![call(&json!(null)), stop(0)]), "{}");
    }

    #[test]
    fn events_without_what_they_must_have_break_the_answer_off() {
        for (events, details) in [
            (vec![delta(0, &json!({}))], "the event `content_block_delta` is for a block that is not open"),
            (vec![stop(0)], "the event `content_block_stop` is for a block that is not open"),
            (
                vec![json!({ "type": "content_block_start", "index": 0 })],
                "the event `content_block_start` has no block",
            ),
            (
                vec![json!({ "type": "content_block_start", "index": PARTS_MAX })],
                "the event `content_block_start` has an invalid index of a block",
            ),
            (vec![], "the stream ended before the event `message_stop`"),
        ] {
            let (_, error) = read(&[vec![start()], events].concat());
            let error = error.expect("it broke off");
            assert_eq!((error.details.as_deref(), error.retry), (Some(details), RetryDecision::Stream { after: None }));
        }
    }

    #[test]
    fn an_answer_that_was_cut_short_keeps_what_was_whole() {
        let open_call = block(1, &json!({ "type": "tool_use", "id": "1", "name": "f", "input": {} }));
        let text = block(0, &json!({ "type": "text", "text": "so" }));
        for (reason, kind, message) in [
            ("max_tokens", ErrorKind::Other, "the provider cut the answer short: max_output_tokens"),
            ("refusal", ErrorKind::Other, "the provider cut the answer short: content_filter"),
            (
                "model_context_window_exceeded",
                ErrorKind::ContextWindowExceeded,
                "the answer does not fit into the model's window any more",
            ),
        ] {
            let (events, error) = read(&all(vec![text.clone(), open_call.clone()], reason));
            let error = error.expect("it was cut short");
            assert_eq!((error.message.as_str(), error.kind, error.retry), (message, kind, RetryDecision::Never));
            let done = events.iter().filter(|event| matches!(event, ModelEvent::ItemDone(_))).count();
            assert_eq!(done, 1, "{events:?}");
        }
    }

    #[test]
    fn errors_in_the_stream_are_errors() {
        for (kind, expected, retry) in [
            ("overloaded_error", ErrorKind::ServerOverloaded, RetryDecision::Stream { after: None }),
            ("rate_limit_error", ErrorKind::RateLimitExceeded, RetryDecision::Stream { after: None }),
            ("api_error", ErrorKind::Other, RetryDecision::Stream { after: None }),
            ("authentication_error", ErrorKind::Unauthorized, RetryDecision::Never),
            ("invalid_request_error", ErrorKind::BadRequest, RetryDecision::Never),
        ] {
            let event = json!({ "type": "error", "error": { "type": kind, "message": "m" } });
            let error = read(&[start(), event]).1.expect("an error");
            assert_eq!((error.message.as_str(), error.kind, error.retry), ("m", expected, retry), "{kind}");
        }
    }

    #[test]
    fn the_end_is_known_also_without_its_word() {
        let [delta, _] = end("end_turn");
        let (events, error) = read(&[start(), delta]);
        assert!(error.is_none() && matches!(events.last(), Some(ModelEvent::Completed { .. })), "{events:?}");
    }

    #[test]
    fn usage_has_one_meaning() {
        let (events, _) = read(&all(vec![], "end_turn"));
        let Some(ModelEvent::Completed { usage: Some(usage), raw_usage: Some(raw), .. }) = events.last() else {
            panic!()
        };
        let expected = TokenCounts {
            input: 60,
            cached_input: 30,
            cache_write_input: 20,
            output: 7,
            reasoning_output: 0,
            total: 67,
        };
        assert_eq!(*usage, expected);
        assert_eq!((&raw["input_tokens"], &raw["output_tokens"]), (&json!(10), &json!(7)));
    }
}
