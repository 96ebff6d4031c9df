//! X25519 for Noise. The ciphers are those of `ring`, which has X25519 for keys that are used once only.

use curve25519_dalek::constants::X25519_BASEPOINT;
use curve25519_dalek::montgomery::MontgomeryPoint;
use snow::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};

/// Bytes of a key.
const BYTES: usize = 32;

/// Resolves X25519, and nothing else.
pub(super) struct CurveResolver;

impl CryptoResolver for CurveResolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        None
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        match choice {
            DHChoice::Curve25519 => Some(Box::<X25519>::default()),
            _ => None,
        }
    }

    fn resolve_hash(&self, _: &HashChoice) -> Option<Box<dyn Hash>> {
        None
    }

    fn resolve_cipher(&self, _: &CipherChoice) -> Option<Box<dyn Cipher>> {
        None
    }
}

#[derive(Default)]
struct X25519 {
    private: [u8; BYTES],
    public: [u8; BYTES],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        BYTES
    }

    fn priv_len(&self) -> usize {
        BYTES
    }

    fn set(&mut self, private: &[u8]) {
        self.private.copy_from_slice(&private[..BYTES]);
        self.public = X25519_BASEPOINT.mul_clamped(self.private).to_bytes();
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), Error> {
        let mut private = [0; BYTES];
        random.try_fill_bytes(&mut private)?;
        self.set(&private);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &self.private
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let public = public.get(..BYTES).and_then(|bytes| bytes.try_into().ok()).ok_or(Error::Dh)?;
        let common = MontgomeryPoint(public).mul_clamped(self.private).to_bytes();
        // A few public keys give zero with every private key. Nobody makes them by chance.
        if common == [0; BYTES] {
            return Err(Error::Dh);
        }
        out.get_mut(..BYTES).ok_or(Error::Dh)?.copy_from_slice(&common);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{hex, key_of_hex};

    fn x25519(private: &str, public: &str) -> Result<String, Error> {
        let mut key = X25519::default();
        key.set(&key_of_hex(private).expect("digits"));
        let mut common = [0; BYTES];
        key.dh(&key_of_hex(public).expect("digits"), &mut common).map(|()| hex(&common))
    }

    /// The vectors of RFC 7748, section 5.2, and the second key of section 6.1.
    #[test]
    fn keys_agree_as_in_the_standard() {
        for (private, public, common) in [
            (
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
            ),
            (
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
            ),
        ] {
            assert_eq!(x25519(private, public).as_deref(), Ok(common));
        }
        let keys = [
            "77076d0a7318a57d3c16c17251b2664589e6a4a8b4b3b5b5b5b5b5b5b5b5b5b5",
            "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
        ];
        let public = keys.map(|private| {
            let mut key = X25519::default();
            key.set(&key_of_hex(private).expect("digits"));
            hex(key.pubkey())
        });
        assert_eq!(public[1], "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
        assert_eq!(x25519(keys[0], &public[1]), x25519(keys[1], &public[0]), "both ends have the same");
    }

    #[test]
    fn keys_without_a_secret_are_refused() {
        let private = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4";
        for public in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        ] {
            assert_eq!(x25519(private, public), Err(Error::Dh), "{public}");
        }
    }
}
