//! Notifies clients of changed files.
//!
//! All clients share one watcher of the system, because systems limit their number. Watching a folder reports changes
//! directly in it. For a file, and for a path that does not exist yet, the parent folder is watched, so that a file
//! that is replaced stays watched. Changes are collected for a short time and reported together.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify as Signal;
use tokio_util::sync::{CancellationToken, DropGuard};
use trace_protocol::RpcError;
use trace_protocol::common::AbsolutePath;
use trace_protocol::fs::{FsUnwatchParams, FsUnwatchResponse, FsWatchParams, FsWatchResponse};
use trace_protocol::notification::FsChangedNotification;

use super::notify::Notifier;
use super::page::shortened;
use crate::connection::ConnectionId;

/// How long changes are collected before they are reported.
pub const CHANGES_BUNDLED_FOR: Duration = Duration::from_millis(200);
/// Most paths in one report. If more paths have changed, the report contains only the watched path.
pub const CHANGES_AT_ONCE: usize = 1_000;
/// Most watches of one connection.
pub const WATCHES_PER_CONNECTION: usize = 256;

/// Serves `fs/watch` and `fs/unwatch`.
#[derive(Default)]
pub struct WatchService {
    table: Arc<Mutex<Table>>,
    // Never lock it while `table` is locked: a call to the watcher may wait for its thread, which locks the table.
    system: Arc<Mutex<System>>,
}

/// The watches of all connections.
type Table = HashMap<(ConnectionId, String), Watch>;

/// The watcher of the system, and how many watches need each folder.
#[derive(Default)]
struct System {
    watcher: Option<RecommendedWatcher>,
    folders: HashMap<PathBuf, usize>,
}

/// One watch.
struct Watch {
    path: PathBuf,
    /// The folder that the system watches for this watch.
    folder: PathBuf,
    changes: Arc<Changes>,
    /// Ends the task that sends the notifications.
    _end: DropGuard,
}

/// Changes that were not reported yet.
#[derive(Default)]
struct Changes {
    paths: Mutex<Paths>,
    some: Signal,
}

#[derive(Default)]
struct Paths {
    gathered: BTreeSet<PathBuf>,
    has_too_many: bool,
}

impl fmt::Debug for WatchService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WatchService").finish_non_exhaustive()
    }
}

impl WatchService {
    /// Watches a path until the watch is removed or the connection ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is in use, if the connection has too many watches, or if the system cannot watch the
    /// path.
    pub async fn watch(
        &self,
        connection: ConnectionId,
        params: FsWatchParams,
        notifier: Notifier,
    ) -> Result<FsWatchResponse, RpcError> {
        let FsWatchParams { path, watch_id } = params;
        self.check(connection, &watch_id)?;
        let watched = path.as_path().to_owned();
        let (system, table) = (Arc::clone(&self.system), Arc::clone(&self.table));
        let folder = tokio::task::spawn_blocking(move || follow(&system, &table, &watched))
            .await
            .map_err(RpcError::internal)??;
        let end = CancellationToken::new();
        let changes = Arc::new(Changes::default());
        let watch = Watch {
            path: path.as_path().to_owned(),
            folder: folder.clone(),
            changes: Arc::clone(&changes),
            _end: end.clone().drop_guard(),
        };
        let refused = self.check(connection, &watch_id).err();
        if refused.is_some() {
            self.leave(vec![folder]);
        } else {
            lock(&self.table).insert((connection, watch_id.clone()), watch);
        }
        if let Some(error) = refused {
            return Err(error);
        }
        tokio::spawn(tell(Arc::clone(&notifier), watch_id, path.clone(), changes, end));
        if notifier.has_ended() {
            // The connection may have ended before the watch was in the table.
            self.closed(connection);
        }
        Ok(FsWatchResponse { path })
    }

    /// Removes a watch. It is not an error if there is no such watch.
    pub fn unwatch(&self, connection: ConnectionId, params: FsUnwatchParams) -> FsUnwatchResponse {
        let removed = lock(&self.table).remove(&(connection, params.watch_id));
        self.leave(removed.map(|watch| watch.folder).into_iter().collect());
        FsUnwatchResponse {}
    }

    /// Ends the watches of a connection.
    pub fn closed(&self, connection: ConnectionId) {
        let mut folders = Vec::new();
        lock(&self.table).retain(|(owner, _), watch| {
            let keep = *owner != connection;
            if !keep {
                folders.push(watch.folder.clone());
            }
            keep
        });
        self.leave(folders);
    }

