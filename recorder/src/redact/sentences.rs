//! Passwords in sentences: "log in as joe with ...", "use the password ... for the demo account".
//!
//! Grammar helps little here, so every word of a line that speaks of a login is looked at, and counts only if it has what
//! words of sentences never have.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::contexts::{is_announced, is_mixed, is_password, is_random, is_strong};
use super::found::{Evidence, Found};
use super::literal::stands_in;
use super::names::PASSWORD;
use super::phrases::is_spoken;
use super::random::{is_human, is_worded};

/// What a line has to say.
const WORDS: &[&str] = &[
    "log in ",
    "login ",
    "sign in ",
    "logged in ",
    "credentials",
    "creds ",
    "password",
    "passphrase",
    "passcode",
    "passwrod",
    "pasword",
    "passowrd",
    "paswword",
    "passwrd",
    "passwd ",
    "root pw",
    "contraseña",
    "senha",
    "passwort",
    "kennwort",
    "mot de passe",
    "wachtwoord",
    "heslo",
    "parola",
    "salasana",
    "adgangskode",
    "contrasenya",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "secret",
    "token",
    "api key",
];

/// How many of [`WORDS`] speak of a login and not of what it takes.
const LOGIN_WORDS: usize = 4;

/// Words that directly precede a user name or password in a sentence.
const LEADS: &str = "is was to with enter use using as now currently be es est ist lautet são è é är on jest je e is: 是 为 は password passwd pass pwd \
    passphrase passcode pw token secret key value";

/// How far after such a word a password may be.
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
    let (mut done, mut looked) = (0, 0);
    for hit in SEARCH.find_iter(text) {
        let is_of_login = hit.pattern().as_usize() < LOGIN_WORDS;
        let rest = &bytes[hit.end()..bytes.len().min(hit.end() + MAX_DISTANCE_BYTES)];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        // The words after the one before have been looked at.
        if hit.end() + line.len() <= looked {
            continue;
        }
        looked = hit.end() + line.len();
        let mut at = hit.end();
        let mut before: &[u8] = b"";
        for word in line.split(|byte| byte.is_ascii_whitespace()) {
            let lead_word = std::mem::replace(&mut before, word);
            let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'(' | b')' | b',' | b'*' | b';' | b'}');
            let lead = word.iter().take_while(|byte| is_quote(byte)).count();
            let trail = word[lead..].iter().rev().take_while(|byte| is_quote(byte)).count();
            let span = at + lead..at + word.len() - trail;
            at += word.len() + 1;
            if span.start < done || span.len() < 8 {
                continue;
            }
            // Words of sentences have neither digits nor several marks.
            let marks = word.iter().filter(|byte| matches!(byte, b'-' | b'_' | b'.')).count();
            if marks < 2 && !word.iter().any(u8::is_ascii_digit) {
                continue;
            }
            let Some(value) = text.get(span.clone()) else { continue };
            let is_quoted = lead > 0 && matches!(word[lead - 1], b'"' | b'\'' | b'`');
            let is_led = leads(lead_word, is_of_login);
            let value = if is_led { value.trim_end_matches(['.', ':']) } else { value };
            // `joe:...`, as both are often told together.
            let (value, start) = match value.split_once(':') {
                Some((user, password)) if is_led && password.len() >= 8 && is_user(user) => {
                    (password, span.start + user.len() + 1)
                }
                _ => (value, span.start),
            };
            let span = start..start + value.len();
            let is_one = is_human(value)
                || is_worded(value)
                || is_mixed(value)
                || (is_spoken(value)
                    && (is_led
                        || (lead_word.is_empty() && !is_of_login && hits_blank(bytes, span.start))
                        || (is_quoted && !is_of_login)))
                || (is_numbered(value) && leads_to_value(lead_word))
                || (is_password(value) && (is_led || (is_quoted && !is_of_login)))
                || (is_random_word(value) && (is_led || is_quoted))
                || (announces(lead_word) && is_strong(value) && !is_uuid(value));
            let is_code = value.contains(['/', '(', ')', '"', '\'', '=', '\\', '<', '>']);
            let is_generated = is_led && value.contains(['!', '#', '%', '^', '*', '~', '?']) && is_mixed(value);
            if is_one && !stands_in(value) && (is_generated || !is_code) {
                done = span.end;
                found.push(Found::new(span, PASSWORD, Evidence::Context));
            }
        }
    }
}

/// Most words of an answer that is no more than the secret that was asked for.
const MAX_ANSWER_WORDS: usize = 12;

