//! Writes JSON as Python's standard library does: a space after commas and colons, and only ASCII.
//!
//! The scripted provider uses this form for arguments and for counting tokens, so that a script gives the same result as
//! with stand-ins for model services that are written in Python.

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// Serializes a value.
pub(super) fn write(value: &Value) -> String {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Spaced)).expect("memory takes a JSON value");
    String::from_utf8(text).expect("ASCII is UTF-8")
}

struct Spaced;

fn separate<W: ?Sized + io::Write>(writer: &mut W, first: bool) -> io::Result<()> {
    if first { Ok(()) } else { writer.write_all(b", ") }
}

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for character in fragment.chars() {
            if matches!(character, ' '..='~') {
                writer.write_all(&[character as u8])?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_spaced_and_ascii() {
        let value = json!({"a": [1, 2.5, null, true], "b": {}, "c": [], "d": "ä🦀\"\\\n\t\u{1}\u{7f}"});
        assert_eq!(
            write(&value),
            r#"{"a": [1, 2.5, null, true], "b": {}, "c": [], "d": "\u00e4\ud83e\udd80\"\\\n\t\u0001\u007f"}"#
        );
    }
}
