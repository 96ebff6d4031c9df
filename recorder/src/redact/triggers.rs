//! Where in a text a secret may be given away by what is around it, so that only those places are looked at closely.

use std::ops::{BitOrAssign, Range};
use std::sync::LazyLock;

use super::blocks::is_plural;
use super::contexts::Strength;
use super::control_sequence::ends_sequence;
use super::names::{NAME_PARTS, is_session_name, names_a_key, sensitive_name, weak_name};
use super::providers::{LOOSE, SHAPES};
use super::search::{Case, Search};
use super::{calls, commands, contexts, outputs, resources};

/// How far before what gives a secret away its context may begin, and how far after it may end. Both go on to the end of
/// their line.
const BEFORE_BYTES: usize = 640;
const BEHIND_BYTES: usize = 1024;

/// Longest rest of a line that a window takes in at either end.
const MAX_LINE_REST_BYTES: usize = 8 << 10;

/// How far around the word for it a secret of Kubernetes or a private key may reach.
const WIDE_BYTES: usize = 16 << 10;

/// Longest text that is looked at as a whole.
const SMALL_BYTES: usize = 1536;

/// Words that give a secret away wherever they are, beside those of [`contexts`].
const WORDS: &[&str] = &[
    "bearer",
    "basic ",
    "cookie",
    "curl",
    "wget",
    "sshpass",
    "docker login",
    "redis-cli",
    "mysql",
    "mariadb",
    "openssl",
    "phpsessid",
    "sessid",
    "sessionid",
    "csrf",
    "_session",
    "connect.sid",
    "machine ",
    "kty\"",
    "kty:",
    "kty=",
    "\";s:",
    "|s:",
    "chpasswd:",
    "passwrod",
    "pasword ",
    "passowrd",
    "paswword",
    "passwrd",
    "recovery codes",
    "backup codes",
    "scratch codes",
    "2fa codes",
    "one-time codes",
];

/// Words around which a wide place is looked at.
const WIDE: &[&str] =
    &["private key", "private+key", "private%20key", "putty-user", "kind: secret", "\"secret\"", "kind: \"secret\""];

/// What a hit of the search means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// A part of a name that may be one of a secret.
    Name,
    /// A URL, which may have a password.
    Url,
    Word,
    /// A word of a context whose secret has letters and digits.
    Candidate,
    /// The beginning of a call.
    Call,
    /// The name of a program.
    Program,
    /// A part of a command that prints a secret.
    Output,
    Wide,
}

/// What is searched for, and what each means.
static HINTS: LazyLock<(Search, Vec<Hint>)> = LazyLock::new(|| {
    let mut texts: Vec<(String, Hint)> = Vec::new();
    texts.extend(NAME_PARTS.iter().map(|part| ((*part).to_owned(), Hint::Name)));
    texts.push(("://".to_owned(), Hint::Url));
    texts.push((":\\/\\/".to_owned(), Hint::Url));
    // Paths of files that were made of addresses have one stroke.
    texts.extend(["tp:/", "tps:/", "sh:/", "it:/"].map(|scheme| (scheme.to_owned(), Hint::Url)));
    texts.extend(WORDS.iter().chain(resources::TRIGGERS).map(|word| ((*word).to_owned(), Hint::Word)));
    texts.extend(contexts::trigger_words().map(|(word, strength)| {
        let hint = if strength == Strength::Sure { Hint::Word } else { Hint::Candidate };
        (word.to_owned(), hint)
    }));
    texts.extend(calls::trigger_words().map(|word| (word.to_owned(), Hint::Call)));
    texts.extend(outputs::trigger_words().map(|word| (word.to_owned(), Hint::Output)));
    texts.extend(commands::trigger_words().map(|word| (format!("{word} "), Hint::Program)));
    // Anchors that words do not have, so that a token is found that something is in the middle of.
    let anchors = SHAPES.iter().filter(|shape| !LOOSE.contains(&shape.kind.as_str())).flat_map(|shape| shape.anchors);
    texts.extend(
        anchors
            .filter(|anchor| is_telling(anchor) && !anchor.starts_with('_'))
            .map(|anchor| ((*anchor).to_owned(), Hint::Word)),
    );
    texts.extend(WIDE.iter().map(|word| ((*word).to_owned(), Hint::Wide)));
    let (texts, hints): (Vec<String>, Vec<Hint>) = texts.into_iter().unzip();
    (Search::new(texts, Case::Any), hints)
});

