//! The history of an agent's thread, the items that will join it, and its token usage.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use crate::event::{ThreadUsage, TokenCounts};
use crate::history::History;
use crate::item::ModelItem;

/// Token count of a history that a provider rejected as too long. It is compacted before the next request.
pub(crate) const CONTEXT_IS_FULL: u64 = u64::MAX;

/// The history of an agent's thread.
pub(crate) struct ThreadHistory {
    seen: History,
    /// Ids of items and calls that are in use. If a model repeats one, the item gets another id.
    used_ids: HashSet<String>,
    usage: ThreadUsage,
    /// Tokens of the newest request and its answer; 0 after the history was replaced.
    pub(crate) context_tokens: u64,
    /// Items that are added to the history before the next request, or when the turn ends.
    pub(crate) notes: Vec<ModelItem>,
    /// Items that joined the history while no turn ran. The next turn records them.
    pub(crate) unrecorded: Vec<ModelItem>,
}

impl ThreadHistory {
    pub(crate) fn restore(items: Vec<ModelItem>, usage: ThreadUsage) -> Self {
        let mut history = Self {
            seen: History::restore(items),
            used_ids: HashSet::new(),
            usage,
            context_tokens: usage.last.total,
            notes: Vec::new(),
            unrecorded: Vec::new(),
        };
        history.claim_ids();
        history
    }

    /// Returns what the model has seen.
    pub(crate) fn items(&self) -> &[ModelItem] {
        self.seen.items()
    }

    /// Returns an output `aborted` for every call without an output.
    pub(crate) fn unanswered(&self) -> Vec<ModelItem> {
        self.seen.unanswered()
    }

    /// Adds an item to the history.
    pub(crate) fn push(&mut self, item: &ModelItem) {
        self.used_ids.extend(ids(item));
        self.seen.push(item);
    }

    /// Replaces the history. Returns the new one, with unique ids.
    pub(crate) fn replace(&mut self, items: Vec<ModelItem>) -> Arc<[ModelItem]> {
        self.seen = History::restore(items);
        self.context_tokens = 0;
        self.seen.items().into()
    }

    /// Marks the ids of all items as used.
    pub(crate) fn claim_ids(&mut self) {
        self.used_ids.extend(self.seen.items().iter().flat_map(|item| item.read(ids)));
    }

    /// Returns a unique id within the thread: `wanted`, if it is not in use.
    pub(crate) fn own_id(&mut self, wanted: &str, prefix: &str) -> String {
        if !wanted.is_empty() && self.used_ids.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let id = format!("{prefix}_{}", Uuid::now_v7());
        self.used_ids.insert(id.clone());
        id
    }

    /// Adds the token usage of a request and its answer.
    pub(crate) fn count(&mut self, counts: TokenCounts, context_window: Option<u64>) -> ThreadUsage {
        self.usage = ThreadUsage { total: self.usage.total.plus(counts), last: counts, context_window };
        self.context_tokens = counts.total;
        self.usage
    }
}

/// Returns the ids that an item uses.
fn ids(item: &Value) -> Vec<String> {
    let is_output = item.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_output"));
    let call_id = if is_output { None } else { item.get("call_id") };
    item.get("id").into_iter().chain(call_id).filter_map(Value::as_str).map(str::to_owned).collect()
}
