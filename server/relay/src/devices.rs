//! Who may connect: devices, the tokens of their servers and clients, and pairing codes.
//!
//! The devices file holds SHA-256 digests only. Tokens are random and long, so that their digests can be compared
//! without salt. Programs that change the file hold a lock and replace it in one step; the relay notices the change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::file::{FileError, LockedFile, content};
use crate::random::{NoRandomness, hex, key_of_hex, plain_code, random_bytes, random_code};

/// Most devices of a relay.
pub const MAX_DEVICES: usize = 1_024;

/// Most clients of a device.
pub const MAX_CLIENTS: usize = 256;

/// Most pairing codes of a device that are valid at the same time.
pub const MAX_CODES: usize = 16;

/// Characters of a pairing code.
pub const CODE_CHARACTERS: usize = 8;

/// How long a pairing code is valid, in seconds.
pub const CODE_SECONDS: u64 = 10 * 60;

/// Number of wrong codes after which the codes of a device are no longer valid.
pub const MAX_WRONG_CODES: u32 = 5;

/// Default life of a client's token, in days.
pub const DEFAULT_TOKEN_DAYS: u64 = 90;

/// Most characters of the name of a device or a client.
pub const MAX_NAME_CHARACTERS: usize = 64;

/// Bytes of randomness in a token.
const TOKEN_BYTES: usize = 32;

/// The version of the file format.
const FORMAT: u32 = 1;

/// The SHA-256 digest of a token or code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of a secret.
    #[must_use]
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Compares two digests in constant time.
    fn same(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }

    /// Returns the digest in hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.hex()[..8])
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digest =
            key_of_hex(&text).ok_or_else(|| serde::de::Error::custom("a SHA-256 digest has 64 hexadecimal digits"))?;
        Ok(Self(digest))
    }
}

/// All devices of a relay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    #[serde(default)]
    format: u32,
    /// The devices by name.
    #[serde(default)]
    pub devices: BTreeMap<String, Device>,
}

/// A device: a machine whose server dials the relay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The digest of the server's token.
    pub server_sha256: Digest,
    /// The clients that may connect.
    #[serde(default)]
    pub clients: Vec<ClientToken>,
    /// Pairing codes that were not used yet.
    #[serde(default)]
    pub codes: Vec<Code>,
}

/// The token of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientToken {
    /// The name, which is unique on its device.
    pub name: String,
    /// The digest of the token.
    pub sha256: Digest,
    /// When the token was made, in seconds since 1970.
    pub created: u64,
    /// When the token ends, in seconds since 1970. `None` if it does not end.
    pub expires: Option<u64>,
}

impl ClientToken {
    fn is_valid(&self, now: u64) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// A pairing code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The digest of the code.
    pub sha256: Digest,
    /// When the code ends, in seconds since 1970.
    pub expires: u64,
    /// Life of the token that the code gives, in seconds. `None` if the token does not end.
    pub token_seconds: Option<u64>,
    /// Wrong codes that were tried while this one was valid.
    #[serde(default)]
    pub wrong: u32,
}

/// A client's token, in exchange for a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// The token, which is stored nowhere.
    pub token: String,
    /// The name of the client on its devices.
    pub name: String,
    /// The devices for which the token is valid.
    pub devices: Vec<String>,
    /// When the token ends, in seconds since 1970. `None` if it does not end.
    pub expires: Option<u64>,
}

/// Why the devices cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DevicesError {
    /// The devices file cannot be read or changed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A name has other characters than allowed.
    #[error("`{0}` is not a name: use 1 to {MAX_NAME_CHARACTERS} letters, digits, `.`, `_` and `-`")]
    BadName(String),
    /// The device exists.
    #[error("the device `{0}` exists; `trace relay revoke {0}` removes it")]
    Exists(String),
    /// There is no such device.
    #[error("there is no device `{name}`{}", known(devices))]
    NoDevice {
        /// The name.
        name: String,
        /// The devices that exist.
        devices: Vec<String>,
    },
    /// The device has no such client.
    #[error("the device `{device}` has no client `{client}`{}", known(clients))]
    NoClient {
        /// The device.
        device: String,
        /// The name.
        client: String,
        /// The clients that exist.
        clients: Vec<String>,
    },
    /// A limit is reached.
    #[error("there are already {limit} {what}")]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The system has no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

fn known(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; there are: {}", names.join(", ")),
    }
}

/// A code was refused. The error does not tell whether it was wrong, used or too late.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// The code is not valid.
    #[error("the code is not valid: it is wrong, was used, or is older than 10 minutes")]
    Refused,
    /// The devices could not be changed.
    #[error(transparent)]
    Devices(#[from] DevicesError),
}

