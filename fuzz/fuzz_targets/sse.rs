//! Any bytes as a stream of server-sent events: no panic, the same events however they are cut, and no event above the limit.
#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use trace_runtime::provider::sse::{Decoder, EventTooLarge, ServerSentEvent};

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

fuzz_target!(|data: &[u8]| {
    let Some((width, stream)) = data.split_first() else { return };
    let whole = decode(std::iter::once(stream));
    assert_eq!(decode(stream.chunks(usize::from(*width).max(1))), whole);
    for event in &whole.0 {
        // A byte that is no text is replaced by three.
        assert!(event.data.len() <= 3 * LIMIT && event.name.as_ref().is_none_or(|name| name.len() <= 3 * LIMIT));
    }
});
