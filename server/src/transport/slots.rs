//! Slots for connections, which are limited for each client.
//!
//! A connection, also a WebSocket, has a slot from the time when it was judged until it ends. The number of slots is
//! limited for each process, for each user of this machine, for each address of another machine, and for all other
//! machines together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::admission::{MAX_CONNECTIONS, MAX_CONNECTIONS_PER_OWNER, MAX_CONNECTIONS_PER_PEER, TOO_MANY};
use super::peer::{Owner, Peer, Share, Shares};

/// The slots of a server.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    all: Arc<Semaphore>,
    elsewhere: Arc<Semaphore>,
    peers: Shares<Peer>,
    owners: Shares<Owner>,
}

/// The slot of a connection. Dropping the last clone frees it.
#[derive(Debug, Clone)]
pub(super) struct ConnectionSlot {
    _parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    _slot: OwnedSemaphorePermit,
    _elsewhere: Option<OwnedSemaphorePermit>,
    _peer: Share<Peer>,
    _owner: Share<Owner>,
}

impl ConnectionSlots {
    pub(super) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            elsewhere: Arc::new(Semaphore::new(MAX_CONNECTIONS_PER_OWNER)),
            peers: Shares::new(MAX_CONNECTIONS_PER_PEER),
            owners: Shares::new(MAX_CONNECTIONS_PER_OWNER),
        }
    }

    /// Takes a slot for a connection of a peer.
    ///
    /// # Errors
    ///
    /// Returns the text for the peer if there is no slot.
    pub(super) fn take(&self, peer: &Peer) -> Result<ConnectionSlot, String> {
        let _peer = self.peers.take(peer.clone()).ok_or_else(|| {
            format!("this client has {MAX_CONNECTIONS_PER_PEER} connections open, the most that one may have\n")
        })?;
        let of_owner = || {
            format!(
                "this user or address has {MAX_CONNECTIONS_PER_OWNER} connections open, the most that one may have\n"
            )
        };
        let _owner = self.owners.take(peer.owner.clone()).ok_or_else(of_owner)?;
        let place = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().map_err(|_| TOO_MANY.to_owned());
        let _elsewhere = match peer.owner {
            Owner::User(_) => None,
            Owner::Address(_) | Owner::Unknown => Some(place(&self.elsewhere)?),
        };
        let _slot = place(&self.all)?;
        Ok(ConnectionSlot { _parts: Arc::new(Parts { _slot, _elsewhere, _peer, _owner }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(slots: &ConnectionSlots, peers: impl Iterator<Item = Peer>) -> (Vec<ConnectionSlot>, String) {
        let mut held = Vec::new();
        for peer in peers {
            match slots.take(&peer) {
                Ok(place) => held.push(place),
                Err(why) => return (held, why),
            }
        }
        panic!("no connection was refused");
    }

    fn processes(user: u32) -> impl Iterator<Item = Peer> {
        (1..).map(move |pid| Peer { process: Some((pid, 0)), owner: Owner::User(user) })
    }

    #[test]
    fn no_client_takes_all_slots() {
        let slots = ConnectionSlots::new();
        let one = Peer { process: Some((1, 0)), owner: Owner::User(7) };
        let (held, why) = fill(&slots, std::iter::repeat_with(|| one.clone()));
        assert_eq!(held.len(), MAX_CONNECTIONS_PER_PEER, "{why}");
        assert!(why.starts_with("this client has 4096"), "{why}");
        let (of_others, why) = fill(&slots, processes(7).skip(1));
        assert_eq!(held.len() + of_others.len(), MAX_CONNECTIONS_PER_OWNER);
        assert!(why.starts_with("this user or address has 6144"), "{why}");
        // Another user still finds slots, until the server has none left.
        let (rest, why) = fill(&slots, processes(8));
        assert_eq!((held.len() + of_others.len() + rest.len(), why.as_str()), (MAX_CONNECTIONS, TOO_MANY));
        drop(held);
        assert!(slots.take(&one).is_ok(), "places are given back");
    }

    #[test]
    fn other_machines_together_leave_room_for_this_one() {
        let slots = ConnectionSlots::new();
        let addresses = (0..=u32::MAX).map(|number| Peer::from(Owner::at(std::net::Ipv4Addr::from(number).into())));
        let (held, why) = fill(&slots, addresses);
        assert_eq!((held.len(), why.as_str()), (MAX_CONNECTIONS_PER_OWNER, TOO_MANY));
        assert!(slots.take(&Owner::User(7).into()).is_ok());
    }
}
