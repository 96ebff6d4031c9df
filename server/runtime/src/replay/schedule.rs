//! The order of events in a replay: the moments of the recording at which agents act on each other.
//!
//! A recording has a total order. Its *moments* are requests sent, answers ended, calls that affect other agents, turns
//! ended and the messages about their ends. A task that is about to do one of these waits until all earlier moments have
//! passed, so that messages reach the same request as in the recording. A moment waits only for earlier ones, so there is
//! no deadlock.
//!
//! A moment that will not happen any more must not block others: the remaining moments of a turn pass with its end, and if
//! every agent waits and nothing changes, the waiting tasks get an error.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long nothing must change while every agent waits, before the replay counts as stuck. Working agents have no time
/// limit; this only covers the time that the scheduler needs to run a task.
pub const STALL_TIMEOUT: Duration = Duration::from_secs(10);

/// The recorded turn that a moment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) track: usize,
    pub(super) turn: usize,
}

/// The replay is stuck: no agent can continue before this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stalled {
    pub(super) seq: u64,
    pub(super) owner: Owner,
}

/// The moments that have not passed, and the tasks that wait for them.
#[derive(Debug)]
pub(super) struct Schedule {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    moments: BTreeMap<u64, Owner>,
    /// Tasks no longer wait for moments, because the live session differs from the recording.
    is_given_up: bool,
    /// Live turns by their ids.
    live: HashMap<String, Live>,
    waits: u64,
}

#[derive(Debug, Default)]
struct Live {
    /// Whether the turn has waited or made a call. Until then it may be queued behind the previous turn.
    has_worked: bool,
    /// Number of running tool calls.
    calls: usize,
    waits: HashMap<u64, Wait>,
}

/// What a turn waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// For all moments before this sequence number.
    Moment(u64),
    /// For an interrupt.
    Stop,
}

impl State {
    fn has_come(&self, seq: u64) -> bool {
        self.is_given_up || self.moments.first_key_value().is_none_or(|(first, _)| *first >= seq)
    }

    /// Returns whether all live turns wait.
    fn is_still(&self) -> bool {
        let is_blocked = |wait: &Wait| match wait {
            Wait::Moment(seq) => !self.has_come(*seq),
            Wait::Stop => true,
        };
        let waits = |live: &Live| live.waits.values().filter(|wait| is_blocked(wait)).count();
        self.live.values().all(|live| !live.has_worked || waits(live) >= live.calls.max(1))
    }
}

