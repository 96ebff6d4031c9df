//! Prepares texts of a session for a trace: limits their length and removes control characters from names.

/// Most characters of the name of a track, slice or span.
pub const MAX_NAME_CHARS: usize = 80;
/// Most characters of the value of an argument or attribute.
pub const MAX_VALUE_CHARS: usize = 1000;

/// Returns the beginning of a text as a name: one line, at most [`MAX_NAME_CHARS`] characters.
pub(crate) fn name(text: &str) -> String {
    let mut name = cut(text, MAX_NAME_CHARS);
    if name.contains(char::is_control) {
        name = name.replace(char::is_control, " ");
    }
    name
}

/// Returns the beginning of a text as a value, at most [`MAX_VALUE_CHARS`] characters.
pub(crate) fn value(text: &str) -> String {
    cut(text, MAX_VALUE_CHARS)
}

/// Returns at most `most` characters of a text. A truncated text ends in an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let keep = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", &text[..keep])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüx", 3), "äö…");
        assert_eq!(name(&"n".repeat(500)).chars().count(), MAX_NAME_CHARS);
        assert_eq!(value(&"🦀".repeat(5000)).chars().count(), MAX_VALUE_CHARS);
    }

    #[test]
    fn names_are_one_line() {
        assert_eq!(name("make\n\tall\u{1b}[0m"), "make  all [0m");
    }
}
