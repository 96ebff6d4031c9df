//! Names and values that are siblings: `name: DB_PASSWORD` on one line and `value: ...` on another, in either order.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use super::assignments::form_under;
use super::found::{Evidence, Found};
use super::literal::is_secret;
use super::marks::{Mark, Marks};
use super::names::{NAME_PARTS, is_session_name, sensitive_name};
use super::plausible::Form;
use super::{contexts, kind::Kind};

const COOKIE: Kind = Kind::known("cookie");

/// How far from a name its value is looked for.
const MAX_DISTANCE_BYTES: usize = 600;

fn pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the built-in patterns are tested")
}

/// What names of secrets and of cookies have in them.
static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let parts = NAME_PARTS.iter().chain(&["session", "sid", "csrf", "sessid"]);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(parts)
        .expect("a few short texts")
});

/// The key of a member that names something, right before the name.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:name|key|variable|var|varname|parameter_?key|parameter_?name|option_?name|option|field|setting|attribute|label|property|identifier|id|env)[\x22']?[ \t]{0,20}(?::|=>|=)[ \t]{0,20}[\x22']?(?:[\w.:/]+[ .:/-])?$"#,
    )
});

/// How far before a name its key is looked for.
const MAX_KEY_BYTES: usize = 90;

/// A member that holds a value, and the value.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:(?:parameter_?|option_?|string_?|default_?|plain_?)?value|val|default|content|data|secret|plaintext)[\x22']?[ \t]{0,20}(?::|=>|=)[ \t]{0,20}(?:\x22((?:[^\x22\\\n]|\\.){3,})\x22|'((?:[^'\\\n]|''|\\.){3,})'|([^\s\x22'<>{}\[\],|>-][^\n\x22'<>{}]{2,}))"#,
    )
});

/// An element with a name and its text, and a key of a property list with the string after it.
static ELEMENTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)<[\w:.-]+[^<>]*?\b(?:name|key|id|label)=[\x22'](?P<name>[^\x22'<>]{2,})[\x22'][^<>]*>\s*(?:<(?:value|string)[^<>]*>)?([^<>]{3,}?)</|<(?:key|name|member)>(?P<key>[^<>]{2,})</(?:key|name|member)>\s*<(?:string|value|val|data)(?:\s[^<>]*)?>\s*([^<>]{3,}?)\s*</"#,
    )
});

/// A cell, a heading or a term of HTML with a name, and the text of the element after it; or an element with the name of a
/// secret around one that holds its value.
static CELLS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)>\s{0,20}(?P<name>[\w][\w .-]+?)\s{0,4}:?\s{0,4}</[a-z0-9]{1,10}>\s{0,4}:?\s{0,20}(?:<[^<>/]+>\s{0,20}){0,3}([^<>\s]{6,})\s{0,20}</?|<(?P<key>[\w.:-]{2,})>\s*<(?:value|string|data|text|plaintext|plain)(?:\s[^<>]*)?>([^<>\s]{3,})</"#,
    )
});

