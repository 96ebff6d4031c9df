//! What agents handed to each other, whether it arrived or not, in the order of the event log.

use std::collections::{HashMap, HashSet};

use trace_explain::context::is_readable;
use trace_explain::mail::lost_messages;
use trace_explain::outcome::Outcome;
use trace_explain::{Object, ObjectRef};
use trace_reducer::model::{Anchor, EdgeKind, ItemIdx, Part, Symbol, ThreadIdx, ToolIdx, ToolSummary};

use super::facts::{Facts, mark_of};
use super::model::{EdgeStyle, Mark};

/// Most bytes of a message that are read. A picture shows one line of it.
const MAX_TEXT_BYTES: usize = 4096;

/// Something that one agent handed to another: a task, a message, a result, or a request to close.
#[derive(Debug, Clone)]
pub(super) struct Handover {
    /// Number of the hand-over within the session, counted from 1.
    pub(super) number: usize,
    /// Seq of the first event that shows it.
    pub(super) seq: u64,
    pub(super) style: EdgeStyle,
    /// What kind of hand-over it is, in a word.
    pub(super) word: &'static str,
    pub(super) from: ThreadIdx,
    /// The agent that it was meant for. `None` if that agent is not in the recording.
    pub(super) to: Option<ThreadIdx>,
    /// Id of the thread that it was meant for.
    pub(super) to_id: Symbol,
    /// The tool call that made it, if a call did.
    pub(super) tool: Option<ToolIdx>,
    /// The objects at its start and at its end.
    pub(super) ends: (Option<ObjectRef>, Option<ObjectRef>),
    pub(super) text: String,
    /// Its outcome. A hand-over that never arrived is unfinished.
    pub(super) mark: Mark,
    pub(super) arrived: bool,
    pub(super) object: Option<ObjectRef>,
}

/// Returns what the agents of a session handed to each other.
pub(super) fn handovers(facts: &Facts<'_>) -> Vec<Handover> {
    let trace = facts.trace;
    let mut all = Vec::new();
    let results: HashMap<Symbol, usize> =
        trace.agent_results.iter().enumerate().map(|(index, result)| (result.edge_id, index)).collect();
    let mut spawned: HashSet<ThreadIdx> = HashSet::new();
    for (index, edge) in trace.edges.iter() {
        let (from, to) = (facts.trace.thread_of(edge.source), facts.trace.thread_of(edge.target));
        if edge.kind == EdgeKind::SpawnAgent {
            spawned.insert(to);
        }
        let tool = tool_of(edge.source);
        let result = results.get(&edge.id).map(|index| &trace.agent_results[*index]);
        let text = match (edge.kind, result, edge.target) {
            (EdgeKind::AgentResult, Some(result), _) => begin(body(&result.message)).to_owned(),
            (_, _, Anchor::Item(item)) => message(facts, item),
            _ => String::new(),
        };
        let text = if text.is_empty() { tool.map(|tool| preview(facts, tool)).unwrap_or_default() } else { text };
        let of_tool = tool.map_or(Mark::Fine, |tool| mark_of(Outcome::of_tool(trace, &trace.tools[tool])));
        let of_turn = result
            .and_then(|result| facts.turn_of(result.child_turn_id))
            .map(|turn| facts.turn_mark(turn))
            .filter(|mark| *mark == Mark::Failed);
        all.push(Handover {
            number: 0,
            seq: edge.seq,
            style: style(edge.kind),
            word: word(facts, edge.kind, tool),
            from,
            to: Some(to),
            to_id: trace.threads[to].id,
            tool,
            ends: (Some(anchor(facts, edge.source)), Some(anchor(facts, edge.target))),
            text,
            mark: of_turn.unwrap_or(of_tool),
            arrived: true,
            object: Some(facts.name(Object::Edge(index))),
        });
    }
    for (child, birth) in facts.family.births().filter(|(child, _)| !spawned.contains(child)) {
        all.push(Handover {
            number: 0,
            seq: trace.threads[child].execution.started.seq,
            style: EdgeStyle::Spawn,
            word: "spawn",
            from: birth.parent,
            to: Some(child),
            to_id: trace.threads[child].id,
            tool: birth.tool,
            ends: (None, Some(facts.name(Object::Thread(child)))),
            text: String::new(),
            mark: Mark::Fine,
            arrived: true,
            object: None,
        });
    }
    for lost in lost_messages(trace) {
        let tool = tool_of(lost.source);
        all.push(Handover {
            number: 0,
            seq: lost.seq,
            style: style(lost.kind),
            word: word(facts, lost.kind, tool),
            from: facts.trace.thread_of(lost.source),
            to: facts.threads_by_id.get(&lost.target_thread_id).copied(),
            to_id: lost.target_thread_id,
            tool,
            ends: (Some(anchor(facts, lost.source)), None),
            text: begin(body(&lost.text)).to_owned(),
            mark: Mark::Unfinished,
            arrived: false,
            object: None,
        });
    }
    all.sort_by_key(|handover| handover.seq);
    for (index, handover) in all.iter_mut().enumerate() {
        handover.number = index + 1;
    }
    all
}

