//! Distinguishes texts that a generator made from texts that a person wrote: code, names, words.

/// Shortest text that is taken to be generated.
const MIN_GENERATED_BYTES: usize = 8;

/// Longest text that is taken to be generated.
const MAX_GENERATED_BYTES: usize = 512;

/// Shortest run of letters that counts as a word by its vowels.
const MIN_WORD_BYTES: usize = 4;

/// Words of three letters that code has everywhere.
const SHORT_WORDS: &[&[u8]] = &[
    b"get", b"set", b"var", b"env", b"key", b"str", b"new", b"int", b"req", b"res", b"ctx", b"cfg", b"arg", b"ret",
    b"obj", b"std", b"val", b"ref", b"out", b"the", b"app", b"pas", b"pwd", b"api", b"url", b"log", b"end", b"for",
    b"map", b"len", b"add",
];

/// Most of a generated text that is made of words, in percent. Of random texts of 12 letters and digits 7 % have more, of
/// those with symbols 1 %.
const MAX_WORDS_PERCENT: usize = 40;

/// How many of the four classes of characters a text has.
fn classes(text: &str) -> usize {
    let has = |test: fn(&u8) -> bool| usize::from(text.as_bytes().iter().any(test));
    has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(|byte| byte.is_ascii_punctuation())
}

/// Returns whether a text looks as if a generator of passwords or keys made it.
pub(crate) fn is_generated(text: &str) -> bool {
    if text.len() < MIN_GENERATED_BYTES
        || text.len() > MAX_GENERATED_BYTES
        || !text.bytes().all(|byte| byte.is_ascii_graphic())
        || classes(text) < 3
        || distinct(text) < 6
    {
        return false;
    }
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    words_percent(text) <= if has_digit { MAX_WORDS_PERCENT } else { MAX_WORDS_PERCENT / 2 }
}

/// Fewest words that are joined to a passphrase: without and with a number after them.
const MIN_JOINED_WORDS: usize = 4;
const MIN_NUMBERED_WORDS: usize = 3;

/// Words that names of code and of files are made of, and passphrases are not.
pub(crate) const CODE_WORDS: &[&str] = &[
    "app",
    "api",
    "auth",
    "com",
    "config",
    "conf",
    "data",
    "database",
    "default",
    "dev",
    "development",
    "env",
    "error",
    "example",
    "field",
    "file",
    "form",
    "function",
    "get",
    "group",
    "hash",
    "http",
    "https",
    "id",
    "input",
    "internal",
    "io",
    "item",
    "key",
    "label",
    "lib",
    "local",
    "login",
    "main",
    "message",
    "module",
    "name",
    "net",
    "node",
    "option",
    "options",
    "org",
    "page",
    "param",
    "params",
    "pass",
    "password",
    "path",
    "prod",
    "production",
    "project",
    "public",
    "request",
    "required",
    "reset",
    "response",
    "role",
    "root",
    "secret",
    "server",
    "service",
    "session",
    "set",
    "settings",
    "spec",
    "src",
    "staging",
    "state",
    "store",
    "string",
    "svc",
    "system",
    "test",
    "text",
    "token",
    "type",
    "url",
    "user",
    "utils",
    "validation",
    "value",
    "var",
    "version",
    "view",
    "web",
    "create",
    "update",
    "delete",
    "invalid",
    "confirm",
    "change",
    "please",
    "enter",
    "your",
    "the",
    "and",
    "for",
    "not",
    "with",
    "from",
    "must",
    "manager",
    "provider",
    "handler",
    "cluster",
    "region",
    "deploy",
    "backup",
    "docker",
    "redis",
    "postgres",
    "mysql",
    "mongo",
    "kubernetes",
    "kube",
    "aws",
    "azure",
    "gcp",
    "github",
    "gitlab",
    "vault",
    "credential",
    "credentials",
    "client",
    "admin",
    "control",
    "button",
    "placeholder",
    "minimum",
    "length",
    "characters",
    "uppercase",
    "lowercase",
];