/// Finds the values whose names are beside them.
pub(crate) fn find(text: &str, marks: Marks, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    if marks.has(Mark::Closing) {
        for captures in ELEMENTS.captures_iter(bytes) {
            let (name, value) = match (captures.name("name"), captures.get(2), captures.name("key"), captures.get(4)) {
                (Some(name), Some(value), ..) | (_, _, Some(name), Some(value)) => (name.range(), value.range()),
                _ => continue,
            };
            push(text, name, value, found);
        }
        for captures in CELLS.captures_iter(bytes) {
            let (name, value) = match (captures.name("name"), captures.get(2), captures.name("key"), captures.get(4)) {
                (Some(name), Some(value), ..) | (_, _, Some(name), Some(value)) => (name.range(), value.range()),
                _ => continue,
            };
            push(text, name, value, found);
        }
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let mut done = 0;
    for part in PARTS.find_iter(text) {
        if part.start() < done {
            continue;
        }
        let before = bytes[part.start().saturating_sub(MAX_KEY_BYTES)..part.start()]
            .iter()
            .rev()
            .take_while(|byte| is_name(byte))
            .count();
        let behind = bytes[part.end()..].iter().take(MAX_KEY_BYTES).take_while(|byte| is_name(byte)).count();
        done = part.end() + behind;
        let name = part.start() - before..done;
        // Most names are those of variables and have no key before them.
        let lead = &bytes[name.start.saturating_sub(MAX_KEY_BYTES)..name.start];
        let last = lead.trim_ascii_end().last();
        if !matches!(last, Some(b':' | b'=' | b'>' | b'"' | b'\'' | b'.' | b'/' | b'-')) && !lead.ends_with(b" ") {
            continue;
        }
        let Some(key) = KEY.find(lead) else { continue };
        let start = name.start - lead.len() + key.start();
        if sensitive_name(&text[name.clone()]).is_none() && !is_session_name(&text[name.clone()]) {
            continue;
        }
        if !push_behind(text, name.clone(), found) {
            push_before(text, start, name, found);
        }
    }
}

/// Returns whether what is between a name and a value leaves them in one object or element.
fn is_together(gap: &[u8]) -> bool {
    !gap.iter().any(|byte| matches!(byte, b'{' | b'}' | b']' | b'<' | b'>'))
}

/// Takes the first value after a name.
fn push_behind(text: &str, name: Range<usize>, found: &mut Vec<Found>) -> bool {
    let bytes = text.as_bytes();
    let region = item_behind(bytes, name.end);
    let Some(captures) = VALUE.captures_at(&bytes[..region.end], region.start) else { return false };
    let Some(start) = captures.get(0).map(|whole| whole.start()) else { return false };
    let value = (1..=3).find_map(|group| captures.get(group));
    is_together(&bytes[name.end..start]) && value.is_some_and(|value| push(text, name, value.range(), found))
}

/// Takes the last value before a name.
fn push_before(text: &str, to: usize, name: Range<usize>, found: &mut Vec<Found>) -> bool {
    let bytes = text.as_bytes();
    let region = item_before(bytes, to);
    let (mut at, mut last) = (region.start, None);
    while let Some(captures) = VALUE.captures_at(&bytes[..region.end], at) {
        let Some(value) = (1..=3).find_map(|group| captures.get(group)).map(|value| value.range()) else { break };
        at = value.end;
        last = Some(value);
    }
    last.is_some_and(|value| is_together(&bytes[value.end..to]) && push(text, name, value, found))
}

fn push(text: &str, name: Range<usize>, value: Range<usize>, found: &mut Vec<Found>) -> bool {
    let (Some(name), Some(written)) = (text.get(name), text.get(value.clone())) else { return false };
    let name = name.trim();
    let written = written.trim_end_matches([' ', '\t', '\r', ',', ';']);
    let value = value.start..value.start + written.len();
    match sensitive_name(name) {
        Some(kind) => {
            // Where a name and a value are members, nothing else can be meant.
            let form = if name.contains(' ') { form_under(name) } else { Form::Environment };
            let is_one = is_secret(written, name, form, &kind);
            if is_one {
                found.push(Found::new(value, kind, Evidence::Context));
            }
            is_one
        }
        None if is_session_name(name) && contexts::is_random(written) => {
            found.push(Found::new(value, COOKIE, Evidence::Context));
            true
        }
        None => false,
    }
}

/// Returns what follows a name up to the next item of a list, or an empty line.
fn item_behind(bytes: &[u8], from: usize) -> Range<usize> {
    let rest = &bytes[from..bytes.len().min(from + MAX_DISTANCE_BYTES)];
    let is_end = |at: &usize| {
        let behind = &rest[at + 1..];
        behind.trim_ascii_start().starts_with(b"- ") || behind.starts_with(b"\n")
    };
    from..from + memchr::memchr_iter(b'\n', rest).find(is_end).unwrap_or(rest.len())
}

/// Returns what is before a name down to where its item of a list begins, or an empty line.
fn item_before(bytes: &[u8], to: usize) -> Range<usize> {
    let first = to.saturating_sub(MAX_DISTANCE_BYTES);
    let rest = &bytes[first..to];
    let line = |at: usize| rest[at..].trim_ascii_start();
    let mut start = 0;
    for at in memchr::memrchr_iter(b'\n', rest) {
        if rest.get(at + 1) == Some(&b'\n') {
            start = at + 1;
            break;
        }
        if line(at + 1).starts_with(b"- ") || line(at + 1) == b"-" {
            // If the line of the name begins the item, nothing of the item precedes it.
            start = at + 1;
            break;
        }
    }
    first + start..to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    #[test]
    fn a_value_is_found_beside_its_name_on_either_side() {
        for text in [
            "- name: DB_PASSWORD\n  value: staplehorse\n- name: MODE\n  value: production\n",
            "- value: staplehorse\n  name: DB_PASSWORD\n- name: MODE\n  value: production\n",
            "{name: 'DB_PASSWORD', value: 'staplehorse'}, {name: 'MODE', value: 'production'}",
            "{\"value\": \"staplehorse\", \"name\": \"DB_PASSWORD\"}, {\"name\": \"MODE\", \"value\": \"production\"}",
            "environment {\n  name  = \"DB_PASSWORD\"\n  value = \"staplehorse\"\n}\nenvironment {\n  name = \"MODE\"\n}\n",
            "<add key=\"DbPassword\" value=\"staplehorse\"/>",
            "<add value=\"staplehorse\" key=\"DbPassword\"/>",
            "<property name=\"db.password\">staplehorse</property>",
            "<setting name=\"Password\" serializeAs=\"String\">\n  <value>staplehorse</value>\n</setting>",
            "<key>DbPassword</key>\n  <string>staplehorse</string>",
            "ParameterKey: DbPassword\nParameterValue: staplehorse\n",
        ] {
            let mut values = values_found(text, |found| find(text, Marks::of(text), found));
            values.dedup();
            assert_eq!(values, ["staplehorse"], "{text}");
        }
    }
}
