//! An item that has started and completes in any case.

use std::fmt;
use std::sync::Arc;

use crate::event::{Delta, EventKind};
use crate::host_link::HostLink;
use crate::id::{ItemId, TurnId};
use crate::item::{Item, ItemKind, WorkStatus};

/// Most bytes of a command's output that an open item keeps for the case that it is dropped.
pub const MAX_REMEMBERED_OUTPUT_BYTES: usize = 1 << 20;

/// An item that has started and completes in any case.
///
/// [`ToolAgent::start_item`](crate::tool::ToolAgent::start_item) creates it, and [`complete`](Self::complete) completes it. If it is dropped
/// before, the item completes as it was last shown, with the status `Interrupted` if it has a status.
pub struct OpenItem {
    link: Arc<HostLink>,
    turn: TurnId,
    id: ItemId,
    /// The current state of the item; `None` after it completed.
    kind: Option<ItemKind>,
}

impl OpenItem {
    pub(crate) fn start(link: &Arc<HostLink>, turn: &TurnId, item: Item) -> Self {
        link.event(EventKind::ItemStarted { turn: turn.clone(), item: Arc::new(item.clone()) });
        Self { link: Arc::clone(link), turn: turn.clone(), id: item.id, kind: Some(item.kind) }
    }

    /// Returns the id of the item.
    pub fn id(&self) -> &ItemId {
        &self.id
    }

    /// Returns the current state of the item.
    pub fn kind(&self) -> &ItemKind {
        self.kind.as_ref().expect("an item that ended cannot be reached any more")
    }

    /// Sends a change of the item, and applies it. Of output, at most
    /// [`MAX_REMEMBERED_OUTPUT_BYTES`] are kept.
    pub fn grow(&mut self, delta: Delta) {
        if let Some(kind) = &mut self.kind {
            extend(kind, &delta);
        }
        self.link.event(EventKind::ItemGrew { turn: self.turn.clone(), item: self.id.clone(), delta });
    }

    /// Changes the item without an event. The change is visible if the item completes by being dropped.
    pub fn change(&mut self, kind: ItemKind) {
        self.kind = Some(kind);
    }

    /// Completes the item with this state, and returns it.
    pub fn complete(mut self, kind: ItemKind) -> Arc<Item> {
        self.kind = None;
        self.finish(kind)
    }

    /// Completes the item with its current state.
    pub fn complete_as_shown(mut self) -> Arc<Item> {
        let kind = self.kind.take().expect("an item that ended cannot be reached any more");
        self.finish(kind)
    }

    fn finish(&self, kind: ItemKind) -> Arc<Item> {
        let item = Arc::new(Item { id: self.id.clone(), kind });
        self.link.event(EventKind::ItemCompleted { turn: self.turn.clone(), item: Arc::clone(&item) });
        item
    }
}

impl Drop for OpenItem {
    fn drop(&mut self) {
        if let Some(mut kind) = self.kind.take() {
            interrupt(&mut kind);
            self.finish(kind);
        }
    }
}

impl fmt::Debug for OpenItem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenItem").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Applies a change to an item.
fn extend(kind: &mut ItemKind, delta: &Delta) {
    match (kind, delta) {
        (ItemKind::AgentMessage { text, .. }, Delta::Text(more)) => text.push_str(more),
        (ItemKind::Reasoning { summary, .. }, Delta::SummaryPart { index }) => part(summary, *index, ""),
        (ItemKind::Reasoning { summary, .. }, Delta::Summary { index, text }) => part(summary, *index, text),
        (ItemKind::Reasoning { content, .. }, Delta::Reasoning { index, text }) => part(content, *index, text),
        (ItemKind::Command(command), Delta::Output(more)) => {
            let output = command.output.get_or_insert_default();
            if output.len() + more.len() <= MAX_REMEMBERED_OUTPUT_BYTES {
                output.push_str(more);
            }
        }
        (ItemKind::FileChange { changes, .. }, Delta::Changes(now)) => changes.clone_from(now),
        _ => {}
    }
}

/// Adds text to the part with this index. An index behind the end means a new part at the end, so that a model cannot make
/// lists grow by large indexes.
fn part(parts: &mut Vec<String>, index: usize, text: &str) {
    let index = index.min(parts.len());
    if index == parts.len() {
        parts.push(String::new());
    }
    parts[index].push_str(text);
}

/// Sets the status of running work to `Interrupted`.
fn interrupt(kind: &mut ItemKind) {
    let status = match kind {
        ItemKind::Command(command) => &mut command.status,
        ItemKind::FileChange { status, .. }
        | ItemKind::McpCall { status, .. }
        | ItemKind::DynamicCall { status, .. }
        | ItemKind::AgentCall { status, .. } => status,
        _ => return,
    };
    if *status == WorkStatus::InProgress {
        *status = WorkStatus::Interrupted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_in_order_and_never_by_their_numbers() {
        let mut kind = ItemKind::Reasoning { summary: Vec::new(), content: Vec::new() };
        for (index, text) in [(0, "a"), (0, "b"), (1, "c"), (usize::MAX, "d")] {
            extend(&mut kind, &Delta::Summary { index, text: text.to_owned() });
        }
        let expected = ["ab", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(kind, ItemKind::Reasoning { summary: expected, content: Vec::new() });
    }

    #[test]
    fn only_work_that_goes_on_is_interrupted() {
        let change = |status| ItemKind::FileChange { changes: Vec::new(), status };
        for (before, after) in [
            (WorkStatus::InProgress, WorkStatus::Interrupted),
            (WorkStatus::Completed, WorkStatus::Completed),
            (WorkStatus::Declined, WorkStatus::Declined),
        ] {
            let mut kind = change(before);
            interrupt(&mut kind);
            assert_eq!(kind, change(after));
        }
    }
}
