//! The view of one cause: the chain from the symptom of a turn that did not come out well back to its root cause.
//!
//! Steps are in the groups of their agents. If the chain is too long, its middle is folded, since its ends say more.

use std::collections::HashMap;

use trace_explain::postmortem::{Step, TurnVerdict};
use trace_explain::{Object, ObjectRef};
use trace_reducer::model::ThreadIdx;

use super::Diagram;
use super::agents::{group_of, index_of};
use super::facts::{Facts, mark_of_verdict};
use super::handovers::message;
use super::model::{Edge, EdgeStyle, GroupIdx, Mark, Node, NodeIdx, Shape, View};
use super::options::{DiagramError, Options};
use super::text::{MAX_ARROW_COLUMNS, count, duration, label, line, parts, since_start, tooltip};

/// Most other causes that are listed in notes.
const MAX_TOLD_CAUSES: usize = 3;

/// Most columns of a note.
const MAX_NOTE_COLUMNS: usize = 200;

pub(super) fn causal(facts: &Facts<'_>, options: &Options) -> Result<Diagram, DiagramError> {
    let verdict = choose(facts, options)?;
    let steps = &verdict.chain;
    let mut diagram = Diagram {
        view: View::Causal,
        title: parts([
            format!(
                "Why turn {} of {} {}",
                line(&verdict.turn_id, 60),
                line(&verdict.agent_path, 60),
                came_out(verdict)
            ),
            verdict.root_cause.as_ref().map(|cause| cause.category.as_str().to_owned()).unwrap_or_default(),
        ]),
        groups: Vec::new(),
        nodes: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
    };
    let max_nodes = options.max_nodes.max(1);
    let folded = if steps.len() <= max_nodes {
        0..0
    } else {
        // One node stands for the folded steps. If the number of the others is odd, the side of the cause gets one
        // more.
        let shown = max_nodes - 1;
        shown / 2..steps.len() - shown.div_ceil(2)
    };
    let mut groups: HashMap<ThreadIdx, GroupIdx> = HashMap::new();
    for (place, step) in steps.iter().enumerate() {
        if folded.contains(&place) {
            if place == folded.start {
                diagram.nodes.push(folded_steps(place, &steps[folded.clone()]));
            }
            continue;
        }
        let object = facts.session.find(&step.object);
        let thread = object.and_then(|object| facts.session.thread_of(object));
        let group = thread.map(|thread| {
            *groups.entry(thread).or_insert_with(|| {
                diagram.groups.push(group_of(facts, thread));
                GroupIdx(index_of(diagram.groups.len() - 1))
            })
        });
        let node = Node { group, ..step_node(facts, verdict, place, step, object) };
        diagram.nodes.push(node);
    }
    // A verdict without a chain is shown as one node with the text of the verdict.
    if diagram.nodes.is_empty() {
        diagram.nodes.push(story(verdict));
    }
    let shown = (0..steps.len()).filter(|place| !folded.contains(place) || *place == folded.start).skip(1);
    for (to, place) in shown.enumerate().map(|(before, place)| (before + 1, place)) {
        // The arrow to a folded node has no label: no single relation holds there.
        let is_folded = folded.start == place && !folded.is_empty();
        let words = if is_folded { String::new() } else { words(facts, &steps[place - 1], &steps[place]) };
        diagram.edges.push(arrow(to, &words));
    }
    diagram.notes = notes(facts, verdict);
    Ok(diagram)
}

/// Finds the turn whose chain is shown: the one that the options ask for, or the first that needs attention.
fn choose<'f>(facts: &'f Facts<'_>, options: &Options) -> Result<&'f TurnVerdict, DiagramError> {
    if let Some(turn) = facts.asked_turn(options)? {
        let verdict = facts.verdict(turn).filter(|verdict| verdict.outcome.needs_attention());
        let id = || facts.trace.text(facts.trace.turns[turn].id).to_owned();
        return verdict.ok_or_else(|| DiagramError::TurnIsFine { turn: id() });
    }
    let thread = facts.asked_thread(options)?.map(|thread| facts.trace.text(facts.trace.threads[thread].id));
    let mut verdicts =
        facts.postmortem.turns.iter().filter(|verdict| {
            verdict.outcome.needs_attention() && thread.is_none_or(|thread| verdict.thread_id == thread)
        });
    let within = if thread.is_some() { "of the thread " } else { "" };
    verdicts.next().ok_or(DiagramError::NothingWrong { within })
}

