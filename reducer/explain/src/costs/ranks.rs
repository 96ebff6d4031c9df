//! Percentiles of any range of a list, without sorting the range.
//!
//! In a list that is ordered by the tree of agents, the calls of an agent and of all agents below it are one range. A
//! wavelet matrix over the list answers a question in as many steps as an index into the list has bits, for any range,
//! so the time does not depend on the depth of the tree.

/// A prepared list.
#[derive(Debug)]
pub(super) struct Ranks {
    sorted: Vec<u64>,
    /// For each bit, from the highest: for each length, how many entries of the prefix of this length do not have the
    /// bit set.
    levels: Vec<Vec<u32>>,
}

impl Ranks {
    pub(super) fn new(values: &[u64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut ranks: Vec<usize> = values.iter().map(|value| sorted.partition_point(|less| less < value)).collect();
        let bits = usize::BITS - sorted.len().saturating_sub(1).leading_zeros();
        let mut levels = Vec::new();
        for bit in (0..bits).rev() {
            let is_unset = |rank: &usize| rank >> bit & 1 == 0;
            let mut unset = vec![0u32];
            for rank in &ranks {
                unset.push(unset.last().copied().unwrap_or(0) + u32::from(is_unset(rank)));
            }
            levels.push(unset);
            let (low, high): (Vec<usize>, Vec<usize>) = ranks.iter().partition(|rank| is_unset(rank));
            ranks = [low, high].concat();
        }
        Self { sorted, levels }
    }

    /// Returns the smallest value that at least `percent` percent of the entries in `start..end` do not exceed.
    pub(super) fn percentile(&self, start: usize, end: usize, percent: usize) -> Option<u64> {
        let (mut start, mut end) = (start, end);
        let mut rank = ((end - start) * percent).div_ceil(100).checked_sub(1)?;
        let mut place = 0;
        for unset in &self.levels {
            let (before, until) = (unset[start] as usize, unset[end] as usize);
            place <<= 1;
            if rank < until - before {
                (start, end) = (before, until);
            } else {
                rank -= until - before;
                let all = unset.last().map_or(0, |all| *all as usize);
                (start, end) = (all + start - before, all + end - until);
                place |= 1;
            }
        }
        self.sorted.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sums::percentile;
    use super::*;

    proptest! {
        #[test]
        fn a_part_has_the_percentiles_that_it_has_alone(
            values in prop::collection::vec(prop_oneof![0..9u64, any::<u64>()], 0..50), cut in 0..50usize, length in 0..50usize
        ) {
            let start = cut.min(values.len());
            let end = (start + length).min(values.len());
            let mut part = values[start..end].to_vec();
            part.sort_unstable();
            let ranks = Ranks::new(&values);
            for percent in [50, 95, 100] {
                prop_assert_eq!(ranks.percentile(start, end, percent), percentile(&part, percent));
            }
        }
    }
}
