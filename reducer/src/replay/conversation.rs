//! Places lists of sighted items: decides which of them the thread has already and which are new, and links each with the
//! tool call, the code cell and the delivery that it shows.

use trace_recorder::format::event::HistoryItemAccepted;

use super::cells::Cells;
use super::draft::{Draft, Step};
use super::edges::Edges;
use super::items::{Items, NormIdx, Source};
use super::search::{Placing, Positions, Search};
use super::tools::Tools;
use crate::diagnostic::Code;
use crate::ingest::{Ingested, PayloadProblem};
use crate::model::{ItemIdx, ItemList};

/// The parts that a sighted item concerns.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) items: &'a mut Items,
    pub(super) tools: &'a mut Tools,
    pub(super) cells: &'a mut Cells,
    pub(super) edges: &'a mut Edges,
}

impl Conversation<'_> {
    pub(super) fn item_accepted(
        &mut self,
        draft: &mut Draft,
        event: &HistoryItemAccepted<'_>,
        ingested: Ingested,
    ) -> Step {
        let Some(thread) = draft.event.thread else {
            return draft.odd(Code::ContextMissing, "an accepted item names no thread");
        };
        let thread = draft.thread(thread)?;
        let id = draft.intern(&event.item_id);
        self.items.accepted.entry((thread, id)).or_insert(draft.event.at);
        let Some(reference) = &event.agent_message_payload else { return Ok(()) };
        let payload = draft.payload_id(reference);
        if self.items.by_responses_id.get(&(thread, id)).next().is_some() {
            return Ok(());
        }
        let normalized = match ingested {
            Ingested::Item(Some(normalized)) => *normalized,
            Ingested::Failed(failure) => return draft.bad_payload(payload, &failure.problem),
            _ => return draft.bad_payload(payload, &PayloadProblem::Shape("not a message between agents")),
        };
        let norm = self.items.take_norm(draft, normalized);
        self.items.check(draft, payload, &[norm])?;
        let known = &self.items.norms[norm];
        if known.agent_message.is_none() || known.responses_item_id != Some(id) {
            let problem = PayloadProblem::Shape("not the message between agents that was accepted");
            return draft.bad_payload(payload, &problem);
        }
        let item = self.create(draft, Source { thread, turn: draft.event.turn, payload, producer: None }, norm);
        self.items.receipts.insert((thread, id), item);
        self.edges.deliver_to(draft, item)
    }

    fn create(&mut self, draft: &mut Draft, source: Source, norm: NormIdx) -> ItemIdx {
        let item = self.items.create(draft, source, norm);
        self.edges.index_item(draft, item);
        item
    }

    /// Places a list of items: finds the thread's item for each one, or creates a new item.
    pub(super) fn place(&mut self, draft: &mut Draft, placing: Placing, norms: &[NormIdx]) -> Step<Vec<ItemIdx>> {
        self.items.lists_placed += 1;
        let mut search = Search::new(self.items, placing, norms);
        let mut placed = Vec::with_capacity(norms.len());
        for (position, norm) in norms.iter().enumerate() {
            let item = self.place_one(draft, placing.source, position, *norm, &mut search)?;
            placed.push(item);
        }
        self.cells.look_for_code(draft, self.items, placing.source.thread)?;
        Ok(placed)
    }

    /// Places a whole request whose first items are known to be those of `base`. Returns the list of its items, and how
    /// many items at its beginning the next request may take over without a search.
    pub(super) fn place_full(
        &mut self,
        draft: &mut Draft,
        placing: Placing,
        norms: &[NormIdx],
    ) -> Step<(ItemList, usize)> {
        let Placing { source, known, base, .. } = placing;
        self.items.lists_placed += 1;
        self.see_again(draft, placing);
        // Any step that makes the request unfit for comparison with the next one sets this to `None` again.
        self.items.history(source.thread).comparable = Some(ItemList::EMPTY);
        let mut search = Search::new(self.items, placing, norms);
        let mut list = ItemList { len: known as u32, ..base };
        let mut stable = known;
        for (position, norm) in (known..).zip(norms) {
            let item = self.place_one(draft, source, position, *norm, &mut search)?;
            if stable == position && self.items.recognised_in_place(draft, item, *norm) {
                stable += 1;
            }
            list = self.items.append(draft, list, item);
            self.items[item].listed = true;
        }
        self.cells.look_for_code(draft, self.items, source.thread)?;
        if self.items.history(source.thread).comparable.is_none() {
            stable = 0;
        }
        Ok((list, stable))
    }

    /// Links those known items of a list again that became stale since they were last seen.
    fn see_again(&mut self, draft: &mut Draft, placing: Placing) {
        let thread = placing.source.thread;
        if placing.known == 0 || self.items.history(thread).stale.is_empty() {
            return;
        }
        let stale = std::mem::take(&mut self.items.history(thread).stale);
        let (mut seen, mut unseen) = (Vec::new(), Vec::new());
        let mut positions = Positions::new(placing.base);
        for item in stale {
            let position = positions.of(draft, self.items, item);
            match position.filter(|position| *position < placing.known) {
                _ if !self.items[item].stale => {}
                Some(position) => seen.push((position, item)),
                None => unseen.push(item),
            }
        }
        self.items.history(thread).stale = unseen;
        seen.sort_unstable_by_key(|(position, _)| *position);
        for (_, item) in seen {
            self.link(draft, item);
        }
    }

    fn place_one(
        &mut self,
        draft: &mut Draft,
        source: Source,
        position: usize,
        norm: NormIdx,
        search: &mut Search,
    ) -> Step<ItemIdx> {
        self.check_call(draft, source, norm)?;
        let found = match search.find(draft, self.items, position, norm)? {
            None => self.take_receipt(draft, source, norm),
            found => found,
        };
        let item = match found {
            Some(item) => {
                self.items.see(draft, item, norm);
                if let Some(producer) = source.producer
                    && !draft.trace.items[item].produced_by.contains(&producer)
                {
                    draft.trace.items[item].produced_by.push(producer);
                }
                item
            }
            None => self.create(draft, source, norm),
        };
        self.items[item].used_by = self.items.lists_placed;
        self.link(draft, item);
        self.edges.deliver_to(draft, item)?;
        Ok(item)
    }

    fn take_receipt(&mut self, draft: &mut Draft, source: Source, norm: NormIdx) -> Option<ItemIdx> {
        let item = self.items.take_receipt(draft, source, norm)?;
        self.edges.index_item(draft, item);
        Some(item)
    }

    /// Reports a call whose content changed under its id.
    fn check_call(&self, draft: &mut Draft, source: Source, norm: NormIdx) -> Step {
        let items = &*self.items;
        let known = &items.norms[norm];
        let Some(call_id) = known.call_id else { return Ok(()) };
        let kind = known.kind;
        if !(kind.is_call() || (draft.is_v1() && kind.is_output())) {
            return Ok(());
        }
        // Each change is reported once: content that the thread has already is no new change.
        let key = (source.thread, known.key);
        let is_known_id = items.by_call.get(&(source.thread, call_id)).any(|item| draft.trace.items[item].kind == kind);
        let is_change =
            is_known_id && !items.by_key.get(&key).any(|item| items.same_content(draft, item, norm, source.payload));
        if is_change {
            let message = format!("the content under call id {} changed", draft.trace.text(call_id));
            draft.odd(Code::CallChanged, message)?;
        }
        Ok(())
    }

    /// Links a sighted item with its tool call and its code cell.
    fn link(&mut self, draft: &mut Draft, item: ItemIdx) {
        self.items[item].stale = false;
        if let Some(call_id) = draft.trace.items[item].call_id {
            self.tools.link_item(draft, self.items, item, call_id);
            self.cells.link_output(draft, item, call_id);
        }
    }
}
