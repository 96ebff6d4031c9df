//! Makes the document that replaces a payload whose content was dropped.
//!
//! An event needs the payload to which it refers, and readers need the members that they look for in it. So a dropped
//! document is replaced by one of the same shape, its skeleton: short members stay, long texts become a note with their
//! length, and long lists become empty. The member [`DROPPED_MEMBER`] marks the document and has the original size.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::format::PayloadKind;

/// Member that marks a document as a replacement for dropped content: an object with `bytes` and `reason`. It is the first
/// member, so that readers can detect it without parsing the document.
pub const DROPPED_MEMBER: &str = "trace_dropped";

/// Longest JSON text that a skeleton keeps unchanged.
pub const KEPT_VALUE_BYTES: usize = 256;

/// Approximate limit on the size of a skeleton.
pub const SKELETON_BYTES: usize = 8 << 10;

/// Longest text that is kept in an event that is too large.
pub const KEPT_TEXT_BYTES: usize = 64 << 10;

/// Depth up to which a skeleton keeps the members of large objects.
const SKELETON_DEPTH: usize = 4;

/// Returns the skeleton of a document. If the document is not an object or not JSON, the skeleton has only the marker.
pub(crate) fn skeleton(document: &[u8], reason: &str) -> Vec<u8> {
    let note = json!({ "bytes": document.len(), "reason": reason });
    let mut text = format!("{{{}:{note}", json!(DROPPED_MEMBER));
    if let Ok(Members(members)) = serde_json::from_slice(document) {
        write_members(&members, 1, &mut text);
    }
    text.push('}');
    text.into_bytes()
}

/// Returns the smallest document that readers accept for this kind of payload.
pub(crate) fn absent(kind: &PayloadKind<'_>, reason: &str) -> Vec<u8> {
    let note = json!({ "bytes": null, "reason": reason });
    let document = match kind {
        PayloadKind::InferenceRequest => json!({ DROPPED_MEMBER: note, "input": [] }),
        PayloadKind::InferenceResponse => json!({ DROPPED_MEMBER: note, "output_items": [] }),
        PayloadKind::CompactionCheckpoint => {
            json!({ DROPPED_MEMBER: note, "input_history": [], "replacement_history": [] })
        }
        _ => json!({ DROPPED_MEMBER: note }),
    };
    document.to_string().into_bytes()
}

/// Cuts the long texts of an event that is too large.
pub(crate) fn shorten(event: &[u8]) -> Vec<u8> {
    let Ok(mut event) = serde_json::from_slice(event) else { return event.to_owned() };
    shorten_texts(&mut event);
    event.to_string().into_bytes()
}

fn shorten_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > KEPT_TEXT_BYTES => {
            let mut end = KEPT_TEXT_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let cut = text.len() - end;
            text.truncate(end);
            let _ = write!(text, " [dropped: {cut} bytes]");
        }
        Value::Array(values) => values.iter_mut().for_each(shorten_texts),
        Value::Object(members) => members.values_mut().for_each(shorten_texts),
        _ => {}
    }
}

/// Returns whether a document is a replacement for dropped content. Looks only at its first bytes.
pub(crate) fn is_dropped(document: &[u8]) -> bool {
    let member = || -> Option<&[u8]> {
        let inside = document.trim_ascii_start().strip_prefix(b"{")?.trim_ascii_start();
        inside.strip_prefix(b"\"")?.strip_prefix(DROPPED_MEMBER.as_bytes())?.strip_prefix(b"\"")
    };
    member().is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
}

