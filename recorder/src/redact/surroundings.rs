//! Decodes what surrounds a secret: colours, escapes, prefixes of lines, and strings that are put together from pieces.
//!
//! Each decoder makes a [`View`] of a text and returns `None` if there is nothing for it to change. A view only serves to
//! look: what is found in it is replaced in the text as it was written, so a decoder may be wrong without harm.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex as BytesRegex, RegexBuilder};

use super::hexdump;
use super::view::{Layers, View};

/// Most prefixes of one line that are taken off, one after the other.
const MAX_PREFIXES: usize = 6;

/// Longest prefix of a line, all of them together.
const MAX_PREFIX_BYTES: usize = 200;

/// Longest control sequence of a terminal.
const MAX_SEQUENCE_BYTES: usize = 256;

/// Longest text whose surroundings are decoded. A longer one is searched as it is written.
pub const MAX_DECODED_BYTES: usize = 64 << 20;

/// Returns the decoded forms of a text: without colours, escapes and prefixes of lines, and then with strings joined.
pub(crate) fn decode(text: &str) -> Vec<Layers> {
    let mut decoded = Vec::new();
    if text.len() > MAX_DECODED_BYTES {
        return decoded;
    }
    let mut plain = Layers::default();
    plain.push(text, characters);
    plain.push(text, lines);
    let is_changed = plain.len() > 0;
    if is_changed {
        decoded.push(plain);
    }
    if joins(decoded.first().map_or(text, |plain| plain.text(text))) {
        // The same views again, with one more on top.
        let mut joined = Layers::default();
        joined.push(text, characters);
        joined.push(text, lines);
        joined.push(text, join);
        decoded.push(joined);
    }
    decoded
}

/// Returns the bytes of a text's dumps, as each of their columns has them.
pub(crate) fn dumps(text: &str) -> Vec<Layers> {
    let views = hexdump::decode(text).map(|(pairs, shown)| [pairs, shown]);
    views.into_iter().flatten().map(Layers::of).collect()
}

/// Bytes at which something may have to be decoded.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut at = 0;
    let bytes = b"\x1b\\&%\r\x08\0^";
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    // Beginnings of U+009B, U+00AD, U+200B to U+200F, U+2060 to U+2064 and U+FEFF.
    special[0xc2] = true;
    special[0xe2] = true;
    special[0xef] = true;
    special
};

/// Decodes escapes, and takes out colours and what nobody sees.
fn characters(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view = View::default();
    let (mut copied, mut at) = (0, 0);
    let mut is_changed = false;
    while let Some(next) = bytes[at..].iter().position(|byte| SPECIAL[usize::from(*byte)]).map(|next| at + next) {
        let (length, decoded) = unit(bytes, next);
        if length == 0 {
            at = next + 1;
            continue;
        }
        is_changed = true;
        view.copy(text, copied..next);
        if let Some(decoded) = decoded {
            view.put(decoded, next..next + length);
        }
        at = next + length;
        copied = at;
    }
    view.copy(text, copied..bytes.len());
    is_changed.then_some(view)
}

/// Returns how long the escape or sequence at a place is, or zero if there is none, and what it stands for.
fn unit(bytes: &[u8], at: usize) -> (usize, Option<char>) {
    let rest = &bytes[at..];
    match rest {
        [0x1b, ..] => (sequence(rest, 1), None),
        [b'^', b'[', b'[', ..] => (sequence(&rest[1..], 1) + 1, None),
        [0x08, ..] | [0, ..] => (1, None),
        [b'\r', b'\n', ..] => (1, None),
        [b'\r', ..] => (1, Some('\n')),
        [0xc2, 0x9b, ..] => (sequence_body(rest, 2), None),
        [0xc2, 0xad, ..] => (2, None),
        [0xc2, 0xa0, ..] => (2, Some(' ')),
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xa9, ..] | [0xef, 0xbb, 0xbf, ..] => {
            (3, None)
        }
        // What `cat -A` and IDEs draw for an escape.
        [0xe2, 0x90, 0x9b, b'[', ..] => (sequence_body(rest, 4), None),
        [b'\\', ..] => escape(rest),
        [b'&', ..] => entity(rest),
        [b'%', high, low, ..] => match hex(&[*high, *low]) {
            Some(code @ (0x20..=0x7e | 0x09 | 0x0a)) => (3, Some(char::from(code as u8))),
            Some(0x0d) => (3, None),
            _ => (0, None),
        },
        _ => (0, None),
    }
}

