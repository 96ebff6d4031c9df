//! Hashes of messages, as the program makes them: SHA-256 of the compact JSON text with sorted keys.

use std::fmt::Write;
use std::ops::Range;

use sha2::{Digest, Sha256};

/// Deepest nesting that is read. Deeper values have no hash.
const MAX_DEPTH: usize = 128;

/// Returns the hash of a message that consists of the role and these blocks, each of which is valid JSON.
pub(crate) fn message_hash<'a>(role: &str, blocks: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut text = b"{\"content\":[".to_vec();
    for (index, block) in blocks.into_iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        canonical(block, &mut text)?;
    }
    text.extend_from_slice(b"],\"role\":");
    serde_json::to_writer(&mut text, role).ok()?;
    text.push(b'}');
    Some(hex(&Sha256::digest(&text)))
}

/// Returns a text block as JSON.
pub(crate) fn text_block(text: &str) -> String {
    serde_json::json!({"text": text, "type": "text"}).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Appends the canonical form of a valid JSON text. Returns `None` if it is nested too deeply.
fn canonical(json: &str, out: &mut Vec<u8>) -> Option<()> {
    let mut scanner = Scanner { json: json.as_bytes(), at: 0 };
    scanner.value(out, 0)
}

struct Scanner<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&mut self) -> Option<u8> {
        while self.json.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.json.get(self.at).copied()
    }

    fn value(&mut self, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(out, depth),
            b'[' => self.array(out, depth),
            b'"' => {
                let text = self.string()?;
                push_string(text, out)
            }
            _ => {
                let start = self.at;
                while self.json.get(self.at).is_some_and(|byte| !b",]} \n\r\t".contains(byte)) {
                    self.at += 1;
                }
                if self.at == start {
                    return None;
                }
                out.extend_from_slice(&self.json[start..self.at]);
                Some(())
            }
        }
    }

    /// Returns the text of a string with its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.at += 1;
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.json.get(self.at..)?)?;
            self.at += found;
            if self.json[self.at] == b'"' {
                self.at += 1;
                return Some(&self.json[start..self.at]);
            }
            self.at += 2;
        }
    }

    fn array(&mut self, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        self.at += 1;
        out.push(b'[');
        if self.peek()? == b']' {
            self.at += 1;
            out.push(b']');
            return Some(());
        }
        loop {
            self.value(out, depth + 1)?;
            let separator = self.peek()?;
            self.at += 1;
            out.push(separator);
            if separator != b',' {
                return Some(());
            }
        }
    }

    /// Writes the members in the order of the text, and sorts what was written.
    fn object(&mut self, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        self.at += 1;
        out.push(b'{');
        let start = out.len();
        let mut members: Vec<(&'a [u8], Range<usize>)> = Vec::new();
        let mut is_sorted = true;
        while self.peek()? != b'}' {
            if !members.is_empty() {
                self.at += 1;
                self.peek()?;
            }
            let from = out.len();
            let key = self.string()?;
            push_string(key, out)?;
            self.peek()?;
            self.at += 1;
            out.push(b':');
            self.value(out, depth + 1)?;
            let key = &key[1..key.len() - 1];
            is_sorted = is_sorted && members.last().is_none_or(|(last, _)| *last < key);
            members.push((key, from..out.len()));
            // The place of the comma. The last one becomes the brace.
            out.push(b',');
        }
        self.at += 1;
        if members.is_empty() {
            out.push(b'}');
            return Some(());
        }
        if !is_sorted {
            members.sort_by_key(|(key, _)| *key);
            let written = out.split_off(start);
            for (_, range) in &members {
                out.extend_from_slice(&written[range.start - start..range.end - start]);
                out.push(b',');
            }
        }
        if let Some(last) = out.last_mut() {
            *last = b'}';
        }
        Some(())
    }
}

/// Appends a string in the spelling of `JSON.stringify`. Most have it already.
fn push_string(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let is_plain = memchr::memchr(b'\\', text).is_none() || !has_other_spelling(text);
    if is_plain {
        out.extend_from_slice(text);
        return Some(());
    }
    let decoded: String = serde_json::from_slice(text).ok()?;
    serde_json::to_writer(out, &decoded).ok()
}

fn has_other_spelling(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', text).any(|at| matches!(text.get(at + 1), Some(b'u' | b'/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> Option<String> {
        let mut out = Vec::new();
        canonical(json, &mut out)?;
        Some(String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn keys_are_sorted_and_spaces_go() {
        let json = r#"{ "b" : [1, {"d":null,"c":{}}, []], "a":"x\n\u00e9\/\"" , "aa":1.50 }"#;
        assert_eq!(shown(json).as_deref(), Some(r#"{"a":"x\né/\"","aa":1.50,"b":[1,{"c":{},"d":null},[]]}"#));
        assert_eq!(shown(&"[".repeat(200)), None);
    }

    #[test]
    fn a_message_has_the_hash_of_its_sorted_text() {
        let hash = message_hash("assistant", [r#"{"type":"text","text":"first"}"#]).expect("a hash");
        assert!(hash.starts_with("2aa77d"), "{hash}");
        assert_eq!(message_hash("assistant", [text_block("first").as_str()]), Some(hash));
    }
}
