//! Parses the bounds of a period: days, times, and ages.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::ui::amount::parse_age;

const FORMS: &str =
    "expected a day such as 2026-11-22, a time such as 2026-11-22T08:00:00Z, or an age such as 7d or 12h";

/// A bound of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// A day of the time zone.
    Day(Date),
    /// A time, in milliseconds since the Unix epoch.
    At(i64),
}

/// Parses a bound. An age counts back from now.
pub(crate) fn parse(text: &str) -> Result<Bound, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(Bound::At(at.as_millisecond()));
    }
    if let Ok(day) = text.parse::<Date>() {
        return Ok(Bound::Day(day));
    }
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let age = parse_age(text).ok().filter(|_| has_unit).ok_or(FORMS)?;
    let age = i64::try_from(age.as_millis()).map_err(|_| FORMS)?;
    Ok(Bound::At(Timestamp::now().as_millisecond().saturating_sub(age)))
}

impl Bound {
    /// Returns the first moment of the bound.
    pub(crate) fn start(self, zone: &TimeZone) -> i64 {
        match self {
            Self::At(at) => at,
            Self::Day(day) => start_of(day, zone).unwrap_or(i64::MIN),
        }
    }

    /// Returns the first moment behind the bound: the end of a day.
    pub(crate) fn end(self, zone: &TimeZone) -> i64 {
        match self {
            Self::At(at) => at,
            Self::Day(day) => day.checked_add(1.day()).ok().and_then(|day| start_of(day, zone)).unwrap_or(i64::MAX),
        }
    }
}

fn start_of(day: Date, zone: &TimeZone) -> Option<i64> {
    day.to_zoned(zone.clone()).ok().map(|day| day.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let day = parse("2025-01-02").expect("a day");
        assert_eq!(day.start(&TimeZone::UTC), 1_735_776_000_000);
        assert_eq!(day.end(&TimeZone::UTC) - day.start(&TimeZone::UTC), 86_400_000);
        assert_eq!(parse("1970-01-01T00:00:01Z"), Ok(Bound::At(1000)));
        assert!(matches!(parse("7d"), Ok(Bound::At(at)) if at > 0));
        for text in ["", "7", "7y", "yesterday", "2025-13-01"] {
            parse(text).expect_err(text);
        }
    }
}
