//! Archives, unarchives and deletes threads, each with the agents below it.

use std::sync::Arc;

use trace_protocol::notification::{
    ThreadArchivedNotification, ThreadDeletedNotification, ThreadUnarchivedNotification,
};
use trace_protocol::thread::{
    ThreadArchiveParams, ThreadArchiveResponse, ThreadDeleteParams, ThreadDeleteResponse, ThreadStatus,
    ThreadUnarchiveParams, ThreadUnarchiveResponse,
};
use trace_protocol::{RpcError, methods::method};
use trace_runtime::ThreadId;

use crate::blocking::blocking;
use crate::hub::Hub;
use crate::ingress::Responder;
use crate::mapping::thread_id;
use crate::store::{Resolution, Store};
use crate::threads::{Registry, TreeLocks, Unloading};

/// Serves `thread/archive`, `thread/unarchive` and `thread/delete`.
pub(crate) struct ArchiveHandlers {
    store: Store,
    threads: Arc<Registry>,
    hub: Hub,
    locks: Arc<TreeLocks>,
    unloading: Arc<Unloading>,
}

impl ArchiveHandlers {
    pub(crate) fn new(store: Store, unloading: Arc<Unloading>) -> Self {
        let (threads, hub, locks) = (unloading.threads.clone(), unloading.hub.clone(), unloading.locks.clone());
        Self { store, threads, hub, locks, unloading }
    }

    pub(crate) async fn archive(&self, params: ThreadArchiveParams, responder: Responder) {
        match self.put_away(&params).await {
            Ok(archived) => {
                responder.respond::<method::ThreadArchive>(&Ok(ThreadArchiveResponse {}));
                for id in archived {
                    self.hub.broadcast(ThreadArchivedNotification { thread_id: id.to_string() });
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    /// Archives a thread with the agents below it, and returns those that were archived.
    async fn put_away(&self, params: &ThreadArchiveParams) -> Result<Vec<ThreadId>, RpcError> {
        let id = thread_id(&params.thread_id)?;
        let _guard = self.locks.of_thread(&id).await?;
        let thread = self.threads.get(&id);
        let wanted = id.clone();
        blocking(&self.store, move |store| -> Result<(), RpcError> {
            if let Some(thread) = thread {
                thread.materialize()?;
            }
            Ok(store.find(&wanted).map(drop)?)
        })
        .await??;
        let ids = self.unload_all(id).await?;
        let mut archived = Vec::with_capacity(ids.len());
        // Parents first, so that a list of archived threads never has a child without its parent.
        for id in ids {
            let wanted = id.clone();
            match blocking(&self.store, move |store| store.archive(&wanted)).await? {
                Ok(_) => archived.push(id),
                Err(error) if archived.is_empty() => return Err(error.into()),
                Err(error) => tracing::warn!(thread = %id, %error, "an agent's thread could not be archived"),
            }
        }
        Ok(archived)
    }

    pub(crate) async fn unarchive(&self, params: ThreadUnarchiveParams, responder: Responder) {
        let taken_back = async {
            let id = thread_id(&params.thread_id)?;
            let _guard = self.locks.of_thread(&id).await?;
            let unarchive = move |store: &Store| -> Result<_, RpcError> {
                let summary = store.unarchive(&id)?;
                // The agents below it were archived with it.
                let below = store.descendants(&id);
                let back = below.into_iter().filter(|below| store.unarchive(below).is_ok()).collect::<Vec<_>>();
                Ok((summary, back))
            };
            blocking(&self.store, unarchive).await?
        };
        match taken_back.await {
            Ok((summary, below)) => {
                let thread = summary.to_thread(ThreadStatus::NotLoaded);
                responder.respond::<method::ThreadUnarchive>(&Ok(ThreadUnarchiveResponse { thread }));
                self.hub.broadcast(ThreadUnarchivedNotification { thread_id: params.thread_id });
                for id in below {
                    self.hub.broadcast(ThreadUnarchivedNotification { thread_id: id.to_string() });
                }
            }
            Err(error) => responder.refuse(&error),
        }
    }

    pub(crate) async fn delete(&self, params: ThreadDeleteParams, responder: Responder) {
        let mut removed = Vec::new();
        match self.remove(&params, &mut removed).await {
            Ok(()) => responder.respond::<method::ThreadDelete>(&Ok(ThreadDeleteResponse {})),
            Err(error) => responder.refuse(&error),
        }
        for id in removed.into_iter().rev() {
            self.hub.broadcast(ThreadDeletedNotification { thread_id: id.to_string() });
        }
    }

    /// Deletes a thread with the agents below it. `removed` gets those that were deleted, also if a later one cannot be deleted.
    async fn remove(&self, params: &ThreadDeleteParams, removed: &mut Vec<ThreadId>) -> Result<(), RpcError> {
        let id = thread_id(&params.thread_id)?;
        let _guard = self.locks.of_thread(&id).await?;
        let (is_loaded, wanted) = (self.threads.get(&id).is_some(), id.clone());
        blocking(&self.store, move |store| {
            if !is_loaded && store.resolve(&wanted) == Resolution::Unknown {
                return Err(RpcError::invalid_request(format!("no rollout found for thread id {wanted}")));
            }
            Ok(())
        })
        .await??;
        // Children first: the threads below are found through their parents, so that a failed deletion can be repeated.
        for id in self.unload_all(id).await?.into_iter().rev() {
            let wanted = id.clone();
            blocking(&self.store, move |store| match store.resolve(&wanted) {
                Resolution::Unknown => Ok(()),
                _ => store.delete(&wanted).and_then(|()| store.set_queue(&wanted, &[])),
            })
            .await??;
            removed.push(id);
        }
        Ok(())
    }

    /// Unloads a thread with all agents below it. Returns their ids, parents before their children.
    async fn unload_all(&self, id: ThreadId) -> Result<Vec<ThreadId>, RpcError> {
        self.unloading.unload(&id).await;
        // Listed after the agent has stopped, because until then it can start others.
        let ids = blocking(&self.store, move |store| {
            let below = store.descendants(&id);
            std::iter::once(id).chain(below).collect::<Vec<_>>()
        })
        .await?;
        // `unload` does not find an agent below whose parent is not loaded.
        for id in ids.iter().rev() {
            self.unloading.unload(id).await;
        }
        Ok(ids)
    }
}
