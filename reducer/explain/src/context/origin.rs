//! Origins of the items of a conversation.

use std::collections::{HashMap, HashSet};

use trace_reducer::model::{
    Anchor, ConversationItem, EdgeIdx, Handle, InferenceIdx, ItemIdx, Origin as ThreadOrigin, Producer, Role, Symbol,
    ThreadIdx, Trace,
};

use super::answer::{Origin, OriginKind};
use super::kept::{Content, content, kept};
use crate::object::{Object, name_of};
use crate::why::{Kind, by_user_role};

/// Finds the origins of the items of one thread.
pub(super) struct Origins<'t> {
    trace: &'t Trace,
    thread: ThreadIdx,
    /// Edges that end at an item of the thread, by item.
    arrivals: HashMap<ItemIdx, EdgeIdx>,
    /// Items of the threads above that existed when this thread began, by the provider's id and by content.
    above_by_id: HashMap<Symbol, ItemIdx>,
    above_by_content: HashMap<Content<'t>, ItemIdx>,
    /// Items of the thread's first request.
    at_first: HashSet<ItemIdx>,
    /// Numbers of the thread's requests, from 1, by the index of the call.
    numbers: HashMap<usize, usize>,
    /// For each item that a compaction kept, the old item and the id of the compaction.
    kept: HashMap<ItemIdx, (ItemIdx, Symbol)>,
}

impl<'t> Origins<'t> {
    /// Prepares the search: collects the edges into the thread and the histories of the threads above.
    pub(super) fn new(trace: &'t Trace, thread: ThreadIdx) -> Self {
        let arrivals = trace.edges.iter().filter_map(|(index, edge)| match edge.target {
            Anchor::Item(item) if trace.items[item].thread == thread => Some((item, index)),
            _ => None,
        });
        let mut origins = Self {
            trace,
            thread,
            arrivals: arrivals.collect(),
            above_by_id: HashMap::new(),
            above_by_content: HashMap::new(),
            at_first: HashSet::new(),
            numbers: numbers(trace, thread),
            kept: HashMap::new(),
        };
        for compaction in trace.compactions.values().filter(|compaction| compaction.thread == thread) {
            let (before, after) = (&compaction.input_items, &compaction.replacement_items);
            for (item, place) in after.iter().zip(kept(trace, before, after)) {
                if let Some(place) = place {
                    origins.kept.insert(*item, (before[place], compaction.id));
                }
            }
        }
        if let Some(first) = trace.inferences.values().find(|call| call.thread == thread) {
            origins.at_first.extend(trace.lists.get(first.request_items));
        }
        origins.look_above();
        origins
    }

    fn look_above(&mut self) {
        let trace = self.trace;
        let by_id: HashMap<Symbol, ThreadIdx> = trace.threads.iter().map(|(index, known)| (known.id, index)).collect();
        let started = trace.threads[self.thread].execution.started.seq;
        let mut seen = HashSet::from([self.thread]);
        let mut above = self.thread;
        while let ThreadOrigin::Spawned { parent_thread_id, .. } = &trace.threads[above].origin
            && let Some(parent) = by_id.get(parent_thread_id)
            && seen.insert(*parent)
        {
            above = *parent;
            for item in &trace.threads[above].items {
                let known = &trace.items[*item];
                if known.first_seen.seq > started {
                    continue;
                }
                if let Some(id) = known.responses_item_id {
                    self.above_by_id.entry(id).or_insert(*item);
                }
                self.above_by_content.entry(content(known)).or_insert(*item);
            }
        }
    }

    /// Returns the origin of an item.
    pub(super) fn of(&self, item: ItemIdx) -> Origin {
        // An item that a compaction kept is new in the graph, so go back to the old item.
        let mut first = item;
        let mut seen = HashSet::from([item]);
        while let Some((before, _)) = self.kept.get(&first).filter(|(before, _)| seen.insert(*before)) {
            first = *before;
        }
        let kept_by = self.kept.get(&item).map(|(_, compaction)| self.trace.text(*compaction).to_owned());
        Origin { kept_by, ..self.of_first(first) }
    }

