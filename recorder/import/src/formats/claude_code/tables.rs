//! Hash tables of ids. Their hash function does not resist attacks: a hostile transcript slows down only its own
//! import.

use std::hash::BuildHasher;

/// A table by id.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A set of ids.
pub(crate) type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// Returns the hash of a value that is the same for the whole run of the program.
pub(crate) fn hash_of<T: std::hash::Hash + ?Sized>(text: &T) -> u64 {
    foldhash::fast::FixedState::default().hash_one(text)
}
