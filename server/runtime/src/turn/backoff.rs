//! The backoff between retries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Delay before the first retry.
pub(crate) const FIRST_DELAY: Duration = Duration::from_millis(200);

/// Longest delay unless the provider asks for more. Each delay is twice as long as the previous one.
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(20);

/// Longest delay that a provider may ask for.
pub(crate) const MAX_ASKED_DELAY: Duration = Duration::from_secs(120);

/// Random variation of a delay in percent, so that clients that failed at the same time do not retry at the same time.
pub(crate) const JITTER_PERCENT: u64 = 10;

/// Random numbers from a seed.
#[derive(Debug)]
pub(crate) struct Backoff(AtomicU64);

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns an independent sequence.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.next())
    }

    /// Returns the delay before a retry; the first retry has number 1.
    pub(crate) fn delay(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        if let Some(asked) = asked {
            return asked.min(MAX_ASKED_DELAY);
        }
        let doubled = FIRST_DELAY.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        let percent = 100 - JITTER_PERCENT + self.next() % (2 * JITTER_PERCENT + 1);
        doubled.min(MAX_DELAY).mul_f64(percent as f64 / 100.0)
    }

    /// Returns the next number of a Weyl sequence with mixed bits.
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let jitter = Backoff::new(1);
        for (attempt, expected) in
            [(1, 200), (2, 400), (3, 800), (4, 1600), (8, 20_000), (40, 20_000), (u32::MAX, 20_000)]
        {
            let (expected, delay) = (Duration::from_millis(expected), jitter.delay(attempt, None));
            assert!(delay >= expected.mul_f64(0.9) && delay <= expected.mul_f64(1.1), "{attempt}: {delay:?}");
        }
    }

    #[test]
    fn chance_is_repeatable_and_spreads() {
        let delays = |seed| {
            let jitter = Backoff::new(seed);
            (0..20).map(|_| jitter.delay(1, None)).collect::<Vec<_>>()
        };
        assert_eq!(delays(7), delays(7));
        assert_ne!(delays(7), delays(8));
    }

    #[test]
    fn a_provider_is_believed_up_to_a_limit() {
        let jitter = Backoff::new(1);
        assert_eq!(jitter.delay(1, Some(Duration::from_secs(3))), Duration::from_secs(3));
        assert_eq!(jitter.delay(1, Some(Duration::from_secs(86_400))), MAX_ASKED_DELAY);
    }
}
