//! Locks that keep a tree of threads as it is while one of its threads is loaded or unloaded.

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};
use trace_protocol::RpcError;
use trace_runtime::ThreadId;

use super::registry::Registry;
use crate::blocking::blocking;
use crate::store::{Resolution, Store};

/// How many locks the trees share. With more trees than that, some wait for each other without need.
const LOCKS: usize = 64;

/// The locks of all trees.
#[derive(Debug)]
pub(crate) struct TreeLocks {
    threads: Arc<Registry>,
    store: Store,
    locks: [Mutex<()>; LOCKS],
}

impl TreeLocks {
    /// Returns the locks for the trees of loaded and of stored threads.
    pub(crate) fn new(threads: Arc<Registry>, store: Store) -> Self {
        Self { threads, store, locks: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Locks the tree with a root: until the guard is dropped, no other request loads or unloads a thread of it.
    pub(crate) async fn of_root(&self, root: &ThreadId) -> MutexGuard<'_, ()> {
        let sum: usize = root.as_str().bytes().map(usize::from).sum();
        self.locks[sum % LOCKS].lock().await
    }

    /// Locks the tree that a thread belongs to. The thread need not be loaded.
    ///
    /// # Errors
    ///
    /// Returns an error if looking up the thread panicked.
    pub(crate) async fn of_thread(&self, id: &ThreadId) -> Result<MutexGuard<'_, ()>, RpcError> {
        let root = match self.threads.get(id) {
            Some(thread) => thread.agent().root().clone(),
            None => {
                let wanted = id.clone();
                match blocking(&self.store, move |store| store.resolve(&wanted)).await? {
                    Resolution::Found(summary) | Resolution::Archived(summary) => summary.session,
                    Resolution::Unknown => id.clone(),
                }
            }
        };
        Ok(self.of_root(&root).await)
    }
}
