//! Second half of a reduction: goes over the events in order and links what ingest read.
//!
//! Each file has the rules of one kind of object, as methods of [`Replay`]. Where the peer refuses a bundle, a rule
//! *reports* it: a strict reduction ends there with an error; a lenient one records a diagnostic and continues with
//! what it has.

mod agents;
mod cells;
mod chains;
mod compaction;
mod conversation;
mod draft;
mod edges;
mod finish;
mod inference;
mod lifecycle;
mod recording;
mod shapes;
mod state;
mod terminals;
mod tools;

use trace_recorder::format::{Event, EventPayload, ExecutionStatus, SchemaVersion};
use trace_recorder::write::GAP_EVENT;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::{Batch, Ingested};
use crate::model::{Handle, Moment, Trace};
pub use draft::Refusal;
use draft::{EventContext, Step, known_rollout_status};
use state::NormIdx;
pub(crate) use state::Replay;

impl Replay {
    /// Applies a batch of events. The batch must follow the last batch.
    pub(crate) fn apply_batch(&mut self, events: &[Event<'_>], batch: Batch) -> Step {
        let Batch { payloads, runs, repointed } = batch;
        let mut repointed = repointed.into_iter().peekable();
        let mut run_starts: Vec<NormIdx> = Vec::with_capacity(runs.len());
        for run in runs {
            run_starts.push(NormIdx::from_index(self.norms.len()));
            for normalized in run {
                self.take_norm(normalized);
            }
        }
        for (index, (event, ingested)) in events.iter().zip(payloads).enumerate() {
            while let Some((_, invocation)) = repointed.next_if(|(event, _)| *event == index) {
                self.repoint_invocations(&event.payload, invocation);
            }
            self.apply(event, ingested, &run_starts)?;
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event<'_>, ingested: Ingested, run_starts: &[NormIdx]) -> Step {
        self.draft.event = EventContext {
            at: Moment { unix_ms: event.wall_time_unix_ms, seq: event.seq },
            thread: event.thread_id.as_deref().map(|id| self.draft.intern(id)),
            turn: event.codex_turn_id.as_deref().map(|id| self.draft.intern(id)),
        };
        self.draft.trace.last_event = self.draft.trace.last_event.max(Some(self.draft.event.at));
        for reference in event.payload.payload_refs() {
            self.draft.register_payload(reference, &ingested);
        }
        self.check_schema(&event.payload)?;
        let is_unread = self.draft.is_v1() && matches!(event.payload, EventPayload::ToolCallRuntimeStarted(_));
        if let Some((field, value)) = event.payload.unknown_value().filter(|_| !is_unread) {
            let message = format!("{} has an unknown {field} `{value}`", event.payload.tag());
            self.draft.odd(Code::UnknownValue, message)?;
        }
        match &event.payload {
            EventPayload::RolloutStarted(e) => {
                self.draft.trace.trace_id = self.draft.intern(&e.trace_id);
                self.draft.trace.root_thread_id = self.draft.intern(&e.root_thread_id);
                Ok(())
            }
            EventPayload::RolloutEnded(e) => {
                self.draft.trace.status = known_rollout_status(e.status);
                self.draft.trace.ended = Some(self.draft.event.at);
                self.draft.trace.run_ends.push(self.draft.event.at);
                Ok(())
            }
            EventPayload::ThreadStarted(e) => self.thread_started(e, ingested),
            EventPayload::ThreadEnded(e) => self.thread_ended(e),
            EventPayload::ThreadResumed(e) => self.thread_resumed(e),
            EventPayload::CodexTurnStarted(e) => self.turn_started(e),
            EventPayload::CodexTurnEnded(e) => self.turn_ended(e),
            EventPayload::HistoryItemAccepted(e) => self.history_item_accepted(e, ingested),
            EventPayload::InferenceStarted(e) => self.inference_started(e, ingested, run_starts),
            EventPayload::InferenceCompleted(e) => self.inference_ended(
                &e.inference_call_id,
                ExecutionStatus::Completed,
                e.response_id.as_deref(),
                e.upstream_request_id.as_deref(),
                Some(&e.response_payload),
                None,
                ingested,
            ),
            EventPayload::InferenceFailed(e) => self.inference_ended(
                &e.inference_call_id,
                ExecutionStatus::Failed,
                None,
                e.upstream_request_id.as_deref(),
                e.partial_response_payload.as_ref(),
                Some(&e.error),
                ingested,
            ),
            EventPayload::InferenceCancelled(e) => self.inference_ended(
                &e.inference_call_id,
                ExecutionStatus::Cancelled,
                None,
                e.upstream_request_id.as_deref(),
                e.partial_response_payload.as_ref(),
                Some(&e.reason),
                ingested,
            ),
            EventPayload::ToolCallStarted(e) => self.tool_started(e, ingested),
            EventPayload::McpToolCallCorrelationAssigned(e) => self.mcp_correlated(e),
            EventPayload::StdinTargetResolved(e) => self.stdin_target_resolved(e),
            EventPayload::ToolCallRuntimeStarted(e) => self.tool_runtime_started(e, ingested),
            EventPayload::ToolCallRuntimeEnded(e) => self.tool_runtime_ended(e, ingested),
            EventPayload::ToolCallEnded(e) => self.tool_ended(e, ingested),
            EventPayload::CodeCellStarted(e) => self.cell_started(e),
            EventPayload::CodeCellInitialResponse(e) => {
                self.cell_event(&e.runtime_cell_id, e.status, e.response_payload.as_ref(), false)
            }
            EventPayload::CodeCellEnded(e) => {
                self.cell_event(&e.runtime_cell_id, e.status, e.response_payload.as_ref(), true)
            }
            EventPayload::CompactionRequestStarted(e) => self.compaction_request_started(e),
            EventPayload::CompactionRequestCompleted(e) => {
                let payload = Some(&e.response_payload);
                self.compaction_request_ended(&e.compaction_id, &e.compaction_request_id, payload, None)
            }
            EventPayload::CompactionRequestFailed(e) => {
                let error = Some(&*e.error);
                self.compaction_request_ended(&e.compaction_id, &e.compaction_request_id, None, error)
            }
            EventPayload::CompactionInstalled(e) => self.compaction_installed(e, ingested),
            EventPayload::AgentResultObserved(e) => {
                let Self { draft, edges, answers_by_turn, .. } = self;
                agents::result_observed(draft, edges, e, |draft, child, turn| {
                    conversation::last_answer(draft, answers_by_turn, child, turn)
                })
            }
            // The reducer handles it, because it knows whether the line is complete.
            EventPayload::RecordingCompleted(_) => Ok(()),
            EventPayload::ProtocolEventObserved(e) if e.event_type == GAP_EVENT => {
                self.recording_gap(ingested);
                Ok(())
            }
            EventPayload::ProtocolEventObserved(e) => self.protocol_event(e, ingested),
            EventPayload::Other(e) => {
                let message = format!("the event `other` ({}) is reserved by the format; it is passed over", e.kind);
                self.draft.odd(Code::ReservedEvent, message)
            }
            EventPayload::Unknown(e) => {
                let message = format!("the event `{}` is not known to this version; it is passed over", e.tag);
                self.draft.odd(Code::UnknownEvent, message)
            }
        }
    }

    /// Reports events and fields that do not fit the schema version of the bundle.
    fn check_schema(&mut self, payload: &EventPayload<'_>) -> Step {
        if payload.is_of_schema(if self.draft.is_v1() { SchemaVersion::V1 } else { SchemaVersion::V2 }) {
            return Ok(());
        }
        let message = if self.draft.is_v1() {
            format!("the event `{}` does not belong to schema 1", payload.tag())
        } else {
            "the runtime start has no `kind`; the kind of the call is kept".to_owned()
        };
        self.draft.odd(Code::EventOfOtherSchema, message)
    }

    /// Returns the graph so far.
    pub(crate) fn trace(&self) -> &Trace {
        &self.draft.trace
    }

    /// Returns the graph so far, for changes.
    pub(crate) fn trace_mut(&mut self) -> &mut Trace {
        &mut self.draft.trace
    }

    /// Returns the diagnostics so far.
    pub(crate) fn diagnostics(&self) -> &Diagnostics {
        &self.draft.diagnostics
    }

    /// Reports a problem of the log as a whole. Returns an error if the reduction is strict.
    pub(crate) fn note(&mut self, diagnostic: Diagnostic) -> Step {
        self.draft.report(diagnostic)
    }

    /// Adds a diagnostic about something that the peer accepts.
    pub(crate) fn remark(&mut self, diagnostic: Diagnostic) {
        self.draft.remark(diagnostic);
    }

    /// Records that the recorder closed the log.
    pub(crate) fn set_recording_complete(&mut self) {
        self.draft.trace.recording_complete = true;
    }

    /// Sets whether the reduction is strict from now on.
    pub(crate) fn set_strict(&mut self, strict: bool) {
        self.draft.strict = strict;
    }

    /// Returns whether the reduction is strict.
    pub(crate) fn is_strict(&self) -> bool {
        self.draft.strict
    }
}
