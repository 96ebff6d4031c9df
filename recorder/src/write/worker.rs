//! The writer's thread of one bundle: takes what has gathered in the queue and writes it.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use serde_json::json;

use super::append::{BundleFiles, payload_path};
use super::body::{Json, Text};
use super::gap::{GAP_EVENT, Gap, GapReason};
use super::lock::RecorderLock;
use super::options::Durability;
use super::queue::{Batch, Closed, Pushed, Shortage};
use super::recorder::{Line, NOT_SERIALIZABLE, OVERFLOW, Payload, Shared, Stop, unix_ms};
use super::skeleton::absent;
use super::storage::{Storage, StorageFile};
use crate::format::event::ProtocolEventObserved;
use crate::format::{EVENT_LOG_FILE, EventPayload, PAYLOADS_DIR, PayloadKind};
use crate::recording::Stopped;

/// Bytes of payload bodies after which the lines so far are written, so that large payloads do not hold them up.
const BODY_BYTES_BETWEEN_LINES: usize = 4 << 20;

/// The writer of one bundle.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) files: BundleFiles,
    pub(crate) lock: RecorderLock,
    pub(crate) durability: Durability,
    /// Last event that is written.
    pub(crate) written_seq: u64,
}

/// What could not be done.
#[derive(Debug)]
struct Failure {
    path: PathBuf,
    error: io::Error,
}

impl Worker {
    /// Writes until the recording ends, one way or another.
    pub(crate) fn run(self) {
        // Whatever happens, nobody may wait in vain; and whoever waited finds the bundle unlocked.
        let _leaves = Leaves(Arc::clone(&self.shared));
        self.work();
    }

    fn work(mut self) {
        let mut batch = Batch::new();
        loop {
            self.shared.queue.take(&mut batch);
            if let Err(failure) = self.write(&mut batch) {
                self.stop(&format!("{}: {}", failure.path.display(), failure.error));
                return;
            }
            self.shared.written.batches.fetch_add(1, Ordering::Relaxed);
            let shortage = self.shared.queue.acknowledge(&batch);
            let has_more = shortage.is_some_and(|shortage| self.tell_gap(shortage));
            if batch.is_last && !has_more {
                break;
            }
        }
        match self.shared.queue.closed() {
            Some(Closed::Complete) => self.end(),
            Some(Closed::Overflow) => self.stop(OVERFLOW),
            // The session went away without an end: what it leaves looks like a recorder that died, and is one.
            Some(Closed::Dismissed | Closed::Failed) | None => {}
        }
    }

    fn end(self) {
        let path = self.files.path().display().to_string();
        if let Err(error) = self.lock.release(&*self.storage) {
            tracing::warn!(bundle = path, %error, "the recorder's file stays behind");
        }
        let stats = self.shared.stats();
        tracing::info!(
            bundle = path,
            events = stats.last_seq,
            payloads = stats.payloads,
            payload_bytes = stats.payload_bytes,
            batches = stats.batches,
            waits = stats.waits,
            dropped_bodies = stats.dropped_bodies,
            "recording completed"
        );
    }