fn is_telling(anchor: &str) -> bool {
    anchor.len() >= 4 && anchor.bytes().any(|byte| matches!(byte, b'_' | b'-' | b'$' | b'{'))
}

/// Longest text with colours that is looked at as a whole.
const MAX_COLOURED_BYTES: usize = 16 << 10;

/// Returns whether a text has control sequences of a terminal, real or escaped.
fn has_colours(bytes: &[u8]) -> bool {
    memchr::memchr(0x1b, bytes).is_some() || memchr::memmem::find(bytes, b"1b[").is_some()
}

/// Returns the parts of a text where something may give a secret away, sorted and without overlaps.
pub(crate) fn windows(text: &str) -> Vec<Window> {
    let (search, hints) = &*HINTS;
    let bytes = text.as_bytes();
    // Colours are between a name and what tells that it is one, so all of a coloured text is looked at.
    if text.len() <= MAX_COLOURED_BYTES && has_colours(bytes) {
        return vec![Window { span: 0..text.len(), needs: Needs::ALL }];
    }
    let mut windows: Vec<Window> = Vec::new();
    // Computed when a word asks for it.
    let mut candidates: Option<Vec<usize>> = None;
    let mut name_end = 0;
    for hit in search.through(text).find_overlapping_iter(text) {
        // What lies well within the last window adds nothing to it.
        let mut needs = Needs::default();
        let (before, behind) = match hints[hit.pattern().as_usize()] {
            Hint::Name if hit.start() < name_end => continue,
            Hint::Name => {
                let (name, is_secret) = name_at(text, hit.range());
                name_end = name.end;
                // What a command with the name prints may be one.
                if is_typed(bytes, hit.start()) {
                    needs = Needs::OUTPUTS;
                } else if !is_secret
                    || assigns_nothing(bytes, &name)
                    || (is_of_sentence(bytes, &name) && !has_candidate(&mut candidates, bytes, &name))
                {
                    continue;
                }
                (BEFORE_BYTES, BEHIND_BYTES)
            }
            Hint::Url if !has_user(bytes, hit.end()) => continue,
            Hint::Program if !has_options(bytes, hit.range()) => continue,
            Hint::Candidate if !has_candidate(&mut candidates, bytes, &hit.range()) => continue,
            Hint::Candidate => (BEFORE_BYTES, BEHIND_BYTES),
            Hint::Call if !calls::has_candidate(bytes, hit.end()) => continue,
            Hint::Output if !is_typed(bytes, hit.start()) => continue,
            hint @ (Hint::Call | Hint::Output | Hint::Program) => {
                needs = Needs::of(hint);
                (BEFORE_BYTES, BEHIND_BYTES)
            }
            Hint::Url | Hint::Word => (BEFORE_BYTES, BEHIND_BYTES),
            Hint::Wide => (WIDE_BYTES, WIDE_BYTES),
        };
        if text.len() <= SMALL_BYTES {
            return std::iter::once(Window { span: 0..text.len(), needs: Needs::ALL }).collect();
        }
        let from = hit.start().saturating_sub(before);
        let to = text.len().min(hit.end() + behind);
        match windows.last_mut() {
            Some(last) if last.span.end >= to && last.span.start <= from => last.needs |= needs,
            Some(last) if last.span.end >= from => {
                last.span.end = last.span.end.max(line_end(bytes, to));
                last.span.start = last.span.start.min(line_start(bytes, from));
                last.needs |= needs;
            }
            _ => windows.push(Window { span: line_start(bytes, from)..line_end(bytes, to), needs }),
        }
    }
    for Window { span, .. } in &mut windows {
        while !text.is_char_boundary(span.start) {
            span.start -= 1;
        }
        while !text.is_char_boundary(span.end) {
            span.end += 1;
        }
    }
    // A wide place may reach back over several before it.
    let mut apart: Vec<Window> = Vec::with_capacity(windows.len());
    windows.sort_by_key(|window| window.span.start);
    for window in windows {
        match apart.last_mut() {
            Some(last) if last.span.end >= window.span.start => {
                last.span.end = last.span.end.max(window.span.end);
                last.needs |= window.needs;
            }
            _ => apart.push(window),
        }
    }
    apart
}

