//! The timeline as a sequence of beginnings and ends, as trace formats require.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Scene;

/// A step of the walk, with the index of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A slice begins.
    Begin(usize),
    /// A slice ends.
    End(usize),
    /// A moment.
    Mark(usize),
}

impl Scene<'_> {
    /// Visits all pieces in the order of time. In each lane, beginnings and ends match like brackets even if their
    /// times are equal, so that a reader that relies on the order nests slices correctly.
    ///
    /// # Errors
    ///
    /// Returns the first error of `visit`.
    pub(crate) fn walk<E>(&self, mut visit: impl FnMut(Step) -> Result<(), E>) -> Result<(), E> {
        // Of slices that end at the same event, the one that began last ends first.
        let mut open: BinaryHeap<Reverse<(u64, Reverse<usize>)>> = BinaryHeap::new();
        let end = |at: Reverse<usize>| Step::End(self.order[at.0]);
        for (at, index) in self.order.iter().copied().enumerate() {
            let piece = &self.pieces[index];
            while let Some(Reverse((_, last))) = open.peek().copied().filter(|Reverse((seq, _))| *seq <= piece.start) {
                open.pop();
                visit(end(last))?;
            }
            if piece.is_mark() {
                visit(Step::Mark(index))?;
            } else if piece.start == piece.end {
                visit(Step::Begin(index))?;
                visit(Step::End(index))?;
            } else {
                visit(Step::Begin(index))?;
                open.push(Reverse((piece.end, Reverse(at))));
            }
        }
        while let Some(Reverse((_, last))) = open.pop() {
            visit(end(last))?;
        }
        Ok(())
    }
}
