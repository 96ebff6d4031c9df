//! Reads items of the usual forms without building a JSON value of them.
//!
//! Nearly all items of a session are texts, calls and outputs with a handful of members. Building a value of such an item takes
//! longer than all else that a reduction does with it. An item with any member, value or form that is not expected here is
//! left to the longer way of `normalize.rs`, and both ways give the same result.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use trace_recorder::format::Text;

use super::limits::MAX_VALUES;
use crate::model::{SchemaVersion, Usage};

/// An item with its members as they are written. Repeated and other members are errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainItem<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) tag: Text<'a>,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) role: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) phase: Option<Text<'a>>,
    // No rule reads it.
    #[serde(borrow, default, rename = "name")]
    _name: Option<Text<'a>>,
    /// The entries of a message or of a thought.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) content: Option<&'a RawValue>,
    /// What a tool returned.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) output: Option<&'a RawValue>,
    /// The arguments of a call.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) arguments: Option<&'a RawValue>,
    /// The summary of a thought.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) summary: Option<&'a RawValue>,
    /// A thought that only the provider reads.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) encrypted_content: Option<&'a RawValue>,
}

/// An entry of a message or of a thought. In contrast to a derived form, it cannot be an array.
struct Entry<'a> {
    tag: Text<'a>,
    text: &'a RawValue,
}

impl<'de: 'a, 'a> Deserialize<'de> for Entry<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a type and a text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut tag, mut text) = (None, None);
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let is_repeated = match key.as_str() {
                        "type" => tag.replace(map.next_value()?).is_some(),
                        "text" => text.replace(map.next_value()?).is_some(),
                        _ => true,
                    };
                    if is_repeated {
                        return Err(de::Error::custom("another member"));
                    }
                }
                let (Some(tag), Some(text)) = (tag, text) else { return Err(de::Error::missing_field("text")) };
                Ok(Entry { tag, text })
            }
        }

        deserializer.deserialize_map(EntryVisitor)
    }
}

/// Reads a member that is there even if it is `null`.
pub(super) fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> PlainItem<'a> {
    /// Reads an item. Returns `None` for one that is not of a usual form.
    pub(super) fn read(text: &'a [u8], schema: SchemaVersion) -> Option<Self> {
        // A derived form may also be an array.
        if schema < SchemaVersion::V2 || text.len() > MAX_VALUES || text.first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(text).ok()
    }

    /// Returns how many members the item has whose form depends on its type.
    pub(super) fn member_count(&self) -> usize {
        let members = [self.content, self.output, self.arguments, self.summary, self.encrypted_content];
        members.iter().flatten().count()
    }
}

/// Returns the texts of a list of entries with these types. Returns `None` if the value is anything else than such a list.
pub(super) fn texts(list: &RawValue, tags: &[&str]) -> Option<Vec<Box<str>>> {
    let entries: Vec<Entry<'_>> = serde_json::from_str(list.get()).ok()?;
    entries.iter().map(|entry| tags.contains(&entry.tag.as_str()).then(|| string(entry.text))?).collect()
}

/// Most members of an object that [`is_compact`] looks at.
const MAX_MEMBERS: usize = 16;

/// Returns whether a text is a JSON object whose values are no lists and objects, and which would be written just so. Some objects of
/// which that is true are taken for others.
pub(super) fn is_compact(text: &str) -> bool {
    struct Length;

    impl<'de> Visitor<'de> for Length {
        type Value = usize;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
            let mut names: Vec<&str> = Vec::with_capacity(MAX_MEMBERS);
            let mut length = "{}".len();
            while let Some(name) = map.next_key::<&'de str>()? {
                let value: &'de RawValue = map.next_value()?;
                // The JSON library has names that begin so for numbers and texts of its own.
                let is_odd = name.starts_with('$') || names.contains(&name);
                if names.len() == MAX_MEMBERS || is_odd || !is_written_alike(value.get()) {
                    return Err(de::Error::custom("another member"));
                }
                length += usize::from(!names.is_empty()) + name.len() + "\"\":".len() + value.get().len();
                names.push(name);
            }
            Ok(length)
        }
    }

    let mut parser = serde_json::Deserializer::from_str(text);
    let length = parser.deserialize_map(Length).and_then(|length| parser.end().map(|()| length));
    length.is_ok_and(|length| length == text.len())
}

