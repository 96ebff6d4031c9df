//! Builds the causal graph.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use trace_reducer::model::{Anchor, EdgeKind, Moment, Producer, Symbol, ThreadIdx, ToolIdx, ToolKind, Trace, Window};

use super::{CausalGraph, Link, Relation, is_nested};
use crate::family::Family;
use crate::mail::interruptions;
use crate::object::Object;
use crate::session::Session;
use crate::sightings::Sightings;

impl CausalGraph {
    /// Builds the causal graph of a session.
    pub fn new(session: &Session) -> Self {
        let trace = session.trace();
        let objects = trace.threads.len()
            + trace.turns.len()
            + trace.items.len()
            + trace.inferences.len()
            + trace.cells.len()
            + trace.tools.len()
            + trace.operations.len()
            + trace.compactions.len()
            + trace.compaction_requests.len();
        let mut builder = Builder {
            session,
            trace,
            graph: DiGraph::with_capacity(objects, objects * 2),
            nodes: HashMap::with_capacity(objects),
            linked: HashSet::new(),
        };
        builder.nodes();
        builder.containment();
        builder.requests();
        builder.items();
        let family = Family::new(trace);
        builder.agents(&family);
        builder.interruptions(&family);
        builder.waits(&family);
        Self { graph: builder.graph, nodes: builder.nodes }
    }
}

struct Builder<'s> {
    session: &'s Session,
    trace: &'s Trace,
    graph: DiGraph<Object, Link>,
    nodes: HashMap<Object, NodeIndex>,
    /// Edges that exist. An edge that is found in two ways is added once.
    linked: HashSet<(NodeIndex, NodeIndex, Relation)>,
}

