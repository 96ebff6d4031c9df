//! The key agreement and the ciphers: Noise `XXpsk3` with X25519, ChaCha20-Poly1305 and SHA-256.
//!
//! This part knows nothing but bytes. All failures of the other end, or of what is between, are errors; none is a
//! panic.

use snow::resolvers::{BoxedCryptoResolver, FallbackResolver, RingResolver};
use snow::{Builder, HandshakeState, TransportState};

use super::curve::CurveResolver;
use super::error::{MAX_SEALED_TEXT_BYTES, SealError};
use crate::random::NoRandomness;

/// The protocol, by its name in the specification of Noise.
const PROTOCOL: &str = "Noise_XXpsk3_25519_ChaChaPoly_SHA256";

/// What both ends have to agree on. Another version of what is sealed has another text.
const PROLOGUE: &[u8] = b"trace.relay sealed 1";

/// The place of the secret in the messages of the key agreement.
const SECRET_AT: usize = 3;

/// Bytes that sealing adds to a chunk, which prove that it is unchanged.
const TAG_BYTES: usize = 16;

/// Most bytes of a sealed chunk, as Noise has it.
const SEALED_CHUNK_BYTES: usize = 65_535;

/// Most bytes of a text in one chunk, whose first byte tells whether it is the last one of its text.
pub(super) const CHUNK_BYTES: usize = SEALED_CHUNK_BYTES - TAG_BYTES - 1;

/// The first byte of a chunk that others follow.
const MORE: u8 = 0;

/// The first byte of the last chunk of a text.
const LAST: u8 = 1;

/// Most bytes of a message of the key agreement. Ours have at most 96.
const MAX_AGREEMENT_BYTES: usize = 1_024;

/// Number of chunks after which the key of a direction is replaced by one that is derived from it. Whoever learns the
/// memory of a process cannot read what was sealed with earlier keys.
pub const REKEY_CHUNKS: u64 = 1 << 14;

/// Ciphers, digests and random numbers are those of TLS.
fn resolver() -> BoxedCryptoResolver {
    Box::new(FallbackResolver::new(Box::new(RingResolver), Box::new(CurveResolver)))
}

fn builder() -> Result<Builder<'static>, SealError> {
    let protocol = PROTOCOL.parse().map_err(|_| SealError::NoAgreement)?;
    Builder::with_resolver(protocol, resolver()).prologue(PROLOGUE).map_err(|_| SealError::NoAgreement)
}

/// Makes a private and a public key.
pub(super) fn generate() -> Result<([u8; 32], [u8; 32]), SealError> {
    let pair = builder()?.generate_keypair().map_err(|_| NoRandomness)?;
    let half = |bytes: &[u8]| bytes.try_into().map_err(|_| SealError::NoAgreement);
    Ok((half(&pair.private)?, half(&pair.public)?))
}

/// A key agreement that has begun.
#[derive(Debug)]
pub(super) struct Agreement(HandshakeState);

impl Agreement {
    /// Begins as a client, with a private key and the common secret.
    pub(super) fn client(private: &[u8; 32], secret: &[u8; 32]) -> Result<Self, SealError> {
        let mut state = builder()?
            .local_private_key(private)
            .and_then(Builder::build_initiator)
            .map_err(|_| SealError::NoAgreement)?;
        state.set_psk(SECRET_AT, secret).map_err(|_| SealError::NoAgreement)?;
        Ok(Self(state))
    }

    /// Begins as a server. The secret is needed for the last message only.
    pub(super) fn server(private: &[u8; 32]) -> Result<Self, SealError> {
        let state = builder()?
            .local_private_key(private)
            .and_then(Builder::build_responder)
            .map_err(|_| SealError::NoAgreement)?;
        Ok(Self(state))
    }

    pub(super) fn set_secret(&mut self, secret: &[u8; 32]) -> Result<(), SealError> {
        self.0.set_psk(SECRET_AT, secret).map_err(|_| SealError::NoAgreement)
    }

    /// Returns the next message, which carries a payload.
    pub(super) fn write(&mut self, payload: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut message = vec![0; MAX_AGREEMENT_BYTES];
        let bytes = self.0.write_message(payload, &mut message).map_err(|_| SealError::NoAgreement)?;
        message.truncate(bytes);
        Ok(message)
    }

    /// Takes the next message of the other end, and returns its payload.
    pub(super) fn read(&mut self, message: &[u8]) -> Result<Vec<u8>, SealError> {
        if message.len() > MAX_AGREEMENT_BYTES {
            return Err(SealError::NoAgreement);
        }
        let mut payload = vec![0; message.len()];
        let bytes = self.0.read_message(message, &mut payload).map_err(|_| SealError::NoAgreement)?;
        payload.truncate(bytes);
        Ok(payload)
    }

