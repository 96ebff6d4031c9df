//! Finds the items of a thread that a list of sighted items shows.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::draft::{Draft, Step};
use super::items::{Items, NormIdx, Source};
use crate::diagnostic::Code;
use crate::model::{ItemIdx, ItemList};

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
    pub(super) source: Source,
    pub(super) mode: Mode,
    /// The list in which items are searched.
    pub(super) base: ItemList,
    /// Number of items at the beginning that are known to equal those of `base`. They are not placed one by one.
    pub(super) known: usize,
}

/// First positions of the items of a list.
#[derive(Debug)]
pub(super) struct Positions {
    list: ItemList,
    /// `None` until the places that the items remember do not suffice.
    found: Option<HashMap<ItemIdx, usize, FixedState>>,
}

impl Positions {
    pub(super) fn new(list: ItemList) -> Self {
        Self { list, found: None }
    }

    /// Returns the first position of an item, or `None` if the list does not contain it.
    pub(super) fn of(&mut self, draft: &Draft, items: &Items, item: ItemIdx) -> Option<usize> {
        let Self { list, found } = self;
        let place = items[item].place;
        if !place.is_empty() && place.line == list.line && !items.unordered_lines.contains(&list.line) {
            let position = place.len() - 1;
            return (position < list.len()).then_some(position);
        }
        let found = found.get_or_insert_with(|| {
            let mut positions = HashMap::default();
            for (position, item) in draft.trace.lists.get(*list).iter().enumerate() {
                positions.entry(*item).or_insert(position);
            }
            positions
        });
        found.get(&item).copied()
    }
}

/// The search for the items of one list.
#[derive(Debug)]
pub(super) struct Search {
    placing: Placing,
    positions: Positions,
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

impl Search {
    pub(super) fn new(items: &Items, placing: Placing, norms: &[NormIdx]) -> Self {
        let mut search = Self { placing, positions: Positions::new(placing.base), queues: HashMap::default() };
        if placing.mode == Mode::Response {
            search.queue_candidates(items, norms);
        }
        search
    }

    /// Queues the items that a response may show again: those with an id that the response names.
    fn queue_candidates(&mut self, items: &Items, norms: &[NormIdx]) {
        let mut candidates: Vec<ItemIdx> = norms
            .iter()
            .filter_map(|norm| items.norms[*norm].responses_item_id)
            .flat_map(|id| items.by_responses_id.get(&(self.placing.source.thread, id)))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for item in candidates {
            self.queues.entry(items[item].key).or_default().items.push(item);
        }
    }

    /// Finds the item that the sighting at a position of the list shows.
    pub(super) fn find(
        &mut self,
        draft: &mut Draft,
        items: &Items,
        position: usize,
        norm: NormIdx,
    ) -> Step<Option<ItemIdx>> {
        let Placing { source, mode, base, .. } = self.placing;
        let at = |draft: &Draft, position: usize| draft.trace.lists.get(base).get(position).copied();
        Ok(match mode {
            Mode::Full => at(draft, position)
                .filter(|item| draft.is_v1() || !self.is_used(draft, items, *item))
                .filter(|item| items.matches(draft, *item, norm, source.payload))
                .or_else(|| self.find_in_base(draft, items, norm)),
            Mode::Append { start } => match at(draft, start + position) {
                Some(item) if items.matches(draft, item, norm, source.payload) => Some(item),
                Some(_) => {
                    let message = "an item of an incremental request stands where the conversation has another; \
                                       it is taken for a new one";
                    draft.odd(Code::HistoryContradicted, message)?;
                    None
                }
                None => None,
            },
            Mode::Detached => self.find_in_base(draft, items, norm),
            Mode::Response => self.next_match(draft, items, norm),
        })
    }

    /// Finds the first unused item of the base list that matches.
    fn find_in_base(&mut self, draft: &Draft, items: &Items, norm: NormIdx) -> Option<ItemIdx> {
        let Self { placing, positions, queues } = self;
        let key = items.norms[norm].key;
        let mut alike = items.by_key.get(&(placing.source.thread, key)).peekable();
        if placing.base.is_empty() || alike.peek().is_none() {
            return None;
        }
        queues.entry(key).or_insert_with(|| {
            let mut found: Vec<(usize, ItemIdx)> =
                alike.filter_map(|item| Some((positions.of(draft, items, item)?, item))).collect();
            found.sort_unstable();
            Queue { items: found.into_iter().map(|(_, item)| item).collect(), next: 0 }
        });
        self.next_match(draft, items, norm)
    }

    /// Returns the first unused item of the queue that matches. An item stays used while the list is placed, so used
    /// items at the front are skipped for good.
    fn next_match(&mut self, draft: &Draft, items: &Items, norm: NormIdx) -> Option<ItemIdx> {
        let Self { placing, positions, queues } = self;
        let queue = queues.get_mut(&items.norms[norm].key)?;
        while let Some(item) = queue.items.get(queue.next)
            && is_used(draft, items, *item, *placing, positions)
        {
            queue.next += 1;
        }
        queue.items[queue.next..].iter().copied().find(|item| {
            items.matches(draft, *item, norm, placing.source.payload)
                && !is_used(draft, items, *item, *placing, positions)
        })
    }

    fn is_used(&mut self, draft: &Draft, items: &Items, item: ItemIdx) -> bool {
        is_used(draft, items, item, self.placing, &mut self.positions)
    }
}

/// Returns whether the list that is being placed has used an item already.
fn is_used(draft: &Draft, items: &Items, item: ItemIdx, placing: Placing, positions: &mut Positions) -> bool {
    items[item].used_by == items.lists_placed
        || (placing.known > 0 && positions.of(draft, items, item).is_some_and(|position| position < placing.known))
}
