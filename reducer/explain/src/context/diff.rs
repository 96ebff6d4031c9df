//! Comparison of a request with the one before it.

use std::collections::{HashMap, HashSet};

use trace_reducer::model::{ConversationItem, InferenceIdx, ItemIdx, ItemKind, Symbol, Trace};

use super::answer::{Beside, Changed, Diff, Item};
use super::beside;
use super::items::Items;
use super::kept::content;
use super::parts::{items_of, measure};
use super::texts::Texts;
use crate::object::item_id;
use crate::session::Session;

/// Fewest items of a request before that can count as rewritten.
const REWRITTEN_ITEMS: usize = 4;

/// Compares a request with the one before it in its thread, if there is one.
pub(super) fn diff(
    session: &Session,
    shown: &Items<'_>,
    inference: InferenceIdx,
    items: &[Item],
    beside: Option<&Beside>,
) -> Option<Diff> {
    let trace = session.trace();
    let call = &trace.inferences[inference];
    let (before, known) =
        trace.inferences.iter().rfind(|(index, known)| *index < inference && known.thread == call.thread)?;
    let mut written = beside::read(session, known.request_payload_id, Texts::Whole).ok();
    let mut items_before = items_of(trace, shown, before, written.as_ref());
    let tokens_before = measure(trace, before, &mut items_before, written.as_mut().map(|written| &mut written.beside));

    let (old, new) = (trace.lists.get(known.request_items), trace.lists.get(call.request_items));
    let (Matching { kept, moved, added, removed }, changed) = pair_changed(trace, old, new, matching(old, new));
    let compactions: Vec<String> = trace
        .compactions
        .values()
        .filter(|compaction| compaction.thread == call.thread)
        .filter(|compaction| {
            (known.execution.started.seq..call.execution.started.seq).contains(&compaction.installed.seq)
        })
        .map(|compaction| trace.text(compaction.id).to_owned())
        .collect();
    let is_rewritten = compactions.is_empty() && old.len() >= REWRITTEN_ITEMS && removed.len() * 2 > old.len();
    let mut diff = Diff {
        inference_call_id: trace.text(known.id).to_owned(),
        seq: known.execution.started.seq,
        kept,
        moved,
        added,
        removed: removed.into_iter().map(|index| items_before[index].clone()).collect(),
        changed,
        tools_added: Vec::new(),
        tools_removed: Vec::new(),
        tools_changed: Vec::new(),
        instructions_changed: false,
        parameters_changed: Vec::new(),
        compactions,
        is_rewritten,
        tokens_before,
    };
    debug_assert_eq!(items.len(), new.len());
    if let (Some(old), Some(new)) = (written.map(|written| written.beside), beside) {
        compare_beside(&mut diff, &old, new);
    }
    Some(diff)
}

struct Matching {
    kept: usize,
    moved: usize,
    added: Vec<usize>,
    removed: Vec<usize>,
}

/// Finds the items that two lists share. The graph recognises an item that is seen again, so handles can be compared.
/// An item may be in a list twice.
fn matching(old: &[ItemIdx], new: &[ItemIdx]) -> Matching {
    let common = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let mut places: HashMap<ItemIdx, Vec<usize>> = HashMap::new();
    for (index, item) in old.iter().enumerate().skip(common).rev() {
        places.entry(*item).or_default().push(index);
    }
    let mut matching = Matching { kept: common, moved: 0, added: Vec::new(), removed: Vec::new() };
    let mut is_kept = vec![false; old.len()];
    is_kept[..common].fill(true);
    let mut last = None;
    for (index, item) in new.iter().enumerate().skip(common) {
        match places.get_mut(item).and_then(Vec::pop) {
            Some(place) => {
                matching.kept += 1;
                is_kept[place] = true;
                // Items that were after their predecessor and are now before it.
                if last.is_some_and(|last| place < last) {
                    matching.moved += 1;
                }
                last = last.max(Some(place));
            }
            None => matching.added.push(index),
        }
    }
    matching.removed = (0..old.len()).filter(|index| !is_kept[*index]).collect();
    matching
}

/// By what an item is recognised if its content changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    Id(Symbol),
    Call(ItemKind, Symbol),
}

fn identities(item: &ConversationItem) -> impl Iterator<Item = Identity> {
    let by_call = item.call_id.map(|call| Identity::Call(item.kind, call));
    item.responses_item_id.map(Identity::Id).into_iter().chain(by_call)
}