    /// Returns the public key of the other end, if it was in a message.
    pub(super) fn other(&self) -> Result<[u8; 32], SealError> {
        let key = self.0.get_remote_static().ok_or(SealError::NoAgreement)?;
        key.try_into().map_err(|_| SealError::NoAgreement)
    }

    /// Returns the ciphers, after the last message.
    pub(super) fn ciphers(self) -> Result<Ciphers, SealError> {
        let noise = self.0.into_transport_mode().map_err(|_| SealError::NoAgreement)?;
        Ok(Ciphers { noise, sealed: 0, opened: 0 })
    }
}

/// The ciphers of both directions. Each has a key and counts its chunks; the count is part of what is sealed.
#[derive(Debug)]
pub(super) struct Ciphers {
    noise: TransportState,
    sealed: u64,
    opened: u64,
}

impl Ciphers {
    /// Seals a text.
    pub(super) fn seal(&mut self, text: &[u8]) -> Result<Vec<u8>, SealError> {
        if text.len() > MAX_SEALED_TEXT_BYTES {
            return Err(SealError::TooLong { bytes: text.len() });
        }
        let count = text.len().div_ceil(CHUNK_BYTES).max(1);
        let mut sealed = vec![0; text.len() + count * (TAG_BYTES + 1)];
        let mut chunk = Vec::with_capacity(CHUNK_BYTES.min(text.len()) + 1);
        let mut rest = text;
        for place in sealed.chunks_mut(SEALED_CHUNK_BYTES) {
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES));
            rest = later;
            chunk.clear();
            chunk.push(if rest.is_empty() { LAST } else { MORE });
            chunk.extend_from_slice(now);
            // Fails after 2^64 chunks only.
            self.noise.write_message(&chunk, place).map_err(|_| SealError::Ended)?;
            self.sealed += 1;
            if self.sealed.is_multiple_of(REKEY_CHUNKS) {
                self.noise.rekey_outgoing();
            }
        }
        Ok(sealed)
    }

    /// Opens the next text of the other end.
    pub(super) fn open(&mut self, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let count = sealed.len().div_ceil(SEALED_CHUNK_BYTES);
        let mut text = Vec::with_capacity(sealed.len());
        let mut chunk = vec![0; sealed.len().min(SEALED_CHUNK_BYTES)];
        for (at, bytes) in sealed.chunks(SEALED_CHUNK_BYTES).enumerate() {
            let opened = self.noise.read_message(bytes, &mut chunk).map_err(|_| SealError::Tampered)?;
            self.opened += 1;
            if self.opened.is_multiple_of(REKEY_CHUNKS) {
                self.noise.rekey_incoming();
            }
            // Texts cannot be joined, nor can a text end early.
            let expected = if at + 1 == count { LAST } else { MORE };
            match chunk[..opened].split_first() {
                Some((first, rest)) if *first == expected => text.extend_from_slice(rest),
                _ => return Err(SealError::Tampered),
            }
        }
        if count == 0 { Err(SealError::Tampered) } else { Ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("digits")).collect()
    }

    /// The vector of this protocol in the collection of cacophony, an independent implementation in Haskell.
    #[test]
    fn the_protocol_is_the_one_that_others_have() {
        let psk: [u8; 32] =
            bytes("54686973206973206d7920417573747269616e20706572737065637469766521").try_into().expect("32");
        let (prologue, init_static, init_ephemeral, resp_static, resp_ephemeral) = (
            bytes("4a6f686e2047616c74"),
            bytes("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"),
            bytes("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"),
            bytes("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"),
            bytes("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"),
        );
        let built = |private, ephemeral| {
            Builder::with_resolver(PROTOCOL.parse().expect("a protocol"), resolver())
                .prologue(&prologue)
                .and_then(|builder| builder.local_private_key(private))
                .expect("keys")
                .fixed_ephemeral_key_for_testing_only(ephemeral)
        };
        let mut client = Agreement(built(&init_static, &init_ephemeral).build_initiator().expect("a client"));
        let mut server = Agreement(built(&resp_static, &resp_ephemeral).build_responder().expect("a server"));
        client.set_secret(&psk).expect("a secret");
        for (at, (payload, expected)) in [
            (
                "4c756477696720766f6e204d69736573",
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944c9f5ff0e8079630cb7e270c20bbf480821b77a384a645c71a2fd9b3db1c16a5f",
            ),
            (
                "4d757272617920526f746862617264",
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843b123def17f71e6ae8e57e0e1dec5949c5f7415c6f33517398747d821a06dc23ad430aa1fd7381d46195c378a819fd574425462cbb2d4ca339e738a0b7001dc91423fbf55a99af0c6f1df21012ceb2f",
            ),
            (
                "462e20412e20486179656b",
                "52187316111b118d4c060364f7b975dc0809b2590779aff2d63113c564f11744493384db7bf32d5ae6686df6ab06d508d2e07caaf1d6afc010b978735fc78900e71ae1d314130d042e729a",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            // As in our use of it, the server learns the secret late.
            if at == 2 {
                server.set_secret(&psk).expect("a secret");
            }
            let (from, to) = if at == 1 { (&mut server, &mut client) } else { (&mut client, &mut server) };
            let message = from.write(&bytes(payload)).expect("a message");
            assert_eq!(message, bytes(expected), "message {at}");
            assert_eq!(to.read(&message).expect("it is good"), bytes(payload));
        }
        let hash = bytes("a477edf6a131bbdb54707f6ea30eab6cd935d9b560f0e5fd1f053a95a99669fb");
        assert_eq!((client.0.get_handshake_hash(), server.0.get_handshake_hash()), (&hash[..], &hash[..]));
        let (mut client, mut server) = (client.ciphers().expect("ciphers"), server.ciphers().expect("ciphers"));
        for (at, (payload, expected)) in [
            ("4361726c204d656e676572", "eaedc672d4c21e0e2955758756fb98f194c4e90d5deb5b6cf30b27"),
            (
                "4a65616e2d426170746973746520536179",
                "522d543c5fe799d09a3d9da7ff54d0dc03c8af1dc7751d2ff708339d2290943e98",
            ),
            (
                "457567656e2042f6686d20766f6e2042617765726b",
                "7d4e2c3873eef6a213b04e72f9df60a91666072d3544c5d96c34a09e2329b5030bee796741",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let (from, to) = if at % 2 == 1 { (&mut client, &mut server) } else { (&mut server, &mut client) };
            let (mut message, mut opened) = ([0; 64], [0; 64]);
            let count = from.noise.write_message(&bytes(payload), &mut message).expect("a message");
            assert_eq!(message[..count], bytes(expected), "message {at}");
            let count = to.noise.read_message(&message[..count], &mut opened).expect("it is good");
            assert_eq!(opened[..count], bytes(payload));
        }
    }

    fn pair() -> (Ciphers, Ciphers) {
        let keys = [generate(), generate()].map(|key| key.expect("random numbers").0);
        let mut client = Agreement::client(&keys[0], &[7; 32]).expect("a client");
        let mut server = Agreement::server(&keys[1]).expect("a server");
        let first = client.write(b"id").expect("a message");
        assert_eq!(server.read(&first), Ok(b"id".to_vec()));
        let second = server.write(b"").expect("a message");
        client.read(&second).expect("it is good");
        let third = client.write(b"").expect("a message");
        server.set_secret(&[7; 32]).expect("a secret");
        server.read(&third).expect("it is good");
        (client.ciphers().expect("ciphers"), server.ciphers().expect("ciphers"))
    }

    #[test]
    fn texts_of_every_length_are_opened_as_they_were() {
        let (mut client, mut server) = pair();
        for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 1 << 20] {
            let text: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let sealed = client.seal(&text).expect("it is sealed");
            assert_eq!(server.open(&sealed).expect("it is good"), text, "{length}");
        }
        let long = vec![0; MAX_SEALED_TEXT_BYTES + 1];
        assert_eq!(client.seal(&long), Err(SealError::TooLong { bytes: long.len() }));
    }

    #[test]
    fn keys_are_replaced_at_the_same_chunk_on_both_ends() {
        let (mut client, mut server) = pair();
        let long = vec![b'x'; 2 * CHUNK_BYTES + 5];
        for number in 0..=REKEY_CHUNKS {
            let text = format!("{number}").into_bytes();
            let sealed = client.seal(&text).expect("it is sealed");
            assert_eq!(server.open(&sealed), Ok(text));
            // The other direction has its own count.
            if number % 1_000 == 0 {
                let sealed = server.seal(&long).expect("it is sealed");
                assert_eq!(client.open(&sealed).as_ref(), Ok(&long));
            }
        }
        assert!(client.sealed > REKEY_CHUNKS && server.sealed < REKEY_CHUNKS);
        // One end alone cannot go on with the old key.
        client.noise.rekey_outgoing();
        let sealed = client.seal(b"text").expect("it is sealed");
        assert_eq!(server.open(&sealed), Err(SealError::Tampered));
    }
}
