//! Formats texts, numbers, sizes and times for people. Untrusted texts are made safe to print and short.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trace_explain::words;
pub(crate) use trace_explain::words::{count, number};
use trace_text::Usage;
pub(crate) use trace_text::is_hostile;

/// Returns a text as one line without characters that act on the terminal or hide something; see [`trace_text`].
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    trace_text::line(text, Usage::Prose)
}

/// Returns the beginning of a text as one line of at most `max_columns`. If something is cut off, the line ends with
/// `…`. The rest of the text is not read.
pub(crate) fn preview(text: &str, max_columns: usize) -> String {
    trace_text::preview(text, Usage::Prose, max_columns)
}

/// Returns a command, or another text that is executed or opened, as one line of at most `max_columns`. The line shows
/// the beginning and the end of the text, and look-alike characters are distinguishable.
pub(crate) fn command(text: &str, max_columns: usize) -> String {
    trace_text::preview(text, Usage::Command, max_columns)
}

/// Formats a number of bytes with at most three digits.
pub(crate) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "kB", "MB", "GB", "TB"] {
        if value < 999.5 || unit == "TB" {
            let digits = usize::from(unit != "B" && value < 9.95);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    unreachable!("the last unit takes everything")
}

/// Formats a duration in milliseconds by its two largest units.
pub(crate) fn duration(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("{sign}{}", words::duration(ms.unsigned_abs()))
}

/// Formats a time in the local time zone, with its offset from UTC.
pub(crate) fn moment(unix_ms: i64) -> String {
    format_moment(unix_ms, "%Y-%m-%d %H:%M:%S %:z")
}

/// Formats a time in the local time zone, without the offset.
pub(crate) fn short_moment(unix_ms: i64) -> String {
    format_moment(unix_ms, "%Y-%m-%d %H:%M:%S")
}

/// Formats a time in UTC.
pub(crate) fn utc_moment(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => format!("{unix_ms} ms"),
    }
}

fn format_moment(unix_ms: i64, format: &str) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => timestamp.to_zoned(TimeZone::system()).strftime(format).to_string(),
        // Times outside the range of the calendar are shown as a plain number.
        Err(_) => format!("{unix_ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let numbers: Vec<_> = [0, 999, 1000, 1_234_567].map(number).into();
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let sizes: Vec<_> = [0, 999, 1000, 9_960, 12_345, 999_600, u64::MAX].map(bytes).into();
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "10 kB", "12 kB", "1.0 MB", "18446744 TB"]);
        let spans: Vec<_> =
            [0, 999, 1_250, 59_999, 61_000, 3_660_000, 90_000_000, -5_000, i64::MIN].map(duration).into();
        assert_eq!(
            spans,
            [
                "0 ms",
                "999 ms",
                "1.2 s",
                "59.9 s",
                "1 min 01 s",
                "1 h 01 min",
                "1 d 01 h",
                "-5.0 s",
                "-106,751,991,167 d 07 h"
            ]
        );
        assert_eq!((count(1, "thread"), count(2, "thread")), ("1 thread".into(), "2 threads".into()));
    }

    #[test]
    fn any_clock_reading_is_shown() {
        assert_eq!(utc_moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_moment(i64::MAX), "9223372036854775807 ms");
    }
}
