//! Reads any bytes as a stream of server-sent events, and as a response in each wire format. Nothing may panic. The result
//! must not depend on how the bytes are cut. No event may exceed the limit, and a response must end with exactly one end or
//! error.
#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use trace_runtime::provider::sse::{Decoder, EventTooLarge, ServerSentEvent};
use trace_runtime::provider::wire::AnswerStream;
use trace_runtime::provider::{ModelEvent, ProviderError, Wire};

const LIMIT: usize = 256;

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (VecDeque<ServerSentEvent>, Option<EventTooLarge>) {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = VecDeque::new();
    let mut error = None;
    for piece in pieces {
        error = decoder.push(piece, &mut events).err();
    }
    (events, error)
}

fn hear<'a>(wire: Wire, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Result<ModelEvent, ProviderError>> {
    let request = json!({ "tools": [{ "type": "function", "name": "f" }, { "type": "custom", "name": "c" }] });
    let mut stream = AnswerStream::with_answer_id(wire, &request["tools"], None, "id");
    for piece in pieces {
        stream.push(piece);
    }
    let cut_off = stream.cut_off();
    stream.end(cut_off);
    std::iter::from_fn(|| stream.pop()).collect()
}

fn is_end(heard: &Result<ModelEvent, ProviderError>) -> bool {
    matches!(heard, Err(_) | Ok(ModelEvent::Completed { .. }))
}

fn is_item(heard: &Result<ModelEvent, ProviderError>) -> bool {
    match heard {
        Ok(ModelEvent::ItemAdded(item) | ModelEvent::ItemDone(item)) => {
            item["type"].is_string() && item["id"] != Value::Null
        }
        _ => true,
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((width, stream)) = data.split_first() else { return };
    let whole = decode(std::iter::once(stream));
    assert_eq!(decode(stream.chunks(usize::from(*width).max(1))), whole);
    for event in &whole.0 {
        // An invalid byte is replaced by a character of three bytes.
        assert!(event.data.len() <= 3 * LIMIT && event.name.as_ref().is_none_or(|name| name.len() <= 3 * LIMIT));
    }
    for wire in [Wire::Responses, Wire::Chat, Wire::Anthropic] {
        let answer = hear(wire, std::iter::once(stream));
        assert_eq!(hear(wire, stream.chunks(usize::from(*width).max(1))), answer);
        let (last, rest) = answer.split_last().expect("an answer has an end");
        assert!(is_end(last) && !rest.iter().any(is_end));
        assert!(wire == Wire::Responses || rest.iter().all(is_item));
    }
});
