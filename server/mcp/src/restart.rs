//! Decides when a server that has ended may be started again.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Pauses between the end of a server and its next start: the first after one end, the second after two ends, and so on.
/// The last one applies to all further ends.
pub const RESTART_PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];

/// Number of ends within [`RESTART_PERIOD`] after which a server is not started again by itself.
pub const MAX_RESTART_DEATHS: usize = 3;

/// The period for which [`MAX_RESTART_DEATHS`] is counted. A server that ran for longer begins with the first pause again.
pub const RESTART_PERIOD: Duration = Duration::from_secs(60);

/// The ends of one server.
#[derive(Debug, Default)]
pub(crate) struct Deaths {
    /// Those within the period.
    recent: VecDeque<Instant>,
    /// Those since the server ran for a whole period.
    in_a_row: usize,
}

impl Deaths {
    /// Counts an end. Returns when the server may be started again; `None` if it stays dead. `ready_since` is when the server
    /// could be used; `None` if it never could.
    pub(crate) fn count(&mut self, now: Instant, ready_since: Option<Instant>) -> Option<Instant> {
        if ready_since.is_some_and(|since| now - since >= RESTART_PERIOD) {
            self.in_a_row = 0;
        }
        while self.recent.front().is_some_and(|first| now - *first > RESTART_PERIOD) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        let pause = RESTART_PAUSES[self.in_a_row.min(RESTART_PAUSES.len() - 1)];
        self.in_a_row += 1;
        (self.recent.len() < MAX_RESTART_DEATHS).then(|| now + pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pause after each of these lives, each of which begins when the pause before it is over.
    fn pauses(lives: &[f64]) -> Vec<Option<u64>> {
        let (mut deaths, mut now) = (Deaths::default(), Instant::now());
        let mut pauses = Vec::new();
        for life in lives {
            let begun = now;
            now += Duration::from_secs_f64(*life);
            let next = deaths.count(now, Some(begun));
            pauses.push(next.map(|next| (next - now).as_secs()));
            now = next.unwrap_or(now);
        }
        pauses
    }

    #[test]
    fn pauses_grow_until_a_server_runs_for_a_while() {
        assert_eq!(pauses(&[1.0, 1.0, 1.0]), [Some(0), Some(1), None]);
        let often = [Some(0), Some(1), Some(5), Some(30), Some(30), Some(0), Some(1)];
        assert_eq!(pauses(&[35.0, 35.0, 35.0, 35.0, 35.0, 60.0, 35.0]), often);
    }

    #[test]
    fn a_server_that_never_starts_stays_dead_after_the_third_time() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        assert_eq!(deaths.count(now, None), Some(now));
        assert_eq!(deaths.count(now, None), Some(now + RESTART_PAUSES[1]));
        assert_eq!(deaths.count(now, None), None);
        assert_eq!(deaths.count(now + RESTART_PERIOD, None), None);
        let later = now + RESTART_PERIOD * 3;
        assert_eq!(deaths.count(later, None), Some(later + RESTART_PAUSES[3]));
    }
}
