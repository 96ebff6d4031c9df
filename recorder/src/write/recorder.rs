//! The state that all handles of one bundle share.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::append::payload_ref;
use super::body::{Body, IntoBody, Json};
use super::error::WriteError;
use super::gap::{GAP_EVENT, Gap, GapReason};
use super::options::SMALL_BODY_BYTES;
use super::queue::{Closed, Flushed, Place, Pushed, Queue, Shortage, Weight, WriteGap};
use super::skeleton::{absent, shorten, skeleton};
use super::stats::{RecordingState, Stats};
use crate::format::event::{ProtocolEventObserved, RecordingCompleted};
use crate::format::{EventPayload, PayloadKind, PayloadRef, SchemaVersion};

/// Reason in a document that replaces a payload for which there was no room.
pub(crate) const QUEUE_FULL: &str = "queue_full";

/// Reason in a document that replaces a payload without a JSON form.
pub(crate) const NOT_SERIALIZABLE: &str = "not_serializable";

/// Largest JSON of an event that is recorded unchanged. In a larger event, long texts are cut.
pub const MAX_EVENT_BYTES: usize = 1 << 20;

/// Largest buffer that a thread keeps for its next event.
const KEPT_BUFFER_BYTES: usize = 64 << 10;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A payload that has a number but whose file is not written yet.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) ordinal: u64,
    pub(crate) kind: PayloadKind<'static>,
    pub(crate) body: Body,
    /// The conversation that the payload belongs to, 0 for none. Payloads of the same one are expected to share bytes.
    pub(crate) conversation: u64,
}

impl Payload {
    pub(crate) fn reference(&self) -> PayloadRef<'static> {
        payload_ref(self.ordinal, self.kind.clone())
    }
}

/// The ids of rollout, thread and turn, serialized as the middle part of an event line.
#[derive(Clone)]
pub(crate) struct LineContext(Vec<u8>);

impl fmt::Debug for LineContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LineContext").field(&String::from_utf8_lossy(&self.0)).finish()
    }
}

impl LineContext {
    /// Returns the part of a line behind its time, for an event that is serialized.
    pub(crate) fn with(&self, event: &[u8]) -> Vec<u8> {
        [&self.0, event, LINE_END].concat()
    }

    pub(crate) fn new(rollout_id: &str, thread_id: Option<&str>, codex_turn_id: Option<&str>) -> Self {
        let mut text = Vec::with_capacity(CONTEXT_BYTES);
        for (name, id) in [
            (",\"rollout_id\":", Some(rollout_id)),
            (",\"thread_id\":", thread_id),
            (",\"codex_turn_id\":", codex_turn_id),
        ] {
            text.extend_from_slice(name.as_bytes());
            serde_json::to_writer(&mut text, &id).expect("a text can be written");
        }
        text.extend_from_slice(b",\"payload\":");
        Self(text)
    }
}

/// Whether a thread or a turn has ended. The lock is held until the event of a change is in the queue, so that the log has
/// the changes in their order.
#[derive(Debug, Default)]
pub(crate) struct Lifetime {
    has_ended: Mutex<bool>,
}

impl Lifetime {
    pub(crate) fn new(has_ended: bool) -> Self {
        Self { has_ended: Mutex::new(has_ended) }
    }

    /// Marks the thread or turn as ended and records it, unless it has ended already.
    pub(crate) fn end(&self, record: impl FnOnce()) {
        self.change(true, record);
    }

    /// Marks the thread or turn as running and records it, if it had ended.
    pub(crate) fn resume(&self, record: impl FnOnce()) {
        self.change(false, record);
    }

    fn change(&self, has_ended: bool, record: impl FnOnce()) {
        let mut state = self.has_ended.lock().unwrap_or_else(PoisonError::into_inner);
        if *state != has_ended {
            *state = has_ended;
            record();
        }
    }
}

/// Counters of the writer's thread.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) payloads: AtomicU64,
    pub(crate) payload_bytes: AtomicU64,
    pub(crate) log_bytes: AtomicU64,
    pub(crate) batches: AtomicU64,
}

