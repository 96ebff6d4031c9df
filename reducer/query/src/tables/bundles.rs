//! `bundles`.

use trace_recorder::format::ImportNote;
use trace_reducer::Severity;

use crate::table::table;

table! {
    BUNDLES = "bundles", "One bundle, and its session as a whole.";
    index ["bundle_id"];
    rows |_, take| take(&());
    each (s, _key: ()) trace = s.trace;
    path Text "Path of the bundle as it was given." = s.session.bundle().path().to_string_lossy();
    schema_version Integer "Schema of the bundle." = trace.schema_version.0;
    trace_id Text "Id of the trace." = s.text(trace.trace_id);
    rollout_id Text "Id of the rollout." = s.text(trace.rollout_id);
    root_thread_id Text "Id of the first thread." = s.text(trace.root_thread_id);
    status Text "Status of the session: `running` (no end in the log), `completed`, `failed`, `aborted`."
        = trace.status.as_str();
    recording_complete Integer "1 if the recorder closed the log." = trace.recording_complete;
    started_at_unix_ms Integer "Start of the session." = trace.started_at_unix_ms;
    ended_at_unix_ms Integer "End of the session; null if the log has none." = trace.ended.map(|ended| ended.unix_ms);
    last_event_at_unix_ms Integer "Time of the last event." = trace.last_event.map(|last| last.unix_ms);
    last_seq Integer "Sequence number of the last event." = trace.last_event.map(|last| last.seq);
    duration_ms Integer "From the start to the end, or to the last event if the log has no end."
        = trace.ended.or(trace.last_event).map(|end| s.at(end.seq));
    threads Integer "Number of threads." = trace.threads.len();
    turns Integer "Number of turns." = trace.turns.len();
    inference_calls Integer "Number of inference calls." = trace.inferences.len();
    items Integer "Number of conversation items." = trace.items.len();
    tool_calls Integer "Number of tool calls." = trace.tools.len();
    payloads Integer "Number of payloads that events refer to." = trace.payloads.len();
    errors Integer "Number of diagnostics that are errors." = s.session.diagnostics().count_at_least(Severity::Error);
    imported_from Text "Format of the files that the session was imported from, such as `claude-code`; null for a recording."
        = s.session.bundle().import().map(|record| record.format.as_str());
    agent_version Text "Version of the agent that stored an imported session."
        = s.session.bundle().import().and_then(|record| record.agent_version.as_deref());
    warnings Integer "Number of diagnostics that are warnings."
        = s.session.diagnostics().count_at_least(Severity::Warning)
            - s.session.diagnostics().count_at_least(Severity::Error);
}

table! {
    IMPORT_NOTES = "import_notes", "What was rebuilt in an imported session, what its files do not tell, and what was not \
                                    understood: one row per code.";
    index ["bundle_id"];
    rows |s, take| s.session.bundle().import().into_iter().flat_map(|record| &record.notes).try_for_each(take);
    each (s, key: ImportNote) note = key;
    code Text "Kind of the note; docs/import.md lists them." = note.code.as_str();
    message Text "What it means." = note.message.as_str();
    count Integer "How often it applies." = note.count;
    file Text "File of the first place to which it applies; null if it applies to the whole session."
        = note.first.and_then(|place| s.session.bundle().import()?.path(place));
    line Integer "Line of that place." = note.first.map(|place| place.line);
}
