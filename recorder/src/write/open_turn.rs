//! What the handles of a turn share: the turn's own and those of its inference calls, tool calls, cells and compactions.

use std::sync::Arc;

use super::body::IntoBody;
use super::recorder::{Lifetime, LineContext, Payload, Recorder};
use crate::format::{EventPayload, PayloadKind};

/// A turn that events are recorded in.
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
        self.recorder.payload(kind, body)
    }

    pub(crate) fn record(&self, event: &EventPayload<'_>, payload: Option<Payload>) {
        self.recorder.record(&self.context, event, payload);
    }

    pub(crate) fn record_in_session(&self, event: &EventPayload<'_>) {
        self.recorder.record_in_session(event, None);
    }
}
