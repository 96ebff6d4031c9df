//! Finds the ends of interaction edges among the objects that take time: the call that hands something over, and the
//! first inference call that shows it to its reader.

use std::collections::HashMap;

use trace_explain::{Family, Sightings};
use trace_reducer::model::{
    Anchor, EdgeKind, Handle, InferenceIdx, InteractionEdge, ItemIdx, Object, Producer, Symbol, ThreadIdx, Trace,
    TurnIdx,
};

/// Finds the ends of edges.
#[derive(Debug)]
pub(crate) struct HandOvers<'t> {
    trace: &'t Trace,
    family: &'t Family,
    /// For each item, the first inference call with it in the request.
    first_seen: Vec<Option<InferenceIdx>>,
    turns: HashMap<Symbol, TurnIdx>,
    /// For each edge with the result of a child, the id of the child's turn.
    answers: HashMap<Symbol, Symbol>,
}

impl<'t> HandOvers<'t> {
    pub(crate) fn new(trace: &'t Trace, family: &'t Family) -> Self {
        let first_seen = if trace.edges.is_empty() { Vec::new() } else { Sightings::new(trace).first(trace) };
        let turns = trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect();
        let answers = trace.agent_results.iter().map(|result| (result.edge_id, result.child_turn_id)).collect();
        Self { trace, family, first_seen, turns, answers }
    }

    /// Returns the sender: a tool call, the inference call whose response contains the item, or the turn or thread that
    /// it comes from.
    pub(crate) fn source(&self, edge: &InteractionEdge) -> Object {
        match edge.source {
            Anchor::Tool(tool) => Object::Tool(tool),
            Anchor::Item(item) => self.producer(item),
            Anchor::Thread(thread) => {
                let turn = self.answers.get(&edge.id).and_then(|turn| self.turns.get(turn)).copied();
                turn.or_else(|| self.turn_before(thread, edge.seq)).map_or(Object::Thread(thread), Object::Turn)
            }
        }
    }

    /// Returns the first receiver, if it is known: the new thread for a spawn, otherwise an inference call or a tool
    /// call.
    pub(crate) fn target(&self, edge: &InteractionEdge) -> Option<Object> {
        match (edge.kind, edge.target) {
            (EdgeKind::SpawnAgent, _) => Some(Object::Thread(self.target_thread(edge))),
            (_, Anchor::Item(item)) => self.first_seen.get(item.index()).copied().flatten().map(Object::Inference),
            (_, Anchor::Tool(tool)) => Some(Object::Tool(tool)),
            // A closed agent reads nothing.
            (_, Anchor::Thread(_)) => None,
        }
    }

    /// Returns the thread that the edge leads to.
    pub(crate) fn target_thread(&self, edge: &InteractionEdge) -> ThreadIdx {
        match edge.target {
            Anchor::Item(item) => self.trace.items[item].thread,
            Anchor::Tool(tool) => self.trace.tools[tool].thread,
            Anchor::Thread(thread) => thread,
        }
    }

    /// Returns the seq of the event with which the hand-over arrived.
    pub(crate) fn arrived(&self, edge: &InteractionEdge) -> u64 {
        match edge.target {
            Anchor::Item(item) => self.trace.items[item].first_seen.seq,
            _ => edge.seq,
        }
    }

    fn producer(&self, item: ItemIdx) -> Object {
        let shown = &self.trace.items[item];
        let by = shown.produced_by.iter().find_map(|producer| match producer {
            Producer::Inference(inference) => Some(Object::Inference(*inference)),
            Producer::Tool(tool) => Some(Object::Tool(*tool)),
            Producer::Cell(cell) => Some(Object::Cell(*cell)),
            Producer::Compaction(_) => None,
        });
        let turn = || shown.codex_turn_id.and_then(|turn| self.turns.get(&turn)).copied();
        let turn = || turn().or_else(|| self.turn_before(shown.thread, shown.first_seen.seq));
        by.or_else(|| turn().map(Object::Turn)).unwrap_or(Object::Thread(shown.thread))
    }

    fn turn_before(&self, thread: ThreadIdx, seq: u64) -> Option<TurnIdx> {
        let turns = self.family.turns(thread);
        let until = turns.partition_point(|turn| self.trace.turns[*turn].execution.started.seq <= seq);
        until.checked_sub(1).map(|last| turns[last])
    }
}
