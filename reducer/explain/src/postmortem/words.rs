//! Short texts for users.

use trace_text::Usage;

use super::verdict::MAX_TEXT_CHARS;

/// Returns the beginning of a text as one line of at most [`MAX_TEXT_CHARS`] columns without control characters.
pub(super) fn shortened(text: &str) -> String {
    trace_text::preview(text, Usage::Prose, MAX_TEXT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_short_line() {
        assert_eq!(shortened(" a\n\tb  c "), "a ⏎ b c");
        let long = "ä".repeat(MAX_TEXT_CHARS + 1);
        assert_eq!(shortened(&long).chars().count(), MAX_TEXT_CHARS);
        assert_eq!(shortened(&"ä".repeat(MAX_TEXT_CHARS)).chars().count(), MAX_TEXT_CHARS);
    }
}
