//! Values that are on the lines below their names: blocks of YAML, and the data of secrets of Kubernetes.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;

use super::contexts::{is_announced, is_strong};
use super::found::{Evidence, Found};
use super::headers::LENIENT;
use super::kind::Kind;
use super::literal::{is_secret, stands_in};
use super::marks::{Mark, Marks};
use super::names::{SECRET, sensitive_name};
use super::plausible::Form;

const PRIVATE: Kind = SECRET;

/// Most lines of a block that are looked at.
const MAX_BLOCK_LINES: usize = 200;

/// Most lines of a secret of Kubernetes.
const MAX_SECRET_LINES: usize = 400;

/// A line of a text without its end.
#[derive(Clone)]
struct YamlLine<'a> {
    start: usize,
    text: &'a str,
}

impl YamlLine<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the key of a line, and where its value is.
    fn member(&self) -> Option<(&str, Range<usize>)> {
        self.plain_member().or_else(|| self.heading())
    }

    /// Returns the key at the end of a line that has something before it, and where its empty value is.
    fn heading(&self) -> Option<(&str, Range<usize>)> {
        let (before, behind) = self.text.rsplit_once(':')?;
        let mark = behind.trim();
        let key = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))).next()?;
        let start = self.start + self.text.len() - behind.len() + (behind.len() - behind.trim_start().len());
        (matches!(mark, "" | "|" | ">" | "|-" | ">-" | "|+" | ">+") && !key.is_empty())
            .then_some((key, start..start + mark.len()))
    }

    fn plain_member(&self) -> Option<(&str, Range<usize>)> {
        let body = self.text.trim_start();
        let body = body.strip_prefix("- ").unwrap_or(body);
        let offset = self.text.len() - body.len();
        let (key, value) = body.split_once(':')?;
        if !(value.is_empty() || value.starts_with([' ', '\t'])) {
            return None;
        }
        let trimmed = value.trim();
        let start = self.start + offset + key.len() + 1 + (value.len() - value.trim_start().len());
        let key = key.trim().trim_matches(['"', '\'']);
        (!key.is_empty() && key.len() <= 100 && !key.contains(char::is_whitespace))
            .then_some((key, start..start + trimmed.len()))
    }
}

/// Finds the secrets of blocks.
pub(crate) fn find(text: &str, marks: Marks, found: &mut Vec<Found>) {
    let has_block = marks.has(Mark::Block) || marks.has(Mark::Here);
    let has_secret = marks.has(Mark::Secret) && marks.has(Mark::Data);
    if !has_block && !has_secret {
        return;
    }
    let mut start = 0;
    let mut lines: Vec<YamlLine<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.push(YamlLine { start, text: line.trim_end_matches(['\n', '\r']) });
        start += line.len();
    }
    for (at, line) in lines.iter().enumerate() {
        here_document(&lines[at..], found);
        let Some((key, value)) = line.member() else { continue };
        let written = &text[value];
        let is_block =
            written.starts_with(['|', '>']) && written.len() <= 3 || written.is_empty() || written.starts_with("!!");
        if is_block && let Some(kind) = sensitive_name(key) {
            block(&lines[at + 1..], line.indent(), key, &kind, found);
        } else if written.is_empty() && is_plural(key) {
            list(&lines[at + 1..], line.indent(), found);
        }
        if has_secret && matches!(written.trim_matches(['"', '\'']), "Secret" | "SealedSecret") && key == "kind" {
            kubernetes(&lines, at, text, found);
        }
    }
}

/// Longest group of members in brackets that is looked at.
const MAX_GROUP_BYTES: usize = 800;