fn came_out(verdict: &TurnVerdict) -> String {
    match mark_of_verdict(verdict.outcome) {
        Mark::Failed => "failed".to_owned(),
        mark => format!("is {}", mark.as_str()),
    }
}

fn step_node(facts: &Facts<'_>, verdict: &TurnVerdict, place: usize, step: &Step, object: Option<Object>) -> Node {
    let is_last = place + 1 == verdict.chain.len();
    let cause = verdict.root_cause.as_ref().filter(|_| is_last);
    let mut lines = Vec::new();
    if place == 0 {
        lines.push("symptom".to_owned());
    }
    if let Some(cause) = cause {
        lines.push(format!("root cause: {}", cause.category.as_str()));
        lines.push(format!("confidence: {}", cause.confidence.as_str()));
    }
    let text = cause.map_or(&step.text, |cause| &cause.message);
    match object {
        // A step that is an agent shows only the path of the agent.
        Some(Object::Thread(thread)) => lines.push(format!("agent {}", facts.thread_name(thread))),
        _ => {
            let what = object.map(|object| what(facts, object)).unwrap_or_default();
            let subject = match object {
                Some(Object::Tool(tool)) if text.starts_with(&what) => facts.tool_subject(tool),
                Some(Object::Item(item)) if text.starts_with("Message Type:") => message(facts, item),
                _ => text.clone(),
            };
            lines.extend(Some(what).filter(|what| !subject.starts_with(what.as_str())));
            lines.extend(wrapped(&subject));
        }
    }
    lines.push(step.seq.map(|seq| since_start(facts.clock.at(seq))).unwrap_or_default());
    let mark = match (object, place) {
        (_, 0) => mark_of_verdict(verdict.outcome),
        (Some(Object::Turn(turn)), _) => facts.turn_mark(turn),
        (Some(Object::Thread(thread)), _) => facts.thread_mark(thread),
        (Some(object), _) => facts.mark(object),
        (None, _) => Mark::Fine,
    };
    Node {
        id: format!("step_{place}"),
        group: None,
        shape: object.map_or(Shape::Missing, shape_of),
        label: label(lines),
        tooltip: tooltip([
            step.object.to_string(),
            step.text.clone(),
            if place == 0 { verdict.verdict.clone() } else { String::new() },
        ]),
        mark: if is_last && mark == Mark::Fine { Mark::Failed } else { mark },
        object: Some(step.object.clone()),
        count: 1,
    }
}

/// Splits a text into two lines of a label if it is too long for one.
fn wrapped(text: &str) -> Vec<String> {
    let whole = line(text, super::text::MAX_LABEL_COLUMNS);
    let Some(first) = whole.strip_suffix('…') else { return vec![whole] };
    let end = first.rfind(' ').unwrap_or(first.len());
    let first = &first[..end];
    let clean = line(text, super::text::MAX_TOOLTIP_COLUMNS);
    let rest = clean.get(end..).unwrap_or_default().to_owned();
    vec![first.to_owned(), rest]
}

/// Returns in words what kind of object this is.
fn what(facts: &Facts<'_>, object: Object) -> String {
    let trace = facts.trace;
    match object {
        Object::Thread(thread) => format!("agent {}", facts.thread_name(thread)),
        Object::Turn(turn) => format!("turn {}", facts.turn_number(turn)),
        Object::Inference(inference) => format!("request to {}", trace.text(trace.inferences[inference].model)),
        Object::Tool(tool) => facts.tool_name(tool),
        Object::Cell(_) => "code".to_owned(),
        Object::Item(item) => format!("{} {}", trace.items[item].role.as_str(), trace.items[item].kind.as_str()),
        Object::Compaction(_) => "compaction".to_owned(),
        Object::CompactionRequest(_) => "request for a compaction".to_owned(),
        Object::Operation(_) | Object::Session(_) => "terminal".to_owned(),
        Object::Edge(edge) => trace.edges[edge].kind.as_str().to_owned(),
        Object::Payload(_) => "payload".to_owned(),
    }
}

