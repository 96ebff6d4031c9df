//! The history of a thread, of which each request shows the newest part that it has seen.

use crate::body::{History, ItemText};

/// An entry of the history.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Number of the line in the history, which goes on when a thread is forked or reverted.
    ordinal: u64,
    /// Place of the item among the items.
    sequence: u64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Item(ItemText),
    /// A compaction replaced everything before.
    Cleared,
}

/// The history of a thread.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    entries: Vec<Entry>,
    /// What every request begins with: the system prompt.
    head: Option<ItemText>,
    /// The items that the last request saw, and the number of entries that were looked at for it.
    sent: History,
    seen: usize,
    newest: u64,
}

impl Timeline {
    /// Sets the item that every request begins with.
    pub(super) fn set_head(&mut self, item: ItemText) {
        self.head = Some(item);
        self.restart();
    }

    /// Adds an item. Without a sequence, it comes behind the newest one.
    pub(super) fn push(&mut self, ordinal: u64, sequence: Option<u64>, item: ItemText) {
        let sequence = sequence.unwrap_or(self.newest + 1);
        self.newest = self.newest.max(sequence);
        self.entries.push(Entry { ordinal, sequence, what: What::Item(item) });
    }

    /// Forgets everything before. What is added next are the items that replace it.
    pub(super) fn clear(&mut self, ordinal: u64) {
        self.entries.push(Entry { ordinal, sequence: 0, what: What::Cleared });
    }

    /// Takes back everything from an ordinal on.
    pub(super) fn cut(&mut self, end: u64) {
        self.entries.retain(|entry| entry.ordinal < end);
        self.newest = self.entries.iter().map(|entry| entry.sequence).max().unwrap_or(0);
        self.restart();
    }

    fn restart(&mut self) {
        self.sent = self.head.into_iter().collect();
        self.seen = 0;
    }

    /// Returns the items up to a sequence, or all of them.
    pub(super) fn up_to(&mut self, sequence: Option<u64>) -> History {
        while let Some(entry) = self.entries.get(self.seen) {
            match entry.what {
                What::Cleared => self.sent = self.head.into_iter().collect(),
                What::Item(_) if sequence.is_some_and(|sequence| entry.sequence > sequence) => break,
                What::Item(item) => self.sent.push(item),
            }
            self.seen += 1;
        }
        self.sent.clone()
    }

    /// Returns all items as they stand now, without the one that every request begins with.
    pub(super) fn current(&self) -> History {
        let cleared = self.entries.iter().rposition(|entry| matches!(entry.what, What::Cleared));
        let live = &self.entries[cleared.map_or(0, |index| index + 1)..];
        let items = live.iter().filter_map(|entry| match entry.what {
            What::Item(item) => Some(item),
            What::Cleared => None,
        });
        items.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;

    #[test]
    fn a_request_sees_what_came_before_it() {
        let mut draft = Draft::new("test");
        let lane = draft.lane("t");
        let mut items =
            (0..6).map(|number| draft.other_item(lane, &number).expect("JSON")).collect::<Vec<_>>().into_iter();
        let mut next = || items.next().expect("an item");
        let mut timeline = Timeline::default();
        timeline.set_head(next());
        timeline.push(1, Some(1), next());
        timeline.push(2, Some(2), next());
        assert_eq!(timeline.up_to(Some(1)).len(), 2);
        assert_eq!(timeline.up_to(Some(2)).len(), 3);
        timeline.push(3, None, next());
        assert_eq!(timeline.up_to(None).len(), 4);
        timeline.clear(4);
        timeline.push(4, Some(9), next());
        assert_eq!((timeline.up_to(Some(9)).len(), timeline.current().len()), (2, 1));
        timeline.cut(3);
        assert_eq!((timeline.up_to(None).len(), timeline.current().len()), (3, 2));
    }
}