/// Finds the secret in what a user answers when asked for one: `sure, ...`.
pub(crate) fn find_in_answer(text: &str, found: &mut Vec<Found>) {
    if text.split_ascii_whitespace().nth(MAX_ANSWER_WORDS).is_some() {
        return;
    }
    let is_short = text.split_ascii_whitespace().nth(4).is_none();
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`' | '*' | '(' | ')' | ',');
    for word in text.split_ascii_whitespace() {
        let value = word.trim_matches(is_quote);
        // A mark at the end may be a part of it where nothing else is said.
        let is_whole = value.len() == text.trim().len();
        let value = if is_whole { value } else { value.trim_end_matches(['.', ';', '!']).trim_matches(is_quote) };
        // Among several words a digest names what it is of.
        let is_digest =
            !is_short && matches!(value.len(), 40 | 64) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_place =
            is_digest || value.contains("://") || value.starts_with(['/', '~', '<', '$']) || value.starts_with("./");
        if !is_place && !stands_in(value) && (is_announced(value) || is_password(value)) {
            let start = value.as_ptr() as usize - text.as_ptr() as usize;
            found.push(Found::new(start..start + value.len(), PASSWORD, Evidence::Context));
        }
    }
}

/// Returns whether one space is before a place, and no quote.
fn hits_blank(bytes: &[u8], at: usize) -> bool {
    at > 1 && bytes[at - 1] == b' ' && bytes[at - 2].is_ascii_alphanumeric()
}

/// Words right before what a sentence says a password to be.
const IS: &[&str] = &["is", "ist", "lautet", "es", "est", "é", "è", "är", "on", "jest", "je"];

/// Returns whether a word says that a password is what is after it.
fn leads_to_value(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| IS.contains(&word)) || word.ends_with(b":")
}

/// Returns whether a text is a long word with a year or a number after it: `helmethazel2019`.
fn is_numbered(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    (2..=6).contains(&(text.len() - letters.len()))
        && letters.len() >= 9
        && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns whether a word announces what is after it.
fn leads(word: &[u8], is_of_login: bool) -> bool {
    if matches!(word.last(), Some(b':' | b'=' | b'/')) || word.ends_with("→".as_bytes()) || word.ends_with(b"->") {
        return true;
    }
    let word = word.trim_ascii_start();
    let word = &word[word.iter().take_while(|byte| matches!(byte, b'(' | b'*' | b'"')).count()..];
    std::str::from_utf8(word).is_ok_and(|word| {
        let word = word.to_lowercase();
        LEADS.split(' ').any(|listed| listed == word) && !(is_of_login && word == "to")
    })
}

/// Returns whether a text is spelt as names of users are.
pub(crate) fn is_user(text: &str) -> bool {
    (2..=32).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@'))
}

/// Returns whether a word alone announces what is after it, and that is no digest.
fn announces(word: &[u8]) -> bool {
    const DIGESTS: &[&[u8]] = &[b"sha", b"md5", b"hash", b"digest", b"commit", b"print", b"id", b"sum", b"accessor"];
    let Some(word) = word.strip_suffix(b":").map(<[u8]>::to_ascii_lowercase) else { return false };
    word.iter().all(u8::is_ascii_alphabetic) && !DIGESTS.iter().any(|part| memchr::memmem::find(&word, part).is_some())
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns whether a word is one that a generator made, and neither the id nor the digest of something.
fn is_random_word(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_scrambled = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let is_digest = matches!(value.len(), 40 | 64) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_digest && !is_uuid(value) && value.len() >= 10 && ((is_scrambled && is_random(value)) || is_strong(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_secret_if_it_is_nothing_else() {
        for text in ["Vq7#xR2!mKp9", "sure, 7f3a9c1e5b2d8046af91c3e7d5b80246", "it's `walnut-lantern-4711`."] {
            let mut found = Vec::new();
            find_in_answer(text, &mut found);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
        }
        for text in [
            "no",
            "use the one in ~/.config/app2/key.pem",
            "I do not have it",
            "see https://example.com/a1B2c3D4e5F6g7H8",
        ] {
            let mut found = Vec::new();
            find_in_answer(text, &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn passwords_among_words_are_found() {
        for text in [
            "log in as joe with password Garlic!Comet2935",
            "use the password amber-canyon-velvet-27 for the demo account",
            "Credentials are admin / `Vq7#xR2!mKp9`.",
            "Login credentials for the store are root / ginger-dragon-6960 (read only).",
            "La contraseña del servidor es: IsFbfor7SBjM4Z5lNd",
            "rotate the redis password (currently yankee+Wizard2612)",
            "When asked for the password, enter `a4477a3574c574b74a022f9afa234b76`",
            "I changed it, the new root password is `r0ck3t*hamburg7421`. Thanks",
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
