//! Distinguishes values that may be secrets from other texts in their place: names, code, placeholders, words.

use super::kind::Kind;
use super::names::PASSWORD;
use super::random::{distinct, is_generated};

/// Longest value that an assignment is taken to have.
pub(crate) const MAX_VALUE_BYTES: usize = 4096;

/// Shortest value that is replaced wherever it occurs; a shorter one is replaced only where its context betrays it.
pub const MIN_SPREAD_BYTES: usize = 8;

/// Fewest lower-case letters in a row that cannot be a single word.
const MIN_JOINED_BYTES: usize = 22;

/// Fewest words of a passphrase that cannot be an accidental match.
const MIN_PHRASE_WORDS: usize = 4;

/// How a value is written. The looser the form, the more a value has to look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Between quotes, or as a string of JSON.
    Quoted,
    /// As in an environment file or on a command line: `NAME=value`.
    Environment,
    /// On a line of its own with its name, as in YAML and properties.
    Line,
    /// Anything else, code among it.
    Bare,
}

/// Texts that only placeholders hold.
const PLACEHOLDER_PARTS: &[&str] =
    &["****", "....", "…", "${", "$(", "#{", "{{", "}}", "<%", "abcdefgh", "()", "changeme", "placeholder"];

/// Words that only placeholders hold, at an end of a word of theirs: a random value holds each by chance somewhere.
const PLACEHOLDER_WORDS: &[&str] = &[
    "your",
    "example",
    "change_me",
    "change-me",
    "redacted",
    "dummy",
    "todo",
    "fixme",
    "replace",
    "insert",
    "goes_here",
    "goes-here",
    "not-set",
    "notreal",
    "not-real",
];

/// Words with a digit that are no secrets.
const TECHNICAL: &[&str] = &[
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "base64",
    "base32",
    "base58",
    "oauth2",
    "oauth1",
    "ed25519",
    "x25519",
    "curve25519",
    "secp256k1",
    "aes128",
    "aes256",
    "hs256",
    "hs512",
    "rs256",
    "rs512",
    "es256",
    "argon2",
    "argon2id",
    "bcrypt2",
    "pbkdf2",
    "pkcs12",
    "utf8mb4",
    "uint256",
    "bytes32",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "string256",
];

/// Returns whether a value may be the secret of an assignment.
pub(crate) fn is_plausible(value: &str, form: Form, kind: &Kind) -> bool {
    let is_password = *kind == PASSWORD;
    let min = if is_password || form == Form::Environment { 6 } else { 8 };
    if value.len() < min || value.len() > MAX_VALUE_BYTES || value.contains(char::is_whitespace) {
        return false;
    }
    if is_placeholder(value)
        || value.contains("://")
        || is_digest(value)
        || distinct(value) < 4
        || is_number_of_code(value)
        || (form != Form::Environment && is_regular_expression(value))
    {
        return false;
    }
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return is_password && matches!(form, Form::Quoted | Form::Environment);
    }
    if is_wordlike(value) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    match form {
        Form::Quoted => !value.ends_with(')') || !value.contains('('),
        Form::Environment => !value.contains("$(") && !value.contains('`'),
        Form::Bare | Form::Line => {
            !is_type_name(value)
                && !is_name_with_number(value)
                && (has(u8::is_ascii_digit) || is_scrambled(value))
                && has(u8::is_ascii_alphabetic)
                && !value.contains(['(', '[', '{', '<', '$', '`', '*'])
        }
    }
}

/// Returns whether the password of a URL or of a command line is more than the word for one.
pub(crate) fn is_plausible_password(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "pass",
        "password",
        "passwd",
        "pwd",
        "secret",
        "token",
        "user",
        "username",
        "name",
        "pw",
        "key",
        "apikey",
        "api_key",
        "db_password",
        "my_password",
        "mypassword",
        "value",
        "string",
        "none",
        "null",
        "port",
    ];
    value.len() >= 3
        && value.len() <= MAX_VALUE_BYTES
        && (is_generated(value) || !is_placeholder(value))
        && !WORDS.contains(&value.to_ascii_lowercase().as_str())
        && value.chars().any(|c| c != 'x' && c != '*' && c != '.' && c != 'X' && c != '-')
}

/// Returns whether a value is distinctive enough to be replaced wherever it occurs.
pub(crate) fn is_distinctive(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    // No word is as long as several that are written together, and no sentence without small words is as long as a phrase.
    let is_joined = value.len() >= MIN_JOINED_BYTES && value.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_phrase = value.split_whitespace().count() >= MIN_PHRASE_WORDS;
    value.len() >= MIN_SPREAD_BYTES
        && distinct(value) >= 5
        && has(u8::is_ascii_alphabetic)
        && (is_joined || is_phrase || !is_wordlike(value))
}

