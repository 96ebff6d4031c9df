//! Secrets that are the arguments of a format: `printf 'DB_PASSWORD=%s\n' '...'`, `"password={}".format("...")`.

use std::ops::Range;

use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::is_secret;
use super::names::sensitive_name;
use super::plausible::Form;
use super::quotes::outer_quote;

/// Longest format, and longest list of its arguments.
const MAX_FORMAT_BYTES: usize = 400;
const MAX_ARGUMENTS_BYTES: usize = 600;

/// Most arguments that are counted.
const MAX_ARGUMENTS: usize = 16;

/// Places that an argument fills.
const FIELDS: &[&[u8]] = &[b"%s", b"%v", b"%q", b"%b", b"%@", b"{}", b"{0}", b"{1}", b"{2}", b"{:?}", b"{!r}", b"$1"];

/// Finds the arguments whose place in a format has the name of a secret before it.
pub(crate) fn find(text: &str, names: &[Range<usize>], found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for name in names {
        let behind = &bytes[name.end..bytes.len().min(name.end + 8)];
        let gap = behind.iter().take_while(|byte| matches!(byte, b'=' | b':' | b' ' | b'"' | b'\'' | b'\\')).count();
        let is_assigned = behind[..gap].iter().any(|byte| matches!(byte, b'=' | b':'));
        if !is_assigned || !matches!(behind.get(gap), Some(b'%' | b'{' | b'$')) {
            continue;
        }
        if let Some(kind) = sensitive_name(&text[name.clone()]) {
            argument(text, name, name.end + gap, &kind, found);
        }
    }
}

/// Finds the argument of the field at a place.
fn argument(text: &str, name: &Range<usize>, field: usize, kind: &Kind, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let Some(quote) = outer_quote(bytes, name.start) else { return };
    let first = name.start.saturating_sub(MAX_FORMAT_BYTES);
    let Some(opened) = memchr::memrchr(quote, &bytes[first..name.start]).map(|at| first + at + 1) else { return };
    let rest = &bytes[field..bytes.len().min(field + MAX_FORMAT_BYTES)];
    let Some(width) = FIELDS.iter().find(|one| rest.starts_with(one)).map(|one| one.len()) else { return };
    let Some(closed) = (width..rest.len()).find(|at| rest[*at] == quote && rest[*at - 1] != b'\\') else { return };
    if memchr::memchr(b'\n', &rest[..closed]).is_some() {
        return;
    }
    let index = match rest[1] {
        digit @ b'0'..=b'9' if rest[0] == b'{' => usize::from(digit - b'0'),
        _ => fields(&bytes[opened..field]),
    };
    let Some((value, form)) = nth_argument(text, field + closed + 1, index) else { return };
    let written = &text[value.clone()];
    // A name in upper case is an environment variable.
    let name = &text[name.clone()];
    let is_loud = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let form = if is_loud { Form::Environment } else { form };
    if is_secret(written, name, form, kind) {
        found.push(Found::new(value, kind.clone(), Evidence::Context));
    }
}

/// Counts the fields of a part of a format.
fn fields(format: &[u8]) -> usize {
    (0..format.len()).filter(|at| FIELDS.iter().any(|field| format[*at..].starts_with(field))).count()
}

/// Returns an argument after a format: a word of a shell, or a string between commas.
fn nth_argument(text: &str, from: usize, index: usize) -> Option<(Range<usize>, Form)> {
    let bytes = text.as_bytes();
    let end = bytes.len().min(from + MAX_ARGUMENTS_BYTES);
    let mut at = from;
    for number in 0..MAX_ARGUMENTS {
        for lead in [b".format(".as_slice(), b".formatted(", b" % (", b" % ", b" -f "] {
            if number == 0 && bytes[at..end].starts_with(lead) {
                at += lead.len();
                break;
            }
        }
        at += bytes[at..end].iter().take_while(|byte| matches!(byte, b' ' | b',' | b'\t')).count();
        let (value, next, form) = match bytes.get(at..end)?.first()? {
            quote @ (b'"' | b'\'' | b'`') => {
                let length = memchr::memchr(*quote, &bytes[at + 1..end])?;
                (at + 1..at + 1 + length, at + length + 2, Form::Quoted)
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;|&<>()".contains(byte);
                let length = bytes[at..end].iter().position(ends).unwrap_or(end - at);
                (at..at + length, at + length, Form::Bare)
            }
        };
        if value.is_empty() {
            return None;
        }
        if number == index {
            return text.get(value.clone()).map(|_| (value, form));
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::assignments::names;
    use crate::redact::found::values_found;

    #[test]
    fn the_argument_of_a_named_field_is_found() {
        for text in [
            r"printf 'DB_PASSWORD=%s\n' 'meadow-cobalt-denim' | sudo tee -a /etc/default/x",
            r#"printf "user=%s\npassword=%s\n" app "meadow-cobalt-denim" > x"#,
            "\"host={} password={}\".format('db', 'meadow-cobalt-denim')",
            "dsn := fmt.Sprintf(\"user=%s password=%s\", user, \"meadow-cobalt-denim\")",
            "\"password=%s\" % \"meadow-cobalt-denim\"",
        ] {
            let values = values_found(text, |found| find(text, &names(text).collect::<Vec<_>>(), found));
            assert_eq!(values, ["meadow-cobalt-denim"], "{text}");
        }
        for text in [
            "printf 'DB_PASSWORD=%s\\n' \"$DB_PASSWORD\"",
            "fmt.Sprintf(\"password=%s\", config.Password)",
            "log.info(\"token: %s\", token)",
            "f\"password={password}\"",
        ] {
            let mut found = Vec::new();
            find(text, &names(text).collect::<Vec<_>>(), &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