fn write_members(members: &[(Cow<'_, str>, &RawValue)], depth: usize, text: &mut String) {
    for (name, value) in members {
        let name = json!(name).to_string();
        if text.len() + name.len() > SKELETON_BYTES {
            break;
        }
        if !text.ends_with('{') {
            text.push(',');
        }
        text.push_str(&name);
        text.push(':');
        write_value(value.get(), depth, text);
    }
}

fn write_value(value: &str, depth: usize, text: &mut String) {
    if value.len() <= KEPT_VALUE_BYTES {
        text.push_str(value);
        return;
    }
    match value.as_bytes()[0] {
        b'[' => text.push_str("[]"),
        b'{' => {
            text.push('{');
            if let (true, Ok(Members(members))) = (depth < SKELETON_DEPTH, serde_json::from_str(value)) {
                write_members(&members, depth + 1, text);
            }
            text.push('}');
        }
        b'"' => {
            // Writing to a string never fails.
            let _ = write!(text, "\"[dropped: {} bytes]\"", value.len() - 2);
        }
        // A very long number.
        _ => text.push_str("null"),
    }
}

/// The members of an object, not parsed.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<crate::format::Text<'de>>()? {
                    members.push((Cow::Owned(name.as_str().to_owned()), map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(document: &Value) -> Value {
        serde_json::from_slice(&skeleton(document.to_string().as_bytes(), "queue_full")).expect("is JSON")
    }

    #[test]
    fn short_members_stay_and_long_ones_leave_their_shape() {
        let long = "x".repeat(KEPT_VALUE_BYTES);
        let request = json!({ "model": "m", "input": [{ "text": long }], "previous_response_id": "resp_1" });
        let bytes = request.to_string().len();
        let dropped = json!({ "bytes": bytes, "reason": "queue_full" });
        assert_eq!(
            of(&request),
            json!({ "trace_dropped": dropped, "model": "m", "input": [], "previous_response_id": "resp_1" })
        );
        let end =
            json!({ "exit_code": 1, "aggregated_output": long, "inner": { "deep": { "type": "t", "text": long } } });
        let note = format!("[dropped: {KEPT_VALUE_BYTES} bytes]");
        let skeleton = of(&end);
        assert_eq!(skeleton["exit_code"], 1);
        assert_eq!(skeleton["aggregated_output"], note);
        assert_eq!(skeleton["inner"], json!({ "deep": { "type": "t", "text": note } }));
    }

    #[test]
    fn what_was_dropped_is_told_by_its_first_bytes() {
        assert!(is_dropped(&skeleton(br#"{"model":"m"}"#, "queue_full")));
        assert!(is_dropped(&skeleton(b"no JSON", "queue_full")));
        assert!(is_dropped(&absent(&PayloadKind::ToolResult, "not_serializable")));
        assert!(is_dropped(b"\n{ \"trace_dropped\" : {} }"));
        for whole in [&b""[..], b"{", b"{}", b"\"trace_dropped\":", b"[\"trace_dropped\"]", b"{\"trace_dropped_\":1}"] {
            assert!(!is_dropped(whole), "{}", String::from_utf8_lossy(whole));
        }
        assert!(!is_dropped(br#"{"a":{"trace_dropped":{}}}"#));
    }

    #[test]
    fn a_skeleton_is_small_whatever_it_is_made_of() {
        let wide: Value = (0..5000).map(|index| (format!("member {index}"), json!("x".repeat(200)))).collect();
        let deep =
            (0..100).fold(json!("x".repeat(400)), |inner, _| json!({ "inner": inner, "beside": "y".repeat(300) }));
        for document in [wide, deep, json!("x".repeat(100_000)), json!([1, 2, 3])] {
            let text = skeleton(document.to_string().as_bytes(), "queue_full");
            assert!(text.len() < SKELETON_BYTES + 2 * KEPT_VALUE_BYTES, "{} bytes", text.len());
            let value: Value = serde_json::from_slice(&text).expect("is JSON");
            assert!(value[DROPPED_MEMBER]["bytes"].is_u64());
        }
        assert!(serde_json::from_slice::<Value>(&skeleton(b"no JSON", "queue_full")).expect("is JSON").is_object());
        assert!(
            serde_json::from_slice::<Value>(&absent(&PayloadKind::ToolResult, "not_serializable"))
                .expect("is JSON")
                .is_object()
        );
    }
}
