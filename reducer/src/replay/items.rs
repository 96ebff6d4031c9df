//! What replay knows of conversation items beyond the graph: their content as ingest normalized it, indexes, positions in
//! lists, and what the model of each thread has read.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::chains::Chains;
use super::draft::{Draft, Step, Table};
use crate::diagnostic::{Code, Diagnostic};
use crate::ingest::{ItemProblem, Normalized, RunItem, key_with_parts};
use crate::model::lists::Appended;
use crate::model::{
    Arena, Channel, ConversationItem, Handle, InferenceIdx, ItemIdx, ItemKind, ItemList, Moment, Part, Producer, Role,
    Symbol, ThreadIdx, ToolIdx,
};

/// A normalized item with interned strings.
#[derive(Debug, Clone)]
pub(super) struct Norm {
    pub(super) role: Role,
    pub(super) channel: Option<Channel>,
    pub(super) kind: ItemKind,
    pub(super) call_id: Option<Symbol>,
    pub(super) responses_item_id: Option<Symbol>,
    pub(super) agent_message: Option<(Symbol, Symbol)>,
    pub(super) parts: Arc<[Part]>,
    pub(super) key: u64,
    pub(super) unrepeatable: bool,
    pub(super) problem: Option<ItemProblem>,
}

/// A normalized item in [`Items::norms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NormIdx(u32);

impl NormIdx {
    /// Returns the index of an item of the run whose first item this is.
    pub(super) fn in_run(self, item: RunItem) -> Self {
        Self(self.0 + item.0)
    }
}

impl Handle for NormIdx {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("an arena holds fewer than 2^32 objects"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a sighted item comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<Symbol>,
    pub(super) payload: Symbol,
    pub(super) producer: Option<Producer>,
}

/// State of an item that is not part of the graph.
#[derive(Debug, Clone)]
pub(super) struct ItemState {
    /// Content key: equal items have equal keys.
    pub(super) key: u64,
    /// First position of the item in a line of lists, as the list that ends with the item.
    pub(super) place: ItemList,
    /// Number of the list that last used the item; see [`Items::lists_placed`].
    pub(super) used_by: u64,
    /// The tool call with the item's call id, once the two are linked.
    pub(super) tool: Option<ToolIdx>,
    /// Inference calls whose response contains the item.
    pub(super) response_of: Vec<InferenceIdx>,
    /// Whether the item was part of a request or of a checkpoint.
    pub(super) listed: bool,
    /// Whether the item must be linked again when it is seen again.
    pub(super) stale: bool,
}

/// What the model of a thread has read.
#[derive(Debug, Clone)]
pub(super) struct History {
    /// The newest context of the model.
    pub(super) live: ItemList,
    /// The inference call that made it.
    pub(super) newest: Option<InferenceIdx>,
    /// The replacement history of a compaction, until the next full request.
    pub(super) installed: Option<ItemList>,
    /// The items of the last full request, if the next request may be compared with it.
    pub(super) comparable: Option<ItemList>,
    /// Items that must be linked again when they are seen again.
    pub(super) stale: Vec<ItemIdx>,
}

impl Default for History {
    fn default() -> Self {
        Self { live: ItemList::EMPTY, newest: None, installed: None, comparable: None, stale: Vec::new() }
    }
}

/// Conversation items of all threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Items {
    pub(super) norms: Arena<NormIdx, Norm>,
    states: Arena<ItemIdx, ItemState>,
    histories: Table<ThreadIdx, History>,
    /// Lines of lists in which [`ItemState::place`] may not be the first position of an item.
    pub(super) unordered_lines: HashSet<u32, FixedState>,
    /// Keys of the invalid items that were reported.
    told: HashSet<u64, FixedState>,
    /// Number of lists that were placed; see [`ItemState::used_by`].
    pub(super) lists_placed: u64,
    pub(super) by_key: Chains<(ThreadIdx, u64)>,
    pub(super) by_responses_id: Chains<(ThreadIdx, Symbol)>,
    pub(super) by_call: Chains<(ThreadIdx, Symbol)>,
    pub(super) by_call_anywhere: Chains<Symbol>,
    answers_by_turn: Table<(ThreadIdx, Option<Symbol>), Vec<ItemIdx>>,
    /// When items were accepted, by thread and the provider's id.
    pub(super) accepted: Table<(ThreadIdx, Symbol), Moment>,
    /// Items that were created when a message was accepted, and that no list has shown since.
    pub(super) receipts: Table<(ThreadIdx, Symbol), ItemIdx>,
    /// Whether an item that may be the source of a queued cell was created since the queue was last looked at.
    pub(super) has_new_code: bool,
}

