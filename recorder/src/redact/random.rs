//! Tells texts that a generator made from texts that a person wrote: code, names, words.

/// Shortest text that is told to be generated.
const MIN_GENERATED_BYTES: usize = 8;

/// Longest text that is told to be generated.
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

/// Says whether a text looks as if a generator of passwords or keys made it.
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
