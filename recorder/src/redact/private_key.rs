//! Private keys between PEM markers, whole or cut off, with real line ends or escaped ones.

use memchr::memmem;

use super::found::{Evidence, Found};
use super::kind::Kind;

const PRIVATE_KEY: Kind = Kind::known("private-key");

/// Longest private key that is looked for behind its first marker.
pub const MAX_PRIVATE_KEY_BYTES: usize = 64 << 10;

/// Fewest characters of base64 that make a key more than an example of one.
const MIN_BODY_BYTES: usize = 40;

/// Shortest line of a key that gives a part of it away on its own.
const MIN_LINE_BYTES: usize = 24;

/// Finds the private keys of a text.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let mut at = 0;
    while let Some(begin) = memmem::find(&text.as_bytes()[at..], b"-----BEGIN ").map(|begin| at + begin) {
        at = begin + 11;
        let rest = &text[at..];
        let Some(marker) = rest.get(..60.min(rest.len())).or_else(|| rest.get(..40)).and_then(label) else { continue };
        let body_start = at + marker;
        let mut limit = text.len().min(body_start + MAX_PRIVATE_KEY_BYTES);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let body = &text[body_start..limit];
        let next = memmem::find(body.as_bytes(), b"-----").unwrap_or(body.len());
        let end = if body[next..].starts_with("-----END ") {
            let label_start = next + 9;
            body[label_start..].find("-----").filter(|length| *length < 60).map(|length| label_start + length + 5)
        } else {
            None
        };
        // Without its end the key goes as far as it looks like one.
        let body_end = end.map_or_else(|| body.bytes().take(next).take_while(is_body_byte).count(), |_| next);
        let lines = lines(&body[..body_end]);
        let identity: String = lines.concat();
        if identity.len() < MIN_BODY_BYTES || super::plausible::distinct(&identity) < 12 {
            continue;
        }
        let mut key = Found::new(begin..body_start + end.unwrap_or(body_end), PRIVATE_KEY, Evidence::Shape);
        key.aliases = lines.iter().filter(|line| line.len() >= MIN_LINE_BYTES).map(|line| (*line).to_owned()).collect();
        key.identity = Some(identity);
        at = key.span.end;
        found.push(key);
    }
}

/// Returns where the label of a private key, and the dashes behind it, end.
fn label(text: &str) -> Option<usize> {
    let end = text.find("-----")?;
    let label = &text[..end];
    let is_label = label.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    (is_label && (label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK"))).then_some(end + 5)
}

fn is_body_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r' | b' ' | b':' | b',' | b'-')
}

/// Splits a body at its line ends, escaped ones too, and leaves out what is not base64.
fn lines(body: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in body.split(['\n', '\r']) {
        let mut start = 0;
        let bytes = line.as_bytes();
        let mut here = 0;
        while here <= bytes.len() {
            let is_break = bytes.get(here).is_none_or(|byte| *byte == b'\\');
            if is_break {
                push_line(&line[start..here], &mut lines);
                // The letter behind backslashes is the escape's.
                while bytes.get(here) == Some(&b'\\') {
                    here += 1;
                }
                if matches!(bytes.get(here), Some(b'n' | b'r' | b't')) {
                    here += 1;
                }
                start = here;
                if here >= bytes.len() {
                    break;
                }
            } else {
                here += 1;
            }
        }
    }
    lines
}

fn push_line<'a>(line: &'a str, lines: &mut Vec<&'a str>) {
    let line = line.trim();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !line.is_empty() && line.bytes().all(is_base64) {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line_end: &str) -> String {
        let lines: Vec<String> = (0..4_u32)
            .map(|line| (0..16_u32).map(|at| format!("{:04x}", (line * 7919 + at * 104_729) & 0xffff)).collect())
            .collect();
        // Pieces, so that no scanner of repositories takes the test for a key.
        format!("-----BEGIN RSA {0}-----{1}{2}{1}-----END RSA {0}-----", "PRIVATE KEY", line_end, lines.join(line_end))
    }

    #[test]
    fn a_key_is_the_same_key_however_its_lines_end() {
        let mut identities = Vec::new();
        for line_end in ["\n", "\r\n", "\\n", "\\\\n", "\n    ", "\\r\\n"] {
            let text = format!("before {} after", key(line_end));
            let mut found = Vec::new();
            find(&text, &mut found);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(text[found[0].span.clone()], key(line_end));
            assert_eq!(found[0].aliases.len(), 4);
            identities.push(found[0].identity.clone());
        }
        identities.dedup();
        assert_eq!(identities.len(), 1);
    }

    #[test]
    fn a_key_without_its_end_is_found_up_to_where_it_breaks_off() {
        let whole = key("\n");
        let text = format!("{}...", &whole[..150]);
        let mut found = Vec::new();
        find(&text, &mut found);
        assert_eq!(found[0].span, 0..150);
    }

    #[test]
    fn public_keys_and_examples_are_left_alone() {
        let mut found = Vec::new();
        for label in ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY"] {
            find(&key("\n").replace("RSA PRIVATE KEY", label), &mut found);
        }
        find(&format!("-----BEGIN {0}-----\n...\n-----END {0}-----", "PRIVATE KEY"), &mut found);
        assert!(found.is_empty());
    }
}
