//! Which threads, turns, requests and tool calls the spans of a session are.
//!
//! The span of an agent that asks models or runs tools is a thread. An agent below the span of a tool is a child that the tool
//! spawned. An agent above which is none is the root or stands beside it, such as one that took over; later spans of the same
//! agent are further turns of its thread. Spans of agents that only hold other agents are no threads.

use std::collections::HashMap;

use super::dialect::Dialect;
use super::facts::Part;
use super::span::Span;

/// What a span is, and where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) dialect: Dialect,
    pub(super) part: Part,
    parent: Option<usize>,
    children: Vec<usize>,
    /// The span of the agent that this span is part of.
    agent: Option<usize>,
    /// The span of a tool between this span and that of its agent.
    tool: Option<usize>,
    /// The span of the turn that this span is part of.
    turn: Option<usize>,
}

/// The threads of a session. The first one is the root, and a parent comes before its children.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) threads: Vec<ThreadPlan>,
}

#[derive(Debug, Default)]
pub(super) struct ThreadPlan {
    /// A span that tells who the thread is.
    pub(super) span: Option<usize>,
    /// The spans of the agent, in the order of their starts.
    pub(super) runs: Vec<usize>,
    pub(super) parent: Option<usize>,
    /// The span of the tool that spawned the thread.
    pub(super) spawner: Option<usize>,
    pub(super) turns: Vec<TurnPlan>,
    /// Requests and tool calls, in the order of their starts.
    steps: Vec<usize>,
    /// Spans of turns that no span of the agent holds.
    turn_spans: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct TurnPlan {
    /// What the turn is made of.
    pub(super) from: TurnSource,
    /// The span of the agent that the turn is part of.
    pub(super) run: Option<usize>,
    /// Requests and tool calls, in the order of their starts.
    pub(super) steps: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnSource {
    /// The span of the turn, or that of an agent which has none for its turns.
    Span(usize),
    /// A trace, with the span at its top if the file has it.
    Trace { step: usize, top: Option<usize> },
}

/// Makes the plan of a session. The spans must be in the order of their starts.
pub(super) fn plan(spans: &[Span]) -> Plan {
    let mut nodes = tree(spans);
    let order = parents_first(&mut nodes);
    drop_doubles(spans, &mut nodes, &order);
    place(spans, &mut nodes, &order);
    let mut plan = Plan { nodes, threads: Vec::new() };
    Threads::new(spans, &mut plan).make(&order);
    for thread in &mut plan.threads {
        thread.make_turns(spans, &plan.nodes);
    }
    plan
}

fn tree(spans: &[Span]) -> Vec<Node> {
    let by_id: HashMap<(&str, &str), usize> =
        spans.iter().enumerate().map(|(index, span)| ((span.trace.as_str(), span.id.as_str()), index)).collect();
    let node = |(index, span): (usize, &Span)| {
        let (dialect, part) = Dialect::of(span);
        let parent = span.parent.as_deref().and_then(|parent| by_id.get(&(span.trace.as_str(), parent)).copied());
        let parent = parent.filter(|parent| *parent != index);
        Node { dialect, part, parent, children: Vec::new(), agent: None, tool: None, turn: None }
    };
    let mut nodes: Vec<Node> = spans.iter().enumerate().map(node).collect();
    for index in 0..nodes.len() {
        if let Some(parent) = nodes[index].parent {
            nodes[parent].children.push(index);
        }
    }
    nodes
}

/// Returns the nodes so that a parent comes before its children. Spans whose parents form a circle lose them.
fn parents_first(nodes: &mut [Node]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|index| nodes[*index].parent.is_none()).collect();
    let mut is_placed = vec![false; nodes.len()];
    let mut next = 0;
    for first in 0..=nodes.len() {
        while let Some(index) = order.get(next).copied() {
            is_placed[index] = true;
            order.extend(nodes[index].children.iter().copied().filter(|child| !is_placed[*child]));
            next += 1;
        }
        if first < nodes.len() && !is_placed[first] {
            nodes[first].parent = None;
            order.push(first);
        }
    }
    order
}

/// Several instrumentations may report the same request or the same tool, one inside of the other. Keeps one of them: the outer
/// one, unless only the inner one knows the tokens.
fn drop_doubles(spans: &[Span], nodes: &mut [Node], order: &[usize]) {
    let mut outer: Vec<Option<usize>> = vec![None; nodes.len()];
    for index in order {
        let Some(parent) = nodes[*index].parent else { continue };
        let above = match nodes[parent].part {
            Part::Model | Part::Tool => Some(parent),
            Part::Other => outer[parent],
            Part::Agent | Part::Turn => None,
        };
        outer[*index] = above;
        let Some(above) = above else { continue };
        let usage = |index: usize| nodes[index].dialect.model(&spans[index]).usage;
        match (nodes[above].part, nodes[*index].part) {
            (Part::Model, Part::Model) if usage(above).is_none() && usage(*index).is_some() => {
                nodes[above].part = Part::Other;
            }
            (Part::Model, Part::Model) => nodes[*index].part = Part::Other,
            (Part::Tool, Part::Tool) => {
                let name = |index: usize| nodes[index].dialect.tool(&spans[index]).name;
                if name(above) == name(*index) {
                    nodes[*index].part = Part::Other;
                }
            }
            _ => {}
        }
    }
}

/// Finds the agent, the tool and the turn that each span is part of.
fn place(spans: &[Span], nodes: &mut [Node], order: &[usize]) {
    // A span of an agent that only contains other agents is no thread.
    let mut nearest: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut has_work = vec![false; nodes.len()];
    let mut has_agents = vec![false; nodes.len()];
    for index in order {
        let Some(parent) = nodes[*index].parent else { continue };
        nearest[*index] = if nodes[parent].part == Part::Agent { Some(parent) } else { nearest[parent] };
        let Some(agent) = nearest[*index] else { continue };
        match nodes[*index].part {
            Part::Agent => has_agents[agent] = true,
            Part::Turn | Part::Model | Part::Tool => has_work[agent] = true,
            Part::Other => {}
        }
    }
    for index in order {
        let node = &nodes[*index];
        if node.part == Part::Agent && node.dialect != Dialect::Own {
            let is_named = !node.dialect.agent(&spans[*index]).name.is_empty();
            if !(has_work[*index] || is_named && !has_agents[*index]) {
                nodes[*index].part = Part::Other;
            }
        }
        let Some(parent) = nodes[*index].parent else { continue };
        let above = &nodes[parent];
        let (agent, tool, turn) = match above.part {
            Part::Agent => (Some(parent), None, None),
            Part::Tool => (above.agent, Some(parent), above.turn),
            Part::Turn => (above.agent, above.tool, Some(parent)),
            Part::Model | Part::Other => (above.agent, above.tool, above.turn),
        };
        let node = &mut nodes[*index];
        (node.agent, node.tool, node.turn) = (agent, tool, turn);
    }
}

/// Makes threads of spans.
struct Threads<'p, 's> {
    spans: &'s [Span],
    nodes: &'p [Node],
    threads: &'p mut Vec<ThreadPlan>,
    /// The thread of each span of an agent.
    of_agent: HashMap<usize, usize>,
    /// The last thread of each agent that has no parent agent.
    by_key: HashMap<String, usize>,
    /// The last thread of each conversation that a child has apart from its parent.
    by_conversation: HashMap<(usize, String), usize>,
}

impl<'p, 's> Threads<'p, 's> {
    fn new(spans: &'s [Span], plan: &'p mut Plan) -> Self {
        Self {
            spans,
            nodes: &plan.nodes,
            threads: &mut plan.threads,
            of_agent: HashMap::new(),
            by_key: HashMap::new(),
            by_conversation: HashMap::new(),
        }
    }

