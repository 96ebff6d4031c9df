//! `edges`: spawns, tasks, messages, results and closes between agents, delivered or not.

use trace_reducer::model::HandOver;

use super::Source;
use super::table::table;

fn hand_overs(source: &Source<'_>) -> Vec<HandOver> {
    source.known().map_or_else(Vec::new, |answers| HandOver::all(answers.trace).collect())
}

table! {
    EDGES = "edges", "A spawn, task, message, result or close between agents, also one that never arrived.";
    rows hand_overs;
    each (s, key: HandOver) trace = s.answers().trace;
    model None;
    edge_id Text "Id of the edge." = trace.text(key.id(trace));
    kind Text "`spawn_agent`, `assign_agent_task`, `send_message`, `agent_result` or `close_agent`." = key.kind(trace).as_str();
    delivered Truth "Whether an item of the receiving thread shows it." = matches!(key, HandOver::Delivered(_));
    seq Integer "Sequence number of the first event that reported it." = key.seq(trace);
    source_thread_id Text "The sending thread." = s.answers().thread_id(trace.thread_of(key.source(trace)));
    source_agent_path Text "Place of the sender in the tree of agents." = s.answers().agent_path(trace.thread_of(key.source(trace)));
    target_thread_id Text "The receiving thread; it need not be in the session." = trace.text(key.target_thread_id(trace));
    target_agent_path Text "Place of the receiver in the tree of agents; null if it never arrived."
        = key.target_thread(trace).map(|thread| s.answers().agent_path(thread));
    started_at Time "When it was sent." = key.started_at_unix_ms(trace);
    ended_at Time "When it was complete." = key.ended_at_unix_ms(trace);
    duration_ms Integer "Time from sending to completion." = key.duration_ms(trace);
}
