//! `events`, `protocol_events`, `payloads` and `diagnostics`.

use trace_reducer::Diagnostic;
use trace_reducer::model::{PayloadIdx, ProtocolEvent};

use crate::events::EventRow;
use crate::table::table;

table! {
    EVENTS = "events", "One event of the log, in the order of the lines. Lines that are not events are in `diagnostics`.";
    index ["seq"];
    rows |s, take| s.each_event(take);
    each (s, key: EventRow) event = key;
    seq Integer "Sequence number of the event." = event.seq;
    line Integer "Number of its line, from 1." = event.line;
    at_unix_ms Integer "When it was recorded." = event.at_unix_ms;
    type Text "Type of the event, such as `tool_call_ended`." = &*event.event_type;
    thread_id Text "Its thread, as the event names it." = event.thread_id.as_deref();
    turn_id Text "Its turn, as the event names it." = event.turn_id.as_deref();
    object_type Text "Type of the object that it is about: `thread`, `codex_turn`, `inference_call`, `tool_call`, \
                      `compaction`, `compaction_request`, `interaction_edge`; or `runtime_cell` and `responses_item`, \
                      whose ids are those of `code_cells.runtime_cell_id` and `items.responses_item_id`."
        = event.object.as_ref().map(|(kind, _)| *kind);
    object_id Text "Id of the object that it is about, as the event names it." = event.object.as_ref().map(|(_, id)| &**id);
    payload_id Text "The first payload that it refers to." = event.payload_id.as_deref();
    source_file Text "Of an imported session: the file that the event comes from."
        = s.session.source_of_event(event.seq).map(|source| source.file);
    source_line Integer "The line in that file, or the number of the record if the file has no lines."
        = s.session.source_of_event(event.seq).map(|source| source.line);
    json Text "The whole line. `json ->> '$.payload.error'` reads a field." = s.line(event);
}

table! {
    PROTOCOL_EVENTS = "protocol_events", "One event of the client protocol, such as `error` or `turn_aborted`.";
    index ["seq"];
    rows |s, take| s.trace.protocol_events.iter().try_for_each(take);
    each (s, key: ProtocolEvent) event = key;
    seq Integer "Sequence number of the event that observed it." = event.at.seq;
    at_unix_ms Integer "When it was observed." = event.at.unix_ms;
    event_type Text "Its type." = s.text(event.event_type);
    payload_id Text "Its content, `payload(bundle_id, payload_id)`." = s.text(s.trace.payloads[event.payload].id);
}

table! {
    PAYLOADS = "payloads", "One payload that events refer to. `payload(bundle_id, payload_id)` has its JSON.";
    index ["payload_id"];
    rows |s, take| s.trace.payloads.handles().try_for_each(|payload| take(&payload));
    each (s, key: PayloadIdx) payload = &s.trace.payloads[*key];
    payload_id Text "Id of the payload." = s.text(payload.id);
    kind Text "Kind of its content, as the recorder wrote it, such as `inference_request`." = s.text(payload.kind);
    path Text "Path of its file, relative to the bundle." = s.text(payload.path);
    bytes Integer "Size of its file; null if it is missing." = s.payload_bytes(*key);
    seq Integer "Sequence number of the first event that refers to it." = s.payload_seq(*key);
}

table! {
    DIAGNOSTICS = "diagnostics", "One diagnostic of the reduction; the first hundred of each code.";
    index ["bundle_id"];
    rows |s, take| s.session.diagnostics().into_iter().try_for_each(take);
    each (s, key: Diagnostic) diagnostic = key;
    severity Text "`error`, `warning` or `note`." = diagnostic.severity().as_str();
    code Text "Kind of the diagnostic; the names are stable." = diagnostic.code.as_str();
    seq Integer "Sequence number of the event that it is about." = diagnostic.seq;
    line Integer "The line of the log that it is about, if the line is not an event." = diagnostic.line;
    payload_id Text "The payload that it is about." = diagnostic.payload_id.as_deref();
    message Text "One sentence that describes it." = &*diagnostic.message;
}