/// Returns the readable text of a message between agents, without the header lines that name its sender and its
/// receiver.
pub(super) fn message(facts: &Facts<'_>, item: ItemIdx) -> String {
    let mut text = String::new();
    for part in facts.trace.items[item].parts.iter() {
        match part {
            Part::Text(part) | Part::Summary(part) => text.push_str(begin(part)),
            Part::Encoded { value, .. } if is_readable(begin(value)) => text.push_str(begin(value)),
            Part::Encoded { .. } => text.push_str("[encrypted]"),
            Part::Json { summary } => text.push_str(summary),
            Part::Code { source, .. } => text.push_str(begin(source)),
            Part::PayloadRef { label, .. } => text.push_str(&format!("[{}]", begin(label))),
        }
        if text.len() > MAX_TEXT_BYTES {
            break;
        }
    }
    body(&text).to_owned()
}

fn body(text: &str) -> &str {
    let head = if text.starts_with("Message Type:") { begin(text).find("\nPayload:") } else { None };
    head.map_or(text, |at| &text[at + "\nPayload:".len()..]).trim_start()
}

/// Returns the beginning of a text that may be megabytes long.
fn begin(text: &str) -> &str {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let end = (0..=MAX_TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

fn preview(facts: &Facts<'_>, tool: ToolIdx) -> String {
    match &facts.trace.tools[tool].summary {
        ToolSummary::Agent { message_preview, .. } => begin(message_preview).to_owned(),
        _ => String::new(),
    }
}

fn tool_of(anchor: Anchor) -> Option<ToolIdx> {
    if let Anchor::Tool(tool) = anchor { Some(tool) } else { None }
}

fn anchor(facts: &Facts<'_>, anchor: Anchor) -> ObjectRef {
    facts.name(match anchor {
        Anchor::Item(item) => Object::Item(item),
        Anchor::Tool(tool) => Object::Tool(tool),
        Anchor::Thread(thread) => Object::Thread(thread),
    })
}

fn style(kind: EdgeKind) -> EdgeStyle {
    match kind {
        EdgeKind::SpawnAgent => EdgeStyle::Spawn,
        EdgeKind::AssignAgentTask => EdgeStyle::Task,
        EdgeKind::SendMessage => EdgeStyle::Message,
        EdgeKind::AgentResult => EdgeStyle::Result,
        EdgeKind::CloseAgent => EdgeStyle::Close,
    }
}

fn word(facts: &Facts<'_>, kind: EdgeKind, tool: Option<ToolIdx>) -> &'static str {
    match kind {
        EdgeKind::SpawnAgent => "spawn",
        EdgeKind::AssignAgentTask => "task",
        EdgeKind::SendMessage => "message",
        EdgeKind::AgentResult => "result",
        EdgeKind::CloseAgent if tool.is_some_and(|tool| interrupts(facts, tool)) => "interrupt",
        EdgeKind::CloseAgent => "close",
    }
}

/// Returns whether a call interrupts an agent without closing it. Both are calls of one kind, so the name of the tool
/// decides.
fn interrupts(facts: &Facts<'_>, tool: ToolIdx) -> bool {
    match &facts.trace.tools[tool].summary {
        ToolSummary::Generic { label, .. } => facts.trace.text(*label).contains("interrupt"),
        _ => false,
    }
}
