//! The handle of a thread.

use std::sync::Arc;

use super::recorder::{Lifetime, Recorder};
use super::turn::TurnTrace;
use crate::format::event::{ThreadEnded, ThreadResumed};
use crate::format::{EventPayload, RolloutStatus};

/// A thread that starts.
#[derive(Debug, Clone, Copy)]
pub struct NewThread<'a> {
    /// Id of the thread.
    pub thread_id: &'a str,
    /// Position of the agent in the tree of agents, such as `/root/docs`.
    pub agent_path: &'a str,
}

impl<'a> NewThread<'a> {
    /// Returns a thread with its position in the tree of agents.
    pub fn new(thread_id: &'a str, agent_path: &'a str) -> Self {
        Self { thread_id, agent_path }
    }
}

/// Records what happens in one thread. Clones record into the same thread.
#[derive(Debug, Clone)]
pub struct ThreadTrace(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    recorder: Arc<Recorder>,
    thread_id: String,
    lifetime: Arc<Lifetime>,
}

impl ThreadTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn new(recorder: Arc<Recorder>, thread_id: &str, lifetime: Arc<Lifetime>) -> Self {
        Self(Some(Arc::new(Inner { recorder, thread_id: thread_id.to_owned(), lifetime })))
    }

    /// Returns the id of the thread.
    pub fn thread_id(&self) -> Option<&str> {
        self.0.as_deref().map(|inner| inner.thread_id.as_str())
    }

    /// Records that a turn started. If it started before, nothing is recorded. Returns the handle of the turn in both
    /// cases.
    pub fn start_turn(&self, codex_turn_id: &str) -> TurnTrace {
        let Some(inner) = &self.0 else { return TurnTrace::disabled() };
        TurnTrace::start(Arc::clone(&inner.recorder), &inner.thread_id, codex_turn_id)
    }

    /// Records that the thread continues after its end. If it has not ended, nothing is recorded.
    pub fn resume(&self) {
        let Some(inner) = &self.0 else { return };
        inner.lifetime.resume(|| {
            let event = ThreadResumed { thread_id: inner.thread_id.as_str().into() };
            inner.recorder.record_in_session(&EventPayload::ThreadResumed(event), None);
        });
    }

    /// Records that the thread ended. If it has ended and was not resumed, nothing is recorded.
    pub fn end(&self, status: RolloutStatus) {
        let Some(inner) = &self.0 else { return };
        inner.lifetime.end(|| {
            let event = ThreadEnded { thread_id: inner.thread_id.as_str().into(), status };
            inner.recorder.record_in_session(&EventPayload::ThreadEnded(event), None);
        });
    }
}