/// Where and why a recording stopped.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub(crate) after_seq: u64,
    pub(crate) reason: String,
}

/// What the handles and the writer's thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) queue: Queue<Payload>,
    pub(crate) written: Written,
    pub(crate) stop: Mutex<Option<Stop>>,
    pub(crate) session: LineContext,
    pub(crate) next_payload: Arc<AtomicU64>,
    /// Time of the last line. The lock of the queue protects it.
    pub(crate) last_unix_ms: Arc<AtomicI64>,
    /// Set once an event was refused: later events are not even offered to the queue.
    pub(crate) is_over: AtomicBool,
    /// Number of events that were not offered to the queue because of `is_over`.
    pub(crate) unoffered: AtomicU64,
    /// Id of the writer's thread.
    pub(crate) worker: OnceLock<ThreadId>,
}

impl Shared {
    /// Assigns a number to a payload. If the recording is over, the content is not even created.
    pub(crate) fn payload(&self, kind: PayloadKind<'static>, body: impl IntoBody) -> Payload {
        if self.is_over.load(Ordering::Relaxed) {
            return Payload { ordinal: 0, kind, body: Body::owned(Vec::new()), conversation: 0 };
        }
        let body = body.into_body();
        Payload { ordinal: self.next_payload.fetch_add(1, Ordering::Relaxed), kind, body, conversation: 0 }
    }

    /// Returns where and why the recording stopped, or `None` if it did not.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn stats(&self) -> Stats {
        // The reason is read first, so that it never refers to an event that is missing in the level.
        let stop = self.stopped();
        let (level, closed) = self.queue.level();
        let state = match (stop, closed) {
            (Some(stop), _) => RecordingState::Stopped { after_seq: stop.after_seq, reason: stop.reason },
            (None, Some(Closed::Overflow)) => {
                RecordingState::Stopped { after_seq: level.last_seq, reason: OVERFLOW.to_owned() }
            }
            (None, Some(Closed::Complete)) => RecordingState::Completed,
            (None, _) => RecordingState::Recording,
        };
        let refused = level.refused + self.unoffered.load(Ordering::Relaxed);
        let lost_events = match &state {
            RecordingState::Stopped { after_seq, .. } => level.last_seq.saturating_sub(*after_seq) + refused,
            RecordingState::Recording | RecordingState::Completed => 0,
        };
        Stats {
            state,
            last_seq: level.last_seq,
            acknowledged_seq: level.acknowledged_seq,
            payloads: self.written.payloads.load(Ordering::Relaxed),
            payload_bytes: self.written.payload_bytes.load(Ordering::Relaxed),
            log_bytes: self.written.log_bytes.load(Ordering::Relaxed),
            batches: self.written.batches.load(Ordering::Relaxed),
            queued_line_bytes: level.line_bytes as u64,
            queued_body_bytes: level.body_bytes as u64,
            waits: level.waits,
            waited: level.waited,
            dropped_bodies: level.handed_back,
            dropped_bytes: level.handed_back_bytes,
            lost_events,
        }
    }

    /// Returns the number of dropped payloads that no event has reported yet.
    pub(crate) fn untold_bodies(&self) -> u64 {
        self.queue.level().0.untold_bodies
    }
}

/// Returns the function that writes the line of a gap event.
pub(crate) fn gap_writer(
    session: LineContext,
    next_payload: Arc<AtomicU64>,
    last_unix_ms: Arc<AtomicI64>,
) -> WriteGap<Payload> {
    Box::new(move |Shortage { after_seq, bodies, bytes }, seq, lines| {
        let gap = Gap {
            reason: GapReason::QueueFull,
            after_seq,
            dropped_bodies: bodies,
            dropped_bytes: bytes,
            lost_events: 0,
        };
        let (payload, event) = gap_event(&gap, next_payload.fetch_add(1, Ordering::Relaxed));
        Line { at_unix_ms: unix_ms(), rest: &session.with(&event) }.write(seq, &last_unix_ms, lines);
        let bytes = payload.body.bytes();
        (payload, bytes)
    })
}