    fn make(mut self, order: &[usize]) {
        let is = |index: &usize, part: Part| self.nodes[*index].part == part;
        let all = 0..self.nodes.len();
        let agents: Vec<usize> = order.iter().copied().filter(|index| is(index, Part::Agent)).collect();
        let mut tops: Vec<usize> = agents
            .iter()
            .copied()
            .filter(|index| self.nodes[*index].agent.is_none() && self.nodes[*index].tool.is_none())
            .collect();
        tops.sort_unstable();
        let work: Vec<usize> =
            all.filter(|index| matches!(self.nodes[*index].part, Part::Turn | Part::Model | Part::Tool)).collect();
        for agent in &tops {
            self.top(*agent);
        }
        // The order is that of parents before children, so the thread of an agent is there before those of its children.
        let (owned, orphans): (Vec<usize>, Vec<usize>) =
            work.into_iter().partition(|index| self.nodes[*index].agent.is_some());
        for index in orphans {
            let thread = self.of_orphan(index);
            self.add(thread, index);
        }
        for agent in agents {
            if !self.of_agent.contains_key(&agent) {
                self.nested(agent);
            }
        }
        for index in owned {
            let thread = self.nodes[index].agent.and_then(|agent| self.of_agent.get(&agent).copied());
            let thread = thread.unwrap_or_else(|| self.of_orphan(index));
            self.add(thread, index);
        }
        for thread in self.threads.iter_mut() {
            thread.steps.sort_unstable();
            thread.runs.sort_unstable();
        }
    }

    fn add(&mut self, thread: usize, index: usize) {
        let thread = &mut self.threads[thread];
        if self.nodes[index].part == Part::Turn { thread.turn_spans.push(index) } else { thread.steps.push(index) }
    }

    fn push(&mut self, thread: ThreadPlan) -> usize {
        self.threads.push(thread);
        self.threads.len() - 1
    }

    /// Adds the span of an agent to a thread if no other span of the thread overlaps it.
    fn joins(&self, thread: usize, agent: usize) -> bool {
        let last = self.threads[thread].runs.last().map(|run| &self.spans[*run]);
        let is_own = self.nodes[agent].dialect == Dialect::Own;
        is_own || last.is_none_or(|last| last.end.unwrap_or(last.order()) <= self.spans[agent].order())
    }

