//! Parses server-sent events from bytes that arrive in pieces.
//!
//! However the bytes are split, the events are the same, and so is the error for an event that is too large. Every byte is
//! read once, and at most one event is buffered. Invalid UTF-8 is replaced, as browsers do. Data after the last blank line
//! is not an event: a stream that ends there was cut off.
//!
//! The fields `id` and `retry` are ignored, because the answer of a model cannot be resumed.

use std::collections::VecDeque;
use std::mem;

use memchr::{memchr, memchr2};

/// Most bytes of one event, including the names of its fields. The last event of an answer repeats the whole answer.
pub const EVENT_BYTES_MAX: usize = 16 << 20;

/// Byte order mark at the start of a stream; it is ignored.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// Name of the event. `None` if the stream gives none.
    pub name: Option<String>,
    /// Data of the event. Several data lines are joined by line feeds.
    pub data: String,
}

/// An event exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event has more than {limit} bytes")]
pub struct EventTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Parses events from bytes.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    /// Whether the next byte, if it is a line feed, belongs to a line end that was processed already.
    after_carriage_return: bool,
    is_first_line: bool,
    name: Option<String>,
    data: Option<String>,
    /// Number of bytes in the lines of the current event.
    event_bytes: usize,
    failed: Option<EventTooLarge>,
}

impl Decoder {
    /// Returns a decoder for a new stream whose events have at most `limit` bytes each.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_carriage_return: false,
            is_first_line: true,
            name: None,
            data: None,
            event_bytes: 0,
            failed: None,
        }
    }

    /// Parses the next bytes and appends the completed events to `events`.
    ///
    /// # Errors
    ///
    /// Returns an error if an event is too large. The events before it were appended; nothing follows it.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<ServerSentEvent>) -> Result<(), EventTooLarge> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        while !bytes.is_empty() {
            if mem::take(&mut self.after_carriage_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr2(b'\r', b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.event_bytes = self.event_bytes.saturating_add(piece.len());
            if self.event_bytes > self.limit {
                let error = EventTooLarge { limit: self.limit };
                (self.line, self.data, self.failed) = (Vec::new(), None, Some(error));
                return Err(error);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_carriage_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.take_line(events);
        }
        Ok(())
    }

    fn take_line(&mut self, events: &mut VecDeque<ServerSentEvent>) {
        let mut line = self.line.as_slice();
        if mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            self.event_bytes = 0;
            let name = self.name.take();
            if let Some(data) = self.data.take() {
                events.push_back(ServerSentEvent { name, data });
            }
        } else {
            let colon = memchr(b':', line).unwrap_or(line.len());
            let value = line.get(colon + 1..).unwrap_or_default();
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            match &line[..colon] {
                b"data" => match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&value);
                    }
                    None => self.data = Some(value.into_owned()),
                },
                b"event" => self.name = Some(value.into_owned()).filter(|name| !name.is_empty()),
                // A comment. It resets the size, so that a stream of comments does not count as one large event.
                b"" if self.data.is_none() && self.name.is_none() => self.event_bytes = 0,
                _ => {}
            }
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
        limit: usize,
    ) -> (Vec<ServerSentEvent>, Option<EventTooLarge>) {
        let mut decoder = Decoder::new(limit);
        let mut events = VecDeque::new();
        let mut error = None;
        for piece in pieces {
            if let Err(found) = decoder.push(piece, &mut events) {
                error = Some(found);
            }
        }
        (events.into(), error)
    }

    fn whole(text: &str) -> Vec<(Option<String>, String)> {
        let (events, error) = decode([text.as_bytes()], EVENT_BYTES_MAX);
        assert_eq!(error, None);
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn event(name: Option<&str>, data: &str) -> (Option<String>, String) {
        (name.map(str::to_owned), data.to_owned())
    }

    #[test]
    fn events_have_names_and_data_with_any_line_end() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["event: first", "data: one", "data:two", "data:  three", "", "data", "", ""].join(end);
            assert_eq!(whole(&text), [event(Some("first"), "one\ntwo\n three"), event(None, "")], "{end:?}");
        }
    }

    #[test]
    fn comments_other_fields_and_a_byte_order_mark_are_passed_over() {
        assert_eq!(
            whole("\u{feff}data: a\n: still here\nid: 7\nretry: 3\nfoo\n\n:\n\n"),
            [event(None, "a")],
            "the mark hides no field"
        );
        assert_eq!(whole("\u{feff}\u{feff}data: a\n\n"), [], "only one mark counts");
    }

    #[test]
    fn a_name_without_data_is_no_event_and_is_forgotten() {
        assert_eq!(whole("event: lost\n\ndata: x\n\n"), [event(None, "x")]);
        assert_eq!(whole("event: a\nevent:\ndata: x\n\n"), [event(None, "x")]);
    }

    #[test]
    fn what_follows_the_last_blank_line_is_no_event() {
        assert_eq!(whole("data: whole\n\ndata: cut off\n"), [event(None, "whole")]);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let (events, _) = decode([b"data: a\xff\xc3\n\n".as_slice()], 100);
        assert_eq!(events[0].data, "a\u{fffd}\u{fffd}");
    }

    #[test]
    fn an_event_that_is_too_large_ends_the_stream_behind_those_before_it() {
        let text = b"data: 12345\n\ndata: 123456\n\ndata: 1\n\n";
        let (events, error) = decode([text.as_slice()], 11);
        assert_eq!(events.len(), 1);
        assert_eq!(error, Some(EventTooLarge { limit: 11 }));
        let (events, error) = decode([b"data: 123\ndata: 4".as_slice()], 11);
        assert_eq!((events.len(), error), (0, Some(EventTooLarge { limit: 11 })), "lines of one event count together");
    }

    #[test]
    fn comments_between_events_do_not_add_up() {
        let text = b": keep\n".repeat(50);
        assert_eq!(decode([text.as_slice()], 10), (vec![], None));
    }

    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data".to_vec()),
            Just(b"event".to_vec()),
            Just(b":".to_vec()),
            Just(b" ".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(BYTE_ORDER_MARK.to_vec()),
            Just("ä🦀".as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 1..6),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_events(
            stream in streams(),
            cuts in prop::collection::vec(0_usize..400, 0..20),
            limit in 0_usize..60,
        ) {
            let expected = decode([stream.as_slice()], limit);
            prop_assert_eq!(decode(stream.chunks(1), limit), expected.clone());
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < stream.len()).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&stream[from..cut]);
                from = cut;
            }
            pieces.push(&stream[from..]);
            prop_assert_eq!(decode(pieces, limit), expected);
        }
    }
}
