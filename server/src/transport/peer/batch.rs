//! Batches: all items that are waiting when the worker is free are handled together.
//!
//! One pass over `/proc` costs the same for one connection as for a thousand. Because of batches, an item waits for two
//! passes at most, regardless of the number of other items.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Items that wait for a worker. Clones share the same batch.
#[derive(Debug)]
pub(super) struct Batch<T>(Arc<Mutex<Waiting<T>>>);

#[derive(Debug)]
struct Waiting<T> {
    items: Vec<T>,
    has_worker: bool,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Waiting { items: Vec::new(), has_worker: false })))
    }
}

impl<T: Send + 'static> Batch<T> {
    /// Adds items. If no worker is running, one is started on a blocking thread. It calls `work` with all waiting
    /// items, until there are none. The caller must be in a tokio runtime.
    pub(super) fn add(&self, items: impl IntoIterator<Item = T>, work: impl Fn(Vec<T>) + Send + 'static) {
        let mut waiting = lock(&self.0);
        waiting.items.extend(items);
        if waiting.has_worker || waiting.items.is_empty() {
            return;
        }
        waiting.has_worker = true;
        drop(waiting);
        let shared = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || {
            while let Some(items) = next(&shared) {
                // If `work` panics, its items are dropped, which their callers notice. The worker continues with other
                // items.
                let _ = std::panic::catch_unwind(AssertUnwindSafe(|| work(items)));
            }
        });
    }
}

/// Takes all items. If there are none, the worker ends, and the result is `None`.
fn next<T>(shared: &Mutex<Waiting<T>>) -> Option<Vec<T>> {
    let mut waiting = lock(shared);
    waiting.has_worker = !waiting.items.is_empty();
    waiting.has_worker.then(|| std::mem::take(&mut waiting.items))
}

fn lock<T>(shared: &Mutex<Waiting<T>>) -> MutexGuard<'_, Waiting<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn items_that_wait_during_a_batch_form_the_next_batch() {
        let batch = Batch::default();
        let (seen, sizes) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let add = |item: u32| {
            let (seen, gate) = (seen.clone(), Arc::clone(&gate));
            batch.add([item], move |items: Vec<u32>| {
                seen.send(items.len()).expect("the test listens");
                gate.lock().expect("not poisoned").recv().expect("the test lets it go on");
            });
        };
        add(0);
        let sizes = tokio::task::block_in_place(|| {
            let first = sizes.recv().expect("a worker");
            (1..=1_000).for_each(add);
            release.send(()).and_then(|()| release.send(())).expect("the worker waits");
            [first, sizes.recv().expect("a worker")]
        });
        assert_eq!(sizes, [1, 1_000]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_panic_does_not_block_later_items() {
        let batch = Batch::default();
        let (seen, numbers) = mpsc::channel();
        for number in 0..3 {
            let seen = seen.clone();
            batch.add([number], move |items: Vec<u32>| {
                for item in items {
                    seen.send(item).expect("the test listens");
                    assert!(item != 0, "the first one fails");
                }
            });
            let heard = tokio::task::block_in_place(|| numbers.recv().expect("a worker"));
            assert_eq!(heard, number);
        }
    }
}
