//! Processes that were judged before.
//!
//! A verdict about a process stays true as long as the process lives: what the server started stays below it, and what it did not
//! start never comes below it. A process is known by its number and its start, since numbers are given again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A process: its number and its start.
pub(super) type Process = (u32, u64);

/// Most processes that are remembered.
pub(super) const MAX_REMEMBERED: usize = 32;

/// Processes with something that is known about each, the latest first.
#[derive(Debug)]
pub(super) struct Memory<T>(Mutex<VecDeque<(Process, T)>>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Memory<T> {
    /// Remembers a process, and forgets the one that was met longest ago if there are too many.
    pub(super) fn remember(&self, process: Process, what: T) {
        let mut entries = self.entries();
        entries.retain(|(other, _)| *other != process);
        entries.truncate(MAX_REMEMBERED - 1);
        entries.push_front((process, what));
    }

    /// Forgets a process, which has ended.
    pub(super) fn forget(&self, process: Process) {
        self.entries().retain(|(other, _)| *other != process);
    }

    /// Returns what is known about a process.
    pub(super) fn of(&self, process: Process) -> Option<T> {
        self.entries().iter().find(|(other, _)| *other == process).map(|(_, what)| what.clone())
    }

    /// Returns all of them, the latest first.
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
