//! Secrets that statements, commands, headers and formats of files give away by their own grammar.
//!
//! The tables of the contexts are in files of their own.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::addresses;
use super::configuration;
use super::found::{Evidence, Found};
use super::grammar::{Context, Look};
use super::grammars;
use super::kind::Kind;
use super::literal::{is_call, is_character_class, is_rule, is_secret, stands_in};
use super::names::{PASSWORD, sensitive_name, weak_name};
use super::phrases::is_spoken;
use super::plausible::{Form, is_plausible, is_plausible_password};
use super::random::{distinct, is_generated, is_human, is_memorable, is_worded, words_percent};
use super::search::{Case, Search};

const CREDENTIALS: Kind = Kind::known("credential");

/// Number of contexts of all tables.
const COUNT: usize = grammars::CONTEXTS.len() + configuration::CONTEXTS.len() + addresses::CONTEXTS.len();

/// The contexts of all tables.
static CONTEXTS: LazyLock<Vec<&Context>> =
    LazyLock::new(|| grammars::CONTEXTS.iter().chain(configuration::CONTEXTS).chain(addresses::CONTEXTS).collect());

/// How far before and after its word a context is looked for.
const WINDOW_BYTES: usize = 512;

/// What must be near a word of a context before its pattern is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Nothing more.
    Sure,
    /// A text near it that may be a secret by its letters and digits.
    WithCandidate,
}

/// Returns the words near which a context is searched for. Words that contain the name of a secret or a URL are left
/// out, because other triggers find those.
pub(crate) fn trigger_words() -> impl Iterator<Item = (&'static str, Strength)> {
    const COMMON: &[&str] = &[
        "key",
        "token",
        "secret",
        "password",
        "auth ",
        " *",
        "-u ",
        "://",
        ":\\/",
        "wg",
        "http ",
        "https ",
        "pwd",
        "passwd",
        "credential",
        "pin ",
        "passphrase",
        "passcode",
        " md5",
        "auth(",
        "auth = (",
        "credentials(",
        "credential(",
        "password ",
        "password '",
        "password=",
        "password = ",
        "passphrase ",
        "passcode ",
        "secret ",
        "passwd ",
        "pwd ",
    ];
    let telling = CONTEXTS.iter().filter(|context| context.look != Look::Named);
    telling.flat_map(|context| {
        let strength = if context.look.needs_candidate() { Strength::WithCandidate } else { Strength::Sure };
        context.words.iter().filter(|word| !COMMON.contains(word)).map(move |word| (*word, strength))
    })
}

/// Finds the words of all contexts at once.
static WORDS: LazyLock<(Search, Vec<usize>)> = LazyLock::new(|| {
    let words =
        CONTEXTS.iter().enumerate().flat_map(|(index, context)| context.words.iter().map(move |word| (*word, index)));
    let (texts, owners): (Vec<&str>, Vec<usize>) = words.unzip();
    (Search::new(texts, Case::Any), owners)
});

/// The patterns of [`CONTEXTS`], each compiled when a text first has one of its words.
static PATTERNS: [OnceLock<Regex>; COUNT] = [const { OnceLock::new() }; COUNT];

/// Compiles a pattern for bytes: with Unicode classes the automaton would be many times as large.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

/// Finds the secrets that a grammar gives away.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let (search, owners) = &*WORDS;
    let mut windows: Vec<(usize, Range<usize>)> = Vec::new();
    // Where the last window of each context is among the windows.
    let mut last = [usize::MAX; COUNT];
    let mut candidates: Option<Vec<usize>> = None;
    for hit in search.through(text).find_overlapping_iter(text) {
        let index = owners[hit.pattern().as_usize()];
        if CONTEXTS[index].look.needs_candidate() {
            let candidates = candidates.get_or_insert_with(|| candidates_of(text.as_bytes()));
            let first = candidates.partition_point(|at| *at + CANDIDATE_BYTES < hit.start());
            if candidates.get(first).is_none_or(|at| *at > hit.end() + CANDIDATE_BYTES) {
                continue;
            }
        }
        let window = hit.start().saturating_sub(WINDOW_BYTES)..text.len().min(hit.end() + WINDOW_BYTES);
        match windows.get_mut(last[index]) {
            Some((_, before)) if before.end >= window.start => before.end = window.end,
            _ => {
                last[index] = windows.len();
                windows.push((index, window));
            }
        }
    }
    for (index, window) in windows {
        find_in(CONTEXTS[index], index, text, lines_around(text.as_bytes(), window), found);
    }
}

/// How far from a word of a context a value with letters and digits may be.
const CANDIDATE_BYTES: usize = 400;