impl Index<ItemIdx> for Items {
    type Output = ItemState;

    fn index(&self, item: ItemIdx) -> &ItemState {
        &self.states[item]
    }
}

impl IndexMut<ItemIdx> for Items {
    fn index_mut(&mut self, item: ItemIdx) -> &mut ItemState {
        &mut self.states[item]
    }
}

impl Items {
    /// Returns what the model of a thread has read.
    pub(super) fn history(&mut self, thread: ThreadIdx) -> &mut History {
        self.histories.entry(thread).or_default()
    }

    /// Interns the strings of a normalized item and adds it to [`Self::norms`].
    pub(super) fn take_norm(&mut self, draft: &mut Draft, normalized: Normalized) -> NormIdx {
        let call_id = normalized.call_id.map(|id| draft.intern(&id));
        let responses_item_id = normalized.responses_item_id.map(|id| draft.intern(&id));
        let agent_message =
            normalized.agent_message.map(|(author, recipient)| (draft.intern(&author), draft.intern(&recipient)));
        self.norms.push(Norm {
            role: normalized.role,
            channel: normalized.channel,
            kind: normalized.kind,
            call_id,
            responses_item_id,
            agent_message,
            parts: normalized.parts,
            key: normalized.key,
            unrepeatable: normalized.unrepeatable,
            problem: normalized.problem,
        })
    }

    /// Adds the items of a payload to [`Self::norms`] and reports those of an unknown type or form.
    pub(super) fn take_norms(
        &mut self,
        draft: &mut Draft,
        payload: Symbol,
        normalized: Vec<Normalized>,
    ) -> Step<Vec<NormIdx>> {
        let norms: Vec<NormIdx> = normalized.into_iter().map(|item| self.take_norm(draft, item)).collect();
        self.check(draft, payload, &norms)?;
        Ok(norms)
    }

    /// Reports items of an unknown type or form.
    pub(super) fn check(&mut self, draft: &mut Draft, payload: Symbol, norms: &[NormIdx]) -> Step {
        for norm in norms {
            let Norm { problem, key, .. } = self.norms[*norm];
            // Every request repeats the items of the request before, so report each item once.
            if let Some(problem) = problem.filter(|_| self.told.insert(key)) {
                let payload: Box<str> = draft.trace.text(payload).into();
                let diagnostic = Diagnostic::new(Code::ItemUnknown, problem.to_string());
                draft.report(diagnostic.at_seq(draft.event.at.seq).of_payload(payload))?;
            }
        }
        Ok(())
    }

    /// Marks an item that must be linked again when it is seen again.
    pub(super) fn mark_stale(&mut self, draft: &Draft, item: ItemIdx) {
        if !std::mem::replace(&mut self[item].stale, true) {
            let thread = draft.trace.items[item].thread;
            self.history(thread).stale.push(item);
        }
    }

    /// Adds an item with the content of a sighting.
    pub(super) fn create(&mut self, draft: &mut Draft, source: Source, norm: NormIdx) -> ItemIdx {
        let norm = &self.norms[norm];
        let item = ConversationItem {
            responses_item_id: norm.responses_item_id,
            accepted: None,
            thread: source.thread,
            codex_turn_id: source.turn,
            first_seen: draft.event.at,
            role: norm.role,
            channel: norm.channel,
            kind: norm.kind,
            agent_message: norm.agent_message,
            parts: norm.parts.clone(),
            payload_id: Some(source.payload),
            call_id: norm.call_id,
            produced_by: source.producer.into_iter().collect(),
        };
        let key = norm.key;
        self.add(draft, item, key)
    }

    /// Adds an item to the graph and to the indexes.
    pub(super) fn add(&mut self, draft: &mut Draft, item: ConversationItem, key: u64) -> ItemIdx {
        let thread = item.thread;
        let (responses_id, call_id, turn) = (item.responses_item_id, item.call_id, item.codex_turn_id);
        let answers = item.role == Role::Assistant && item.kind == ItemKind::Message && item.agent_message.is_none();
        self.has_new_code |= item.kind == ItemKind::CustomToolCall;
        let index = draft.trace.items.push(item);
        self.states.push(ItemState {
            key,
            place: ItemList::EMPTY,
            used_by: 0,
            tool: None,
            response_of: Vec::new(),
            listed: false,
            stale: false,
        });
        // Items are created in the order in which they are first seen, so the thread's list is in that order.
        draft.trace.threads[thread].items.push(index);
        self.by_key.insert((thread, key), index);
        if let Some(id) = responses_id {
            self.by_responses_id.insert((thread, id), index);
        }
        if let Some(id) = call_id {
            self.by_call.insert((thread, id), index);
            self.by_call_anywhere.insert(id, index);
        }
        if answers {
            self.answers_by_turn.entry((thread, turn)).or_default().push(index);
        }
        index
    }

