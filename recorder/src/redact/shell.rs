//! The words of a command line, as a shell reads them, and where each is written.

use std::ops::Range;

/// Longest command that is read.
const MAX_COMMAND_BYTES: usize = 16 << 10;

/// Most words of a command.
const MAX_WORDS: usize = 400;

/// A word of a command.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// What the program gets.
    pub(crate) value: String,
    /// For each byte of the value, where it is written.
    places: Vec<usize>,
    /// Whether a quote is a part of the word.
    pub(crate) quoting: Quoting,
}

/// Whether a word is written with quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Bare,
    Quoted,
}

impl Word {
    /// Makes a word from a string that is a complete argument.
    pub(crate) fn whole(value: &str) -> Self {
        Self { value: value.to_owned(), places: (0..value.len()).collect(), quoting: Quoting::Quoted }
    }

    /// Returns where a part of the value is written, from its first to its last byte.
    pub(crate) fn written(&self, part: Range<usize>) -> Option<Range<usize>> {
        let first = *self.places.get(part.start)?;
        let last = *self.places.get(part.end.checked_sub(1)?)?;
        Some(first..last + 1)
    }
}

/// Reads the words of the command that begins at a place: up to the end of its line, or what ends a command. `outer` is the
/// quote that is open where it begins.
pub(crate) fn words(text: &str, start: usize, outer: Option<u8>) -> Vec<Word> {
    let bytes = &text.as_bytes()[..text.len().min(start + MAX_COMMAND_BYTES)];
    let mut words = Vec::new();
    let mut at = start;
    while words.len() < MAX_WORDS {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        // A command goes on after a backslash at the end of a line.
        if bytes[at.min(bytes.len())..].starts_with(b"\\\n") {
            at += 2;
            continue;
        }
        let Some(word) = word(bytes, &mut at, outer) else { break };
        words.push(word);
    }
    words
}

/// Reads one word. Returns nothing where the command ends.
fn word(bytes: &[u8], at: &mut usize, outer: Option<u8>) -> Option<Word> {
    let mut value: Vec<u8> = Vec::new();
    let mut places = Vec::new();
    let start = *at;
    let mut quoting = Quoting::Bare;
    let mut open: Option<u8> = None;
    while let Some(byte) = bytes.get(*at).copied() {
        match (open, byte) {
            (None, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b'<' | b'>') => break,
            (None, b'&') if ends_command(bytes, *at, outer) => break,
            (None, b')' | b'`') if !value.iter().any(|byte| matches!(byte, b'(' | b'`')) && value.is_empty() => break,
            (_, byte) if Some(byte) == outer => break,
            (Some(quote), byte) if quote == byte => open = None,
            (None, quote @ (b'"' | b'\'')) => {
                // An apostrophe in the middle of a bare word is one unless it is closed on the line.
                let rest = &bytes[*at + 1..];
                let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
                if memchr::memchr(quote, line).is_none() {
                    value.push(byte);
                    places.push(*at);
                } else {
                    open = Some(quote);
                    quoting = Quoting::Quoted;
                }
            }
            (Some(_), b'\n') => break,
            (None | Some(b'"'), b'\\') => {
                let next = bytes.get(*at + 1).copied();
                let is_escape = match open {
                    None => matches!(next, Some(b' '..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~')),
                    Some(_) => matches!(next, Some(b'"' | b'\\' | b'$' | b'`')),
                };
                if let (true, Some(next)) = (is_escape, next) {
                    // An outer quote may be escaped as well.
                    value.push(next);
                    places.push(*at + 1);
                    *at += 1;
                } else {
                    value.push(byte);
                    places.push(*at);
                }
            }
            (_, byte) => {
                value.push(byte);
                places.push(*at);
            }
        }
        *at += 1;
    }
    if *at == start {
        return None;
    }
    let value = String::from_utf8(value).ok()?;
    Some(Word { value, places, quoting })
}

/// Returns whether an ampersand ends a command: in the arguments of most programs it is a part of a bare password.
fn ends_command(bytes: &[u8], at: usize, outer: Option<u8>) -> bool {
    let next = bytes.get(at + 1).copied();
    next == Some(b'&')
        || next.is_none_or(|byte| byte.is_ascii_whitespace() || Some(byte) == outer)
        || at == 0
        || bytes[at - 1] == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        words(text, 0, None).into_iter().map(|word| word.value).collect()
    }

    #[test]
    fn a_command_is_read_to_the_limits() {
        assert_eq!(values(&"a ".repeat(MAX_WORDS + 10)).len(), MAX_WORDS);
        let text = format!("a {}", "b".repeat(MAX_COMMAND_BYTES));
        assert_eq!(values(&text)[1].len(), MAX_COMMAND_BYTES - 2);
    }

    #[test]
    fn words_are_read_as_shells_do() {
        assert_eq!(values("a  'b c' \"d\\\"e\" f\\ g 'h'\\''i' | j"), ["a", "b c", "d\"e", "f g", "h'i"]);
        assert_eq!(values("a b&c && d"), ["a", "b&c"]);
        assert_eq!(values("a \\\n  -p b\nc"), ["a", "-p", "b"]);
        assert_eq!(values("a don't b"), ["a", "don't", "b"]);
        let text = "x -p'a'\\''b' c";
        let word = &words(text, 0, None)[1];
        assert_eq!(word.value, "-pa'b");
        assert_eq!(word.written(2..5).map(|range| &text[range]), Some("a'\\''b"));
        let inner = words("sh -c \"a b\" c", 7, Some(b'"'));
        assert_eq!(inner.iter().map(|word| word.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
