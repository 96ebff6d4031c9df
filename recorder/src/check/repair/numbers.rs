//! Assigns numbers to payload files that a repair adds.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::check::payloads::payload_number;
use crate::format::PAYLOADS_DIR;

/// Assigns numbers that are greater than those of all payload files, references and payload ids.
#[derive(Debug)]
pub(super) struct PayloadNumbers {
    taken: HashSet<u64>,
    next: u64,
}

impl PayloadNumbers {
    /// Collects the numbers of the files in the payload directory and of the `paths` in events. `last_id` is the greatest
    /// number in a payload id.
    pub(super) fn new<'p>(directory: &Path, paths: impl Iterator<Item = &'p str>, last_id: u64) -> Self {
        let mut taken: HashSet<u64> = paths.filter_map(payload_number).collect();
        for entry in fs::read_dir(directory.join(PAYLOADS_DIR)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            taken.extend(name.to_str().and_then(|name| payload_number(&format!("{PAYLOADS_DIR}/{name}"))));
        }
        let last = taken.iter().copied().max().unwrap_or(0).max(last_id);
        Self { taken, next: after(last) }
    }

    /// Returns an unused number.
    pub(super) fn take(&mut self) -> u64 {
        // In a malicious bundle the greatest number may be `u64::MAX`. Then the numbers start again at 1.
        while !self.taken.insert(self.next) {
            self.next = after(self.next);
        }
        self.next
    }
}

fn after(number: u64) -> u64 {
    number.checked_add(1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_behind_all_others() {
        let root = tempfile::tempdir().expect("a directory");
        let take_two = |paths: &[&str], last_id| {
            let mut numbers = PayloadNumbers::new(root.path(), paths.iter().copied(), last_id);
            [numbers.take(), numbers.take()]
        };
        assert_eq!(take_two(&[], 0), [1, 2]);
        assert_eq!(take_two(&["payloads/4.json", "payloads/x.json"], 0), [5, 6]);
        assert_eq!(take_two(&["payloads/4.json"], 9), [10, 11]);
        fs::create_dir_all(root.path().join("payloads/7.json")).expect("creates");
        assert_eq!(take_two(&["payloads/4.json"], 0), [8, 9]);
        let last = format!("payloads/{}.json", u64::MAX);
        assert_eq!(take_two(&[&last, "payloads/2.json"], 0), [1, 3]);
    }
}
