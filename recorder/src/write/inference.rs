//! The handle of a request to the model provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::IntoBody;
use super::open_turn::OpenTurn;
use super::recorder::Payload;
use crate::format::event::{InferenceCancelled, InferenceCompleted, InferenceFailed, InferenceStarted};
use crate::format::{EventPayload, PayloadKind};

/// A request to the model provider that starts.
#[derive(Debug, Clone, Copy)]
pub struct NewInference<'a> {
    /// Id of the inference call.
    pub inference_call_id: &'a str,
    /// Requested model.
    pub model: &'a str,
    /// Provider that receives the request.
    pub provider_name: &'a str,
}

/// Records the outcome of a request. Only the first outcome is recorded, so that a cancellation may race with a response.
#[derive(Debug, Clone)]
pub struct InferenceTrace(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    turn: Arc<OpenTurn>,
    inference_call_id: String,
    has_ended: AtomicBool,
}

impl InferenceTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn start(turn: Arc<OpenTurn>, inference: &NewInference<'_>, request: impl IntoBody) -> Self {
        let payload = turn.payload(PayloadKind::InferenceRequest, request);
        let event = InferenceStarted {
            inference_call_id: inference.inference_call_id.into(),
            thread_id: turn.thread_id.as_str().into(),
            codex_turn_id: turn.codex_turn_id.as_str().into(),
            model: inference.model.into(),
            provider_name: inference.provider_name.into(),
            request_payload: payload.reference(),
        };
        turn.record(&EventPayload::InferenceStarted(event), Some(payload));
        let inference_call_id = inference.inference_call_id.to_owned();
        Self(Some(Arc::new(Inner { turn, inference_call_id, has_ended: AtomicBool::new(false) })))
    }

    /// Returns the call if no outcome was recorded yet, and marks it as ended.
    fn end(&self) -> Option<&Inner> {
        self.0.as_deref().filter(|inner| !inner.has_ended.swap(true, Ordering::AcqRel))
    }

    /// Records the response: its `output_items` and `token_usage`.
    pub fn complete(&self, response_id: Option<&str>, upstream_request_id: Option<&str>, response: impl IntoBody) {
        let Some(inner) = self.end() else { return };
        let payload = inner.turn.payload(PayloadKind::InferenceResponse, response);
        let event = InferenceCompleted {
            inference_call_id: inner.inference_call_id.as_str().into(),
            response_id: response_id.map(Into::into),
            upstream_request_id: upstream_request_id.map(Into::into),
            response_payload: payload.reference(),
        };
        inner.turn.record(&EventPayload::InferenceCompleted(event), Some(payload));
    }

    /// Records that the request ended with an error. `partial` is what arrived before.
    pub fn fail(&self, upstream_request_id: Option<&str>, error: &str, partial: Option<impl IntoBody>) {
        let Some(inner) = self.end() else { return };
        let payload = partial.map(|partial| inner.turn.payload(PayloadKind::InferenceResponse, partial));
        let event = InferenceFailed {
            inference_call_id: inner.inference_call_id.as_str().into(),
            upstream_request_id: upstream_request_id.map(Into::into),
            error: error.into(),
            partial_response_payload: payload.as_ref().map(Payload::reference),
        };
        inner.turn.record(&EventPayload::InferenceFailed(event), payload);
    }

    /// Records that the request was cancelled. `partial` is what arrived before.
    pub fn cancel(&self, upstream_request_id: Option<&str>, reason: &str, partial: Option<impl IntoBody>) {
        let Some(inner) = self.end() else { return };
        let payload = partial.map(|partial| inner.turn.payload(PayloadKind::InferenceResponse, partial));
        let event = InferenceCancelled {
            inference_call_id: inner.inference_call_id.as_str().into(),
            upstream_request_id: upstream_request_id.map(Into::into),
            reason: reason.into(),
            partial_response_payload: payload.as_ref().map(Payload::reference),
        };
        inner.turn.record(&EventPayload::InferenceCancelled(event), payload);
    }
}
