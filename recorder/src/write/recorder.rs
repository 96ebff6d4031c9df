//! What all handles of one bundle share.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::append::payload_ref;
use super::body::{Body, IntoBody};
use super::error::WriteError;
use super::options::SMALL_BODY_BYTES;
use super::queue::{Closed, Place, Pushed, Queue, Weight};
use super::skeleton::{absent, skeleton};
use super::stats::{RecordingState, Stats};
use crate::format::event::RecordingCompleted;
use crate::format::{EventPayload, PayloadKind, PayloadRef, SchemaVersion};

/// Reason in the skeleton of a body that found no room.
pub(crate) const QUEUE_FULL: &str = "queue_full";

/// Reason in the place of a body that has no JSON form.
pub(crate) const NOT_SERIALIZABLE: &str = "not_serializable";

/// Largest buffer that a thread keeps between two events.
const KEPT_BUFFER_BYTES: usize = 64 << 10;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A payload that has its number, and whose file is still to be written.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) ordinal: u64,
    pub(crate) kind: PayloadKind<'static>,
    pub(crate) body: Body,
}

impl Payload {
    pub(crate) fn reference(&self) -> PayloadRef<'static> {
        payload_ref(self.ordinal, self.kind.clone())
    }
}

/// Where an event happened, as the middle of its line has it.
#[derive(Debug, Clone)]
pub(crate) struct LineContext(String);

impl LineContext {
    pub(crate) fn new(rollout_id: &str, thread_id: Option<&str>, codex_turn_id: Option<&str>) -> Self {
        let (rollout_id, thread_id, codex_turn_id) = (json!(rollout_id), json!(thread_id), json!(codex_turn_id));
        Self(format!(
            ",\"rollout_id\":{rollout_id},\"thread_id\":{thread_id},\"codex_turn_id\":{codex_turn_id},\"payload\":"
        ))
    }
}

/// How a thread stands in the bundle.
#[derive(Debug, Default)]
pub(crate) struct ThreadState {
    pub(crate) has_ended: AtomicBool,
}

/// Counts of the writer's thread.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) payloads: AtomicU64,
    pub(crate) payload_bytes: AtomicU64,
    pub(crate) log_bytes: AtomicU64,
    pub(crate) batches: AtomicU64,
}

/// Why and where a recording stopped.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub(crate) after_seq: u64,
    pub(crate) reason: String,
}

/// What the handles share with the writer's thread.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) queue: Queue<Payload>,
    pub(crate) written: Written,
    pub(crate) stop: Mutex<Option<Stop>>,
    pub(crate) session: LineContext,
    pub(crate) next_payload: AtomicU64,
}

impl Shared {
    /// Gives a payload its number.
    pub(crate) fn payload(&self, kind: PayloadKind<'static>, body: impl IntoBody) -> Payload {
        let ordinal = self.next_payload.fetch_add(1, Ordering::Relaxed);
        Payload { ordinal, kind, body: body.into_body() }
    }

    /// Says why the recording stopped, if it did.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn stats(&self) -> Stats {
        let level = self.queue.level();
        let closed = self.queue.closed();
        let state = match (self.stopped(), &closed) {
            (Some(stop), _) => RecordingState::Stopped { after_seq: stop.after_seq, reason: stop.reason },
            (None, Some(Closed::Overflow)) => {
                RecordingState::Stopped { after_seq: level.acknowledged_seq, reason: OVERFLOW.to_owned() }
            }
            (None, Some(Closed::Complete)) => RecordingState::Completed,
            (None, _) => RecordingState::Recording,
        };
        let lost_events = match (&state, &closed) {
            (RecordingState::Stopped { .. }, Some(Closed::Overflow)) => level.refused,
            (RecordingState::Stopped { after_seq, .. }, _) => level.last_seq - after_seq + level.refused,
            _ => 0,
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
}

/// Why a recording stops when not even an event finds room.
pub(crate) const OVERFLOW: &str = "the disk did not keep up with the session: no room for another event";

/// The live end of a recording. When the last handle goes, the writer's thread is dismissed.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rollout_id: String,
    pub(crate) threads: Mutex<HashMap<String, Arc<ThreadState>>>,
    pub(crate) has_ended: AtomicBool,
    pub(crate) max_close: Duration,
}

impl Recorder {
    pub(crate) fn payload(&self, kind: PayloadKind<'static>, body: impl IntoBody) -> Payload {
        self.shared.payload(kind, body)
    }

    pub(crate) fn threads(&self) -> MutexGuard<'_, HashMap<String, Arc<ThreadState>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Records an event of the whole session.
    pub(crate) fn record_in_session(&self, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.record(&self.shared.session, event, payload);
    }