/// Finds values that look like keys among the members in brackets after a plural name: `tokens { agent = "..." }`.
pub(crate) fn find_in_groups(text: &str, names: &[Range<usize>], found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for name in names.iter().filter(|name| is_plural(&text[(*name).clone()])) {
        let rest = &bytes[name.end..bytes.len().min(name.end + MAX_GROUP_BYTES)];
        let Some(opened) = rest.iter().take(8).position(|byte| matches!(byte, b'{' | b'[' | b'(')) else { continue };
        if !rest[..opened].iter().all(|byte| matches!(byte, b' ' | b'=' | b':' | b'>' | b'"' | b'\'')) {
            continue;
        }
        let mut depth = 0_usize;
        let is_end = |byte: &u8| {
            depth += usize::from(matches!(byte, b'{' | b'[' | b'('));
            depth -= usize::from(matches!(byte, b'}' | b']' | b')')).min(depth);
            depth == 0
        };
        let end = rest[opened..].iter().position(is_end).map_or(rest.len(), |end| opened + end);
        let is_apart = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`{}[](),;=".contains(byte);
        let mut at = opened;
        for word in rest[opened..end].split(is_apart) {
            let span = name.end + at..name.end + at + word.len();
            at += word.len() + 1;
            if let Some(value) = text.get(span.clone())
                && is_strong(value)
            {
                found.push(Found::new(span, PRIVATE, Evidence::Context));
            }
        }
    }
}

/// Returns whether a name is the plural of a name for secrets.
pub(crate) fn is_plural(name: &str) -> bool {
    name.strip_suffix(['s', 'S']).is_some_and(|one| sensitive_name(one).is_some())
}

/// Finds the secrets in a list under a plural name. The elements may also be names of secrets.
fn list(lines: &[YamlLine<'_>], indent: usize, found: &mut Vec<Found>) {
    for line in lines.iter().take(MAX_BLOCK_LINES) {
        let element = line.text.trim_start().strip_prefix("- ").filter(|_| line.indent() >= indent);
        let member = || line.plain_member().filter(|_| line.indent() > indent).map(|_| line.text.split_once(':'));
        let (element, is_member) = match element {
            Some(element) => (element, false),
            None => match member().flatten() {
                Some((_, value)) => (value, true),
                None => break,
            },
        };
        let value = element.trim().trim_matches(['"', '\'']);
        let is_one = if is_member { is_strong(value) } else { is_announced(value) };
        if !value.contains(char::is_whitespace) && is_one {
            let start = line.start + line.text.find(value).unwrap_or_default();
            found.push(Found::new(start..start + value.len(), PRIVATE, Evidence::Context));
        }
    }
}

/// Finds the lines of a here-document that is assigned to the name of a secret.
fn here_document(lines: &[YamlLine<'_>], found: &mut Vec<Found>) {
    let Some((first, rest)) = lines.split_first() else { return };
    let Some((name, tag)) = first.text.split_once("<<") else { return };
    let name = name.trim().trim_end_matches(['=', ':', ' ', '\t']);
    let name = name.rsplit(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(')).next().unwrap_or(name);
    let tag = tag.trim_start_matches(['-', '~', '"', '\'']);
    let tag: String = tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let Some(kind) = sensitive_name(name).filter(|_| !tag.is_empty()) else { return };
    for line in rest.iter().take(MAX_BLOCK_LINES).take_while(|line| line.text.trim() != tag) {
        let value = line.text.trim();
        if !value.contains(char::is_whitespace) && is_secret(value, name, Form::Environment, &kind) {
            let start = line.start + line.text.find(value).unwrap_or_default();
            found.push(Found::new(start..start + value.len(), kind.clone(), Evidence::Context));
        }
    }
}

/// Finds the lines of a block under the name of a secret.
fn block(lines: &[YamlLine<'_>], indent: usize, key: &str, kind: &Kind, found: &mut Vec<Found>) {
    for line in lines.iter().take(MAX_BLOCK_LINES) {
        if line.is_blank() {
            continue;
        }
        if line.indent() <= indent || line.member().is_some_and(|(_, value)| !value.is_empty() && is_plain_key(line)) {
            break;
        }
        let written = line.text.trim().trim_start_matches("- ").trim_matches(['"', '\'']);
        let offset = line.text.find(written).unwrap_or_default();
        if is_secret(written, key, Form::Environment, kind) {
            let start = line.start + offset;
            found.push(Found::new(start..start + written.len(), kind.clone(), Evidence::Context));
        }
    }
}

/// Returns whether a line begins like a member of a mapping rather than like a password with a colon.
fn is_plain_key(line: &YamlLine<'_>) -> bool {
    line.member().is_some_and(|(key, _)| {
        key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    })
}

/// Finds the values of a secret of Kubernetes, whatever they are called.
fn kubernetes(lines: &[YamlLine<'_>], kind: usize, text: &str, found: &mut Vec<Found>) {
    let is_border = |line: &YamlLine<'_>| line.text.trim() == "---";
    let root = lines[kind].indent();
    let first =
        lines[..kind].iter().rposition(is_border).map_or(0, |at| at + 1).max(kind.saturating_sub(MAX_SECRET_LINES));
    let mut under: Option<(usize, Encoding)> = None;
    for line in lines[first..].iter().take(MAX_SECRET_LINES) {
        if is_border(line) {
            break;
        }
        let Some((key, value)) = line.member() else { continue };
        if line.indent() <= root {
            under = match key {
                "data" => Some((line.indent(), Encoding::Base64)),
                "stringData" => Some((line.indent(), Encoding::Plain)),
                _ => None,
            };
            continue;
        }
        let Some((indent, encoding)) = under else { continue };
        if line.indent() <= indent {
            under = None;
            continue;
        }
        let written = text[value.clone()].trim_matches(['"', '\'']);
        let start = value.start + text[value].find(written).unwrap_or_default();
        if is_value(written, encoding) {
            let kind = sensitive_name(key).unwrap_or(PRIVATE);
            let mut secret = Found::new(start..start + written.len(), kind, Evidence::Context);
            if let Some(decoded) = decoded(written).filter(|value| encoding == Encoding::Base64 && !stands_in(value)) {
                secret.aliases.push(decoded);
            }
            found.push(secret);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Plain,
    Base64,
}

fn is_value(written: &str, encoding: Encoding) -> bool {
    if stands_in(written) || written.starts_with(['|', '>']) {
        return false;
    }
    match encoding {
        Encoding::Plain => written.len() >= 6 && is_secret(written, "password", Form::Environment, &SECRET),
        Encoding::Base64 => {
            written.len() >= 8 && !written.contains(' ') && decoded(written).is_some_and(|value| value.len() >= 6)
        }
    }
}

/// Decodes base64 of a text.
pub(crate) fn decoded(written: &str) -> Option<String> {
    let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
    let text = String::from_utf8(engine.decode(written).ok()?).ok()?;
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t')).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    #[test]
    fn blocks_and_data_of_secrets_are_found() {
        for (text, values) in [
            ("user: app\npassword: |\n  staplehorse7\nport: 1\n", vec!["staplehorse7"]),
            ("password: >-\n  staplehorse7\n", vec!["staplehorse7"]),
            ("password:\n  staplehorse7\n", vec!["staplehorse7"]),
            ("tokens:\n  - a\n", vec![]),
            ("tokens:\n  - q1W2e3r4T5y6u7i8\n", vec!["q1W2e3r4T5y6u7i8"]),
            ("password = <<EOF\nstaplehorse7\nEOF\n", vec!["staplehorse7"]),
            ("password:\n  type: string\n  minLength: 8\n", vec![]),
            (
                "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app-secret\ndata:\n  user: YWRtaW4tdXNlcg==\n  ca: c3RhcGxlaG9yc2U=\n",
                vec!["YWRtaW4tdXNlcg==", "c3RhcGxlaG9yc2U="],
            ),
            ("stringData:\n  anything: \"staplehorse\"\nkind: Secret\n", vec!["staplehorse"]),
            ("kind: ConfigMap\ndata:\n  mode: production-mode\n", vec![]),
        ] {
            let found = values_found(text, |found| find(text, Marks::of(text), found));
            assert_eq!(found, values, "{text}");
        }
    }

    #[test]
    fn no_more_lines_of_a_block_than_the_limit_are_looked_at() {
        let count = |text: &str| {
            let mut found = Vec::new();
            find(text, Marks::of(text), &mut found);
            found.len()
        };
        let lines: String = (0..MAX_BLOCK_LINES + 9).map(|number| format!("  - q1W2e3r4T5y6u{number}\n")).collect();
        assert_eq!(count(&format!("tokens:\n{lines}")), MAX_BLOCK_LINES);
        let lines: String =
            (0..MAX_SECRET_LINES + 9).map(|number| format!("  x{number}: staplehorse{number}\n")).collect();
        let before = count(&format!("kind: Secret\nstringData:\n{lines}"));
        assert!(before > MAX_SECRET_LINES - 9 && before <= MAX_SECRET_LINES, "{before}");
    }
}