    /// Leaves a marker, and waits with the lock in hand until the session is over.
    fn stop(mut self, reason: &str) {
        let after_seq = self.written_seq;
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Stop { after_seq, reason: reason.to_owned() });
        // The reason first: whoever waits asks for it as soon as the queue has failed.
        self.shared.queue.fail(after_seq);
        tracing::warn!(bundle = %self.files.path().display(), after_seq, reason, "recording stopped");
        let at_unix_ms = unix_ms();
        self.mark(after_seq, at_unix_ms, reason);
        self.shared.queue.wait_until_dismissed();
        // Once more, now that it is known how much was lost.
        self.mark(after_seq, at_unix_ms, reason);
    }

    fn mark(&mut self, after_seq: u64, at_unix_ms: i64, reason: &str) {
        let lost_events = self.shared.stats().lost_events;
        let stopped = Stopped { after_seq, at_unix_ms, lost_events, reason: reason.to_owned() };
        if let Err(error) = self.lock.mark_stopped(stopped) {
            tracing::warn!(bundle = %self.files.path().display(), %error, "the marker cannot be written");
        }
    }

    /// Writes a batch: payloads before the lines that name them, and lines as far as their payloads are there.
    fn write(&mut self, batch: &mut Batch<Payload>) -> Result<(), Failure> {
        let mut lines = Unwritten { text: &batch.lines, start: 0 };
        let mut unsynced = Vec::new();
        let mut body_bytes = 0;
        for queued in batch.bodies.drain(..) {
            if body_bytes >= BODY_BYTES_BETWEEN_LINES {
                self.commit(lines.up_to(queued.line_start), &mut unsynced)?;
                body_bytes = 0;
            }
            match self.write_payload(queued.body) {
                Ok((bytes, file)) => {
                    body_bytes += bytes;
                    if self.durability == Durability::Synced {
                        unsynced.push(file);
                    }
                }
                Err(failure) => {
                    // The events before are whole, and worth the attempt.
                    let _ = self.commit(lines.up_to(queued.line_start), &mut unsynced);
                    return Err(failure);
                }
            }
        }
        self.commit(lines.up_to(batch.lines.len()), &mut unsynced)
    }

    fn write_payload(&self, payload: Payload) -> Result<(usize, Box<dyn StorageFile>), Failure> {
        let Payload { ordinal, body, .. } = payload;
        let text = body.into_text().unwrap_or_else(|reason| {
            tracing::warn!(bundle = %self.files.path().display(), ordinal, reason, "payload has no JSON form");
            Text::Owned(absent(NOT_SERIALIZABLE))
        });
        let file = self.files.payload(ordinal, text.as_ref());
        let file = file.map_err(|error| self.failure(&payload_path(ordinal), error))?;
        let bytes = text.as_ref().len();
        self.shared.written.payloads.fetch_add(1, Ordering::Relaxed);
        self.shared.written.payload_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok((bytes, file))
    }

    /// Writes lines whose payloads are written.
    fn commit(&mut self, lines: &[u8], unsynced: &mut Vec<Box<dyn StorageFile>>) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        if !unsynced.is_empty() {
            for mut file in unsynced.drain(..) {
                file.sync_data().map_err(|error| self.failure(PAYLOADS_DIR, error))?;
            }
            self.files.sync_payload_names().map_err(|error| self.failure(PAYLOADS_DIR, error))?;
        }
        self.files.append(lines).map_err(|error| self.failure(EVENT_LOG_FILE, error))?;
        if self.durability == Durability::Synced {
            self.files.sync_log().map_err(|error| self.failure(EVENT_LOG_FILE, error))?;
        }
        self.written_seq += memchr::memchr_iter(b'\n', lines).count() as u64;
        self.shared.written.log_bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn failure(&self, name: &str, error: io::Error) -> Failure {
        Failure { path: self.files.path().join(name), error }
    }

    /// Records that bodies were dropped. Returns whether there is an event to write now.
    fn tell_gap(&self, shortage: Shortage) -> bool {
        tracing::warn!(
            bundle = %self.files.path().display(),
            after_seq = shortage.after_seq,
            dropped_bodies = shortage.bodies,
            dropped_bytes = shortage.bytes,
            "the disk did not keep up with the session; payload bodies were dropped"
        );
        let gap = Gap {
            reason: GapReason::QueueFull,
            after_seq: shortage.after_seq,
            dropped_bodies: shortage.bodies,
            dropped_bytes: shortage.bytes,
            lost_events: 0,
        };
        record_gap(&self.shared, &gap)
    }
}

/// Puts a gap event into the queue. Returns whether the queue took it.
pub(crate) fn record_gap(shared: &Shared, gap: &Gap) -> bool {
    let payload = shared.payload(PayloadKind::ProtocolEvent, Json(gap));
    let event = EventPayload::ProtocolEventObserved(ProtocolEventObserved {
        event_type: GAP_EVENT.into(),
        event_payload: payload.reference(),
    });
    let text = json!(event).to_string();
    let line = Line { context: &shared.session, event: text.as_bytes() };
    let bytes = payload.body.bytes();
    matches!(shared.queue.push_at_once(payload, bytes, |seq, lines| line.write(seq, lines)), Pushed::Queued(_))
}

/// The lines of a batch that are still to be written.
struct Unwritten<'b> {
    text: &'b [u8],
    start: usize,
}

impl<'b> Unwritten<'b> {
    fn up_to(&mut self, end: usize) -> &'b [u8] {
        let lines = &self.text[self.start..end];
        self.start = end;
        lines
    }
}

/// Tells those who wait that the thread has ended, even if it panicked.
struct Leaves(Arc<Shared>);

impl Drop for Leaves {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "the writer panicked: a bug in the recorder".to_owned();
            let after_seq = self.0.queue.level().acknowledged_seq;
            self.0.queue.fail(after_seq);
            self.0.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Stop { after_seq, reason });
        }
        self.0.queue.leave();
    }
}
