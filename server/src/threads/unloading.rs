//! Unloads threads: with the agents below them, when they are quiet, and when the server shuts down.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use trace_protocol::notification::ThreadClosedNotification;
use trace_protocol::thread::ThreadStatus;
use trace_runtime::ThreadId;

use super::loaded::LoadedThread;
use super::registry::Registry;
use super::status::tell_status;
use super::tree_locks::TreeLocks;
use crate::hub::Hub;
use crate::services::McpService;

/// Unloads threads.
#[derive(Debug)]
pub(crate) struct Unloading {
    pub(crate) threads: Arc<Registry>,
    pub(crate) locks: Arc<TreeLocks>,
    pub(crate) hub: Hub,
    pub(crate) mcp: Arc<McpService>,
}

impl Unloading {
    /// Shuts down a thread's agent with the agents below it, unloads their threads, and tells all clients that they are not
    /// loaded any more. Does nothing if the thread is not loaded.
    pub(crate) async fn unload(&self, id: &ThreadId) {
        let Some(thread) = self.threads.get(id) else { return };
        // Found by their parents instead of their paths, because the path of a shut down agent may be given to another one.
        let parent = |known: &Arc<LoadedThread>| known.agent().parent().and_then(|parent| self.threads.get(parent));
        let below = || {
            let mut threads: Vec<_> = self.threads.all();
            // Limited, because damaged files may name parents in a circle.
            let most = threads.len();
            threads.retain(|known| {
                std::iter::successors(parent(known), &parent).take(most).any(|above| above.id() == thread.id())
            });
            threads.sort_by_key(|known| std::cmp::Reverse(known.agent().depth()));
            threads
        };
        for thread in below().iter().chain([&thread]) {
            thread.state().begin_closing();
        }
        // All agents are shut down at once. If they were shut down one by one, a parent would be told of the ends of its children
        // and could spawn others.
        thread.agent().shutdown().await;
        // Listed again, because until the shutdown the agents could spawn others.
        for thread in below().into_iter().chain([Arc::clone(&thread)]) {
            thread.state().begin_closing();
            thread.close().await;
            self.mcp.end(thread.id());
            if self.threads.remove(&thread) {
                tell_status(&self.hub, thread.id(), ThreadStatus::NotLoaded);
            }
        }
    }

    /// Unloads the trees that no client listens to and in which nothing has happened for a while. A tree is unloaded as a whole,
    /// because its agents rely on each other.
    pub(crate) async fn unload_quiet(&self, quiet: Duration) {
        let roots: BTreeSet<ThreadId> = self.threads.all().iter().map(|thread| thread.agent().root().clone()).collect();
        for root in roots {
            let _guard = self.locks.of_root(&root).await;
            // Listed again: threads may have come and gone while this waited for the lock.
            let tree: Vec<_> = self.threads.all().into_iter().filter(|known| *known.agent().root() == root).collect();
            let is_quiet = |thread: &Arc<LoadedThread>| {
                let state = thread.state();
                state.subscribers().is_empty()
                    && state.view.running().is_none()
                    && state.open_questions() == 0
                    && state.queue.is_empty()
                    && state.quiet_since().elapsed() >= quiet
                    && thread.agent().active_turn().is_none()
                    && thread.agent().terminals().list().is_empty()
            };
            if !tree.iter().all(is_quiet) {
                continue;
            }
            for thread in &tree {
                thread.state().begin_closing();
            }
            for thread in tree {
                let thread_id = thread.id().to_string();
                self.unload(thread.id()).await;
                self.hub.broadcast(ThreadClosedNotification { thread_id });
            }
        }
    }

    /// Ends all agents and unloads their threads.
    pub(crate) async fn unload_everything(&self) {
        loop {
            // An agent may have spawned another one meanwhile.
            let threads = self.threads.all();
            if threads.is_empty() {
                return;
            }
            self.end(threads).await;
        }
    }

    async fn end(&self, mut threads: Vec<Arc<LoadedThread>>) {
        // Trees are shut down as a whole, because an agent that is told of the end of a child would continue with that.
        let roots = threads.iter().filter(|thread| thread.agent().depth() == 0);
        join_all(roots.map(|thread| thread.agent().shutdown())).await;
        // Children share the bundle of their root, so they end before it.
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.agent().depth()));
        while let Some(depth) = threads.first().map(|thread| thread.agent().depth()) {
            let rest = threads.iter().position(|thread| thread.agent().depth() < depth).unwrap_or(threads.len());
            let ended = threads.drain(..rest).map(|thread| async move {
                thread.close().await;
                self.threads.remove(&thread);
            });
            join_all(ended).await;
        }
    }
}