/// Returns whether a text is where a secret is to be filled in, or names where it comes from.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let stands_out = |word: &str| {
        memchr::memmem::find_iter(lower.as_bytes(), word).any(|at| {
            let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
            let begins = is_edge(at.checked_sub(1).and_then(|before| lower.as_bytes().get(before)));
            let ends = is_edge(lower.as_bytes().get(at + word.len()));
            // `todo` may be two syllables of a longer word, so it counts only as a separate word at the beginning.
            if word == "todo" { at == 0 && ends } else { begins || ends }
        })
    };
    // As in the keys of manuals: `wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`.
    if value.contains("EXAMPLE") {
        return true;
    }
    // A few letters and what stands for the rest.
    if value.len() < 12 && value.ends_with("...") {
        return true;
    }
    let crosses = lower.bytes().filter(|byte| *byte == b'x').count();
    // A random value sometimes contains `xxxx`, but the letter x is never half of it.
    let is_crossed_out = lower.contains("xxxx") && crosses * 2 >= lower.len();
    if is_crossed_out
        || PLACEHOLDER_PARTS.iter().any(|part| lower.contains(part))
        || PLACEHOLDER_WORDS.iter().any(|word| stands_out(word))
    {
        return true;
    }
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
    };
    let inside = |open: char, close: char| {
        value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|inner| !inner.is_empty())
    };
    let is_variable = value
        .strip_prefix('$')
        .map(|rest| rest.strip_prefix("env:").unwrap_or(rest))
        .is_some_and(|rest| is_name(rest) && (is_wordlike(rest) || rest.to_ascii_uppercase() == rest));
    // A format's field, which may have been cut at its end.
    let is_field = value.strip_prefix('{').is_some_and(|rest| is_name(rest) && is_wordlike(rest));
    is_variable
        || is_field
        || inside('<', '>')
        || inside('{', '}')
        || inside('[', ']')
        || inside('%', '%')
        || inside('(', ')')
        || lower.starts_with("%(")
        || lower.starts_with("env:")
        || lower.starts_with("secretref:")
}

/// Returns whether a value is a digest in one of the usual spellings.
pub(crate) fn is_digest(value: &str) -> bool {
    ["sha1", "sha256", "sha384", "sha512", "md5"]
        .iter()
        .any(|name| value.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', ':'])))
}

/// Returns whether a text is made of words and small numbers: a name, a path, a version, an expression.
pub(crate) fn is_wordlike(value: &str) -> bool {
    if TECHNICAL.contains(&value.to_ascii_lowercase().as_str()) {
        return true;
    }
    let is_separator =
        |c: char| matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '+' | '\\' | '=' | ',' | ';' | '\'' | '?');
    let segments = || value.split(is_separator).filter(|segment| !segment.is_empty());
    let several = segments().nth(1).is_some();
    segments().all(|segment| {
        let letters = segment.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = segment.len() - letters.len();
        let is_word = letters.chars().all(char::is_alphabetic) && !is_scrambled(letters);
        match (letters.is_empty(), digits) {
            // A number or date.
            (true, _) => digits <= 8,
            (false, 0) => is_word,
            _ if segment.len() <= 4 => segment.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            (false, digits) => several && is_word && digits <= 2,
        }
    })
}

/// Returns whether a value is a name of humps with a small number after it, as types have.
fn is_type_name(value: &str) -> bool {
    let letters = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let humps = letters
        .bytes()
        .skip(3)
        .zip(letters.bytes().skip(2))
        .filter(|(c, before)| c.is_ascii_uppercase() && before.is_ascii_lowercase());
    let is_name = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_name && value.len() - letters.len() <= 2 && humps.count() > 0 && !is_scrambled(letters)
}

/// Returns whether a value is written as programs write numbers: `65536u32`, `0x8009030D`, `10_000`, `100L`.
fn is_number_of_code(value: &str) -> bool {
    const SUFFIXES: &[&str] =
        &["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64", "ul", "ull", "ll", "l"];
    let lower = value.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let number = SUFFIXES.iter().find_map(|suffix| lower.strip_suffix(suffix)).unwrap_or(&lower);
    let is_decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_hexadecimal = |text: &str| {
        let digits = text.strip_prefix("0x").unwrap_or_default();
        (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_')
    };
    (number.len() < lower.len() && is_decimal(number)) || is_hexadecimal(number) || is_hexadecimal(&lower)
}

/// Returns whether a value has what regular expressions have and hardly anything else.
fn is_regular_expression(value: &str) -> bool {
    const PARTS: &[&str] = &[
        "\\w", "\\d", "\\s", "\\W", "\\D", "\\S", "\\b", "[^", "[a-z", "[A-Z", "[0-9", "(?:", "(?i", "(?P", ".*", ".+",
        "]+", "]*", "]{",
    ];
    PARTS.iter().any(|part| value.contains(part))
}

/// Returns whether a value is a name of code with a number in it: `Ed25519PrivateKey`, `PULONG64`, `FLAG_64BIT`.
fn is_name_with_number(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_digit_run = |at: usize| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit());
    let numbers = (0..bytes.len()).filter(|at| is_digit_run(*at)).count();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_loud = !bytes.iter().any(u8::is_ascii_lowercase) && bytes[0].is_ascii_alphabetic();
    if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.') {
        return false;
    }
    if is_loud && bytes.contains(&b'_') && digits * 4 <= bytes.len() {
        return true;
    }
    numbers == 1 && ((is_loud && digits <= 3) || (digits <= 5 && is_mostly_words(bytes, 80)))
}

