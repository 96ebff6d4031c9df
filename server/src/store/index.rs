//! The index: a database with the scans of all rollouts.
//!
//! Because of the index, opening a server home does not read every rollout. A rollout whose length or modification time
//! differs from the index is read again. A damaged index, or one of another version, is rebuilt. Other tools can also
//! read the tables: there is one row for each rollout, and one for each child agent.
//!
//! A background thread writes the index a moment after a change, so that no caller waits for it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, params};
use trace_runtime::ThreadId;

use super::catalogue::{Catalogue, locked};
use super::rollout::place;
use super::rollout::scan::Scan;
use super::summary::EdgeStatus;
use crate::private;

/// File name of the database in the server home.
pub(super) const INDEX: &str = "trace_index.sqlite";
/// Version of the tables and of their content.
const VERSION: i64 = 1;
/// How long to wait for a lock on the database. Every program that can read the file can hold such a lock. After this
/// time, the index is not used, and the rollouts are read.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long changes are collected before they are written.
const DELAY: Duration = Duration::from_millis(500);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS threads (
    rollout_path TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    created_at_ms INTEGER,
    updated_at_ms INTEGER,
    name TEXT,
    preview TEXT,
    cwd TEXT,
    model TEXT,
    size_bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    scan TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS threads_by_id ON threads (id);
CREATE TABLE IF NOT EXISTS thread_spawn_edges (
    child_thread_id TEXT PRIMARY KEY,
    parent_thread_id TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS edges_by_parent ON thread_spawn_edges (parent_thread_id);
";

/// A row of the index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Indexed {
    /// Length of the rollout in bytes.
    pub(super) size: u64,
    /// Modification time of the rollout, in nanoseconds since 1970.
    pub(super) modified_ns: i64,
    pub(super) scan: Scan,
}

/// Opens the database. A damaged one is replaced by an empty one.
fn open(home: &Path) -> rusqlite::Result<Connection> {
    let path = home.join(INDEX);
    match try_open(&path) {
        Ok(connection) => Ok(connection),
        // Another process uses the database, so it is not damaged.
        Err(error) if is_busy(&error) => Err(error),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the index of threads is damaged and rebuilt");
            for suffix in ["", "-wal", "-shm"] {
                // A missing file counts as deleted.
                let _ = fs::remove_file(home.join(format!("{INDEX}{suffix}")));
            }
            try_open(&path)
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn try_open(path: &Path) -> rusqlite::Result<Connection> {
    // Create the file first: SQLite gives the permissions of the database to the files beside it.
    if let Err(error) = private::create_file(path) {
        tracing::debug!(path = %path.display(), %error, "cannot create the file of the index of threads");
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != VERSION {
        connection.execute_batch("DROP TABLE IF EXISTS threads; DROP TABLE IF EXISTS thread_spawn_edges;")?;
        connection.pragma_update(None, "user_version", VERSION)?;
    }
    connection.execute_batch(TABLES)?;
    Ok(connection)
}

/// Reads the index. Returns no rows if it cannot be used.
pub(super) fn read(home: &Path) -> (Option<Connection>, HashMap<PathBuf, Indexed>) {
    let result = open(home).and_then(|connection| {
        let rows = read_rows(&connection)?;
        Ok((connection, rows))
    });
    match result {
        Ok((connection, rows)) => (Some(connection), rows),
        Err(error) => {
            tracing::warn!(home = %home.display(), %error, "threads are listed without an index");
            (None, HashMap::new())
        }
    }
}

fn read_rows(connection: &Connection) -> rusqlite::Result<HashMap<PathBuf, Indexed>> {
    let mut statement = connection.prepare("SELECT rollout_path, size_bytes, modified_ns, scan FROM threads")?;
    let mut rows = statement.query([])?;
    let mut indexed = HashMap::new();
    while let Some(row) = rows.next()? {
        let (path, size, modified_ns, scan): (String, i64, i64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        // A row that cannot be parsed counts as missing: the rollout is read instead.
        if let (Ok(size), Ok(scan)) = (u64::try_from(size), serde_json::from_str(&scan)) {
            indexed.insert(PathBuf::from(path), Indexed { size, modified_ns, scan });
        }
    }
    Ok(indexed)
}

/// Writes the index on a background thread.
#[derive(Debug)]
pub(super) struct IndexWriter {
    pending: Arc<Pending>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Pending {
    state: Mutex<State>,
    changed: Condvar,
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Rollouts whose rows are out of date, with their threads.
    paths: HashSet<(ThreadId, PathBuf)>,
    is_wanted_now: bool,
    is_writing: bool,
    is_closing: bool,
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexWriter {
    /// Starts the background thread. Without a database, nothing is written.
    pub(super) fn start(connection: Option<Connection>, catalogue: Arc<Mutex<Catalogue>>) -> Self {
        let pending = Arc::new(Pending::default());
        let thread = connection.and_then(|connection| {
            let pending = Arc::clone(&pending);
            let run = move || write_changes(connection, &catalogue, &pending);
            let started = std::thread::Builder::new().name("thread-index".into()).spawn(run);
            started
                .inspect_err(
                    |error| tracing::warn!(%error, "the thread that writes the index of threads cannot be started"),
                )
                .ok()
        });
        Self { pending, thread }
    }

    /// Marks the row of a rollout as out of date.
    pub(super) fn changed(&self, thread: &ThreadId, path: &Path) {
        if self.thread.is_some() {
            let mut state = self.pending.lock();
            if state.paths.insert((thread.clone(), path.to_owned())) {
                self.pending.changed.notify_one();
            }
        }
    }

    pub(super) fn flush(&self) {
        if self.thread.is_some() {
            let mut state = self.pending.lock();
            while !state.paths.is_empty() || state.is_writing {
                state.is_wanted_now = true;
                self.pending.changed.notify_one();
                state = self.pending.written.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for IndexWriter {
    fn drop(&mut self) {
        self.pending.lock().is_closing = true;
        self.pending.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the index lacks changes, and the next start reads the rollouts instead.
            let _ = thread.join();
        }
    }
}

fn write_changes(mut connection: Connection, catalogue: &Mutex<Catalogue>, pending: &Pending) {
    loop {
        let mut state = pending.lock();
        while state.paths.is_empty() && !state.is_closing {
            state = pending.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.paths.is_empty() {
            return;
        }
        if !state.is_wanted_now && !state.is_closing {
            let gathered = pending
                .changed
                .wait_timeout_while(state, DELAY, |state| !state.is_wanted_now && !state.is_closing)
                .unwrap_or_else(PoisonError::into_inner);
            state = gathered.0;
        }
        let paths = std::mem::take(&mut state.paths);
        state.is_wanted_now = false;
        state.is_writing = true;
        drop(state);
        if let Err(error) = write(&mut connection, catalogue, paths) {
            tracing::warn!(%error, "the index of threads could not be written");
        }
        pending.lock().is_writing = false;
        pending.written.notify_all();
    }
}

fn write(
    connection: &mut Connection,
    catalogue: &Mutex<Catalogue>,
    paths: HashSet<(ThreadId, PathBuf)>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (thread, path) in paths {
        let Some(path_text) = path.to_str() else { continue };
        let (row, edge) = {
            let mut catalogue = catalogue.lock().unwrap_or_else(PoisonError::into_inner);
            let row = catalogue.at(&thread, &path).map(|rollout| (rollout.archived, locked(&rollout.scan).clone()));
            let parent =
                catalogue.summary(&thread).and_then(|summary| Some((summary.parent.clone()?, summary.id.clone())));
            (row, parent.map(|(parent, _)| (parent, catalogue.edge_status(&thread))))
        };
        match row {
            Some((archived, scan)) => {
                // If something was appended in between, the row gets an impossible modification time, so that the file
                // is read next time.
                let modified_ns =
                    place::state(&path).map_or(0, |(size, modified)| if size == scan.bytes { modified } else { 0 });
                insert(&transaction, path_text, &thread, archived, &scan, modified_ns)?;
            }
            None => {
                transaction.execute("DELETE FROM threads WHERE rollout_path = ?1", [path_text])?;
            }
        }
        match edge {
            Some((parent, status)) => {
                let status = match status {
                    EdgeStatus::Open => "open",
                    EdgeStatus::Closed => "closed",
                };
                transaction.execute(
                    "INSERT OR REPLACE INTO thread_spawn_edges VALUES (?1, ?2, ?3)",
                    [thread.as_str(), parent.as_str(), status],
                )?;
            }
            None => {
                transaction.execute("DELETE FROM thread_spawn_edges WHERE child_thread_id = ?1", [thread.as_str()])?;
            }
        }
    }
    transaction.commit()
}

fn insert(
    connection: &Connection,
    path: &str,
    thread: &ThreadId,
    archived: bool,
    scan: &Scan,
    modified_ns: i64,
) -> rusqlite::Result<()> {
    let json = serde_json::to_string(scan).unwrap_or_default();
    connection.execute(
        "INSERT OR REPLACE INTO threads VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            path,
            thread.as_str(),
            archived,
            scan.meta.as_ref().map(|meta| meta.created_at_ms),
            scan.updated_at_ms,
            scan.name.as_ref().map(|(_, name)| name),
            scan.preview.as_ref().map(|(_, text)| text),
            scan.cwd,
            scan.model,
            i64::try_from(scan.bytes).unwrap_or(i64::MAX),
            modified_ns,
            json,
        ],
    )?;
    Ok(())
}