/// A part of a text where something may give a secret away.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) span: Range<usize>,
    pub(crate) needs: Needs,
}

/// The detectors that a window needs beside those that every window has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs(u8);

impl Needs {
    const CALLS: Self = Self(1);
    const OUTPUTS: Self = Self(2);
    const COMMANDS: Self = Self(4);
    /// Every detector.
    pub(crate) const ALL: Self = Self(7);

    fn of(hint: Hint) -> Self {
        match hint {
            Hint::Call => Self::CALLS,
            Hint::Output => Self::OUTPUTS,
            Hint::Program => Self::COMMANDS,
            _ => Self::default(),
        }
    }

    pub(crate) fn calls(self) -> bool {
        self.0 & Self::CALLS.0 != 0
    }

    pub(crate) fn outputs(self) -> bool {
        self.0 & Self::OUTPUTS.0 != 0
    }

    pub(crate) fn commands(self) -> bool {
        self.0 & Self::COMMANDS.0 != 0
    }
}

impl BitOrAssign for Needs {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Returns the name that a part is in, and whether it is one of a secret.
fn name_at(text: &str, part: Range<usize>) -> (Range<usize>, bool) {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let before = bytes[part.start.saturating_sub(64)..part.start].iter().rev().take_while(|byte| is_name(byte)).count();
    let behind = bytes[part.end..].iter().take(120).take_while(|byte| is_name(byte)).count();
    let name = part.start - before..part.end + behind;
    let written = &text[name.clone()];
    let is_weak = || {
        matches!(
            written.trim_start_matches(['-', '.', '_']),
            "pass" | "PASS" | "Pass" | "pw" | "PW" | "Pw" | "key" | "keys" | "KEY" | "Key"
        )
    };
    let unescaped = written.strip_prefix(['n', 't', 'r']).filter(|_| name.start > 0 && bytes[name.start - 1] == b'\\');
    let is_behind_percent = || {
        written
            .get(2..)
            .is_some_and(|rest| name.start > 0 && bytes[name.start - 1] == b'%' && sensitive_name(rest).is_some())
    };
    let is_secret = sensitive_name(written).is_some()
        || unescaped.is_some_and(|written| sensitive_name(written).is_some())
        || is_session_name(written)
        || ((weak_name(written).is_some() || is_plural(written) || names_a_key(written))
            && has_operator(bytes, name.end))
        || is_behind_percent()
        || (is_weak() && has_operator(bytes, name.end));
    (name, is_secret)
}

/// Returns whether what assigns a value follows, so that a short name is one.
fn has_operator(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at..bytes.len().min(at + 8)];
    let skipped = rest.iter().take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b'\t' | b']')).count();
    matches!(rest.get(skipped), Some(b'=' | b':' | b',' | b'{'))
}

/// Returns whether a text near a place may be a secret by its letters and digits.
fn has_candidate(candidates: &mut Option<Vec<usize>>, bytes: &[u8], place: &Range<usize>) -> bool {
    let candidates = candidates.get_or_insert_with(|| contexts::candidates_of(bytes));
    let first = candidates.partition_point(|at| *at + CANDIDATE_BYTES < place.start);
    candidates.get(first).is_some_and(|at| *at <= place.end + CANDIDATE_BYTES)
}

/// Returns whether a name is a word among others: of a sentence, a path or the tag of a log. What is after it is neither a
/// value nor the next column of a table.
fn is_of_sentence(bytes: &[u8], name: &Range<usize>) -> bool {
    let written = &bytes[name.clone()];
    let is_word = written[0].is_ascii_lowercase()
        && written.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    let begins = name.start > 0 && matches!(bytes[name.start - 1], b' ' | b'(' | b'/' | b'[');
    let ends = match bytes.get(name.end..name.end + 2) {
        Some([b' ', next]) => next.is_ascii_alphanumeric(),
        Some([b'.' | b',' | b')' | b']', next]) => next.is_ascii_whitespace(),
        Some([b'/', next]) => next.is_ascii_alphanumeric(),
        Some([b'\n', _]) => name.start > 0 && bytes[name.start - 1] == b'/',
        _ => false,
    };
    is_word && begins && ends
}

