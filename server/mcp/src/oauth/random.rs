//! Random texts: states, paths, and the verifiers of PKCE.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::error::OAuthError;

/// Returns a text that nobody can guess: 256 random bits in base64url.
pub(super) fn secret() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OAuthError::Random { message: error.to_string() })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns the challenge for a verifier of PKCE, by the method `S256`.
pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Compares two texts in a time that does not depend on where they differ.
pub(super) fn is_equal(one: &str, other: &str) -> bool {
    // Digests have the same length, and an attacker cannot choose how many of their bytes agree.
    let (one, other) = (Sha256::digest(one.as_bytes()), Sha256::digest(other.as_bytes()));
    one.iter().zip(other.iter()).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_those_of_the_standard() {
        // The example of RFC 7636, appendix B.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        let one = secret().expect("random bytes");
        assert!(one.len() == 43 && one != secret().expect("random bytes"));
        assert!(is_equal(&one, &one) && !is_equal(&one, "") && !is_equal("a", "b"));
    }
}
