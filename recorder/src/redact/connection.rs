//! Passwords in connection strings: `Server=db;Password=...;` as ADO and ODBC have it, `host=db password=...` as libpq has.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::found::{Evidence, Found};
use super::literal::is_secret;
use super::names::sensitive_name;
use super::plausible::Form;
use super::quotes::outer_quote;

/// How far from a password the other parts of its connection string are looked for.
const MAX_DISTANCE_BYTES: usize = 400;

fn pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the built-in patterns are tested")
}

/// The value of a part, after its name. Group 4 is a value without quotes.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[ ]{0,3}=[ ]{0,3}(?:\x22((?:[^\x22\n]|\x22\x22){3,})\x22|'((?:[^'\\\n]|''|\\.){3,})'|\{((?:[^}\n]|\}\}){3,})\}|([^\n]{3,}))"#,
    )
});

/// Another part after a semicolon.
static BEHIND_SEMICOLON: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i);[ ]?[a-z][a-z _]+[ ]?="));

/// A part at the beginning, with its semicolon.
static BEFORE_SEMICOLON: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b[a-z][a-z _]+[ ]?=[^;\n]*;"));

/// A part as libpq has it.
static KEYWORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:host|hostaddr|dbname|user|port|sslmode|connect_timeout|application_name|database|options)[ ]?=[ ]?\S",
    )
});

/// How the parts of a connection string are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Semicolon,
    Blank,
}

/// Finds the secrets of connection strings.
pub(crate) fn find(text: &str, names: &[Range<usize>], found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for part in names.iter().cloned() {
        let rest = &bytes[part.end..bytes.len().min(part.end + MAX_DISTANCE_BYTES + 16)];
        if !rest.iter().take(4).any(|byte| *byte == b'=') || rest.starts_with(b"==") {
            continue;
        }
        let value_start = rest.iter().position(|byte| !matches!(byte, b' ' | b'=')).unwrap_or_default();
        if matches!(rest[value_start], b'<' | b'*' | b'&') || rest[value_start..].starts_with(b"${") {
            continue;
        }
        let name = &text[part.clone()];
        let is_named = sensitive_name(name).is_some() || matches!(name, "pass" | "Pass" | "PASS" | "Key" | "key");
        if !is_named {
            continue;
        }
        let Some(separator) = separator(bytes, part.start, part.end) else { continue };
        let Some(captures) = VALUE.captures(rest) else { continue };
        let range = |group: usize| captures.get(group).map(|value| value.start() + part.end..value.end() + part.end);
        let value = match (range(1).or_else(|| range(2)).or_else(|| range(3)), range(4)) {
            (Some(value), _) => value,
            (None, Some(rest)) => rest.start..rest.start + unquoted_length(bytes, rest, part.start, separator),
            (None, None) => continue,
        };
        // A name may have words before it, as in `Shared Access Key`.
        let Some(written) = text.get(value.clone()) else { continue };
        let words_before =
            bytes[part.start.saturating_sub(20)..part.start].rsplit(|byte| matches!(byte, b';' | b'"' | b'\'')).next();
        let before = words_before.and_then(|words| std::str::from_utf8(words).ok()).unwrap_or_default();
        let joined: String =
            format!("{before}{name}").chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_bare = matches!(name, "pass" | "Pass" | "PASS");
        let kind = sensitive_name(name)
            .or_else(|| sensitive_name(&joined))
            .or_else(|| is_bare.then_some(super::names::PASSWORD));
        if let Some(kind) = kind
            && is_secret(written, name, Form::Environment, &kind)
        {
            found.push(Found::new(value, kind, Evidence::Context));
        }
    }
}

/// Says how the parts around a name are told apart, if there are any.
fn separator(bytes: &[u8], start: usize, end: usize) -> Option<Separator> {
    let before = &bytes[start.saturating_sub(MAX_DISTANCE_BYTES)..(start + 1).min(bytes.len())];
    let before = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1).min(before.len())..];
    let behind = &bytes[end..bytes.len().min(end + MAX_DISTANCE_BYTES)];
    let behind = &behind[..memchr::memchr(b'\n', behind).unwrap_or(behind.len())];
    if BEHIND_SEMICOLON.is_match(behind) || BEFORE_SEMICOLON.is_match(before) {
        Some(Separator::Semicolon)
    } else if KEYWORD.is_match(before) || KEYWORD.is_match(behind) {
        Some(Separator::Blank)
    } else {
        None
    }
}

/// Returns how long a value without quotes is.
fn unquoted_length(bytes: &[u8], rest: Range<usize>, name: usize, separator: Separator) -> usize {
    let outer = outer_quote(bytes, name);
    let rest = &bytes[rest];
    let is_end = |at: usize, byte: u8| {
        let is_escaped = at > 0 && rest[at - 1] == b'\\';
        let is_separator = match separator {
            Separator::Semicolon => byte == b';' || byte == b'<',
            Separator::Blank => byte.is_ascii_whitespace() && !is_escaped,
        };
        let is_outer_end = Some(byte) == outer && !is_escaped;
        is_separator || is_outer_end || (byte == b'\\' && matches!(rest.get(at + 1), Some(b'"' | b'n' | b'r')))
    };
    let end = rest.iter().enumerate().position(|(at, byte)| is_end(at, *byte)).unwrap_or(rest.len());
    rest[..end].trim_ascii_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::assignments::names;
    use crate::redact::found::values_found;

    #[test]
    fn passwords_of_connection_strings_are_found() {
        for (text, value) in [
            ("Server=db;Database=x;User Id=a;Password=p7'K#\"x(9)!;Encrypt=true", "p7'K#\"x(9)!"),
            ("conn = \"Server=db;Uid=a;Pwd=p7'K#x(9)!\";", "p7'K#x(9)!"),
            ("Driver={ODBC};UID=a;PWD={p7;K#x(9)};", "p7;K#x(9)"),
            ("Password=\"a;b c7K#\";Server=x", "a;b c7K#"),
            ("host=db user=a password=p7'K#x(9)! dbname=x", "p7'K#x(9)!"),
            ("psql \"host=db user=a password=p7K#x;(9)!\"", "p7K#x;(9)!"),
            ("host=db password='p7 \\'K#x(9)' port=1", "p7 \\'K#x(9)"),
            ("<add connectionString='Data Source=x;Password=staplehorse;'/>", "staplehorse"),
        ] {
            let values = values_found(text, |found| find(text, &names(text).collect::<Vec<_>>(), found));
            assert_eq!(values, [value], "{text}");
        }
        for text in [
            "password = x; user = y",
            "for (key = 0; key < 9; key++)",
            "Server=x;Password=***;",
            "a=1;password=${PASSWORD};",
        ] {
            let mut found = Vec::new();
            find(text, &names(text).collect::<Vec<_>>(), &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
