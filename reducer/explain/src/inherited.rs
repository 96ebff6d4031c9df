//! Which items an agent inherited: the history that a forked agent got at its start.

use std::collections::HashMap;

use trace_reducer::model::{ConversationItem, Handle, ItemKind, Part, Role, Symbol, ThreadIdx, Trace};

use crate::family::Family;
use crate::why::{Kind, by_user_role};

/// What is compared of two items besides their ids.
type Content<'t> = (ItemKind, Role, Option<Symbol>, &'t [Part]);

/// The items of a thread that a child may have inherited, with the sequence number at which each was first seen.
#[derive(Default)]
struct History<'t> {
    by_id: HashMap<Symbol, u64>,
    by_content: HashMap<Content<'t>, u64>,
}

/// Returns for each item whether its thread inherited it from its parent. Takes time proportional to the graph.
///
/// An inherited item is part of the first request of its thread, and the parent had it when the thread began: with the
/// same provider's id or, if there are no ids, with the same content. Every agent gets its own copy of instructions, so
/// equal instructions only count if they have the same id.
pub fn inherited_items(trace: &Trace, family: &Family) -> Vec<bool> {
    let mut inherited = vec![false; trace.items.len()];
    let mut first_requests: HashMap<ThreadIdx, u64> = HashMap::new();
    for call in trace.inferences.values() {
        let first = first_requests.entry(call.thread).or_insert(u64::MAX);
        *first = (*first).min(call.execution.started.seq);
    }
    let mut histories: HashMap<ThreadIdx, History<'_>> = HashMap::new();
    for (child, birth) in family.births() {
        let Some(first_request) = first_requests.get(&child) else { continue };
        let history = histories.entry(birth.parent).or_insert_with(|| history_of(trace, birth.parent));
        let began = trace.threads[child].execution.started.seq;
        for index in &trace.threads[child].items {
            let item = &trace.items[*index];
            if item.thread != child || item.first_seen.seq > *first_request {
                continue;
            }
            let by_id = item.responses_item_id.and_then(|id| history.by_id.get(&id));
            let by_content = || history.by_content.get(&content(item));
            let had = by_id.or_else(|| if is_known_by_content(item) { by_content() } else { None });
            inherited[index.index()] = had.is_some_and(|seq| *seq <= began);
        }
    }
    inherited
}

fn history_of(trace: &Trace, thread: ThreadIdx) -> History<'_> {
    let mut history = History::default();
    for index in &trace.threads[thread].items {
        let item = &trace.items[*index];
        let seq = item.first_seen.seq;
        if let Some(id) = item.responses_item_id {
            history.by_id.entry(id).and_modify(|known| *known = (*known).min(seq)).or_insert(seq);
        }
        history.by_content.entry(content(item)).and_modify(|known| *known = (*known).min(seq)).or_insert(seq);
    }
    history
}

fn content(item: &ConversationItem) -> Content<'_> {
    (item.kind, item.role, item.call_id, &item.parts)
}

/// Returns whether equal content is enough to recognise an item.
fn is_known_by_content(item: &ConversationItem) -> bool {
    let is_instructions = match item.role {
        Role::System | Role::Developer => true,
        Role::User => by_user_role(item) == Kind::Instructions,
        Role::Assistant | Role::Tool => false,
    };
    item.responses_item_id.is_none() && !is_instructions && item.agent_message.is_none()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::session::Session;

    fn counts(path: &Path) -> Vec<(String, usize, usize)> {
        let session = Session::open(path).expect("a bundle");
        let trace = session.trace();
        let family = Family::new(trace);
        let inherited = inherited_items(trace, &family);
        let count = |thread: &ThreadIdx| {
            let items = &trace.threads[*thread].items;
            let from_above = items.iter().filter(|item| inherited[item.index()]).count();
            (session.agent_path(*thread).to_owned(), from_above, items.len())
        };
        family.order().iter().map(count).collect()
    }

    #[test]
    fn children_without_a_history_inherit_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::three_children(&path).expect("a sample");
        assert!(counts(&path).iter().all(|(_, inherited, items)| *inherited == 0 && *items > 0));
    }

    #[test]
    fn forked_children_inherit_their_parents_history() {
        let bundle = trace_needs::repository().join("reducer/tests/recordings/forked-agents/bundle");
        assert!(counts(&bundle).iter().any(|(path, inherited, _)| path != "/root" && *inherited > 0));
    }
}