/// Returns where runs of letters and digits begin that may be secrets. Times have two letters at most, short hexadecimal
/// numbers are ids, and lower-case letters with at most one digit are names.
pub(crate) fn candidates_of(bytes: &[u8]) -> Vec<usize> {
    let mut candidates = Vec::new();
    let mut run = Run(0);
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        if class != Class::End as u64 && at - start < MAX_RUN_BYTES {
            run.0 += class;
            continue;
        }
        if run.may_be_secret() || (run.may_be_words() && is_spoken_at(&bytes[start..at])) {
            candidates.push(start);
        }
        run = Run(0);
        start = at + 1;
    }
    if run.may_be_secret() || (run.may_be_words() && is_spoken_at(&bytes[start..])) {
        candidates.push(start);
    }
    candidates
}

fn is_spoken_at(bytes: &[u8]) -> bool {
    let is_mark = |c: char| matches!(c, '.' | ',' | ':' | ')' | ']' | '>' | ';');
    std::str::from_utf8(bytes).is_ok_and(|text| {
        let text = text.trim_matches(is_mark);
        is_spoken(text.rsplit(':').next().unwrap_or(text))
    })
}

/// Longest run that is counted as one.
const MAX_RUN_BYTES: usize = 500;

/// How many bytes of each class a run has, nine bits each.
struct Run(u64);

impl Run {
    fn count(&self, class: Class) -> u64 {
        (self.0 / class as u64) & 0x1ff
    }

    fn may_be_secret(&self) -> bool {
        let digits = self.count(Class::Digit);
        if digits == 0 {
            return false;
        }
        let [hex, small, capitals, hyphens, others, marks] =
            [Class::Hex, Class::Small, Class::Capital, Class::Hyphen, Class::Joint, Class::Mark]
                .map(|class| self.count(class));
        let joints = hyphens + others;
        let letters = hex + small + capitals;
        let length = letters + digits + joints + marks;
        let is_plain = capitals == 0 && marks == 0;
        let is_id = is_plain && small == 0 && joints == 0 && length < MIN_HEX_BYTES;
        let is_name = is_plain && digits == 1 && length < 2 * MIN_CANDIDATE_BYTES;
        letters > 2 && length >= MIN_CANDIDATE_BYTES && !is_id && !is_name
    }

    /// Returns whether a run may be words with marks between.
    fn may_be_words(&self) -> bool {
        let hyphens = self.count(Class::Hyphen);
        // Most runs are single words.
        if hyphens < 2 && self.count(Class::Capital) < 3 {
            return false;
        }
        let [digits, joints, marks] = [Class::Digit, Class::Joint, Class::Mark].map(|class| self.count(class));
        // Words that are joined by dots are paths of names unless each has a capital.
        let is_capitalized = || joints >= 2 && self.count(Class::Capital) == joints + 1;
        digits == 0 && marks <= 1 && (hyphens >= 2 && joints <= 1 || hyphens == 0 && is_capitalized())
    }
}

/// Shortest hexadecimal number that may be a secret.
const MIN_HEX_BYTES: u64 = 16;

/// Shortest run of letters and digits that may be a secret.
const MIN_CANDIDATE_BYTES: u64 = 8;

/// What a byte is in a run that may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Class {
    /// What ends a run.
    End = 0,
    /// A lower-case letter that is a hexadecimal digit.
    Hex = 1,
    Small = 1 << 9,
    Capital = 1 << 18,
    Digit = 1 << 27,
    /// What is between the words of names and paths.
    Joint = 1 << 36,
    Hyphen = 1 << 45,
    Mark = 1 << 54,
}

static CLASSES: [u64; 256] = {
    let mut classes = [Class::End as u64; 256];
    let mut at = 0x21;
    while at < 0x7f {
        classes[at as usize] = match at {
            b'a'..=b'f' => Class::Hex,
            b'g'..=b'z' => Class::Small,
            b'A'..=b'Z' => Class::Capital,
            b'0'..=b'9' => Class::Digit,
            b'-' => Class::Hyphen,
            b'_' | b'.' | b'/' | b':' | b',' | b'[' | b']' | b'(' | b')' => Class::Joint,
            b'"' | b'\'' | b'`' | b'=' => Class::End,
            _ => Class::Mark,
        } as u64;
        at += 1;
    }
    classes
};

/// Moves the ends of a window to ends of lines, if there are any near.
fn lines_around(bytes: &[u8], window: Range<usize>) -> Range<usize> {
    let before = &bytes[window.start.saturating_sub(WINDOW_BYTES)..window.start];
    let start = window.start - memchr::memrchr(b'\n', before).map_or(0, |at| before.len() - at - 1);
    let behind = &bytes[window.end..bytes.len().min(window.end + WINDOW_BYTES)];
    let end = window.end + memchr::memchr(b'\n', behind).map_or(behind.len(), |at| at + 1);
    start..end
}