/// Returns the length of a terminal's control sequence whose introducer ends at `at`.
fn sequence(rest: &[u8], at: usize) -> usize {
    match rest.get(at) {
        Some(b'[') => sequence_body(rest, at + 1),
        Some(b']' | b'P' | b'_' | b'^') => {
            let body = &rest[at + 1..rest.len().min(at + 1 + MAX_SEQUENCE_BYTES)];
            let end = body.iter().position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'));
            match end {
                Some(end) if body[end] == 0x1b && body.get(end + 1) == Some(&b'\\') => at + 1 + end + 2,
                Some(end) if body[end] == 0x07 => at + 1 + end + 1,
                _ => at + 1,
            }
        }
        Some(b'(' | b')' | b'#' | b'%') if rest.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => at + 2,
        Some(0x30..=0x7e) => at + 1,
        _ => at,
    }
}

/// Returns the length of a sequence whose parameters begin at `at`.
fn sequence_body(rest: &[u8], at: usize) -> usize {
    let body = &rest[at..rest.len().min(at + MAX_SEQUENCE_BYTES)];
    let parameters = body.iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    match body.get(parameters) {
        Some(0x40..=0x7e) => at + parameters + 1,
        _ => at,
    }
}

/// Decodes an escape after any number of backslashes.
fn escape(rest: &[u8]) -> (usize, Option<char>) {
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let behind = &rest[slashes..];
    let code = |digits: usize, skipped: usize| behind.get(skipped..skipped + digits).and_then(hex);
    let coded = |code: Option<u32>, length: usize| match code {
        Some(0x1b) if behind.get(length) == Some(&b'[') => (slashes + sequence_body(behind, length + 1), None),
        Some(0x0d | 0x00 | 0x200b | 0xfeff) => (slashes + length, None),
        Some(code @ (0x09 | 0x0a | 0x20..=0x7e)) => (slashes + length, char::from_u32(code)),
        _ => (0, None),
    };
    match behind.first() {
        Some(b'r') if behind.get(1) == Some(&b'\\') => (slashes + 1, None),
        Some(b'n' | b'r') => (slashes + 1, Some('\n')),
        Some(b't') => (slashes + 1, Some('\t')),
        Some(quote @ (b'"' | b'\'' | b'`' | b'/')) => (slashes + 1, Some(char::from(*quote))),
        Some(b'u') if behind.get(1) == Some(&b'{') => {
            let digits = behind[2..].iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
            if behind.get(2 + digits) == Some(&b'}') { coded(code(digits, 2), digits + 3) } else { (0, None) }
        }
        Some(b'u') => coded(code(4, 1), 5),
        Some(b'x') => coded(code(2, 1), 3),
        Some(b'0') if behind.get(1..4) == Some(b"33[") => (slashes + sequence_body(behind, 4), None),
        Some(b'0') if behind.get(1..3) == Some(b"12") => (slashes + 3, Some('\n')),
        Some(b'e' | b'E') if behind.get(1) == Some(&b'[') => (slashes + sequence_body(behind, 2), None),
        _ => (0, None),
    }
}

