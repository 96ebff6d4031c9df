//! The events of the log as rows.

use std::ops::Range;

use trace_recorder::format::{Event, EventPayload};
use trace_recorder::log::Line;

/// One event of the log.
#[derive(Debug)]
pub(crate) struct EventRow {
    pub(crate) seq: u64,
    pub(crate) line: u64,
    pub(crate) at_unix_ms: i64,
    pub(crate) event_type: Box<str>,
    pub(crate) thread_id: Option<Box<str>>,
    pub(crate) turn_id: Option<Box<str>>,
    /// Type and id of the object that the event is about.
    pub(crate) object: Option<(&'static str, Box<str>)>,
    pub(crate) payload_id: Option<Box<str>>,
    /// Byte range of the line in the log.
    pub(crate) range: Range<usize>,
}

impl EventRow {
    pub(crate) fn new(line: Line<'_>, event: &Event<'_>) -> Self {
        let start = usize::try_from(line.offset).unwrap_or(usize::MAX);
        let (thread_id, turn_id) = context(&event.payload);
        let owned = |text: &str| Box::<str>::from(text);
        Self {
            seq: event.seq,
            line: line.number,
            at_unix_ms: event.wall_time_unix_ms,
            event_type: event.payload.tag().into(),
            thread_id: event.thread_id.as_ref().map(|id| id.as_str()).or(thread_id).map(owned),
            turn_id: event.codex_turn_id.as_ref().map(|id| id.as_str()).or(turn_id).map(owned),
            object: object(&event.payload).map(|(kind, id)| (kind, id.into())),
            payload_id: event.payload.payload_refs().first().map(|payload| payload.raw_payload_id.as_str().into()),
            range: start..start.saturating_add(line.bytes.len()),
        }
    }
}

/// Returns the thread and the turn in the payload of an event, for events whose envelope names none.
fn context<'e>(payload: &'e EventPayload<'_>) -> (Option<&'e str>, Option<&'e str>) {
    match payload {
        EventPayload::RolloutStarted(event) => (Some(event.root_thread_id.as_str()), None),
        EventPayload::ThreadStarted(event) => (Some(event.thread_id.as_str()), None),
        EventPayload::ThreadEnded(event) => (Some(event.thread_id.as_str()), None),
        EventPayload::ThreadResumed(event) => (Some(event.thread_id.as_str()), None),
        EventPayload::CodexTurnStarted(event) => (Some(event.thread_id.as_str()), Some(event.codex_turn_id.as_str())),
        EventPayload::CodexTurnEnded(event) => (None, Some(event.codex_turn_id.as_str())),
        EventPayload::InferenceStarted(event) => (Some(event.thread_id.as_str()), Some(event.codex_turn_id.as_str())),
        EventPayload::CompactionRequestStarted(event) => {
            (Some(event.thread_id.as_str()), Some(event.codex_turn_id.as_str()))
        }
        EventPayload::AgentResultObserved(event) => {
            (Some(event.child_thread_id.as_str()), Some(event.child_codex_turn_id.as_str()))
        }
        _ => (None, None),
    }
}

/// Returns type and id of the object that an event is about. The id is the one in the event.
fn object<'e>(payload: &'e EventPayload<'_>) -> Option<(&'static str, &'e str)> {
    Some(match payload {
        EventPayload::ThreadStarted(event) => ("thread", event.thread_id.as_str()),
        EventPayload::ThreadEnded(event) => ("thread", event.thread_id.as_str()),
        EventPayload::ThreadResumed(event) => ("thread", event.thread_id.as_str()),
        EventPayload::CodexTurnStarted(event) => ("codex_turn", event.codex_turn_id.as_str()),
        EventPayload::CodexTurnEnded(event) => ("codex_turn", event.codex_turn_id.as_str()),
        EventPayload::HistoryItemAccepted(event) => ("responses_item", event.item_id.as_str()),
        EventPayload::InferenceStarted(event) => ("inference_call", event.inference_call_id.as_str()),
        EventPayload::InferenceCompleted(event) => ("inference_call", event.inference_call_id.as_str()),
        EventPayload::InferenceFailed(event) => ("inference_call", event.inference_call_id.as_str()),
        EventPayload::InferenceCancelled(event) => ("inference_call", event.inference_call_id.as_str()),
        EventPayload::ToolCallStarted(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::McpToolCallCorrelationAssigned(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::StdinTargetResolved(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::ToolCallRuntimeStarted(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::ToolCallRuntimeEnded(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::ToolCallEnded(event) => ("tool_call", event.tool_call_id.as_str()),
        EventPayload::CodeCellStarted(event) => ("runtime_cell", event.runtime_cell_id.as_str()),
        EventPayload::CodeCellInitialResponse(event) => ("runtime_cell", event.runtime_cell_id.as_str()),
        EventPayload::CodeCellEnded(event) => ("runtime_cell", event.runtime_cell_id.as_str()),
        EventPayload::CompactionRequestStarted(event) => ("compaction_request", event.compaction_request_id.as_str()),
        EventPayload::CompactionRequestCompleted(event) => ("compaction_request", event.compaction_request_id.as_str()),
        EventPayload::CompactionRequestFailed(event) => ("compaction_request", event.compaction_request_id.as_str()),
        EventPayload::CompactionInstalled(event) => ("compaction", event.compaction_id.as_str()),
        EventPayload::AgentResultObserved(event) => ("interaction_edge", event.edge_id.as_str()),
        EventPayload::RolloutStarted(_)
        | EventPayload::RolloutEnded(_)
        | EventPayload::RecordingCompleted(_)
        | EventPayload::ProtocolEventObserved(_)
        | EventPayload::Other(_)
        | EventPayload::Unknown(_) => return None,
    })
}
