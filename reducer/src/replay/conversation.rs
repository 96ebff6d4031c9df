//! Conversation items: decides which items of a list the thread has already, and which are new.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use trace_recorder::format::event::HistoryItemAccepted;

use super::draft::{Draft, Step, Table};
use super::state::{ItemState, NormIdx, Replay, item_id_order};
use crate::diagnostic::Code;
use crate::ingest::{Ingested, PayloadProblem, key_with_parts};
use crate::model::lists::Appended;
use crate::model::{ConversationItem, ItemIdx, ItemKind, ItemList, Part, Producer, Role, Symbol, ThreadIdx};

/// How the items of a list are matched with the items of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A whole request: by position, then by content.
    Full,
    /// The items that an incremental request adds: by position only.
    Append {
        /// Position of the first item in the conversation.
        start: usize,
    },
    /// A history that is not part of the conversation, such as that of a checkpoint: by content.
    Detached,
    /// A response: by the provider's item ids.
    Response,
}

/// A list of model items that is to be placed in a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placing {
    pub(super) thread: ThreadIdx,
    pub(super) turn: Option<Symbol>,
    pub(super) payload: Symbol,
    pub(super) mode: Mode,
    /// The list in which items are searched.
    pub(super) base: ItemList,
    /// Number of items at the beginning that are known to equal those of `base`. They are not placed one by one.
    pub(super) known: usize,
    pub(super) producer: Option<Producer>,
}

impl Replay {
    pub(super) fn history_item_accepted(&mut self, event: &HistoryItemAccepted<'_>, ingested: Ingested) -> Step {
        let Some(thread) = self.draft.event.thread else {
            return self.draft.odd(Code::ContextMissing, "an accepted item names no thread");
        };
        let thread = self.draft.thread(thread)?;
        let id = self.draft.intern(&event.item_id);
        self.accepted.entry((thread, id)).or_insert(self.draft.event.at);
        let Some(reference) = &event.agent_message_payload else { return Ok(()) };
        let payload = self.draft.intern(&reference.raw_payload_id);
        if self.items_by_responses_id.get(&(thread, id)).next().is_some() {
            return Ok(());
        }
        let normalized = match ingested {
            Ingested::Item(Some(normalized)) => *normalized,
            Ingested::Failed(failure) => return self.draft.bad_payload(payload, &failure.problem),
            _ => return self.draft.bad_payload(payload, &PayloadProblem::Shape("not a message between agents")),
        };
        let norm = self.take_norm(normalized);
        self.check_items(payload, &[norm])?;
        let known = &self.norms[norm];
        if known.agent_message.is_none() || known.responses_item_id != Some(id) {
            let problem: PayloadProblem = PayloadProblem::Shape("not the message between agents that was accepted");
            return self.draft.bad_payload(payload, &problem);
        }
        let item = self.create_item(thread, self.draft.event.turn, payload, norm, None);
        self.receipts.insert((thread, id), item);
        self.edges.deliver_to(&mut self.draft, item)
    }

    /// Places a list of items: finds the thread's item for each one, or creates a new item.
    pub(super) fn place(&mut self, placing: Placing, norms: &[NormIdx]) -> Step<Vec<ItemIdx>> {
        self.lists_placed += 1;
        let mut search = self.response_candidates(placing, norms);
        let mut placed = Vec::with_capacity(norms.len());
        for (offset, norm) in norms.iter().enumerate() {
            let item = self.place_one(placing, offset, *norm, &mut search)?;
            placed.push(item);
        }
        self.materialise_cells(placing.thread)?;
        Ok(placed)
    }

