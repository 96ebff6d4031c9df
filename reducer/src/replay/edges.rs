//! Edges between agents, and the deliveries that become edges.
//!
//! The event of a tool that *sends* a message and the item that shows its *arrival* come in any order. A delivery that
//! no item shows yet is pending; the first matching item receives it.

use std::hash::{Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::chains::Chains;
use super::draft::{Draft, Step, Table, push_unique};
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::shapes::InterAgentText;
use crate::model::{
    Anchor, EdgeIdx, EdgeKind, InteractionEdge, ItemIdx, ItemKind, Part, Role, Symbol, ThreadIdx, ToolIdx, Undelivered,
};

/// A message, task, result or spawn whose arrival has not been seen yet.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) edge_id: Symbol,
    pub(super) kind: EdgeKind,
    pub(super) source: Anchor,
    pub(super) target_thread: Symbol,
    pub(super) author: Symbol,
    pub(super) text: Box<str>,
    pub(super) started_at_unix_ms: i64,
    pub(super) ended_at_unix_ms: Option<i64>,
    pub(super) carried: Vec<Symbol>,
    /// Id of the thread where the edge ends if no item shows the arrival. Only spawns have one.
    pub(super) fallback: Option<Symbol>,
    pub(super) seq: u64,
}

impl Delivery {
    fn into_edge(self, target: Anchor, carried_items: Vec<ItemIdx>) -> InteractionEdge {
        InteractionEdge {
            id: self.edge_id,
            kind: self.kind,
            source: self.source,
            target,
            started_at_unix_ms: self.started_at_unix_ms,
            ended_at_unix_ms: self.ended_at_unix_ms,
            seq: self.seq,
            carried_items,
            carried_payload_ids: self.carried,
        }
    }
}

/// Edges between agents, and deliveries that no item shows yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    by_id: Table<Symbol, EdgeIdx>,
    by_tool: Table<ToolIdx, Vec<EdgeIdx>>,
    /// Items at which an edge ends.
    targets: HashSet<ItemIdx, FixedState>,
    /// Items that show messages between agents, by receiving thread, sender and text.
    items: Chains<(ThreadIdx, Symbol, u64)>,
    /// Keys under which [`Self::items`] has an item.
    keys: Table<ItemIdx, (ThreadIdx, Symbol, u64)>,
    pending: Vec<Option<Delivery>>,
    pending_count: usize,
    pending_by_edge: Table<Symbol, usize>,
    pending_by_text: Table<(Symbol, Symbol, u64), Vec<usize>>,
    pending_by_tool: Table<ToolIdx, Vec<usize>>,
}

impl Edges {
    /// Ends a delivery at the item that shows it, or keeps it until one does.
    pub(super) fn deliver(&mut self, draft: &mut Draft, delivery: Delivery) -> Step {
        if let Some(thread) = draft.threads_by_id.get(&delivery.target_thread).copied()
            && let Some(item) = self.find_arrival(draft, thread, &delivery)
        {
            return self.arrive(draft, delivery, item);
        }
        if let Some(known) = self.pending_by_edge.get(&delivery.edge_id).copied()
            && let Some(pending) = &mut self.pending[known]
        {
            let same = (pending.kind, pending.source, pending.target_thread, pending.author, pending.fallback)
                == (delivery.kind, delivery.source, delivery.target_thread, delivery.author, delivery.fallback)
                && pending.text == delivery.text;
            if same {
                pending.started_at_unix_ms = pending.started_at_unix_ms.min(delivery.started_at_unix_ms);
                pending.ended_at_unix_ms = pending.ended_at_unix_ms.max(delivery.ended_at_unix_ms);
                unite(&mut pending.carried, delivery.carried);
                return Ok(());
            }
            let message = format!("two events disagree about the hand-over {}", draft.trace.text(delivery.edge_id));
            return draft.odd(Code::EdgeContradicted, message);
        }
        let index = self.pending.len();
        let key = (delivery.target_thread, delivery.author, text_key(&delivery.text));
        self.pending_by_edge.insert(delivery.edge_id, index);
        self.pending_by_text.entry(key).or_default().push(index);
        if let Anchor::Tool(tool) = delivery.source {
            self.pending_by_tool.entry(tool).or_default().push(index);
        }
        self.pending.push(Some(delivery));
        self.pending_count += 1;
        Ok(())
    }

