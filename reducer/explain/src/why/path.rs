//! The origin of a text, and its ways into and out of agents.

use std::collections::{HashMap, HashSet};

use trace_reducer::model::{
    Anchor, CellIdx, EdgeKind, ItemIdx, ItemKind, Origin as ThreadOrigin, Producer, Role, SessionIdx, Symbol,
    ThreadIdx, ToolIdx,
};

use super::answer::{Form, Hop, Kind, Origin, Way};
use super::kind;
use crate::object::Object;
use crate::session::Session;
use crate::texts::{Aspect, Calls, Place, Texts, place_of_item};

/// A place that contains the text that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) place: Place,
    pub(super) form: Form,
}

/// Follows texts through a session.
pub(super) struct Ways<'s> {
    session: &'s Session,
    calls: &'s Calls,
    written_here: Box<dyn Fn(ItemIdx) -> bool + 's>,
    /// For each tool call that sends a message, the id of the receiving thread.
    targets: HashMap<ToolIdx, Symbol>,
}

/// Identifies a station of a path: thread, way, the other agent's id, and form.
type Station = (ThreadIdx, Way, Option<Symbol>, Form);

/// A source of output that several tool calls may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shared {
    Terminal(SessionIdx),
    Cell(CellIdx),
}

impl<'s> Ways<'s> {
    pub(super) fn new(session: &'s Session, texts: &'s Texts<'s>) -> Self {
        let trace = session.trace();
        let mut targets = HashMap::new();
        for edge in trace.edges.values() {
            if let (Anchor::Tool(tool), true) = (edge.source, edge.kind != EdgeKind::AgentResult) {
                let thread = match edge.target {
                    Anchor::Item(item) => trace.items[item].thread,
                    Anchor::Tool(tool) => trace.tools[tool].thread,
                    Anchor::Thread(thread) => thread,
                };
                targets.insert(tool, trace.threads[thread].id);
            }
        }
        for lost in &trace.undelivered {
            if let Anchor::Tool(tool) = lost.source {
                targets.insert(tool, lost.target_thread_id);
            }
        }
        Self { session, calls: texts.calls(), written_here: Box::new(texts.written_here()), targets }
    }

    /// Adds an occurrence, or corrects its form, for each item that contains a call whose arguments contain the text:
    /// in the call's thread, and in histories that inherit the call. The graph has the arguments only as compact JSON,
    /// with other white space and escapes than the model wrote.
    pub(super) fn complete(&self, mut found: Vec<Occurrence>) -> Vec<Occurrence> {
        let trace = self.session.trace();
        let mut own: HashMap<(ThreadIdx, Symbol), Occurrence> = HashMap::new();
        let mut originals: HashMap<Symbol, (ItemIdx, Occurrence)> = HashMap::new();
        for occurrence in found.iter().filter(|occurrence| occurrence.place.aspect == Aspect::Arguments) {
            let Object::Tool(tool) = occurrence.place.object else { continue };
            for item in self.calls.items_of_tool(tool) {
                if let Some(call_id) = trace.items[*item].call_id {
                    own.entry((occurrence.place.thread, call_id)).or_insert(*occurrence);
                    originals.entry(call_id).or_insert((*item, *occurrence));
                }
            }
        }
        if originals.is_empty() {
            return found;
        }
        let mut known: HashMap<ItemIdx, usize> = HashMap::new();
        for (index, occurrence) in found.iter().enumerate() {
            if let Some(item) = occurrence.place.item() {
                known.insert(item, index);
            }
        }
        for (item, it) in trace.items.iter().filter(|(_, item)| item.kind.is_call()) {
            let Some(call_id) = it.call_id else { continue };
            let inherited = || {
                let (original, occurrence) = originals.get(&call_id)?;
                (it.parts == trace.items[*original].parts).then_some(occurrence)
            };
            let Some(occurrence) = own.get(&(it.thread, call_id)).or_else(inherited) else { continue };
            if let Some(index) = known.get(&item) {
                found[*index].form = occurrence.form;
                continue;
            }
            let place = if it.thread == occurrence.place.thread {
                Place { object: Object::Item(item), aspect: Aspect::Json, ..occurrence.place }
            } else {
                place_of_item(trace, item)
            };
            found.push(Occurrence { place, form: occurrence.form });
        }
        found.sort_by_key(|occurrence| (occurrence.place.birth, occurrence.form));
        found
    }

    /// Returns the first occurrence. A place with only a part of the text is the origin only if no place has all of it.
    pub(super) fn origin(&self, found: &[Occurrence]) -> Option<Occurrence> {
        let whole = found.iter().filter(|occurrence| occurrence.form != Form::Truncated);
        let first = whole.clone().next().or(found.first())?;
        let first = self.inherited_from(first, whole).unwrap_or(first);
        Some(self.carrier(first, found).unwrap_or(*first))
    }

