//! Maps of keys to lists of items. The lists are linked through one array: most have one entry, and a list must cost no
//! allocation and no search.

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::model::{Handle, ItemIdx};

/// Lists of items by key, each in the order of creation. An item is in at most one list.
#[derive(Debug, Clone)]
pub(super) struct Chains<K> {
    ends: HashMap<K, (ItemIdx, ItemIdx), FixedState>,
    next: Vec<Option<ItemIdx>>,
}

impl<K> Default for Chains<K> {
    fn default() -> Self {
        Self { ends: HashMap::default(), next: Vec::new() }
    }
}

impl<K: Hash + Eq> Chains<K> {
    /// Inserts an item at its place in the order of creation.
    pub(super) fn insert(&mut self, key: K, item: ItemIdx) {
        if self.next.len() <= item.index() {
            self.next.resize(item.index() + 1, None);
        }
        let Some((head, tail)) = self.ends.get_mut(&key) else {
            self.ends.insert(key, (item, item));
            return;
        };
        if item > *tail {
            self.next[tail.index()] = Some(item);
            *tail = item;
        } else if item < *head {
            self.next[item.index()] = Some(*head);
            *head = item;
        } else {
            let mut before = *head;
            while let Some(after) = self.next[before.index()].filter(|after| *after < item) {
                before = after;
            }
            self.next[item.index()] = self.next[before.index()];
            self.next[before.index()] = Some(item);
        }
    }

    /// Removes an item.
    pub(super) fn remove(&mut self, key: &K, item: ItemIdx) {
        let Some((head, tail)) = self.ends.get_mut(key) else { return };
        let after = self.next[item.index()].take();
        if *head == item {
            match after {
                Some(after) => *head = after,
                None => {
                    self.ends.remove(key);
                }
            }
            return;
        }
        let mut before = *head;
        while let Some(next) = self.next[before.index()] {
            if next == item {
                self.next[before.index()] = after;
                if *tail == item {
                    *tail = before;
                }
                return;
            }
            before = next;
        }
    }

    /// Iterates over the items under a key.
    pub(super) fn get(&self, key: &K) -> impl Iterator<Item = ItemIdx> + use<'_, K> {
        std::iter::successors(self.ends.get(key).map(|(head, _)| *head), |item| self.next[item.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_in_order_of_creation() {
        let item = ItemIdx::from_index;
        let mut chains = Chains::default();
        for index in [5, 1, 9, 3] {
            chains.insert("k", item(index));
        }
        chains.insert("other", item(2));
        let list = |chains: &Chains<&str>| chains.get(&"k").map(Handle::index).collect::<Vec<_>>();
        assert_eq!(list(&chains), [1, 3, 5, 9]);
        for (gone, left) in [(9, vec![1, 3, 5]), (3, vec![1, 5]), (1, vec![5]), (5, vec![])] {
            chains.remove(&"k", item(gone));
            assert_eq!(list(&chains), left);
        }
        chains.insert("k", item(4));
        assert_eq!(list(&chains), [4]);
    }
}
