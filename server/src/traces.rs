//! Recorded sessions: lists them, reduces them, and reports changes of a graph while its session is recorded.
//!
//! Each subscription has a thread that follows the log of a bundle, because it reads files. It sends changes to one
//! connection. A subscription ends with the recording, with its connection, or on request.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use trace_protocol::common::AbsolutePath;
use trace_protocol::notification::WarningNotification;
use trace_protocol::trace::{TraceChangedNotification, TraceStatus, TraceSummary};
use trace_recorder::Bundle;
use trace_recorder::bundle::{find_bundles, read_manifest};
use trace_recorder::follow::{Growth, LogFollower, Standing};
use trace_recorder::format::{EVENT_LOG_FILE, EventPayload, Manifest};
use trace_recorder::log::{EventLog, Line, parse_lines};
use trace_reducer::live::{Change, LiveReduction, Update};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, ReduceError};
use uuid::Uuid;

use crate::connection::{Connection, ConnectionId};
use crate::hub::tell;

/// How long a follower waits if the log has not grown.
pub(crate) const FOLLOW_PAUSE: Duration = Duration::from_millis(50);

/// Most subscriptions of one connection.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 16;

/// Most bytes of an object's state in a notification. Of a larger object, the notification contains only the id.
pub(crate) const MAX_OBJECT_BYTES: usize = 64 << 10;

