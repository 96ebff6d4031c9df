//! Texts for people, kept short.

use super::MAX_TEXT_CHARS;

/// Returns a text in one line of at most [`MAX_TEXT_CHARS`] characters.
pub(super) fn shortened(text: &str) -> String {
    let mut line = String::new();
    for (count, word) in text.split_whitespace().enumerate() {
        if count > 0 {
            line.push(' ');
        }
        line.push_str(word);
        // Enough to cut from; the rest may be megabytes.
        if line.len() > MAX_TEXT_CHARS * 4 {
            break;
        }
    }
    match line.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_short_line() {
        assert_eq!(shortened(" a\n\tb  c "), "a b c");
        let long = "ä".repeat(MAX_TEXT_CHARS + 1);
        assert_eq!(shortened(&long).chars().count(), MAX_TEXT_CHARS + 3);
        assert_eq!(shortened(&"ä".repeat(MAX_TEXT_CHARS)).chars().count(), MAX_TEXT_CHARS);
    }
}
