//! Orders the calls of one answer: concurrent, except for those that depend on an earlier one.

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;

use crate::tool::{CallOrder, Resource};

/// The calls so far, by resource.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lanes: HashMap<Resource, Lane>,
}

/// The calls of a resource that later calls may have to wait for. Each token is cancelled when its call has ended.
#[derive(Debug, Default)]
struct Lane {
    change: Option<CancellationToken>,
    reads: Vec<CancellationToken>,
}

impl Queue {
    /// Adds the next call of the answer and returns the tokens that it must wait for. `ended` must be cancelled when the
    /// call has ended, however it ends.
    pub(super) fn enter(&mut self, order: CallOrder, ended: &CancellationToken) -> Vec<CancellationToken> {
        match order {
            CallOrder::Independent => Vec::new(),
            CallOrder::AfterChanges(resource) => {
                self.lanes.get(&resource).and_then(|lane| lane.change.clone()).into_iter().collect()
            }
            CallOrder::Reads(resource) => {
                let lane = self.lanes.entry(resource).or_default();
                lane.reads.push(ended.clone());
                lane.change.clone().into_iter().collect()
            }
            CallOrder::Changes(resource) => {
                let lane = self.lanes.entry(resource).or_default();
                let reads = std::mem::take(&mut lane.reads);
                lane.change.replace(ended.clone()).into_iter().chain(reads).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds calls, and returns for each the earlier calls that it waits for.
    fn waits(orders: Vec<CallOrder>) -> Vec<Vec<usize>> {
        let mut queue = Queue::default();
        let tokens: Vec<CancellationToken> = orders.iter().map(|_| CancellationToken::new()).collect();
        let entered: Vec<Vec<CancellationToken>> =
            orders.into_iter().zip(&tokens).map(|(order, token)| queue.enter(order, token)).collect();
        // Cancelling one token at a time shows which tokens a call has.
        let mut found = vec![Vec::new(); entered.len()];
        for (fired, token) in tokens.iter().enumerate() {
            token.cancel();
            for (call, waits) in entered.iter().enumerate() {
                let count = waits.iter().filter(|wait| wait.is_cancelled()).count();
                if count > found[call].len() {
                    found[call].push(fired);
                }
            }
        }
        found
    }

    #[test]
    fn changes_wait_for_all_before_and_reads_for_changes() {
        let (reads, changes) = (|| CallOrder::Reads(Resource::Files), || CallOrder::Changes(Resource::Files));
        let orders = vec![reads(), reads(), changes(), reads(), reads(), changes(), changes()];
        let expected: [&[usize]; 7] = [&[], &[], &[0, 1], &[2], &[2], &[2, 3, 4], &[5]];
        assert_eq!(waits(orders), expected);
    }

    #[test]
    fn nobody_waits_for_what_is_behind_or_elsewhere() {
        let orders = vec![
            CallOrder::Changes(Resource::Agents),
            CallOrder::AfterChanges(Resource::Agents),
            CallOrder::Changes(Resource::Agents),
            CallOrder::Changes(Resource::Files),
            CallOrder::Independent,
            CallOrder::Changes(Resource::Terminal(1)),
            CallOrder::Changes(Resource::Terminal(2)),
            CallOrder::Changes(Resource::Server("a".to_owned())),
            CallOrder::Changes(Resource::Server("b".to_owned())),
        ];
        let expected: [&[usize]; 9] = [&[], &[0], &[0], &[], &[], &[], &[], &[], &[]];
        assert_eq!(waits(orders), expected);
    }
}