/// Moves items that are in both requests out of `added` and `removed`: items whose content changed, and items that a
/// compaction kept as new items of the graph.
fn pair_changed(trace: &Trace, old: &[ItemIdx], new: &[ItemIdx], matching: Matching) -> (Matching, Vec<Changed>) {
    let Matching { mut kept, moved, added, mut removed } = matching;
    let mut by_identity: HashMap<Identity, usize> = HashMap::new();
    let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
    for index in removed.iter().rev() {
        let known = &trace.items[old[*index]];
        by_identity.extend(identities(known).map(|identity| (identity, *index)));
        by_content.entry(content(known)).or_default().push(*index);
    }
    let mut changed: Vec<Changed> = Vec::new();
    let mut taken = HashSet::new();
    let mut still_added = Vec::new();
    for after in added {
        let now = &trace.items[new[after]];
        let same = identities(now).find_map(|identity| by_identity.get(&identity).copied());
        if let Some(before) = same.filter(|before| taken.insert(*before)) {
            if content(&trace.items[old[before]]) == content(now) {
                kept += 1;
            } else {
                let (item_id_before, item_id) = (item_id(old[before]), item_id(new[after]));
                changed.push(Changed { before, after, item_id_before, item_id });
            }
            continue;
        }
        // If both have an id and the ids differ, the items are not the same.
        let has_no_id = now.responses_item_id.is_none();
        let equal = by_content.get_mut(&content(now)).filter(|_| has_no_id);
        let equal = equal.and_then(|places| {
            while let Some(place) = places.pop() {
                if !taken.contains(&place) {
                    return Some(place);
                }
            }
            None
        });
        match equal {
            Some(before) => {
                taken.insert(before);
                kept += 1;
            }
            None => still_added.push(after),
        }
    }
    removed.retain(|index| !taken.contains(index));
    (Matching { kept, moved, added: still_added, removed }, changed)
}

fn compare_beside(diff: &mut Diff, old: &Beside, new: &Beside) {
    let text = |beside: &Beside| beside.instructions.as_ref().map(|text| text.bytes);
    // Compares lengths, and the texts as far as the answer contains them.
    let begins = |beside: &Beside| beside.instructions.as_ref().map(|text| text.text.clone()).unwrap_or_default();
    diff.instructions_changed =
        text(old) != text(new) || !(begins(old).starts_with(&begins(new)) || begins(new).starts_with(&begins(old)));
    let old_tools: HashMap<&str, u64> = old.tools.iter().map(|tool| (tool.name.as_str(), tool.bytes)).collect();
    let new_tools: HashMap<&str, u64> = new.tools.iter().map(|tool| (tool.name.as_str(), tool.bytes)).collect();
    for tool in &new.tools {
        match old_tools.get(tool.name.as_str()) {
            None => diff.tools_added.push(tool.name.clone()),
            Some(bytes) if *bytes != tool.bytes => diff.tools_changed.push(tool.name.clone()),
            Some(_) => {}
        }
    }
    let gone = old.tools.iter().filter(|tool| !new_tools.contains_key(tool.name.as_str()));
    diff.tools_removed.extend(gone.map(|tool| tool.name.clone()));
    let value = |beside: &Beside, name: &str| {
        let found = beside.parameters.iter().find(|parameter| parameter.name == name);
        found.map(|parameter| (parameter.value.clone(), parameter.bytes))
    };
    let names = new.parameters.iter().chain(&old.parameters).map(|parameter| parameter.name.as_str());
    for name in names {
        if value(old, name) != value(new, name) && !diff.parameters_changed.iter().any(|known| known == name) {
            diff.parameters_changed.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_reducer::model::Handle;

    fn matched(old: &[usize], new: &[usize]) -> (usize, usize, Vec<usize>, Vec<usize>) {
        let handles = |list: &[usize]| list.iter().map(|index| ItemIdx::from_index(*index)).collect::<Vec<_>>();
        let Matching { kept, moved, added, removed } = matching(&handles(old), &handles(new));
        (kept, moved, added, removed)
    }

    #[test]
    fn items_are_matched_in_one_walk() {
        assert_eq!(matched(&[1, 2], &[1, 2, 3]), (2, 0, vec![2], vec![]));
        assert_eq!(matched(&[1, 2, 3], &[1, 3]), (2, 0, vec![], vec![1]));
        assert_eq!(matched(&[1, 2, 3], &[3, 1, 2]), (3, 2, vec![], vec![]));
        assert_eq!(matched(&[1, 1], &[1, 1, 1]), (2, 0, vec![2], vec![]));
        assert_eq!(matched(&[1, 2, 3, 4], &[9]), (0, 0, vec![0], vec![0, 1, 2, 3]));
        assert_eq!(matched(&[], &[]), (0, 0, vec![], vec![]));
    }
}
