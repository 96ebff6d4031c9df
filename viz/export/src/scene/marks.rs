//! Marks: moments of a session at which something was lost, went wrong or was replaced.

use std::collections::HashMap;

use trace_explain::Session;
use trace_explain::audit::{self, Finding, audit};
use trace_explain::mail::lost_messages;
use trace_reducer::model::{Anchor, CompactionIdx, EdgeIdx, Moment, Symbol, ThreadIdx, Trace, Undelivered};

/// Largest payload of a client protocol event that is parsed. A message for people has some kilobytes at most.
pub(super) const MAX_PROTOCOL_BYTES: usize = 1 << 20;

/// A moment of a session.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) thread: Option<ThreadIdx>,
    pub(crate) seq: u64,
    pub(crate) kind: MarkKind,
}

/// What happened at a moment.
#[derive(Debug, Clone)]
pub(crate) enum MarkKind {
    /// A hand-over arrived where no slice begins.
    Arrival(EdgeIdx),
    /// A message that never arrived.
    Undelivered(Box<Undelivered>),
    /// A compacted history was installed.
    Compaction(CompactionIdx),
    /// A thread was resumed.
    Resumed,
    /// An audit finds something in the claim or act that stands here.
    Finding(Box<Finding>),
    /// The client got an error, a warning or an interruption.
    Told {
        /// Type of the event.
        event_type: Symbol,
        /// Message of the event.
        message: Option<String>,
    },
}

/// Finds all marks of a session except those at the ends of arrows.
pub(crate) fn found(session: &Session) -> Vec<Mark> {
    let trace = session.trace();
    let mut marks: Vec<Mark> = Vec::new();
    for lost in lost_messages(trace) {
        let thread = match lost.source {
            Anchor::Item(item) => trace.items[item].thread,
            Anchor::Tool(tool) => trace.tools[tool].thread,
            Anchor::Thread(thread) => thread,
        };
        marks.push(Mark { thread: Some(thread), seq: lost.seq, kind: MarkKind::Undelivered(Box::new(lost.clone())) });
    }
    for (index, compaction) in trace.compactions.iter() {
        let kind = MarkKind::Compaction(index);
        marks.push(Mark { thread: Some(compaction.thread), seq: compaction.installed.seq, kind });
    }
    for (index, thread) in trace.threads.iter() {
        let woken = |at: &Moment| Mark { thread: Some(index), seq: at.seq, kind: MarkKind::Resumed };
        marks.extend(thread.resumed.iter().map(woken));
    }
    for finding in audit(session, audit::Options::default()).findings {
        let id = trace.symbols.get(&finding.thread_id);
        let thread = trace.threads.iter().find(|(_, thread)| Some(thread.id) == id).map(|(index, _)| index);
        if let Some(seq) = finding.seq() {
            marks.push(Mark { thread, seq, kind: MarkKind::Finding(Box::new(finding)) });
        }
    }
    let turns = trace.turns.values().map(|turn| (turn.id, turn.thread)).collect();
    for event in &trace.protocol_events {
        let event_type = event.event_type;
        if !is_told(trace.text(event_type)) {
            continue;
        }
        let (turn, message) = said(session, trace.payloads[event.payload].id);
        let thread = turn.and_then(|turn| thread_of(trace, &turns, &turn));
        marks.push(Mark { thread, seq: event.at.seq, kind: MarkKind::Told { event_type, message } });
    }
    marks
}

/// Returns whether an event of the client protocol is of interest in a timeline.
pub(crate) fn is_told(event_type: &str) -> bool {
    matches!(event_type, "error" | "stream_error" | "warning" | "guardian_warning" | "turn_aborted")
}

fn thread_of(trace: &Trace, turns: &HashMap<Symbol, ThreadIdx>, turn: &str) -> Option<ThreadIdx> {
    turns.get(&trace.symbols.get(turn)?).copied()
}

/// Reads the id of the turn and the message from an event of the client protocol.
pub(crate) fn said(session: &Session, payload: Symbol) -> (Option<String>, Option<String>) {
    let bytes = session.read_payload(payload).ok().filter(|bytes| bytes.len() <= MAX_PROTOCOL_BYTES);
    let value = bytes.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let text = |name: &str| value.as_ref()?.get(name)?.as_str().map(str::to_owned);
    (text("turn_id"), text("message").or_else(|| text("reason")))
}
