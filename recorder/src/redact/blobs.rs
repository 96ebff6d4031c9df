//! Base64 in texts: decoded to look for secrets, and encoded again as it was written.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::GeneralPurpose;

use super::headers::LENIENT;

/// Longest run of base64 that is decoded. A longer one is an image or an archive, not a file of settings.
pub const MAX_BASE64_BYTES: usize = 8 << 20;

/// Shortest run of base64 that is decoded.
const MIN_BASE64_BYTES: usize = 24;

/// Shortest line of base64 that is broken over several.
const MIN_LINE_BYTES: usize = 48;

/// A run of base64 that was decoded.
#[derive(Debug)]
pub(crate) struct Blob {
    pub(crate) span: Range<usize>,
    pub(crate) content: Content,
    layout: Layout,
}

/// What a run of base64 holds.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Debug)]
struct Layout {
    is_url_safe: bool,
    is_padded: bool,
    /// Length of a line, and what ends it.
    lines: Option<(usize, &'static str)>,
    /// Whether the run is complete and has no unused bits.
    is_whole: bool,
}

impl Blob {
    /// Encodes another text in the same form. Returns `None` if the run was cut off or has unused bits.
    pub(crate) fn encode(&self, text: &str) -> Option<String> {
        if !self.layout.is_whole {
            return None;
        }
        let alphabet = if self.layout.is_url_safe { &URL_SAFE } else { &STANDARD };
        let config = LENIENT.with_encode_padding(self.layout.is_padded);
        let encoded = GeneralPurpose::new(alphabet, config).encode(text);
        let Some((width, line_end)) = self.layout.lines else { return Some(encoded) };
        let mut wrapped = String::with_capacity(encoded.len() + encoded.len() / width * line_end.len());
        for (index, byte) in encoded.bytes().enumerate() {
            if index > 0 && index % width == 0 {
                wrapped.push_str(line_end);
            }
            wrapped.push(char::from(byte));
        }
        Some(wrapped)
    }
}

/// Finds the runs of base64 in a text that decode to anything.
pub(crate) fn find(text: &str) -> Vec<Blob> {
    let bytes = text.as_bytes();
    let mut blobs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let first = run(bytes, start);
        let mut end = first;
        let mut lines = None;
        if first - start >= MIN_LINE_BYTES {
            (end, lines) = more_lines(bytes, start, first);
        }
        let padding = bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        at = end + padding;
        if end - start >= MIN_BASE64_BYTES && end - start <= MAX_BASE64_BYTES {
            push(text, start..end, padding, lines, &mut blobs);
        }
    }
    blobs
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn run(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|byte| !is_base64(*byte)).map_or(bytes.len(), |length| start + length)
}