    fn of_first(&self, item: ItemIdx) -> Origin {
        let trace = self.trace;
        let known = &trace.items[item];
        if let Some(edge) = self.arrivals.get(&item) {
            let from = match trace.edges[*edge].source {
                Anchor::Item(item) => trace.items[item].thread,
                Anchor::Tool(tool) => trace.tools[tool].thread,
                Anchor::Thread(thread) => thread,
            };
            return self.of_agent(Object::Edge(*edge), from);
        }
        let made = |kind, object| Origin {
            kind,
            object: Some(name_of(trace, object)),
            agent_path: None,
            number: None,
            kept_by: None,
        };
        for producer in &known.produced_by {
            match *producer {
                Producer::Compaction(compaction) => {
                    return made(OriginKind::Compaction, Object::Compaction(compaction));
                }
                Producer::Inference(inference) => {
                    let number = self.numbers.get(&inference.index()).copied();
                    return Origin { number, ..made(OriginKind::ModelOutput, Object::Inference(inference)) };
                }
                // A call id that is used again links items across threads. A tool call of another thread is not the
                // producer.
                Producer::Tool(tool) if trace.tools[tool].thread == self.thread => {
                    return made(OriginKind::ToolOutput, Object::Tool(tool));
                }
                Producer::Cell(cell) if trace.cells[cell].thread == self.thread => {
                    return made(OriginKind::ToolOutput, Object::Cell(cell));
                }
                Producer::Tool(_) | Producer::Cell(_) => {}
            }
        }
        let is_first = self.at_first.contains(&item);
        if is_first && let Some(above) = self.inherited_from(known) {
            let from = trace.items[above].thread;
            return Origin { kind: OriginKind::Inherited, ..self.of_agent(Object::Item(above), from) };
        }
        let kind = match (known.role, known.kind) {
            _ if known.agent_message.is_some() => {
                let author = known.agent_message.map(|(author, _)| trace.text(author).to_owned());
                return Origin {
                    kind: OriginKind::AgentMessage,
                    object: None,
                    agent_path: author,
                    number: None,
                    kept_by: None,
                };
            }
            (Role::System | Role::Developer, _) => OriginKind::Instructions,
            (Role::User, _) if is_client_text(known) => OriginKind::Instructions,
            (Role::User, _) => OriginKind::UserInput,
            (Role::Tool, _) if !is_first => OriginKind::ToolOutput,
            _ if is_first && trace.threads[self.thread].origin == ThreadOrigin::Root => OriginKind::EarlierSession,
            _ => OriginKind::Unknown,
        };
        Origin { kind, object: None, agent_path: None, number: None, kept_by: None }
    }

    fn of_agent(&self, object: Object, from: ThreadIdx) -> Origin {
        let trace = self.trace;
        let path = trace.text(trace.threads[from].agent_path).to_owned();
        Origin {
            kind: OriginKind::AgentMessage,
            object: Some(name_of(trace, object)),
            agent_path: Some(path),
            number: None,
            kept_by: None,
        }
    }

    /// Returns the item of a thread above that this item repeats. Every agent gets its own copy of instructions, so
    /// equal instructions only count if they have the same id.
    fn inherited_from(&self, known: &ConversationItem) -> Option<ItemIdx> {
        if let Some(above) = known.responses_item_id.and_then(|id| self.above_by_id.get(&id)) {
            return Some(*above);
        }
        let is_instructions =
            matches!(known.role, Role::System | Role::Developer) || (known.role == Role::User && is_client_text(known));
        if is_instructions || known.responses_item_id.is_some() {
            return None;
        }
        self.above_by_content.get(&content(known)).copied()
    }

    /// Returns the number of a call within its thread, from 1.
    pub(super) fn number(&self, inference: InferenceIdx) -> Option<usize> {
        self.numbers.get(&inference.index()).copied()
    }

    /// Returns the number of the thread's requests.
    pub(super) fn requests(&self) -> usize {
        self.numbers.len()
    }
}

/// Returns whether a message with the user's role was written by the client.
fn is_client_text(item: &ConversationItem) -> bool {
    by_user_role(item) == Kind::Instructions
}

/// Returns the numbers of a thread's requests, from 1, by the index of the call.
fn numbers(trace: &Trace, thread: ThreadIdx) -> HashMap<usize, usize> {
    let calls = trace.inferences.iter().filter(|(_, call)| call.thread == thread);
    calls.zip(1..).map(|((inference, _), number)| (inference.index(), number)).collect()
}