impl Builder<'_> {
    fn nodes(&mut self) {
        let has_node = |object: &Object| !matches!(object, Object::Session(_) | Object::Edge(_) | Object::Payload(_));
        for object in self.session.objects().filter(has_node) {
            let node = self.graph.add_node(object);
            self.nodes.insert(object, node);
        }
    }

    fn link(&mut self, from: Object, relation: Relation, to: Object, at: Moment) {
        let (Some(from), Some(to)) = (self.nodes.get(&from).copied(), self.nodes.get(&to).copied()) else { return };
        if self.linked.insert((from, to, relation)) {
            self.graph.add_edge(from, to, Link { relation, at });
        }
    }

    fn contains(&mut self, outer: Object, inner: Object, at: Moment) {
        self.link(outer, Relation::Contains, inner, at);
    }

    fn containment(&mut self) {
        let trace = self.trace;
        for (index, turn) in trace.turns.iter() {
            self.contains(Object::Thread(turn.thread), Object::Turn(index), turn.execution.started);
        }
        for (index, call) in trace.inferences.iter() {
            self.contains(Object::Turn(call.turn), Object::Inference(index), call.execution.started);
        }
        let mut nested: HashSet<ToolIdx> = HashSet::new();
        for (index, cell) in trace.cells.iter() {
            self.contains(Object::Turn(cell.turn), Object::Cell(index), cell.execution.started);
            for tool in cell.nested_tools.iter().filter(|tool| is_nested(trace, **tool, index)) {
                nested.insert(*tool);
                self.contains(Object::Cell(index), Object::Tool(*tool), trace.tools[*tool].execution.started);
            }
        }
        for (index, call) in trace.tools.iter() {
            if !nested.contains(&index) {
                let outer = call.turn.map_or(Object::Thread(call.thread), Object::Turn);
                self.contains(outer, Object::Tool(index), call.execution.started);
            }
        }
        for (index, operation) in trace.operations.iter() {
            self.contains(Object::Tool(operation.tool), Object::Operation(index), operation.execution.started);
        }
        for (index, compaction) in trace.compactions.iter() {
            self.contains(Object::Turn(compaction.turn), Object::Compaction(index), compaction.installed);
            for request in &compaction.requests {
                let from = Object::CompactionRequest(*request);
                self.link(from, Relation::ProducedBy, Object::Compaction(index), compaction.installed);
            }
        }
        for (index, request) in trace.compaction_requests.iter() {
            let outer = Object::Turn(request.turn);
            self.contains(outer, Object::CompactionRequest(index), request.execution.started);
        }
    }

    /// Links inference calls with the tool calls of their responses. Call ids are matched within one thread.
    fn requests(&mut self) {
        let trace = self.trace;
        let by_call: HashMap<(ThreadIdx, Symbol), ToolIdx> = trace
            .tools
            .iter()
            .filter_map(|(index, call)| Some(((call.thread, call.model_visible_call_id?), index)))
            .collect();
        for (index, call) in trace.inferences.iter() {
            let calls = call.response_items.iter().map(|item| &trace.items[*item]).filter(|item| item.kind.is_call());
            for call_id in calls.filter_map(|item| item.call_id) {
                if let Some(tool) = by_call.get(&(call.thread, call_id)) {
                    let at = trace.tools[*tool].execution.started;
                    self.link(Object::Inference(index), Relation::Requested, Object::Tool(*tool), at);
                }
            }
        }
        // The call that started a code cell; some releases do not record it.
        for (index, cell) in trace.cells.iter() {
            if let Some(tool) = by_call.get(&(cell.thread, cell.model_visible_call_id)) {
                self.contains(Object::Tool(*tool), Object::Cell(index), cell.execution.started);
            }
        }
    }

    fn items(&mut self) {
        let trace = self.trace;
        let first_readers = Sightings::new(trace).first(trace);
        for ((index, item), reader) in trace.items.iter().zip(first_readers) {
            for producer in &item.produced_by {
                let (object, thread) = match *producer {
                    Producer::Inference(inference) => {
                        (Object::Inference(inference), trace.inferences[inference].thread)
                    }
                    Producer::Tool(tool) => (Object::Tool(tool), trace.tools[tool].thread),
                    Producer::Cell(cell) => (Object::Cell(cell), trace.cells[cell].thread),
                    Producer::Compaction(compaction) => {
                        (Object::Compaction(compaction), trace.compactions[compaction].thread)
                    }
                };
                // A copy in another thread's history was not produced by the tool.
                if thread == item.thread {
                    self.link(object, Relation::ProducedBy, Object::Item(index), item.first_seen);
                }
            }
            if item.kind.is_output()
                && let Some(reader) = reader
            {
                let at = trace.inferences[reader].execution.started;
                self.link(Object::Item(index), Relation::Observed, Object::Inference(reader), at);
            }
        }
        for (index, compaction) in trace.compactions.iter() {
            for item in &compaction.input_items {
                self.link(Object::Item(*item), Relation::ReplacedBy, Object::Compaction(index), compaction.installed);
            }
        }
    }

    fn agents(&mut self, family: &Family) {
        let trace = self.trace;
        for (child, birth) in family.births() {
            let at = trace.threads[child].execution.started;
            let turn = birth.turn.map_or(Object::Thread(birth.parent), Object::Turn);
            let from = birth.tool.map_or(turn, Object::Tool);
            self.link(from, Relation::Spawned, Object::Thread(child), at);
        }
        let turns: HashMap<Symbol, Object> =
            trace.turns.iter().map(|(index, turn)| (turn.id, Object::Turn(index))).collect();
        let results: HashMap<Symbol, Object> = trace
            .agent_results
            .iter()
            .map(|result| {
                let source = turns.get(&result.child_turn_id).copied().unwrap_or(Object::Thread(result.child));
                (result.edge_id, source)
            })
            .collect();
        for edge in trace.edges.values() {
            let source = match edge.source {
                Anchor::Tool(tool) => Object::Tool(tool),
                Anchor::Thread(thread) => Object::Thread(thread),
                Anchor::Item(item) => Object::Item(item),
            };
            match (edge.kind, edge.target) {
                (EdgeKind::AgentResult, Anchor::Item(item)) => {
                    let source = results.get(&edge.id).copied().unwrap_or(source);
                    self.link(source, Relation::ResultOf, Object::Item(item), trace.items[item].first_seen);
                }
                (EdgeKind::CloseAgent, Anchor::Thread(target)) => {
                    let Anchor::Tool(tool) = edge.source else { continue };
                    let at = trace.tools[tool].execution.ended.unwrap_or(trace.tools[tool].execution.started);
                    let ended = family.turn_ended_by(trace, tool, target).map_or(Object::Thread(target), Object::Turn);
                    self.link(source, Relation::Interrupted, ended, at);
                }
                (_, Anchor::Item(item)) => {
                    self.link(source, Relation::Delivered, Object::Item(item), trace.items[item].first_seen);
                }
                _ => {}
            }
        }
    }

    /// Links messages that interrupted an agent with the turns that they ended.
    fn interruptions(&mut self, family: &Family) {
        let trace = self.trace;
        for (tool, turn) in interruptions(self.session, family) {
            let at = trace.tools[tool].execution.ended.unwrap_or(trace.tools[tool].execution.started);
            self.link(Object::Tool(tool), Relation::Interrupted, Object::Turn(turn), at);
        }
    }

    fn waits(&mut self, family: &Family) {
        let trace = self.trace;
        let by_id: HashMap<Symbol, ThreadIdx> =
            trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
        // A wait names no agent. It ends with the first answer of any child.
        let mut answers: HashMap<ThreadIdx, Vec<(u64, ThreadIdx)>> = HashMap::new();
        for result in &trace.agent_results {
            if let Some(parent) = by_id.get(&result.parent_thread_id) {
                answers.entry(*parent).or_default().push((result.at.seq, result.child));
            }
        }
        // Sorted by thread, so that the links are added in the same order in every run.
        let mut waits: BTreeMap<ThreadIdx, Vec<(ToolIdx, Window)>> = BTreeMap::new();
        for (index, call) in trace.tools.iter().filter(|(_, call)| call.kind == ToolKind::WaitAgent) {
            waits.entry(call.thread).or_default().push((index, call.execution));
        }
        for (thread, mut waits) in waits {
            waits.sort_by_key(|(_, window)| window.started.seq);
            let mut answers = answers.remove(&thread).unwrap_or_default();
            answers.sort_by_key(|(seq, _)| *seq);
            let answered = self.answered(&waits, &answers);
            for (index, window) in waits.iter().filter(|(index, _)| !answered.contains(index)) {
                let at = window.ended.unwrap_or(window.started);
                for turn in family.at_work(thread, at.seq) {
                    let child = Object::Thread(trace.turns[turn].thread);
                    self.link(child, Relation::WaitedOn, Object::Tool(*index), at);
                }
            }
        }
        for (index, cell) in trace.cells.iter() {
            for tool in &cell.wait_tools {
                let window = trace.tools[*tool].execution;
                let at = window.ended.unwrap_or(window.started);
                self.link(Object::Cell(index), Relation::WaitedOn, Object::Tool(*tool), at);
            }
        }
        for operation in trace.operations.values() {
            let Some(session) = operation.session.map(|session| &trace.sessions[session]) else { continue };
            let call = &trace.tools[operation.tool];
            if call.kind == ToolKind::WriteStdin && trace.operations[session.created_by].tool != operation.tool {
                let at = call.execution.ended.unwrap_or(call.execution.started);
                let from = Object::Operation(session.created_by);
                self.link(from, Relation::WaitedOn, Object::Tool(operation.tool), at);
            }
        }
    }

    /// Links each answer with the earliest open wait of the receiving thread. Returns those waits.
    fn answered(&mut self, waits: &[(ToolIdx, Window)], answers: &[(u64, ThreadIdx)]) -> HashSet<ToolIdx> {
        let mut answered = HashSet::new();
        // Waits that have begun, in the order of their start.
        let mut open: VecDeque<(ToolIdx, Moment)> = VecDeque::new();
        let mut waits =
            waits.iter().filter_map(|(index, window)| Some((*index, window.started, window.ended?))).peekable();
        for (seq, child) in answers {
            while let Some((index, _, ended)) = waits.next_if(|(_, started, _)| started.seq <= *seq) {
                open.push_back((index, ended));
            }
            while open.front().is_some_and(|(_, ended)| ended.seq < *seq) {
                open.pop_front();
            }
            if let Some((index, ended)) = open.front() {
                self.link(Object::Thread(*child), Relation::WaitedOn, Object::Tool(*index), *ended);
                answered.insert(*index);
            }
        }
        answered
    }
}