/// Returns whether a text is several words with the same mark between them, as generators of passphrases write them:
/// `amber-canyon-velvet-27`.
pub(crate) fn is_worded(text: &str) -> bool {
    let Some(mark) = text.bytes().find(|byte| !byte.is_ascii_alphanumeric()) else { return false };
    if !matches!(mark, b'-' | b'_' | b'.' | b',' | b'+' | b'/' | b'~' | b':' | b'!' | b'*' | b'#') {
        return false;
    }
    let mut parts: Vec<&str> = text.trim_end_matches(['!', '?', '.', '*', '+', '%']).split(char::from(mark)).collect();
    let has_number = parts
        .last()
        .is_some_and(|last| (1..=6).contains(&last.len()) && last.bytes().all(|byte| byte.is_ascii_digit()));
    if has_number {
        parts.pop();
    }
    let is_word = |part: &&str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let rest = letters.as_bytes().get(1..).unwrap_or_default();
        (3..=12).contains(&letters.len())
            && part.len() - letters.len() <= 3
            && letters.as_bytes()[0].is_ascii_alphabetic()
            && rest.iter().all(u8::is_ascii_lowercase)
            && !CODE_WORDS.contains(&letters.to_ascii_lowercase().as_str())
    };
    let least = if has_number { MIN_NUMBERED_WORDS } else { MIN_JOINED_WORDS };
    parts.len() >= least && parts.len() <= 12 && parts.iter().all(is_word)
}

/// Returns whether a text is a password as people make them: words with a capital, a number and a mark, as
/// `Garlic!Comet2935+`.
pub(crate) fn is_human(text: &str) -> bool {
    if !(8..=64).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let bytes = text.as_bytes();
    let is_mark = |byte: &u8| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'+' | b'=' | b'~' | b'-' | b'_' | b'.'
        )
    };
    let (mut at, mut words) = (0, 0);
    let run = |from: usize, test: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| test(byte)).count();
    while bytes.get(at).is_some_and(u8::is_ascii_uppercase) {
        let small = run(at + 1, u8::is_ascii_lowercase);
        if small < 2 || CODE_WORDS.contains(&text[at..=at + small].to_ascii_lowercase().as_str()) {
            return false;
        }
        at += 1 + small;
        words += 1;
        if bytes.get(at).is_some_and(is_mark) && bytes.get(at + 1).is_some_and(u8::is_ascii_uppercase) {
            at += 1;
        }
    }
    at += usize::from(bytes.get(at).is_some_and(is_mark));
    let digits = run(at, u8::is_ascii_digit);
    let marks = bytes[at + digits..].iter().take_while(|byte| is_mark(byte)).count();
    let all_marks = bytes.iter().filter(|byte| is_mark(byte)).count();
    (1..=4).contains(&words) && digits >= 2 && marks <= 3 && all_marks > 0 && at + digits + marks == bytes.len()
}

/// Returns whether a text is a password that somebody made to be remembered: words, some with digits for letters, with numbers and
/// marks between or after them, as `ember-berlin-9594`, `Hamburg80_Koala` or `b4il3y@rabbit46`. Names of things are written
/// so as well, so it only counts where a password is expected.
pub(crate) fn is_memorable(text: &str) -> bool {
    if !(8..=64).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    // In the name of a file.
    let text = match text.rsplit_once('.') {
        Some((name, end)) if (2..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_lowercase()) => name,
        _ => text,
    };
    let is_mark = |c: char| c.is_ascii_punctuation();
    let is_rare = |byte: u8| byte.is_ascii_punctuation() && !matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b',');
    if text.contains(['(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`', '\\', '/', '|', ':', '$'])
        || text.starts_with(|c: char| !c.is_ascii_alphanumeric())
    {
        return false;
    }
    let marks = text.bytes().filter(u8::is_ascii_punctuation).count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let mut words = 0;
    for segment in text.split(is_mark).filter(|segment| !segment.is_empty()) {
        let stem = segment.trim_matches(|c: char| c.is_ascii_digit());
        if stem.is_empty() {
            if segment.len() > 6 {
                return false;
            }
            continue;
        }
        let plain: String = stem.chars().map(letter_for_digit).collect();
        if plain.len() < 3 || !plain.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return false;
        }
        let mut start = 0;
        for end in 1..=plain.len() {
            let bytes = plain.as_bytes();
            let ends = end == plain.len() || (bytes[end].is_ascii_uppercase() && bytes[end - 1].is_ascii_lowercase());
            if ends {
                let word = plain[start..end].to_ascii_lowercase();
                let has_vowel = word.bytes().any(|byte| b"aeiouy".contains(&byte));
                if word.len() < 3 || !has_vowel || CODE_WORDS.contains(&word.as_str()) {
                    return false;
                }
                words += 1;
                start = end;
            }
        }
    }
    let is_marked = text.bytes().any(is_rare);
    (1..=6).contains(&words) && digits >= 2 && marks <= 6 && (words > 1 || is_marked)
}

