//! JSON strings inside texts.
//!
//! The output of a tool that prints JSON, and arguments that are JSON, contain a text with escapes. Texts are searched
//! from quote to quote: what is between two quotes and is well-formed as a JSON string may be one, and its decoded text
//! may contain further strings. The text around it need not be JSON, so that strings in shortened documents and in
//! prose are found too. An agent that repeats a text may leave out the quotes, so a string may also begin at the
//! beginning of a text, of a line or after a cut.
//!
//! Quoting by a shell is not interpreted: in a command line, only strings in JSON documents count.

use serde_json::Value;

use super::cut;

/// Most levels of strings within strings. Each level takes at most as much time as the level around it.
pub(super) const MAX_DEPTH: usize = 8;

/// Failed attempts to parse a document in one text after which no more are made.
pub(super) const MAX_BAD_DOCUMENTS: usize = 64;

/// Where strings may begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    /// At quotes.
    Quotes,
    /// At quotes, and at the beginning and the end of a line or of the text.
    Anything,
}

/// Calls `found` with the decoded text of each JSON string in `text` that has an escape. Takes time linear in the text.
pub(super) fn each_decoded(text: &str, bounds: Bounds, found: &mut dyn FnMut(String)) {
    match bounds {
        Bounds::Quotes => each_decoded_run(text, bounds, found),
        Bounds::Anything => cut::between_marks(text).for_each(|run| each_decoded_run(run, bounds, found)),
    }
}

fn each_decoded_run(text: &str, bounds: Bounds, found: &mut dyn FnMut(String)) {
    let bytes = text.as_bytes();
    let anywhere = |index: usize| (bounds == Bounds::Anything).then_some(index);
    let mut start = anywhere(0);
    let mut escaped = false;
    let mut has_escape = false;
    for (index, byte) in bytes.iter().enumerate() {
        // A JSON string contains no control character, not even after a backslash.
        let is_control = *byte < 0x20;
        match byte {
            _ if escaped && !is_control => escaped = false,
            b'\\' => {
                escaped = true;
                has_escape = true;
            }
            b'"' => {
                if let Some(start) = start.filter(|_| has_escape) {
                    decode(&text[start..index]).into_iter().for_each(&mut *found);
                }
                // In prose it is not known which quotes open a string and which close one, so each quote may do both.
                start = Some(index + 1);
                has_escape = false;
            }
            _ if is_control => {
                if let Some(start) = start.filter(|_| has_escape && bounds == Bounds::Anything) {
                    decode(&text[start..index]).into_iter().for_each(&mut *found);
                }
                start = anywhere(index + 1);
                escaped = false;
                has_escape = false;
            }
            _ => {}
        }
    }
    // The last string may be incomplete.
    if let Some(start) = start.filter(|_| has_escape) {
        let rest = text[start..].trim_end_matches("...");
        let end = rest.len() - usize::from(escaped && rest.ends_with('\\'));
        decode(&rest[..end]).into_iter().for_each(&mut *found);
    }
}

/// Calls `found` with each outermost JSON object and array in a text.
pub(super) fn each_document(text: &str, found: &mut dyn FnMut(&Value)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut bad = 0;
    while let Some(next) = memchr::memchr2(b'{', b'[', &bytes[at..]).filter(|_| bad < MAX_BAD_DOCUMENTS) {
        at += next;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            found(&value);
            at += values.byte_offset().max(1);
        } else {
            bad += 1;
            at += 1;
        }
    }
}

/// Decodes the text between the quotes of a JSON string.
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

/// Decodes `uXXXX`, or the surrogate pair `uXXXX\uXXXX`, at the beginning of a text. Returns the character and the
/// number of bytes. Half a pair is replaced by the replacement character.
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
        each_decoded(text, Bounds::Quotes, &mut |decoded| all.push(decoded));
        all
    }

    #[test]
    fn strings_may_lack_their_quotes() {
        let loose = |text: &str| {
            let mut all = Vec::new();
            each_decoded(text, Bounds::Anything, &mut |decoded| all.push(decoded));
            all
        };
        assert_eq!(loose(r#"say \"x\"\n\u00fc"#), ["say \"x\"\nü"]);
        assert_eq!(loose("one\n\\ttwo\\n\nthree"), ["\ttwo\n"]);
        assert_eq!(loose(r"a\qb…9 tokens truncated…c\nd"), ["c\nd"]);
        assert_eq!(loose(r#"it "says" a\nb"#), [" a\nb"]);
        assert_eq!(decoded(r#"say \"x\"\n"#), [""; 0]);
    }

    #[test]
    fn documents_are_found_up_to_a_limit_of_failures() {
        let documents = |text: &str| {
            let mut all = Vec::new();
            each_document(text, &mut |value| all.push(value.to_string()));
            all
        };
        assert_eq!(documents(r#"curl -d '{"a":[1]}' "[x" [2]"#), [r#"{"a":[1]}"#, "[2]"]);
        let behind = |bad: usize| documents(&format!("{}[1]", "{ ".repeat(bad)));
        assert_eq!(behind(MAX_BAD_DOCUMENTS - 1), ["[1]"]);
        assert_eq!(behind(MAX_BAD_DOCUMENTS), [""; 0]);
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