/// Returns whether a value is written as it stands: a number from 0 without a fraction, a word, or a string without escapes of
/// characters that need none.
fn is_written_alike(value: &str) -> bool {
    match value.as_bytes() {
        [b'"', string @ ..] => {
            ["\\u", "\\/"].iter().all(|other| memchr::memmem::find(string, other.as_bytes()).is_none())
        }
        b"true" | b"false" | b"null" => true,
        other => other.iter().all(u8::is_ascii_digit),
    }
}

/// Reads the token counts of a response. Returns `None` if they have another member, or a count that is not a number from 0.
pub(super) fn usage(usage: &RawValue) -> Option<Usage> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Counts {
        input_tokens: u64,
        cached_input_tokens: u64,
        #[serde(default)]
        cache_write_input_tokens: u64,
        output_tokens: u64,
        reasoning_output_tokens: u64,
        #[serde(rename = "total_tokens", default)]
        _total_tokens: u64,
    }
    if !usage.get().starts_with('{') {
        return None;
    }
    let counts: Counts = serde_json::from_str(usage.get()).ok()?;
    let usage = Usage {
        input_tokens: counts.input_tokens,
        cached_input_tokens: counts.cached_input_tokens,
        cache_write_input_tokens: counts.cache_write_input_tokens,
        output_tokens: counts.output_tokens,
        reasoning_output_tokens: counts.reasoning_output_tokens,
    };
    // A larger number is no count.
    let is_count = |count: u64| i64::try_from(count).is_ok();
    let counts = [usage.input_tokens, usage.cached_input_tokens, usage.cache_write_input_tokens, usage.output_tokens];
    (counts.into_iter().all(is_count) && is_count(usage.reasoning_output_tokens)).then_some(usage)
}

/// Returns the text of a JSON string, or `None` for any other value and for a string that is not valid.
pub(super) fn string(raw: &RawValue) -> Option<Box<str>> {
    let mut rest = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    let Some(mut at) = memchr::memchr(b'\\', rest.as_bytes()) else { return Some(rest.into()) };
    let mut text = String::with_capacity(rest.len());
    loop {
        text.push_str(&rest[..at]);
        text.push(match rest.as_bytes().get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            escaped @ (b'"' | b'\\' | b'/') => char::from(*escaped),
            // The number of a character.
            _ => return serde_json::from_str(raw.get()).ok(),
        });
        rest = &rest[at + 2..];
        match memchr::memchr(b'\\', rest.as_bytes()) {
            Some(next) => at = next,
            None => break,
        }
    }
    text.push_str(rest);
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_read_as_the_parser_reads_them() {
        for text in [
            r#""""#,
            r#""plain""#,
            r#""a\nb\t\r\b\f\"\\\/c""#,
            r#""\u00e9 \ud83d\ude00 \u001b""#,
            r#""\\u0041\\""#,
            r#""\ud800""#,
            "7",
            "null",
            "[\"a\"]",
        ] {
            let raw: &RawValue = serde_json::from_str(text).expect(text);
            assert_eq!(string(raw), serde_json::from_str(text).ok(), "{text}");
        }
    }

    #[test]
    fn a_compact_object_is_its_own_summary() {
        let compact = [r#"{}"#, r#"{"a":1}"#, r#"{"a":"x\n\"é","b":true,"c":null,"d":40}"#];
        for text in compact {
            let value: serde_json::Value = serde_json::from_str(text).expect(text);
            assert_eq!((is_compact(text), value.to_string().as_str()), (true, text));
        }
        let others = [
            r#"{ }"#,
            r#"{"a": 1}"#,
            r#" {"a":1}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":-0}"#,
            r#"{"a":1e5}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":"\u00e9"}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a\n":1}"#,
            r#"{"a":1}{"#,
            r#"{"a":01}"#,
            r#"{"$serde_json::private::Number":"1"}"#,
            "[1]",
            "7",
            "",
        ];
        for text in others {
            assert!(!is_compact(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_string_is_read_back(text in any::<String>()) {
            let raw = serde_json::value::to_raw_value(&text).expect("writes");
            prop_assert_eq!(string(&raw), Some(text.into()));
        }
    }
}
