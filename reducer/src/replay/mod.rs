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
mod finish;
mod inference;
mod lifecycle;
mod recording;
mod shapes;
mod state;
mod terminals;
mod tools;

use trace_recorder::format::{Event, EventPayload, ExecutionStatus, PayloadRef, SchemaVersion};
use trace_recorder::write::GAP_EVENT;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::{Batch, Ingested};
use crate::model::{Moment, RawPayload, Trace};
pub use state::Refusal;
pub(crate) use state::Replay;
use state::{Context, NormIdx, PayloadState, Step, describe_problem, known_rollout_status};

impl Replay {
    /// Applies a batch of events. The batch must follow the last batch.
    pub(crate) fn apply_batch(&mut self, events: &[Event<'_>], batch: Batch) -> Step {
        let Batch { payloads, runs, repointed } = batch;
        let mut repointed = repointed.into_iter().peekable();
        let mut run_starts: Vec<NormIdx> = Vec::with_capacity(runs.len());
        for run in runs {
            run_starts.push(self.norms.len() as NormIdx);
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
        let context = Context {
            at: Moment { unix_ms: event.wall_time_unix_ms, seq: event.seq },
            thread: event.thread_id.as_deref().map(|id| self.intern(id)),
            turn: event.codex_turn_id.as_deref().map(|id| self.intern(id)),
        };
        self.trace.last_event = self.trace.last_event.max(Some(context.at));
        for reference in event.payload.payload_refs() {
            self.register_payload(context, reference, &ingested);
        }
        self.check_schema(context, &event.payload)?;
        let is_unread = self.is_v1() && matches!(event.payload, EventPayload::ToolCallRuntimeStarted(_));
        if let Some((field, value)) = event.payload.unknown_value().filter(|_| !is_unread) {
            let message = format!("{} has an unknown {field} `{value}`", event.payload.tag());
            self.odd(context, Code::UnknownValue, message)?;
        }
        match &event.payload {
            EventPayload::RolloutStarted(e) => {
                self.trace.trace_id = self.intern(&e.trace_id);
                self.trace.root_thread_id = self.intern(&e.root_thread_id);
                Ok(())
            }
            EventPayload::RolloutEnded(e) => {
                self.trace.status = known_rollout_status(e.status);
                self.trace.ended = Some(context.at);
                self.trace.run_ends.push(context.at);
                Ok(())
            }
            EventPayload::ThreadStarted(e) => self.thread_started(context, e, ingested),
            EventPayload::ThreadEnded(e) => self.thread_ended(context, e),
            EventPayload::ThreadResumed(e) => self.thread_resumed(context, e),
            EventPayload::CodexTurnStarted(e) => self.turn_started(context, e),
            EventPayload::CodexTurnEnded(e) => self.turn_ended(context, e),
            EventPayload::HistoryItemAccepted(e) => self.history_item_accepted(context, e, ingested),
            EventPayload::InferenceStarted(e) => self.inference_started(context, e, ingested, run_starts),
            EventPayload::InferenceCompleted(e) => self.inference_ended(
                context,
                &e.inference_call_id,
                ExecutionStatus::Completed,
                e.response_id.as_deref(),
                e.upstream_request_id.as_deref(),
                Some(&e.response_payload),
                None,
                ingested,
            ),
            EventPayload::InferenceFailed(e) => self.inference_ended(
                context,
                &e.inference_call_id,
                ExecutionStatus::Failed,
                None,
                e.upstream_request_id.as_deref(),
                e.partial_response_payload.as_ref(),
                Some(&e.error),
                ingested,
            ),
            EventPayload::InferenceCancelled(e) => self.inference_ended(
                context,
                &e.inference_call_id,
                ExecutionStatus::Cancelled,
                None,
                e.upstream_request_id.as_deref(),
                e.partial_response_payload.as_ref(),
                Some(&e.reason),
                ingested,
            ),
            EventPayload::ToolCallStarted(e) => self.tool_started(context, e, ingested),
            EventPayload::McpToolCallCorrelationAssigned(e) => self.mcp_correlated(context, e),
            EventPayload::StdinTargetResolved(e) => self.stdin_target_resolved(context, e),
            EventPayload::ToolCallRuntimeStarted(e) => self.tool_runtime_started(context, e, ingested),
            EventPayload::ToolCallRuntimeEnded(e) => self.tool_runtime_ended(context, e, ingested),
            EventPayload::ToolCallEnded(e) => self.tool_ended(context, e, ingested),
            EventPayload::CodeCellStarted(e) => self.cell_started(context, e),
            EventPayload::CodeCellInitialResponse(e) => {
                self.cell_event(context, &e.runtime_cell_id, e.status, e.response_payload.as_ref(), false)
            }
            EventPayload::CodeCellEnded(e) => {
                self.cell_event(context, &e.runtime_cell_id, e.status, e.response_payload.as_ref(), true)
            }
            EventPayload::CompactionRequestStarted(e) => self.compaction_request_started(context, e),
            EventPayload::CompactionRequestCompleted(e) => {
                let payload = Some(&e.response_payload);
                self.compaction_request_ended(context, &e.compaction_id, &e.compaction_request_id, payload, None)
            }
            EventPayload::CompactionRequestFailed(e) => {
                let error = Some(&*e.error);
                self.compaction_request_ended(context, &e.compaction_id, &e.compaction_request_id, None, error)
            }
            EventPayload::CompactionInstalled(e) => self.compaction_installed(context, e, ingested),
            EventPayload::AgentResultObserved(e) => self.agent_result_observed(context, e),
            // The reducer handles it, because it knows whether the line is complete.
            EventPayload::RecordingCompleted(_) => Ok(()),
            EventPayload::ProtocolEventObserved(e) if e.event_type == GAP_EVENT => {
                self.recording_gap(context, ingested);
                Ok(())
            }
            EventPayload::ProtocolEventObserved(e) => self.protocol_event(context, e, ingested),
            EventPayload::Other(e) => {
                let message = format!("the event `other` ({}) is reserved by the format; it is passed over", e.kind);
                self.odd(context, Code::ReservedEvent, message)
            }
            EventPayload::Unknown(e) => {
                let message = format!("the event `{}` is not known to this version; it is passed over", e.tag);
                self.odd(context, Code::UnknownEvent, message)
            }
        }
    }

    /// Reports events and fields that do not fit the schema version of the bundle.
    fn check_schema(&mut self, context: Context, payload: &EventPayload<'_>) -> Step {
        if payload.is_of_schema(if self.is_v1() { SchemaVersion::V1 } else { SchemaVersion::V2 }) {
            return Ok(());
        }
        let message = if self.is_v1() {
            format!("the event `{}` does not belong to schema 1", payload.tag())
        } else {
            "the runtime start has no `kind`; the kind of the call is kept".to_owned()
        };
        self.odd(context, Code::EventOfOtherSchema, message)
    }

    fn register_payload(&mut self, context: Context, reference: &PayloadRef<'_>, ingested: &Ingested) {
        let id = self.intern(&reference.raw_payload_id);
        let raw = RawPayload { id, kind: self.intern(reference.kind.tag()), path: self.intern(&reference.path) };
        let problem = match ingested {
            Ingested::Failed(failure) if failure.is_broken => Some(describe_problem(&failure.problem)),
            _ => None,
        };
        let state = PayloadState { problem, seq: context.at.seq, reported: false };
        if let Some(index) = self.payloads_by_id.get(&id).copied() {
            self.trace.payloads[index] = raw;
            self.payloads[index] = state;
        } else {
            let index = self.trace.payloads.push(raw);
            self.payloads.push(state);
            self.payloads_by_id.insert(id, index);
        }
    }

    /// Returns the graph so far.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the graph so far, for changes.
    pub(crate) fn trace_mut(&mut self) -> &mut Trace {
        &mut self.trace
    }

    /// Returns the diagnostics so far.
    pub(crate) fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Reports a problem of the log as a whole. Returns an error if the reduction is strict.
    pub(crate) fn note(&mut self, diagnostic: Diagnostic) -> Step {
        self.report(diagnostic)
    }

    /// Adds a diagnostic about something that the peer accepts.
    pub(crate) fn remark(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Records that the recorder closed the log.
    pub(crate) fn set_recording_complete(&mut self) {
        self.trace.recording_complete = true;
    }

    /// Sets whether the reduction is strict from now on.
    pub(crate) fn set_strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    /// Returns whether the reduction is strict.
    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }
}