impl From<FileError> for PairError {
    fn from(error: FileError) -> Self {
        Self::Devices(error.into())
    }
}

impl Devices {
    /// Adds a device, and returns the token of its server.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken or invalid, or there are [`MAX_DEVICES`] devices.
    pub fn add(&mut self, name: &str) -> Result<String, DevicesError> {
        check_name(name)?;
        if self.devices.contains_key(name) {
            return Err(DevicesError::Exists(name.to_owned()));
        }
        if self.devices.len() >= MAX_DEVICES {
            return Err(DevicesError::Full { what: "devices", limit: MAX_DEVICES });
        }
        let token = random_token()?;
        let device = Device { server_sha256: Digest::of(&token), clients: Vec::new(), codes: Vec::new() };
        self.devices.insert(name.to_owned(), device);
        Ok(token)
    }

    /// Makes a pairing code for a client of these devices. The client's token ends after `token_seconds`, if any.
    ///
    /// # Errors
    ///
    /// Returns an error if a device does not exist or has [`MAX_CODES`] codes.
    pub fn pair(&mut self, names: &[String], token_seconds: Option<u64>, now: u64) -> Result<String, DevicesError> {
        self.forget_old(now);
        let names: BTreeSet<&String> = names.iter().collect();
        for name in &names {
            if self.device(name)?.codes.len() >= MAX_CODES {
                return Err(DevicesError::Full { what: "codes of this device", limit: MAX_CODES });
            }
        }
        let code = random_code(CODE_CHARACTERS)?;
        let entry = Code { sha256: Digest::of(&code), expires: now + CODE_SECONDS, token_seconds, wrong: 0 };
        for name in names {
            self.device(name)?.codes.push(entry.clone());
        }
        Ok(code)
    }

    /// Exchanges a code for a token. A wrong code counts against the codes of the named device, or of all devices.
    ///
    /// # Errors
    ///
    /// Returns an error if the code is not valid or a device has [`MAX_CLIENTS`] clients.
    pub fn redeem(&mut self, code: &str, device: Option<&str>, name: &str, now: u64) -> Result<Paired, PairError> {
        check_name(name)?;
        self.forget_old(now);
        let digest = Digest::of(&plain_code(code));
        let mut found = Vec::new();
        let mut token_seconds = None;
        for (device, entry) in &self.devices {
            for code in &entry.codes {
                if bool::from(code.sha256.same(&digest)) {
                    found.push(device.clone());
                    token_seconds = code.token_seconds;
                }
            }
        }
        if device.is_some_and(|device| !found.iter().any(|found| found == device)) {
            found.clear();
        }
        if found.is_empty() {
            for (_, entry) in self.devices.iter_mut().filter(|(name, _)| device.is_none_or(|device| device == *name)) {
                entry.codes.iter_mut().for_each(|code| code.wrong += 1);
                entry.codes.retain(|code| code.wrong < MAX_WRONG_CODES);
            }
            return Err(PairError::Refused);
        }
        let clients = || found.iter().filter_map(|device| self.devices.get(device)).map(|device| &device.clients);
        if clients().any(|clients| clients.len() >= MAX_CLIENTS) {
            return Err(DevicesError::Full { what: "clients of this device", limit: MAX_CLIENTS }.into());
        }
        let is_free = |name: &str| !clients().flatten().any(|client| client.name == name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let Some(name) = std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)) else {
            return Err(PairError::Refused);
        };
        let token = random_token()?;
        let expires = token_seconds.map(|seconds| now.saturating_add(seconds));
        for device in &found {
            let entry = self.device(device)?;
            entry.codes.retain(|code| !bool::from(code.sha256.same(&digest)));
            let client = ClientToken { name: name.clone(), sha256: Digest::of(&token), created: now, expires };
            entry.clients.push(client);
        }
        Ok(Paired { token, name, devices: found, expires })
    }

    /// Removes a client of a device, or the whole device.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such device or client.
    pub fn revoke(&mut self, device: &str, client: Option<&str>) -> Result<(), DevicesError> {
        let entry = self.device(device)?;
        let Some(client) = client else {
            self.devices.remove(device);
            return Ok(());
        };
        let clients = entry.clients.len();
        entry.clients.retain(|token| token.name != client);
        if entry.clients.len() == clients {
            let clients = entry.clients.iter().map(|token| token.name.clone()).collect();
            return Err(DevicesError::NoClient { device: device.to_owned(), client: client.to_owned(), clients });
        }
        Ok(())
    }

    /// Returns the device whose server has this token.
    #[must_use]
    pub fn of_server(&self, token: &Digest) -> Option<&str> {
        // All tokens are compared, so that the time does not tell which one is similar.
        let mut found = None;
        for (name, device) in &self.devices {
            if bool::from(device.server_sha256.same(token)) {
                found = Some(name.as_str());
            }
        }
        found
    }

    /// Returns the devices for which this is a valid token of a client.
    #[must_use]
    pub fn of_client(&self, token: &Digest, now: u64) -> Vec<&str> {
        let mut found = Vec::new();
        for (name, device) in &self.devices {
            for client in &device.clients {
                if bool::from(client.sha256.same(token)) && client.is_valid(now) {
                    found.push(name.as_str());
                }
            }
        }
        found
    }

    /// Returns whether the server of a device has this token.
    #[must_use]
    pub fn is_server(&self, device: &str, token: &Digest) -> bool {
        self.devices.get(device).is_some_and(|device| bool::from(device.server_sha256.same(token)))
    }

    /// Returns whether this is a valid token of a client of a device.
    #[must_use]
    pub fn is_client(&self, device: &str, token: &Digest, now: u64) -> bool {
        let mut clients = self.devices.get(device).into_iter().flat_map(|device| &device.clients);
        clients.any(|client| bool::from(client.sha256.same(token)) && client.is_valid(now))
    }

    /// Returns the number of codes that are valid.
    #[must_use]
    pub fn valid_codes(&self, now: u64) -> usize {
        self.devices.values().flat_map(|device| &device.codes).filter(|code| now < code.expires).count()
    }

    fn device(&mut self, name: &str) -> Result<&mut Device, DevicesError> {
        if !self.devices.contains_key(name) {
            let devices = self.devices.keys().cloned().collect();
            return Err(DevicesError::NoDevice { name: name.to_owned(), devices });
        }
        Ok(self.devices.get_mut(name).expect("it was found"))
    }

    fn forget_old(&mut self, now: u64) {
        for device in self.devices.values_mut() {
            device.codes.retain(|code| now < code.expires);
            device.clients.retain(|client| client.is_valid(now));
        }
    }
}

