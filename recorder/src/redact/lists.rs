//! Secrets in several lines that one line announces: users with their passwords, and the numbers of a key.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::contexts::is_strong;
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::stands_in;
use super::names::PASSWORD;

const PRIVATE_KEY: Kind = Kind::known("private-key");
const CODE: Kind = Kind::known("recovery-code");

/// Most lines of one list, and longest text that is one key.
const MAX_LINES: usize = 200;
const MAX_KEY_BYTES: usize = 4096;

/// A program that reads users and passwords: as a key of YAML with a list below it, or with lines fed to it.
static USERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?m)\b(?:chpasswd|newusers)(?:['\x22]?[ ]?:[ \t]*\r?$|[^\n|]*<<-?[ ]?['\x22]?\w+['\x22]?[^\n]*$)"#)
});

/// A user and a password.
static USER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^[ \t]*(?:-[ ]{1,3})?['\x22]?[A-Za-z_][\w.@-]{0,40}:([^\s:]\S{2,200}?)['\x22]?[ \t]*\r?$"#)
});

/// Texts that announce one-time codes.
static CODES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:recovery|backup|scratch|2fa|mfa|emergency|one-time|single-use)[ _-](?:\w{1,12}[ _-])?codes?\b")
});

/// Most bytes between the announcement and the first code, and most lines without one.
const MAX_CODES_GAP_BYTES: usize = 160;

/// Fewest codes of a list.
const MIN_CODES: usize = 2;

/// What says that an object is a key of its own.
static KEY_TYPE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\bkty['\x22]?[ \t]{0,4}(?::|=>|=)[ \t]{0,4}['\x22]?(?:EC|OKP|RSA|oct)\b"#));

/// A secret number of a key.
static KEY_PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|[\s'\x22{,(])(?:d|p|q|dp|dq|qi|k)['\x22]?[ \t]{0,4}(?::|=>|=)[ \t]{0,4}['\x22]?([A-Za-z0-9_-]{16,2000}={0,2})"#,
    )
});

fn pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the built-in patterns are tested")
}

/// Finds the secrets of lists.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let has = |part: &[u8]| memchr::memmem::find(bytes, part).is_some();
    if has(b"chpasswd") || has(b"newusers") {
        for start in USERS.find_iter(bytes) {
            find_users(text, start.end(), found);
        }
    }
    if has(b"odes") {
        for announced in CODES.find_iter(bytes) {
            find_codes(text, announced.end(), found);
        }
    }
    if has(b"kty") {
        for start in KEY_TYPE.find_iter(bytes) {
            find_parts(text, start.range(), found);
        }
    }
}

/// Finds the passwords in the lines after a place, as long as lines have them. Other settings may be before.
fn find_users(text: &str, from: usize, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = from + 1;
    let (mut is_begun, mut others) = (false, 0);
    for _ in 0..MAX_LINES {
        if at >= bytes.len() {
            return;
        }
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let value = USER.captures(&bytes[at..end]).and_then(|captures| captures.get(1));
        if let Some(value) = value {
            is_begun = true;
            let span = at + value.start()..at + value.end();
            let written = text.get(span.clone()).filter(|value| is_password(value));
            found.extend(written.map(|_| Found::new(span, PASSWORD, Evidence::Context)));
        } else if is_begun || others == 3 {
            return;
        } else {
            others += 1;
        }
        at = end + 1;
    }
}

/// Finds codes for one use after what announces them: words with digits that are all of one length.
fn find_codes(text: &str, from: usize, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut codes: Vec<Range<usize>> = Vec::new();
    let mut last = from;
    let is_apart = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;|[](){}*".contains(byte);
    let rest = &bytes[from..bytes.len().min(from + MAX_KEY_BYTES)];
    let mut at = from;
    for word in rest.split(is_apart) {
        let span = at..at + word.len();
        at += word.len() + 1;
        if span.start > last + MAX_CODES_GAP_BYTES || codes.len() >= MAX_LINES {
            break;
        }
        if is_code(word) && codes.first().is_none_or(|first| first.len() == word.len()) {
            last = span.end;
            codes.push(span);
        }
    }
    if codes.len() >= MIN_CODES {
        found.extend(codes.into_iter().map(|code| Found::new(code, CODE, Evidence::Context)));
    }
}