fn shape_of(object: Object) -> Shape {
    match object {
        Object::Thread(_) => Shape::Agent,
        Object::Turn(_) => Shape::Turn,
        Object::Inference(_) => Shape::Inference,
        Object::Cell(_) => Shape::Cell,
        Object::Item(_) | Object::Edge(_) | Object::Payload(_) => Shape::Item,
        Object::Compaction(_) | Object::CompactionRequest(_) => Shape::Compaction,
        Object::Tool(_) | Object::Operation(_) | Object::Session(_) => Shape::Tool,
    }
}

fn folded_steps(place: usize, steps: &[Step]) -> Node {
    Node {
        id: format!("steps_{place}"),
        group: None,
        shape: Shape::Folded,
        label: label([count(steps.len() as u64, "step")]),
        tooltip: tooltip(steps.iter().map(|step| format!("{} {}", step.relation, step.object))),
        mark: Mark::Fine,
        object: None,
        count: index_of(steps.len()),
    }
}

fn story(verdict: &TurnVerdict) -> Node {
    Node {
        id: "step_0".to_owned(),
        group: None,
        shape: Shape::Turn,
        label: label(wrapped(&verdict.verdict)),
        tooltip: tooltip([verdict.verdict.clone()]),
        mark: mark_of_verdict(verdict.outcome),
        object: Some(ObjectRef { kind: "codex_turn".to_owned(), id: verdict.turn_id.clone() }),
        count: 1,
    }
}

/// Returns how a step leads to the next, in words that read along the arrow.
///
/// The names of the relations in the causal graph do not always read that way: `contains` leads from a symptom up to its
/// turn as well as from a turn down to a call, and agents on the chain need not have failed.
fn words(facts: &Facts<'_>, before: &Step, step: &Step) -> String {
    let (from, to) = (facts.session.find(&before.object), facts.session.find(&step.object));
    match (step.relation, from, to) {
        // If a line of agents is too long, only the text of the step tells how many are left out.
        ("agent_failed", _, Some(Object::Thread(_))) => step.text.clone(),
        (_, Some(Object::Thread(_)), Some(Object::Turn(_))) => "its turn".to_owned(),
        ("agent_failed", _, _) => "went into".to_owned(),
        ("contains", _, Some(Object::Turn(_))) => "seen in".to_owned(),
        ("contains", _, _) => "in which".to_owned(),
        ("waited_on", _, _) => "waited for".to_owned(),
        (relation, _, _) => relation.replace('_', " "),
    }
}

/// Returns the arrow to a node from the node before it.
fn arrow(to: usize, words: &str) -> Edge {
    Edge {
        from: NodeIdx(index_of(to - 1)),
        to: NodeIdx(index_of(to)),
        style: EdgeStyle::Cause,
        label: label([line(words, MAX_ARROW_COLUMNS)]),
        tooltip: String::new(),
        mark: Mark::Fine,
        object: None,
        count: 1,
    }
}

fn notes(facts: &Facts<'_>, verdict: &TurnVerdict) -> Vec<String> {
    let mut notes = vec![line(&verdict.verdict, MAX_NOTE_COLUMNS)];
    if verdict.time_lost_ms > 0 {
        notes.push(format!("{} were lost", duration(verdict.time_lost_ms)));
    }
    for cause in verdict.other_causes.iter().take(MAX_TOLD_CAUSES) {
        let text = format!("also {} {}: {}", cause.category.as_str(), cause.object, cause.message);
        notes.push(line(&text, MAX_NOTE_COLUMNS));
    }
    let more = verdict.other_causes.len().saturating_sub(MAX_TOLD_CAUSES);
    if more > 0 {
        notes.push(format!("and {} that nothing made good", count(more as u64, "other failure")));
    }
    let others = facts.postmortem.turns.iter().filter(|other| other.outcome.needs_attention()).count() - 1;
    if others > 0 {
        let verb = if others == 1 { "needs" } else { "need" };
        notes.push(format!("{} {verb} attention too", count(others as u64, "other turn")));
    }
    notes
}
