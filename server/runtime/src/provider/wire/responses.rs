//! The Responses API, whose format requests and answers already have.
//!
//! Unknown events are ignored. A known event that is malformed ends the answer with an error.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::open_text::{is_of_another_wire, may_be_of_another_wire};
use super::reader::Reader;
use crate::event::TokenCounts;
use crate::provider::{ModelEvent, ProviderError, RequestBody, failure};

/// Most parts of a summary or of reasoning.
pub const PARTS_MAX: usize = 10_000;

/// Returns the body to send if it differs from `body`: reasoning from another wire format is removed, because only that
/// format accepts it, and `max_output_tokens` is added.
pub(super) fn body(body: &RequestBody, max_output_tokens: Option<u64>) -> Option<Value> {
    let has_foreign = body.items().iter().any(|item| may_be_of_another_wire(item) && is_of_another_wire(item));
    if !has_foreign && max_output_tokens.is_none() {
        return None;
    }
    let mut body = body.value().clone();
    if let Some(items) = body.get_mut("input").and_then(Value::as_array_mut) {
        items.retain(|item| !is_of_another_wire(item));
    }
    if let (Some(tokens), Some(members)) = (max_output_tokens, body.as_object_mut()) {
        members.insert("max_output_tokens".to_owned(), json!(tokens));
    }
    Some(body)
}

/// Parses the events of one answer.
#[derive(Debug)]
pub(in crate::provider) struct AnswerReader {
    request_id: Option<String>,
    /// Id of the item for deltas without an item id.
    newest_item: String,
}

impl AnswerReader {
    /// Returns a parser for a new answer.
    pub(in crate::provider) fn new(request_id: Option<String>) -> Self {
        Self { request_id, newest_item: String::new() }
    }

    /// Returns the provider's id of the request.
    pub(in crate::provider) fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// Parses the data of an event. `name` is the event name in the stream, which counts if the data contain none.
    fn read_text(&mut self, name: Option<&str>, data: &str) -> Result<Option<ModelEvent>, ProviderError> {
        // Some services end their streams with a text that is not JSON.
        if data.trim().is_empty() || data.trim() == "[DONE]" {
            return Ok(None);
        }
        match serde_json::from_str(data) {
            Ok(event) => self.read_event(name, event),
            Err(error) => {
                Err(failure::broken_off(format!("an event of the answer is not JSON: {error}"), self.request_id()))
            }
        }
    }

    /// Interprets an event.
    pub(in crate::provider) fn read_event(
        &mut self,
        name: Option<&str>,
        mut event: Value,
    ) -> Result<Option<ModelEvent>, ProviderError> {
        let kind = event.get("type").and_then(Value::as_str).or(name).unwrap_or_default().to_owned();
        Ok(Some(match kind.as_str() {
            "response.created" => {
                ModelEvent::Created { response_id: text(&event["response"]["id"]), request_id: self.request_id() }
            }
            "response.output_item.added" => {
                let item = self.item(&kind, &mut event)?;
                self.newest_item = text(&item["id"]).unwrap_or_default();
                ModelEvent::ItemAdded(item)
            }
            "response.output_item.done" => ModelEvent::ItemDone(self.item(&kind, &mut event)?),
            "response.output_text.delta" => {
                ModelEvent::Text { item_id: self.item_id(&event), delta: self.delta(&kind, &mut event)? }
            }
            "response.reasoning_summary_part.added" => ModelEvent::SummaryPart {
                item_id: self.item_id(&event),
                index: self.index(&kind, &event["summary_index"])?,
            },
            "response.reasoning_summary_text.delta" => ModelEvent::Summary {
                item_id: self.item_id(&event),
                index: self.index(&kind, &event["summary_index"])?,
                delta: self.delta(&kind, &mut event)?,
            },
            "response.reasoning_text.delta" => ModelEvent::Reasoning {
                item_id: self.item_id(&event),
                index: self.index(&kind, &event["content_index"])?,
                delta: self.delta(&kind, &mut event)?,
            },
            "response.completed" => {
                let raw_usage = event.pointer_mut("/response/usage").map(Value::take).filter(Value::is_object);
                ModelEvent::Completed {
                    response_id: text(&event["response"]["id"]),
                    usage: raw_usage.as_ref().map(token_counts),
                    raw_usage,
                }
            }
            "response.failed" => return Err(failure::failed(&event["response"]["error"], self.request_id())),
            "response.incomplete" => {
                let reason = event["response"]["incomplete_details"]["reason"].as_str();
                return Err(failure::incomplete(reason, self.request_id()));
            }
            "error" => {
                let error = if event["error"].is_object() { &event["error"] } else { &event };
                return Err(failure::failed(error, self.request_id()));
            }
            _ => return Ok(None),
        }))
    }

