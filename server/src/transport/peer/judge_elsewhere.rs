//! Lets everybody in whom tokens and modes of files let in: only Linux tells what a process descends from.

use super::arrival::Origin;
use super::refused::Refused;
use super::share::{Owner, Peer};

/// Judges connections. Clones are the same judge.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Judge;

impl Judge {
    /// Returns who is at the other end of a connection.
    ///
    /// # Errors
    ///
    /// Never.
    pub(in crate::transport) async fn judge(&self, origin: Origin) -> Result<Peer, Refused> {
        Ok(match origin {
            Origin::Tcp { peer, .. } => Owner::at(peer.ip()).into(),
            Origin::Unix { uid, .. } => Owner::User(uid).into(),
            Origin::Unknown => Owner::Unknown.into(),
        })
    }
}
