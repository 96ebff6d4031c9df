//! Converts the spelling of the protocol to that of rollouts: `snake_case` instead of `camelCase`, `file:` URLs instead
//! of paths, and durations as objects with two members.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Converts a word from `camelCase` to `snake_case`.
pub(crate) fn snake(word: &str) -> String {
    let mut spelt = String::with_capacity(word.len() + 4);
    for (position, letter) in word.char_indices() {
        if letter.is_ascii_uppercase() {
            if position > 0 {
                spelt.push('_');
            }
            spelt.push(letter.to_ascii_lowercase());
        } else {
            spelt.push(letter);
        }
    }
    spelt
}

/// Converts a word from `snake_case` to `camelCase`. Other words stay as they are.
pub(crate) fn camel(word: &str) -> String {
    let mut spelt = String::with_capacity(word.len());
    let mut raised = false;
    for (position, letter) in word.char_indices() {
        match letter {
            '_' if position > 0 => raised = true,
            _ if raised => {
                spelt.push(letter.to_ascii_uppercase());
                raised = false;
            }
            _ if position == 0 => spelt.push(letter.to_ascii_lowercase()),
            _ => spelt.push(letter),
        }
    }
    spelt
}

/// Returns a value in which all names of members are spelt with `spell`, also those of nested objects.
pub(crate) fn renamed(value: &Value, spell: fn(&str) -> String) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (spell(name), renamed(value, spell))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(|value| renamed(value, spell)).collect()),
        other => other.clone(),
    }
}

/// Returns whether a byte needs no escape in the path of a URL.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~/!$&'()*+,;=:@".contains(&byte)
}

/// Converts an absolute path to a `file:` URL. A relative path stays as it is.
pub(crate) fn file_url(path: &str) -> String {
    if !Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let mut url = String::with_capacity(path.len() + 8);
    url.push_str("file://");
    for byte in path.bytes() {
        if is_plain(byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// Converts a `file:` URL to a path. Another text stays as it is.
pub(crate) fn path_of(url: &str) -> String {
    let Some(path) = url.strip_prefix("file://") else { return url.to_owned() };
    let bytes = path.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut position = 0;
    while position < bytes.len() {
        let escaped = (bytes[position] == b'%')
            .then(|| path.get(position + 1..position + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                plain.push(byte);
                position += 3;
            }
            None => {
                plain.push(bytes[position]);
                position += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Converts milliseconds to a duration.
pub(crate) fn span(milliseconds: i64) -> Value {
    json!({"secs": milliseconds.div_euclid(1000), "nanos": milliseconds.rem_euclid(1000) * 1_000_000})
}

/// Converts a duration to milliseconds.
pub(crate) fn milliseconds(span: &Value) -> Option<i64> {
    let seconds = span.get("secs")?.as_i64()?;
    let nanos = span.get("nanos").and_then(Value::as_i64).unwrap_or(0);
    seconds.checked_mul(1000)?.checked_add(nanos.div_euclid(1_000_000))
}

/// Returns the text in a member of an object.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// Adds a member to an object if the value is not `None`.
pub(crate) fn put(members: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_conversion() {
        for (messages, rollouts) in [
            ("unifiedExecStartup", "unified_exec_startup"),
            ("agent", "agent"),
            ("inProgress", "in_progress"),
            ("", ""),
        ] {
            assert_eq!(snake(messages), rollouts);
            assert_eq!(camel(rollouts), messages);
            assert_eq!(camel(messages), messages);
        }
        assert_eq!(camel("UserMessage"), "userMessage");
    }

    #[test]
    fn paths_survive_conversion() {
        for path in ["/a/b", "/with space/ü/%41", "relative/100%", "/", "/%", "/a#b?c"] {
            assert_eq!(path_of(&file_url(path)), path);
        }
        assert_eq!(file_url("/with space"), "file:///with%20space");
        assert_eq!(path_of("file:///%zz/%4"), "/%zz/%4");
    }

    #[test]
    fn durations_survive_conversion() {
        for time in [0, 1, 999, 1000, 61_001] {
            assert_eq!(milliseconds(&span(time)), Some(time));
        }
        assert_eq!(milliseconds(&json!({"secs": 0, "nanos": 26470})), Some(0));
        assert_eq!(milliseconds(&json!({"secs": i64::MAX})), None);
        assert_eq!(milliseconds(&json!(7)), None);
    }
}
