//! The writer's thread of one bundle. It takes batches from the queue and writes them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::body::{Pieces, Text};
use super::queue::{Batch, Closed, Unreleased};
use super::recorder::{NOT_SERIALIZABLE, OVERFLOW, Payload, Shared, Stop, unix_ms};
use super::skeleton::absent;
use super::target::{Failure, Target};
use crate::recording::Stopped;

/// Time without events after which a target gives up memory that it does not need meanwhile.
const REST_AFTER: Duration = Duration::from_secs(2);

/// Most bytes of lines that are written at once. Callers that wait for room go on while the writer writes the next ones.
const LINES_AT_ONCE: usize = 2 << 20;

/// The writer of one bundle.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) target: Box<dyn Target>,
    /// Last event that is written.
    pub(crate) written_seq: u64,
}

impl Worker {
    /// Writes batches until the recording is complete or stops.
    pub(crate) fn run(self) {
        // The guard notifies waiting callers however this function ends. It is dropped after `work` has released the lock
        // of the bundle.
        let _leaves = Leaves(Arc::clone(&self.shared));
        let _ = self.shared.worker.set(std::thread::current().id());
        self.work();
    }

    fn work(mut self) {
        let mut batch = Batch::new();
        loop {
            if self.shared.queue.is_idle_for(REST_AFTER) {
                self.target.rest();
            }
            self.shared.queue.take(&mut batch);
            if let Err(failure) = self.write(&mut batch) {
                self.stop(&format!("{}: {}", failure.name, failure.error));
                return;
            }
            self.shared.written.batches.fetch_add(1, Ordering::Relaxed);
            let acknowledged = self.shared.queue.acknowledge(&batch);
            if let Some(shortage) = acknowledged.told {
                tracing::warn!(
                    bundle = %self.shared.path.display(),
                    after_seq = shortage.after_seq,
                    dropped_bodies = shortage.bodies,
                    dropped_bytes = shortage.bytes,
                    "the disk did not keep up with the session; payload bodies were dropped"
                );
            }
            if batch.is_last && !acknowledged.has_more {
                break;
            }
        }
        match self.shared.queue.closed() {
            Some(Closed::Complete) => self.end(),
            Some(Closed::Overflow) => self.stop(OVERFLOW),
            // The last handle was dropped before the end of the session. The bundle looks like that of a recorder that
            // died.
            Some(Closed::Dismissed | Closed::Failed) | None => {}
        }
    }

    fn end(self) {
        self.tell_counts("recording completed");
        if let Err(Failure { name, error }) = self.target.complete() {
            tracing::warn!(bundle = %self.shared.path.display(), name, %error, "the recording cannot be closed");
        }
    }

    fn tell_counts(&self, what: &str) {
        let stats = self.shared.stats();
        tracing::info!(
            bundle = %self.shared.path.display(),
            last_seq = stats.last_seq,
            acknowledged_seq = stats.acknowledged_seq,
            payloads = stats.payloads,
            payload_bytes = stats.payload_bytes,
            log_bytes = stats.log_bytes,
            batches = stats.batches,
            waits = stats.waits,
            waited_ms = stats.waited.as_millis(),
            dropped_bodies = stats.dropped_bodies,
            dropped_bytes = stats.dropped_bytes,
            lost_events = stats.lost_events,
            "{what}"
        );
    }

    /// Writes the reason into `recorder.json`, and keeps the lock until the session is over.
    fn stop(mut self, reason: &str) {
        let after_seq = self.written_seq;
        let at_unix_ms = unix_ms();
        tracing::warn!(bundle = %self.shared.path.display(), after_seq, reason, "recording stopped");
        // The reason and the file are written first, because callers look for them as soon as the queue fails.
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Stop { after_seq, reason: reason.to_owned() });
        let dropped_bodies = self.shared.untold_bodies();
        self.mark(after_seq, at_unix_ms, dropped_bodies, reason);
        self.shared.queue.fail(after_seq);
        self.shared.queue.wait_until_dismissed();
        // The file is written again, because the number of lost events is known only now.
        self.mark(after_seq, at_unix_ms, dropped_bodies, reason);
        self.tell_counts("the session is over; its recording had stopped before");
    }

    fn mark(&mut self, after_seq: u64, at_unix_ms: i64, dropped_bodies: u64, reason: &str) {
        let lost_events = self.shared.stats().lost_events;
        let stopped = Stopped { after_seq, at_unix_ms, lost_events, dropped_bodies, reason: reason.to_owned() };
        if let Err(error) = self.target.mark_stopped(stopped) {
            tracing::warn!(bundle = %self.shared.path.display(), %error, "the marker cannot be written");
        }
    }

    /// Writes a batch. Payloads are written before the lines that refer to them.
    fn write(&mut self, batch: &mut Batch<Payload>) -> Result<(), Failure> {
        let Batch { lines, bodies, line_bytes, body_bytes, .. } = batch;
        let mut lines = Unwritten { text: lines, start: 0 };
        let mut unreleased = Unreleased { line_bytes, body_bytes };
        let mut room_bytes = 0_usize;
        for queued in bodies.drain(..) {
            if self.target.is_full() {
                let before = lines.up_to(queued.line_start);
                self.commit(before)?;
                self.shared.queue.release(&mut unreleased, before.len(), room_bytes);
                room_bytes = 0;
            }
            match self.write_payload(queued.body) {
                Ok(()) => room_bytes = queued.room_bytes.saturating_add(room_bytes),
                Err(failure) => {
                    // The lines before the failure are complete, so try to keep them.
                    let _ = self.commit(lines.up_to(queued.line_start));
                    return Err(failure);
                }
            }
        }
        while lines.text.len() - lines.start > LINES_AT_ONCE {
            let most = &lines.text[lines.start..lines.start + LINES_AT_ONCE];
            // A line that is longer than this is written together with all that follow.
            let Some(end) = memchr::memrchr(b'\n', most) else { break };
            let some = lines.up_to(lines.start + end + 1);
            self.commit(some)?;
            self.shared.queue.release(&mut unreleased, some.len(), std::mem::take(&mut room_bytes));
        }
        self.commit(lines.up_to(lines.text.len()))
    }

    fn write_payload(&mut self, payload: Payload) -> Result<(), Failure> {
        let Payload { ordinal, kind, body, conversation } = payload;
        let document = body.into_pieces().unwrap_or_else(|reason| {
            tracing::warn!(bundle = %self.shared.path.display(), ordinal, reason, "payload has no JSON form");
            Pieces::One(Text::Owned(absent(&kind, NOT_SERIALIZABLE)))
        });
        let bytes = document.bytes();
        self.target.payload(ordinal, conversation, document)?;
        self.shared.written.payloads.fetch_add(1, Ordering::Relaxed);
        self.shared.written.payload_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the payloads of `lines`, and the lines.
    fn commit(&mut self, lines: &[u8]) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        self.target.commit(lines)?;
        self.written_seq += memchr::memchr_iter(b'\n', lines).count() as u64;
        self.shared.written.log_bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// The lines of a batch that are not written yet.
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

/// A guard that notifies waiting callers when the writer's thread ends, even by a panic.
struct Leaves(Arc<Shared>);

impl Drop for Leaves {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "the writer panicked: a bug in the recorder".to_owned();
            let after_seq = self.0.queue.level().0.acknowledged_seq;
            self.0.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Stop { after_seq, reason });
            self.0.queue.fail(after_seq);
        }
        self.0.queue.leave();
    }
}
