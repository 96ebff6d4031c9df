//! The registry of loaded threads.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use trace_protocol::RpcError;
use trace_runtime::ThreadId;

use super::loaded::LoadedThread;
use crate::mapping::thread_id;

/// The threads that are loaded, by id.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    threads: RwLock<BTreeMap<ThreadId, Arc<LoadedThread>>>,
}

impl Registry {
    /// Returns a thread.
    pub(crate) fn get(&self, id: &ThreadId) -> Option<Arc<LoadedThread>> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).get(id).map(Arc::clone)
    }

    /// Returns the thread that a client names.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is not a UUID, or if no such thread is loaded or it is being unloaded.
    pub(crate) fn loaded(&self, id: &str) -> Result<Arc<LoadedThread>, RpcError> {
        let id = thread_id(id)?;
        let thread = self.get(&id).filter(|thread| !thread.state().is_closing());
        thread.ok_or_else(|| RpcError::invalid_request(format!("thread not found: {id}")))
    }

    /// Adds a thread.
    pub(crate) fn insert(&self, thread: &Arc<LoadedThread>) {
        let mut threads = self.threads.write().unwrap_or_else(PoisonError::into_inner);
        threads.insert(thread.id().clone(), Arc::clone(thread));
    }

    /// Removes a thread, unless its id belongs to another loaded thread by now. Returns whether it was removed.
    pub(crate) fn remove(&self, thread: &Arc<LoadedThread>) -> bool {
        let mut threads = self.threads.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = threads.get(thread.id()).is_some_and(|known| Arc::ptr_eq(known, thread));
        is_same && threads.remove(thread.id()).is_some()
    }

    /// Returns all threads, in the order of their ids.
    pub(crate) fn all(&self) -> Vec<Arc<LoadedThread>> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }

    /// Returns the ids of all threads, in their order.
    pub(crate) fn ids(&self) -> Vec<ThreadId> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Returns how many threads are loaded.
    pub(crate) fn count(&self) -> usize {
        self.threads.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