/// Decodes a character reference of HTML and XML.
fn entity(rest: &[u8]) -> (usize, Option<char>) {
    const NAMES: &[(&[u8], char)] =
        &[(b"amp;", '&'), (b"quot;", '"'), (b"apos;", '\''), (b"lt;", '<'), (b"gt;", '>'), (b"nbsp;", ' ')];
    if let Some((name, decoded)) = NAMES.iter().find(|(name, _)| rest[1..].starts_with(name)) {
        return (name.len() + 1, Some(*decoded));
    }
    let (radix, skipped) = match rest {
        [_, b'#', b'x' | b'X', ..] => (16, 3),
        [_, b'#', ..] => (10, 2),
        _ => return (0, None),
    };
    let digits = rest[skipped..].iter().take(6).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let code = std::str::from_utf8(&rest[skipped..skipped + digits])
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, radix).ok());
    match code {
        Some(code @ (0x0a | 0x20..=0x7e)) if rest.get(skipped + digits) == Some(&b';') => {
            (skipped + digits + 1, char::from_u32(code))
        }
        _ => (0, None),
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, 16).ok()
}

/// What may be before the text of a line, anchored at its beginning. Group 1, if there is one, is kept.
static PREFIX: LazyLock<BytesRegex> = LazyLock::new(|| {
    RegexBuilder::new(concat!(
        r"^(?:",
        // Marks of diffs, quotes, comments, lists, tables, traces of shells and transcripts. A mark that may be a part of
        // what follows needs a gap after it.
        r"[ \t]*(?:\+{1,4}|-|>{1,4}|<|\||\*{1,2}|#{1,6}|//[/!]?|/\*+|--|;{1,3}|%|\$|~|!|REM|rem|::|dnl|<!--|•|·|»|❯|➜|λ|(?:└|├)(?:─)+|=>|\.\.\.)[ \t]",
        r"|[ \t]*(?:>|│|┃|║|▏|▎|▌|┆|╎|┊|\||//|#)+[ \t]?",
        r"|\+{1,3}|-",
        // Times and levels of logs.
        r"|[ \t]*[\[(]?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ]?(?:[0-9:.,]{5,20}(?:Z|[ ]?[+-][0-9]{2}:?[0-9]{2})?)?[\])]?[:|]?[ \t]?",
        r"|[ \t]*[\[(]?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?[\])]?[:|]?[ \t]?",
        r"|[ \t]*[\[(]?[0-9]{9,10}\.[0-9]{1,9}[\])]?:?[ \t]?",
        r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}[0-9]{1,2}[ ][0-9:.]{5,15}[ ]",
        r"|[ \t]*[\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|trace|debug|info|notice|warn|error|stdout|stderr|out|err|STDOUT|STDERR)[\])>]?(?:[ ]?[:|-][ \t]?|[ \t](?:[FP][ ])?)",
        // Numbers of lines, with the file before them.
        r"|[ \t]*(?:[A-Za-z]:)?[\w./@~+-]{0,120}[/.\w][:(-][0-9]{1,7}(?:[:,][0-9]{1,5})?[:)-]",
        r"|[ \t]*\[?L?[0-9]{1,7}(?:\]|[:)>|]|[ \t]*(?:[|:]|→|│|┃|▏)[ \t]?|\t|[ ]{1,2}|-[ \t]?)",
        // Tags of programs and containers.
        r"|[ \t]*\[[A-Za-z0-9_./: -]{1,60}\][ \t]?:?[ \t]?",
        r"|[A-Za-z0-9_./-]{1,60}[ \t]+(?:\||│)[ \t]?",
        r"|[a-z0-9.-]{1,40}[ ][A-Za-z0-9_./-]{1,40}(?:\[[0-9]{1,7}\])?:[ ]",
        r")",
    ))
    .unicode(false)
    .build()
    .expect("the built-in patterns are tested")
});

