//! `compactions` and `compaction_requests`.

use trace_explain::object::item_id;
use trace_reducer::model::{CompactionIdx, CompactionRequestIdx, InferenceIdx};

use crate::source::Source;
use crate::table::{ended, ended_seq, table};

fn input_tokens(source: &Source<'_>, call: Option<InferenceIdx>) -> Option<u64> {
    Some(source.trace.inferences[call?].usage?.input_tokens)
}

fn bytes(source: &Source<'_>, items: &[trace_reducer::model::ItemIdx]) -> usize {
    let parts = items.iter().flat_map(|item| source.trace.items[*item].parts.iter());
    parts.filter_map(super::conversation::text).map(str::len).sum()
}

table! {
    COMPACTIONS = "compactions", "The replacement of a thread's history by a compacted one.";
    index ["compaction_id"];
    rows |s, take| s.trace.compactions.handles().try_for_each(|compaction| take(&compaction));
    each (s, key: CompactionIdx) compaction = &s.trace.compactions[*key];
    compaction_id Text "Id of the compaction." = s.text(compaction.id);
    thread_id Text "Its thread." = s.thread_id(compaction.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(compaction.thread);
    turn_id Text "Its turn." = s.turn_id(compaction.turn);
    installed_at_unix_ms Integer "When the new history was installed." = compaction.installed.unix_ms;
    installed_seq Integer "Sequence number of the event that installed it." = compaction.installed.seq;
    marker_item_id Text "The item that marks its place in the conversation." = item_id(compaction.marker_item);
    input_items Integer "Number of items before the compaction." = compaction.input_items.len();
    replacement_items Integer "Number of items after the compaction." = compaction.replacement_items.len();
    input_text_bytes Integer "Bytes of text of the items before the compaction." = bytes(s, &compaction.input_items);
    replacement_text_bytes Integer "Bytes of text of the items after the compaction." = bytes(s, &compaction.replacement_items);
    tokens_before Integer "Input tokens of the thread's last inference call before the compaction."
        = input_tokens(s, s.calls_around(compaction.thread, compaction.installed).0);
    tokens_after Integer "Input tokens of the thread's first inference call after the compaction."
        = input_tokens(s, s.calls_around(compaction.thread, compaction.installed).1);
    requests Integer "Number of remote requests that produced it." = compaction.requests.len();
}

table! {
    COMPACTION_REQUESTS = "compaction_requests", "A request for a remote compaction. The compaction need not have been \
                           installed.";
    index ["compaction_request_id"];
    rows |s, take| s.trace.compaction_requests.handles().try_for_each(|request| take(&request));
    each (s, key: CompactionRequestIdx) request = &s.trace.compaction_requests[*key];
    compaction_request_id Text "Id of the request." = s.text(request.id);
    compaction_id Text "The compaction that it is for." = s.text(request.compaction_id);
    thread_id Text "Its thread." = s.thread_id(request.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(request.thread);
    turn_id Text "Its turn." = s.turn_id(request.turn);
    status Text "Its status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = request.execution.status.as_str();
    started_at_unix_ms Integer "When it was sent." = request.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it ended." = ended(&request.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&request.execution);
    started_seq Integer "Sequence number of the event that started it." = request.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&request.execution);
    model Text "Model that was requested." = s.text(request.model);
    provider_name Text "Provider that was called." = s.text(request.provider_name);
    error Text "Error of a failed request." = request.error.as_deref();
    request_payload_id Text "The request." = s.text(request.request_payload_id);
    response_payload_id Text "The response." = s.text(request.response_payload_id);
}
