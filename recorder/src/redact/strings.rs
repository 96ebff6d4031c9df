//! The strings of a JSON text, where they are, without building the document.
//!
//! The text need not be valid: every string that is closed is found, and what is after an unclosed quote is left out.

use std::ops::Range;

use memchr::{memchr, memchr2};

/// A string of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonString {
    /// What is between the quotes.
    pub(crate) inner: Range<usize>,
    pub(crate) place: StringPlace,
}

/// What a string is to the strings before it. Ranges are those of the other strings' texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StringPlace {
    /// The key of a member.
    Key,
    /// The value of the member with this key.
    Value {
        key: Range<usize>,
        /// The value of a member `name`, `key` or `variable` before it in the same object.
        name: Option<Range<usize>>,
    },
    /// An element of an array, or a document of its own.
    Element {
        /// The string right before it in the array.
        previous: Option<Range<usize>>,
    },
}

impl StringPlace {
    /// Returns the key that the string is the value of.
    pub(crate) fn key(&self) -> Option<&Range<usize>> {
        match self {
            Self::Value { key, .. } => Some(key),
            Self::Key | Self::Element { .. } => None,
        }
    }
}

/// Goes through the strings of a text in order. Returns where the text after the last closed string begins.
pub(crate) fn for_each_string(text: &[u8], mut visit: impl FnMut(JsonString)) -> usize {
    let mut at = 0;
    let mut key: Option<Range<usize>> = None;
    let mut name: Option<Range<usize>> = None;
    let mut previous: Option<Range<usize>> = None;
    while let Some(quote) = memchr(b'"', &text[at..]).map(|quote| at + quote) {
        let gap = text[at..quote].trim_ascii();
        let Some(end) = closing_quote(text, quote + 1) else { break };
        let inner = quote + 1..end;
        if gap.iter().any(|byte| matches!(byte, b'{' | b'}')) {
            name = None;
        }
        let behind = &text[end + 1..];
        let next = behind.iter().find(|byte| !byte.is_ascii_whitespace());
        let place = if gap.last() == Some(&b':') && key.is_some() {
            let key = key.take().unwrap_or_default();
            let is_value = matches!(&text[key.clone()], b"value" | b"val" | b"default");
            let place = StringPlace::Value { name: name.clone().filter(|_| is_value), key: key.clone() };
            if matches!(&text[key], b"name" | b"key" | b"variable" | b"var" | b"Name" | b"Key") {
                name = Some(inner.clone());
            }
            previous = None;
            place
        } else if next == Some(&b':') {
            key = Some(inner.clone());
            previous = None;
            StringPlace::Key
        } else {
            key = None;
            let place = StringPlace::Element { previous: previous.take().filter(|_| gap == b",") };
            previous = Some(inner.clone());
            place
        };
        at = end + 1;
        visit(JsonString { inner, place });
    }
    at
}

fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[found] == b'"' {
            return Some(found);
        }
        at = found + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<String> {
        let mut strings = Vec::new();
        for_each_string(text.as_bytes(), |string| {
            let inner = &text[string.inner];
            strings.push(match string.place {
                StringPlace::Key => format!("key {inner}"),
                StringPlace::Value { key, name: None } => format!("{} = {inner}", &text[key]),
                StringPlace::Value { key, name: Some(name) } => format!("{} of {} = {inner}", &text[key], &text[name]),
                StringPlace::Element { previous: None } => inner.to_owned(),
                StringPlace::Element { previous: Some(previous) } => format!("{} then {inner}", &text[previous]),
            });
        });
        strings
    }

    #[test]
    fn strings_know_their_place() {
        assert_eq!(
            strings(r#"{"a" : "b\"c", "n": 1, "l": ["x","y", 2, "z"], "o": {"name":"N","value":"v"}, "value": "w"}"#),
            [
                "key a",
                r#"a = b\"c"#,
                "key n",
                "key l",
                "x",
                "x then y",
                "z",
                "key o",
                "key name",
                "name = N",
                "key value",
                "value of N = v",
                "key value",
                "value = w"
            ]
        );
        assert_eq!(strings(r#""alone""#), ["alone"]);
    }

    #[test]
    fn broken_texts_give_what_is_closed() {
        assert_eq!(strings(r#"{"a": "b", "c": "d"#), ["key a", "a = b", "key c"]);
        assert_eq!(strings("\"\\"), [""; 0]);
        assert_eq!(strings(r#":"x"}{"y""#), ["x", "y"]);
    }
}
