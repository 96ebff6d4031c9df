//! Ranges of days, and how they are cut into the points of a chart.

use trace_fleet::lake::Snapshot;
use trace_fleet::lake::data::{day_number, day_text};
use trace_fleet::tables::SESSIONS;

/// Most points of a chart. A longer range has points of several days.
pub const MAX_POINTS: u64 = 120;

/// Days that the page shows if it is not asked for others: the last ones of the lake.
pub const DEFAULT_DAYS: i32 = 90;

/// Days of a point. Weeks and their multiples begin on the same day of the week.
const WIDTHS: [u64; 8] = [1, 7, 14, 28, 91, 182, 364, 1820];

/// A range of days, as days since the Unix epoch, with both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: i32,
    pub(super) last: i32,
}

/// Returns the first and the last day of the sessions of a lake, as the log has them.
pub(super) fn days_of(snapshot: &Snapshot) -> Option<Range> {
    let ranges = snapshot.batches.values().filter_map(|batch| {
        let (first, last) = batch.files.get(SESSIONS)?.stats.get("day")?.values.as_ref()?;
        Some(Range { first: day_number(first)?, last: day_number(last)? })
    });
    ranges.reduce(|one, other| Range { first: one.first.min(other.first), last: one.last.max(other.last) })
}

impl Range {
    /// Returns the range between two bounds. A bound that is not given is that of the last [`DEFAULT_DAYS`] days of the lake, which
    /// do not reach beyond today: the clock of one machine may be wrong.
    pub(super) fn between(since: Option<i32>, until: Option<i32>, lake: Option<Self>, today: i32) -> Self {
        let lake = lake.unwrap_or(Self { first: today, last: today });
        let last = until.unwrap_or_else(|| lake.last.min(today).max(lake.first)).max(since.unwrap_or(i32::MIN));
        let first = since.unwrap_or_else(|| last.saturating_sub(DEFAULT_DAYS - 1).max(lake.first.min(last)));
        Self { first, last: last.max(first) }
    }

    /// Returns the days of a point, so that there are at most [`MAX_POINTS`].
    pub(super) fn width(self) -> i32 {
        let days = self.days();
        let fits = |width: &u64| days.div_ceil(*width) <= MAX_POINTS;
        let width = WIDTHS.into_iter().find(fits).unwrap_or_else(|| days.div_ceil(MAX_POINTS));
        i32::try_from(width).unwrap_or(i32::MAX)
    }

    fn days(self) -> u64 {
        u64::from(self.last.abs_diff(self.first)) + 1
    }

    /// Returns the number of points.
    pub(super) fn points(self) -> usize {
        self.days().div_ceil(self.width().unsigned_abs().into()) as usize
    }

    /// Returns the first and the last day as texts.
    pub(super) fn texts(self) -> [String; 2] {
        [self.first, self.last].map(|day| day_text(day).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: i32, last: i32) -> Range {
        Range { first, last }
    }

    #[test]
    fn the_last_days_of_a_lake_are_shown_first() {
        let lake = Some(range(1000, 2000));
        assert_eq!(Range::between(None, None, lake, 3000), range(1911, 2000));
        assert_eq!(Range::between(None, None, lake, 1500), range(1411, 1500));
        assert_eq!(Range::between(None, None, Some(range(1990, 2000)), 3000), range(1990, 2000));
        assert_eq!(Range::between(Some(1200), None, lake, 3000), range(1200, 2000));
        assert_eq!(Range::between(None, Some(1200), lake, 3000), range(1111, 1200));
        assert_eq!(Range::between(Some(5), Some(3), lake, 3000), range(5, 5));
        assert_eq!(Range::between(None, None, None, 3000), range(3000, 3000));
        // All sessions are dated to the future.
        assert_eq!(Range::between(None, None, lake, 500), range(1000, 1000));
    }

    #[test]
    fn a_chart_has_few_points_however_long_the_range_is() {
        for days in [1, 2, 90, 120, 121, 365, 840, 841, 10_000, 1_000_000, i32::MAX] {
            let range = range(0, days - 1);
            let points = range.points();
            assert!(points >= 1 && points <= MAX_POINTS as usize, "{days} {points}");
            assert!(i64::from(range.width()) * points as i64 >= i64::from(days), "{days}");
        }
        assert!(range(i32::MIN, i32::MAX).points() <= MAX_POINTS as usize);
        assert_eq!((range(0, 119).width(), range(0, 120).width(), range(0, 839).width()), (1, 7, 7));
    }
}
