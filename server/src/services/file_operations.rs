//! Work on files that may never come to an end: a file system that hangs keeps a thread of the server in the kernel.
//!
//! Such a thread cannot be stopped, so it keeps its place until the kernel lets it go, and there are only so many places, of
//! which each connection has a share. Whoever asked is answered after a while.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trace_protocol::RpcError;

use crate::connection::ConnectionId;

/// Most operations on files that run at the same time.
pub const FILE_OPERATIONS_AT_ONCE: usize = 128;
/// Most of them for one connection.
pub const FILE_OPERATIONS_PER_CONNECTION: usize = 32;
/// How long an operation on one file may take, and how long one waits for its place.
pub const FILE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an operation on a folder with all that is in it may take.
pub const TREE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The places of operations on files.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// The shares of connections that have operations under way.
    shares: Mutex<HashMap<ConnectionId, Weak<Semaphore>>>,
}

/// A place that an operation has, until its thread is done.
struct Place {
    _of_connection: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the share known.
    _share: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(FILE_OPERATIONS_AT_ONCE)), shares: Mutex::default() }
    }
}

impl Places {
    /// Does something with a path on a thread where waiting harms nobody.
    ///
    /// # Errors
    ///
    /// Returns what the work returns, or an error if no place becomes free, or the work does not end in time. In that case it
    /// goes on, and what it changes is changed.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        connection: ConnectionId,
        path: &Path,
        time_limit: Duration,
        work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let Ok(place) = tokio::time::timeout(FILE_TIMEOUT, self.place(connection)).await else {
            let seconds = FILE_TIMEOUT.as_secs();
            return Err(RpcError::internal(format_args!(
                "{} was not touched: other files that this client asked for have not answered for {seconds} seconds",
                path.display()
            )));
        };
        let working = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(place);
            result
        });
        match tokio::time::timeout(time_limit, working).await {
            Ok(done) => done.map_err(RpcError::internal)?,
            Err(_) => Err(RpcError::internal(format_args!(
                "{} did not answer within {} seconds",
                path.display(),
                time_limit.as_secs()
            ))),
        }
    }

    async fn place(&self, connection: ConnectionId) -> Option<Place> {
        let share = self.share(connection);
        // Neither semaphore is ever closed.
        let _of_connection = Arc::clone(&share).acquire_owned().await.ok()?;
        let _of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place { _of_connection, _of_all, _share: share })
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
    async fn what_never_answers_is_given_up_and_keeps_only_the_places_of_who_asked() {
        let places = Arc::new(Places::default());
        let (one, other) = (ConnectionId(1), ConnectionId(2));
        let time_limit = Duration::from_millis(20);
        let mut stuck = Vec::new();
        for _ in 0..FILE_OPERATIONS_PER_CONNECTION {
            let (release, released) = mpsc::channel::<()>();
            let error = places.run(one, Path::new("/stuck"), time_limit, move || Ok(released.recv().is_ok())).await;
            assert!(error.expect_err("it does not answer").message.contains("/stuck did not answer"));
            stuck.push(release);
        }
        assert_eq!(places.share(one).available_permits(), 0);
        let done = places.run(other, Path::new("/x"), FILE_TIMEOUT, || Ok(5)).await;
        assert_eq!(done.expect("others are served"), 5);
        drop(stuck);
        let done = places.run(one, Path::new("/x"), FILE_TIMEOUT, || Ok(6)).await;
        assert_eq!(done.expect("its places are free again"), 6);
    }
}
