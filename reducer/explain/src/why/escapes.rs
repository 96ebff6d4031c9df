//! JSON strings inside of texts.
//!
//! A tool that prints JSON, or arguments that are JSON, hold a text with escapes. Texts are looked at from quote to quote:
//! what stands between two and is well-formed as a JSON string may be one, and what it decodes to may hold strings again.
//! Nothing has to be JSON around it, so a document that was cut, or stands in prose, is understood as well.

/// How deep strings within strings are followed. A level takes no longer than the one around it.
pub(super) const MAX_DEPTH: usize = 8;

/// Calls `found` with what each JSON string with an escape in `text` stands for. Takes time linear in the text.
pub(super) fn each_decoded(text: &str, found: &mut dyn FnMut(String)) {
    let bytes = text.as_bytes();
    let mut start = None;
    let mut escaped = false;
    let mut has_escape = false;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => {
                escaped = true;
                has_escape = true;
            }
            b'"' => {
                if let Some(start) = start.filter(|_| has_escape) {
                    decode(&text[start..index]).into_iter().for_each(&mut *found);
                }
                // Which quotes open a string and which close one is not known in prose, so each may do both.
                start = Some(index + 1);
                has_escape = false;
            }
            // No JSON string has a control character.
            0..0x20 => {
                start = None;
                has_escape = false;
            }
            _ => {}
        }
    }
    // The last string may have been cut off.
    if let Some(start) = start.filter(|_| has_escape) {
        let rest = text[start..].trim_end_matches("...");
        let end = rest.len() - usize::from(escaped && rest.ends_with('\\'));
        decode(&rest[..end]).into_iter().for_each(&mut *found);
    }
}

/// Decodes the inside of a JSON string.
fn decode(inside: &str) -> Option<String> {
    let mut decoded = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let escape = rest.bytes().next()?;
        let length = if escape == b'u' {
            let (c, length) = unicode(rest)?;
            decoded.push(c);
            length
        } else {
            decoded.push(match escape {
                b'"' => '"',
                b'\\' => '\\',
                b'/' => '/',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                _ => return None,
            });
            1
        };
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    Some(decoded)
}

/// Decodes `uXXXX`, or the pair `uXXXX\uXXXX`, at the beginning of a text, and returns how long it is. Half a pair
/// stands for no character, and is replaced.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at + 1..at + 5)?;
        let is_unit = text.as_bytes().get(at) == Some(&b'u') && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_unit.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first.into()) {
        return Some((c, 5));
    }
    let second = (text.as_bytes().get(5) == Some(&b'\\')).then(|| unit(6)).flatten();
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 5), |c| (c, 11)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_decoded(text, &mut |decoded| all.push(decoded));
        all
    }

    #[test]
    fn strings_are_found_wherever_they_stand() {
        assert_eq!(decoded(r#"{"a": "x\ny", "b": "plain"}"#), ["x\ny"]);
        assert_eq!(decoded(r#"it is 5" long: "x\ty" and so on"#), ["x\ty"]);
        assert_eq!(decoded(r#""\u00e9\uD83D\ude00\u00E9\/""#), ["é😀é/"]);
        assert_eq!(decoded(r#""a\"b\\n""#), [r#"a"b\n"#]);
        assert_eq!(decoded(r#"{"cut": "x\ny\"#), ["x\ny"]);
        assert_eq!(decoded(r#""half \ud83d a pair""#), ["half \u{fffd} a pair"]);
    }

    #[test]
    fn what_is_no_json_string_is_none() {
        assert_eq!(decoded(r"printf 'a\nb'"), [""; 0]);
        assert_eq!(decoded(r#""a\qb" "\u12" "\u+123""#), [""; 0]);
        assert_eq!(decoded("\"a\\n\nb\""), [""; 0]);
    }
}
