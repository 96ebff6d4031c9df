//! What a server knows of the clients whose streams are sealed.

use serde::{Deserialize, Serialize};

use super::error::SealError;
use super::key::{Key, KeyPair, SealingCode, Secret};
use crate::devices::{DevicesError, MAX_CLIENTS, check_name};
use crate::file::{FileError, LockedFile, content};
use crate::random::NoRandomness;

/// How long a sealing code is good, in seconds, until a client uses it.
pub const SEALING_CODE_SECONDS: u64 = 10 * 60;

/// The version of the file format.
const FORMAT: u32 = 1;

/// The keys of a server and its clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedClients {
    #[serde(default)]
    format: u32,
    /// The server's own key. `None` before the first client.
    #[serde(default)]
    keys: Option<KeyPair>,
    #[serde(default)]
    clients: Vec<SealedClient>,
}

/// A client whose streams are sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedClient {
    /// The name.
    pub name: String,
    /// The secret of its code.
    secret: Secret,
    /// When the code was made, in seconds since 1970.
    pub created: u64,
    /// The client's key. `None` until it has used the code.
    key: Option<Key>,
}

/// The file with the keys of a server and its clients.
pub type SealedClientsFile = LockedFile<SealedClients>;

content!(SealedClients, "file with sealing keys", FORMAT);

/// Why sealed clients cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SealedClientsError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The name is taken.
    #[error("the sealed client `{0}` exists; `trace serve seal revoke {0}` removes it")]
    Exists(String),
    /// There is no such client.
    #[error("there is no sealed client `{name}`{}", known(clients))]
    NoClient {
        /// The name.
        name: String,
        /// The clients that exist.
        clients: Vec<String>,
    },
    /// The name has characters that are not allowed, or there are too many clients.
    #[error(transparent)]
    Devices(#[from] DevicesError),
    /// A key cannot be made.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The system has no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The code is not known, or not good any more. The server tells this to the client.
    #[error("the sealing code is not known here: it was revoked, or was not used within 10 minutes")]
    UnknownCode,
    /// The code was used by another client.
    #[error("the sealing code belongs to another client")]
    OtherClient,
}

fn known(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; there are: {}", names.join(", ")),
    }
}

impl SealedClient {
    /// Returns whether the client has used its code.
    #[must_use]
    pub fn is_paired(&self) -> bool {
        self.key.is_some()
    }

    /// Returns whether the client, or its code, is good now.
    #[must_use]
    pub fn is_good(&self, now: u64) -> bool {
        self.is_paired() || now < self.created.saturating_add(SEALING_CODE_SECONDS)
    }
}

impl SealedClients {
    /// Adds a client, and returns its code, which is stored nowhere. Codes that nobody has used in time are forgotten.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken or invalid, or there are [`MAX_CLIENTS`] clients.
    pub fn add(&mut self, name: &str, now: u64) -> Result<SealingCode, SealedClientsError> {
        check_name(name)?;
        self.clients.retain(|client| client.is_good(now));
        if self.clients.iter().any(|client| client.name == name) {
            return Err(SealedClientsError::Exists(name.to_owned()));
        }
        if self.clients.len() >= MAX_CLIENTS {
            return Err(DevicesError::Full { what: "sealed clients", limit: MAX_CLIENTS }.into());
        }
        if self.keys.is_none() {
            self.keys = Some(KeyPair::generate()?);
        }
        let code = SealingCode::random()?;
        self.clients.push(SealedClient { name: name.to_owned(), secret: code.secret(), created: now, key: None });
        Ok(code)
    }

    /// Removes a client.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such client.
    pub fn revoke(&mut self, name: &str) -> Result<(), SealedClientsError> {
        let Some(at) = self.clients.iter().position(|client| client.name == name) else {
            let clients = self.clients.iter().map(|client| client.name.clone()).collect();
            return Err(SealedClientsError::NoClient { name: name.to_owned(), clients });
        };
        self.clients.remove(at);
        Ok(())
    }

    /// Returns all clients.
    #[must_use]
    pub fn clients(&self) -> &[SealedClient] {
        &self.clients
    }

    /// Returns the server's own key. `None` if there was never a client.
    #[must_use]
    pub fn keys(&self) -> Option<&KeyPair> {
        self.keys.as_ref()
    }

    /// Returns the secret with this id, if its client may use it.
    ///
    /// # Errors
    ///
    /// Returns an error if the secret is not known or was not used in time.
    pub fn secret(&self, id: &str, now: u64) -> Result<&Secret, SealedClientsError> {
        let client = self.clients.iter().find(|client| client.secret.id == id && client.is_good(now));
        client.map(|client| &client.secret).ok_or(SealedClientsError::UnknownCode)
    }

    /// Returns whether a client with this secret may use streams.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.clients.iter().any(|client| client.secret.id == id && client.is_paired())
    }

    /// Takes note that a client with this key has proved that it has the secret with this id. The first one is kept.
    /// Returns the name of the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the secret is not known or another client has used it.
    pub fn pair(&mut self, id: &str, key: Key, now: u64) -> Result<String, SealedClientsError> {
        let client = self
            .clients
            .iter_mut()
            .find(|client| client.secret.id == id && client.is_good(now))
            .ok_or(SealedClientsError::UnknownCode)?;
        if *client.key.get_or_insert(key) != key {
            return Err(SealedClientsError::OtherClient);
        }
        Ok(client.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_for_one_client() {
        let mut clients = SealedClients::default();
        let secret = clients.add("phone", 1_000).expect("a code").secret();
        assert!(matches!(clients.add("phone", 1_001), Err(SealedClientsError::Exists(_))));
        assert!(matches!(clients.add("a/b", 1_001), Err(SealedClientsError::Devices(DevicesError::BadName(_)))));
        let [phone, thief] =
            [KeyPair::generate(), KeyPair::generate()].map(|keys| keys.expect("random numbers").public);
        assert_eq!(clients.secret(&secret.id, 1_000).ok(), Some(&secret));
        assert!(!clients.knows(&secret.id), "it was not used yet");
        assert_eq!(clients.pair(&secret.id, phone, 1_002).expect("the first one"), "phone");
        assert_eq!(clients.pair(&secret.id, phone, 9_999_999).expect("the same one"), "phone");
        assert!(matches!(clients.pair(&secret.id, thief, 1_003), Err(SealedClientsError::OtherClient)));
        assert!(clients.knows(&secret.id));
        clients.revoke("phone").expect("it is there");
        assert!(matches!(clients.revoke("phone"), Err(SealedClientsError::NoClient { .. })));
        assert!(matches!(clients.pair(&secret.id, phone, 1_004), Err(SealedClientsError::UnknownCode)));
    }

    #[test]
    fn a_code_that_is_not_used_ends() {
        let mut clients = SealedClients::default();
        let secret = clients.add("phone", 1_000).expect("a code").secret();
        let end = 1_000 + SEALING_CODE_SECONDS;
        assert!(clients.secret(&secret.id, end - 1).is_ok());
        assert!(matches!(clients.secret(&secret.id, end), Err(SealedClientsError::UnknownCode)));
        assert!(clients.add("phone", end).is_ok(), "the name is free again");
        for number in 1..MAX_CLIENTS {
            clients.add(&format!("c{number}"), end).expect("a code");
        }
        assert!(matches!(clients.add("more", end), Err(SealedClientsError::Devices(DevicesError::Full { .. }))));
    }
}