impl Schedule {
    pub(super) fn new(moments: impl IntoIterator<Item = (u64, Owner)>) -> Arc<Self> {
        let moments = moments.into_iter().collect();
        let state = State { moments, is_given_up: false, live: HashMap::new(), waits: 0 };
        Arc::new(Self { state: Mutex::new(state), changes: watch::Sender::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
        changed
    }

    /// Marks a moment as passed.
    pub(super) fn pass(&self, seq: u64) {
        self.change(|state| state.moments.remove(&seq));
    }

    /// Marks all moments of a turn before `seq` as passed.
    pub(super) fn pass_before(&self, owner: Owner, seq: u64) {
        self.change(|state| {
            let passed: Vec<u64> =
                state.moments.range(..seq).filter(|(_, whose)| **whose == owner).map(|(seq, _)| *seq).collect();
            for seq in passed {
                state.moments.remove(&seq);
            }
        });
    }

    /// Marks all moments of turns of a track as passed, because the turns are over or are not replayed.
    pub(super) fn pass_turns(&self, track: usize, is_over: impl Fn(usize) -> bool) {
        self.change(|state| state.moments.retain(|_, owner| owner.track != track || !is_over(owner.turn)));
    }

    /// Releases all waiting tasks.
    pub(super) fn give_up(&self) {
        self.change(|state| state.is_given_up = true);
    }

    /// Adds a live turn.
    pub(super) fn begun(&self, turn: &str) {
        self.change(|state| state.live.insert(turn.to_owned(), Live::default()));
    }

    /// Removes a live turn that has nothing left to do.
    pub(super) fn done(&self, turn: &str) {
        self.change(|state| state.live.remove(turn));
    }

    pub(super) fn is_live(&self, turn: &str) -> bool {
        self.state().live.contains_key(turn)
    }

    /// Counts a call of a turn until the returned guard is dropped.
    pub(super) fn call(self: &Arc<Self>, turn: &str) -> Working {
        self.change(|state| {
            if let Some(live) = state.live.get_mut(turn) {
                live.has_worked = true;
                live.calls += 1;
            }
        });
        Working { order: Arc::clone(self), turn: turn.to_owned(), wait: None }
    }

    /// Counts a turn, or one of its calls, as waiting until the returned guard is dropped.
    pub(super) fn wait(self: &Arc<Self>, turn: &str, wait: Wait) -> Working {
        let number = self.change(|state| {
            state.waits += 1;
            let number = state.waits;
            if let Some(live) = state.live.get_mut(turn) {
                live.has_worked = true;
                live.waits.insert(number, wait);
            }
            number
        });
        Working { order: Arc::clone(self), turn: turn.to_owned(), wait: Some(number) }
    }

    /// Waits until all moments before `seq` have passed.
    ///
    /// # Errors
    ///
    /// Returns an error if the replay is stuck.
    pub(super) async fn reach(&self, seq: u64) -> Result<(), Stalled> {
        let mut changes = self.changes.subscribe();
        loop {
            if self.state().has_come(seq) {
                return Ok(());
            }
            if timeout(STALL_TIMEOUT, changes.changed()).await.is_ok() {
                continue;
            }
            let state = self.state();
            if let (true, Some((&seq, &owner))) = (state.is_still(), state.moments.first_key_value()) {
                return Err(Stalled { seq, owner });
            }
        }
    }

    /// Waits until all moments have passed and no turn is left, or until the replay is stuck.
    pub(super) async fn rest(&self) {
        let mut changes = self.changes.subscribe();
        loop {
            {
                let state = self.state();
                if state.live.is_empty() && (state.is_given_up || state.moments.is_empty()) {
                    return;
                }
            }
            if timeout(STALL_TIMEOUT, changes.changed()).await.is_err() && self.state().is_still() {
                return;
            }
        }
    }

    /// Returns the next moment.
    pub(super) fn first(&self) -> Option<Stalled> {
        let state = self.state();
        let first = state.moments.first_key_value().filter(|_| !state.is_given_up);
        first.map(|(&seq, &owner)| Stalled { seq, owner })
    }
}

/// Guard for a running call or a wait.
#[derive(Debug)]
pub(super) struct Working {
    order: Arc<Schedule>,
    turn: String,
    wait: Option<u64>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.order.change(|state| {
            let Some(live) = state.live.get_mut(&self.turn) else { return };
            match self.wait {
                Some(number) => drop(live.waits.remove(&number)),
                None => live.calls = live.calls.saturating_sub(1),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::Instant;

    use super::*;

    const ROOT: Owner = Owner { track: 0, turn: 0 };
    const CHILD: Owner = Owner { track: 1, turn: 0 };

    #[tokio::test(start_paused = true)]
    async fn moments_wait_for_those_before_them() {
        let order = Schedule::new([(9, ROOT), (3, ROOT), (5, CHILD)]);
        order.reach(3).await.expect("it is the first");
        assert!(order.reach(4).now_or_never().is_none());
        order.pass(5);
        assert!(order.reach(5).now_or_never().is_none(), "3 has not passed");
        order.pass(7);
        order.pass_before(CHILD, 9);
        assert!(order.reach(9).now_or_never().is_none(), "3 is not the child's");
        order.pass_turns(ROOT.track, |turn| turn != ROOT.turn);
        assert!(order.reach(9).now_or_never().is_none(), "another turn is over");
        order.pass_before(ROOT, 9);
        order.reach(9).await.expect("all before have passed");
        assert!(order.reach(10).now_or_never().is_none());
        order.give_up();
        order.reach(u64::MAX).await.expect("nobody waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn who_works_is_waited_for_and_what_cannot_come_is_not() {
        let order = Schedule::new([(1, CHILD)]);
        order.begun("a");
        let awaited = {
            let order = Arc::clone(&order);
            tokio::spawn(async move {
                let _wait = order.wait("a", Wait::Moment(2));
                order.reach(2).await
            })
        };
        order.begun("b");
        let call = order.call("b");
        tokio::time::sleep(STALL_TIMEOUT * 100).await;
        assert!(!awaited.is_finished(), "b works");
        let began = Instant::now();
        let _stop = order.wait("b", Wait::Stop);
        assert_eq!(awaited.await.expect("it ran"), Err(Stalled { seq: 1, owner: CHILD }));
        assert!(began.elapsed() <= STALL_TIMEOUT * 2);
        order.done("a");
        order.rest().await;
        drop(call);
        order.done("b");
        order.pass(1);
        order.rest().now_or_never().expect("nothing is left");
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_behind_one_that_is_not_over_does_not_work() {
        let order = Schedule::new([(1, CHILD)]);
        order.begun("ends");
        order.begun("next");
        let _wait = order.wait("ends", Wait::Moment(2));
        assert_eq!(order.reach(2).await, Err(Stalled { seq: 1, owner: CHILD }));
        let _call = order.call("next");
        assert!(timeout(STALL_TIMEOUT * 10, order.reach(2)).await.is_err(), "it works");
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_waits_only_when_all_its_calls_do() {
        let order = Schedule::new([(1, CHILD)]);
        order.begun("a");
        let (_one, two) = (order.call("a"), order.call("a"));
        let _wait = order.wait("a", Wait::Moment(2));
        assert!(timeout(STALL_TIMEOUT * 10, order.reach(2)).await.is_err(), "the other call works");
        drop(two);
        assert!(order.reach(2).await.is_err());
    }
}
