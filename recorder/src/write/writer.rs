//! The writer of one bundle, which hands out the handles.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use super::append::BundleFiles;
use super::body::IntoBody;
use super::error::WriteError;
use super::lock::RecorderLock;
use super::options::WriterOptions;
use super::queue::Queue;
use super::recorder::{Lifetime, LineContext, Payload, Recorder, Shared, Written, gap_writer};
use super::reopen::Known;
use super::stats::Stats;
use super::thread::{NewThread, ThreadTrace};
use super::worker::Worker;
use crate::format::event::{ProtocolEventObserved, RolloutEnded, RolloutStarted, ThreadStarted};
use crate::format::{EventPayload, Manifest, PayloadKind, RolloutStatus};

/// What a writer begins with.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) files: BundleFiles,
    pub(crate) lock: RecorderLock,
    pub(crate) manifest: &'a Manifest,
    pub(crate) last_seq: u64,
    pub(crate) next_payload: u64,
    pub(crate) known: Known,
}

/// Records one session. Clones record into the same bundle.
///
/// When the writer and all handles that it gave out are gone, what they recorded is still written, and dropping the last
/// of them waits for it (up to [`WriterOptions::max_close`]). Without [`complete`](Self::complete) the bundle then looks
/// like that of a process that died.
#[derive(Debug, Clone)]
pub struct BundleWriter(Option<Arc<Recorder>>);

impl BundleWriter {
    /// Returns a writer that records nothing, and whose handles record nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    /// Says whether events are recorded at all. They may still be lost when the recording has stopped.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the directory of the bundle.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref().map(Recorder::path)
    }

    pub(crate) fn start(start: Start<'_>, options: &WriterOptions) -> Result<Self, WriteError> {
        let Start { files, lock, manifest, last_seq, next_payload, known } = start;
        let path = files.path().to_owned();
        let session = LineContext::new(&manifest.rollout_id, None, None);
        let next_payload = Arc::new(AtomicU64::new(next_payload));
        let write_gap = gap_writer(session.clone(), Arc::clone(&next_payload));
        let shared = Arc::new(Shared {
            path: path.clone(),
            queue: Queue::new(options.limits(), last_seq, write_gap),
            written: Written::default(),
            stop: Mutex::new(None),
            session,
            next_payload,
            is_over: AtomicBool::new(false),
            unoffered: AtomicU64::new(0),
            worker: OnceLock::new(),
        });
        let worker = Worker {
            shared: Arc::clone(&shared),
            storage: Arc::clone(&options.storage),
            files,
            lock,
            durability: options.durability,
            written_seq: last_seq,
        };
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

    /// Records that a thread began, with a description of it and of who spawned it.
    ///
    /// A thread that is in the bundle already goes on instead, as [`resume_thread`](Self::resume_thread) has it.
    pub fn start_thread(&self, thread: NewThread<'_>, metadata: Option<impl IntoBody>) -> ThreadTrace {
        let Some(recorder) = &self.0 else { return ThreadTrace::disabled() };
        // Made before the lock: it is the caller's own code.
        let metadata = metadata.map(IntoBody::into_body);
        // Held until the event is in the queue, so that no event of the thread can come before it.
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

    /// Records that a thread that had ended goes on.
    ///
    /// A thread of this bundle is resumed. One that an earlier session started has no beginning in this bundle, and
    /// readers refuse a bundle that resumes it: it is started instead, with its description.
    pub fn resume_thread(&self, thread: NewThread<'_>, metadata: Option<impl IntoBody>) -> ThreadTrace {
        self.start_thread(thread, metadata)
    }

    /// Returns the handle of a thread that is in the bundle.
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

    /// Records that the session ended. Threads may still be ended after it.
    pub fn end(&self, status: RolloutStatus) {
        let Some(recorder) = &self.0 else { return };
        recorder.rollout.end(|| {
            recorder.record_in_session(&EventPayload::RolloutEnded(RolloutEnded { status }), None);
        });
    }

    /// Ends the recording: nothing can follow. Waits until all of it is acknowledged, and the bundle unlocked, but no longer
    /// than [`WriterOptions::max_close`]. Not for a thread that must not block, such as one that runs tasks.
    ///
    /// Events that other handles record at the same time may come too late, and are passed over.
    ///
    /// # Errors
    ///
    /// Returns an error when the recording had stopped, or when time ran out; the writer then goes on alone.
    pub fn complete(&self) -> Result<(), WriteError> {
        self.0.as_ref().map_or(Ok(()), |recorder| recorder.complete())
    }

    /// Waits until everything recorded so far survives what the [`Durability`](super::Durability) promises, however long
    /// the disk takes. Not for a thread that must not block, such as one that runs tasks; see also
    /// [`Stats::acknowledged_seq`].
    ///
    /// # Errors
    ///
    /// Returns an error when the recording stopped before.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.flush_within(Duration::MAX)
    }

    /// Waits as [`flush`](Self::flush) does, but no longer than `patience`.
    ///
    /// # Errors
    ///
    /// Returns an error when the recording stopped before, or when time ran out.
    pub fn flush_within(&self, patience: Duration) -> Result<(), WriteError> {
        self.0.as_ref().map_or(Ok(()), |recorder| recorder.flush(patience))
    }

    /// Returns what was recorded, what waits and what was lost. A disabled writer has nothing to tell.
    pub fn stats(&self) -> Option<Stats> {
        self.0.as_ref().map(|recorder| recorder.shared.stats())
    }
}
