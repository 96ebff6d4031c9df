//! Sums over calls: number, time, tokens, money.
//!
//! The numbers come from a bundle and may be arbitrary, so additions saturate.

use serde::{Deserialize, Serialize};
use trace_reducer::model::Usage;

use crate::outcome::Outcome;
use crate::prices::Money;

/// Number of calls, by how they ended, and their durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// Number of all calls.
    pub count: u64,
    /// Number of calls that succeeded.
    pub completed: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Number of calls that were stopped.
    pub cancelled: u64,
    /// Number of calls without an end in the log.
    pub unfinished: u64,
    /// Durations of the calls that ended.
    pub time: Times,
}

/// Durations of calls in milliseconds. Of calls that ran side by side, each one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Times {
    /// Sum of the durations.
    pub sum_ms: u64,
    /// 50th percentile. `None` if no call ended, and in sums that were added up.
    pub p50_ms: Option<u64>,
    /// 95th percentile. `None` if no call ended, and in sums that were added up.
    pub p95_ms: Option<u64>,
    /// The longest duration. `None` if no call ended.
    pub max_ms: Option<u64>,
}

/// Token counts as the provider reported them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens.
    pub input: u64,
    /// Input tokens that were read from a cache.
    pub cached_input: u64,
    /// Input tokens that were written to a cache.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
    /// Output tokens that were used for reasoning.
    pub reasoning_output: u64,
    /// Number of calls without recorded token counts: calls that failed or were stopped, and compaction requests.
    pub calls_without_usage: u64,
}

/// Cost of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Cost of the calls with token counts. `None` if the price table lacks the model of one of them.
    pub amount: Option<Money>,
    /// Cost of those calls whose model is in the price table.
    pub known: Money,
    /// Number of calls with token counts whose model is not in the price table.
    pub unpriced_calls: u64,
    /// Number of calls without token counts. They may have had a cost.
    pub calls_without_usage: u64,
}

/// Cost of one call, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCost {
    /// There is no price table.
    NotAsked,
    /// The call has no token counts.
    NoUsage,
    /// The price table lacks the model of the call.
    Unpriced,
    /// The cost.
    Known(Money),
}

/// Calls of one kind while they are being added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered {
    calls: Calls,
    durations_ms: Vec<u64>,
}

impl Gathered {
    pub(super) fn add(&mut self, outcome: Outcome, duration_ms: Option<u64>) {
        let calls = &mut self.calls;
        calls.count += 1;
        match outcome {
            Outcome::Completed => calls.completed += 1,
            Outcome::Failed => calls.failed += 1,
            Outcome::Cancelled => calls.cancelled += 1,
            Outcome::Unfinished => calls.unfinished += 1,
        }
        self.durations_ms.extend(duration_ms);
    }

    /// Returns the durations of the calls that ended, in milliseconds.
    pub(super) fn durations_ms(&self) -> &[u64] {
        &self.durations_ms
    }

    pub(super) fn finish(mut self) -> Calls {
        self.durations_ms.sort_unstable();
        let durations = &self.durations_ms;
        self.calls.time = Times {
            sum_ms: durations.iter().fold(0, |sum, ms| sum.saturating_add(*ms)),
            p50_ms: percentile(durations, 50),
            p95_ms: percentile(durations, 95),
            max_ms: durations.last().copied(),
        };
        self.calls
    }
}

/// Returns the smallest of the sorted values that at least `percent` percent of them do not exceed.
pub(super) fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

impl Calls {
    /// Adds other calls. The percentiles of the sum cannot be computed from those of its terms, so they become `None`.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.completed += other.completed;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.unfinished += other.unfinished;
        self.time = Times {
            sum_ms: self.time.sum_ms.saturating_add(other.time.sum_ms),
            p50_ms: None,
            p95_ms: None,
            max_ms: self.time.max_ms.max(other.time.max_ms),
        };
    }
}

impl Tokens {
    /// Adds the token counts of one call.
    pub fn add_call(&mut self, usage: Option<&Usage>) {
        let Some(usage) = usage else {
            self.calls_without_usage += 1;
            return;
        };
        self.add(&Self {
            input: usage.input_tokens,
            cached_input: usage.cached_input_tokens,
            cache_write: usage.cache_write_input_tokens,
            output: usage.output_tokens,
            reasoning_output: usage.reasoning_output_tokens,
            calls_without_usage: 0,
        });
    }

    /// Adds other token counts.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning_output = self.reasoning_output.saturating_add(other.reasoning_output);
        self.calls_without_usage += other.calls_without_usage;
    }
}

impl Cost {
    /// Cost of no calls.
    pub const NONE: Self =
        Self { amount: Some(Money::ZERO), known: Money::ZERO, unpriced_calls: 0, calls_without_usage: 0 };

    /// Adds another cost.
    pub fn add(&mut self, other: &Self) {
        self.known.add(other.known);
        self.unpriced_calls += other.unpriced_calls;
        self.calls_without_usage += other.calls_without_usage;
        self.amount = (self.unpriced_calls == 0).then_some(self.known);
    }
}

impl From<CallCost> for Option<Cost> {
    fn from(cost: CallCost) -> Self {
        let mut sum = Cost::NONE;
        match cost {
            CallCost::NotAsked => return None,
            CallCost::NoUsage => sum.calls_without_usage = 1,
            CallCost::Unpriced => {
                sum.unpriced_calls = 1;
                sum.amount = None;
            }
            CallCost::Known(money) => {
                sum.known = money;
                sum.amount = Some(money);
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 50), percentile(&hundred, 95)), (Some(50), Some(95)));
        assert_eq!((percentile(&[7], 50), percentile(&[7], 95)), (Some(7), Some(7)));
        assert_eq!((percentile(&[1, 2, 3], 50), percentile(&[1, 2, 3], 95)), (Some(2), Some(3)));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn an_unknown_cost_is_never_part_of_a_known_one() {
        let mut sum = Cost::NONE;
        for call in [CallCost::Known(Money::from_units(5)), CallCost::NoUsage] {
            sum.add(&Option::from(call).expect("asked"));
        }
        assert_eq!((sum.amount, sum.calls_without_usage), (Some(Money::from_units(5)), 1));
        sum.add(&Option::from(CallCost::Unpriced).expect("asked"));
        sum.add(&Option::from(CallCost::Known(Money::from_units(2))).expect("asked"));
        assert_eq!((sum.amount, sum.known, sum.unpriced_calls), (None, Money::from_units(7), 1));
        assert_eq!(Option::<Cost>::from(CallCost::NotAsked), None);
    }
}