    /// Returns the occurrence in an ancestor of what the agent inherited. The ancestor had it before, but the log may
    /// show it later, if the response that spawned the agent was never completed.
    fn inherited_from<'f>(
        &self,
        first: &Occurrence,
        mut whole: impl Iterator<Item = &'f Occurrence> + Clone,
    ) -> Option<&'f Occurrence> {
        let trace = self.session.trace();
        let item = first.place.item().filter(|item| self.is_inherited(*item))?;
        let ancestors = self.ancestors(first.place.thread);
        let is_same = |other: ItemIdx| {
            let (item, other) = (&trace.items[item], &trace.items[other]);
            (item.kind, item.role, &item.parts) == (other.kind, other.role, &other.parts)
        };
        let in_ancestor = |occurrence: &&Occurrence| {
            ancestors.contains(&occurrence.place.thread) && occurrence.place.item().is_some_and(is_same)
        };
        let is_own = |occurrence: &&Occurrence| !occurrence.place.item().is_some_and(|item| self.is_inherited(item));
        let own = whole.clone().filter(in_ancestor).find(is_own);
        own.or_else(|| whole.find(in_ancestor))
    }

    fn ancestors(&self, thread: ThreadIdx) -> HashSet<ThreadIdx> {
        let trace = self.session.trace();
        let by_id: HashMap<Symbol, ThreadIdx> = trace.threads.iter().map(|(thread, it)| (it.id, thread)).collect();
        let parent = |thread: ThreadIdx| match &trace.threads[thread].origin {
            ThreadOrigin::Spawned { parent_thread_id, .. } => by_id.get(parent_thread_id).copied(),
            ThreadOrigin::Root => None,
        };
        let mut ancestors = HashSet::new();
        let mut at = parent(thread);
        // A forged bundle may have a cycle of threads that spawned each other.
        while let Some(thread) = at.filter(|thread| ancestors.insert(*thread)) {
            at = parent(thread);
        }
        ancestors
    }

    /// Returns the call that returned a printed text to the model, if that is another call than the one that printed
    /// it. A command may continue after its call has returned, and then another call returns the rest of its output.
    fn carrier(&self, first: &Occurrence, found: &[Occurrence]) -> Option<Occurrence> {
        let trace = self.session.trace();
        let printer = match first.place.object {
            Object::Tool(tool) if first.place.aspect == Aspect::Printed => tool,
            Object::Cell(cell) if first.place.aspect == Aspect::Printed => self.calls.tool_of_cell(trace, cell)?,
            _ => return None,
        };
        let shared = self.shared(printer)?;
        let returned = |occurrence: &&Occurrence| {
            let is_output = match occurrence.place.object {
                Object::Item(item) => trace.items[item].kind.is_output(),
                _ => occurrence.place.aspect == Aspect::Result,
            };
            is_output && occurrence.form != Form::Truncated
        };
        let by = |occurrence: &Occurrence| match occurrence.place.object {
            Object::Item(item) => self.calls.tool_of(trace, item),
            Object::Tool(tool) => Some(tool),
            _ => None,
        };
        let mut carried = found.iter().filter(returned).filter_map(|occurrence| Some((by(occurrence)?, occurrence)));
        let (tool, occurrence) = carried.find(|(tool, _)| *tool == printer || self.shared(*tool) == Some(shared))?;
        (tool != printer).then_some(*occurrence)
    }

    fn shared(&self, tool: ToolIdx) -> Option<Shared> {
        let trace = self.session.trace();
        let call = &trace.tools[tool];
        let terminal = call.operation.and_then(|operation| trace.operations[operation].session).map(Shared::Terminal);
        let started = || {
            let id = call.model_visible_call_id?;
            self.calls.cell_by_id(call.thread, id)
        };
        terminal.or_else(|| self.calls.waited_for(tool).or_else(started).map(Shared::Cell))
    }

    pub(super) fn describe(&self, origin: &Occurrence) -> Origin {
        let (kind, object) = kind::attribute(self.session.trace(), self.calls, &origin.place);
        let thread = origin.place.thread;
        Origin {
            kind,
            object: self.session.name(object),
            thread_id: self.thread_id(thread),
            agent_path: self.session.agent_path(thread).to_owned(),
            seq: self.seq(&origin.place, kind, object),
        }
    }

    /// Returns the sequence number of the event that shows a place. For arguments it is the start of their call, even
    /// if the item with the arguments was there before.
    fn seq(&self, place: &Place, kind: Kind, object: Object) -> u64 {
        match object {
            Object::Tool(tool) if matches!(kind, Kind::ToolArguments | Kind::AgentMessage) => {
                self.session.trace().tools[tool].execution.started.seq
            }
            _ => place.seq,
        }
    }

    fn thread_id(&self, thread: ThreadIdx) -> String {
        let trace = self.session.trace();
        trace.text(trace.threads[thread].id).to_owned()
    }

    /// Returns the origin, and the first occurrence for each way of the text into an agent or out of it. Earlier
    /// occurrences in the agent of the origin are left out; there are some if another call turned out to have returned
    /// the origin.
    pub(super) fn path(&self, found: &[Occurrence], origin: Option<&Occurrence>) -> Vec<Hop> {
        let mut seen: HashSet<Station> = HashSet::new();
        let others = found.iter().filter(|occurrence| {
            let is_later = origin.is_none_or(|origin| {
                occurrence.place.birth >= origin.place.birth
                    || occurrence.place.thread != origin.place.thread
                    || occurrence.form == Form::Truncated
            });
            Some(*occurrence) != origin && is_later
        });
        let mut hops = Vec::new();
        for occurrence in origin.into_iter().chain(others) {
            let (way, other) = self.way(&occurrence.place);
            // A place that contains more than the text is not another station.
            let form = if occurrence.form == Form::Verbatim { Form::Within } else { occurrence.form };
            if seen.insert((occurrence.place.thread, way, other, form)) {
                hops.push(self.hop(occurrence, way));
            }
        }
        hops
    }

    fn hop(&self, occurrence: &Occurrence, way: Way) -> Hop {
        let thread = occurrence.place.thread;
        let (kind, object) = kind::attribute(self.session.trace(), self.calls, &occurrence.place);
        let object = if way == Way::Inherited { occurrence.place.object } else { object };
        Hop {
            object: self.session.name(object),
            thread_id: self.thread_id(thread),
            agent_path: self.session.agent_path(thread).to_owned(),
            seq: self.seq(&occurrence.place, kind, object),
            form: occurrence.form,
            way,
        }
    }

    /// Returns how a text came or went at a place, and the id of the other agent, if there is one.
    fn way(&self, place: &Place) -> (Way, Option<Symbol>) {
        let trace = self.session.trace();
        if let Some(item) = place.item() {
            let it = &trace.items[item];
            if place.aspect == Aspect::Message {
                // A message that nobody received is named by the item that contains it.
                return (Way::Sent, None);
            }
            if self.is_inherited(item) {
                return (Way::Inherited, None);
            }
            if let Some((author, _)) = it.agent_message {
                return (Way::Received, Some(author));
            }
        }
        let (kind, object) = kind::attribute(trace, self.calls, place);
        let way = match kind {
            Kind::UserInput => Way::User,
            Kind::Instructions => Way::Instructions,
            Kind::ModelOutput | Kind::Unknown => Way::Said,
            Kind::ToolArguments => Way::Called,
            Kind::ToolOutput => Way::Returned,
            // In schema 1, the answers of children are messages with the user's role.
            Kind::AgentMessage if place.item().is_some_and(|item| !trace.items[item].kind.is_call()) => Way::Received,
            Kind::AgentMessage => Way::Sent,
        };
        let target = match object {
            Object::Tool(tool) if way == Way::Sent => self.targets.get(&tool).copied(),
            _ => None,
        };
        (way, target)
    }

    /// Returns whether an item of a spawned agent is part of the history that it inherited. All other items of these
    /// kinds come from the agent's own responses and tools.
    fn is_inherited(&self, item: ItemIdx) -> bool {
        let trace = self.session.trace();
        let it = &trace.items[item];
        if matches!(trace.threads[it.thread].origin, ThreadOrigin::Root) {
            return false;
        }
        // A fork also has messages that were sent to its parent.
        if let Some((_, recipient)) = it.agent_message {
            let recipient = trace.text(recipient);
            return recipient.starts_with('/') && recipient != self.session.agent_path(it.thread);
        }
        match it.kind {
            ItemKind::Message => match it.role {
                Role::Assistant => !(self.written_here)(item),
                // A message that a user sends to this agent is accepted into its history.
                Role::User if it.accepted.is_some() => false,
                // A summary is the agent's own if a compaction of this agent made it.
                Role::User => kind::is_from_user(it) || (kind::is_summary(it) && !self.is_compacted_here(item)),
                _ => false,
            },
            ItemKind::Reasoning => !(self.written_here)(item),
            ItemKind::FunctionCall | ItemKind::CustomToolCall => {
                !(self.written_here)(item) && self.calls.tool_of(trace, item).is_none()
            }
            ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput => {
                self.calls.tool_of(trace, item).is_none() && self.calls.cell_of(trace, item).is_none()
            }
            ItemKind::CompactionMarker => false,
        }
    }

    fn is_compacted_here(&self, item: ItemIdx) -> bool {
        let trace = self.session.trace();
        let it = &trace.items[item];
        it.produced_by.iter().any(|producer| match producer {
            Producer::Compaction(compaction) => trace.compactions[*compaction].thread == it.thread,
            _ => false,
        })
    }
}