/// Returns an error unless the text is a name.
pub(crate) fn check_name(name: &str) -> Result<(), DevicesError> {
    let is_name = !name.is_empty()
        && name.len() <= MAX_NAME_CHARACTERS
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_name { Ok(()) } else { Err(DevicesError::BadName(name.to_owned())) }
}

fn random_token() -> Result<String, DevicesError> {
    Ok(hex(&random_bytes::<TOKEN_BYTES>()?))
}

content!(Devices, "devices file", FORMAT);

/// The file with the devices.
pub type DevicesFile = LockedFile<Devices>;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::random::{CODE_ALPHABET, shown_code};

    fn paired(devices: &mut Devices, code: &str, now: u64) -> Result<Paired, PairError> {
        devices.redeem(code, None, "phone", now)
    }

    fn laptop() -> (Devices, String) {
        let mut devices = Devices::default();
        let token = devices.add("laptop").expect("a new device");
        (devices, token)
    }

    #[test]
    fn a_device_is_known_by_the_token_of_its_server() {
        let (mut devices, token) = laptop();
        let other = devices.add("other").expect("a new device");
        assert_eq!(token.len(), 64);
        assert_eq!(devices.of_server(&Digest::of(&token)), Some("laptop"));
        assert_eq!(devices.of_server(&Digest::of(&other)), Some("other"));
        assert_eq!(devices.of_server(&Digest::of("no")), None);
        assert!(!serde_json::to_string(&devices).expect("JSON").contains(&token));
        assert!(matches!(devices.add("laptop"), Err(DevicesError::Exists(_))));
        for name in ["", "a/b", "a b", "ä", &"x".repeat(MAX_NAME_CHARACTERS + 1)] {
            assert!(matches!(devices.add(name), Err(DevicesError::BadName(_))), "{name}");
        }
    }

    #[test]
    fn a_code_is_good_once() {
        let (mut devices, _) = laptop();
        let names = ["laptop".to_owned()];
        let code = devices.pair(&names, Some(60), 1_000).expect("a code");
        assert_eq!(code.len(), CODE_CHARACTERS);
        assert!(code.bytes().all(|byte| CODE_ALPHABET.contains(&byte)), "{code}");
        // People write codes as they like.
        let shown = shown_code(&code).to_lowercase();
        let phone = paired(&mut devices, &format!(" {shown} "), 1_001).expect("a token");
        assert_eq!((phone.name.as_str(), phone.expires), ("phone", Some(1_061)));
        assert_eq!(devices.of_client(&Digest::of(&phone.token), 1_060), ["laptop"]);
        assert!(devices.of_client(&Digest::of(&phone.token), 1_061).is_empty(), "the token ends");
        assert!(matches!(paired(&mut devices, &code, 1_002), Err(PairError::Refused)));
        let code = devices.pair(&names, None, 1_003).expect("a code");
        let second = paired(&mut devices, &code, 1_004).expect("a token");
        assert_eq!((second.name.as_str(), second.expires), ("phone-2", None));
    }

    #[test]
    fn a_code_is_good_for_ten_minutes() {
        let (mut devices, _) = laptop();
        let names = ["laptop".to_owned()];
        let code = devices.pair(&names, None, 0).expect("a code");
        assert!(paired(&mut devices.clone(), &code, 599).is_ok());
        assert!(matches!(paired(&mut devices, &code, 600), Err(PairError::Refused)));
        assert_eq!(devices.valid_codes(599), 0, "it was forgotten");
    }

    #[test]
    fn five_wrong_codes_end_the_code() {
        let (mut devices, _) = laptop();
        devices.add("other").expect("a new device");
        let names = ["laptop".to_owned()];
        let code = devices.pair(&names, None, 0).expect("a code");
        for _ in 0..MAX_WRONG_CODES {
            let elsewhere = devices.redeem("WRONG", Some("other"), "phone", 1);
            assert!(matches!(elsewhere, Err(PairError::Refused)));
        }
        for _ in 1..MAX_WRONG_CODES {
            assert!(matches!(paired(&mut devices, "22222222", 1), Err(PairError::Refused)));
        }
        assert!(devices.clone().redeem(&code, Some("laptop"), "phone", 1).is_ok(), "four are not enough");
        assert!(matches!(devices.redeem("22222222", Some("laptop"), "phone", 1), Err(PairError::Refused)));
        assert!(matches!(paired(&mut devices, &code, 1), Err(PairError::Refused)));
    }

    #[test]
    fn one_token_can_be_good_for_several_devices() {
        let (mut devices, _) = laptop();
        devices.add("desktop").expect("a new device");
        let code = devices.pair(&["laptop".to_owned(), "desktop".to_owned()], None, 0).expect("a code");
        let phone = paired(&mut devices, &code, 1).expect("a token");
        assert_eq!(devices.of_client(&Digest::of(&phone.token), 1), ["desktop", "laptop"]);
        devices.revoke("desktop", Some("phone")).expect("it is there");
        assert_eq!(devices.of_client(&Digest::of(&phone.token), 1), ["laptop"]);
        let error = devices.revoke("desktop", Some("phone")).expect_err("it is gone").to_string();
        assert_eq!(error, "the device `desktop` has no client `phone`");
        devices.revoke("laptop", None).expect("it is there");
        assert!(devices.of_client(&Digest::of(&phone.token), 1).is_empty());
        let error = devices.revoke("laptop", None).expect_err("it is gone").to_string();
        assert_eq!(error, "there is no device `laptop`; there are: desktop");
    }

    #[test]
    fn limits_hold() {
        let (mut devices, _) = laptop();
        let names = ["laptop".to_owned()];
        for _ in 0..MAX_CODES {
            devices.pair(&names, None, 0).expect("a code");
        }
        assert!(matches!(devices.pair(&names, None, 0), Err(DevicesError::Full { limit: MAX_CODES, .. })));
        assert!(devices.pair(&names, None, CODE_SECONDS).is_ok(), "old codes make room");
        let client =
            |number| ClientToken { name: format!("c{number}"), sha256: Digest::of("x"), created: 0, expires: None };
        let code = devices.pair(&names, None, CODE_SECONDS).expect("a code");
        devices.devices.get_mut("laptop").expect("it is there").clients = (0..MAX_CLIENTS).map(client).collect();
        let full = paired(&mut devices, &code, CODE_SECONDS);
        assert!(matches!(full, Err(PairError::Devices(DevicesError::Full { limit: MAX_CLIENTS, .. }))));
        let device = devices.devices["laptop"].clone();
        devices.devices = (0..MAX_DEVICES).map(|number| (format!("d{number}"), device.clone())).collect();
        assert!(matches!(devices.add("more"), Err(DevicesError::Full { limit: MAX_DEVICES, .. })));
    }

    #[test]
    fn the_file_is_private_and_changes_of_several_programs_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = DevicesFile::new(folder.path().join("devices.json"));
        assert_eq!(file.read().expect("no devices"), Devices::default());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = file.clone();
                scope.spawn(move || file.update(|devices| devices.add(&format!("d{number}"))).expect("a device"));
            }
        });
        assert_eq!(file.read().expect("devices").devices.len(), 8);
        let mode = file.path().metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(file.path(), r#"{"format": 2}"#).expect("writes");
        assert!(matches!(file.read(), Err(FileError::Newer { format: 2, .. })));
        std::fs::write(file.path(), r#"{"devices": {"a": {"server_sha256": "12"}}}"#).expect("writes");
        assert!(matches!(file.read(), Err(FileError::Invalid { .. })));
    }
}