/// Returns the payload of a gap event and the JSON of the event.
pub(crate) fn gap_event(gap: &Gap, ordinal: u64) -> (Payload, Vec<u8>) {
    let payload = Payload { ordinal, kind: PayloadKind::ProtocolEvent, body: Json(gap).into_body(), conversation: 0 };
    let event = EventPayload::ProtocolEventObserved(ProtocolEventObserved {
        event_type: GAP_EVENT.into(),
        event_payload: payload.reference(),
    });
    (payload, json!(event).to_string().into_bytes())
}

/// Reason for which a recording stops if there is no room for an event.
pub(crate) const OVERFLOW: &str = "the disk did not keep up with the session: no room for another event";

/// The state behind the handles of a live recording. Dropping the last handle dismisses the writer's thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rollout_id: String,
    pub(crate) threads: Mutex<HashMap<String, Arc<Lifetime>>>,
    pub(crate) turns: Mutex<HashMap<String, Arc<Lifetime>>>,
    pub(crate) rollout: Lifetime,
    pub(crate) max_close: Duration,
}

impl Recorder {
    pub(crate) fn payload(&self, kind: PayloadKind<'static>, body: impl IntoBody) -> Payload {
        self.shared.payload(kind, body)
    }

    pub(crate) fn threads(&self) -> MutexGuard<'_, HashMap<String, Arc<Lifetime>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn turns(&self) -> MutexGuard<'_, HashMap<String, Arc<Lifetime>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Records an event of the whole session.
    pub(crate) fn record_in_session(&self, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.record(&self.shared.session, event, payload);
    }

    /// Records an event and its payload.
    pub(crate) fn record(&self, context: &LineContext, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.record_at(Place::Inside, context, event, payload);
    }

    /// Records the end of the log, and waits until everything is written and the lock is released.
    pub(crate) fn complete(&self) -> Result<(), WriteError> {
        let event = EventPayload::RecordingCompleted(RecordingCompleted {});
        self.record_at(Place::End, &self.shared.session, &event, None);
        self.flush(self.max_close)?;
        // The writer releases the lock last. The caller expects that it is released.
        self.shared.queue.wait_until_gone(self.max_close);
        Ok(())
    }