fn find_in(context: &Context, index: usize, text: &str, window: Range<usize>, found: &mut Vec<Found>) {
    let regex = PATTERNS[index].get_or_init(|| compile(context.pattern).expect("the built-in patterns are tested"));
    let name_group = regex.capture_names().position(|name| name == Some("name"));
    let bytes = &text.as_bytes()[..window.end];
    let mut at = window.start;
    while let Some(captures) = regex.captures_at(bytes, at) {
        let Some(whole) = captures.get(0) else { break };
        let groups = (1..captures.len()).filter(|group| Some(*group) != name_group);
        let value = groups.filter_map(|group| captures.get(group)).next();
        at = whole.end().max(at + 1);
        let Some(value) = value.and_then(|value| text.get(value.range()).map(|written| (value.start(), written)))
        else {
            continue;
        };
        // What follows the value may begin the next one.
        at = (value.0 + value.1.len()).max(whole.start() + 1);
        if context.look == Look::Announced && is_id(&text[..value.0], value.1) {
            continue;
        }
        let name = name_group.and_then(|group| captures.get(group)).and_then(|name| text.get(name.range()));
        let written = trimmed(value.1);
        if let Some(kind) = kind_of(context, name, written) {
            found.push(Found::new(value.0..value.0 + written.len(), kind, Evidence::Context));
        }
    }
}

/// Returns whether a value is a UUID after the name of an id that is not one of a secret.
fn is_id(before: &str, value: &str) -> bool {
    let name = before.trim_end_matches([' ', '\t', '"', '\'', ':', '=']);
    let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).map_or(0, |at| at + 1);
    // What is before the name ends with a character, which may be long.
    let name = name.get(start..).unwrap_or_default();
    value.len() == 36
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && name.to_ascii_lowercase().ends_with("id")
        && sensitive_name(name).is_none()
}

/// Leaves out an escaped line end after a value.
fn trimmed(value: &str) -> &str {
    let value = value.trim_end();
    value.strip_suffix("\\n").or_else(|| value.strip_suffix("\\r")).map_or(value, |value| value.trim_end_matches('\\'))
}

/// Returns the kind of the secret that a value is, if it looks as its context asks.
fn kind_of(context: &Context, name: Option<&str>, value: &str) -> Option<Kind> {
    let is_one = match context.look {
        Look::Any => !stands_in(value) && is_plausible_password(value),
        Look::Password => is_secret(value, "password", Form::Quoted, &PASSWORD),
        Look::Spoken => !stands_in(value) && (is_announced(value) || is_password(value) || is_spoken(value)),
        Look::Random => is_random(value),
        Look::Announced => is_announced(value) || (is_password(value) && !stands_in(value)),
        Look::Strong => is_strong(value),
        Look::WeaklyNamed => {
            let name = name?;
            let kind = sensitive_name(name).or_else(|| weak_name(name))?;
            return is_strong(value).then_some(kind);
        }
        Look::Named => {
            let name = name?;
            let kind = sensitive_name(name)?;
            return is_secret(value, name, Form::Environment, &kind).then_some(kind);
        }
    };
    is_one.then(|| context.kind.clone())
}

/// Returns whether a value on its own, after what announces a secret, is one: random, a key, or a password of words.
pub(crate) fn is_announced(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';']);
    // A value of letters alone is a word.
    value.len() >= 8
        && !value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !stands_in(value)
        && (is_random(value) || is_strong(value) || is_human(value) || is_worded(value) || is_mixed(value))
}

/// Returns whether a value is a password where one is expected: made to be remembered, or letters and digits without a word.
pub(crate) fn is_password(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_scrambled = value.len() >= 10
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase);
    let is_marked = value.len() >= 12
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'~' | b'?'))
        && !value.contains("://")
        && !is_call(value)
        && is_plausible(value, Form::Quoted, &PASSWORD);
    is_memorable(value) || is_marked || (is_scrambled && is_plausible(value, Form::Bare, &PASSWORD))
}

/// Returns whether a value has all four sorts of characters, with a mark that names and paths do not have.
pub(crate) fn is_mixed(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 10
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'~' | b'?'))
        && !value.contains("://")
        && !value.contains("->")
        && !is_call(value)
        && words_percent(value) <= 60
}

/// Returns whether a value can hardly be anything but a key: long and random, many hexadecimal digits, or a UUID.
pub(crate) fn is_strong(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_text = value.bytes().all(|byte| byte.is_ascii_graphic());
    let is_hex = value.len() >= 24 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let is_random = value.len() >= 16 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && is_random(value);
    is_text && distinct(value) >= 8 && !stands_in(value) && (is_hex && has(u8::is_ascii_digit) || is_uuid || is_random)
}