/// Follows a run over further lines, all as long as the first but the last.
fn more_lines(bytes: &[u8], start: usize, first: usize) -> (usize, Option<(usize, &'static str)>) {
    let width = first - start;
    let line_end = match &bytes[first..] {
        [b'\n', ..] => "\n",
        [b'\r', b'\n', ..] => "\r\n",
        _ => return (first, None),
    };
    let mut end = first;
    while bytes[end..].starts_with(line_end.as_bytes()) {
        let next = end + line_end.len();
        let next_end = run(bytes, next);
        if next_end == next || next_end - next > width {
            break;
        }
        end = next_end;
        if next_end - next < width {
            break;
        }
    }
    (end, (end > first).then_some((width, line_end)))
}

fn push(text: &str, span: Range<usize>, padding: usize, lines: Option<(usize, &'static str)>, blobs: &mut Vec<Blob>) {
    let written = &text[span.clone()];
    let joined: String;
    let digits = match lines {
        None => written,
        Some(_) => {
            joined = written.split(['\n', '\r']).collect();
            &joined
        }
    };
    let has = |test: fn(&u8) -> bool| digits.as_bytes().iter().any(test);
    // Names, paths and hexadecimal numbers have one case; base64 of as many bytes has both.
    if !has(u8::is_ascii_lowercase) || !has(u8::is_ascii_uppercase) {
        return;
    }
    let is_url_safe = has(|byte| matches!(byte, b'-' | b'_'));
    if is_url_safe && has(|byte| matches!(byte, b'+' | b'/')) {
        return push_pieces(text, span, padding, blobs);
    }
    let whole_length = if digits.len() % 4 == 1 { digits.len() - 1 } else { digits.len() };
    let engine = GeneralPurpose::new(if is_url_safe { &URL_SAFE } else { &STANDARD }, LENIENT);
    let Ok(decoded) = engine.decode(&digits[..whole_length]) else { return };
    let content = content(decoded);
    if is_url_safe && matches!(content, Content::Bytes(_)) {
        // A name with hyphens may be right before it.
        push_pieces(text, span.clone(), padding, blobs);
        if blobs.last().is_some_and(|blob| blob.span.start >= span.start) {
            return;
        }
    }
    let mut blob = Blob {
        span: span.start..span.end + padding,
        layout: Layout { is_url_safe, is_padded: padding > 0, lines, is_whole: false },
        content,
    };
    blob.layout.is_padded |= digits.len() % 4 == 0;
    if let Content::Text(content) = &blob.content {
        blob.layout.is_whole = true;
        blob.layout.is_whole = blob.encode(content).as_deref() == Some(&text[blob.span.clone()]);
    }
    blobs.push(blob);
}

/// Splits a run at hyphens and underscores, which are not in the standard alphabet.
fn push_pieces(text: &str, span: Range<usize>, padding: usize, blobs: &mut Vec<Blob>) {
    let mut start = span.start;
    for piece in text[span.clone()].split(['-', '_']) {
        let end = start + piece.len();
        if piece.len() >= MIN_BASE64_BYTES {
            let is_last = end == span.end;
            push(text, start..end, if is_last { padding } else { 0 }, None, blobs);
        }
        start = end + 1;
    }
}

fn content(decoded: Vec<u8>) -> Content {
    let is_text = |text: &str| !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}'));
    match String::from_utf8(decoded) {
        Ok(text) if is_text(&text) => Content::Text(text),
        Ok(text) => Content::Bytes(text.into_bytes()),
        Err(error) => {
            // The last character may be cut.
            let valid = error.utf8_error().valid_up_to();
            let is_cut = error.utf8_error().error_len().is_none();
            let bytes = error.into_bytes();
            match std::str::from_utf8(&bytes[..valid]) {
                Ok(text) if is_cut && is_text(text) => Content::Text(text.to_owned()),
                _ => Content::Bytes(bytes),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVIRONMENT: &str = "# settings\nNAME=something\nOTHER=another thing?>~\n";

    fn encode(alphabet: &base64::alphabet::Alphabet, padded: bool) -> String {
        GeneralPurpose::new(alphabet, LENIENT.with_encode_padding(padded)).encode(ENVIRONMENT)
    }

    #[test]
    fn every_spelling_is_decoded_and_written_again() {
        for written in
            [encode(&STANDARD, true), encode(&STANDARD, false), encode(&URL_SAFE, true), encode(&URL_SAFE, false)]
        {
            let text = format!("echo {written} | base64 -d");
            let blobs = find(&text);
            assert_eq!(blobs.len(), 1, "{text}");
            assert_eq!(&text[blobs[0].span.clone()], written);
            assert!(matches!(&blobs[0].content, Content::Text(text) if text == ENVIRONMENT));
            assert_eq!(blobs[0].encode(ENVIRONMENT).as_deref(), Some(written.as_str()));
        }
    }

    #[test]
    fn wrapped_lines_are_one_run() {
        let long = ENVIRONMENT.repeat(5);
        let encoded = base64::engine::general_purpose::STANDARD.encode(&long);
        for line_end in ["\n", "\r\n"] {
            let lines: Vec<&str> =
                encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
            let written = lines.join(line_end);
            let text = format!("data:\n{written}\nend of it");
            let blobs = find(&text);
            assert_eq!(&text[blobs[0].span.clone()], written);
            assert_eq!(blobs[0].encode(&long).as_deref(), Some(written.as_str()));
        }
    }

    #[test]
    fn names_and_numbers_are_not_base64() {
        assert!(find("0123456789abcdef0123456789abcdef some_long_name_in_lower_case_letters").is_empty());
        let huge = "aB".repeat(MAX_BASE64_BYTES / 2 + 1);
        assert!(find(&huge).is_empty() && !find(&huge[2..]).is_empty());
    }
}