    /// Returns an error if the id is in use or the connection has too many watches.
    fn check(&self, connection: ConnectionId, id: &str) -> Result<(), RpcError> {
        let table = lock(&self.table);
        if table.contains_key(&(connection, id.to_owned())) {
            return Err(RpcError::invalid_request(format_args!("watchId already exists: {}", shortened(id))));
        }
        if table.keys().filter(|(owner, _)| *owner == connection).count() >= WATCHES_PER_CONNECTION {
            return Err(RpcError::invalid_request(format_args!(
                "a connection may watch {WATCHES_PER_CONNECTION} paths; end another watch first"
            )));
        }
        Ok(())
    }

    /// Stops watching folders that no watch needs any more. It works in the background, because it may take long.
    fn leave(&self, folders: Vec<PathBuf>) {
        if folders.is_empty() {
            return;
        }
        let system = Arc::clone(&self.system);
        tokio::task::spawn_blocking(move || {
            let mut system = lock(&system);
            for folder in folders {
                let Some(count) = system.folders.get_mut(&folder) else { continue };
                *count -= 1;
                if *count == 0 {
                    system.folders.remove(&folder);
                    if let Some(watcher) = &mut system.watcher
                        && let Err(error) = watcher.unwatch(&folder)
                    {
                        // The folder may have been deleted, and its watch with it.
                        tracing::debug!(%error, folder = %folder.display(), "cannot end a watch");
                    }
                }
            }
        });
    }
}

/// Makes the system watch the folder that a path needs, and returns that folder.
fn follow(system: &Mutex<System>, table: &Arc<Mutex<Table>>, path: &Path) -> Result<PathBuf, RpcError> {
    let refused =
        |error: &dyn fmt::Display| RpcError::internal(format_args!("cannot watch {}: {error}", path.display()));
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().ok_or_else(|| refused(&"it is not in a folder"))?,
    };
    let mut system = lock(system);
    let System { watcher, folders } = &mut *system;
    let watcher = match watcher {
        Some(watcher) => watcher,
        None => {
            let table = Arc::clone(table);
            let made = notify::recommended_watcher(move |event| heard(&table, event));
            watcher.insert(made.map_err(|error| refused(&error))?)
        }
    };
    // Call this even if the folder is already watched: it may have been replaced by another folder of the same name,
    // which the system does not watch yet.
    watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| refused(&error))?;
    *folders.entry(folder.to_owned()).or_default() += 1;
    Ok(folder.to_owned())
}

/// Passes an event of the system to the watches that it concerns.
fn heard(table: &Mutex<Table>, event: notify::Result<Event>) {
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            tracing::warn!(%error, "a watch of files failed");
            return;
        }
    };
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for watch in lock(table).values() {
        // If a queue of the system overflows, its event has no path.
        let has_lost = event.need_rescan();
        let concerned = event.paths.iter().filter(|path| concerns(path, watch)).cloned();
        watch.changes.add(concerned, has_lost);
    }
}

/// Returns whether a changed path is the watched path, or is directly inside it.
fn concerns(changed: &Path, watch: &Watch) -> bool {
    changed == watch.path || (watch.folder == watch.path && changed.parent() == Some(&watch.path))
}

impl Changes {
    fn add(&self, paths: impl Iterator<Item = PathBuf>, has_lost: bool) {
        let mut state = lock(&self.paths);
        state.gathered.extend(paths);
        if has_lost || state.gathered.len() > CHANGES_AT_ONCE {
            state.gathered.clear();
            state.has_too_many = true;
        }
        if state.has_too_many || !state.gathered.is_empty() {
            self.some.notify_one();
        }
    }

    /// Returns the changes to report, and clears them.
    fn take(&self, watched: &AbsolutePath) -> Vec<AbsolutePath> {
        let Paths { gathered, has_too_many } = std::mem::take(&mut *lock(&self.paths));
        if has_too_many {
            return vec![watched.clone()];
        }
        gathered.iter().filter_map(|path| AbsolutePath::try_from(path.as_path()).ok()).collect()
    }
}

/// Notifies a client of changes until the watch ends.
async fn tell(notifier: Notifier, watch_id: String, path: AbsolutePath, changes: Arc<Changes>, end: CancellationToken) {
    let telling = async {
        loop {
            changes.some.notified().await;
            tokio::time::sleep(CHANGES_BUNDLED_FOR).await;
            notifier.ready().await;
            let changed_paths = changes.take(&path);
            if !changed_paths.is_empty() {
                notifier.notify(FsChangedNotification { changed_paths, watch_id: watch_id.clone() }.into());
            }
        }
    };
    // An ended watch reports nothing more, even if there are changes.
    tokio::select! {
        biased;
        () = end.cancelled() => {}
        () = telling => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