/// The recorded sessions in a folder.
#[derive(Debug)]
pub(crate) struct Traces {
    root: Option<PathBuf>,
    subscriptions: Arc<Subscriptions>,
    /// Information about bundles, by their paths.
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// Information about a bundle whose log may be growing.
#[derive(Debug)]
struct Known {
    manifest: Manifest,
    /// Size and time of the log, or of the file of a packed bundle, when it was read.
    looked_at: Option<(u64, SystemTime)>,
    /// Reads what is appended while the bundle is recorded.
    follower: Option<LogFollower>,
    threads: Vec<String>,
}

/// The active subscriptions, by their ids.
type Subscriptions = Mutex<BTreeMap<String, Subscription>>;

#[derive(Debug)]
struct Subscription {
    connection: ConnectionId,
    is_over: Arc<AtomicBool>,
}

/// The result of reducing a bundle.
#[derive(Debug)]
pub(crate) struct Reduced {
    pub(crate) state: Value,
    pub(crate) diagnostics: Vec<Value>,
    pub(crate) last_seq: u64,
}

/// Why a request for recorded sessions failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TracesError {
    #[error("this server does not record sessions: it was started without a folder for them")]
    NotRecorded,
    #[error("{} is not a recorded session of this server", .0.display())]
    Elsewhere(PathBuf),
    #[error(transparent)]
    Bundle(#[from] trace_recorder::BundleError),
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    #[error("cannot write the state of {}", .0.display())]
    State(PathBuf, #[source] std::io::Error),
    #[error("a connection has at most {MAX_SUBSCRIPTIONS} subscriptions")]
    TooMany,
}

impl Traces {
    /// Creates the service for the sessions below a folder.
    pub(crate) fn new(root: Option<PathBuf>) -> Self {
        Self { root, subscriptions: Arc::default(), known: Mutex::default() }
    }

    /// Lists the recorded sessions, the newest first.
    pub(crate) fn list(&self) -> Result<Vec<TraceSummary>, TracesError> {
        let root = self.root.as_deref().ok_or(TracesError::NotRecorded)?;
        let bundles = if root.is_dir() { find_bundles(root)? } else { Vec::new() };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let present: HashSet<&PathBuf> = bundles.iter().collect();
        known.retain(|path, _| present.contains(path));
        let mut traces: Vec<TraceSummary> = bundles.iter().filter_map(|path| summary(path, &mut known)).collect();
        drop(known);
        // A directory that was unpacked beside the file of its recording comes behind it.
        let rank = |trace: &TraceSummary| {
            (
                trace.started_at_ms,
                trace.trace_id.clone(),
                trace.status == TraceStatus::Live,
                trace.path.as_path().is_file(),
            )
        };
        traces.sort_by_cached_key(|trace| std::cmp::Reverse(rank(trace)));
        Ok(traces)
    }

    /// Returns the canonical path of a bundle, if it belongs to this server.
    pub(crate) fn find(&self, path: &Path) -> Result<PathBuf, TracesError> {
        let root = self.root.as_deref().ok_or(TracesError::NotRecorded)?;
        let elsewhere = || TracesError::Elsewhere(path.to_owned());
        let root = root.canonicalize().map_err(|_| elsewhere())?;
        let path = path.canonicalize().map_err(|_| elsewhere())?;
        if path.starts_with(&root) { Ok(path) } else { Err(elsewhere()) }
    }

    /// Returns the newest bundle that contains a thread.
    pub(crate) fn of_thread(&self, thread: &str) -> Result<Option<PathBuf>, TracesError> {
        let found = self.list()?.into_iter().find(|trace| trace.thread_ids.iter().any(|known| known == thread));
        Ok(found.map(|trace| PathBuf::from(trace.path.into_string())))
    }

    /// Prepares a subscription of a connection to the changes of a bundle from now on.
    pub(crate) fn subscribe(&self, connection: &Arc<Connection>, path: &Path) -> Result<Follow, TracesError> {
        let id = Uuid::now_v7().to_string();
        let is_over = Arc::new(AtomicBool::new(false));
        let registration = self.register(connection, &id, &is_over)?;
        let bundle = Bundle::open_to_follow(path)?;
        let mut live = LiveReduction::begin(&bundle, Options::default())?;
        let mut follower = LogFollower::new(path);
        let mut bytes = Vec::new();
        while let Ok(Growth::Grew) = follower.read(&mut bytes) {
            live.catch_up(&bytes, bundle.payloads())?;
            bytes.clear();
        }
        let last_seq = last_seq(&live);
        let connection = Arc::clone(connection);
        Ok(Follow { id, last_seq, connection, bundle, live, follower, is_over, _registration: registration })
    }

    /// Registers a subscription of a connection.
    fn register(
        &self,
        connection: &Connection,
        id: &str,
        is_over: &Arc<AtomicBool>,
    ) -> Result<Registration, TracesError> {
        let mut subscriptions = self.subscriptions();
        let of_connection = |known: &&Subscription| known.connection == connection.id();
        if subscriptions.values().filter(of_connection).count() >= MAX_SUBSCRIPTIONS {
            return Err(TracesError::TooMany);
        }
        let subscription = Subscription { connection: connection.id(), is_over: Arc::clone(is_over) };
        subscriptions.insert(id.to_owned(), subscription);
        Ok(Registration { id: id.to_owned(), subscriptions: Arc::clone(&self.subscriptions) })
    }

    /// Ends a subscription of a connection. Returns whether there was one.
    pub(crate) fn unsubscribe(&self, connection: ConnectionId, id: &str) -> bool {
        let mut subscriptions = self.subscriptions();
        let is_own = subscriptions.get(id).is_some_and(|known| known.connection == connection);
        if let (true, Some(subscription)) = (is_own, subscriptions.remove(id)) {
            subscription.is_over.store(true, Ordering::Relaxed);
        }
        is_own
    }

    /// Ends the subscriptions of a connection.
    pub(crate) fn closed(&self, connection: ConnectionId) {
        self.subscriptions().retain(|_, subscription| {
            let stays = subscription.connection != connection;
            if !stays {
                subscription.is_over.store(true, Ordering::Relaxed);
            }
            stays
        });
    }

    fn subscriptions(&self) -> MutexGuard<'_, BTreeMap<String, Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reduces the present content of a bundle. In the compact form, lists of items are ranges, so that the state does not grow with the
/// square of the session.
pub(crate) fn reduce(path: &Path, is_compact: bool) -> Result<Reduced, TracesError> {
    let bundle = Bundle::open(path)?;
    let reduction = trace_reducer::reduce(&bundle, Options::default())?;
    let failed = |error| TracesError::State(path.to_owned(), error);
    let mut state = Vec::new();
    if is_compact {
        state_json::write_compact(&reduction, &mut state).map_err(failed)?;
    } else {
        state_json::write(&reduction, Style::Compact, &mut state).map_err(failed)?;
    }
    let state = serde_json::from_slice(&state).map_err(|error| failed(error.into()))?;
    let diagnostics = reduction
        .diagnostics
        .iter()
        .map(|found| json!({ "code": found.code.as_str(), "message": found.message, "seq": found.seq }))
        .collect();
    let last_seq = reduction.trace.last_event.map_or(0, |moment| moment.seq);
    Ok(Reduced { state, diagnostics, last_seq })
}

/// Summarizes a bundle without reducing it. Returns `None` for a folder without a manifest.
fn summary(path: &Path, known: &mut HashMap<PathBuf, Known>) -> Option<TraceSummary> {
    let status = match LogFollower::new(path).standing() {
        Ok(Standing::Recorded) => TraceStatus::Live,
        _ => TraceStatus::Finished,
    };
    let looked_at = look_at(path);
    let known = match known.entry(path.to_owned()) {
        Entry::Vacant(vacant) => vacant.insert(Known::new(read_manifest(path).ok()?)),
        Entry::Occupied(occupied) => {
            let known = occupied.into_mut();
            // The manifest of a packed bundle is behind its index, so it is not read again for nothing.
            if !path.is_file() || known.looked_at != looked_at {
                let manifest = read_manifest(path).ok()?;
                if known.manifest.trace_id != manifest.trace_id {
                    *known = Known::new(manifest);
                }
            }
            known
        }
    };
    if looked_at.is_none() || known.looked_at != looked_at {
        known.looked_at = looked_at.filter(|_| known.catch_up(path));
    }
    if status == TraceStatus::Finished {
        // Nothing is appended any more, so the file need not stay open.
        known.follower = None;
    }
    let Manifest { trace_id, root_thread_id, started_at_unix_ms, .. } = &known.manifest;
    Some(TraceSummary {
        path: AbsolutePath::try_from(std::path::absolute(path).ok()?.as_path()).ok()?,
        trace_id: trace_id.clone(),
        root_thread_id: root_thread_id.clone(),
        started_at_ms: *started_at_unix_ms,
        status,
        thread_ids: known.threads.clone(),
    })
}

/// Returns the size of the log, or of the file of a packed bundle, and when it was last written to.
fn look_at(path: &Path) -> Option<(u64, SystemTime)> {
    let log = if path.is_file() { path.to_owned() } else { path.join(EVENT_LOG_FILE) };
    let metadata = std::fs::metadata(log).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl Known {
    fn new(manifest: Manifest) -> Self {
        let threads = vec![manifest.root_thread_id.clone()];
        Self { manifest, looked_at: None, follower: None, threads }
    }

    /// Reads the lines that were appended since the last call. Returns whether all could be read.
    fn catch_up(&mut self, path: &Path) -> bool {
        let known = self.follower.take();
        // A log that was rewritten is read once from its beginning.
        for mut follower in known.into_iter().chain([LogFollower::new(path)]) {
            if follower.position() == 0 {
                self.threads = vec![self.manifest.root_thread_id.clone()];
            }
            let mut bytes = Vec::new();
            let read = loop {
                match follower.read(&mut bytes) {
                    Ok(Growth::Grew) => self.note_threads(&bytes),
                    other => break other,
                }
                bytes.clear();
            };
            if matches!(read, Ok(Growth::Still)) {
                self.follower = Some(follower);
                return true;
            }
        }
        false
    }

    fn note_threads(&mut self, lines: &[u8]) {
        let log = EventLog::from_bytes(lines.to_vec());
        let lines: Vec<Line<'_>> = log.lines().collect();
        for line in parse_lines(&lines) {
            let Ok(Some(event)) = &line.event else { continue };
            if let EventPayload::ThreadStarted(started) = &event.payload
                && self.threads.iter().all(|known| **known != *started.thread_id)
            {
                self.threads.push(started.thread_id.to_string());
            }
        }
    }
}

fn last_seq(live: &LiveReduction) -> u64 {
    live.trace().last_event.map_or(0, |moment| moment.seq)
}

/// Follows a log for one subscription. Dropping it ends the subscription.
pub(crate) struct Follow {
    /// The id of the subscription.
    pub(crate) id: String,
    /// The sequence number of the last event in the graph.
    pub(crate) last_seq: u64,
    connection: Arc<Connection>,
    bundle: Bundle,
    live: LiveReduction,
    follower: LogFollower,
    is_over: Arc<AtomicBool>,
    _registration: Registration,
}

/// A registered subscription. Dropping it removes it.
struct Registration {
    id: String,
    subscriptions: Arc<Subscriptions>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Follow {
    /// Starts the thread of the subscription. The thread blocks on the disk, and on a connection that does not read.
    pub(crate) fn start(self) {
        let runtime = Handle::current();
        let spawned = std::thread::Builder::new().name("trace-follow".to_owned()).spawn(move || self.follow(&runtime));
        if let Err(error) = spawned {
            tracing::error!(%error, "cannot start the thread of a subscription");
        }
    }

    fn follow(mut self, runtime: &Handle) {
        let Self { id, connection, bundle, live, follower, is_over, .. } = &mut self;
        let mut bytes = Vec::new();
        while !is_over.load(Ordering::Relaxed) && !connection.has_ended() {
            runtime.block_on(connection.producers_ready());
            // Check this before reading the log: if the recording has ended by now, the read below returns everything
            // that it contains.
            let is_ending = !matches!(follower.standing(), Ok(Standing::Recorded | Standing::Silent { .. }));
            let fed = match follower.read(&mut bytes) {
                Ok(Growth::Grew) => live.feed(&bytes, bundle.payloads(), |update| {
                    if let Some(told) = told(id, &update) {
                        tell(connection, told);
                    }
                }),
                Ok(Growth::Still) if is_ending => return,
                Ok(Growth::Still) => {
                    std::thread::sleep(FOLLOW_PAUSE);
                    continue;
                }
                Ok(Growth::Rewritten) => {
                    warn(connection, "the log of a subscribed trace was rewritten; subscribe again");
                    return;
                }
                Err(error) => {
                    warn(connection, &format!("the log of a subscribed trace cannot be read: {error}"));
                    return;
                }
            };
            if let Err(error) = fed {
                warn(connection, &format!("a subscribed trace cannot be reduced any further: {error}"));
                return;
            }
            bytes.clear();
        }
    }
}

fn warn(connection: &Connection, message: &str) {
    tell(connection, WarningNotification { message: message.to_owned(), thread_id: None });
}

/// Returns the notification about a line, or `None` if the line changed nothing.
fn told(id: &str, update: &Update<'_>) -> Option<TraceChangedNotification> {
    if update.changes.is_empty() {
        return None;
    }
    let changes = update.changes.iter().map(|change| describe(*change, update)).collect();
    let seq = update.at.map_or(0, |moment| moment.seq);
    Some(TraceChangedNotification { subscription_id: id.to_owned(), seq, changes })
}

fn describe(change: Change, update: &Update<'_>) -> Value {
    let (kind, object) = match change {
        Change::Added(object) => ("added", object),
        Change::Changed(object) => ("changed", object),
        Change::Ended(object) => ("ended", object),
        Change::Observed(index) => {
            return json!({ "change": "protocolEvent", "index": index });
        }
        Change::Answered(index) => return json!({ "change": "agentResult", "index": index }),
        Change::SessionEnded => return json!({ "change": "sessionEnded", "status": update.trace.status.as_str() }),
        Change::RecordingCompleted => return json!({ "change": "recordingCompleted" }),
        Change::Found(index) => {
            let message = update.diagnostics.iter().nth(index).map(|found| found.message.clone());
            return json!({ "change": "diagnostic", "message": message });
        }
    };
    let type_name = object.type_name();
    match state_json::object(update.trace, object) {
        Ok((id, state)) if state.len() <= MAX_OBJECT_BYTES => {
            let state: Value = serde_json::from_str(&state).unwrap_or(Value::Null);
            json!({ "change": kind, "object": type_name, "id": id, "state": state })
        }
        Ok((id, _)) => json!({ "change": kind, "object": type_name, "id": id }),
        Err(_) => json!({ "change": kind, "object": type_name }),
    }
}
