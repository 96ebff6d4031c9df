//! Parses a configuration file as Git does: sections, subsections, quotes, escapes, comments and continued lines.
//!
//! This follows `config.c` of Git, because an entry that is parsed differently here is an entry that is not judged.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

/// One `key = value` line of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The section in lower case.
    pub(super) section: String,
    /// The subsection as written, or in lower case if it follows a dot.
    pub(super) subsection: Option<String>,
    /// The key in lower case.
    pub(super) key: String,
    /// The value without quotes, escapes and comments; `None` if there is no `=`, which means `true`.
    pub(super) value: Option<String>,
    /// Byte range of the entry, without the line feed at its end.
    pub(super) span: Range<usize>,
}

/// The file has a syntax error, so Git does not read it beyond that position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// Returns the entries of a configuration in their order.
///
/// # Errors
///
/// Returns an error if Git cannot parse the file either. Some Git commands still use the entries before the error, so the
/// whole file must be treated as unknown.
pub(super) fn entries(text: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").map_or((text, 0), |rest| (rest, text.len() - rest.len()));
    let mut reader = Reader { bytes: text.0.iter().peekable(), offset: text.1, has_ended: false };
    let mut entries = Vec::new();
    let (mut section, mut subsection) = (String::new(), None);
    let mut in_comment = false;
    loop {
        let start = reader.offset;
        let byte = reader.next();
        match byte {
            b'\n' if reader.has_ended => return Ok(entries),
            b'\n' => in_comment = false,
            _ if in_comment || is_space(byte) => {}
            b'#' | b';' => in_comment = true,
            b'[' => (section, subsection) = reader.header()?,
            _ if byte.is_ascii_alphabetic() && !section.is_empty() => {
                let (key, value) = reader.entry(byte)?;
                let end = if reader.has_ended { reader.offset } else { reader.offset - 1 };
                let (section, subsection) = (section.clone(), subsection.clone());
                entries.push(Entry { section, subsection, key, value, span: start..end });
            }
            _ => return Err(Malformed),
        }
    }
}

/// Returns the configuration without some of its entries. Lines that contain nothing else are removed.
pub(super) fn without(text: &[u8], entries: &[Entry]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(text.len());
    let mut from = 0;
    for Range { start, end } in entries.iter().map(|entry| entry.span.clone()) {
        let line = text[from..start].iter().rposition(|byte| *byte == b'\n').map_or(from, |at| from + at + 1);
        let is_alone = text[line..start].iter().all(|byte| is_space(*byte))
            && (line > from || from == 0 || text[from - 1] == b'\n');
        let (upto, next) = if is_alone { (line, end + 1) } else { (start, end) };
        rest.extend_from_slice(&text[from..upto]);
        from = next.min(text.len());
    }
    rest.extend_from_slice(&text[from..]);
    rest
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

struct Reader<'a> {
    bytes: Peekable<Iter<'a, u8>>,
    offset: usize,
    has_ended: bool,
}