    /// Merges what a new sighting of an item adds. Most sightings add nothing, and then the item is not touched.
    pub(super) fn see(&mut self, draft: &mut Draft, item: ItemIdx, norm: NormIdx) {
        let norm = &self.norms[norm];
        let known = &draft.trace.items[item];
        let thread = known.thread;
        let new_id = norm.responses_item_id.filter(|_| known.responses_item_id.is_none());
        let merged = if known.kind == ItemKind::Reasoning { merged_reasoning(&known.parts, &norm.parts) } else { None };
        if let Some(id) = new_id {
            draft.trace.items[item].responses_item_id = Some(id);
            self.by_responses_id.insert((thread, id), item);
        }
        if let Some(parts) = merged {
            draft.trace.items[item].parts = parts.into();
        }
    }

    /// Gives the content of a sighting to the item that was created when the message was accepted, if no other sighting
    /// has claimed that item.
    pub(super) fn take_receipt(&mut self, draft: &mut Draft, source: Source, norm: NormIdx) -> Option<ItemIdx> {
        let norm = &self.norms[norm];
        norm.agent_message?;
        let item = self.receipts.remove(&(source.thread, norm.responses_item_id?))?;
        let parts = norm.parts.clone();
        // The last request may contain the item with its old content.
        self.history(source.thread).comparable = None;
        let known = &mut draft.trace.items[item];
        known.parts = parts;
        known.payload_id = Some(source.payload);
        let known = &draft.trace.items[item];
        // Author and recipient stay those of the accepted message, and the parts are those of the sighting, so the key
        // differs from the keys of both.
        let agent_message =
            known.agent_message.map(|(author, recipient)| (draft.trace.text(author), draft.trace.text(recipient)));
        let key = key_with_parts(known.role, known.channel, known.kind, agent_message, &known.parts);
        let old_key = std::mem::replace(&mut self[item].key, key);
        self.by_key.remove(&(source.thread, old_key), item);
        self.by_key.insert((source.thread, key), item);
        Some(item)
    }

    /// Returns whether a sighting shows the item. Ids of the provider must not contradict each other.
    pub(super) fn matches(&self, draft: &Draft, item: ItemIdx, norm: NormIdx, payload: Symbol) -> bool {
        let known = draft.trace.items[item].responses_item_id;
        let seen = self.norms[norm].responses_item_id;
        let same_id = match (known, seen) {
            (Some(known), Some(seen)) => known == seen,
            _ => true,
        };
        same_id && self.same_content(draft, item, norm, payload)
    }

    /// Returns whether an item has the content of a sighting in a payload.
    pub(super) fn same_content(&self, draft: &Draft, item: ItemIdx, norm: NormIdx, payload: Symbol) -> bool {
        let norm = &self.norms[norm];
        if self[item].key != norm.key {
            return false;
        }
        let known = &draft.trace.items[item];
        if (known.role, known.channel, known.kind, known.call_id, known.agent_message)
            != (norm.role, norm.channel, norm.kind, norm.call_id, norm.agent_message)
        {
            return false;
        }
        if known.kind == ItemKind::Reasoning
            && let (Some(known), Some(seen)) = (first_encoded(&known.parts), first_encoded(&norm.parts))
        {
            return known == seen;
        }
        if Arc::ptr_eq(&known.parts, &norm.parts) && !norm.unrepeatable {
            return true;
        }
        // A part that refers to its payload without a content hash is the same only within the same payload.
        known.parts == norm.parts && (!norm.unrepeatable || known.payload_id == Some(payload))
    }

    /// Returns whether the item would be found if the same sighting came again in the same place.
    pub(super) fn recognised_in_place(&self, draft: &Draft, item: ItemIdx, norm: NormIdx) -> bool {
        let known = &self.norms[norm];
        !known.unrepeatable && draft.trace.items[item].agent_message == known.agent_message
    }