/// The beginning of a line up to a string that is the value of a member.
static OPENING: LazyLock<BytesRegex> = LazyLock::new(|| {
    RegexBuilder::new(r#"^[^\n]{0,200}?[{,][ ]?"[\w.-]{1,60}"[ ]?:[ ]?"(?:\{"[\w.-]{1,60}"[ ]?:[ ]?")*"#)
        .unicode(false)
        .build()
        .expect("the built-in patterns are tested")
});

/// Returns whether the first byte after a line's indentation may begin a prefix. It is one of marks, digits, brackets or
/// letters of tags; the latter are followed by a bar, a bracket or a colon with a number.
fn may_have_prefix(line: &[u8]) -> bool {
    let trimmed = line.trim_ascii_start();
    match trimmed.first() {
        None => false,
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'.' => {
            let head = &trimmed[..trimmed.len().min(MAX_PREFIX_BYTES)];
            let is_tag = |pair: &[u8]| {
                matches!(pair[0], b'|')
                    || (matches!(pair[0], b':' | b'-' | b'(') && pair[1].is_ascii_digit())
                    || (pair[0] == b']' && matches!(pair[1], b':' | b' '))
            };
            head.windows(2).any(is_tag)
                || memchr::memmem::find(head, "│".as_bytes()).is_some()
                || LEVELS.iter().any(|level| head.starts_with(level))
        }
        Some(b'"' | b'\'' | b'{' | b'}' | b')' | b'@' | b'&' | b'_' | b'=' | b',') => false,
        Some(_) => true,
    }
}

const LEVELS: &[&[u8]] = &[
    b"TRACE", b"DEBUG", b"INFO", b"NOTICE", b"WARN", b"ERROR", b"FATAL", b"trace", b"debug", b"info", b"notice",
    b"warn", b"error", b"std", b"STD", b"out", b"err", b"REM", b"rem", b"dnl", b"Jan", b"Feb", b"Mar", b"Apr", b"May",
    b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Takes prefixes off the lines of a text, and borders off their ends.
fn lines(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut is_changed = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        let prefix = prefix_length(body);
        let end = body.len() - border_length(&body[prefix..]);
        is_changed |= prefix > 0 || end < body.len();
        view.copy(text, start + prefix..start + end);
        view.copy(text, start + body.len()..start + line.len());
        start += line.len();
    }
    is_changed.then_some(view)
}

/// Returns how long the prefixes of a line are.
fn prefix_length(line: &str) -> usize {
    let mut at = 0;
    // A string of JSON that goes on over the next lines begins in this one.
    if memchr::memmem::find(line.as_bytes(), b"\":").is_some()
        && let Some(opening) = OPENING.find(line.as_bytes())
    {
        let rest = &line[opening.end()..];
        let is_open = memchr::memchr_iter(b'"', line.as_bytes()).count() % 2 == 1 || !rest.contains('"');
        if is_open {
            at = opening.end();
        }
    }
    let opened = at;
    for _ in 0..MAX_PREFIXES {
        let rest = &line[at..];
        // Dashes before a key and before an option are theirs, and a prompt tells what is typed from what is printed.
        let is_own = {
            let trimmed = rest.trim_start();
            let is_typed = trimmed
                .strip_prefix("$ ")
                .is_some_and(|typed| typed.starts_with(|c: char| c.is_ascii_lowercase() || c == '.'));
            let dashes = trimmed.bytes().take_while(|byte| *byte == b'-').count();
            // After another prefix a gap is the indentation of what follows, and a dash an item of a list.
            let is_indented = at > 0 && at != opened && rest.starts_with([' ', '\t']);
            let is_item = trimmed.starts_with("- ") && (at > opened || trimmed.len() < rest.len());
            is_indented
                || is_typed
                || is_item
                || is_row(trimmed)
                || (dashes == 2 && !trimmed[2..].starts_with([' ', '\t']))
                || (dashes >= 3 && !trimmed.starts_with("------"))
        };
        if at >= MAX_PREFIX_BYTES || is_own || !may_have_prefix(rest.as_bytes()) {
            break;
        }
        // Most numbered lines are those of `cat -n`.
        if let Some(length) = number_and_tab(rest.as_bytes()) {
            at += length;
            continue;
        }
        let Some(found) = PREFIX.find(rest.as_bytes()).filter(|found| !found.is_empty()) else { break };
        at += found.end();
    }
    at
}

/// Returns whether a line is one of a table with bars at both of its ends, or draws a border of it.
fn is_row(line: &str) -> bool {
    let line = line.trim_end().as_bytes();
    let has_bars = || memchr::memchr_iter(b'|', line).count() >= 3;
    let is_border = || line.iter().all(|byte| matches!(byte, b'+' | b'-' | b'|' | b'=' | b':'));
    match (line.first(), line.last()) {
        (Some(b'|'), Some(b'|')) => line.len() > 2 && has_bars(),
        (Some(b'+'), Some(b'+')) => line.len() > 4 && is_border(),
        _ => false,
    }
}

/// Returns the length of a right-aligned number with a tab after it.
fn number_and_tab(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take(8).take_while(|byte| **byte == b' ').count();
    let digits = line[blanks..].iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && line.get(blanks + digits) == Some(&b'\t')).then_some(blanks + digits + 1)
}

