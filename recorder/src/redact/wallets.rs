//! Keys of wallets that prove themselves: private keys with a checksum, and recovery phrases.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::control_sequence::ends_sequence;
use super::found::{Evidence, Found};
use super::kind::Kind;

const WALLET_KEY: Kind = Kind::known("wallet-key");
const PHRASE: Kind = Kind::known("recovery-phrase");

/// Lengths of a private key in the wallet import format: without and with the mark of a compressed public key.
const KEY_BYTES: [usize; 2] = [51, 52];

/// Numbers of words that a recovery phrase may have.
const PHRASE_WORDS: [usize; 5] = [12, 15, 18, 21, 24];

/// Shortest and longest word of a recovery phrase.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=8;

/// Words that sentences have and the list of words for recovery phrases does not.
const PROSE: &[&str] = &[
    "the", "and", "for", "are", "was", "has", "had", "not", "but", "its", "our", "his", "her", "she", "they", "them",
    "with", "from", "were", "been", "which", "their", "would", "could", "should", "does", "did", "than", "these",
    "those", "your", "how", "why", "who", "get", "set", "let", "may", "might", "here", "see", "about", "being", "over",
    "per", "null", "none", "file", "files", "string", "return", "import", "class", "false", "print", "self", "const",
    "using",
];

/// Finds the keys of wallets in a text.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut phrase: Vec<Range<usize>> = Vec::new();
    while at < bytes.len() {
        // The parameters of a colour are no part of the word after them.
        if bytes[at..].starts_with(b"\x1b[") {
            at += 2 + bytes[at + 2..].iter().take(20).take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
            at = (at + 1).min(bytes.len());
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
        }
        let word = start..at;
        if KEY_BYTES.contains(&word.len())
            && matches!(bytes[start], b'5' | b'K' | b'L' | b'9' | b'c')
            && is_key(&bytes[word.clone()])
        {
            found.push(Found::new(word.clone(), WALLET_KEY, Evidence::Shape));
        }
        let is_word = WORD_BYTES.contains(&word.len()) && bytes[word.clone()].iter().all(u8::is_ascii_lowercase);
        // A word ends what it does not belong to; one space is all that is between two words.
        let goes_on = phrase.last().is_none_or(|last| last.end + 1 == word.start && bytes[last.end] == b' ');
        if !(is_word && goes_on) {
            push_phrase(text, &phrase, found);
            phrase.clear();
        }
        if is_word {
            phrase.push(word);
        }
        at += 1;
    }
    push_phrase(text, &phrase, found);
}

/// Adds the words of a phrase if they are apart and are no sentence.
fn push_phrase(text: &str, words: &[Range<usize>], found: &mut Vec<Found>) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    if !PHRASE_WORDS.contains(&words.len()) {
        return;
    }
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b';' | b'?' | b'!');
    let before = &bytes[..first.start];
    // In a sentence a word of lower-case letters is before it; a number, a name or a mark is one of a layout.
    let is_begun = match before.last() {
        Some(b' ') => {
            let trimmed = before.trim_ascii_end();
            let word = trimmed.iter().rev().take_while(|byte| !byte.is_ascii_whitespace());
            before[trimmed.len()..].contains(&b'\n') || !word.clone().all(u8::is_ascii_lowercase) || word.count() == 0
        }
        Some(byte) => !byte.is_ascii_alphanumeric() || ends_sequence(before),
        None => true,
    };
    let behind = &bytes[last.end..];
    let line = &behind[..memchr::memchr2(b'\n', b'\r', behind).unwrap_or(behind.len())];
    // The border of a box may be after it.
    let is_ended = match line.first() {
        None => true,
        Some(b' ') => {
            !line.iter().any(u8::is_ascii_alphanumeric) && !line.trim_ascii().is_empty() || line.trim_ascii().is_empty()
        }
        Some(byte) => !is_part(*byte),
    };
    let is_apart = is_begun && is_ended;
    let mut distinct: Vec<&str> = words.iter().map(|word| &text[word.clone()]).collect();
    let is_prose = distinct.iter().any(|word| PROSE.contains(word));
    distinct.sort_unstable();
    distinct.dedup();
    if is_apart && !is_prose && distinct.len() + 2 >= words.len() {
        found.push(Found::new(first.start..last.end, PHRASE, Evidence::Shape));
    }
}

/// Returns whether the checksum of a private key in the wallet import format is right.
fn is_key(encoded: &[u8]) -> bool {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut decoded = [0_u8; 40];
    for byte in encoded {
        let Some(digit) = ALPHABET.iter().position(|letter| letter == byte) else { return false };
        let mut carry = digit as u32;
        for place in decoded.iter_mut().rev() {
            carry += u32::from(*place) * 58;
            *place = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    let Some(first) = decoded.iter().position(|byte| *byte != 0) else { return false };
    let Some((body, checksum)) = decoded[first..].split_last_chunk::<4>() else { return false };
    Sha256::digest(Sha256::digest(body))[..4] == *checksum && matches!(body.len(), 33 | 34)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    fn encode(body: &[u8]) -> String {
        const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
        let mut bytes = body.to_vec();
        bytes.extend_from_slice(&Sha256::digest(Sha256::digest(body))[..4]);
        let mut encoded = Vec::new();
        while bytes.iter().any(|byte| *byte != 0) {
            let mut rest = 0_u32;
            for byte in &mut bytes {
                rest = rest * 256 + u32::from(*byte);
                *byte = (rest / 58) as u8;
                rest %= 58;
            }
            encoded.push(ALPHABET[rest as usize]);
        }
        encoded.reverse();
        String::from_utf8(encoded).expect("ASCII")
    }

    fn values(text: &str) -> Vec<&str> {
        values_found(text, |found| find(text, found))
    }

    #[test]
    fn a_key_is_told_by_its_checksum() {
        let mut body = vec![0x80];
        body.extend((0..32_u8).map(|at| at.wrapping_mul(37).wrapping_add(11)));
        let plain = encode(&body);
        body.push(1);
        let compressed = encode(&body);
        assert_eq!((plain.len(), compressed.len()), (51, 52));
        for key in [&plain, &compressed] {
            let text = format!("importprivkey {key} x");
            assert_eq!(values(&text), [key.as_str()]);
            let wrong = text.replace(&key[20..21], if &key[20..21] == "a" { "b" } else { "a" });
            assert_eq!(values(&wrong), [""; 0]);
        }
    }

    #[test]
    fn a_recovery_phrase_stands_on_its_own() {
        const PHRASE: &str = "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic";
        for text in
            [PHRASE.to_owned(), format!("x\n{PHRASE}\ny"), format!("backup: {PHRASE}\n"), format!("[\"{PHRASE}\"]")]
        {
            assert_eq!(values(&text), [PHRASE], "{text}");
        }
        for text in [
            "words that are not of the list make the same number here".to_owned(),
            format!("then {PHRASE} and more"),
            format!("{PHRASE}."),
            "one two three one two three one two three one two three".to_owned(),
        ] {
            assert_eq!(values(&text), [""; 0], "{text}");
        }
    }
}
