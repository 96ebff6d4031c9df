//! Why a stream is not, or no longer, sealed.

use crate::random::NoRandomness;

/// Most bytes of a message that is sealed. Sealed and in base64, it is shorter than the longest message.
pub const MAX_SEALED_TEXT_BYTES: usize = 47 << 20;

/// Why a stream is not, or no longer, sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// A message is not sealed, although the stream is.
    #[error("a message is not sealed")]
    NotSealed,
    /// A message is not the one that the other end has sent next.
    #[error("a sealed message was changed, left out, repeated or moved on its way")]
    Tampered,
    /// The other end has another sealing code, or a message of the key agreement was changed.
    #[error("the other end does not have the same sealing code, or a message was changed on its way")]
    NoAgreement,
    /// The server has another key than when the client was paired.
    #[error("the server has another key than before")]
    OtherServer,
    /// A message is too long to be sealed.
    #[error("a message has {bytes} bytes; at most {MAX_SEALED_TEXT_BYTES} can be sealed")]
    TooLong {
        /// The bytes.
        bytes: usize,
    },
    /// An earlier message of the stream could not be opened.
    #[error("an earlier message of the stream could not be opened")]
    Ended,
    /// The system has no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}