    /// Finds the first item of a thread that shows a delivery and is not the target of another edge.
    fn find_arrival(&mut self, draft: &mut Draft, thread: ThreadIdx, delivery: &Delivery) -> Option<ItemIdx> {
        let key = (thread, delivery.author, text_key(&delivery.text));
        let found: Vec<ItemIdx> = self.items.get(&key).filter(|item| !self.targets.contains(item)).collect();
        found.into_iter().find(|item| shows(draft, *item, thread, delivery.author, &delivery.text))
    }

    /// Delivers the pending deliveries that an item shows, until an edge ends at the item.
    pub(super) fn deliver_to(&mut self, draft: &mut Draft, item: ItemIdx) -> Step {
        if self.pending_count == 0 || self.targets.contains(&item) {
            return Ok(());
        }
        let thread = draft.trace.items[item].thread;
        let Some((author, recipient, text)) = delivery_of(draft, item) else { return Ok(()) };
        let target = &draft.trace.threads[thread];
        if recipient != target.agent_path {
            return Ok(());
        }
        let key = (target.id, author, text_key(&text));
        // If a delivery contradicts its edge, no edge ends at the item, and the next delivery is tried.
        while !self.targets.contains(&item) {
            let found = self.pending_by_text.get(&key).and_then(|candidates| {
                candidates
                    .iter()
                    .copied()
                    .find(|index| self.pending[*index].as_ref().is_some_and(|pending| pending.text == text))
            });
            let Some(delivery) = found.and_then(|index| self.take_pending(index)) else { break };
            self.arrive(draft, delivery, item)?;
        }
        Ok(())
    }

    fn take_pending(&mut self, index: usize) -> Option<Delivery> {
        let delivery = self.pending[index].take()?;
        self.pending_count -= 1;
        self.pending_by_edge.remove(&delivery.edge_id);
        let key = (delivery.target_thread, delivery.author, text_key(&delivery.text));
        if let Some(indices) = self.pending_by_text.get_mut(&key) {
            indices.retain(|known| *known != index);
        }
        if let Anchor::Tool(tool) = delivery.source
            && let Some(indices) = self.pending_by_tool.get_mut(&tool)
        {
            indices.retain(|known| *known != index);
        }
        Some(delivery)
    }

    fn arrive(&mut self, draft: &mut Draft, delivery: Delivery, item: ItemIdx) -> Step {
        self.upsert(draft, delivery.into_edge(Anchor::Item(item), vec![item]))
    }

    /// Adds an edge, or merges it into the edge with the same id.
    pub(super) fn upsert(&mut self, draft: &mut Draft, edge: InteractionEdge) -> Step {
        if let Some(known) = self.by_id.get(&edge.id).copied() {
            let known = &mut draft.trace.edges[known];
            if (known.kind, known.source, known.target) != (edge.kind, edge.source, edge.target) {
                let message = format!("two events disagree about the ends of {}", draft.trace.text(edge.id));
                return draft.report(Diagnostic::new(Code::EdgeContradicted, message).at_seq(edge.seq));
            }
            known.started_at_unix_ms = known.started_at_unix_ms.min(edge.started_at_unix_ms);
            known.ended_at_unix_ms = known.ended_at_unix_ms.max(edge.ended_at_unix_ms);
            for item in edge.carried_items {
                push_unique(&mut known.carried_items, item);
            }
            unite(&mut known.carried_payload_ids, edge.carried_payload_ids);
            return Ok(());
        }
        let (id, source, target) = (edge.id, edge.source, edge.target);
        let index = draft.trace.edges.push(edge);
        self.by_id.insert(id, index);
        if let Anchor::Tool(tool) = source {
            self.by_tool.entry(tool).or_default().push(index);
        }
        if let Anchor::Item(item) = target {
            self.targets.insert(item);
            // The item receives no other delivery, so remove it from the index.
            if let Some(key) = self.keys.remove(&item) {
                self.items.remove(&key, item);
            }
        }
        Ok(())
    }