    /// Records an event and the payload that it refers to.
    pub(crate) fn record(&self, context: &LineContext, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.record_at(Place::Inside, context, event, payload);
    }

    /// Records the end of the log.
    pub(crate) fn complete(&self) -> Result<(), WriteError> {
        if self.shared.queue.is_short() {
            // What was dropped has to be told before the log ends.
            self.flush()?;
        }
        let event = EventPayload::RecordingCompleted(RecordingCompleted {});
        self.record_at(Place::End, &self.shared.session, &event, None);
        self.flush()?;
        // The lock goes last, and whoever asked for the end expects that it is gone.
        self.shared.queue.wait_until_gone(self.max_close);
        Ok(())
    }

    fn record_at(&self, place: Place, context: &LineContext, event: &EventPayload<'_>, payload: Option<Payload>) {
        let mut text = BUFFER.take();
        text.clear();
        // The events of this crate have nothing that JSON cannot express.
        if serde_json::to_writer(&mut text, event).is_ok() {
            let line = Line { context, event: &text };
            if let Pushed::NoRoom(payload) = self.push(payload, place, &line) {
                let payload = reduced(payload);
                let weight = Weight::WithLine(payload.body.bytes());
                self.shared.queue.push(Some(payload), weight, place, |seq, lines| line.write(seq, lines));
            }
        }
        if text.capacity() <= KEPT_BUFFER_BYTES {
            BUFFER.set(text);
        }
    }

    fn push(&self, payload: Option<Payload>, place: Place, line: &Line<'_>) -> Pushed<Payload> {
        let weight = match payload.as_ref().map(|payload| payload.body.bytes()) {
            None => Weight::None,
            Some(bytes) if bytes <= SMALL_BODY_BYTES => Weight::WithLine(bytes),
            Some(bytes) => Weight::OnItsOwn(bytes),
        };
        self.shared.queue.push(payload, weight, place, |seq, lines| line.write(seq, lines))
    }

    pub(crate) fn flush(&self) -> Result<(), WriteError> {
        let (Ok(after_seq) | Err(after_seq)) = self.shared.queue.flush();
        match self.shared.queue.closed() {
            Some(Closed::Overflow | Closed::Failed) => {
                let stop = self.shared.stopped();
                let reason = stop.map_or_else(|| OVERFLOW.to_owned(), |stop| stop.reason);
                Err(WriteError::Stopped { path: self.path().to_owned(), after_seq, reason })
            }
            None | Some(Closed::Complete | Closed::Dismissed) => Ok(()),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.queue.dismiss();
        if !self.shared.queue.wait_until_gone(self.max_close) {
            let level = self.shared.queue.level();
            tracing::warn!(
                bundle = %self.path().display(),
                events = level.last_seq - level.acknowledged_seq,
                "the disk does not keep up; the writer goes on alone"
            );
        }
    }
}

/// Makes a payload small enough to travel with its event.
fn reduced(payload: Payload) -> Payload {
    let Payload { ordinal, kind, body } = payload;
    let document = match body.into_text() {
        Ok(text) => skeleton(text.as_ref(), QUEUE_FULL),
        Err(_) => absent(NOT_SERIALIZABLE),
    };
    Payload { ordinal, kind, body: Body::owned(document) }
}

/// A line of the log before it has its number and time.
pub(crate) struct Line<'l> {
    pub(crate) context: &'l LineContext,
    /// JSON of the event.
    pub(crate) event: &'l [u8],
}

impl Line<'_> {
    /// Writes the line. Called under the queue's lock, so that times are in the order of the numbers.
    pub(crate) fn write(&self, seq: u64, lines: &mut Vec<u8>) {
        let mut number = itoa::Buffer::new();
        lines.reserve(96 + self.context.0.len() + self.event.len());
        lines.extend_from_slice(b"{\"schema_version\":");
        lines.extend_from_slice(number.format(SchemaVersion::CURRENT.0).as_bytes());
        lines.extend_from_slice(b",\"seq\":");
        lines.extend_from_slice(number.format(seq).as_bytes());
        lines.extend_from_slice(b",\"wall_time_unix_ms\":");
        lines.extend_from_slice(number.format(unix_ms()).as_bytes());
        lines.extend_from_slice(self.context.0.as_bytes());
        lines.extend_from_slice(self.event);
        lines.extend_from_slice(b"}\n");
    }
}

/// Returns the wall clock in milliseconds since the Unix epoch.
pub(crate) fn unix_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}
