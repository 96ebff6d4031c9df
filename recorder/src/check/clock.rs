//! Checks the wall clock of the events. Only sequence numbers order events, but a clock that was set makes durations wrong.

use super::finding::{Code, Finding, Findings};

/// The wall clock may go back by this much between two events before it is reported. Clock synchronization moves it by
/// less.
pub const BACKWARD_CLOCK_MS: i64 = 1_000;

/// More time than this between two events is reported. A turn rarely waits this long, so the machine may have slept.
pub const FORWARD_CLOCK_MS: i64 = 6 * 3_600_000;

/// Compares the clock of each event with the clock of the event before.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last: Option<i64>,
    /// Clock of the first event and of the last.
    pub(super) span: Option<(i64, i64)>,
}

impl Clock {
    pub(super) fn look(&mut self, line: u64, seq: u64, unix_ms: i64, findings: &mut Findings) {
        let tell = |code, message: String| Finding::new(code, message).at_line(line).at_seq(seq);
        if let Some(last) = self.last {
            let step = unix_ms.saturating_sub(last);
            if step < -BACKWARD_CLOCK_MS {
                let message =
                    format!("the clock went back by {} ms; durations around it are wrong", step.unsigned_abs());
                findings.push(tell(Code::ClockBackward, message));
            } else if step > FORWARD_CLOCK_MS {
                findings.push(tell(Code::ClockForward, format!("{step} ms passed since the event before")));
            }
        }
        self.last = Some(unix_ms);
        self.span = Some((self.span.map_or(unix_ms, |(first, _)| first), unix_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(readings: &[i64]) -> Vec<Code> {
        let mut findings = Findings::default();
        let mut clock = Clock::default();
        for reading in readings {
            clock.look(1, 1, *reading, &mut findings);
        }
        findings.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn only_more_than_the_limits_is_told() {
        assert_eq!(codes(&[5_000, 5_000 - BACKWARD_CLOCK_MS, 5_000]), []);
        assert_eq!(codes(&[5_000, 4_999 - BACKWARD_CLOCK_MS]), [Code::ClockBackward]);
        assert_eq!(codes(&[0, FORWARD_CLOCK_MS]), []);
        assert_eq!(codes(&[0, FORWARD_CLOCK_MS + 1]), [Code::ClockForward]);
        assert_eq!(codes(&[i64::MAX, i64::MIN, i64::MAX]), [Code::ClockBackward, Code::ClockForward]);
    }
}
