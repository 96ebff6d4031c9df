//! What is shown by itself and what is folded, so that a picture never has too many nodes.
//!
//! A view lists what it could show in the order of importance, what failed and the way to it first, and can say how many
//! nodes there are when only the beginning of that list is shown by itself and all else is folded into boxes between it.
//! The longest such beginning that fits is shown.

/// Returns the longest beginning of a list of so many entries with which there are at most so many nodes, if there is one.
/// A longer beginning usually makes more nodes; where it makes fewer, a shorter one than possible may be returned.
pub(super) fn longest_fit(entries: usize, max_nodes: usize, nodes_with: impl Fn(usize) -> usize) -> Option<usize> {
    if nodes_with(entries) <= max_nodes {
        return Some(entries);
    }
    let fits = |entries: usize| nodes_with(entries) <= max_nodes;
    // The largest known to fit, and the smallest known not to.
    let (mut fit, mut too_many) = (None, entries);
    let mut low = 0;
    while low < too_many {
        let middle = low + (too_many - low) / 2;
        if fits(middle) {
            fit = Some(middle);
            low = middle + 1;
        } else {
            too_many = middle;
        }
    }
    // Nodes may be fewer again for a longer beginning, so the shortest one is worth a look.
    fit.or_else(|| fits(0).then_some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_that_fits() {
        let nodes = |entries: usize| 1 + 2 * entries;
        assert_eq!(longest_fit(10, 100, nodes), Some(10));
        assert_eq!(longest_fit(10, 20, nodes), Some(9));
        assert_eq!(longest_fit(10, 1, nodes), Some(0));
        assert_eq!(longest_fit(10, 0, nodes), None);
        assert_eq!(longest_fit(0, 1, nodes), Some(0));
    }
}
