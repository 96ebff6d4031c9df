//! Parses an answer from the bytes of its stream, for all wire formats.
//!
//! However the bytes are split, the events are the same. Events before an error come before it. Nothing follows an error or
//! the end of an answer.

use std::collections::VecDeque;

use serde_json::Value;
use uuid::Uuid;

use super::anthropic::MessageReader;
use super::chat::ChunkReader;
use super::functions::Functions;
use super::reader::Reader;
use super::responses::AnswerReader;
use crate::provider::config::Wire;
use crate::provider::failure;
use crate::provider::sse::{Decoder, EVENT_BYTES_MAX};
use crate::provider::{ModelEvent, ProviderError};

/// An answer whose bytes arrive in pieces.
#[derive(Debug)]
pub struct AnswerStream {
    decoder: Decoder,
    reader: Box<dyn Reader>,
    heard: VecDeque<ModelEvent>,
    error: Option<ProviderError>,
    is_over: bool,
}

impl AnswerStream {
    /// Returns a new answer to a request that offered `tools`, given in the format of the Responses API.
    pub fn new(wire: Wire, tools: &Value, request_id: Option<String>) -> Self {
        Self::with_answer_id(wire, tools, request_id, &Uuid::now_v7().to_string())
    }

    /// Returns a new answer. Ids that the wire format lacks are derived from `answer`.
    pub fn with_answer_id(wire: Wire, tools: &Value, request_id: Option<String>, answer: &str) -> Self {
        Self {
            decoder: Decoder::new(EVENT_BYTES_MAX),
            reader: reader(wire, tools, request_id, answer),
            heard: VecDeque::new(),
            error: None,
            is_over: false,
        }
    }

    /// Parses the next bytes. Returns the number of events that they completed, including events without content.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        if self.is_over {
            return 0;
        }
        let mut arrived = VecDeque::new();
        let too_large = self.decoder.push(bytes, &mut arrived).err();
        let count = arrived.len();
        for event in arrived {
            if let Err(error) = self.reader.read(event.name.as_deref(), &event.data, &mut self.heard) {
                self.fail(error);
            }
            self.is_over |= matches!(self.heard.back(), Some(ModelEvent::Completed { .. }));
            if self.is_over {
                return count;
            }
        }
        if let Some(error) = too_large {
            self.fail(failure::broken_off(error.to_string(), self.reader.request_id()));
        }
        count
    }

    /// Handles the end of the bytes. An answer that lacks only its final event is complete; otherwise `problem` is the
    /// error.
    pub fn end(&mut self, problem: ProviderError) {
        if self.is_over {
            return;
        }
        self.reader.end(&mut self.heard);
        match self.heard.back() {
            Some(ModelEvent::Completed { .. }) => self.is_over = true,
            _ => self.fail(problem),
        }
    }

    /// Returns the next event that was not returned yet.
    pub fn pop(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        match self.heard.pop_front() {
            Some(event) => Some(Ok(event)),
            None => self.error.take().map(Err),
        }
    }

    /// Returns the error of a stream that ended early.
    pub fn cut_off(&self) -> ProviderError {
        failure::cut_off(self.reader.last_event(), self.reader.request_id())
    }

    /// Returns the provider's id of the request.
    pub fn request_id(&self) -> Option<String> {
        self.reader.request_id()
    }

    fn fail(&mut self, error: ProviderError) {
        self.error = Some(error);
        self.is_over = true;
    }
}

