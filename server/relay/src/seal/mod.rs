//! Messages that only a client and a server can read, not the relay between them.
//!
//! A sealed stream begins with three messages of a key agreement instead of `initialize`; every further message is the
//! sealed text of an ordinary one. To the relay, all of them are `{"sealed": BASE64}`. Both ends know the secret of a
//! code that the server has made and a person has carried to the client, and each has a lasting key, which the other one
//! remembers. [`clients`] is what a server remembers, [`server`] what a client remembers.

mod channel;
pub mod clients;
mod curve;
mod error;
mod key;
mod noise;
pub mod server;

pub use channel::{Channel, ClientAgreement, ServerAgreement, is_sealed};
pub use error::{MAX_SEALED_TEXT_BYTES, SealError};
pub use key::{Key, KeyPair, SEALING_CODE_CHARACTERS, SealingCode, Secret};
pub use noise::REKEY_CHUNKS;
