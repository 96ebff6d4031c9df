//! Numbers and durations as text. Terminals and pictures use the same form.

/// Returns a number with commas between its thousands.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with a noun, which gets an `s` unless the number is 1.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", number(n))
}

/// Returns a duration in its two largest units.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", number(seconds / 86400), seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_spans_are_written_for_people() {
        assert_eq!((number(0), number(1234), number(1_234_567)), ("0".into(), "1,234".into(), "1,234,567".into()));
        assert_eq!((count(1, "turn"), count(1200, "turn")), ("1 turn".into(), "1,200 turns".into()));
        let spans = [999, 12_345, 605_000, 3_660_000, 90_000_000].map(duration);
        assert_eq!(spans, ["999 ms", "12.3 s", "10 min 05 s", "1 h 01 min", "1 d 01 h"]);
    }
}