/// Returns how long the border at the end of a line is.
fn border_length(line: &str) -> usize {
    let trimmed = line.trim_end();
    if is_row(line.trim_start()) {
        return 0;
    }
    let without = trimmed
        .strip_suffix('│')
        .or_else(|| trimmed.strip_suffix('┃'))
        .or_else(|| trimmed.strip_suffix('║'))
        .or_else(|| trimmed.strip_suffix(" |"))
        .or_else(|| trimmed.strip_suffix(" */"))
        .or_else(|| trimmed.strip_suffix(" -->"));
    without.map_or(0, |without| line.len() - without.trim_end().len())
}

/// Most white space, and longest name, between the end of one string and the beginning of the next.
const MAX_JOINT_GAP_BYTES: usize = 80;

/// What joins two strings, longest first.
const OPERATORS: &[&[u8]] = &[b"++", b"..", b"||", b"<>", b"<<", b"+", b".", b"&", b"^", b"~"];

/// What adds a string to a variable.
const ADDITIONS: &[&[u8]] = &[b"+=", b".=", b"&=", b"<<="];

/// Methods that add a string.
const METHODS: &[&[u8]] = &[b".append(", b".Append(", b".concat(", b".push(", b".write(", b".add(", b".push_str("];

/// Returns where the string begins that goes on what a quote ends.
fn joint(bytes: &[u8], quote: usize) -> Option<usize> {
    let end = bytes.len();
    let skip = |from: usize, test: fn(&u8) -> bool| {
        from + bytes[from.min(end)..end].iter().take(MAX_JOINT_GAP_BYTES).take_while(|byte| test(byte)).count()
    };
    let is_blank: fn(&u8) -> bool = |byte| matches!(byte, b' ' | b'\t');
    let is_space: fn(&u8) -> bool = |byte| byte.is_ascii_whitespace();
    let opening = |from: usize| {
        let at = skip(from, |byte| matches!(byte, b'f' | b'b' | b'r' | b'u' | b'L' | b'@' | b'$')).min(from + 2);
        (bytes.get(at) == Some(&bytes[quote])).then_some(at + 1)
    };
    let here = skip(quote + 1, is_space);
    let rest = bytes.get(here..)?;
    if !matches!(rest.first(), Some(b'+' | b'.' | b'|' | b'<' | b'&' | b'^' | b'~' | b')' | b';' | b'\\'))
        && !bytes[quote + 1..here].contains(&b'\n')
    {
        return None;
    }
    if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(operator)) {
        let mut behind = skip(here + operator.len(), is_blank);
        behind += usize::from(*operator == b"&" && bytes.get(behind) == Some(&b'_'));
        if let Some(opened) = opening(skip(behind, is_space)) {
            return Some(opened);
        }
    }
    // The next line, with or without a mark that the string goes on.
    let mark = usize::from(rest.first() == Some(&b'\\'));
    let next = skip(here + mark, is_space);
    if bytes[quote + 1..next.min(end)].contains(&b'\n')
        && let Some(opened) = opening(next)
    {
        return Some(opened);
    }
    // The end of a statement, and another that adds to the same variable.
    let mut at = skip(quote + 1, is_blank);
    at += usize::from(bytes.get(at) == Some(&b')'));
    at = skip(at, is_blank);
    at += usize::from(bytes.get(at) == Some(&b';'));
    at = skip(at, is_space);
    let name = skip(at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    let behind = skip(name, is_blank);
    let adds = |at: usize, what: &[&[u8]]| {
        what.iter().find(|what| bytes.get(at..).is_some_and(|rest| rest.starts_with(what))).map(|what| at + what.len())
    };
    adds(behind, ADDITIONS).or_else(|| adds(name, METHODS)).and_then(|at| opening(skip(at, is_blank)))
}

