//! Spans as the dialects see them, whatever the encoding of the file was.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use trace_recorder::format::import::Place;

/// An operation of a trace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// The record of the file that has the span.
    pub(super) place: Place,
    /// Id of the trace, in hexadecimal digits.
    pub(super) trace: String,
    /// Id of the span, in hexadecimal digits.
    pub(super) id: String,
    /// Id of the parent. It may be a span that the file does not have.
    pub(super) parent: Option<String>,
    pub(super) name: String,
    /// Start in nanoseconds since the Unix epoch.
    pub(super) start: Option<u64>,
    /// End in nanoseconds since the Unix epoch.
    pub(super) end: Option<u64>,
    pub(super) attributes: Attributes,
    /// Whether the status is that of an error.
    pub(super) is_error: bool,
    /// The text of the status.
    pub(super) message: String,
    pub(super) events: Vec<SpanEvent>,
}

/// Something that happened during a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanEvent {
    pub(super) name: String,
    pub(super) attributes: Attributes,
}

/// Attributes, sorted by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Attributes(Vec<(String, Value)>);

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Int(i64),
    Double(f64),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    Bytes(Vec<u8>),
    Empty,
}

impl Span {
    /// Returns the text of an attribute, or `None` if it is missing, empty or no text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.text(name)
    }

    /// Returns the first of several attributes that has a text.
    pub(super) fn any_text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    /// Returns the first of several attributes that has a number which is not negative.
    pub(super) fn count(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|name| self.attributes.get(name)?.as_count())
    }

    /// Returns when the span began, in milliseconds since the Unix epoch.
    pub(super) fn start_ms(&self) -> Option<i64> {
        self.start.map(millis)
    }

    /// Returns when the span ended, in milliseconds since the Unix epoch, and no earlier than it began.
    pub(super) fn end_ms(&self) -> Option<i64> {
        self.end.map(|end| millis(end.max(self.start.unwrap_or(0))))
    }

    /// Returns the time by which the span is ordered. A span without a start has the time of its end.
    pub(super) fn order(&self) -> u64 {
        self.start.or(self.end).unwrap_or(0)
    }

    /// Returns why the span failed, or `None` if nothing says that it failed.
    pub(super) fn error(&self) -> Option<&str> {
        let kind = self.text("error.type");
        if !self.is_error && kind.is_none() {
            return None;
        }
        if !self.message.is_empty() {
            return Some(&self.message);
        }
        let exceptions = self.events.iter().filter(|event| event.name == "exception");
        let said = exceptions.rev().find_map(|event| {
            event.attributes.text("exception.message").or_else(|| event.attributes.text("exception.type"))
        });
        Some(said.or(kind).unwrap_or_default())
    }

    /// Returns whether the span was stopped rather than failed.
    pub(super) fn is_cancelled(&self) -> bool {
        let exceptions = self.events.iter().filter(|event| event.name == "exception");
        let mut kinds = exceptions.filter_map(|event| event.attributes.text("exception.type"));
        let is_cancel = |kind: &str| kind.to_ascii_lowercase().contains("cancel");
        self.error().is_some() && (self.text("error.type").is_some_and(is_cancel) || kinds.any(is_cancel))
    }
}

/// Returns a time in milliseconds.
fn millis(nanoseconds: u64) -> i64 {
    (nanoseconds / 1_000_000).cast_signed()
}

impl Attributes {
    /// Returns the value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let index = self.0.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok()?;
        Some(&self.0[index].1)
    }

    /// Returns the text of an attribute, or `None` if it is missing, empty or no text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// Returns an attribute as JSON: a text as it is, and any other value as its JSON text.
    pub(super) fn json(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.get(name)? {
            Value::Empty => None,
            Value::Text(text) => (!text.is_empty()).then_some(Cow::Borrowed(text)),
            other => serde_json::to_string(other).ok().map(Cow::Owned),
        }
    }

    /// Returns the attributes whose names begin with `prefix`, without the prefix.
    pub(super) fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let from = self.0.partition_point(|(name, _)| name.as_str() < prefix);
        self.0[from..].iter().map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value)))
    }

    /// Returns whether an attribute's name begins with `prefix`.
    pub(super) fn has_below(&self, prefix: &str) -> bool {
        self.below(prefix).next().is_some()
    }
}

impl FromIterator<(String, Value)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(attributes: I) -> Self {
        let mut list: Vec<_> = attributes.into_iter().collect();
        // The first of two attributes with one name counts.
        list.sort_by(|(one, _), (other, _)| one.cmp(other));
        list.dedup_by(|(later, _), (earlier, _)| later == earlier);
        Self(list)
    }
}

impl Value {
    /// Returns the text of the value if it is one and not empty.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns a number that is not negative. Some programs write numbers as texts or with a fraction of zero.
    pub(super) fn as_count(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::Double(value) if *value >= 0.0 && *value < 9e15 => Some(*value as u64),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns a number with its sign.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::List(values) => values.serialize(serializer),
            Self::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Self::Bytes(bytes) => bytes.serialize(serializer),
            Self::Empty => serializer.serialize_unit(),
        }
    }
}

/// Returns the id that some bytes are, in hexadecimal digits, or `None` for no bytes and for an id of zeros, which is none.
pub(super) fn id_of_bytes(bytes: &[u8]) -> Option<String> {
    use std::fmt::Write;
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut id = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(id, "{byte:02x}").expect("writing to a string does not fail");
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(list: &[(&str, Value)]) -> Attributes {
        list.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn attributes_are_found_by_name_and_by_prefix() {
        let list = [
            ("b.1", Value::Int(3)),
            ("a", Value::Text("x".into())),
            ("b.0", Value::Text("7".into())),
            ("a", Value::Text("later".into())),
            ("bb", Value::Bool(true)),
        ];
        let attributes = attributes(&list);
        assert_eq!(attributes.text("a"), Some("x"));
        let below: Vec<_> = attributes.below("b.").map(|(name, value)| (name, value.as_count())).collect();
        assert_eq!(below, [("0", Some(7)), ("1", Some(3))]);
        assert_eq!(attributes.json("bb").as_deref(), Some("true"));
        assert_eq!(attributes.json("none"), None);
    }

    #[test]
    fn structured_values_become_json() {
        let value = Value::List(vec![
            Value::Map(vec![("role".into(), Value::Text("user".into())), ("n".into(), Value::Double(1.5))]),
            Value::Empty,
        ]);
        assert_eq!(serde_json::to_string(&value).expect("writes"), r#"[{"role":"user","n":1.5},null]"#);
    }

    #[test]
    fn an_id_of_zeros_is_none() {
        assert_eq!(id_of_bytes(&[0; 8]), None);
        assert_eq!(id_of_bytes(&[]), None);
        assert_eq!(id_of_bytes(&[0, 0xab]).as_deref(), Some("00ab"));
    }
}
