//! Cursors: the place at which an answer goes on.
//!
//! A cursor names a place in an order that does not change, such as the time and the id of a session, instead of a number.
//! So it still names the same place after a session was added. It also has a hash of the tool and of its other arguments, because
//! a place in the answer to one question means nothing in that to another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::problem::Problem;

/// Longest cursor that is read, in characters.
pub const MAX_CURSOR_CHARS: usize = 2_000;

/// Arguments that may differ between the calls that one answer takes.
const NOT_ASKED: [&str; 2] = ["cursor", "limit"];

/// Reads and writes the cursors of one call.
#[derive(Debug, Clone, Copy)]
pub struct Cursor {
    question: u64,
}

impl Cursor {
    /// Returns what makes the cursors of a call of `tool` with these arguments.
    pub fn of(tool: &str, arguments: &Map<String, Value>) -> Self {
        let mut asked: Vec<(&String, &Value)> =
            arguments.iter().filter(|(name, _)| !NOT_ASKED.contains(&name.as_str())).collect();
        asked.sort_by_key(|(name, _)| *name);
        let text = serde_json::to_string(&(tool, asked)).unwrap_or_default();
        Self { question: xxh3_64(text.as_bytes()) }
    }

    /// Writes a cursor for a place.
    pub fn write(self, place: &impl Serialize) -> String {
        // A place is made of texts and numbers, which can always be written.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&(self.question, place)).unwrap_or_default())
    }

    /// Reads the place of a cursor.
    ///
    /// # Errors
    ///
    /// Returns a problem if the text is no cursor, or one of another question.
    pub fn read<P: DeserializeOwned>(self, text: &str) -> Result<P, Problem> {
        let bad = || {
            Problem::new("the cursor is not one that this tool gave for these arguments")
                .with_hint("repeat the call without `cursor`, or with the arguments of the call that gave it")
        };
        if text.len() > MAX_CURSOR_CHARS {
            return Err(bad());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| bad())?;
        let (question, place): (u64, Value) = serde_json::from_slice(&bytes).map_err(|_| bad())?;
        if question != self.question {
            return Err(bad());
        }
        serde_json::from_value(place).map_err(|_| bad())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(arguments) => arguments,
            _ => panic!("not an object"),
        }
    }

    #[test]
    fn a_cursor_belongs_to_its_question() {
        let asked = Cursor::of("grep", &arguments(json!({"pattern": "a", "session": "latest"})));
        let cursor = asked.write(&("session", 7));
        let again =
            Cursor::of("grep", &arguments(json!({"session": "latest", "limit": 3, "pattern": "a", "cursor": cursor})));
        assert_eq!(again.read::<(String, u64)>(&cursor), Ok(("session".to_owned(), 7)));
        let other = Cursor::of("grep", &arguments(json!({"session": "latest", "pattern": "b"})));
        other.read::<(String, u64)>(&cursor).expect_err("another pattern");
        Cursor::of("why", &arguments(json!({"pattern": "a", "session": "latest"})))
            .read::<(String, u64)>(&cursor)
            .expect_err("another tool");
        asked.read::<(u64, u64)>(&cursor).expect_err("a place of another form");
    }

    proptest! {
        #[test]
        fn any_text_is_no_cursor(text in ".*") {
            Cursor::of("grep", &Map::new()).read::<(String, u64)>(&text).expect_err("not written by us");
        }
    }

    #[test]
    fn a_long_text_is_no_cursor() {
        let asked = Cursor::of("grep", &Map::new());
        let fitting = "x".repeat(MAX_CURSOR_CHARS / 2);
        assert_eq!(asked.read::<String>(&asked.write(&fitting)), Ok(fitting));
        asked.read::<String>(&asked.write(&"x".repeat(MAX_CURSOR_CHARS))).expect_err("too long");
    }
}
