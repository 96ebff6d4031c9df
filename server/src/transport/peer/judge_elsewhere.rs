//! Admits every connection. Only Linux tells which process a process descends from, so on other systems only tokens and
//! file permissions protect the server.

use super::arrival::Origin;
use super::refused::Refused;
use super::share::{Owner, Peer};

/// Judges connections. Clones are equivalent.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Judge;

impl Judge {
    /// Returns the peer at the other end of a connection.
    ///
    /// # Errors
    ///
    /// Never returns an error.
    pub(in crate::transport) async fn judge(&self, origin: Origin) -> Result<Peer, Refused> {
        Ok(match origin {
            Origin::Tcp { peer, .. } => Owner::at(peer.ip()).into(),
            Origin::Unix { uid, .. } => Owner::User(uid).into(),
            Origin::Unknown => Owner::Unknown.into(),
        })
    }
}