    /// Places a whole request whose first items are known to be those of `base`. Returns the list of its items, and how
    /// many items at its beginning the next request may take over without a search.
    pub(super) fn place_full(&mut self, placing: Placing, norms: &[NormIdx]) -> Step<(ItemList, usize)> {
        let known = placing.known;
        self.lists_placed += 1;
        self.see_again(placing);
        // Any step that makes the request unfit for comparison with the next one sets this to `None` again.
        self.history(placing.thread).comparable = Some(ItemList::EMPTY);
        let mut search = Search::default();
        let mut list = ItemList { len: known as u32, ..placing.base };
        let mut stable = known;
        for (offset, norm) in norms.iter().enumerate() {
            let item = self.place_one(placing, known + offset, *norm, &mut search)?;
            if stable == known + offset && self.recognised_in_place(item, *norm) {
                stable += 1;
            }
            list = self.append(list, item);
            self.items[item].listed = true;
        }
        self.materialise_cells(placing.thread)?;
        if self.history(placing.thread).comparable.is_none() {
            stable = 0;
        }
        Ok((list, stable))
    }

    /// Links those known items of a list again that became stale since they were last seen.
    fn see_again(&mut self, placing: Placing) {
        if placing.known == 0 || self.history(placing.thread).stale.is_empty() {
            return;
        }
        let stale = std::mem::take(&mut self.history(placing.thread).stale);
        let (mut seen, mut unseen) = (Vec::new(), Vec::new());
        let mut positions = None;
        for item in stale {
            let position = self.position(item, placing.base, &mut positions);
            match position.filter(|position| *position < placing.known) {
                _ if !self.items[item].stale => {}
                Some(position) => seen.push((position, item)),
                None => unseen.push(item),
            }
        }
        self.history(placing.thread).stale = unseen;
        seen.sort_unstable_by_key(|(position, _)| *position);
        for (_, item) in seen {
            self.link_item(item);
        }
    }

    fn place_one(&mut self, placing: Placing, offset: usize, norm: NormIdx, search: &mut Search) -> Step<ItemIdx> {
        self.check_call(placing, norm)?;
        let Placing { thread, base, .. } = placing;
        let found = match placing.mode {
            Mode::Full => self
                .draft
                .trace
                .lists
                .get(base)
                .get(offset)
                .copied()
                .filter(|item| self.draft.is_v1() || !self.is_used(*item, placing, &mut search.positions))
                .filter(|item| self.matches(*item, norm, placing.payload))
                .or_else(|| self.find_in_base(placing, norm, search)),
            Mode::Append { start } => match self.draft.trace.lists.get(base).get(start + offset).copied() {
                Some(item) if self.matches(item, norm, placing.payload) => Some(item),
                Some(_) => {
                    let message = "an item of an incremental request stands where the conversation has another; \
                                       it is taken for a new one";
                    self.draft.odd(Code::HistoryContradicted, message)?;
                    None
                }
                None => None,
            },
            Mode::Detached => self.find_in_base(placing, norm, search),
            Mode::Response => {
                let Search { positions, queues } = search;
                let queue = queues.get_mut(&self.norms[norm].key);
                queue.and_then(|queue| self.next_match(queue, placing, norm, positions))
            }
        };
        let found = found.or_else(|| self.take_receipt(placing, norm));
        let item = match found {
            Some(item) => {
                self.see(item, norm);
                if let Some(producer) = placing.producer
                    && !self.draft.trace.items[item].produced_by.contains(&producer)
                {
                    self.draft.trace.items[item].produced_by.push(producer);
                }
                item
            }
            None => self.create_item(thread, placing.turn, placing.payload, norm, placing.producer),
        };
        self.items[item].used_by = self.lists_placed;
        self.link_item(item);
        self.edges.deliver_to(&mut self.draft, item)?;
        Ok(item)
    }

    /// Returns whether the list that is being placed has used an item already.
    fn is_used(&self, item: ItemIdx, placing: Placing, positions: &mut Option<Positions>) -> bool {
        self.items[item].used_by == self.lists_placed
            || (placing.known > 0
                && self.position(item, placing.base, positions).is_some_and(|position| position < placing.known))
    }