/// Returns whether what is assigned to a name can be no secret: a number, or less than the shortest secret has. Variables of an
/// environment may be numbers.
fn assigns_nothing(bytes: &[u8], name: &Range<usize>) -> bool {
    let rest = &bytes[name.end..bytes.len().min(name.end + 25)];
    let [b'=' | b':', value @ ..] = rest else { return false };
    let value = value.strip_prefix(b" ").unwrap_or(value);
    let length = value.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let ends = matches!(value.get(length), Some(b' ' | b',' | b';' | b')' | b']' | b'}' | b'\n'));
    let is_small = bytes[name.clone()].iter().any(u8::is_ascii_lowercase);
    length > 0
        && ends
        && is_small
        && (length < 6 || value[..length].iter().all(u8::is_ascii_digit))
        && value[length] != b';'
        // A comma and a bracket may be a part of the value.
        && value.get(length + 1).is_none_or(|next| next.is_ascii_whitespace() || next.is_ascii_alphabetic())
}

/// How far around a word what may be its secret is looked for.
const CANDIDATE_BYTES: usize = 300;

/// Returns whether the name of a program is apart, with an option or a member after it on its line.
fn has_options(bytes: &[u8], name: Range<usize>) -> bool {
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    let rest = &bytes[name.end..bytes.len().min(name.end + 2000)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let is_mark_of_line = || name.start == 1 || name.start > 1 && bytes[name.start - 2] == b'\n';
    let is_apart = before.is_none_or(|byte| {
        (!byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'.'))
            || (byte == b'-' && is_mark_of_line())
            || ends_sequence(&bytes[..name.start])
    });
    let has_option = line.starts_with(b"-")
        || line.starts_with(b"/")
        || memchr::memmem::find(line, b" -").is_some()
        || memchr::memmem::find(line, b" /").is_some();
    // A program is also a word of sentences and logs, where members and numbers are after it as well.
    let may_have_member = || {
        memchr::memchr(b'=', line).is_some()
            || (memchr::memchr(b' ', line).is_some() && line.iter().any(u8::is_ascii_digit))
    };
    is_apart && (has_option || (may_have_member() && commands::is_command(bytes, name.start)))
}

/// Returns whether what is at a place is a part of a command after a prompt.
fn is_typed(bytes: &[u8], at: usize) -> bool {
    let line = &bytes[at.saturating_sub(300)..at];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |end| end + 1)..];
    line.windows(2)
        .any(|pair| matches!(pair[0], b'$' | b'#' | b'%' | b'>' | 0xaf | 0x9c | 0xbb | b'+') && pair[1] == b' ')
}

/// Returns whether a URL has a part before its host.
fn has_user(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at..bytes.len().min(at + 400)];
    let end = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'<' | b'>' | b'`'))
        .unwrap_or(rest.len());
    memchr::memchr(b'@', &rest[..end]).is_some()
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    let first = at.saturating_sub(MAX_LINE_REST_BYTES);
    memchr::memrchr(b'\n', &bytes[first..at]).map_or(first, |end| first + end + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let last = bytes.len().min(at + MAX_LINE_REST_BYTES);
    memchr::memchr(b'\n', &bytes[at..last]).map_or(last, |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coloured_text_is_looked_at_to_a_limit() {
        let text = |length: usize| format!("\u{1b}[1mX\u{1b}[0m{}", "a ".repeat(length / 2));
        assert_eq!(windows(&text(1000)).len(), 1);
        assert!(windows(&text(MAX_COLOURED_BYTES)).is_empty());
    }

    #[test]
    fn only_places_with_a_hint_are_looked_at() {
        let filler = "let value = compute(next_token_count, keyboard, author);\n".repeat(200);
        assert!(windows(&filler).is_empty());
        let text = format!("{filler}DB_PASSWORD=x\n{filler}https://a:b@c\n{filler}");
        let windows = windows(&text);
        assert_eq!(windows.len(), 2);
        let part = |at: usize| &text[windows[at].span.clone()];
        assert!(part(0).contains("DB_PASSWORD") && part(1).contains("a:b@c"));
        assert!(
            windows.iter().all(|window| window.span.len() < 4 * BEHIND_BYTES && text.is_char_boundary(window.span.end))
        );
    }
}
