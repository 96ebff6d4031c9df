//! Counts the slots that each peer has taken, to limit them.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The peer at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::transport) struct Peer {
    /// The id and the start time of the process, if the system provides them. The id alone may be reused.
    pub(in crate::transport) process: Option<(u32, u64)>,
    pub(in crate::transport) owner: Owner,
}

/// The user or machine that a peer belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::transport) enum Owner {
    /// A user of this machine.
    User(u32),
    /// An address of another machine. For IPv6, it is the address of the network, because one machine can have many
    /// addresses in it.
    Address(IpAddr),
    /// The owner is not known.
    Unknown,
}

impl Owner {
    /// Returns the owner of connections from an address of another machine.
    pub(in crate::transport) fn at(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self::Address(IpAddr::from([a, b, c, d, 0, 0, 0, 0]))
            }
            address @ IpAddr::V4(_) => Self::Address(address),
        }
    }
}

impl From<Owner> for Peer {
    fn from(owner: Owner) -> Self {
        Self { process: None, owner }
    }
}

/// Counts slots by owner. Clones share the counts.
#[derive(Debug)]
pub(in crate::transport) struct Shares<K: Eq + Hash + Clone>(Arc<Counts<K>>);

#[derive(Debug)]
struct Counts<K> {
    taken: Mutex<HashMap<K, usize>>,
    most: usize,
}

/// A slot. Dropping it frees the slot.
#[derive(Debug)]
pub(in crate::transport) struct Share<K: Eq + Hash> {
    counts: Arc<Counts<K>>,
    key: K,
}

impl<K: Eq + Hash + Clone> Clone for Shares<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Creates counts with a limit of `most` slots for each key.
    pub(in crate::transport) fn new(most: usize) -> Self {
        Self(Arc::new(Counts { taken: Mutex::default(), most }))
    }

    /// Takes a slot. Returns `None` if the limit of the key is reached.
    pub(in crate::transport) fn take(&self, key: K) -> Option<Share<K>> {
        let mut taken = self.0.taken();
        let count = taken.entry(key.clone()).or_insert(0);
        if *count >= self.0.most {
            return None;
        }
        *count += 1;
        drop(taken);
        Some(Share { counts: Arc::clone(&self.0), key })
    }
}

impl<K> Counts<K> {
    fn taken(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut taken = self.counts.taken();
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_limit_and_frees_its_slots() {
        let shares = Shares::new(2);
        let first = shares.take("a").expect("a place");
        let _second = shares.take("a").expect("a place");
        assert!(shares.take("a").is_none());
        assert!(shares.take("b").is_some(), "others have their own");
        drop(first);
        assert!(shares.take("a").is_some());
        assert_eq!(shares.0.taken().len(), 1, "keys without slots are removed");
    }

    #[test]
    fn a_network_of_ipv6_is_one_owner_and_a_mapped_address_is_that_of_ipv4() {
        let at = |address: &str| Owner::at(address.parse().expect("an address"));
        assert_eq!(at("2001:db8:1:2::3"), at("2001:db8:1:2:ffff::4"));
        assert_ne!(at("2001:db8:1:2::3"), at("2001:db8:1:3::3"));
        assert_eq!(at("::ffff:192.0.2.7"), at("192.0.2.7"));
        assert_ne!(at("192.0.2.7"), at("192.0.2.8"));
    }
}