    fn top(&mut self, agent: usize) {
        let facts = self.nodes[agent].dialect.agent(&self.spans[agent]);
        let key = facts.key.unwrap_or(&self.spans[agent].name).to_owned();
        let thread = match self.by_key.get(&key) {
            Some(thread) if self.joins(*thread, agent) => *thread,
            _ => self.push(ThreadPlan { span: Some(agent), ..ThreadPlan::default() }),
        };
        self.by_key.insert(key, thread);
        self.threads[thread].runs.push(agent);
        self.of_agent.insert(agent, thread);
    }

    fn nested(&mut self, agent: usize) {
        let node = &self.nodes[agent];
        let above = node.agent.and_then(|above| self.of_agent.get(&above).copied());
        let parent = above.unwrap_or_else(|| self.of_orphan(node.tool.unwrap_or(agent)));
        let conversation = |index: usize| self.nodes[index].dialect.agent(&self.spans[index]).conversation;
        let own = conversation(agent).filter(|own| node.agent.is_none_or(|above| conversation(above) != Some(own)));
        let key = own.map(|own| (parent, own.to_owned()));
        let known = key.as_ref().and_then(|key| self.by_conversation.get(key).copied());
        let thread = match known {
            Some(thread) if self.joins(thread, agent) => thread,
            _ => self.push(ThreadPlan {
                span: Some(agent),
                parent: Some(parent),
                spawner: node.tool,
                ..ThreadPlan::default()
            }),
        };
        if let Some(key) = key {
            self.by_conversation.insert(key, thread);
        }
        self.threads[thread].runs.push(agent);
        self.of_agent.insert(agent, thread);
    }

    /// Returns the thread of a span that is part of no agent's span: that of the agent which it names, or the root.
    fn of_orphan(&mut self, index: usize) -> usize {
        let facts = self.nodes[index].dialect.agent(&self.spans[index]);
        if let Some(key) = facts.key {
            if let Some(thread) = self.by_key.get(key) {
                return *thread;
            }
            // Some programs put the name of a tool where the name of the agent belongs.
            if self.nodes[index].part != Part::Tool || facts.thread.is_some() {
                let key = key.to_owned();
                let thread = self.push(ThreadPlan { span: Some(index), ..ThreadPlan::default() });
                self.by_key.insert(key, thread);
                return thread;
            }
        }
        if self.threads.is_empty() {
            return self.push(ThreadPlan::default());
        }
        0
    }
}

impl ThreadPlan {
    fn make_turns(&mut self, spans: &[Span], nodes: &[Node]) {
        let mut held = vec![false; self.runs.len()];
        for index in std::mem::take(&mut self.turn_spans) {
            let run = nodes[index].agent;
            if let Some(run) = run
                && let Ok(place) = self.runs.binary_search(&run)
            {
                held[place] = true;
            }
            self.turns.push(TurnPlan { from: TurnSource::Span(index), run, steps: Vec::new() });
        }
        for (run, held) in self.runs.iter().zip(held) {
            // The span of an exported thread does not count as a turn.
            if !held && nodes[*run].dialect != Dialect::Own {
                self.turns.push(TurnPlan { from: TurnSource::Span(*run), run: Some(*run), steps: Vec::new() });
            }
        }
        if self.turns.is_empty() {
            self.turns_of_traces(spans, nodes);
        }
        let start = |turn: &TurnPlan| match turn.from {
            TurnSource::Span(index) => index,
            TurnSource::Trace { step, .. } => step,
        };
        self.turns.sort_by_key(start);
        let by_span: HashMap<usize, usize> =
            self.turns.iter().enumerate().map(|(at, turn)| (start(turn), at)).collect();
        let starts: Vec<usize> = self.turns.iter().map(start).collect();
        for step in std::mem::take(&mut self.steps) {
            let node = &nodes[step];
            let named = node.turn.and_then(|turn| by_span.get(&turn)).or_else(|| by_span.get(&node.agent?));
            let turn =
                named.copied().unwrap_or_else(|| starts.partition_point(|start| *start <= step).saturating_sub(1));
            if let Some(turn) = self.turns.get_mut(turn) {
                turn.steps.push(step);
            }
        }
    }

    fn turns_of_traces(&mut self, spans: &[Span], nodes: &[Node]) {
        let mut seen = std::collections::HashSet::new();
        for step in &self.steps {
            if !seen.insert(spans[*step].trace.as_str()) {
                continue;
            }
            let mut top = *step;
            while let Some(parent) = nodes[top].parent {
                top = parent;
            }
            // The span is a turn only if it is the top of its trace: its parent is not missing, and it is not itself
            // the only request of the trace.
            let is_top = spans[top].parent.is_none() && top != *step;
            let from = TurnSource::Trace { step: *step, top: is_top.then_some(top) };
            self.turns.push(TurnPlan { from, run: None, steps: Vec::new() });
        }
    }
}