/// Returns whether a value is random, whatever it is called: no word, number, path, address or name of code.
pub(crate) fn is_random(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';', ':', ')', '!']);
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_token = || {
        value.len() >= 16
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && is_plausible(value, Form::Bare, &CREDENTIALS)
    };
    !stands_in(value)
        && !value.contains("://")
        && !value.contains("->")
        && !is_call(value)
        && !is_rule(&value.to_lowercase())
        && !is_character_class(value)
        && (is_generated(value) || is_token())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_words() {
        for context in CONTEXTS.iter() {
            assert!(compile(context.pattern).is_ok(), "{}: {:?}", context.pattern, compile(context.pattern));
            assert!(!context.words.is_empty());
            assert!(
                context.words.iter().all(|word| !word.is_empty() && word.to_ascii_lowercase() == **word),
                "{:?}",
                context.words
            );
            let is_named = matches!(context.look, Look::Named | Look::WeaklyNamed);
            assert_eq!(is_named, context.pattern.contains("P<name>"), "{}", context.pattern);
            assert!(Kind::parse(context.kind.as_str()).is_some());
        }
    }

    #[test]
    fn statements_commands_and_headers_give_their_secrets_away() {
        const SECRET: &str = "Vq7#xR2!mKp9";
        for text in [
            "CREATE USER app IDENTIFIED BY 'SECRETVALUE';",
            "ALTER USER app IDENTIFIED WITH mysql_native_password BY \"SECRETVALUE\";",
            "CREATE ROLE app WITH LOGIN PASSWORD 'SECRETVALUE';",
            "ALTER LOGIN sa WITH PASSWORD = N'SECRETVALUE';",
            "SET PASSWORD FOR 'app'@'%' = PASSWORD('SECRETVALUE');",
            "sqlplus system/SECRETVALUE@db",
            "db.internal:5432:shop:app:SECRETVALUE",
            "curl -s -u 'admin:SECRETVALUE' https://x",
            "curl https://x --user admin:SECRETVALUE",
            "echo 'SECRETVALUE' | sudo -S apt update",
            "printf '%s\\n' 'SECRETVALUE' | docker login --password-stdin",
            "sudo -S ls <<< 'SECRETVALUE'",
            "echo 'app:SECRETVALUE' | chpasswd",
            "expect \"*?assword:*\"\nsend \"SECRETVALUE\\r\"",
            "aws configure set aws_secret_access_key SECRETVALUE",
            "gh secret set DEPLOY_TOKEN --body SECRETVALUE",
            "ParameterKey=DBPassword,ParameterValue=SECRETVALUE",
            "form-data; name=\"password\"\n\nSECRETVALUE\n--x",
            "requests.get(u, auth=('admin', 'SECRETVALUE'))",
            "new PDO('mysql:host=x', 'app', 'SECRETVALUE')",
            "The password for admin is SECRETVALUE",
            "smbclient -U 'app%SECRETVALUE' //x/y",
            "app:SECRETVALUE@tcp(db:3306)/shop",
            "postgres://app:SECRETVALUE@db:5432/shop",
            "mirror/https:/app:SECRETVALUE@git.example.com/x.git",
            "a:1:{s:8:\"password\";s:12:\"SECRETVALUE\";}",
            "*2\r\n$8\r\npassword\r\n$12\r\nSECRETVALUE\r\n",
            "3) \"password\"\n4) \"SECRETVALUE\"",
            "HSET app:mail password SECRETVALUE",
            "S'password'\np1\nS'SECRETVALUE'\np2",
            "me@example.com:{PLAIN}SECRETVALUE:5000:5000::/home/me",
            "net use Z: \\\\host\\share SECRETVALUE /user:CORP\\me /persistent:yes",
            "BUNDLE_GEMS__EXAMPLE__DEV: \"api:SECRETVALUE\"",
            "alice: What is the root password?\nbob: SECRETVALUE\n",
        ] {
            let text = text.replace("SECRETVALUE", SECRET);
            let mut found = Vec::new();
            find(&text, &mut found);
            assert!(found.iter().any(|found| &text[found.span.clone()] == SECRET), "{text}: {found:?}");
        }
    }

    #[test]
    fn look_alikes_of_statements_and_commands_are_left() {
        for text in [
            ".PHONY: rotate-secrets check-token password-reset\nrotate-secrets:\n\t./rotate --env $(ENV)",
            "\u{1b}[32mrotate-secrets check-token red-blue\u{1b}[m\nx --env y",
            "net use Z: \\\\host\\share /user:CORP\\me /persistent:yes",
            "f\"{plain}{suffix}\"",
            "a:1:{s:8:\"password\";s:0:\"\";}",
            "Write the recovery phrase down.\nIt is shown once, and never again after this page was closed.\n",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
