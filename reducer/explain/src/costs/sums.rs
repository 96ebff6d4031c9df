//! Sums over calls: how many, how long, how many tokens, how much money.
//!
//! Numbers come from a bundle and may be anything, so sums stop at the largest number.

use serde::{Deserialize, Serialize};
use trace_reducer::model::Usage;

use crate::outcome::Outcome;
use crate::prices::Money;

/// How many calls there were, how they came out and how long they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// All of them.
    pub count: u64,
    /// Those that did what they were to do.
    pub completed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that were stopped.
    pub cancelled: u64,
    /// Those without an end in the log.
    pub unfinished: u64,
    /// How long those with an end took.
    pub time: Times,
}

/// How long calls took, in milliseconds. Calls that ran side by side count each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Times {
    /// Sum.
    pub sum_ms: u64,
    /// Half of the calls took no longer. Null when no call ended, and for sums that were added up.
    pub p50_ms: Option<u64>,
    /// 95 of 100 calls took no longer. Null when no call ended, and for sums that were added up.
    pub p95_ms: Option<u64>,
    /// The longest. Null when no call ended.
    pub max_ms: Option<u64>,
}

/// Tokens, as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// What models read.
    pub input: u64,
    /// Of these, read from a cache.
    pub cached_input: u64,
    /// Of these, written to a cache.
    pub cache_write: u64,
    /// What models wrote.
    pub output: u64,
    /// Of these, for reasoning.
    pub reasoning_output: u64,
    /// Calls whose tokens nobody recorded: calls that failed or were stopped, and requests for compactions.
    pub calls_without_usage: u64,
}

/// What calls cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// What the calls whose tokens are recorded cost. Null when the price table lacks the model of one of them.
    pub amount: Option<Money>,
    /// What those of them cost whose model the price table has.
    pub known: Money,
    /// Calls with recorded tokens whose model the price table lacks.
    pub unpriced_calls: u64,
    /// Calls whose tokens nobody recorded, and which may have cost something nevertheless.
    pub calls_without_usage: u64,
}

/// What is known of the cost of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCost {
    /// There is no price table.
    NotAsked,
    /// Its tokens are not recorded.
    NoUsage,
    /// The price table lacks its model.
    Unpriced,
    /// What it cost.
    Known(Money),
}

/// Calls of one kind while they are gathered.
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

    /// Returns how long those took that ended, one by one.
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

/// Returns the smallest of the sorted values that at least so many of a hundred values do not exceed.
pub(super) fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

impl Calls {
    /// Adds calls. What half or most of all calls took cannot be told from what half or most of either took, so that is
    /// left out.
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
    /// Adds the tokens of one call.
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

    /// Adds tokens.
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
    /// The cost of no call.
    pub const NONE: Self =
        Self { amount: Some(Money::ZERO), known: Money::ZERO, unpriced_calls: 0, calls_without_usage: 0 };

    /// Adds what calls cost.
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
