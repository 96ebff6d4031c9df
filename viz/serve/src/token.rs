//! The secret token in the address of a page.

use std::fmt;
use std::io;

/// Bytes of a token.
const TOKEN_BYTES: usize = 24;

/// The secret part of a page's address. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Makes a token from the random source of the operating system.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random bytes.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns the token in hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares a text with the token in constant time.
    pub(crate) fn is(&self, text: &str) -> bool {
        let pairs = self.0.bytes().zip(text.bytes());
        let differences = pairs.fold(0, |differences, (a, b)| differences | (a ^ b));
        differences == 0 && self.0.len() == text.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, two) = (Token::random().expect("random"), Token::random().expect("random"));
        assert_eq!(one.as_str().len(), 2 * TOKEN_BYTES);
        assert_ne!(one, two);
        assert!(one.is(one.as_str()) && !one.is(two.as_str()) && !one.is("") && !one.is(&one.as_str()[1..]));
        assert_eq!(format!("{one:?}"), "Token(..)");
    }
}
