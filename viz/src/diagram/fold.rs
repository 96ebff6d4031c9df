//! Chooses what is shown by itself and what is folded, so that a picture never has too many nodes.
//!
//! A view lists what it could show in the order of importance: first what failed and the chain to it. It can count the
//! nodes for any prefix of that list, if only the prefix is shown by itself and everything else is folded into boxes
//! between. The longest prefix that fits is shown.

/// Returns the length of the longest prefix of a list of `entries` entries that makes at most `max_nodes` nodes. `None`
/// if not even the empty prefix fits.
///
/// A longer prefix usually makes more nodes. The search assumes this; where it is wrong, a shorter prefix than possible
/// may be returned.
pub(super) fn longest_fit(entries: usize, max_nodes: usize, nodes_with: impl Fn(usize) -> usize) -> Option<usize> {
    if nodes_with(entries) <= max_nodes {
        return Some(entries);
    }
    let fits = |entries: usize| nodes_with(entries) <= max_nodes;
    // The longest prefix that is known to fit, and the shortest that is known not to.
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
    // A longer prefix may make fewer nodes, so the search can miss that the empty one fits.
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