/// Returns whether there may be something to join.
fn joins(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'"', b'\'', b'`', bytes).any(|quote| joint(bytes, quote).is_some())
        || memchr::memmem::find(bytes, b"\\\n").is_some()
        || lists(bytes).into_iter().any(|list| {
            memchr::memchr3_iter(b'"', b'\'', b'`', &bytes[list.clone()])
                .any(|quote| next_in_list(bytes, list.start + quote).is_some())
        })
}

/// Words of calls that put strings together which are in a list.
static JOINERS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(["join", "concat", "implode", "strcat", "sprint(", "reduce(", "format(", "printf("])
        .expect("a few short texts")
});

/// How many of [`JOINERS`] put strings together whatever their first argument is.
const SURE_JOINERS: usize = 6;

/// Returns where the first piece begins of strings that a call puts together, if a separator or a format is before them
/// that adds nothing: `join("", ["ab", "cd"])`, `format("%s%s", "ab", "cd")`. `at` is the end of the word for the call.
fn behind_format(bytes: &[u8], at: usize) -> Option<usize> {
    let skip = |from: usize, test: fn(&u8) -> bool| {
        from + bytes[from.min(bytes.len())..].iter().take(MAX_JOINT_GAP_BYTES).take_while(|byte| test(byte)).count()
    };
    let opening: fn(&u8) -> bool = |byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'[' | b':');
    let opened = skip(at, opening);
    let quote = *bytes.get(opened).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let format = opened + 1..opened + 1 + memchr::memchr(quote, bytes.get(opened + 1..bytes.len().min(opened + 40))?)?;
    let written = std::str::from_utf8(&bytes[format.clone()]).ok()?;
    if !written.replace("%s", "").replace("%v", "").replace("{}", "").is_empty() {
        return None;
    }
    let comma = skip(format.end + 1, |byte| byte.is_ascii_whitespace());
    let first = (bytes.get(comma) == Some(&b',')).then_some(comma + 1)?;
    let word = skip(first, |byte| {
        byte.is_ascii_whitespace() || byte.is_ascii_lowercase() || matches!(byte, b'[' | b'(' | b'{' | b']')
    });
    matches!(bytes.get(word), Some(b'"' | b'\'')).then_some(word)
}

/// Longest list of strings that are put together.
const MAX_LIST_BYTES: usize = 600;

/// Returns where the lists are whose strings a call puts together: its arguments, or what it is called on, in order and
/// apart.
fn lists(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut lists: Vec<Range<usize>> = Vec::new();
    for joiner in JOINERS.find_iter(bytes) {
        let before = bytes[..joiner.start()].trim_ascii_end();
        let before = before.strip_suffix(b".").or_else(|| before.strip_suffix(b"-")).unwrap_or(before).trim_ascii_end();
        let list = match before.last() {
            Some(b']' | b')' | b'}') => {
                let first = before.len().saturating_sub(MAX_LIST_BYTES);
                let line = memchr::memrchr2(b';', b'=', &before[first..]).map_or(first, |at| first + at);
                line..before.len()
            }
            _ => {
                let rest = &bytes[joiner.end()..bytes.len().min(joiner.end() + MAX_LIST_BYTES)];
                let is_sure = joiner.pattern().as_usize() < SURE_JOINERS;
                if !is_sure && behind_format(bytes, joiner.end() - 1).is_none() {
                    continue;
                }
                let opened = !is_sure || rest.iter().take(8).any(|byte| matches!(byte, b'(' | b'[' | b'@'));
                let end = memchr::memchr(b';', rest).unwrap_or(rest.len());
                if !opened {
                    continue;
                }
                joiner.end()..joiner.end() + end
            }
        };
        match lists.last_mut() {
            Some(last) if last.end >= list.start => last.end = last.end.max(list.end),
            _ => lists.push(list),
        }
    }
    lists
}

