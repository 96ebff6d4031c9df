//! The order in which agents act on each other, as it was recorded.
//!
//! The recording is one order of everything that happened. Requests that went out, answers that ended, turns that ended and calls
//! that reached other agents are its *points*. Whoever is about to pass one waits until all points before it have been passed, so
//! that mail meets the same request as it did then. Every point waits for earlier ones only, so nothing waits in a circle.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long is waited for something that the recording has earlier. Then the order is given up.
pub const ORDER_PATIENCE: Duration = Duration::from_secs(60);

/// The points of a recording.
#[derive(Debug)]
pub(super) struct Order {
    points: Mutex<Points>,
    /// The first point that has not been passed; the greatest number when all have, or when the order does not count any more.
    first: watch::Sender<u64>,
}

#[derive(Debug)]
struct Points {
    /// Sequence numbers, in order, and whether they have been passed.
    all: Vec<(u64, bool)>,
    /// How many at the beginning have been passed.
    passed: usize,
}

impl Order {
    pub(super) fn new(mut points: Vec<u64>) -> Self {
        points.sort_unstable();
        points.dedup();
        let first = points.first().copied().unwrap_or(u64::MAX);
        let all = points.into_iter().map(|seq| (seq, false)).collect();
        Self { points: Mutex::new(Points { all, passed: 0 }), first: watch::Sender::new(first) }
    }

    /// Says that a point has been passed.
    pub(super) fn pass(&self, seq: u64) {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(place) = points.all.binary_search_by_key(&seq, |point| point.0) else { return };
        points.all[place].1 = true;
        while points.all.get(points.passed).is_some_and(|point| point.1) {
            points.passed += 1;
        }
        let first = points.all.get(points.passed).map_or(u64::MAX, |point| point.0);
        self.first.send_if_modified(|known| {
            let grows = first > *known;
            *known = first.max(*known);
            grows
        });
    }

    /// Lets everybody go on: what is live is not what was recorded.
    pub(super) fn give_up(&self) {
        self.first.send_replace(u64::MAX);
    }

    /// Waits until everything before a point has been passed.
    pub(super) async fn reach(&self, seq: u64) {
        let mut first = self.first.subscribe();
        if timeout(ORDER_PATIENCE, first.wait_for(|first| *first >= seq)).await.is_err() {
            tracing::warn!(seq, "what the recording has earlier did not happen; the order is given up");
            self.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn points_wait_for_those_before_them() {
        let order = Order::new(vec![9, 3, 5]);
        order.reach(3).await;
        assert!(order.reach(4).now_or_never().is_none());
        order.pass(5);
        assert!(order.reach(5).now_or_never().is_none(), "3 has not been passed");
        order.pass(7);
        order.pass(3);
        order.reach(9).await;
        assert!(order.reach(10).now_or_never().is_none());
        order.give_up();
        order.pass(9);
        order.reach(u64::MAX).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_happens_is_not_waited_for_forever() {
        let order = Order::new(vec![1]);
        let began = tokio::time::Instant::now();
        order.reach(2).await;
        assert_eq!(began.elapsed(), ORDER_PATIENCE);
        order.reach(2).await;
        assert_eq!(began.elapsed(), ORDER_PATIENCE);
    }
}
