//! Lines of waiters, one for each key: who comes first goes first, readers together, writers alone.
//!
//! A place in the line is taken at once, by a call that does not wait; the [`Ticket`] that it returns is a future that
//! completes when the turn has come. A reader waits behind every writer that came before it, also while other readers run,
//! so neither kind can starve the other. A line exists as long as somebody runs or waits in it.
//!
//! The file names nothing of this package but `super::sync`, so that a test can run it on a scheduler that tries many
//! interleavings.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use trace_protocol::Access;

use super::sync::{Mutex, MutexGuard};

/// All lines. Clones are the same lines.
pub(crate) struct Lines<K>(Arc<Mutex<Table<K>>>);

struct Table<K> {
    lines: HashMap<K, Line>,
    next_number: u64,
}

/// Who runs, and who waits, for one key.
#[derive(Default)]
struct Line {
    readers: usize,
    has_writer: bool,
    /// In order of arrival, which is the order of the numbers.
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    number: u64,
    access: Access,
    waker: Option<Waker>,
}

/// What goes on in one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineLength {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
}

/// A place in a line: a future that completes when the turn has come. Who drops it leaves the line.
#[must_use = "who drops the ticket leaves the line"]
pub(crate) struct Ticket<K: Hash + Eq> {
    lines: Lines<K>,
    number: u64,
    /// `None` when the guard has taken over.
    key: Option<K>,
}

/// The right to run, until it is dropped.
#[must_use = "who drops the guard lets the next one run"]
pub(crate) struct Guard<K: Hash + Eq> {
    lines: Lines<K>,
    key: K,
}

impl Line {
    fn has_room_for(&self, access: Access) -> bool {
        !self.has_writer
            && match access {
                Access::Shared => true,
                Access::Exclusive => self.readers == 0,
            }
    }

    fn start(&mut self, access: Access) {
        match access {
            Access::Shared => self.readers += 1,
            Access::Exclusive => self.has_writer = true,
        }
    }

    fn leave(&mut self) {
        if self.has_writer {
            self.has_writer = false;
        } else {
            self.readers -= 1;
        }
    }

    /// Lets all run whose turn it is, and returns who has to be woken.
    fn admit(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(first) = self.waiting.front()
            && self.has_room_for(first.access)
        {
            let first = self.waiting.pop_front().expect("the line has a first one");
            self.start(first.access);
            wakers.extend(first.waker);
        }
        wakers
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&number, |waiter| waiter.number).ok()
    }

    fn is_empty(&self) -> bool {
        self.readers == 0 && !self.has_writer && self.waiting.is_empty()
    }
}

impl<K: Hash + Eq> Lines<K> {
    /// Returns lines in which nobody is.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Table { lines: HashMap::new(), next_number: 0 })))
    }

    /// Takes the last place in the line of a key.
    pub(crate) fn enter(&self, key: K, access: Access) -> Ticket<K>
    where
        K: Clone,
    {
        let mut table = self.table();
        let number = table.next_number;
        table.next_number += 1;
        let line = table.lines.entry(key.clone()).or_default();
        if line.waiting.is_empty() && line.has_room_for(access) {
            line.start(access);
        } else {
            line.waiting.push_back(Waiter { number, access, waker: None });
        }
        drop(table);
        Ticket { lines: self.clone(), number, key: Some(key) }
    }

    /// Looks at every line.
    pub(crate) fn look(&self, mut at: impl FnMut(&K, LineLength)) {
        for (key, line) in &self.table().lines {
            let running = line.readers + usize::from(line.has_writer);
            at(key, LineLength { running, waiting: line.waiting.len() });
        }
    }

    fn table(&self) -> MutexGuard<'_, Table<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a line that somebody is in, and wakes those whose turn it is then.
    fn change(&self, key: &K, change: impl FnOnce(&mut Line)) {
        let mut table = self.table();
        let Some(line) = table.lines.get_mut(key) else { return };
        change(line);
        let wakers = line.admit();
        if line.is_empty() {
            table.lines.remove(key);
        }
        drop(table);
        for waker in wakers {
            waker.wake();
        }
    }
}

impl<K> Clone for Lines<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Lines<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Unpin> Future for Ticket<K> {
    type Output = Guard<K>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Guard<K>> {
        let key = self.key.take().expect("a ticket is not asked again after its turn has come");
        let mut table = self.lines.table();
        // Who is not among the waiting any more was let in.
        let waiter = table.lines.get_mut(&key).and_then(|line| {
            let place = line.place_of(self.number)?;
            line.waiting.get_mut(place)
        });
        if let Some(waiter) = waiter {
            match &mut waiter.waker {
                Some(waker) => waker.clone_from(context.waker()),
                waker => *waker = Some(context.waker().clone()),
            }
            drop(table);
            self.key = Some(key);
            return Poll::Pending;
        }
        drop(table);
        Poll::Ready(Guard { lines: self.lines.clone(), key })
    }
}

impl<K: Hash + Eq> Drop for Ticket<K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        self.lines.change(&key, |line| match line.place_of(self.number) {
            Some(place) => drop(line.waiting.remove(place)),
            None => line.leave(),
        });
    }
}

impl<K: Hash + Eq> Drop for Guard<K> {
    fn drop(&mut self) {
        self.lines.change(&self.key, Line::leave);
    }
}

impl<K: Hash + Eq> fmt::Debug for Ticket<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ticket").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<K: Hash + Eq> fmt::Debug for Guard<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Guard").finish_non_exhaustive()
    }
}
