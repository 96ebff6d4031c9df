//! Remembers what was decided about strings: a session's requests repeat the same ones hundreds of times.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::edit::Edit;
use super::examine::{Sense, Subject};

/// Most strings that are remembered. Beyond that a string is looked at each time it comes.
const MAX_REMEMBERED: usize = 1 << 22;

const SHARDS: usize = 64;

/// What is known of the string of each hash.
type Decisions = HashMap<u128, Decision>;

/// What is known of a string.
#[derive(Debug, Clone)]
enum Decision {
    /// It was looked at in the first pass.
    Judged(Verdict),
    /// This has to change in it, and nothing if it is empty.
    Decided(Option<Arc<[Edit]>>),
}

/// What the first pass found in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing. What is known of other strings may still be in it.
    Clean,
    /// A secret.
    Secret,
}

/// Decisions by string, shared between threads.
#[derive(Debug)]
pub(crate) struct Memory {
    shards: Vec<Mutex<Decisions>>,
    seed: u64,
}

impl Memory {
    pub(crate) fn new() -> Self {
        // The seed is random, so that nobody can make a bundle in which a secret has the hash of a harmless string.
        let seed = RandomState::new().hash_one(SHARDS);
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), seed }
    }

    /// Keeps what the first pass finds in a string, unless it was looked at before.
    pub(crate) fn judge(&self, subject: Subject<'_>, source: &[u8], judge: impl FnOnce() -> Verdict) {
        let key = self.key(subject, source);
        if self.get(key).is_none() {
            let verdict = judge();
            self.put(key, Decision::Judged(verdict));
        }
    }

    /// Returns what was decided about a string, deciding it by what the first pass found if that has not been done.
    pub(crate) fn recall(
        &self,
        subject: Subject<'_>,
        source: &[u8],
        decide: impl FnOnce(Option<Verdict>) -> Vec<Edit>,
    ) -> Vec<Edit> {
        let key = self.key(subject, source);
        let verdict = match self.get(key) {
            Some(Decision::Decided(None)) => return Vec::new(),
            Some(Decision::Decided(Some(edits))) => return edits.to_vec(),
            Some(Decision::Judged(verdict)) => Some(verdict),
            None => None,
        };
        let edits = decide(verdict);
        self.put(key, Decision::Decided((!edits.is_empty()).then(|| edits.clone().into())));
        edits
    }

    fn key(&self, subject: Subject<'_>, source: &[u8]) -> u128 {
        xxh3_128_with_seed(source, self.seed ^ tag(subject))
    }

    fn shard(&self, key: u128) -> MutexGuard<'_, Decisions> {
        self.shards[key as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: u128) -> Option<Decision> {
        self.shard(key).get(&key).cloned()
    }

    fn put(&self, key: u128, decision: Decision) {
        let mut shard = self.shard(key);
        if shard.len() < MAX_REMEMBERED / SHARDS || shard.contains_key(&key) {
            shard.insert(key, decision);
        }
    }
}

fn tag(subject: Subject<'_>) -> u64 {
    let Subject::String(sense) = subject else { return 6 << 56 };
    match sense {
        Sense::Free => 1 << 56,
        Sense::Structural => 2 << 56,
        Sense::Opaque => 3 << 56,
        Sense::Cookies => 4 << 56,
        Sense::Answer => 8 << 56,
        // Two weak kinds differ only in the names of their placeholders.
        Sense::Weak(kind) => xxh3_128_with_seed(kind.as_str().as_bytes(), 7) as u64,
        // The name determines the decision, and also the kind.
        Sense::Sensitive(_, name) => xxh3_128_with_seed(name.as_bytes(), 5) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_strings_than_the_limit_are_remembered_and_the_others_are_decided_anew() {
        let memory = Memory::new();
        let most = MAX_REMEMBERED / SHARDS;
        let key = |number: usize| (number * SHARDS) as u128;
        for number in 0..=most {
            memory.put(key(number), Decision::Decided(None));
        }
        assert!(memory.get(key(most - 1)).is_some());
        assert!(memory.get(key(most)).is_none());
        memory.put(key(0), Decision::Judged(Verdict::Clean));
        assert!(matches!(memory.get(key(0)), Some(Decision::Judged(_))));
    }
}