    fn create_item(
        &mut self,
        thread: ThreadIdx,
        turn: Option<Symbol>,
        payload: Symbol,
        norm: NormIdx,
        producer: Option<Producer>,
    ) -> ItemIdx {
        let norm = &self.norms[norm];
        let item = ConversationItem {
            responses_item_id: norm.responses_item_id,
            accepted: None,
            thread,
            codex_turn_id: turn,
            first_seen: self.draft.event.at,
            role: norm.role,
            channel: norm.channel,
            kind: norm.kind,
            agent_message: norm.agent_message,
            parts: norm.parts.clone(),
            payload_id: Some(payload),
            call_id: norm.call_id,
            produced_by: producer.into_iter().collect(),
        };
        let key = norm.key;
        self.add_item(item, key)
    }

    /// Adds an item to the graph and to the indexes.
    pub(super) fn add_item(&mut self, item: ConversationItem, key: u64) -> ItemIdx {
        let thread = item.thread;
        let (responses_id, call_id, turn) = (item.responses_item_id, item.call_id, item.codex_turn_id);
        let answers = item.role == Role::Assistant && item.kind == ItemKind::Message && item.agent_message.is_none();
        self.has_new_code |= item.kind == ItemKind::CustomToolCall;
        let index = self.draft.trace.items.push(item);
        self.items.push(ItemState {
            key,
            place: ItemList::EMPTY,
            used_by: 0,
            tool: None,
            response_of: Vec::new(),
            listed: false,
            stale: false,
        });
        // Items are created in the order in which they are first seen, so the thread's list is in that order.
        self.draft.trace.threads[thread].items.push(index);
        self.items_by_key.insert((thread, key), index);
        if let Some(id) = responses_id {
            self.items_by_responses_id.insert((thread, id), index);
        }
        if let Some(id) = call_id {
            self.items_by_call.insert((thread, id), index);
            self.items_by_call_anywhere.insert(id, index);
        }
        if answers {
            self.answers_by_turn.entry((thread, turn)).or_default().push(index);
        }
        self.edges.index_item(&mut self.draft, index);
        index
    }

    /// Merges what a new sighting of an item adds. Most sightings add nothing, and then the item is not touched.
    fn see(&mut self, item: ItemIdx, norm: NormIdx) {
        let norm = &self.norms[norm];
        let known = &self.draft.trace.items[item];
        let thread = known.thread;
        let new_id = norm.responses_item_id.filter(|_| known.responses_item_id.is_none());
        let merged = if known.kind == ItemKind::Reasoning { merged_reasoning(&known.parts, &norm.parts) } else { None };
        if let Some(id) = new_id {
            self.draft.trace.items[item].responses_item_id = Some(id);
            self.items_by_responses_id.insert((thread, id), item);
        }
        if let Some(parts) = merged {
            self.draft.trace.items[item].parts = parts.into();
        }
    }

    /// Gives the content of a sighting to the item that was created when the message was accepted, if no other sighting
    /// has claimed that item.
    fn take_receipt(&mut self, placing: Placing, norm: NormIdx) -> Option<ItemIdx> {
        let norm = &self.norms[norm];
        norm.agent_message?;
        let item = self.receipts.remove(&(placing.thread, norm.responses_item_id?))?;
        let parts = norm.parts.clone();
        // The last request may contain the item with its old content.
        self.history(placing.thread).comparable = None;
        let old_key = self.items[item].key;
        let known = &mut self.draft.trace.items[item];
        known.parts = parts;
        known.payload_id = Some(placing.payload);
        let known = &self.draft.trace.items[item];
        // Author and recipient stay those of the accepted message, and the parts are those of the sighting, so the key
        // differs from the keys of both.
        let agent_message = known
            .agent_message
            .map(|(author, recipient)| (self.draft.trace.text(author), self.draft.trace.text(recipient)));
        let key = key_with_parts(known.role, known.channel, known.kind, agent_message, &known.parts);
        self.items[item].key = key;
        self.items_by_key.remove(&(placing.thread, old_key), item);
        self.items_by_key.insert((placing.thread, key), item);
        self.edges.index_item(&mut self.draft, item);
        Some(item)
    }

