//! Remembers what was decided about strings: a session's requests repeat the same ones hundreds of times.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::edit::Edit;
use super::examine::{Sense, Subject};

/// Most strings that are remembered. Beyond that a string is looked at each time it comes.
const MAX_REMEMBERED: usize = 1 << 22;

const SHARDS: usize = 64;

/// What has to change in the string of each hash, if anything.
type Decisions = HashMap<u128, Option<Arc<[Edit]>>>;

/// Decisions by string, shared between threads.
#[derive(Debug)]
pub(crate) struct Memory {
    shards: Vec<Mutex<Decisions>>,
    seed: u64,
}

impl Memory {
    pub(crate) fn new() -> Self {
        // The seed is nobody's to know, so no bundle can be made in which a secret has the hash of a harmless string.
        let seed = RandomState::new().hash_one(SHARDS);
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), seed }
    }

    /// Returns what was decided about a string, deciding it if that has not been done.
    pub(crate) fn recall(&self, subject: Subject<'_>, source: &[u8], decide: impl FnOnce() -> Vec<Edit>) -> Vec<Edit> {
        let key = xxh3_128_with_seed(source, self.seed ^ tag(subject));
        let shard = &self.shards[key as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).cloned();
        match known {
            Some(None) => return Vec::new(),
            Some(Some(edits)) => return edits.to_vec(),
            None => {}
        }
        let edits = decide();
        let mut shard = lock();
        if shard.len() < MAX_REMEMBERED / SHARDS {
            shard.insert(key, (!edits.is_empty()).then(|| edits.clone().into()));
        }
        edits
    }
}

fn tag(subject: Subject<'_>) -> u64 {
    let Subject::String(sense) = subject else { return 6 << 56 };
    match sense {
        Sense::Free => 1 << 56,
        Sense::Structural => 2 << 56,
        Sense::Opaque => 3 << 56,
        Sense::Cookies => 4 << 56,
        // The kind is only told apart by the name of its placeholder.
        Sense::Weak(kind) => xxh3_128_with_seed(kind.as_str().as_bytes(), 7) as u64,
        // The name decides, and with it the kind.
        Sense::Sensitive(_, name) => xxh3_128_with_seed(name.as_bytes(), 5) as u64,
    }
}
