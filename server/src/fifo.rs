//! Fair queues of tasks, one for each key. Readers run together and writers run alone, in the order of arrival.
//!
//! A task enters a queue with a call that does not wait. The returned [`Ticket`] is a future that completes when the
//! task may run. A reader waits for all writers that came before it, even while other readers run, so neither kind can
//! starve the other. A queue exists as long as a task runs or waits in it.
//!
//! From this crate, the file uses only `super::sync`, so that a test can run it with a scheduler that explores many
//! interleavings.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use trace_protocol::Access;

use super::sync::{Mutex, MutexGuard};

/// The queues of all keys. Clones share the same queues.
pub(crate) struct Queues<K>(Arc<Mutex<Table<K>>>);

struct Table<K> {
    queues: HashMap<K, Queue>,
    next_number: u64,
}

/// The running and waiting tasks of one key.
#[derive(Default)]
struct Queue {
    readers: usize,
    has_writer: bool,
    /// The waiting tasks in the order of arrival, which is the order of their numbers.
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    number: u64,
    access: Access,
    waker: Option<Waker>,
}

/// The numbers of running and waiting tasks of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QueueLength {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
}

/// A position in a queue. The future completes when the task may run. Dropping it leaves the queue.
#[must_use = "dropping the ticket leaves the queue"]
pub(crate) struct Ticket<K: Hash + Eq> {
    queues: Queues<K>,
    number: u64,
    /// `None` after the ticket was exchanged for a guard.
    key: Option<K>,
}

/// The right to run. Dropping it lets the next tasks run.
#[must_use = "dropping the guard lets the next task run"]
pub(crate) struct Guard<K: Hash + Eq> {
    queues: Queues<K>,
    key: K,
}

impl Queue {
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

    /// Starts the waiting tasks that may run now, and returns their wakers.
    fn admit(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(first) = self.waiting.front()
            && self.has_room_for(first.access)
        {
            let first = self.waiting.pop_front().expect("the queue has a first one");
            self.start(first.access);
            wakers.extend(first.waker);
        }
        wakers
    }

    fn position_of(&self, number: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&number, |waiter| waiter.number).ok()
    }

    fn is_empty(&self) -> bool {
        self.readers == 0 && !self.has_writer && self.waiting.is_empty()
    }
}

impl<K: Hash + Eq> Queues<K> {
    /// Creates queues without tasks.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Table { queues: HashMap::new(), next_number: 0 })))
    }

    /// Adds a task at the end of the queue of a key.
    pub(crate) fn enter(&self, key: K, access: Access) -> Ticket<K>
    where
        K: Clone,
    {
        let mut table = self.table();
        let number = table.next_number;
        table.next_number += 1;
        let queue = table.queues.entry(key.clone()).or_default();
        if queue.waiting.is_empty() && queue.has_room_for(access) {
            queue.start(access);
        } else {
            queue.waiting.push_back(Waiter { number, access, waker: None });
        }
        drop(table);
        Ticket { queues: self.clone(), number, key: Some(key) }
    }

    /// Calls `at` for each key with a queue.
    pub(crate) fn for_each(&self, mut at: impl FnMut(&K, QueueLength)) {
        for (key, queue) in &self.table().queues {
            let running = queue.readers + usize::from(queue.has_writer);
            at(key, QueueLength { running, waiting: queue.waiting.len() });
        }
    }

    fn table(&self) -> MutexGuard<'_, Table<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a queue that has tasks, and wakes the tasks that may run then.
    fn change(&self, key: &K, change: impl FnOnce(&mut Queue)) {
        let mut table = self.table();
        let Some(queue) = table.queues.get_mut(key) else { return };
        change(queue);
        let wakers = queue.admit();
        if queue.is_empty() {
            table.queues.remove(key);
        }
        drop(table);
        for waker in wakers {
            waker.wake();
        }
    }
}

impl<K> Clone for Queues<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Queues<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Queues").finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Unpin> Future for Ticket<K> {
    type Output = Guard<K>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Guard<K>> {
        let key = self.key.take().expect("a ticket is not asked again after its turn has come");
        let mut table = self.queues.table();
        // If the task is not waiting any more, it may run.
        let waiter = table.queues.get_mut(&key).and_then(|queue| {
            let position = queue.position_of(self.number)?;
            queue.waiting.get_mut(position)
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
        Poll::Ready(Guard { queues: self.queues.clone(), key })
    }
}

impl<K: Hash + Eq> Drop for Ticket<K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        self.queues.change(&key, |queue| match queue.position_of(self.number) {
            Some(position) => drop(queue.waiting.remove(position)),
            None => queue.leave(),
        });
    }
}

impl<K: Hash + Eq> Drop for Guard<K> {
    fn drop(&mut self) {
        self.queues.change(&self.key, Queue::leave);
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