/// Returns whether a word is spelt as codes for one use are: letters of one case and digits, in one piece or two or more.
fn is_code(word: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    let is_plain = word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let parts = || word.split(|byte| *byte == b'-');
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    // Dates have parts of two digits.
    (8..=24).contains(&word.len()) && is_plain && !is_mixed && digits >= 2 && parts().all(|part| part.len() >= 3)
}

/// Returns whether the text after a user name is a password, and neither a placeholder for a generated one nor a hash.
fn is_password(value: &str) -> bool {
    !stands_in(value) && !value.starts_with('$') && !matches!(value, "R" | "RANDOM") && !value.contains("[redacted:")
}

/// Finds the secret numbers beside the type of a key.
fn find_parts(text: &str, kind: Range<usize>, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let before = &bytes[kind.start.saturating_sub(MAX_KEY_BYTES)..kind.start];
    let behind = &bytes[kind.end..bytes.len().min(kind.end + MAX_KEY_BYTES)];
    // An object ends at its bracket. Without brackets it ends at an empty line.
    let start = kind.start - before.len()
        + memchr::memrchr2(b'{', b'}', before).max(memchr::memmem::rfind(before, b"\n\n")).unwrap_or(0);
    let ends = [memchr::memchr2(b'{', b'}', behind), memchr::memmem::find(behind, b"\n\n")];
    let end = kind.end + ends.into_iter().flatten().min().unwrap_or(behind.len());
    for captures in KEY_PART.captures_iter(&bytes[start..end]) {
        let Some(value) = captures.get(1).map(|value| start + value.start()..start + value.end()) else { continue };
        if text.get(value.clone()).is_some_and(is_strong) {
            found.push(Found::new(value, PRIVATE_KEY, Evidence::Context));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    fn values(text: &str) -> Vec<&str> {
        values_found(text, |found| find(text, found))
    }

    #[test]
    fn passwords_of_users_are_found_in_every_line() {
        for text in [
            "chpasswd:\n  expire: false\n  list: |\n    root:Vq7xR2mKp9\n    joe:walnut-lantern-47\nssh_pwauth: true\n",
            "chpasswd:\n  list:\n    - root:Vq7xR2mKp9\n    - \"joe:walnut-lantern-47\"\n",
            "sudo chpasswd <<EOF\nroot:Vq7xR2mKp9\njoe:walnut-lantern-47\nEOF\n",
        ] {
            assert_eq!(values(text), ["Vq7xR2mKp9", "walnut-lantern-47"], "{text}");
        }
        for text in [
            "chpasswd:\n  expire: false\n  list: |\n    root:RANDOM\n    joe:$6$x$abcdef\n",
            "run chpasswd first\nroot:abcdef\n",
            "chpasswd:\n  expire: false\n\nusers:\n  - default\n",
        ] {
            assert_eq!(values(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_secret_numbers_of_a_key_are_found_without_json() {
        const D: &str = "p7aTwwQE53zUoxNIcGbd5eyeBtrC-xYpL2bd4PT0UHq";
        for text in [
            format!("kty: EC\ncrv: P-256\nx: oaUcLlZAtu-hFgjLyk2DaJ7ULiWwvqYp\nd: {D}\n"),
            format!("{{ d: '{D}', kty: 'OKP' }}"),
            format!(
                "1 {{\n2   \"kty\": \"EC\",\n3   \"x\": \"oaUcLlZAtu-hFgjLyk2DaJ7ULiWwvqYp\",\n4   \"d\": \"{D}\"\n5 }}"
            ),
        ] {
            assert_eq!(values(&text), [D], "{text}");
        }
        assert_eq!(
            values("kty: EC\nx: oaUcLlZAtu-hFgjLyk2DaJ7ULiWwvqYp\n\nd: oaUcLlZAtu-hFgjLyk2DaJ7ULiWwvqYp"),
            [""; 0]
        );
    }
}
