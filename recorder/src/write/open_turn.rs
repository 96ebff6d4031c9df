//! What all handles of a turn share: those of the turn, its inference calls, tool calls, code cells and compactions.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::body::IntoBody;
use super::recorder::{Lifetime, LineContext, Payload, Recorder};
use crate::format::{EventPayload, PayloadKind};

/// A turn in which events are recorded.
#[derive(Debug)]
pub(crate) struct OpenTurn {
    pub(super) recorder: Arc<Recorder>,
    pub(crate) thread_id: String,
    pub(crate) codex_turn_id: String,
    pub(super) context: LineContext,
    pub(super) lifetime: Arc<Lifetime>,
}

impl OpenTurn {
    pub(crate) fn payload(&self, kind: PayloadKind<'static>, body: impl IntoBody) -> Payload {
        let conversation = xxh3_64(self.thread_id.as_bytes());
        Payload { conversation, ..self.recorder.payload(kind, body) }
    }

    pub(crate) fn record(&self, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.recorder.record(&self.context, event, payload);
    }

    pub(crate) fn record_in_session(&self, event: &EventPayload<'_>) {
        self.recorder.record_in_session(event, None);
    }
}
