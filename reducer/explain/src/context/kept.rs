//! Finds the items that a compaction kept: two sightings of one item have the same id or the same content.

use std::collections::HashMap;

use trace_reducer::model::{ConversationItem, ItemIdx, ItemKind, Part, Role, Symbol, Trace};

/// What is compared of two items besides their ids.
pub(super) type Content<'t> = (ItemKind, Role, Option<Symbol>, &'t [Part]);

/// Returns what is equal in two sightings of one item.
pub(super) fn content(item: &ConversationItem) -> Content<'_> {
    (item.kind, item.role, item.call_id, &item.parts)
}

/// Returns for each item in `after` its index in `before`, or `None`. The graph has new items for what a checkpoint
/// keeps; they have the provider's id or the content of the old items.
pub(super) fn kept(trace: &Trace, before: &[ItemIdx], after: &[ItemIdx]) -> Vec<Option<usize>> {
    let mut by_id: HashMap<Symbol, usize> = HashMap::new();
    let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, item) in before.iter().enumerate().rev() {
        let known = &trace.items[*item];
        if let Some(id) = known.responses_item_id {
            by_id.insert(id, index);
        }
        by_content.entry(content(known)).or_default().push(index);
    }
    let mut taken = vec![false; before.len()];
    let mut take = |index: usize| !std::mem::replace(&mut taken[index], true);
    after
        .iter()
        .map(|item| {
            let known = &trace.items[*item];
            let same_id = known.responses_item_id.and_then(|id| by_id.get(&id).copied()).filter(|index| take(*index));
            same_id.or_else(|| {
                let places = by_content.get_mut(&content(known))?;
                while let Some(index) = places.pop() {
                    if take(index) {
                        return Some(index);
                    }
                }
                None
            })
        })
        .collect()
}
