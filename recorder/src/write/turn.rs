//! The handle of a turn.

use std::sync::Arc;

use super::body::IntoBody;
use super::cell::{CellTrace, NewCell};
use super::compaction::{CompactionTrace, NewCompactionRequest};
use super::inference::{InferenceTrace, NewInference};
use super::open_turn::OpenTurn;
use super::recorder::{Lifetime, LineContext, Payload, Recorder};
use super::tool::{NewToolCall, ToolTrace};
use crate::format::event::{
    AgentResultObserved, CodexTurnEnded, CodexTurnStarted, CompactionInstalled, HistoryItemAccepted,
};
use crate::format::{EventPayload, ExecutionStatus, PayloadKind};

/// The result of a child agent on its way to the parent.
#[derive(Debug, Clone, Copy)]
pub struct AgentResult<'a> {
    /// Id of the edge in the graph.
    pub edge_id: &'a str,
    /// Thread of the parent.
    pub parent_thread_id: &'a str,
    /// The message that the parent receives.
    pub message: &'a str,
}

/// Records what happens in one turn. Clones record into the same turn. After the end of the turn, events are still
/// accepted, because commands in the background outlive it.
#[derive(Debug, Clone)]
pub struct TurnTrace(Option<Arc<OpenTurn>>);

impl TurnTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn start(recorder: Arc<Recorder>, thread_id: &str, codex_turn_id: &str) -> Self {
        let context = LineContext::new(&recorder.rollout_id, Some(thread_id), Some(codex_turn_id));
        // The lock is held until the event is in the queue, so that no event of the turn can come before it.
        let mut turns = recorder.turns();
        let lifetime = match turns.get(codex_turn_id) {
            Some(lifetime) => Arc::clone(lifetime),
            None => {
                let lifetime = Arc::new(Lifetime::default());
                turns.insert(codex_turn_id.to_owned(), Arc::clone(&lifetime));
                let event = CodexTurnStarted { codex_turn_id: codex_turn_id.into(), thread_id: thread_id.into() };
                recorder.record(&context, &EventPayload::CodexTurnStarted(event), None);
                lifetime
            }
        };
        drop(turns);
        let (thread_id, codex_turn_id) = (thread_id.to_owned(), codex_turn_id.to_owned());
        Self(Some(Arc::new(OpenTurn { recorder, thread_id, codex_turn_id, context, lifetime })))
    }

    /// Returns the id of the turn.
    pub fn codex_turn_id(&self) -> Option<&str> {
        self.0.as_deref().map(|turn| turn.codex_turn_id.as_str())
    }

    /// Records that an item of the model became part of the thread's history.
    pub fn accept_item(&self, item_id: &str) {
        let Some(turn) = &self.0 else { return };
        let event = HistoryItemAccepted { item_id: item_id.into(), agent_message_payload: None };
        turn.record(&EventPayload::HistoryItemAccepted(event), None);
    }

    /// Records that a message from another agent became part of the thread's history. The item's `id` must be `item_id`,
    /// and its type `agent_message`.
    pub fn accept_agent_message(&self, item_id: &str, item: impl IntoBody) {
        let Some(turn) = &self.0 else { return };
        let payload = turn.payload(PayloadKind::ProtocolEvent, item);
        let event = HistoryItemAccepted { item_id: item_id.into(), agent_message_payload: Some(payload.reference()) };
        turn.record(&EventPayload::HistoryItemAccepted(event), Some(payload));
    }

    /// Records a request to the model provider.
    pub fn start_inference(&self, inference: &NewInference<'_>, request: impl IntoBody) -> InferenceTrace {
        let Some(turn) = &self.0 else { return InferenceTrace::disabled() };
        InferenceTrace::start(Arc::clone(turn), inference, request)
    }

    /// Records that a tool call was dispatched.
    pub fn start_tool_call(&self, call: NewToolCall<'_>, invocation: Option<impl IntoBody>) -> ToolTrace {
        let Some(turn) = &self.0 else { return ToolTrace::disabled() };
        ToolTrace::start(Arc::clone(turn), call, invocation)
    }

    /// Records that a code cell started.
    pub fn start_code_cell(&self, cell: &NewCell<'_>) -> CellTrace {
        let Some(turn) = &self.0 else { return CellTrace::disabled() };
        CellTrace::start(Arc::clone(turn), cell)
    }

    /// Records a request for a remote compaction.
    pub fn start_compaction_request(
        &self,
        compaction: &NewCompactionRequest<'_>,
        request: impl IntoBody,
    ) -> CompactionTrace {
        let Some(turn) = &self.0 else { return CompactionTrace::disabled() };
        CompactionTrace::start(Arc::clone(turn), compaction, request)
    }

    /// Records that the thread's history was replaced by a compacted one. The checkpoint contains the histories
    /// before and after.
    pub fn install_compaction(&self, compaction_id: &str, checkpoint: impl IntoBody) {
        let Some(turn) = &self.0 else { return };
        let payload = turn.payload(PayloadKind::CompactionCheckpoint, checkpoint);
        let event =
            CompactionInstalled { compaction_id: compaction_id.into(), checkpoint_payload: payload.reference() };
        turn.record(&EventPayload::CompactionInstalled(event), Some(payload));
    }

    /// Records that the result of this turn was delivered to the parent of its thread.
    pub fn report_result(&self, result: &AgentResult<'_>, carried: Option<impl IntoBody>) {
        let Some(turn) = &self.0 else { return };
        let payload = carried.map(|carried| turn.payload(PayloadKind::AgentResult, carried));
        let event = AgentResultObserved {
            edge_id: result.edge_id.into(),
            child_thread_id: turn.thread_id.as_str().into(),
            child_codex_turn_id: turn.codex_turn_id.as_str().into(),
            parent_thread_id: result.parent_thread_id.into(),
            message: result.message.into(),
            carried_payload: payload.as_ref().map(Payload::reference),
        };
        turn.record(&EventPayload::AgentResultObserved(event), payload);
    }

    /// Records that the turn ended. Only the first call has an effect.
    pub fn end(&self, status: ExecutionStatus) {
        let Some(turn) = &self.0 else { return };
        turn.lifetime.end(|| {
            let event = CodexTurnEnded { codex_turn_id: turn.codex_turn_id.as_str().into(), status };
            turn.record(&EventPayload::CodexTurnEnded(event), None);
        });
    }
}
