//! Texts in records, and records that are whole files.

use std::borrow::Cow;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::ImportError;
use crate::records;

/// Longest file that is read as one record.
pub(crate) const MAX_FILE_BYTES: u64 = 2 << 30;

/// A text in a record. It borrows from the record unless the text has escapes, also inside of an `Option`, where a bare `Cow`
/// would always be copied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Reads a file as text. Bytes that are no UTF-8 are replaced.
///
/// # Errors
///
/// Returns an error if the file is no plain file, cannot be read, or is longer than [`MAX_FILE_BYTES`].
pub(crate) fn read_text(path: &Path) -> Result<String, ImportError> {
    let reader = records::open(path).map_err(|source| ImportError::io(path, source))?;
    let mut bytes = Vec::new();
    reader.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|source| ImportError::io(path, source))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ImportError::Damaged { path: path.to_owned(), reason: "it is too long".to_owned() });
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns a JSON text without the spaces that a printer put between its parts. Values keep the digits and escapes that they
/// have.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    // Inside of texts, a line feed is an escape.
    if memchr::memchr(b'\n', json.as_bytes()).is_none() {
        return Cow::Borrowed(json);
    }
    let mut compact = String::with_capacity(json.len());
    let mut is_text = false;
    let mut is_escaped = false;
    for character in json.chars() {
        if is_text || !character.is_ascii_whitespace() {
            compact.push(character);
        }
        is_text ^= character == '"' && !is_escaped;
        is_escaped = is_text && character == '\\' && !is_escaped;
    }
    Cow::Owned(compact)
}

/// Returns whether a JSON value is a string with no other escapes than a text is written with here, so that it need not be read and
/// written again. Some strings are taken for others: those that have a backslash in front of a `u` or a slash.
pub(crate) fn is_written_alike(json: &RawValue) -> bool {
    let json = json.get().as_bytes();
    json.first() == Some(&b'"') && [b"\\u", b"\\/"].iter().all(|other| memchr::memmem::find(json, *other).is_none())
}

/// Returns where a part of a text is in it.
pub(crate) fn range(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.get().len()
}

/// Counts lines of a text up to parts of it that come in their order.
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    /// Begins at the first line.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// Returns the number of the line in which a part begins.
    pub(crate) fn of(&mut self, part: &RawValue) -> u32 {
        let start = range(self.text, part).start;
        if start > self.at {
            let passed = &self.text.as_bytes()[self.at..start];
            self.line = self.line.saturating_add(memchr::memchr_iter(b'\n', passed).count() as u32);
            self.at = start;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Record<'a> {
        #[serde(borrow)]
        one: Option<Text<'a>>,
        #[serde(borrow)]
        two: Option<Text<'a>>,
    }

    #[test]
    fn spaces_of_a_printer_go() {
        let printed = "{\n  \"a b\": [1.50,\n 2],\n  \"c\": \"x \\\" \\\\\",\n  \"d\" : \" y\"\n}";
        assert_eq!(compact(printed), r#"{"a b":[1.50,2],"c":"x \" \\","d":" y"}"#);
        assert!(matches!(compact(r#"{"a": 1}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn strings_that_are_written_alike_stay_as_they_are() {
        let is_alike = |json: &str| is_written_alike(serde_json::from_str(json).expect(json));
        for json in [r#""""#, r#""a\n\t\r\b\f\"\\ \u{e9}\u{7f}""#] {
            let json = json.replace("\\u{e9}", "\u{e9}").replace("\\u{7f}", "\u{7f}");
            assert!(is_alike(&json), "{json}");
            let text: String = serde_json::from_str(&json).expect("a text");
            assert_eq!(serde_json::to_string(&text).expect("writes"), json);
        }
        assert!([r#""\u00e9""#, r#""a\/b""#, "7", "[\"a\"]"].iter().all(|json| !is_alike(json)));
    }

    #[test]
    fn a_text_without_escapes_is_borrowed() {
        let record: Record<'_> = serde_json::from_str(r#"{"one":"plain","two":"a\nb"}"#).expect("is JSON");
        assert!(matches!(record.one, Some(Text(Cow::Borrowed("plain")))));
        assert!(matches!(&record.two, Some(Text(Cow::Owned(text))) if text == "a\nb"));
    }
}
