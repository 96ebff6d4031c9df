//! The recording of one agent: its thread in the bundle that it shares with the other agents of its tree.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trace_recorder::write::ThreadTrace;

use crate::id::ThreadId;
use crate::identity::Identity;
use crate::recording::{Recording, ReviewRecord};
use crate::settings::Settings;

/// The recording of one agent.
pub struct AgentRecord {
    recording: Arc<Recording>,
    /// Records nothing before the first turn.
    thread: Mutex<ThreadTrace>,
    owner: ThreadId,
}

impl AgentRecord {
    pub(crate) fn new(recording: Arc<Recording>, owner: ThreadId) -> Self {
        Self { recording, thread: Mutex::new(ThreadTrace::disabled()), owner }
    }

    /// Creates the bundle of the session if it does not exist. Returns its path; `None` if the session is not recorded.
    pub async fn begin(&self) -> Option<PathBuf> {
        self.recording.begin().await;
        self.path()
    }

    /// Waits until everything that was recorded can be read, with a time limit.
    pub async fn written(&self) {
        self.recording.written().await;
    }

    /// Returns the path of the bundle; `None` if it does not exist yet.
    pub fn path(&self) -> Option<PathBuf> {
        self.recording.path()
    }

    pub(crate) fn shared(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// Returns the recording of the thread, and starts it if it has not started.
    pub(crate) async fn start(&self, identity: &Identity, settings: &Settings) -> ThreadTrace {
        let trace = self.recording.start_thread(identity, settings).await;
        *self.thread() = trace.clone();
        trace
    }

    /// Starts the recording of a review.
    pub(crate) async fn start_review(&self, identity: &Identity, settings: &Settings) -> ReviewRecord {
        ReviewRecord::start(self.recording.start_thread(&identity.of_review(), settings).await)
    }

    /// Ends the thread in the recording, and the bundle if it belongs to the agent.
    pub(crate) async fn end(&self) {
        let trace = self.thread().clone();
        self.recording.end_thread(&self.owner, &trace).await;
    }

    fn thread(&self) -> MutexGuard<'_, ThreadTrace> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AgentRecord {
    /// Drops the recording in a separate thread of the system, because dropping the last reference waits for the disk.
    fn drop(&mut self) {
        if self.recording.path().is_none() {
            return;
        }
        let trace = std::mem::replace(&mut *self.thread(), ThreadTrace::disabled());
        let nothing = Recording::new(None, self.owner.clone(), None);
        let held = (trace, std::mem::replace(&mut self.recording, nothing));
        if let Err(error) = std::thread::Builder::new().name("trace-close".to_owned()).spawn(move || drop(held)) {
            tracing::warn!(thread = %self.owner, %error, "the end of the recording is waited for");
        }
    }
}