    /// Reports a call whose content changed under its id.
    fn check_call(&mut self, placing: Placing, norm: NormIdx) -> Step {
        let known = &self.norms[norm];
        let Some(call_id) = known.call_id else { return Ok(()) };
        let kind = known.kind;
        if !(kind.is_call() || (self.draft.is_v1() && kind.is_output())) {
            return Ok(());
        }
        // Each change is reported once: content that the thread has already is no new change.
        let key = (placing.thread, known.key);
        let is_known_id =
            self.items_by_call.get(&(placing.thread, call_id)).any(|item| self.draft.trace.items[item].kind == kind);
        let is_change =
            is_known_id && !self.items_by_key.get(&key).any(|item| self.same_content(item, norm, placing.payload));
        if is_change {
            let message = format!("the content under call id {} changed", self.draft.trace.text(call_id));
            self.draft.odd(Code::CallChanged, message)?;
        }
        Ok(())
    }

    /// Returns whether a sighting shows the item. Ids of the provider must not contradict each other.
    fn matches(&self, item: ItemIdx, norm: NormIdx, payload: Symbol) -> bool {
        let known = self.draft.trace.items[item].responses_item_id;
        let seen = self.norms[norm].responses_item_id;
        let same_id = match (known, seen) {
            (Some(known), Some(seen)) => known == seen,
            _ => true,
        };
        same_id && self.same_content(item, norm, payload)
    }

    fn same_content(&self, item: ItemIdx, norm: NormIdx, payload: Symbol) -> bool {
        let norm = &self.norms[norm];
        if self.items[item].key != norm.key {
            return false;
        }
        let known = &self.draft.trace.items[item];
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
        if std::sync::Arc::ptr_eq(&known.parts, &norm.parts) && !norm.unrepeatable {
            return true;
        }
        // A part that refers to its payload without a content hash is the same only within the same payload.
        known.parts == norm.parts && (!norm.unrepeatable || known.payload_id == Some(payload))
    }

    /// Returns whether the item would be found if the same sighting came again in the same place.
    fn recognised_in_place(&self, item: ItemIdx, norm: NormIdx) -> bool {
        let known = &self.norms[norm];
        !known.unrepeatable && self.draft.trace.items[item].agent_message == known.agent_message
    }

    /// Finds the first unused item of the base list that matches.
    fn find_in_base(&self, placing: Placing, norm: NormIdx, search: &mut Search) -> Option<ItemIdx> {
        let key = self.norms[norm].key;
        let mut alike = self.items_by_key.get(&(placing.thread, key)).peekable();
        if placing.base.is_empty() || alike.peek().is_none() {
            return None;
        }
        let Search { positions, queues } = search;
        let queue = queues.entry(key).or_insert_with(|| {
            let mut items: Vec<(usize, ItemIdx)> =
                alike.filter_map(|item| Some((self.position(item, placing.base, positions)?, item))).collect();
            items.sort_unstable();
            Queue { items: items.into_iter().map(|(_, item)| item).collect(), next: 0 }
        });
        self.next_match(queue, placing, norm, positions)
    }

    /// Returns the first unused item of a queue that matches. An item stays used while the list is placed, so used
    /// items at the front are skipped for good.
    fn next_match(
        &self,
        queue: &mut Queue,
        placing: Placing,
        norm: NormIdx,
        positions: &mut Option<Positions>,
    ) -> Option<ItemIdx> {
        while let Some(item) = queue.items.get(queue.next)
            && self.is_used(*item, placing, positions)
        {
            queue.next += 1;
        }
        queue.items[queue.next..]
            .iter()
            .copied()
            .find(|item| self.matches(*item, norm, placing.payload) && !self.is_used(*item, placing, positions))
    }

