//! The handle of a request for a remote compaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::IntoBody;
use super::open_turn::OpenTurn;
use crate::format::event::{CompactionRequestCompleted, CompactionRequestFailed, CompactionRequestStarted};
use crate::format::{EventPayload, PayloadKind};

/// A request for a remote compaction.
#[derive(Debug, Clone, Copy)]
pub struct NewCompactionRequest<'a> {
    /// Id of the compaction, which may need several requests.
    pub compaction_id: &'a str,
    /// Id of the request.
    pub compaction_request_id: &'a str,
    /// Requested model.
    pub model: &'a str,
    /// Provider that receives the request.
    pub provider_name: &'a str,
}

/// Records the outcome of a compaction request. Only the first outcome is recorded.
#[derive(Debug, Clone)]
pub struct CompactionTrace(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    turn: Arc<OpenTurn>,
    compaction_id: String,
    compaction_request_id: String,
    has_ended: AtomicBool,
}

impl CompactionTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn start(turn: Arc<OpenTurn>, compaction: &NewCompactionRequest<'_>, request: impl IntoBody) -> Self {
        let payload = turn.payload(PayloadKind::CompactionRequest, request);
        let event = CompactionRequestStarted {
            compaction_id: compaction.compaction_id.into(),
            compaction_request_id: compaction.compaction_request_id.into(),
            thread_id: turn.thread_id.as_str().into(),
            codex_turn_id: turn.codex_turn_id.as_str().into(),
            model: compaction.model.into(),
            provider_name: compaction.provider_name.into(),
            request_payload: payload.reference(),
        };
        turn.record(&EventPayload::CompactionRequestStarted(event), Some(payload));
        Self(Some(Arc::new(Inner {
            turn,
            compaction_id: compaction.compaction_id.to_owned(),
            compaction_request_id: compaction.compaction_request_id.to_owned(),
            has_ended: AtomicBool::new(false),
        })))
    }

    /// Returns the request if no outcome was recorded yet, and marks it as ended.
    fn end(&self) -> Option<&Inner> {
        self.0.as_deref().filter(|inner| !inner.has_ended.swap(true, Ordering::AcqRel))
    }

    /// Records the provider's response.
    pub fn complete(&self, response: impl IntoBody) {
        let Some(inner) = self.end() else { return };
        let payload = inner.turn.payload(PayloadKind::CompactionResponse, response);
        let event = CompactionRequestCompleted {
            compaction_id: inner.compaction_id.as_str().into(),
            compaction_request_id: inner.compaction_request_id.as_str().into(),
            response_payload: payload.reference(),
        };
        inner.turn.record(&EventPayload::CompactionRequestCompleted(event), Some(payload));
    }

    /// Records that the request ended with an error.
    pub fn fail(&self, error: &str) {
        let Some(inner) = self.end() else { return };
        let event = CompactionRequestFailed {
            compaction_id: inner.compaction_id.as_str().into(),
            compaction_request_id: inner.compaction_request_id.as_str().into(),
            error: error.into(),
        };
        inner.turn.record(&EventPayload::CompactionRequestFailed(event), None);
    }
}