/// Returns whether at least two words of a capital and lower-case letters, three or more each, make up most of all letters after
/// the first small ones.
fn is_mostly_words(bytes: &[u8], percent: usize) -> bool {
    let first = bytes.iter().position(u8::is_ascii_uppercase).unwrap_or(bytes.len());
    let bytes = &bytes[first..];
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let words = || {
        let starts = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_uppercase());
        let length = |at: usize| 1 + bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        starts.map(length).filter(|length| *length >= 3)
    };
    words().count() >= 2 && words().sum::<usize>() * 100 >= letters * percent
}

/// Returns whether letters change their case as no name does.
fn is_scrambled(letters: &str) -> bool {
    let bytes = letters.as_bytes();
    if bytes.len() < 12 || !letters.is_ascii() {
        return false;
    }
    let changes = bytes.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count();
    // A longer text needs a smaller share.
    let least = if bytes.len() < 20 { 30 } else { 20 };
    changes * 100 >= bytes.len() * least && !is_mostly_words(bytes, 65)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::names::TOKEN;

    #[test]
    fn placeholders_and_code_are_no_secrets() {
        for value in [
            "YOUR_API_KEY",
            "${TOKEN}",
            "<token>",
            "$API_KEY",
            "process.env.API_KEY",
            "os.environ",
            "getPassword",
            "current_user_password",
            "changeme",
            "xxxxxxxxxxxx",
            "**********",
            "config.database.password",
            "sha256",
            "string",
            "undefined",
            "%PASSWORD%",
            "{{ secrets.TOKEN }}",
            "secrets.GITHUB_TOKEN",
            "my-app-secret-v2",
            "/run/secrets/db_password",
            "tokenTypeBearer",
            "2026-01-02",
            "a@b.example",
            "[redacted:token:0123abcd]",
            "sha512-abcdefGH12345678",
            "currentUserAuthenticationToken",
        ] {
            for form in [Form::Quoted, Form::Environment, Form::Bare] {
                assert!(!is_plausible(value, form, &PASSWORD), "{value} as {form:?}");
            }
        }
        for value in ["get_value(a1)", "Ed25519PrivateKey", "PULONG64", "WBEM_128BITS", "Aligned64kAllocation"] {
            assert!(!is_plausible(value, Form::Bare, &PASSWORD), "{value}");
        }
        for value in ["65536u32", "0x8009030D", "-2147205110i32", "16384UL", "EllipticCurvePrivateKey"] {
            assert!(!is_plausible(value, Form::Bare, &PASSWORD), "{value}");
            assert!(!is_plausible(value, Form::Quoted, &PASSWORD), "{value}");
        }
        assert!(!is_plausible(r"[^\W\d]\w*", Form::Quoted, &TOKEN));
    }

    #[test]
    fn what_nobody_would_write_as_a_word_is_plausible() {
        for value in ["hunter2", "Tr0ub4dor&3", "9f8e7d6c5b4a", "correct1horse", "aB3xK9mQ2z"] {
            assert!(is_plausible(value, Form::Environment, &PASSWORD), "{value}");
        }
        for value in ["NALy8YhuqVvlrOxQdAdoIHWciSDY", "HBhehltkZbtXykVmUZDshwfp9yeX", "qbpYulbiym605XLcvgNOVOJJqZsr"] {
            assert!(is_plausible(value, Form::Bare, &TOKEN), "{value}");
        }
        for value in ["lFGJtlRCBlxuBMLzOGWXFtTswdf", "VDYKJRPXpQGlMJNkqDZRwlWHeimvQO"] {
            assert!(is_plausible(value, Form::Quoted, &TOKEN), "{value}");
        }
        assert!(is_plausible("qWeRtYuIoPaSdFgH", Form::Quoted, &TOKEN));
        assert!(is_plausible("12345678", Form::Quoted, &PASSWORD) && !is_plausible("12345678", Form::Quoted, &TOKEN));
    }

    #[test]
    fn short_and_common_values_stay_in_their_context() {
        assert!(is_distinctive("9f8e7d6c5b4a"));
        for value in ["hunter2", "postgres", "12345678", "password-one", "aaaaaaaaaaa1"] {
            assert!(!is_distinctive(value), "{value}");
        }
    }
}
