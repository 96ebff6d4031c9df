//! Lines of rollouts.
//!
//! A line is an object with a time, a type, a payload, and a number (only in threads that are read in pages). Lines of
//! unknown types and unknown members are ignored.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Most bytes of a line that is read. Longer lines are skipped. Messages with images are much smaller.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// The type of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// The metadata of the thread.
    SessionMeta,
    /// The settings of a turn.
    TurnContext,
    /// An item that the model sees.
    ResponseItem,
    /// An event.
    Event,
    /// A compaction, which replaces the history that the model sees.
    Compacted,
    /// An unknown type, which another program or a later version has written.
    Other,
}

impl LineKind {
    fn of(word: &str) -> Self {
        match word {
            "session_meta" => Self::SessionMeta,
            "turn_context" => Self::TurnContext,
            "response_item" => Self::ResponseItem,
            "event_msg" => Self::Event,
            "compacted" => Self::Compacted,
            _ => Self::Other,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::SessionMeta => "session_meta",
            Self::TurnContext => "turn_context",
            Self::ResponseItem => "response_item",
            Self::Event => "event_msg",
            Self::Compacted => "compacted",
            // Such lines are read, but never written.
            Self::Other => "other",
        }
    }
}

/// A line to write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewLine {
    /// The time of the event, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) kind: LineKind,
    pub(crate) payload: Value,
}

#[derive(Serialize)]
struct Written<'a, P> {
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordinal: Option<u64>,
    #[serde(rename = "type")]
    kind: &'a str,
    payload: P,
}

impl<P: Serialize> Written<'_, P> {
    fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is made of JSON values and texts");
        text.push('\n');
        text
    }
}

impl NewLine {
    /// Serializes the line, with its line break.
    pub(crate) fn written(&self, ordinal: Option<u64>) -> String {
        Written { timestamp: stamp(self.at_ms), ordinal, kind: self.kind.word(), payload: &self.payload }.text()
    }
}

/// A line that was read. Its payload is parsed only on demand.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The time of the event, in milliseconds since 1970. `None` if it cannot be parsed.
    pub(crate) at_ms: Option<i64>,
    /// The number of the line.
    pub(crate) ordinal: Option<u64>,
    pub(crate) kind: LineKind,
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(default)]
    ordinal: Option<u64>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
}

impl<'a> Line<'a> {
    /// Parses a line. Returns `None` if it is invalid.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let read: Read<'a> = serde_json::from_str(text).ok()?;
        Some(Self {
            at_ms: time(&read.timestamp),
            ordinal: read.ordinal,
            kind: LineKind::of(&read.kind),
            payload: read.payload,
        })
    }

    /// Parses the payload.
    pub(crate) fn payload(&self) -> Value {
        serde_json::from_str(self.payload.get()).unwrap_or_default()
    }

    /// Serializes the line for another file, with its line break. A line without a time gets `at_ms`. The payload is
    /// copied unchanged, even if it cannot be parsed.
    pub(crate) fn copied(&self, at_ms: i64, ordinal: Option<u64>) -> String {
        let timestamp = stamp(self.at_ms.unwrap_or(at_ms));
        Written { timestamp, ordinal, kind: self.kind.word(), payload: self.payload }.text()
    }

    /// Returns the type of the event or item in the payload.
    pub(crate) fn tag(&self) -> Cow<'a, str> {
        serde_json::from_str::<Tag<'a>>(self.payload.get()).map(|tag| tag.kind).unwrap_or_default()
    }
}

/// Formats a time.
pub(crate) fn stamp(at_ms: i64) -> String {
    let time = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Parses a time into milliseconds since 1970.
pub(crate) fn time(text: &str) -> Option<i64> {
    Some(text.parse::<Timestamp>().ok()?.as_millisecond())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line =
            NewLine { at_ms: 1_795_344_783_728, kind: LineKind::Event, payload: json!({"type": "x", "a": "ü\n"}) };
        let text = line.written(Some(7));
        assert_eq!(
            text,
            "{\"timestamp\":\"2026-11-22T10:53:03.728Z\",\"ordinal\":7,\"type\":\"event_msg\",\
             \"payload\":{\"type\":\"x\",\"a\":\"ü\\n\"}}\n"
        );
        let read = Line::read(&text).unwrap();
        assert_eq!((read.at_ms, read.ordinal, read.kind), (Some(line.at_ms), Some(7), LineKind::Event));
        assert_eq!(read.payload(), line.payload);
        assert_eq!(read.tag(), "x");
        assert!(!line.written(None).contains("ordinal"));
    }

    #[test]
    fn unusual_lines_are_read_and_invalid_ones_are_not() {
        let odd = Line::read(r#"{"payload":[1],"type":"later","more":{},"timestamp":"soon"}"#).unwrap();
        assert_eq!((odd.at_ms, odd.kind), (None, LineKind::Other));
        assert_eq!(odd.tag(), "");
        for broken in ["", "{", "[]", "{\"type\":\"event_msg\"}", "{\"type\":3,\"payload\":{}}", "null"] {
            assert!(Line::read(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn a_copied_line_keeps_unreadable_payloads() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for payload in [deep.as_str(), "{\"n\":1e999}", "{ \"a\" : 1 }"] {
            let text = format!("{{\"type\":\"event_msg\",\"payload\":{payload}}}");
            let copied = Line::read(&text).unwrap().copied(0, Some(3));
            assert!(
                copied.ends_with(&format!("\"ordinal\":3,\"type\":\"event_msg\",\"payload\":{payload}}}\n")),
                "{copied}"
            );
        }
    }

    #[test]
    fn times_of_other_lengths_are_read() {
        assert_eq!(time("2026-11-22T10:53:03.950807353Z"), Some(1_795_344_783_950));
        assert_eq!(time("2026-11-22T10:53:03Z"), Some(1_795_344_783_000));
        assert_eq!(time("yesterday"), None);
        assert_eq!(stamp(i64::MAX), "1970-01-01T00:00:00.000Z");
    }
}
