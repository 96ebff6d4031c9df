//! Second half of a reduction: goes over the events in order and links what ingest read.
//!
//! [`Replay::apply`] hands each event to the part that owns it, and the part writes into the [`Draft`] of the graph. A
//! part owns the state of one kind of object and calls only parts that do not call it; `ARCHITECTURE.md` has the table.
//! Where the peer refuses a bundle, a rule *reports* it: a strict reduction ends there with an error; a lenient one
//! records a diagnostic and continues with what it has.

mod agents;
mod cells;
mod chains;
mod compaction;
mod conversation;
mod draft;
mod edges;
mod inference;
mod items;
mod lifecycle;
mod recording;
mod search;
mod terminals;
mod tools;

use trace_recorder::format::{Event, EventPayload, Manifest, SchemaVersion};
use trace_recorder::recording::Stopped;
use trace_recorder::write::GAP_EVENT;

use self::cells::Cells;
use self::compaction::Compactions;
use self::conversation::Conversation;
pub use self::draft::Refusal;
use self::draft::{Draft, EventContext, Step};
use self::edges::Edges;
use self::inference::Inferences;
use self::items::{Items, NormIdx};
use self::terminals::Terminals;
use self::tools::Tools;
use crate::diagnostic::{Code, Diagnostics};
use crate::ingest::{Batch, Ingested};
use crate::model::{Handle, Moment, Trace};

/// The second half of a reduction.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(crate) draft: Draft,
    items: Items,
    terminals: Terminals,
    cells: Cells,
    edges: Edges,
    tools: Tools,
    inferences: Inferences,
    compactions: Compactions,
}

impl Replay {
    pub(crate) fn new(schema: SchemaVersion, manifest: &Manifest, strict: bool) -> Self {
        Self {
            draft: Draft::new(schema, manifest, strict),
            items: Items::default(),
            terminals: Terminals::default(),
            cells: Cells::default(),
            edges: Edges::default(),
            tools: Tools::default(),
            inferences: Inferences::default(),
            compactions: Compactions::default(),
        }
    }