    /// Returns the first position of an item in a list, or `None` if the list does not contain it.
    fn position(&self, item: ItemIdx, list: ItemList, positions: &mut Option<Positions>) -> Option<usize> {
        let place = self.items[item].place;
        if !place.is_empty() && place.line == list.line && !self.unordered_lines.contains(&list.line) {
            let position = place.len() - 1;
            return (position < list.len()).then_some(position);
        }
        let positions = positions.get_or_insert_with(|| {
            let mut positions = Positions::default();
            for (position, item) in self.draft.trace.lists.get(list).iter().enumerate() {
                positions.entry(*item).or_insert(position);
            }
            positions
        });
        positions.get(&item).copied()
    }

    /// Appends an item to a list and records the position of the item.
    pub(super) fn append(&mut self, list: ItemList, item: ItemIdx) -> ItemList {
        let (longer, how) = self.draft.trace.lists.appended(list, item);
        match how {
            Appended::Followed => {}
            Appended::Grew => self.stand(item, longer),
            Appended::Copied => {
                for (position, item) in self.draft.trace.lists.line(longer.line).iter().enumerate() {
                    let place = ItemList { line: longer.line, len: position as u32 + 1 };
                    let known = &mut self.items[*item].place;
                    if known.line != place.line {
                        *known = place;
                    }
                }
            }
        }
        longer
    }

    fn stand(&mut self, item: ItemIdx, place: ItemList) {
        let known = &mut self.items[item].place;
        if known.line != place.line {
            if !known.is_empty() && place.len > 1 {
                // The item may have been in this line before its place moved to another line, so its place may be wrong
                // here.
                self.unordered_lines.insert(place.line);
            }
            *known = place;
        }
    }

    /// Queues the items that a response may show again: those with an id that the response names.
    fn response_candidates(&self, placing: Placing, norms: &[NormIdx]) -> Search {
        let mut search = Search::default();
        if placing.mode != Mode::Response {
            return search;
        }
        let mut candidates: Vec<ItemIdx> = norms
            .iter()
            .filter_map(|norm| self.norms[*norm].responses_item_id)
            .flat_map(|id| self.items_by_responses_id.get(&(placing.thread, id)))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for item in candidates {
            search.queues.entry(self.items[item].key).or_default().items.push(item);
        }
        search
    }

    /// Links a sighted item with its tool call and its code cell.
    fn link_item(&mut self, item: ItemIdx) {
        self.items[item].stale = false;
        if let Some(call_id) = self.draft.trace.items[item].call_id {
            self.link_tool_item(item, call_id);
            self.link_cell_output(item, call_id);
        }
    }
}

type Positions = HashMap<ItemIdx, usize, FixedState>;

/// State of the search for the items of one list.
#[derive(Debug, Default)]
struct Search {
    /// First position of each item of the base list; `None` until it is needed.
    positions: Option<Positions>,
    /// Unused items that the list may show again, by content key.
    queues: HashMap<u64, Queue, FixedState>,
}

/// Items of equal content, in the order in which they are used.
#[derive(Debug, Default)]
struct Queue {
    items: Vec<ItemIdx>,
    /// Index of the first item that may be unused.
    next: usize,
}

type Answers = Table<(ThreadIdx, Option<Symbol>), Vec<ItemIdx>>;

/// Returns the assistant message of a turn that was first seen last. Of several at the same time, it is the one
/// whose id is the last as text.
pub(super) fn last_answer(draft: &Draft, answers: &Answers, thread: ThreadIdx, turn: Symbol) -> Option<ItemIdx> {
    let answers = answers.get(&(thread, Some(turn)))?;
    let latest = answers.iter().map(|item| draft.trace.items[*item].first_seen.unix_ms).max()?;
    answers
        .iter()
        .copied()
        .filter(|item| draft.trace.items[*item].first_seen.unix_ms == latest)
        .max_by_key(|item| item_id_order(*item))
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