    fn record_at(&self, place: Place, context: &LineContext, event: &EventPayload<'_>, payload: Option<Payload>) {
        if self.shared.is_over.load(Ordering::Relaxed) {
            self.shared.unoffered.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The time is that of the call, which may have to wait for room.
        let at_unix_ms = unix_ms();
        // While a thread ends, its thread-local buffer may be gone already although there are still events to record.
        let mut text = BUFFER.try_with(Cell::take).unwrap_or_default();
        text.clear();
        text.extend_from_slice(&context.0);
        // Serialization cannot fail: the events of this crate have only values that JSON can express.
        if serde_json::to_writer(&mut text, event).is_ok() {
            let event = context.0.len();
            if text.len() - event > MAX_EVENT_BYTES {
                let short = shorten(&text[event..]);
                text.truncate(event);
                text.extend_from_slice(&short);
            }
            text.extend_from_slice(LINE_END);
            let line = Line { at_unix_ms, rest: &text };
            let mut pushed = self.push(payload, place, &line);
            // At most two attempts: a small body is replaced by a note, and a note has room whenever its line has.
            while let Pushed::NoRoom(payload) = pushed {
                pushed = self.push(Some(reduced(payload)), place, &line);
            }
            if matches!(pushed, Pushed::Refused) {
                self.shared.is_over.store(true, Ordering::Relaxed);
            }
        }
        if text.capacity() <= KEPT_BUFFER_BYTES {
            let _ = BUFFER.try_with(|buffer| buffer.set(text));
        }
    }

    fn push(&self, payload: Option<Payload>, place: Place, line: &Line<'_>) -> Pushed<Payload> {
        let weight = match payload.as_ref().map(|payload| payload.body.bytes()) {
            None => Weight::None,
            Some(bytes) if bytes <= SMALL_BODY_BYTES => Weight::WithLine(bytes),
            Some(bytes) => Weight::OnItsOwn(bytes),
        };
        let last = &self.shared.last_unix_ms;
        self.shared.queue.push(payload, weight, place, |seq, lines| line.write(seq, last, lines))
    }

    pub(crate) fn flush(&self, patience: Duration) -> Result<(), WriteError> {
        let path = || self.path().to_owned();
        let after_seq = match self.shared.queue.flush(patience) {
            Flushed::NotYet(acknowledged_seq) => return Err(WriteError::Unfinished { path: path(), acknowledged_seq }),
            Flushed::All(seq) | Flushed::Never(seq) => seq,
        };
        match self.shared.queue.closed() {
            Some(Closed::Overflow | Closed::Failed) => {
                let reason = self.shared.stopped().map_or_else(|| OVERFLOW.to_owned(), |stop| stop.reason);
                Err(WriteError::Stopped { path: path(), after_seq, reason })
            }
            None | Some(Closed::Complete | Closed::Dismissed) => Ok(()),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.queue.dismiss();
        if self.shared.worker.get() == Some(&thread::current().id()) {
            // A body in the queue held the last handle, so this is the writer's thread. It must not wait for itself.
            return;
        }
        if !self.shared.queue.wait_until_gone(self.max_close) {
            let (level, _) = self.shared.queue.level();
            tracing::warn!(
                bundle = %self.path().display(),
                events = level.last_seq - level.acknowledged_seq,
                "the disk is too slow; the writer thread continues to write"
            );
        }
    }
}

/// Makes a payload smaller. A large one is replaced by its skeleton, a small one or one that is not serialized yet by a
/// note.
fn reduced(payload: Payload) -> Payload {
    let Payload { ordinal, kind, body, conversation } = payload;
    let document = match body.into_text_at_once() {
        Some(text) if text.as_ref().len() > SMALL_BODY_BYTES => skeleton(text.as_ref(), QUEUE_FULL),
        _ => absent(&kind, QUEUE_FULL),
    };
    Payload { ordinal, kind, body: Body::owned(document), conversation }
}

/// Bytes of a context whose ids are UUIDs, and a few more.
const CONTEXT_BYTES: usize = 192;

/// Ends a line behind the JSON of its event.
const LINE_END: &[u8] = b"}\n";

/// A line of the log without its number.
pub(crate) struct Line<'l> {
    /// When the event happened.
    pub(crate) at_unix_ms: i64,
    /// Everything behind the time.
    pub(crate) rest: &'l [u8],
}

impl Line<'_> {
    /// Writes the line with its number. Called under the lock of the queue, which also protects the time of the line before.
    pub(crate) fn write(&self, seq: u64, last_unix_ms: &AtomicI64, lines: &mut Vec<u8>) {
        let last = last_unix_ms.load(Ordering::Relaxed);
        // The times are in the order of the numbers, although each was taken before the number was assigned.
        let at_unix_ms = if self.at_unix_ms < last {
            // The event waited while others got their numbers, or the clock was set back, which shows in the log.
            let now = unix_ms();
            if now >= last { last } else { now }
        } else {
            self.at_unix_ms
        };
        last_unix_ms.store(at_unix_ms, Ordering::Relaxed);
        let mut number = itoa::Buffer::new();
        lines.reserve(96 + self.rest.len());
        lines.extend_from_slice(b"{\"schema_version\":");
        lines.extend_from_slice(number.format(SchemaVersion::CURRENT.0).as_bytes());
        lines.extend_from_slice(b",\"seq\":");
        lines.extend_from_slice(number.format(seq).as_bytes());
        lines.extend_from_slice(b",\"wall_time_unix_ms\":");
        lines.extend_from_slice(number.format(at_unix_ms).as_bytes());
        lines.extend_from_slice(self.rest);
    }
}

/// Returns the wall clock in milliseconds since the Unix epoch.
pub(crate) fn unix_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}
