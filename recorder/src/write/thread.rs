//! The handle of a thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::recorder::{Recorder, ThreadState};
use super::turn::TurnTrace;
use super::writer::resume;
use crate::format::event::ThreadEnded;
use crate::format::{EventPayload, RolloutStatus};

/// A thread that begins.
#[derive(Debug, Clone, Copy)]
pub struct NewThread<'a> {
    /// Id of the thread.
    pub thread_id: &'a str,
    /// Where it stands in the tree of agents, such as `/root/docs`.
    pub agent_path: &'a str,
}

impl<'a> NewThread<'a> {
    /// Returns a thread with its place in the tree of agents.
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
    state: Arc<ThreadState>,
}

impl ThreadTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn new(recorder: Arc<Recorder>, thread_id: &str, state: Arc<ThreadState>) -> Self {
        Self(Some(Arc::new(Inner { recorder, thread_id: thread_id.to_owned(), state })))
    }

    /// Returns the id of the thread.
    pub fn thread_id(&self) -> Option<&str> {
        self.0.as_deref().map(|inner| inner.thread_id.as_str())
    }

    /// Records that a turn began.
    pub fn start_turn(&self, codex_turn_id: &str) -> TurnTrace {
        let Some(inner) = &self.0 else { return TurnTrace::disabled() };
        TurnTrace::start(Arc::clone(&inner.recorder), &inner.thread_id, codex_turn_id)
    }

    /// Records that the thread goes on after its end; a thread that has not ended just goes on.
    pub fn resume(&self) {
        let Some(inner) = &self.0 else { return };
        resume(&inner.recorder, &inner.thread_id, &inner.state);
    }

    /// Records that the thread ended, once until it is resumed.
    pub fn end(&self, status: RolloutStatus) {
        let Some(inner) = &self.0 else { return };
        if !inner.state.has_ended.swap(true, Ordering::AcqRel) {
            let event = ThreadEnded { thread_id: inner.thread_id.as_str().into(), status };
            inner.recorder.record_in_session(&EventPayload::ThreadEnded(event), None);
        }
    }
}