    fn item(&self, kind: &str, event: &mut Value) -> Result<Value, ProviderError> {
        match event.get_mut("item").map(Value::take) {
            Some(item @ Value::Object(_)) => Ok(item),
            _ => Err(self.malformed(kind, "no item")),
        }
    }

    fn item_id(&self, event: &Value) -> String {
        text(&event["item_id"]).unwrap_or_else(|| self.newest_item.clone())
    }

    fn delta(&self, kind: &str, event: &mut Value) -> Result<String, ProviderError> {
        match event.get_mut("delta").map(Value::take) {
            Some(Value::String(delta)) => Ok(delta),
            _ => Err(self.malformed(kind, "no text")),
        }
    }

    fn index(&self, kind: &str, value: &Value) -> Result<usize, ProviderError> {
        match value {
            Value::Null => Ok(0),
            value => value
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .filter(|index| *index < PARTS_MAX)
                .ok_or_else(|| self.malformed(kind, "an invalid index of a part")),
        }
    }

    fn malformed(&self, kind: &str, what: &str) -> ProviderError {
        failure::broken_off(format!("the event `{kind}` has {what}"), self.request_id())
    }
}

impl Reader for AnswerReader {
    fn read(&mut self, name: Option<&str>, data: &str, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        heard.extend(self.read_text(name, data)?);
        Ok(())
    }

    /// An answer is complete only with its final event.
    fn end(&mut self, _heard: &mut VecDeque<ModelEvent>) {}

