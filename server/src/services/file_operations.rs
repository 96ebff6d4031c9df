//! Limits file operations that may never end: a file system that hangs blocks a thread of the server in the kernel.
//!
//! Such a thread cannot be cancelled. It keeps its slot until the kernel returns. The number of slots is limited, for
//! the server and for each connection. The client gets an error after a time limit.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trace_protocol::RpcError;

use crate::connection::ConnectionId;

/// Most file operations that run at the same time.
pub const FILE_OPERATIONS_AT_ONCE: usize = 128;
/// Most file operations of one connection that run at the same time.
pub const FILE_OPERATIONS_PER_CONNECTION: usize = 32;
/// Time limit of an operation on one file, and of waiting for a slot.
pub const FILE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of an operation on a folder with all its content.
pub const TREE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The slots of file operations.
#[derive(Debug)]
pub(super) struct Slots {
    all: Arc<Semaphore>,
    /// The slots of each connection that has operations running.
    shares: Mutex<HashMap<ConnectionId, Weak<Semaphore>>>,
}

/// The slot of a running operation. The thread of the operation holds it until it returns.
struct Slot {
    _of_connection: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the entry of the connection in [`Slots::shares`] alive.
    _share: Arc<Semaphore>,
}

impl Default for Slots {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(FILE_OPERATIONS_AT_ONCE)), shares: Mutex::default() }
    }
}

impl Slots {
    /// Runs an operation on a blocking thread.
    ///
    /// # Errors
    ///
    /// Returns the error of the operation, or an error if no slot becomes free or the operation exceeds its time limit.
    /// In the last case the operation continues, and its changes take effect.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        connection: ConnectionId,
        path: &Path,
        time_limit: Duration,
        work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let Ok(slot) = tokio::time::timeout(FILE_TIMEOUT, self.slot(connection)).await else {
            let seconds = FILE_TIMEOUT.as_secs();
            return Err(RpcError::internal(format_args!(
                "{} was not accessed: other file operations of this client have not ended for {seconds} seconds",
                path.display()
            )));
        };
        let working = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(slot);
            result
        });
        match tokio::time::timeout(time_limit, working).await {
            Ok(done) => done.map_err(RpcError::internal)?,
            Err(_) => Err(RpcError::internal(format_args!(
                "the operation on {} did not end within {} seconds",
                path.display(),
                time_limit.as_secs()
            ))),
        }
    }

    async fn slot(&self, connection: ConnectionId) -> Option<Slot> {
        let share = self.share(connection);
        // Neither semaphore is ever closed.
        let _of_connection = Arc::clone(&share).acquire_owned().await.ok()?;
        let _of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Slot { _of_connection, _of_all, _share: share })
    }

    fn share(&self, connection: ConnectionId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&connection).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(FILE_OPERATIONS_PER_CONNECTION));
        shares.insert(connection, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_hanging_operation_times_out_and_keeps_only_slots_of_its_client() {
        let slots = Arc::new(Slots::default());
        let (one, other) = (ConnectionId(1), ConnectionId(2));
        let time_limit = Duration::from_millis(20);
        let mut stuck = Vec::new();
        for _ in 0..FILE_OPERATIONS_PER_CONNECTION {
            let (release, released) = mpsc::channel::<()>();
            let error = slots.run(one, Path::new("/stuck"), time_limit, move || Ok(released.recv().is_ok())).await;
            assert!(error.expect_err("it does not answer").message.contains("the operation on /stuck did not end"));
            stuck.push(release);
        }
        assert_eq!(slots.share(one).available_permits(), 0);
        let done = slots.run(other, Path::new("/x"), FILE_TIMEOUT, || Ok(5)).await;
        assert_eq!(done.expect("others are served"), 5);
        drop(stuck);
        let done = slots.run(one, Path::new("/x"), FILE_TIMEOUT, || Ok(6)).await;
        assert_eq!(done.expect("its slots are free again"), 6);
    }
}
