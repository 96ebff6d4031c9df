//! The writer of one bundle, from which callers get their handles.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use super::body::IntoBody;
use super::error::WriteError;
use super::options::WriterOptions;
use super::queue::Queue;
use super::recorder::{Lifetime, LineContext, Payload, Recorder, Shared, Written, gap_writer};
use super::reopen::Known;
use super::stats::Stats;
use super::target::Target;
use super::thread::{NewThread, ThreadTrace};
use super::worker::Worker;
use crate::format::event::{ProtocolEventObserved, RolloutEnded, RolloutStarted, ThreadStarted};
use crate::format::{EventPayload, Manifest, PayloadKind, RolloutStatus};

/// What a writer needs to start.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) target: Box<dyn Target>,
    /// Path of the bundle.
    pub(crate) path: PathBuf,
    pub(crate) manifest: &'a Manifest,
    pub(crate) last_seq: u64,
    pub(crate) next_payload: u64,
    pub(crate) known: Known,
}

/// Records one session. Clones record into the same bundle.
///
/// When the last clone and the last handle are dropped, the drop waits until everything is written, but at most for
/// [`WriterOptions::max_close`]. Without a call to [`complete`](Self::complete), the bundle then looks like that of a
/// process that died.
#[derive(Debug, Clone)]
pub struct BundleWriter(Option<Arc<Recorder>>);