    fn last_event(&self) -> &'static str {
        "response.completed"
    }

    fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn token_counts(usage: &Value) -> TokenCounts {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let (input, output) = (count(&usage["input_tokens"]), count(&usage["output_tokens"]));
    TokenCounts {
        input,
        cached_input: count(&usage["input_tokens_details"]["cached_tokens"]),
        cache_write_input: count(&usage["input_tokens_details"]["cache_write_tokens"]),
        output,
        reasoning_output: count(&usage["output_tokens_details"]["reasoning_tokens"]),
        total: usage["total_tokens"].as_u64().unwrap_or_else(|| input.saturating_add(output)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::ErrorKind;
    use crate::provider::RetryDecision;

    fn read(event: Value) -> Result<Option<ModelEvent>, ProviderError> {
        AnswerReader::new(Some("req".to_owned())).read_event(None, event)
    }

    #[test]
    fn reasoning_of_other_wires_stays_here() {
        let own = json!({"type": "reasoning", "id": "rs_1"});
        let items =
            json!([own, {"type": "reasoning", "id": "rs_chat_1"}, {"type": "reasoning", "id": "rs_anthropic_1"}]);
        let of = |input: Value| RequestBody::from(json!({ "input": input }));
        assert_eq!(body(&of(items), None), Some(json!({ "input": [own] })));
        assert_eq!(body(&of(json!([own])), None), None);
        assert_eq!(body(&of(json!([own])), Some(5)), Some(json!({ "input": [own], "max_output_tokens": 5 })));
    }

    #[test]
    fn every_known_event_is_read() {
        let mut reader = AnswerReader::new(Some("req".to_owned()));
        let events: Vec<ModelEvent> = [
            json!({"type": "response.created", "response": {"id": "r"}}),
            json!({"type": "response.in_progress"}),
            json!({"type": "response.output_item.added", "item": {"type": "message", "id": "m"}}),
            json!({"type": "response.output_text.delta", "item_id": "m", "delta": "a"}),
            json!({"type": "response.output_text.delta", "delta": "b"}),
            json!({"type": "response.reasoning_summary_part.added", "item_id": "s", "summary_index": 1}),
            json!({"type": "response.reasoning_summary_text.delta", "item_id": "s", "summary_index": 1, "delta": "c"}),
            json!({"type": "response.reasoning_text.delta", "item_id": "s", "content_index": 2, "delta": "d"}),
            json!({"type": "response.output_item.done", "item": {"type": "message", "id": "m"}}),
            json!({"type": "response.completed", "response": {"id": "r", "usage": {
                "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
                "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}}}}),
        ]
        .into_iter()
        .filter_map(|event| reader.read_event(None, event).expect("an event"))
        .collect();
        insta::assert_debug_snapshot!(events);
    }

    #[test]
    fn the_name_of_the_stream_counts_where_the_data_have_none() {
        let mut reader = AnswerReader::new(None);
        let event = reader.read_text(Some("response.created"), r#"{"response":{"id":"r"}}"#).expect("an event");
        assert_eq!(event, Some(ModelEvent::Created { response_id: Some("r".to_owned()), request_id: None }));
        assert_eq!(reader.read_text(None, "[DONE]"), Ok(None));
        assert_eq!(reader.read_text(None, ""), Ok(None));
        let bare = reader.read_text(None, r#"{"type":"response.completed","response":"x"}"#);
        assert_eq!(bare, Ok(Some(ModelEvent::Completed { response_id: None, usage: None, raw_usage: None })));
        for other in ["[]", "12", "null", r#"{"type":7}"#, r#"{"type":"response.novelty"}"#] {
            assert_eq!(reader.read_text(None, other), Ok(None), "{other}");
        }
    }

    #[test]
    fn events_without_what_they_must_have_break_the_answer_off() {
        for event in [
            json!({"type": "response.output_item.added"}),
            json!({"type": "response.output_item.done", "item": "text"}),
            json!({"type": "response.output_text.delta", "item_id": "m"}),
            json!({"type": "response.reasoning_summary_part.added", "summary_index": PARTS_MAX}),
            json!({"type": "response.reasoning_summary_part.added", "summary_index": -1}),
            json!({"type": "response.reasoning_text.delta", "content_index": "x", "delta": "d"}),
        ] {
            let error = read(event.clone()).expect_err("malformed");
            assert_eq!(error.kind, ErrorKind::StreamDisconnected { status: None }, "{event}");
            assert_eq!(error.retry, RetryDecision::Stream { after: None }, "{event}");
            assert_eq!(error.request_id.as_deref(), Some("req"), "{event}");
        }
        assert!(AnswerReader::new(None).read_text(None, "{\"type\":").is_err());
    }

    #[test]
    fn errors_of_all_three_shapes_end_the_answer() {
        for event in [
            json!({"type": "response.failed", "response": {"error": {"code": "insufficient_quota", "message": "m"}}}),
            json!({"type": "error", "code": "insufficient_quota", "message": "m"}),
            json!({"type": "error", "error": {"code": "insufficient_quota", "message": "m"}}),
        ] {
            let error = read(event.clone()).expect_err("an error");
            assert_eq!((error.message.as_str(), error.kind), ("m", ErrorKind::UsageLimitExceeded), "{event}");
        }
        let cut =
            json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}});
        assert_eq!(read(cut).expect_err("an error").message, "the provider cut the answer short: max_output_tokens");
    }
}
