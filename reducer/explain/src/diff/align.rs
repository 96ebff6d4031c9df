//! Aligns two lists: finds which entries of one list correspond to which entries of the other.
//!
//! Short lists are aligned optimally. Long lists are first divided at entries that occur exactly once in each list, so
//! that the time stays close to linear however different the lists are.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most entries that two lists may have together for an optimal alignment.
pub const MAX_EXACT_ENTRIES: usize = 1000;

/// A run of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// This many entries are equal in both lists.
    Same(usize),
    /// This many entries of the first list are in place of this many of the second.
    Other(usize, usize),
}

impl Run {
    /// Returns the number of entries of the run in the first and in the second list.
    pub(super) fn counts(self) -> (usize, usize) {
        match self {
            Self::Same(count) => (count, count),
            Self::Other(count_a, count_b) => (count_a, count_b),
        }
    }
}

/// Aligns two lists. Returns the runs that they consist of.
pub(super) fn align(a: &[u64], b: &[u64]) -> Vec<Run> {
    let mut runs = Runs(Vec::new());
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[prefix..], &b[prefix..]);
    let suffix = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&rest_a[..rest_a.len() - suffix], &rest_b[..rest_b.len() - suffix]);
    runs.same(prefix);
    let (mut at_a, mut at_b) = (0, 0);
    for (anchor_a, anchor_b) in anchors(rest_a, rest_b) {
        runs.between(&rest_a[at_a..anchor_a], &rest_b[at_b..anchor_b]);
        runs.same(1);
        (at_a, at_b) = (anchor_a + 1, anchor_b + 1);
    }
    runs.between(&rest_a[at_a..], &rest_b[at_b..]);
    runs.same(suffix);
    runs.0
}

struct Runs(Vec<Run>);

impl Runs {
    fn same(&mut self, count: usize) {
        match self.0.last_mut() {
            _ if count == 0 => {}
            Some(Run::Same(before)) => *before += count,
            _ => self.0.push(Run::Same(count)),
        }
    }

    fn other(&mut self, a: usize, b: usize) {
        match self.0.last_mut() {
            _ if a + b == 0 => {}
            Some(Run::Other(before_a, before_b)) => {
                *before_a += a;
                *before_b += b;
            }
            _ => self.0.push(Run::Other(a, b)),
        }
    }

    fn between(&mut self, a: &[u64], b: &[u64]) {
        if a.len() + b.len() > MAX_EXACT_ENTRIES {
            self.other(a.len(), b.len());
            return;
        }
        for op in capture_diff_slices(Algorithm::Myers, a, b) {
            match op {
                DiffOp::Equal { len, .. } => self.same(len),
                DiffOp::Delete { old_len, .. } => self.other(old_len, 0),
                DiffOp::Insert { new_len, .. } => self.other(0, new_len),
                DiffOp::Replace { old_len, new_len, .. } => self.other(old_len, new_len),
            }
        }
    }
}

/// Returns the positions at which long lists are divided: the longest sequence of entries that occur exactly once in
/// each list, in the same order in both.
fn anchors(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    if a.len() + b.len() <= MAX_EXACT_ENTRIES {
        return Vec::new();
    }
    let once = |list: &[u64]| {
        let mut places: HashMap<u64, Option<usize>> = HashMap::new();
        for (index, entry) in list.iter().enumerate() {
            places.entry(*entry).and_modify(|place| *place = None).or_insert(Some(index));
        }
        places
    };
    let in_b = once(b);
    let in_a = once(a);
    let pairs: Vec<(usize, usize)> = a
        .iter()
        .enumerate()
        .filter(|(_, entry)| in_a.get(entry).copied().flatten().is_some())
        .filter_map(|(index, entry)| Some((index, in_b.get(entry).copied().flatten()?)))
        .collect();
    // The longest increasing subsequence of the second positions: for each length, the pair with the smallest end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        row.push(pairs[index]);
        next = before[index];
    }
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(a: &[u64], b: &[u64]) {
        let (mut at_a, mut at_b) = (0, 0);
        for run in align(a, b) {
            match run {
                Run::Same(count) => {
                    assert_eq!(a[at_a..at_a + count], b[at_b..at_b + count]);
                    (at_a, at_b) = (at_a + count, at_b + count);
                }
                Run::Other(in_a, in_b) => (at_a, at_b) = (at_a + in_a, at_b + in_b),
            }
        }
        assert_eq!((at_a, at_b), (a.len(), b.len()));
    }

    #[test]
    fn what_was_put_in_is_found() {
        assert_eq!(align(&[1, 2, 3], &[1, 2, 3]), [Run::Same(3)]);
        assert_eq!(align(&[1, 2, 3], &[1, 9, 2, 3]), [Run::Same(1), Run::Other(0, 1), Run::Same(2)]);
        assert_eq!(align(&[1, 2, 3], &[1, 9, 3]), [Run::Same(1), Run::Other(1, 1), Run::Same(1)]);
        assert_eq!(align(&[], &[1]), [Run::Other(0, 1)]);
        assert_eq!(align(&[], &[]), []);
    }

    #[test]
    fn long_lists_are_cut_at_what_stands_once_in_both() {
        let a: Vec<u64> = (0..5000).collect();
        let mut b = a.clone();
        b.splice(1000..1001, [10_000, 10_001]);
        b.remove(4000);
        b.insert(0, 7);
        let b: Vec<u64> = b.into_iter().chain([8]).collect();
        holds(&a, &b);
        let same: usize = align(&a, &b).iter().map(|run| if let Run::Same(count) = run { *count } else { 0 }).sum();
        assert!(same > 4900, "{same}");
    }

    #[test]
    fn lists_that_have_nothing_in_common_are_told_apart_at_once() {
        let a: Vec<u64> = vec![1; 200_000];
        let b: Vec<u64> = vec![2; 200_000];
        assert_eq!(align(&a, &b), [Run::Other(200_000, 200_000)]);
    }

    proptest! {
        #[test]
        fn runs_cover_both_lists(a in prop::collection::vec(0..6u64, 0..40), b in prop::collection::vec(0..6u64, 0..40)) {
            holds(&a, &b);
        }

        #[test]
        fn a_list_is_the_same_as_itself(a in prop::collection::vec(0..6u64, 1..40)) {
            prop_assert_eq!(align(&a, &a), vec![Run::Same(a.len())]);
        }
    }
}