/// Returns where the string begins that is the next of a list after what a quote ends.
fn next_in_list(bytes: &[u8], quote: usize) -> Option<usize> {
    let skip = |from: usize| {
        from + bytes[from..].iter().take(MAX_JOINT_GAP_BYTES).take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let comma = skip(quote + 1);
    let next = (bytes.get(comma) == Some(&b',')).then(|| skip(comma + 1))?;
    (bytes.get(next) == Some(&bytes[quote])).then_some(next + 1)
}

/// Joins strings that are put together from pieces, and lines that go on.
fn join(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view = View::default();
    let mut copied = 0;
    let mut is_changed = memchr::memmem::find(bytes, b"\\\n").is_some();
    let lists = lists(bytes);
    // What is before the first piece is left out, so that the name before it has a value.
    let mut heads = JOINERS
        .find_iter(bytes)
        .filter_map(|joiner| {
            Some((joiner.start(), behind_format(bytes, joiner.start() + name_bytes(&bytes[joiner.range()]))?))
        })
        .peekable();
    for quote in memchr::memchr3_iter(b'"', b'\'', b'`', bytes) {
        if let Some((start, first)) = heads.next_if(|(start, _)| *start < quote)
            && start >= copied
        {
            let word = bytes[copied..start].iter().rev().take(MAX_JOINT_GAP_BYTES);
            let word =
                word.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!'));
            let start = start - word.count();
            copy_joined_lines(text, copied..start, &mut view);
            copied = first;
            is_changed = true;
        }
        if quote < copied {
            continue;
        }
        let in_list = || {
            let list = lists.partition_point(|list| list.end <= quote);
            lists.get(list).filter(|list| list.start <= quote).and_then(|_| next_in_list(bytes, quote))
        };
        if let Some(next) = joint(bytes, quote).or_else(in_list) {
            copy_joined_lines(text, copied..quote, &mut view);
            copied = next;
            is_changed = true;
        }
    }
    copy_joined_lines(text, copied..text.len(), &mut view);
    is_changed.then_some(view)
}

/// Returns the length of the word of a joiner, without the bracket that may end it.
fn name_bytes(joiner: &[u8]) -> usize {
    joiner.len() - usize::from(joiner.ends_with(b"("))
}

fn copy_joined_lines(text: &str, range: Range<usize>, view: &mut View) {
    let bytes = text.as_bytes();
    let mut start = range.start;
    while let Some(at) = memchr::memmem::find(&bytes[start..range.end], b"\\\n") {
        view.copy(text, start..start + at);
        let line = &bytes[memchr::memrchr(b'\n', &bytes[..start + at]).map_or(0, |end| end + 1)..start + at];
        start += at + 2;
        // In a string of YAML the indentation of the next line is no part of it, and no password has spaces in it.
        let is_open = line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        if is_open && line.last().is_some_and(u8::is_ascii_graphic) {
            let blanks = bytes[start..range.end].iter().take(MAX_JOINT_GAP_BYTES);
            start += blanks.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        }
    }
    view.copy(text, start..range.end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> String {
        decode(text).last().map_or_else(|| text.to_owned(), |layers| layers.text(text).to_owned())
    }

    #[test]
    fn characters_are_decoded() {
        for (written, decoded) in [
            ("\u{1b}[1;31mKEY\u{1b}[0m=\u{1b}]8;;http://x\u{7}v\u{1b}(B", "KEY=v"),
            ("\\u001b[31mKEY\\x1b[0m\\033[1m=\\e[0mv", "KEY=v"),
            ("^[[31mKEY^[[0m=v", "KEY=v"),
            ("a\\nb\\\\nc\\r\\nd", "a\nb\nc\nd"),
            ("\\\"a\\\\\\\"", "\"a\""),
            ("p&quot;x&#39;&#x22;&amp;", "p\"x'\"&"),
            ("password%3Dabc%0A", "password=abc\n"),
            ("a\u{200b}b\u{feff}", "ab"),
            ("\\u0041\\x42\\u{43}", "ABC"),
            ("100% \\d & \\q \\", "100% \\d & \\q \\"),
        ] {
            assert_eq!(last(written), decoded, "{written}");
        }
    }

    #[test]
    fn prefixes_of_lines_are_taken_off() {
        for written in [
            "    12\tKEY=v",
            "12:KEY=v",
            "src/a.env:12:KEY=v",
            "a.env-12-KEY=v",
            "+KEY=v",
            "-KEY=v",
            "+ KEY=v",
            "> KEY=v",
            ">> KEY=v",
            "# KEY=v",
            "//KEY=v",
            "  // KEY=v",
            " * KEY=v",
            "| KEY=v |",
            "│ KEY=v   │",
            "  12 │ KEY=v",
            "12→KEY=v",
            "++ KEY=v",
            "2026-01-02T03:04:05.678Z KEY=v",
            "[2026-01-02 03:04:05] INFO KEY=v",
            "Jan  2 03:04:05 host app[12]: KEY=v",
            "app-1  | KEY=v",
            "[app] KEY=v",
            "12 | + KEY=v",
            "$ KEY=v",
        ] {
            assert_eq!(last(written), "KEY=v", "{written}");
        }
        for kept in ["KEY=v", "--token v", "-----BEGIN X-----", "  indented: v", "name: v", "\"12\": v"] {
            assert_eq!(last(kept), kept);
        }
    }

    #[test]
    fn a_text_over_the_limit_is_looked_at_as_it_is_written() {
        let mut text = "a\\n".to_owned();
        assert!(!decode(&text).is_empty());
        text.push_str(&"b".repeat(MAX_DECODED_BYTES));
        assert!(decode(&text).is_empty());
    }

    #[test]
    fn what_stands_before_the_first_string_of_a_call_is_left_out() {
        for (written, joined) in [
            ("k = join(\"\", [\"ab\", \"cd\"])", "k = \"abcd\"])"),
            ("k = format(\"%s%s\", \"ab\", \"cd\")", "k = \"abcd\")"),
            ("k: \"ab\\\n   cd\"", "k: \"abcd\""),
        ] {
            assert_eq!(last(written), joined, "{written}");
        }
        assert_eq!(last("f(\"user %s\", \"ab\", \"cd\")"), "f(\"user %s\", \"ab\", \"cd\")");
    }

    #[test]
    fn strings_are_joined() {
        for written in [
            "k = \"ab\" + \"cd\";",
            "k = \"ab\" +\n    \"cd\";",
            "k = \"ab\" . \"cd\";",
            "k = \"ab\" .. \"cd\";",
            "k = \"ab\" & _\n  \"cd\";",
            "k = \"ab\" || \"cd\";",
            "k = \"ab\"\n  \"cd\";",
            "k = \"ab\" \\\n  \"cd\";",
            "k = \"ab\";\nk += \"cd\";",
            "k = \"ab\").append(\"cd\";",
            "k = \"ab\\\ncd\";",
        ] {
            assert_eq!(last(written), "k = \"abcd\";", "{written}");
        }
        for kept in ["[\"a\", \"b\"]", "x(\"a\", 'b')", "\"a\" + 'b'"] {
            assert_eq!(last(kept), kept);
        }
    }
}