    /// Applies a batch of events. The batch must follow the last batch.
    pub(crate) fn apply_batch(&mut self, events: &[Event<'_>], batch: Batch) -> Step {
        let Batch { payloads, runs, repointed } = batch;
        let mut repointed = repointed.into_iter().peekable();
        let mut run_starts: Vec<NormIdx> = Vec::with_capacity(runs.len());
        for run in runs {
            run_starts.push(NormIdx::from_index(self.items.norms.len()));
            for normalized in run {
                self.items.take_norm(&mut self.draft, normalized);
            }
        }
        for (index, (event, ingested)) in events.iter().zip(payloads).enumerate() {
            while let Some((_, invocation)) = repointed.next_if(|(event, _)| *event == index) {
                self.tools.repoint_invocations(&mut self.draft, &event.payload, invocation);
            }
            self.begin_event(event, &ingested)?;
            self.apply(&event.payload, ingested, &run_starts)?;
        }
        Ok(())
    }

    /// Makes an event the current one, with the payloads that it names, and reports what does not fit its format.
    fn begin_event(&mut self, event: &Event<'_>, ingested: &Ingested) -> Step {
        let draft = &mut self.draft;
        let EventContext { thread, turn, .. } = draft.event;
        draft.event = EventContext {
            at: Moment { unix_ms: event.wall_time_unix_ms, seq: event.seq },
            thread: event.thread_id.as_deref().map(|id| draft.intern_again(thread, id)),
            turn: event.codex_turn_id.as_deref().map(|id| draft.intern_again(turn, id)),
        };
        draft.trace.last_event = draft.trace.last_event.max(Some(draft.event.at));
        for reference in event.payload.payload_refs() {
            draft.register_payload(reference, ingested);
        }
        check_schema(draft, &event.payload)?;
        let is_unread = draft.is_v1() && matches!(event.payload, EventPayload::ToolCallRuntimeStarted(_));
        if let Some((field, value)) = event.payload.unknown_value().filter(|_| !is_unread) {
            let message = format!("{} has an unknown {field} `{value}`", event.payload.tag());
            draft.odd(Code::UnknownValue, message)?;
        }
        Ok(())
    }

    /// Hands the current event to the part that owns it.
    fn apply(&mut self, payload: &EventPayload<'_>, ingested: Ingested, run_starts: &[NormIdx]) -> Step {
        let Self { draft, items, terminals, cells, edges, tools, inferences, compactions } = self;
        match payload {
            EventPayload::RolloutStarted(e) => lifecycle::rollout_started(draft, e),
            EventPayload::RolloutEnded(e) => lifecycle::rollout_ended(draft, e),
            EventPayload::ThreadStarted(e) => lifecycle::thread_started(draft, edges, e, ingested)?,
            EventPayload::ThreadEnded(e) => lifecycle::thread_ended(draft, e)?,
            EventPayload::ThreadResumed(e) => lifecycle::thread_resumed(draft, cells, terminals, e)?,
            EventPayload::CodexTurnStarted(e) => lifecycle::turn_started(draft, e)?,
            EventPayload::CodexTurnEnded(e) => lifecycle::turn_ended(draft, inferences, cells, e)?,
            EventPayload::HistoryItemAccepted(e) => {
                Conversation { items, tools, cells, edges }.item_accepted(draft, e, ingested)?;
            }
            EventPayload::InferenceStarted(e) => {
                let mut conversation = Conversation { items, tools, cells, edges };
                inferences.started(draft, &mut conversation, e, ingested, run_starts)?;
            }
            EventPayload::InferenceCompleted(e) => {
                inferences.ended(draft, &mut Conversation { items, tools, cells, edges }, e.into(), ingested)?;
            }
            EventPayload::InferenceFailed(e) => {
                inferences.ended(draft, &mut Conversation { items, tools, cells, edges }, e.into(), ingested)?;
            }
            EventPayload::InferenceCancelled(e) => {
                inferences.ended(draft, &mut Conversation { items, tools, cells, edges }, e.into(), ingested)?;
            }
            EventPayload::ToolCallStarted(e) => tools.started(draft, items, cells, terminals, e, ingested)?,
            EventPayload::McpToolCallCorrelationAssigned(e) => tools.mcp_correlated(draft, items, e)?,
            EventPayload::StdinTargetResolved(e) => tools.stdin_target_resolved(draft, items, terminals, e)?,
            EventPayload::ToolCallRuntimeStarted(e) => {
                tools.runtime_started(draft, items, terminals, edges, e, ingested)?;
            }
            EventPayload::ToolCallRuntimeEnded(e) => {
                tools.runtime_ended(draft, items, terminals, edges, e, ingested)?;
            }
            EventPayload::ToolCallEnded(e) => tools.ended(draft, items, terminals, edges, e, ingested)?,
            EventPayload::CodeCellStarted(e) => cells.started(draft, items, e)?,
            EventPayload::CodeCellInitialResponse(e) => cells.first_response(draft, e)?,
            EventPayload::CodeCellEnded(e) => cells.ended(draft, e)?,
            EventPayload::CompactionRequestStarted(e) => compactions.request_started(draft, e)?,
            EventPayload::CompactionRequestCompleted(e) => compactions.request_completed(draft, e)?,
            EventPayload::CompactionRequestFailed(e) => compactions.request_failed(draft, e)?,
            EventPayload::CompactionInstalled(e) => {
                compactions.installed(draft, &mut Conversation { items, tools, cells, edges }, e, ingested)?;
            }
            EventPayload::AgentResultObserved(e) => agents::result_observed(draft, items, edges, e)?,
            // The reducer handles it, because it knows whether the line is complete.
            EventPayload::RecordingCompleted(_) => {}
            EventPayload::ProtocolEventObserved(e) if e.event_type == GAP_EVENT => recording::gap(draft, ingested),
            EventPayload::ProtocolEventObserved(e) => lifecycle::protocol_event(draft, e, ingested),
            EventPayload::Other(e) => {
                let message = format!("the event `other` ({}) is reserved by the format; it is passed over", e.kind);
                draft.odd(Code::ReservedEvent, message)?;
            }
            EventPayload::Unknown(e) => {
                let message = format!("the event `{}` is not known to this version; it is passed over", e.tag);
                draft.odd(Code::UnknownEvent, message)?;
            }
        }
        Ok(())
    }

    /// Finishes the reduction: applies what only the whole log can decide.
    pub(crate) fn finish(self) -> Step<(Trace, Diagnostics)> {
        let Self { mut draft, items, cells, mut edges, .. } = self;
        draft.check_payloads()?;
        edges.settle_pending(&mut draft)?;
        edges.remark_undelivered(&mut draft);
        recording::remark_end(&mut draft);
        cells.remark_queued(&mut draft);
        if !draft.is_v1() {
            items.mark_accepted(&mut draft);
            cells.link_started(&mut draft);
            items.filter_thread_items(&mut draft);
        }
        Ok((draft.trace, draft.diagnostics))
    }

    /// Adds a diagnostic if the recorder stopped before the session ended.
    pub(crate) fn recording_stopped(&mut self, stopped: &Stopped) {
        recording::stopped(&mut self.draft, stopped);
    }
}

/// Reports events and fields that do not fit the schema version of the bundle.
fn check_schema(draft: &mut Draft, payload: &EventPayload<'_>) -> Step {
    if payload.is_of_schema(if draft.is_v1() { SchemaVersion::V1 } else { SchemaVersion::V2 }) {
        return Ok(());
    }
    let message = if draft.is_v1() {
        format!("the event `{}` does not belong to schema 1", payload.tag())
    } else {
        "the runtime start has no `kind`; the kind of the call is kept".to_owned()
    };
    draft.odd(Code::EventOfOtherSchema, message)
}
