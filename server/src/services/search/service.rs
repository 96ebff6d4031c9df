//! Single searches, and search sessions that follow a query while a user types it.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use trace_protocol::RpcError;
use trace_protocol::notification::{
    FuzzyFileSearchSessionCompletedNotification, FuzzyFileSearchSessionUpdatedNotification,
};
use trace_protocol::search::{
    FuzzyFileSearchParams, FuzzyFileSearchResponse, FuzzyFileSearchResult, FuzzyFileSearchSessionStartParams,
    FuzzyFileSearchSessionStartResponse, FuzzyFileSearchSessionStopParams, FuzzyFileSearchSessionStopResponse,
    FuzzyFileSearchSessionUpdateParams, FuzzyFileSearchSessionUpdateResponse,
};

use super::ranking::{self, Ranking};
use super::walk::{Found, Root, walk};
use crate::connection::ConnectionId;
use crate::services::notify::Notifier;
use crate::services::page::shortened;

/// Most searches that walk folders at the same time. Further searches wait.
pub const SEARCHES_AT_ONCE: usize = 4;
/// Most sessions of one connection.
pub const SESSIONS_PER_CONNECTION: usize = 8;

/// Serves `fuzzyFileSearch*`.
pub struct SearchService {
    cwd: PathBuf,
    walks: Arc<Semaphore>,
    /// Running searches that a later search with the same token cancels.
    calls: Arc<Mutex<HashMap<Key, CancellationToken>>>,
    sessions: Arc<Mutex<HashMap<Key, Session>>>,
}

/// The name of a search within its connection.
type Key = (ConnectionId, String);

/// A search session.
struct Session {
    query: watch::Sender<String>,
    stop: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl fmt::Debug for SearchService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SearchService").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl SearchService {
    /// Creates the service. `cwd` is the folder of the server.
    #[must_use]
    pub fn new(cwd: PathBuf) -> Self {
        Self { cwd, walks: Arc::new(Semaphore::new(SEARCHES_AT_ONCE)), calls: Arc::default(), sessions: Arc::default() }
    }

    /// Returns the files that match best. A search that a later one cancels returns no files.
    ///
    /// # Errors
    ///
    /// Returns an error if the query is too long.
    pub async fn search(
        &self,
        connection: ConnectionId,
        params: FuzzyFileSearchParams,
    ) -> Result<FuzzyFileSearchResponse, RpcError> {
        let FuzzyFileSearchParams { query, roots, cancellation_token } = params;
        ranking::check(&query)?;
        let stop = CancellationToken::new();
        // The search is also cancelled when this future is dropped.
        let _guard = stop.clone().drop_guard();
        let key = cancellation_token.map(|token| (connection, token));
        if let Some(key) = &key
            && let Some(older) = lock(&self.calls).insert(key.clone(), stop.clone())
        {
            older.cancel();
        }
        let roots = self.roots(roots);
        let searching = async {
            let _turn = self.walks.acquire().await;
            let stop = stop.clone();
            let searched = tokio::task::spawn_blocking(move || {
                let mut ranking = Ranking::new(&query);
                walk(&roots, &stop, |found| ranking.consider(&found));
                ranking.finish(&roots)
            });
            searched.await.map_err(RpcError::internal)
        };
        let files = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(Vec::new()),
            files = searching => files,
        };
        if let Some(key) = key
            && !stop.is_cancelled()
        {
            // If the search was cancelled, the entry belongs to the later search.
            lock(&self.calls).remove(&key);
        }
        Ok(FuzzyFileSearchResponse { files: files? })
    }

    /// Starts a session with an empty query. It replaces a session with the same id.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is empty or if the connection has too many sessions.
    pub fn session_start(
        &self,
        connection: ConnectionId,
        params: FuzzyFileSearchSessionStartParams,
        notifier: Notifier,
    ) -> Result<FuzzyFileSearchSessionStartResponse, RpcError> {
        let FuzzyFileSearchSessionStartParams { roots, session_id } = params;
        if session_id.is_empty() {
            return Err(RpcError::invalid_request("sessionId must not be empty"));
        }
        let (query, queries) = watch::channel(String::new());
        let stop = CancellationToken::new();
        let key = (connection, session_id.clone());
        {
            let mut sessions = lock(&self.sessions);
            let others = sessions.keys().filter(|other| other.0 == connection && **other != key).count();
            if others >= SESSIONS_PER_CONNECTION {
                return Err(RpcError::invalid_request(format_args!(
                    "a connection may have {SESSIONS_PER_CONNECTION} search sessions; stop another one first"
                )));
            }
            sessions.insert(key, Session { query, stop: stop.clone() });
        }
        if notifier.has_ended() {
            // The connection may have ended before the session was in the table.
            self.closed(connection);
        }
        let teller = Teller { notifier, session_id, sessions: Arc::clone(&self.sessions), stop: stop.clone() };
        let session = follow(self.roots(roots), Arc::clone(&self.walks), queries, teller);
        tokio::spawn(async move { stop.run_until_cancelled(session).await });
        Ok(FuzzyFileSearchSessionStartResponse {})
    }

    /// Changes the query of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such session or if the query is too long.
    pub fn session_update(
        &self,
        connection: ConnectionId,
        params: FuzzyFileSearchSessionUpdateParams,
    ) -> Result<FuzzyFileSearchSessionUpdateResponse, RpcError> {
        let FuzzyFileSearchSessionUpdateParams { query, session_id } = params;
        ranking::check(&query)?;
        let key = (connection, session_id);
        match lock(&self.sessions).get(&key) {
            Some(session) => session.query.send_replace(query),
            None => {
                return Err(RpcError::invalid_request(format_args!(
                    "fuzzy file search session not found: {}",
                    shortened(&key.1)
                )));
            }
        };
        Ok(FuzzyFileSearchSessionUpdateResponse {})
    }

    /// Ends a session. It is not an error if there is no such session.
    pub fn session_stop(
        &self,
        connection: ConnectionId,
        params: FuzzyFileSearchSessionStopParams,
    ) -> FuzzyFileSearchSessionStopResponse {
        lock(&self.sessions).remove(&(connection, params.session_id));
        FuzzyFileSearchSessionStopResponse {}
    }

    /// Cancels the searches of a connection.
    pub fn closed(&self, connection: ConnectionId) {
        lock(&self.sessions).retain(|(owner, _), _| *owner != connection);
        lock(&self.calls).retain(|(owner, _), stop| {
            let keep = *owner != connection;
            if !keep {
                stop.cancel();
            }
            keep
        });
    }

    fn roots(&self, names: Vec<String>) -> Vec<Root> {
        names.into_iter().map(|name| Root { path: self.cwd.join(&name), name }).collect()
    }
}