impl Reader<'_> {
    /// Returns the next byte, or a line feed at the end of the file.
    fn next(&mut self) -> u8 {
        let Some(byte) = self.bytes.next() else {
            self.has_ended = true;
            return b'\n';
        };
        self.offset += 1;
        if *byte == b'\r' && self.bytes.peek() == Some(&&b'\n') {
            self.bytes.next();
            self.offset += 1;
            return b'\n';
        }
        *byte
    }

    /// Parses a section header after its `[`.
    fn header(&mut self) -> Result<(String, Option<String>), Malformed> {
        let mut name = String::new();
        loop {
            let byte = self.next();
            match byte {
                _ if self.has_ended => return Err(Malformed),
                b']' => {
                    let (section, below) = match name.split_once('.') {
                        Some((section, below)) => (section.to_owned(), Some(below.to_owned())),
                        None => (name, None),
                    };
                    return if section.is_empty() { Err(Malformed) } else { Ok((section, below)) };
                }
                _ if is_space(byte) => {
                    let below = self.subsection(byte)?;
                    // If the name has a dot too, the subsection begins after that dot.
                    return match name.split_once('.') {
                        _ if name.is_empty() => Err(Malformed),
                        Some((section, first)) => Ok((section.to_owned(), Some(format!("{first}.{below}")))),
                        None => Ok((name, Some(below))),
                    };
                }
                _ if is_in_key(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase().into()),
                _ => return Err(Malformed),
            }
        }
    }

    /// Parses the quoted part of a header and the closing bracket.
    fn subsection(&mut self, mut byte: u8) -> Result<String, Malformed> {
        while is_space(byte) {
            if byte == b'\n' {
                return Err(Malformed);
            }
            byte = self.next();
        }
        if byte != b'"' {
            return Err(Malformed);
        }
        let mut name = Vec::new();
        loop {
            match self.next() {
                b'\n' | b'\0' => return Err(Malformed),
                b'"' => break,
                b'\\' => match self.next() {
                    b'\n' => return Err(Malformed),
                    byte => name.push(byte),
                },
                byte => name.push(byte),
            }
        }
        if self.next() == b']' { Ok(String::from_utf8_lossy(&name).into_owned()) } else { Err(Malformed) }
    }

    /// Parses a key, whose first byte is `first`, and its value.
    fn entry(&mut self, first: u8) -> Result<(String, Option<String>), Malformed> {
        let mut key = String::from(char::from(first.to_ascii_lowercase()));
        let mut byte = self.next();
        while is_in_key(byte) {
            key.push(byte.to_ascii_lowercase().into());
            byte = self.next();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        match byte {
            b'\n' => Ok((key, None)),
            b'=' => Ok((key, Some(self.value()?))),
            _ => Err(Malformed),
        }
    }

    fn value(&mut self) -> Result<String, Malformed> {
        let mut value = Vec::new();
        // Length of the value without trailing white space.
        let mut kept = 0;
        let (mut in_quotes, mut in_comment) = (false, false);
        loop {
            let byte = self.next();
            match byte {
                b'\n' if in_quotes => return Err(Malformed),
                b'\n' => break,
                b'\0' => return Err(Malformed),
                _ if in_comment => continue,
                _ if is_space(byte) && !in_quotes => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'#' | b';' if !in_quotes => {
                    in_comment = true;
                    continue;
                }
                b'\\' => match self.next() {
                    b'\n' if self.has_ended => break,
                    b'\n' => continue,
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return Err(Malformed),
                },
                b'"' => in_quotes = !in_quotes,
                byte => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        Ok(String::from_utf8_lossy(&value).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        let entries = entries(text.as_bytes()).ok()?;
        let shown = entries.into_iter().map(|entry| {
            let below = entry.subsection.map(|below| format!("<{below}>")).unwrap_or_default();
            format!("{}{below}.{}={}", entry.section, entry.key, entry.value.as_deref().unwrap_or("(none)"))
        });
        Some(shown.collect())
    }

    /// Each case was compared with `git config --list` of Git 2.47.
    #[test]
    fn a_configuration_is_read_as_git_reads_it() {
        for (text, expected) in [
            ("[core]\n\tbare = false\n", &["core.bare=false"][..]),
            ("[CORE]\nFsMonitor=\"./x.sh\"", &["core.fsmonitor=./x.sh"]),
            ("[core] fsmonitor = ./x.sh", &["core.fsmonitor=./x.sh"]),
            ("[core]hooksPath=.hooks # ours\n", &["core.hookspath=.hooks"]),
            ("[core]\nhooksPath = a ; b\nbare", &["core.hookspath=a", "core.bare=(none)"]),
            ("[core]\neditor = a\\\n b\n", &["core.editor=a b"]),
            ("[core]\neditor = \"a # b\" c  \n", &["core.editor=a # b c"]),
            ("[core]\neditor = \" a\\tb \"\n", &["core.editor= a\tb "]),
            ("[core]\neditor = x\\\n[alias]\n", &["core.editor=x[alias]"]),
            ("# [core]\n; x\n  # bare\n[core] # x\nbare\n", &["core.bare=(none)"]),
            ("[Branch \"Main\"]\r\nremote = o\r\n", &["branch<Main>.remote=o"]),
            ("[branch.Main] remote = o\n", &["branch<main>.remote=o"]),
            ("[branch \"a\\\"b\\\\c\"] remote = o\n", &["branch<a\"b\\c>.remote=o"]),
            ("\u{feff}[core]\nbare = true\n", &["core.bare=true"]),
            ("", &[]),
        ] {
            assert_eq!(read(text).expect("it can be read"), expected, "{text:?}");
        }
        for text in [
            "bare = true\n",
            "[core\nbare = true\n",
            "[core]\n1bare = true\n",
            "[core]\nba_re = true\n",
            "[core]\nbare true\n",
            "[core]\neditor = \"a\n",
            "[core]\neditor = a\\x\n",
            "[core \"a] bare\n",
            "[core \"a\" ]\nbare\n",
            "[co_re]\nbare\n",
            "[]\nbare\n",
            "[core]\neditor = a\0b\n",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn entries_go_without_their_neighbours() {
        let text = b"[core]\n\tbare = false\n\teditor = a\\\n b # c\n\tpager = x\n[alias] st = y\n\tco = z";
        let all = entries(text).expect("it can be read");
        let gone: Vec<Entry> =
            all.iter().filter(|entry| !matches!(entry.key.as_str(), "bare" | "co")).cloned().collect();
        assert_eq!(gone.len(), 3);
        let rest = without(text, &gone);
        assert_eq!(String::from_utf8_lossy(&rest), "[core]\n\tbare = false\n[alias] \n\tco = z");
        assert_eq!(String::from_utf8_lossy(&without(text, &all)), "[core]\n[alias] \n");
        assert_eq!(without(text, &[]), text);
    }
}
