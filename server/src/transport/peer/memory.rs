//! Remembers processes that were judged.
//!
//! A verdict about a process holds as long as the process lives: a process that the server started stays its
//! descendant, and another process never becomes one. Processes are identified by id and start time, because ids are
//! reused.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The id and the start time of a process.
pub(super) type Process = (u32, u64);

/// Most processes that are remembered.
pub(super) const MAX_REMEMBERED: usize = 32;

/// Processes with a value for each, the latest first.
#[derive(Debug)]
pub(super) struct Memory<T>(Mutex<VecDeque<(Process, T)>>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Memory<T> {
    /// Remembers a process. If there are too many, the oldest entry is dropped.
    pub(super) fn remember(&self, process: Process, what: T) {
        let mut entries = self.entries();
        entries.retain(|(other, _)| *other != process);
        entries.truncate(MAX_REMEMBERED - 1);
        entries.push_front((process, what));
    }

    /// Forgets a process that has ended.
    pub(super) fn forget(&self, process: Process) {
        self.entries().retain(|(other, _)| *other != process);
    }

    /// Returns the value of a process.
    pub(super) fn of(&self, process: Process) -> Option<T> {
        self.entries().iter().find(|(other, _)| *other == process).map(|(_, what)| what.clone())
    }

    /// Returns all entries, the latest first.
    pub(super) fn all(&self) -> Vec<(Process, T)> {
        self.entries().iter().cloned().collect()
    }

    fn entries(&self) -> MutexGuard<'_, VecDeque<(Process, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_once_each() {
        let memory = Memory::default();
        let number = |place: usize| u32::try_from(place).expect("small");
        for place in 0..=MAX_REMEMBERED {
            memory.remember((number(place), 7), place);
        }
        assert_eq!(memory.all().len(), MAX_REMEMBERED);
        assert_eq!(memory.of((0, 7)), None, "the oldest one is forgotten");
        memory.remember((1, 7), 100);
        assert_eq!((memory.all().len(), memory.all()[0]), (MAX_REMEMBERED, ((1, 7), 100)));
        assert_eq!(memory.of((1, 8)), None, "another process has this number");
        memory.forget((1, 7));
        assert_eq!(memory.of((1, 7)), None);
    }
}
