//! Keys, and the code from which a client and a server derive their common secret.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::error::SealError;
use super::noise;
use crate::random::{CODE_ALPHABET, NoRandomness, hex, key_of_hex, plain_code, random_code, shown_code};

/// Characters of a sealing code: 138 random bits, so that nobody finds it by trying, not even without asking.
pub const SEALING_CODE_CHARACTERS: usize = 28;

/// Bytes of the id of a sealing code.
pub(super) const ID_BYTES: usize = 8;

/// 32 bytes: a key, or a secret. They are not shown by `Debug`.
#[derive(Clone, Copy)]
pub struct Key(pub(super) [u8; 32]);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        key_of_hex(&text).map(Self).ok_or_else(|| serde::de::Error::custom("a key has 64 hexadecimal digits"))
    }
}

/// The lasting key of one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPair {
    /// The private half.
    pub(super) private: Key,
    /// The public half.
    pub public: Key,
}

impl KeyPair {
    /// Makes a key.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn generate() -> Result<Self, SealError> {
        noise::generate().map(|(private, public)| Self { private: Key(private), public: Key(public) })
    }
}

/// A code that a server makes for a client, and that the relay must not see.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingCode(String);

impl fmt::Debug for SealingCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SealingCode(..)")
    }
}

impl SealingCode {
    /// Makes a code.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn random() -> Result<Self, NoRandomness> {
        random_code(SEALING_CODE_CHARACTERS).map(Self)
    }

    /// Reads a code as people write it: in any case, with any separators.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let code = plain_code(text);
        let is_code =
            code.len() == SEALING_CODE_CHARACTERS && code.bytes().all(|character| CODE_ALPHABET.contains(&character));
        is_code.then_some(Self(code))
    }

    /// Returns the code as people read it.
    #[must_use]
    pub fn shown(&self) -> String {
        shown_code(&self.0)
    }

    /// Returns what the code means.
    #[must_use]
    pub fn secret(&self) -> Secret {
        let derive = |label: &str| <[u8; 32]>::from(Sha256::digest(format!("trace.relay {label} {}", self.0)));
        Secret { id: hex(&derive("id")[..ID_BYTES]), key: Key(derive("key")) }
    }
}

/// What a client and a server have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// Names the secret. The relay sees it.
    pub id: String,
    /// The secret.
    pub(super) key: Key,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_write_them() {
        let code = SealingCode::random().expect("random numbers");
        let shown = code.shown();
        assert_eq!((shown.len(), shown.matches('-').count()), (34, 6));
        assert_eq!(SealingCode::parse(&format!(" {}\n", shown.to_lowercase().replace('-', " "))), Some(code.clone()));
        for bad in ["", &shown[1..], &format!("{shown}2"), &shown.replace(&shown[..1], "0")] {
            assert_eq!(SealingCode::parse(bad), None, "{bad}");
        }
        let other = SealingCode::random().expect("random numbers");
        assert!(other != code && other.secret().id != code.secret().id && other.secret() != code.secret());
        assert!(!format!("{code:?} {:?}", code.secret().key).contains(&shown[..4]));
    }
}
