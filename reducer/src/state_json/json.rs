//! Writes JSON in the layout of the Codex CLI, through a buffer.

use std::io::{self, Write};

/// Layout of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Indented, as the peer writes it.
    #[default]
    Pretty,
    /// Without any white space. The same document, unlike the compact form.
    Compact,
}

/// Bytes that are buffered before they are written out.
const FLUSH_BYTES: usize = 1 << 16;

/// A JSON document that is being written.
pub(super) struct Json<'o> {
    /// Written to in blocks, so that it costs nothing that its type is not known here, and the writer is compiled once.
    out: &'o mut dyn Write,
    pub(super) buffer: Vec<u8>,
    style: Style,
    depth: usize,
    /// Whether the next element or key is the first one in its brackets.
    pub(super) is_first: bool,
}

impl<'o> Json<'o> {
    pub(super) fn new(out: &'o mut dyn Write, style: Style) -> Self {
        Self { out, buffer: Vec::new(), style, depth: 0, is_first: true }
    }

    /// Writes the rest of the buffer, and flushes the output.
    pub(super) fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.out.flush()
    }

    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FLUSH_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    pub(super) fn open(&mut self, bracket: u8) {
        self.buffer.push(bracket);
        self.depth += 1;
        self.is_first = true;
    }

    pub(super) fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        if !self.is_first {
            self.line();
        }
        self.buffer.push(bracket);
        self.is_first = false;
    }

    fn line(&mut self) {
        if self.style == Style::Pretty {
            self.buffer.push(b'\n');
            self.buffer.resize(self.buffer.len() + 2 * self.depth, b' ');
        }
    }

    /// Starts an element of an array.
    pub(super) fn element(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.buffer.push(b',');
        }
        self.line();
    }

    /// Starts a member with any key.
    pub(super) fn key(&mut self, key: &str) {
        self.element();
        self.string(key);
        self.colon();
    }

    /// Starts a member with a name of the format, in which nothing has to be escaped.
    pub(super) fn name(&mut self, name: &str) {
        self.element();
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(name.as_bytes());
        self.buffer.push(b'"');
        self.colon();
    }

    fn colon(&mut self) {
        self.buffer.extend_from_slice(if self.style == Style::Pretty { b": " } else { b":" });
    }

    /// Writes a value that is valid JSON in the layout of the document. Strings and numbers keep their spelling.
    pub(super) fn value(&mut self, value: &str) -> io::Result<()> {
        let bytes = value.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            let end = match byte {
                b'{' | b'[' => {
                    self.begin(byte, &bytes[at + 1..]);
                    at + 1
                }
                b'}' | b']' => {
                    self.close(byte);
                    at + 1
                }
                b',' => {
                    self.element();
                    at + 1
                }
                b':' => {
                    self.colon();
                    at + 1
                }
                b' ' | b'\n' | b'\r' | b'\t' => at + 1,
                _ => {
                    let end = at + token_len(&bytes[at..]);
                    self.buffer.extend_from_slice(&bytes[at..end]);
                    end
                }
            };
            at = end;
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Opens a bracket of a value, and starts its first element unless what follows closes it.
    fn begin(&mut self, bracket: u8, following: &[u8]) {
        self.open(bracket);
        let next = following.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(next, Some(b'}' | b']')) {
            self.element();
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        serde_json::to_writer(&mut self.buffer, text).expect("writing a string to memory does not fail");
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) {
        write!(self.buffer, "{number}").expect("writing a number to memory does not fail");
    }

    pub(super) fn literal(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }
}

/// Returns the length of the string, number or literal at the beginning of `bytes`.
fn token_len(bytes: &[u8]) -> usize {
    if bytes.first() != Some(&b'"') {
        let is_end = |byte: &u8| matches!(byte, b',' | b':' | b']' | b'}') || byte.is_ascii_whitespace();
        return bytes.iter().position(is_end).unwrap_or(bytes.len());
    }
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_gets_the_layout_of_the_document() {
        let spelt = r#" {"a" : [1, -2.50e+3 ,{ } ,[ ], "x\"]:,{\\"],"b":{"c":null, "d":[true]} } "#;
        let value: serde_json::Value = serde_json::from_str(spelt).expect("JSON");
        for style in [Style::Pretty, Style::Compact] {
            let mut written = Vec::new();
            let mut json = Json::new(&mut written, style);
            json.value(spelt).expect("memory does not fail");
            let expected = match style {
                Style::Pretty => serde_json::to_string_pretty(&value),
                Style::Compact => serde_json::to_string(&value),
            };
            json.finish().expect("memory does not fail");
            let written = String::from_utf8(written).expect("UTF-8");
            assert_eq!(written, expected.expect("JSON"), "{style:?}");
        }
    }
}