    /// Appends an item to a list and records the position of the item.
    pub(super) fn append(&mut self, draft: &mut Draft, list: ItemList, item: ItemIdx) -> ItemList {
        let (longer, how) = draft.trace.lists.appended(list, item);
        match how {
            Appended::Followed => {}
            Appended::Grew => self.stand(item, longer),
            Appended::Copied => {
                for (position, item) in draft.trace.lists.line(longer.line).iter().enumerate() {
                    let place = ItemList { line: longer.line, len: position as u32 + 1 };
                    let known = &mut self[*item].place;
                    if known.line != place.line {
                        *known = place;
                    }
                }
            }
        }
        longer
    }

    /// Appends items to a list; see [`Self::append`].
    pub(super) fn append_all(&mut self, draft: &mut Draft, list: ItemList, items: &[ItemIdx]) -> ItemList {
        items.iter().fold(list, |list, item| self.append(draft, list, *item))
    }

    fn stand(&mut self, item: ItemIdx, place: ItemList) {
        let known = &mut self.states[item].place;
        if known.line != place.line {
            if !known.is_empty() && place.len > 1 {
                // The item may have been in this line before its place moved to another line, so its place may be wrong
                // here.
                self.unordered_lines.insert(place.line);
            }
            *known = place;
        }
    }

    /// Returns the call items and the output items of a thread with this call id.
    pub(super) fn of_call(&self, draft: &Draft, thread: ThreadIdx, call_id: Symbol) -> (Vec<ItemIdx>, Vec<ItemIdx>) {
        let mut items: Vec<ItemIdx> = self.by_call.get(&(thread, call_id)).collect();
        if draft.is_v1() {
            items.sort_by_key(|item| item_id_order(*item));
        }
        let of = |filter: fn(ItemKind) -> bool| {
            items.iter().copied().filter(|item| filter(draft.trace.items[*item].kind)).collect()
        };
        (of(ItemKind::is_call), of(ItemKind::is_output))
    }

    /// Returns the assistant message of a turn that was first seen last. Of several at the same time, it is the one
    /// whose id is the last as text.
    pub(super) fn last_answer(&self, draft: &Draft, thread: ThreadIdx, turn: Symbol) -> Option<ItemIdx> {
        let answers = self.answers_by_turn.get(&(thread, Some(turn)))?;
        let latest = answers.iter().map(|item| draft.trace.items[*item].first_seen.unix_ms).max()?;
        answers
            .iter()
            .copied()
            .filter(|item| draft.trace.items[*item].first_seen.unix_ms == latest)
            .max_by_key(|item| item_id_order(*item))
    }

    /// Marks the items that were accepted. Called at the end of the log.
    pub(super) fn mark_accepted(&self, draft: &mut Draft) {
        for (key, moment) in &self.accepted {
            for item in self.by_responses_id.get(key) {
                draft.trace.items[item].accepted = Some(*moment);
            }
        }
    }

    /// Removes from the threads' lists the items that never became part of a history. Called at the end of the log.
    pub(super) fn filter_thread_items(&self, draft: &mut Draft) {
        for thread in draft.trace.threads.handles() {
            let mut items = std::mem::take(&mut draft.trace.threads[thread].items);
            items.retain(|item| draft.trace.items[*item].accepted.is_some() || self[*item].listed);
            draft.trace.threads[thread].items = items;
        }
    }
}

/// Returns the sort key for the order of items by the text of their ids.
pub(super) fn item_id_order(item: ItemIdx) -> String {
    (item.index() + 1).to_string()
}

fn first_encoded(parts: &[Part]) -> Option<(&str, &str)> {
    parts.iter().find_map(|part| match part {
        Part::Encoded { label, value } => Some((*label, &**value)),
        _ => None,
    })
}

/// Returns the merged parts of a reasoning item, or `None` if the sighting adds nothing.
fn merged_reasoning(known: &[Part], seen: &[Part]) -> Option<Vec<Part>> {
    let is_text = |part: &&Part| matches!(part, Part::Text(_));
    let is_summary = |part: &&Part| matches!(part, Part::Summary(_));
    let has = |filter: fn(&&Part) -> bool| known.iter().any(|part| filter(&part));
    if known == seen || (has(is_text) && has(is_summary)) {
        return None;
    }
    let texts = if has(is_text) { known } else { seen }.iter().filter(is_text);
    let summaries = if has(is_summary) { known } else { seen }.iter().filter(is_summary);
    let encoded = known.iter().filter(|part| matches!(part, Part::Encoded { .. }));
    let merged: Vec<Part> = texts.chain(summaries).chain(encoded).cloned().collect();
    (merged != known).then_some(merged)
}
