//! Times as session files write them.

/// Returns the milliseconds since the Unix epoch of a time in RFC 3339, such as `2026-11-22T21:08:46.573Z`, or `None` if the
/// text is no such time.
pub fn millis(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_zones_are_read() {
        assert_eq!(millis("1970-01-01T00:00:01.5Z"), Some(1_500));
        assert_eq!(millis("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(millis("yesterday"), None);
    }
}