/// Returns the letter that a digit stands for in passwords that people make.
fn letter_for_digit(c: char) -> char {
    match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        _ => c,
    }
}

/// Returns how much of a text is made of words, in percent.
pub(crate) fn words_percent(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut in_words = 0;
    while at < bytes.len() {
        let start = at;
        // A hump, or capitals alone.
        if bytes[at].is_ascii_uppercase() {
            at += 1;
            while bytes.get(at).is_some_and(u8::is_ascii_uppercase) {
                at += 1;
            }
            let capitals = at - start;
            if capitals > 1 {
                let is_hump = bytes.get(at).is_some_and(u8::is_ascii_lowercase);
                let end = if is_hump { at - 1 } else { at };
                in_words += word_length(&bytes[start..end]);
                at = end;
                continue;
            }
        }
        while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        in_words += word_length(&bytes[start..at]);
    }
    in_words * 100 / bytes.len().max(1)
}

/// Returns the length of a run of letters if it can be said aloud, else zero.
fn word_length(letters: &[u8]) -> usize {
    let is_vowel = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let vowels = letters.iter().filter(|byte| is_vowel(byte)).count();
    let is_short_word = || SHORT_WORDS.iter().any(|word| word.eq_ignore_ascii_case(letters));
    let is_long_word = letters.len() >= MIN_WORD_BYTES && vowels * 6 >= letters.len() && vowels > 0;
    if is_long_word || is_short_word() { letters.len() } else { 0 }
}

/// Counts the different bytes of a value.
pub(crate) fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    for byte in value.bytes() {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_words_are_told_from_names() {
        for text in [
            "amber-canyon-velvet-27",
            "hermit.galaxy.bamboo.wizard.93",
            "flint_raven_daisy_sunset",
            "Flint-Raven-Daisy-7",
        ] {
            assert!(is_worded(text), "{text}");
        }
        for text in [
            "my-app-secret-v2",
            "config.database.password.2",
            "us-east-1-prod",
            "com.example.shop.orders",
            "form-group-input-field",
            "one-two-3",
            "2026-01-02-03",
        ] {
            assert!(!is_worded(text), "{text}");
        }
        for text in ["Garlic!Comet2935+", "Muffin*Poppy8195.", "Summer2024!", "Fennel_Goblet2974."] {
            assert!(is_human(text), "{text}");
        }
        for text in ["TokenKind2", "Config.Value2", "Password2024!", "Release2024", "Ed25519PrivateKey", "getValue(12)"]
        {
            assert!(!is_human(text), "{text}");
        }
    }

    #[test]
    fn passwords_that_are_made_to_be_remembered_are_told_from_names() {
        for text in [
            "ember-berlin-9594",
            "Hamburg80_Koala",
            "Vulture2894*Willow",
            "b4il3y@rabbit46",
            "CandlePumpkin1613.",
            "Ivorysilver88!",
        ] {
            assert!(is_memorable(text), "{text}");
        }
        for text in [
            "my-app-secret-v2",
            "us-east-1",
            "node.js",
            "passwordField22",
            "userPassword-12",
            "v1.22.3",
            "2026-01-02",
            "getValue(12)",
            "x-request-id-12",
            "sha256",
        ] {
            assert!(!is_memorable(text), "{text}");
        }
    }

    #[test]
    fn generated_texts_are_told_from_code() {
        for text in [
            "x9$Kq!2#vP@z",
            "7hG^k2;Lq'9z",
            "Zt4&bN\"w8(Rm)",
            "p${Q7x}9Kd-2",
            "hQ7~;m[N2]=xV",
            "->T9x||q2::Lm",
            "aB3xK9mQ2zT7",
        ] {
            assert!(is_generated(text), "{text}");
        }
        for text in [
            "self.tokens2[index1];",
            "get_password(user1)",
            "config['db2'].Password",
            "std::env::var(\"X1\")?",
            "process.env.API_KEY_V2",
            "${DB_PASSWORD:-none1}",
            "{{.Values.password2}}",
            "$Password1",
            "TokenKind::Bearer2",
            "abcdefgh",
            "kA1!",
        ] {
            assert!(!is_generated(text), "{text}");
        }
    }
}
