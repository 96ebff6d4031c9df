//! The index: what rollouts said when they were last looked at, in a database.
//!
//! It saves reading every rollout when a home is opened. A rollout whose length or time of change is not what the index has
//! is read again; an index that is broken or of another version is made anew. The tables also are a place to look at with
//! other tools: one row for each rollout, and one for each agent that another one started.
//!
//! One thread writes it, a moment after things changed, so that nobody waits for it.

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

/// The database, below the home.
pub(super) const INDEX: &str = "trace_index.sqlite";
/// Version of the tables and of what they hold.
const VERSION: i64 = 1;
/// How long a lock on the database is waited for. Whoever can read it can hold one up: then the index is left as it is, and
/// the rollouts are read.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// How long changes are gathered before they are written.
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

/// A rollout as the index has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Indexed {
    /// Its length in bytes.
    pub(super) size: u64,
    /// When it was changed, in nanoseconds since 1970.
    pub(super) modified_ns: i64,
    /// What it said.
    pub(super) scan: Scan,
}

/// Opens the database, made anew if it is of no use.
fn open(home: &Path) -> rusqlite::Result<Connection> {
    let path = home.join(INDEX);
    match try_open(&path) {
        Ok(connection) => Ok(connection),
        // Somebody else writes it: it is good, and theirs.
        Err(error) if is_busy(&error) => Err(error),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the index of threads is made anew");
            for suffix in ["", "-wal", "-shm"] {
                // What is not there need not go.
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
    // The files that SQLite puts beside it get its permissions.
    if let Err(error) = private::create_file(path) {
        tracing::debug!(path = %path.display(), %error, "the index of threads is not made beforehand");
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(LOCK_PATIENCE)?;
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

/// Reads the index; an empty one if it is of no use.
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
        // A row that makes no sense is as good as none: the rollout is read.
        if let (Ok(size), Ok(scan)) = (u64::try_from(size), serde_json::from_str(&scan)) {
            indexed.insert(PathBuf::from(path), Indexed { size, modified_ns, scan });
        }
    }
    Ok(indexed)
}

/// Writes the index behind everybody's back.
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
    /// Rollouts whose rows are not what they should be, and their threads.
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
    /// Begins to write an index; without a database it writes nothing.
    pub(super) fn start(connection: Option<Connection>, catalogue: Arc<Mutex<Catalogue>>) -> Self {
        let pending = Arc::new(Pending::default());
        let thread = connection.and_then(|connection| {
            let pending = Arc::clone(&pending);
            let run = move || write_changes(connection, &catalogue, &pending);
            let started = std::thread::Builder::new().name("thread-index".into()).spawn(run);
            started.inspect_err(|error| tracing::warn!(%error, "the index of threads is not written")).ok()
        });
        Self { pending, thread }
    }

    /// Notes that a rollout came, changed or went.
    pub(super) fn changed(&self, thread: &ThreadId, path: &Path) {
        if self.thread.is_some() {
            let mut state = self.pending.lock();
            if state.paths.insert((thread.clone(), path.to_owned())) {
                self.pending.changed.notify_one();
            }
        }
    }

    /// Waits until all changes are written.
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
            // A writer that panicked wrote what it wrote; the next start reads the rollouts instead.
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
                // If something was appended in between, the row does not fit the file, and the file is read next time.
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
