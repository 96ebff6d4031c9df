//! Messages that nobody got.
//!
//! The graph knows a message as delivered when an item of its target names its author. Older releases put the message into
//! the target's conversation as the words of a user, without an author; such a message has arrived too.

use std::collections::{HashMap, HashSet};

use trace_reducer::model::{Part, Role, Symbol, ThreadIdx, Trace, Undelivered};

/// Returns the messages that no item of their targets shows, in the order of the log.
pub fn lost_messages(trace: &Trace) -> Vec<&Undelivered> {
    if trace.undelivered.is_empty() {
        return Vec::new();
    }
    let targets: HashSet<Symbol> = trace.undelivered.iter().map(|lost| lost.target_thread_id).collect();
    // When each text was last said to each target by a user.
    let mut said: HashMap<(Symbol, &str), u64> = HashMap::new();
    let id_of = |thread: ThreadIdx| trace.threads[thread].id;
    for item in trace.items.values().filter(|item| item.role == Role::User && targets.contains(&id_of(item.thread))) {
        if let [Part::Text(text)] = &*item.parts {
            let seq = said.entry((id_of(item.thread), text)).or_default();
            *seq = (*seq).max(item.first_seen.seq);
        }
    }
    let has_arrived =
        |lost: &Undelivered| said.get(&(lost.target_thread_id, &*lost.text)).is_some_and(|seq| *seq >= lost.seq);
    trace.undelivered.iter().filter(|lost| !has_arrived(lost)).collect()
}