impl BundleWriter {
    /// Returns a writer that records nothing, and whose handles record nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    /// Returns whether the writer records events. Events may be lost nevertheless if the recording has stopped.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the path of the bundle, a directory or a file, or `None` for a disabled writer.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref().map(Recorder::path)
    }

    pub(crate) fn start(start: Start<'_>, options: &WriterOptions) -> Result<Self, WriteError> {
        let Start { target, path, manifest, last_seq, next_payload, known } = start;
        let session = LineContext::new(&manifest.rollout_id, None, None);
        let next_payload = Arc::new(AtomicU64::new(next_payload));
        let last_unix_ms = Arc::new(AtomicI64::new(i64::MIN));
        let write_gap = gap_writer(session.clone(), Arc::clone(&next_payload), Arc::clone(&last_unix_ms));
        let shared = Arc::new(Shared {
            path: path.clone(),
            queue: Queue::new(options.limits(), last_seq, write_gap),
            written: Written::default(),
            stop: Mutex::new(None),
            session,
            next_payload,
            last_unix_ms,
            is_over: AtomicBool::new(false),
            unoffered: AtomicU64::new(0),
            worker: OnceLock::new(),
        });
        let worker = Worker { shared: Arc::clone(&shared), target, written_seq: last_seq };
        thread::Builder::new()
            .name("trace-writer".to_owned())
            .spawn(move || worker.run())
            .map_err(|error| WriteError::io(&path, error))?;
        let lifetimes = |known: HashMap<String, bool>| {
            Mutex::new(known.into_iter().map(|(id, has_ended)| (id, Arc::new(Lifetime::new(has_ended)))).collect())
        };
        Ok(Self(Some(Arc::new(Recorder {
            shared,
            rollout_id: manifest.rollout_id.clone(),
            threads: lifetimes(known.threads),
            turns: lifetimes(known.turns),
            rollout: Lifetime::new(known.rollout_has_ended),
            max_close: options.max_close,
        }))))
    }

    pub(crate) fn record_start(&self, trace_id: &str, root_thread_id: &str) {
        let Some(recorder) = &self.0 else { return };
        let event = RolloutStarted { trace_id: trace_id.into(), root_thread_id: root_thread_id.into() };
        recorder.record_in_session(&EventPayload::RolloutStarted(event), None);
    }

    /// Records that a thread started. `metadata` describes the thread and the agent that spawned it.
    ///
    /// If the bundle has the thread already, it is resumed instead.
    pub fn start_thread(&self, thread: NewThread<'_>, metadata: Option<impl IntoBody>) -> ThreadTrace {
        let Some(recorder) = &self.0 else { return ThreadTrace::disabled() };
        // The conversion runs code of the caller, so it must not run under the lock.
        let metadata = metadata.map(IntoBody::into_body);
        // The lock is held until the event is in the queue, so that no event of the thread can come before it.
        let mut threads = recorder.threads();
        if let Some(lifetime) = threads.get(thread.thread_id) {
            let lifetime = Arc::clone(lifetime);
            drop(threads);
            let trace = ThreadTrace::new(Arc::clone(recorder), thread.thread_id, lifetime);
            trace.resume();
            return trace;
        }
        let lifetime = Arc::new(Lifetime::default());
        threads.insert(thread.thread_id.to_owned(), Arc::clone(&lifetime));
        let payload = metadata.map(|metadata| recorder.payload(PayloadKind::SessionMetadata, metadata));
        let event = ThreadStarted {
            thread_id: thread.thread_id.into(),
            agent_path: thread.agent_path.into(),
            metadata_payload: payload.as_ref().map(Payload::reference),
        };
        recorder.record_in_session(&EventPayload::ThreadStarted(event), payload);
        drop(threads);
        ThreadTrace::new(Arc::clone(recorder), thread.thread_id, lifetime)
    }

    /// Records that a thread that had ended continues.
    ///
    /// A thread of this bundle is resumed. A thread that an earlier session started has no start event in this bundle, and
    /// readers refuse a bundle that resumes such a thread. So it is started instead, with `metadata`.
    pub fn resume_thread(&self, thread: NewThread<'_>, metadata: Option<impl IntoBody>) -> ThreadTrace {
        self.start_thread(thread, metadata)
    }

    /// Returns the handle of a thread, or `None` if the bundle does not have the thread.
    pub fn thread(&self, thread_id: &str) -> Option<ThreadTrace> {
        let recorder = self.0.as_ref()?;
        let lifetime = Arc::clone(recorder.threads().get(thread_id)?);
        Some(ThreadTrace::new(Arc::clone(recorder), thread_id, lifetime))
    }

    /// Records an event of the session's protocol, verbatim.
    pub fn observe(&self, event_type: &str, event: impl IntoBody) {
        let Some(recorder) = &self.0 else { return };
        let payload = recorder.payload(PayloadKind::ProtocolEvent, event);
        let event = ProtocolEventObserved { event_type: event_type.into(), event_payload: payload.reference() };
        recorder.record_in_session(&EventPayload::ProtocolEventObserved(event), Some(payload));
    }

    /// Records that the session ended. Threads may still end after it.
    pub fn end(&self, status: RolloutStatus) {
        let Some(recorder) = &self.0 else { return };
        recorder.rollout.end(|| {
            recorder.record_in_session(&EventPayload::RolloutEnded(RolloutEnded { status }), None);
        });
    }

    /// Ends the recording. No event can follow. Waits until everything is acknowledged and the bundle is unlocked, but no
    /// longer than [`WriterOptions::max_close`]. Do not call it on a thread that must not block, such as one that runs
    /// async tasks.
    ///
    /// Events that other handles record at the same time may come too late. They are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording had stopped, or if the time ran out. In the latter case the writer's thread
    /// continues to write.
    pub fn complete(&self) -> Result<(), WriteError> {
        self.0.as_ref().map_or(Ok(()), |recorder| recorder.complete())
    }

    /// Waits until everything recorded so far survives what the [`Durability`](super::Durability) promises, however long
    /// the disk takes. Do not call it on a thread that must not block, such as one that runs async tasks. See also
    /// [`Stats::acknowledged_seq`].
    ///
    /// # Errors
    ///
    /// Returns an error if the recording has stopped.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.flush_within(Duration::MAX)
    }

    /// Waits like [`flush`](Self::flush), but at most for `patience`.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording has stopped, or if the time ran out.
    pub fn flush_within(&self, patience: Duration) -> Result<(), WriteError> {
        self.0.as_ref().map_or(Ok(()), |recorder| recorder.flush(patience))
    }

    /// Returns the counters of the recording, or `None` for a disabled writer.
    pub fn stats(&self) -> Option<Stats> {
        self.0.as_ref().map(|recorder| recorder.shared.stats())
    }
}