    /// Adds the result of a tool call to the payloads of the call's edge.
    pub(super) fn carry_result(&mut self, draft: &mut Draft, tool: ToolIdx, payload: Symbol) {
        let edges = self.by_tool.get(&tool);
        let first: Option<EdgeIdx> =
            edges.into_iter().flatten().copied().min_by_key(|edge| draft.trace.text(draft.trace.edges[*edge].id));
        if let Some(edge) = first {
            push_unique(&mut draft.trace.edges[edge].carried_payload_ids, payload);
            return;
        }
        let first = self.pending_by_tool.get(&tool).and_then(|indices| indices.first().copied());
        if let Some(pending) = first.and_then(|index| self.pending[index].as_mut()) {
            push_unique(&mut pending.carried, payload);
        }
    }

    /// Ends each spawn that no item shows at the thread that it started.
    pub(super) fn settle_pending(&mut self, draft: &mut Draft) -> Step {
        for index in 0..self.pending.len() {
            let target = self.pending[index]
                .as_ref()
                .and_then(|delivery| delivery.fallback)
                .and_then(|thread| draft.threads_by_id.get(&thread).copied());
            let Some(thread) = target else { continue };
            let Some(delivery) = self.take_pending(index) else { continue };
            self.upsert(draft, delivery.into_edge(Anchor::Thread(thread), Vec::new()))?;
        }
        Ok(())
    }

    /// Reports the deliveries that the log does not show to have arrived.
    pub(super) fn remark_undelivered(&mut self, draft: &mut Draft) {
        // A tool reports the same delivery at its begin and at its end. If the first one was received, its edge exists.
        let lost: Vec<Delivery> = std::mem::take(&mut self.pending)
            .into_iter()
            .flatten()
            .filter(|delivery| !self.by_id.contains_key(&delivery.edge_id))
            .collect();
        for delivery in lost {
            let target = match draft.threads_by_id.get(&delivery.target_thread) {
                Some(thread) => draft.trace.text(draft.trace.threads[*thread].agent_path),
                None => draft.trace.text(delivery.target_thread),
            };
            let author = draft.trace.text(delivery.author);
            let message = format!("{} from {author} to {target} never arrived", delivery.kind.as_str());
            draft.remark(Diagnostic::new(Code::MessageUndelivered, message).at_seq(delivery.seq));
            draft.trace.undelivered.push(Undelivered {
                edge_id: delivery.edge_id,
                kind: delivery.kind,
                source: delivery.source,
                target_thread_id: delivery.target_thread,
                author: delivery.author,
                text: delivery.text,
                started_at_unix_ms: delivery.started_at_unix_ms,
                seq: delivery.seq,
            });
        }
    }

    /// Delivers pending messages to a thread whose path became known.
    pub(super) fn readdress(&mut self, draft: &mut Draft, thread: ThreadIdx) -> Step {
        for item in draft.trace.threads[thread].items.clone() {
            self.index_item(draft, item);
            self.deliver_to(draft, item)?;
        }
        Ok(())
    }

    /// Updates the key under which an item is found as the arrival of a delivery.
    pub(super) fn index_item(&mut self, draft: &mut Draft, item: ItemIdx) {
        let thread = draft.trace.items[item].thread;
        let key = Some(item)
            .filter(|item| !self.targets.contains(item))
            .and_then(|item| delivery_of(draft, item))
            .filter(|(_, recipient, _)| draft.trace.threads[thread].agent_path == *recipient)
            .map(|(author, _, text)| (thread, author, text_key(&text)));
        if let Some(before) = self.keys.remove(&item) {
            self.items.remove(&before, item);
        }
        if let Some(key) = key {
            self.keys.insert(item, key);
            self.items.insert(key, item);
        }
    }
}

/// Returns author, recipient and text of an item, or `None` if the item cannot be a message from another agent.
fn delivery_of(draft: &mut Draft, item: ItemIdx) -> Option<(Symbol, Symbol, Box<str>)> {
    let item = &draft.trace.items[item];
    if item.role != Role::Assistant || item.kind != ItemKind::Message {
        return None;
    }
    if let Some((author, recipient)) = item.agent_message {
        let text = match &*item.parts {
            [Part::Text(text)] => text,
            [Part::Encoded { value, .. }] | [Part::Text(_), Part::Encoded { value, .. }] => value,
            _ => return None,
        };
        return Some((author, recipient, text.clone()));
    }
    let [Part::Text(text)] = &*item.parts else { return None };
    let message = InterAgentText::read(text)?;
    Some((draft.intern(&message.author), draft.intern(&message.recipient), message.text.into()))
}