/// Returns the parser for the answer to a request.
fn reader(wire: Wire, tools: &Value, request_id: Option<String>, answer: &str) -> Box<dyn Reader> {
    match wire {
        Wire::Responses => Box::new(AnswerReader::new(request_id)),
        Wire::Chat => Box::new(ChunkReader::new(Functions::of(tools), request_id, answer)),
        Wire::Anthropic => Box::new(MessageReader::new(Functions::of(tools), request_id, answer)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Returns the events of an answer that arrives in one piece and then ends.
    pub(in crate::provider::wire) fn read(
        wire: Wire,
        request: &Value,
        bytes: &[u8],
    ) -> (Vec<ModelEvent>, Option<ProviderError>) {
        read_pieces(wire, request, [bytes])
    }

    fn read_pieces<'a>(
        wire: Wire,
        request: &Value,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<ModelEvent>, Option<ProviderError>) {
        let mut stream = AnswerStream::with_answer_id(wire, &request["tools"], Some("req".to_owned()), "answer");
        let (mut events, mut error) = (Vec::new(), None);
        let mut take = |stream: &mut AnswerStream| {
            while let Some(heard) = stream.pop() {
                assert!(error.is_none(), "nothing follows an error");
                match heard {
                    Ok(event) => events.push(event),
                    Err(found) => error = Some(found),
                }
            }
        };
        for piece in pieces {
            stream.push(piece);
            take(&mut stream);
        }
        let cut_off = stream.cut_off();
        stream.end(cut_off);
        take(&mut stream);
        assert!(stream.pop().is_none());
        let is_whole = matches!(events.last(), Some(ModelEvent::Completed { .. }));
        assert_eq!(is_whole, error.is_none(), "an answer ends whole or with an error: {events:?}");
        (events, error)
    }

    fn request() -> Value {
        json!({ "tools": [
            { "type": "function", "name": "f" },
            { "type": "custom", "name": "patch" },
            { "type": "namespace", "name": "team", "tools": [{ "type": "function", "name": "ask" }] },
        ] })
    }

    /// Valid events of both wire formats, and some invalid ones.
    fn events(wire: Wire) -> impl Strategy<Value = Value> {
        let text = prop::sample::select(vec!["", " ", "a", "grüße 🦀", "{\"a\":1}", "{\"input\":\"x\"}", "\"", "}"]);
        let name = prop::sample::select(vec!["", "f", "patch", "team__ask", "nobody"]);
        let id = prop::sample::select(vec!["", "1", "2"]);
        let index = prop::option::of(0_u64..3);
        let reason = prop::sample::select(vec!["stop", "end_turn", "length", "max_tokens", "tool_use", "error"]);
        (0_usize..9, text, name, id, index, reason).prop_map(move |(kind, text, name, id, index, reason)| match wire {
            Wire::Anthropic => match kind {
                0 => json!({ "type": "message_start", "message": { "id": id, "usage": { "input_tokens": index } } }),
                1 => json!({ "type": "content_block_start", "index": index, "content_block": { "type": "text", "text": text } }),
                2 => json!({ "type": "content_block_start", "index": index, "content_block": { "type": "thinking", "signature": text } }),
                3 => json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": id, "name": name, "input": {} } }),
                4 => json!({ "type": "content_block_delta", "index": index, "delta": {
                    "text": text, "thinking": text, "signature": text, "partial_json": text } }),
                5 | 6 => json!({ "type": "content_block_stop", "index": index }),
                7 => json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": index } }),
                _ => json!({ "type": "message_stop" }),
            },
            Wire::Responses | Wire::Chat => match kind {
                0 => json!({ "choices": [{ "delta": { "reasoning_content": text } }] }),
                1 | 2 => json!({ "id": id, "choices": [{ "delta": { "content": text } }] }),
                3..=5 => json!({ "choices": [{ "delta": { "tool_calls": [
                    { "index": index, "id": id, "function": { "name": name, "arguments": text } }] } }] }),
                6 => json!({ "choices": [], "usage": { "prompt_tokens": index } }),
                7 => json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }),
                _ => json!({ "error": { "message": text } }),
            },
        })
    }

    fn streams() -> impl Strategy<Value = (Wire, Vec<u8>)> {
        prop::sample::select(vec![Wire::Chat, Wire::Anthropic]).prop_flat_map(|wire| {
            let text = prop::collection::vec(events(wire), 0..12).prop_map(|events| {
                let mut text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
                text.push_str("data: [DONE]\n\n");
                text.into_bytes()
            });
            (Just(wire), text)
        })
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_answer((wire, stream) in streams(), size in 1_usize..40) {
            let whole = read(wire, &request(), &stream);
            prop_assert_eq!(read_pieces(wire, &request(), stream.chunks(1)), whole.clone());
            prop_assert_eq!(read_pieces(wire, &request(), stream.chunks(size)), whole);
        }

        #[test]
        fn a_part_of_an_answer_is_a_beginning_of_it((wire, stream) in streams(), end in 0_usize..2000) {
            let (whole, _) = read(wire, &request(), &stream);
            let (part, error) = read(wire, &request(), &stream[..end.min(stream.len())]);
            // Events that complete an answer that was cut off are not in the whole answer at that position.
            let known = part.iter().zip(&whole).take_while(|(part, whole)| part == whole).count();
            prop_assert!(known == part.len() || error.is_none(), "{:?} {:?}", part, whole);
        }
    }
}