/// Sends the results of a session.
struct Teller {
    notifier: Notifier,
    session_id: String,
    sessions: Arc<Mutex<HashMap<Key, Session>>>,
    stop: CancellationToken,
}

impl Teller {
    async fn tell(&self, query: &str, files: Vec<FuzzyFileSearchResult>) {
        self.notifier.ready().await;
        // A session is removed while this lock is held, so no result is sent after that.
        let _sessions = lock(&self.sessions);
        if self.stop.is_cancelled() {
            return;
        }
        let session_id = self.session_id.clone();
        let updated = FuzzyFileSearchSessionUpdatedNotification { files, query: query.to_owned(), session_id };
        self.notifier.notify(updated.into());
        let session_id = self.session_id.clone();
        self.notifier.notify(FuzzyFileSearchSessionCompletedNotification { session_id }.into());
    }
}

/// Walks the folders once, and ranks the files for each query. If several queries arrive during a search, only the last
/// of them is searched next.
async fn follow(roots: Vec<Root>, walks: Arc<Semaphore>, mut queries: watch::Receiver<String>, teller: Teller) {
    // An empty query has no results, but clients expect a first notification of each session.
    let first = queries.borrow_and_update().clone();
    if first.is_empty() {
        teller.tell(&first, Vec::new()).await;
    } else {
        queries.mark_changed();
    }
    let index = {
        let _turn = walks.acquire().await;
        let (roots, stop) = (roots.clone(), teller.stop.clone());
        let walked = tokio::task::spawn_blocking(move || {
            let mut index: Vec<Found> = Vec::new();
            walk(&roots, &stop, |found| index.push(found));
            index
        });
        match walked.await {
            Ok(index) => Arc::new(index),
            Err(error) => {
                tracing::error!(%error, "a walk over files failed");
                return;
            }
        }
    };
    let roots = Arc::new(roots);
    while queries.changed().await.is_ok() {
        let query = queries.borrow_and_update().clone();
        let searched = {
            let _turn = walks.acquire().await;
            let (index, roots, query) = (Arc::clone(&index), Arc::clone(&roots), query.clone());
            tokio::task::spawn_blocking(move || {
                let mut ranking = Ranking::new(&query);
                index.iter().for_each(|found| ranking.consider(found));
                ranking.finish(&roots)
            })
            .await
        };
        match searched {
            Ok(files) => teller.tell(&query, files).await,
            Err(error) => tracing::error!(%error, "a search failed"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
