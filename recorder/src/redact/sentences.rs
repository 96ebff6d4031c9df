//! Passwords in sentences: "log in as joe with ...", "use the password ... for the demo account".
//!
//! Grammar helps little here, so every word of a line that speaks of a login is looked at, and counts only if it has what
//! words of sentences never have.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::contexts::is_mixed;
use super::found::{Evidence, Found};
use super::literal::stands_in;
use super::names::PASSWORD;
use super::random::{is_human, is_worded};

/// What a line has to say.
const WORDS: &[&str] =
    &["password", "passphrase", "passcode", "credentials", "creds ", "log in ", "login ", "sign in ", "logged in "];

/// How far behind such a word a password may be.
const MAX_DISTANCE_BYTES: usize = 160;

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(WORDS)
        .expect("a few short texts")
});

/// Finds the passwords of sentences.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for hit in SEARCH.find_iter(text) {
        let rest = &bytes[hit.end()..bytes.len().min(hit.end() + MAX_DISTANCE_BYTES)];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let mut at = hit.end();
        for word in line.split(|byte| byte.is_ascii_whitespace()) {
            let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'(' | b')' | b',' | b'*' | b';');
            let lead = word.iter().take_while(|byte| is_quote(byte)).count();
            let trail = word[lead..].iter().rev().take_while(|byte| is_quote(byte)).count();
            let span = at + lead..at + word.len() - trail;
            at += word.len() + 1;
            if span.start < done || span.len() < 8 {
                continue;
            }
            // Words of sentences have neither digits nor several marks.
            let marks = word.iter().filter(|byte| matches!(byte, b'-' | b'_' | b'.')).count();
            if marks < 3 && !word.iter().any(u8::is_ascii_digit) {
                continue;
            }
            let Some(value) = text.get(span.clone()) else { continue };
            let is_one = is_human(value) || is_worded(value) || is_mixed(value);
            if is_one && !stands_in(value) && !value.contains(['/', '(', ')', '"', '\'', '=', '\\', '<', '>']) {
                done = span.end;
                found.push(Found::new(span, PASSWORD, Evidence::Context));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_among_words_are_found() {
        for text in [
            "log in as joe with password Garlic!Comet2935",
            "use the password amber-canyon-velvet-27 for the demo account",
            "Credentials are admin / `Vq7#xR2!mKp9`.",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert_eq!(found.len(), 1, "{text}");
        }
        for text in [
            "login failed for user 42 at 2026-01-02T03:04:05Z",
            "the password policy is checked in validate_password_strength()",
            "log in to registry.example.org first",
            "password=$(cat file) and login at https://host/a?b=C1",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}");
        }
    }
}
