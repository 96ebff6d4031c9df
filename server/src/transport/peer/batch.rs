//! Items that are worked off together: whatever waits when the work begins is done in one go.
//!
//! One pass over `/proc` costs the same for one connection as for a thousand. So the time that an item waits is at most that of two
//! passes, however many others wait.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Items that wait for one worker. Clones are the same batch.
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
    /// Adds items. Unless a worker is there already, `work` becomes it: it is called with all items that wait, on a thread that may
    /// block, again and again until none waits. To be called inside a tokio runtime.
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
                // The items of work that panics are dropped, and those who wait for them notice that. Others must not wait for ever.
                let _ = std::panic::catch_unwind(AssertUnwindSafe(|| work(items)));
            }
        });
    }
}

/// Takes all items. `None` ends the worker.
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
    async fn what_waits_while_a_batch_is_worked_off_makes_one_batch() {
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
    async fn work_that_panics_does_not_keep_others_waiting() {
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
