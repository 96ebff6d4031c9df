//! Random tokens and codes, and how they are written.

/// Characters of codes: digits and letters without those that look alike.
pub(crate) const CODE_ALPHABET: &[u8] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";

/// Characters of a code that are shown together.
const GROUP: usize = 4;

/// The system has no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers")]
pub struct NoRandomness;

/// Returns random bytes.
pub(crate) fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT], NoRandomness> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// Returns a random code.
pub(crate) fn random_code(characters: usize) -> Result<String, NoRandomness> {
    // Bytes above the largest multiple are skipped, so that all characters are equally likely.
    let limit = 256 / CODE_ALPHABET.len() * CODE_ALPHABET.len();
    let mut code = String::new();
    while code.len() < characters {
        let bytes = random_bytes::<32>()?;
        let good = bytes.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < limit);
        let rest = characters - code.len();
        code.extend(good.take(rest).map(|byte| char::from(CODE_ALPHABET[byte % CODE_ALPHABET.len()])));
    }
    Ok(code)
}

/// Returns a code as it is compared: without separators, in upper case.
pub(crate) fn plain_code(code: &str) -> String {
    code.chars().filter(|character| character.is_ascii_alphanumeric()).collect::<String>().to_ascii_uppercase()
}

/// Returns a code as people read it.
#[must_use]
pub fn shown_code(code: &str) -> String {
    let mut shown = String::new();
    for (at, character) in code.chars().enumerate() {
        if at > 0 && at % GROUP == 0 {
            shown.push('-');
        }
        shown.push(character);
    }
    shown
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads 32 bytes from 64 hexadecimal digits.
pub(crate) fn key_of_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = [0; 32];
    for (byte, start) in key.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[start..start + 2], 16).ok()?;
    }
    Some(key)
}
