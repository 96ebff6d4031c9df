//! Texts for people: untrusted ones made safe and short, numbers, sizes and times made readable.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trace_explain::words;
pub(crate) use trace_explain::words::{count, is_hostile, number};
use unicode_width::UnicodeWidthChar;

/// Returns a text as one line without hostile characters: white space becomes a space, the others become `\u{..}`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_clean(&mut cleaned, c);
    }
    Cow::Owned(cleaned)
}

fn push_clean(text: &mut String, c: char) {
    if !is_hostile(c) {
        text.push(c);
    } else if c.is_whitespace() {
        text.push(' ');
    } else {
        write!(text, "{}", c.escape_unicode()).expect("writes to memory");
    }
}

/// Returns the beginning of a text, clean, with runs of white space as one space, in at most so many columns. What is
/// cut off is shown as `…`; nothing beyond the cut is looked at.
pub(crate) fn preview(text: &str, max_columns: usize) -> String {
    let mut preview = String::new();
    let mut columns = 0;
    // Any number of marks that take no column can follow a character.
    let max_bytes = max_columns.saturating_mul(8);
    // Where the text must end if `…` is to follow.
    let mut cut_at = 0;
    for c in text.trim_start().chars() {
        if c.is_whitespace() && preview.ends_with(' ') {
            continue;
        }
        let start = preview.len();
        push_clean(&mut preview, c);
        columns += preview[start..].chars().map(|c| c.width().unwrap_or(0)).sum::<usize>();
        if columns > max_columns || preview.len() > max_bytes {
            preview.truncate(cut_at);
            let trimmed = preview.trim_end().len();
            preview.truncate(trimmed);
            preview.push('…');
            return preview;
        }
        if columns < max_columns {
            cut_at = preview.len();
        }
    }
    let trimmed = preview.trim_end().len();
    preview.truncate(trimmed);
    preview
}

/// Returns a number of bytes with three digits.
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

/// Returns a span of milliseconds in its two largest units.
pub(crate) fn duration(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("{sign}{}", words::duration(ms.unsigned_abs()))
}

/// Returns a moment in local time, with its offset from UTC.
pub(crate) fn moment(unix_ms: i64) -> String {
    format_moment(unix_ms, "%Y-%m-%d %H:%M:%S %:z")
}

/// Returns a moment in local time, without the offset.
pub(crate) fn short_moment(unix_ms: i64) -> String {
    format_moment(unix_ms, "%Y-%m-%d %H:%M:%S")
}

/// Returns a moment in universal time.
pub(crate) fn utc_moment(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => format!("{unix_ms} ms"),
    }
}

fn format_moment(unix_ms: i64, format: &str) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => timestamp.to_zoned(TimeZone::system()).strftime(format).to_string(),
        // A clock that is wrong by ten thousand years still has a reading.
        Err(_) => format!("{unix_ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}[31mred\u{9b}2J\u{7f}\r\n\tb\u{202e}c\u{e0041}";
        insta::assert_snapshot!(clean(hostile), @r"a\u{1b}[31mred\u{9b}2J\u{7f}   b\u{202e}c\u{e0041}");
        insta::assert_snapshot!(preview(hostile, 80), @r"a\u{1b}[31mred\u{9b}2J\u{7f} b\u{202e}c\u{e0041}");
        assert!(matches!(clean("plain, ünïcödé, 漢字"), Cow::Borrowed(_)));
    }

    #[test]
    fn previews_fit() {
        assert_eq!(preview("  two\n\n words  ", 10), "two words");
        assert_eq!(preview("0123456789", 10), "0123456789");
        assert_eq!(preview("0123456789a", 10), "012345678…");
        assert_eq!(preview("漢字漢字", 8), "漢字漢字");
        assert_eq!(preview("漢字漢字漢", 8), "漢字漢…");
        assert_eq!(preview("\u{1b}\u{1b}\u{1b}", 10), r"\u{1b}…");
        let tower = format!("a{}", "\u{301}".repeat(10_000));
        assert!(preview(&tower, 10).len() < 100);
    }

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
