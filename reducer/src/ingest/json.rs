//! JSON by the rules of the format: keys keep their order, numbers keep their text, and the depth is limited.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::problem::PayloadProblem;

/// Deepest nesting of arrays and objects that a payload may have, as `serde_json` limits it.
pub const MAX_DEPTH: usize = 127;

/// Bytes of compact JSON that a part of an item keeps.
const SUMMARY_BYTES: usize = 240;

/// Returns the compact JSON of a value, cut to [`SUMMARY_BYTES`], and whether the limit fell inside a character, so
/// that the text was cut earlier.
pub(crate) fn summary(value: &Value) -> (Box<str>, bool) {
    let mut text = value.to_string();
    let mut end = SUMMARY_BYTES;
    if text.len() > end {
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("...");
    }
    (text.into(), end < SUMMARY_BYTES)
}

/// Returns the value with sorted keys in all its objects.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        _ => value.clone(),
    }
}

/// Returns whether a JSON text that is nested `outer` levels deep in its document exceeds [`MAX_DEPTH`].
pub(crate) fn too_deep(text: &str, outer: usize) -> bool {
    let limit = MAX_DEPTH - outer;
    // Cheap check first. Brackets inside strings count too, so the count is never too small.
    if memchr::memchr2_iter(b'[', b'{', text.as_bytes()).nth(limit).is_none() {
        return false;
    }
    let mut depth: usize = 0;
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => {
                bytes.next();
            }
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Parses a document. The integer `-0` becomes `0`, as the peer reads it; every other number keeps its text.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, PayloadProblem> {
    let mut value = serde_json::from_slice(bytes).map_err(PayloadProblem::Json)?;
    if memchr::memmem::find(bytes, b"-0").is_some() {
        drop_negative_zeros(&mut value);
    }
    Ok(value)
}

fn drop_negative_zeros(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_str() == "-0" => *value = Value::from(0),
        Value::Array(values) => values.iter_mut().for_each(drop_negative_zeros),
        Value::Object(map) => map.values_mut().for_each(drop_negative_zeros),
        _ => {}
    }
}

/// Checks that bytes are one JSON document. Depth and invalid escapes are not checked, because no rule reads the
/// values.
pub(crate) fn scan(bytes: &[u8]) -> Result<(), PayloadProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| PayloadProblem::Utf8)?;
    serde_json::from_str::<IgnoredAny>(text).map_err(PayloadProblem::Json)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes()).expect("JSON")
    }

    #[test]
    fn summaries_keep_numbers_and_order_and_are_cut_between_characters() {
        assert_eq!(&*summary(&value(r#"{ "b": 1.50, "a": 1E5, "b2": -0.0 }"#)).0, r#"{"b":1.50,"a":1e+5,"b2":-0.0}"#);
        let long = format!("\"{}\"", "é".repeat(200));
        let (cut, moved) = summary(&value(&long));
        assert!(moved);
        assert_eq!(cut.len(), 239 + 3);
        assert!(cut.ends_with("é..."));
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(!too_deep(&nested(MAX_DEPTH), 0));
        assert!(too_deep(&nested(MAX_DEPTH + 1), 0));
        assert!(too_deep(&nested(MAX_DEPTH), 1));
        assert!(!too_deep(&format!("\"\\\"{}\"", nested(500)), 0));
        assert!(!too_deep(&"[],".repeat(500), 0));
    }

    #[test]
    fn only_the_integer_zero_loses_its_sign() {
        let value = parse(br#"[-0, -0.0, {"a": [-0, -0e1, "-0"]}]"#).expect("JSON");
        assert_eq!(value.to_string(), r#"[0,-0.0,{"a":[0,-0e+1,"-0"]}]"#);
    }

    #[test]
    fn a_scan_looks_at_the_form_alone() {
        for text in
            ["{}", " [1] ", "\"\\ud800\"", &"[".repeat(500).chars().chain("]".repeat(500).chars()).collect::<String>()]
        {
            assert!(scan(text.as_bytes()).is_ok(), "{text}");
        }
        for text in [&b""[..], b"{} x", b"\xef\xbb\xbf{}", b"\"\xff\"", b"{}\0"] {
            assert!(scan(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_limit_is_the_parser_s() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH + 1)).is_err());
    }
}
