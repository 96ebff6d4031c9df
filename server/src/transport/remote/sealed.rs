//! Streams that are sealed from end to end, so that the relay cannot read them.

use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use trace_relay::seal::clients::{SealedClients, SealedClientsError, SealedClientsFile};
use trace_relay::seal::{Channel, SealError, ServerAgreement};

/// Whose streams a server opens, and whether it takes others.
#[derive(Debug, Clone)]
pub struct Sealing {
    /// The file with the keys of the server and its clients.
    pub keys: SealedClientsFile,
    /// Whether streams that are not sealed are refused.
    pub is_required: bool,
}

/// A sealed stream that both of its tasks use.
#[derive(Debug, Clone)]
pub(super) struct SharedChannel(Arc<Mutex<Channel>>);

/// How far the key agreement of a stream is.
#[derive(Debug)]
pub(super) enum Stage {
    /// The stream is not sealed.
    Plain,
    /// The stream is not sealed, but has to be.
    MustBeSealed,
    /// The first message is expected.
    First,
    /// The message that completes the agreement is expected.
    Last(Box<Begun>),
    /// The stream is sealed.
    Sealed(SharedChannel),
}

#[derive(Debug)]
pub(super) struct Begun {
    agreement: ServerAgreement,
    secret: String,
}

/// A client that has completed the agreement.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) channel: SharedChannel,
    /// The id of the client's secret.
    pub(super) secret: String,
    /// The name of the client.
    pub(super) name: String,
}

/// Why a client's key agreement is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Clients(#[from] SealedClientsError),
}

/// Identifies the content of a file: inode, time and size. A file that is replaced has another inode.
pub(super) type Version = Option<(u64, i64, i64, u64)>;

impl SharedChannel {
    pub(super) fn seal(&self, text: &str) -> Result<String, SealError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seal(text)
    }

    pub(super) fn open(&self, message: &str) -> Result<String, SealError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).open(message)
    }
}

impl Sealing {
    /// Takes the first message of a stream. Returns the answer.
    pub(super) fn begin(&self, message: &str) -> Result<(Box<Begun>, String), Refusal> {
        let clients = self.keys.read().map_err(SealedClientsError::from)?;
        let keys = clients.keys().ok_or(SealedClientsError::UnknownCode)?;
        let (mut agreement, secret) = ServerAgreement::begin(keys, message)?;
        clients.secret(&secret, now())?;
        let answer = agreement.answer()?;
        Ok((Box::new(Begun { agreement, secret }), answer))
    }

    /// Takes the message that completes the agreement. A client that uses its code for the first time is remembered.
    pub(super) fn finish(&self, begun: Box<Begun>, message: &str) -> Result<Agreed, Refusal> {
        let Begun { agreement, secret } = *begun;
        let clients = self.keys.read().map_err(SealedClientsError::from)?;
        let (channel, key) = agreement.finish(clients.secret(&secret, now())?, message)?;
        let pair = |clients: &mut SealedClients| clients.pair(&secret, key, now());
        let name = self.keys.update::<_, SealedClientsError>(pair)?;
        Ok(Agreed { channel: SharedChannel(Arc::new(Mutex::new(channel))), secret, name })
    }

    /// Returns the version of the file with the keys.
    pub(super) fn version(&self) -> Version {
        let metadata = self.keys.path().metadata().ok()?;
        Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.len()))
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