/// Returns whether an item shows a message to a thread.
fn shows(draft: &mut Draft, item: ItemIdx, thread: ThreadIdx, author: Symbol, text: &str) -> bool {
    delivery_of(draft, item).is_some_and(|(from, to, seen)| {
        from == author && to == draft.trace.threads[thread].agent_path && *seen == *text
    })
}

/// Returns the hash of a text that deliveries are indexed by.
fn text_key(text: &str) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Appends the payloads that are not in the list yet.
fn unite(list: &mut Vec<Symbol>, more: Vec<Symbol>) {
    let known: HashSet<Symbol, FixedState> = list.iter().copied().collect();
    list.extend(more.into_iter().filter(|payload| !known.contains(payload)));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trace_recorder::format::Manifest;

    use super::*;
    use crate::model::{ConversationItem, SchemaVersion};

    /// A parent and its child.
    struct Family {
        draft: Draft,
        edges: Edges,
        parent: ThreadIdx,
        child: ThreadIdx,
    }

    impl Family {
        fn new() -> Self {
            let mut draft = Draft::new(SchemaVersion::V2, &Manifest::new("trace", "rollout", "parent", 0), false);
            let mut thread = |id| {
                let id = draft.intern(id);
                draft.imply_thread(id)
            };
            let (parent, child) = (thread("parent"), thread("child"));
            Self { draft, edges: Edges::default(), parent, child }
        }

        /// Sends a text from the parent to the child.
        fn send(&mut self, text: &str) {
            let [parent, child] = [self.parent, self.child].map(|thread| &self.draft.trace.threads[thread]);
            let (author, target_thread) = (parent.agent_path, child.id);
            let delivery = Delivery {
                edge_id: self.draft.intern("edge"),
                kind: EdgeKind::SendMessage,
                source: Anchor::Thread(self.parent),
                target_thread,
                author,
                text: text.into(),
                started_at_unix_ms: 1,
                ended_at_unix_ms: None,
                carried: Vec::new(),
                fallback: None,
                seq: 1,
            };
            self.edges.deliver(&mut self.draft, delivery).expect("the draft is lenient");
        }

        /// Adds an item of the child that shows a text of the parent.
        fn show(&mut self, text: &str) -> ItemIdx {
            let [author, recipient] =
                [self.parent, self.child].map(|thread| self.draft.trace.threads[thread].agent_path);
            let item = self.draft.trace.items.push(ConversationItem {
                responses_item_id: None,
                accepted: None,
                thread: self.child,
                codex_turn_id: None,
                first_seen: self.draft.event.at,
                role: Role::Assistant,
                channel: None,
                kind: ItemKind::Message,
                agent_message: Some((author, recipient)),
                parts: Arc::from([Part::Text(text.into())]),
                payload_id: None,
                call_id: None,
                produced_by: Vec::new(),
            });
            self.edges.index_item(&mut self.draft, item);
            self.edges.deliver_to(&mut self.draft, item).expect("the draft is lenient");
            item
        }

        fn targets(&self) -> Vec<Anchor> {
            self.draft.trace.edges.values().map(|edge| edge.target).collect()
        }
    }

    #[test]
    fn a_message_waits_for_the_item_that_shows_it() {
        let mut family = Family::new();
        family.send("go");
        family.show("stop");
        assert_eq!(family.targets(), []);
        let item = family.show("go");
        assert_eq!(family.targets(), [Anchor::Item(item)]);
        family.show("go");
        assert_eq!(family.targets(), [Anchor::Item(item)]);
    }

    #[test]
    fn a_message_finds_the_first_item_that_showed_it_before() {
        let mut family = Family::new();
        let first = family.show("go");
        family.show("go");
        family.send("go");
        assert_eq!(family.targets(), [Anchor::Item(first)]);
    }

    #[test]
    fn two_messages_under_one_edge_are_reported_and_the_first_one_counts_as_lost() {
        let mut family = Family::new();
        family.send("go");
        family.send("stop");
        assert_eq!(family.draft.diagnostics.count(Code::EdgeContradicted), 1);
        family.edges.remark_undelivered(&mut family.draft);
        let lost: Vec<&str> = family.draft.trace.undelivered.iter().map(|lost| &*lost.text).collect();
        assert_eq!(lost, ["go"]);
    }
}
