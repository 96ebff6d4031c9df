//! What a client knows of the server to which its streams are sealed.

use serde::{Deserialize, Serialize};

use super::channel::{Channel, ClientAgreement};
use super::error::SealError;
use super::key::{Key, KeyPair, SealingCode, Secret};
use crate::file::{LockedFile, content};

/// The version of the file format.
const FORMAT: u32 = 1;

/// The keys of a client. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedServer {
    #[serde(default)]
    format: u32,
    /// The client's own key, and the secret of its code.
    #[serde(default)]
    own: Option<(KeyPair, Secret)>,
    /// The key of the server. `None` until it has proved that it knows the code.
    #[serde(default)]
    server: Option<Key>,
}

/// The file with the keys of a client.
pub type SealedServerFile = LockedFile<SealedServer>;

content!(SealedServer, "file with sealing keys", FORMAT);

impl SealedServer {
    /// Makes the keys of a client that was given a code.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn new(code: &SealingCode) -> Result<Self, SealError> {
        Ok(Self { format: FORMAT, own: Some((KeyPair::generate()?, code.secret())), server: None })
    }

    /// Returns whether there are keys.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.own.is_some()
    }

    /// Returns whether a server has proved that it knows the code.
    #[must_use]
    pub fn has_server(&self) -> bool {
        self.server.is_some()
    }

    /// Begins a sealed stream. Returns its first message.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no keys.
    pub fn begin(&self) -> Result<(ClientAgreement, String), SealError> {
        let (keys, secret) = self.own.as_ref().ok_or(SealError::NoAgreement)?;
        ClientAgreement::begin(keys, secret)
    }

    /// Takes the server's answer. Returns the stream, the key of the server, and the message that completes the
    /// agreement.
    ///
    /// # Errors
    ///
    /// Returns an error if the server has another key than before, or the message was changed.
    pub fn finish(&self, agreement: ClientAgreement, message: &str) -> Result<(Channel, Key, String), SealError> {
        agreement.finish(message, self.server.as_ref())
    }

    /// Keeps the key of the server, after a message of it was opened. Returns whether it is new.
    ///
    /// # Errors
    ///
    /// Returns an error if another key is kept already.
    pub fn keep(&mut self, server: Key) -> Result<bool, SealError> {
        match self.server {
            None => {
                self.server = Some(server);
                Ok(true)
            }
            Some(kept) if kept == server => Ok(false),
            Some(_) => Err(SealError::OtherServer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_again() {
        let code = SealingCode::random().expect("random numbers");
        let mut client = SealedServer::new(&code).expect("keys");
        assert!(client.has_keys() && !SealedServer::default().has_keys());
        assert_eq!(SealedServer::default().begin().err(), Some(SealError::NoAgreement));
        let [first, second] =
            [KeyPair::generate(), KeyPair::generate()].map(|keys| keys.expect("random numbers").public);
        assert!(!client.has_server());
        assert_eq!(client.keep(first), Ok(true));
        assert!(client.has_server());
        assert_eq!(client.keep(first), Ok(false));
        assert_eq!(client.keep(second), Err(SealError::OtherServer));
        let text = serde_json::to_string(&client).expect("JSON");
        assert_eq!(serde_json::from_str::<SealedServer>(&text).expect("the same"), client);
    }
}
