//! Item lists that share their common beginnings.
//!
//! Every request of a thread repeats the items of the request before, so the lists of all requests together grow with
//! the square of a session's length. Here a list is a prefix of a *line*: an array of items that only grows at its end.

use super::ids::ItemIdx;

/// A list of conversation items; resolves in [`ItemLists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemList {
    pub(crate) line: u32,
    pub(crate) len: u32,
}

impl ItemList {
    /// The list without items.
    pub const EMPTY: Self = Self { line: u32::MAX, len: 0 };

    /// Returns the number of items.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Returns the list's line and the length of the list, or `None` for the empty list.
    pub fn on_line(self) -> Option<(u32, u32)> {
        (!self.is_empty()).then_some((self.line, self.len))
    }

    /// Returns whether the list is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// All item lists of a trace.
#[derive(Debug, Clone, Default)]
pub struct ItemLists {
    lines: Vec<Vec<ItemIdx>>,
}

impl ItemLists {
    /// Returns the items of a list.
    pub fn get(&self, list: ItemList) -> &[ItemIdx] {
        if list.is_empty() { &[] } else { &self.lines[list.line as usize][..list.len as usize] }
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Returns all items of a line.
    pub fn line(&self, line: u32) -> &[ItemIdx] {
        &self.lines[line as usize]
    }

    /// Returns `list` followed by `item`. If the list ends where its line ends, the line grows; if `item` is already
    /// the line's next item, the line stays as it is; otherwise the list is copied to a new line.
    pub(crate) fn appended(&mut self, list: ItemList, item: ItemIdx) -> (ItemList, Appended) {
        let len = list.len();
        if list.line == u32::MAX {
            let line = u32::try_from(self.lines.len()).expect("there are fewer than 2^32 lists");
            self.lines.push(vec![item]);
            return (ItemList { line, len: 1 }, Appended::Grew);
        }
        let line = &mut self.lines[list.line as usize];
        let longer = ItemList { line: list.line, len: list.len + 1 };
        if len == line.len() {
            line.push(item);
            (longer, Appended::Grew)
        } else if line[len] == item {
            (longer, Appended::Followed)
        } else {
            let mut copy = Vec::with_capacity(len + 16);
            copy.extend_from_slice(&line[..len]);
            copy.push(item);
            let line = u32::try_from(self.lines.len()).expect("there are fewer than 2^32 lists");
            self.lines.push(copy);
            (ItemList { line, len: list.len + 1 }, Appended::Copied)
        }
    }
}

/// How [`ItemLists::appended`] made the longer list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    Followed,
    Grew,
    Copied,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::Handle;

    #[test]
    fn lists_share_a_line_until_they_differ() {
        let item = ItemIdx::from_index;
        let mut lists = ItemLists::default();
        let (a, how) = lists.appended(ItemList::EMPTY, item(1));
        assert_eq!(how, Appended::Grew);
        let (ab, _) = lists.appended(a, item(2));
        let (again, how) = lists.appended(a, item(2));
        assert_eq!((again, how), (ab, Appended::Followed));
        let (ac, how) = lists.appended(a, item(3));
        assert_eq!(how, Appended::Copied);
        assert_eq!(lists.get(ab), [item(1), item(2)]);
        assert_eq!(lists.get(ac), [item(1), item(3)]);
        assert_eq!(lists.get(ItemList::EMPTY), []);
    }
}
