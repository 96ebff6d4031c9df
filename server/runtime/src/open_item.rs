//! An item that began and has to end, whatever happens.

use std::fmt;
use std::sync::Arc;

use crate::event::{Delta, EventKind};
use crate::host_link::HostLink;
use crate::id::{ItemId, TurnId};
use crate::item::{Item, ItemKind, WorkStatus};

/// Most bytes of a command's output that an open item remembers for the case that nobody completes it.
pub const MAX_REMEMBERED_OUTPUT_BYTES: usize = 1 << 20;

/// An item that began and has to end, whatever happens.
///
/// Made by [`ToolAgent::start_item`](crate::tool::ToolAgent::start_item); ends by [`complete`](Self::complete). Dropped before, it
/// completes as it was last shown, with the status `Interrupted` where it has a status, so that no item is left open.
pub struct OpenItem {
    link: Arc<HostLink>,
    turn: TurnId,
    id: ItemId,
    /// What is shown now; `None` once the item has ended.
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

    /// Returns what is shown now.
    pub fn kind(&self) -> &ItemKind {
        self.kind.as_ref().expect("an item that ended cannot be reached any more")
    }

    /// Tells that something came to the item. Texts grow what is shown; so does output, up to
    /// [`MAX_REMEMBERED_OUTPUT_BYTES`].
    pub fn grow(&mut self, delta: Delta) {
        if let Some(kind) = &mut self.kind {
            extend(kind, &delta);
        }
        self.link.event(EventKind::ItemGrew { turn: self.turn.clone(), item: self.id.clone(), delta });
    }

    /// Changes what the item shows, without telling it: it counts when the item completes by being dropped.
    pub fn change(&mut self, kind: ItemKind) {
        self.kind = Some(kind);
    }

    /// Ends the item as it is now and returns what was told.
    pub fn complete(mut self, kind: ItemKind) -> Arc<Item> {
        self.kind = None;
        self.finish(kind)
    }

    /// Ends the item as it was last shown.
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

/// Adds what came to an item to what it shows.
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

/// Adds text to a numbered part. Parts come one after the other: a number that is far ahead counts as the next one, since a
/// model must not make lists grow by naming numbers.
fn part(parts: &mut Vec<String>, index: usize, text: &str) {
    let index = index.min(parts.len());
    if index == parts.len() {
        parts.push(String::new());
    }
    parts[index].push_str(text);
}

/// Marks work that goes on as stopped.
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
