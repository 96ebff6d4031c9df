//! Quotes that are open where a name is.

/// How far before a place its line is looked at.
const MAX_DISTANCE_BYTES: usize = 400;

/// Returns the quote that is open where a place of a line is.
pub(crate) fn outer_quote(bytes: &[u8], at: usize) -> Option<u8> {
    let line = &bytes[at.saturating_sub(MAX_DISTANCE_BYTES)..at];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |end| end + 1)..];
    let mut open = None;
    for (index, byte) in line.iter().enumerate() {
        let is_escaped = index > 0 && line[index - 1] == b'\\';
        if matches!(byte, b'"' | b'\'' | b'`') && !is_escaped {
            open = match open {
                None => Some(*byte),
                Some(quote) if quote == *byte => None,
                other => other,
            };
        }
    }
    open
}
