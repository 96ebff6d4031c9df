//! Prepares texts of a session for a trace: limits their length and removes control characters from names.

use trace_text::cut;

/// Most characters of the name of a track, slice or span.
pub const MAX_NAME_CHARS: usize = 80;
/// Most characters of the value of an argument or attribute.
pub const MAX_VALUE_CHARS: usize = 1000;

/// Returns the beginning of a text as a name: one line, at most [`MAX_NAME_CHARS`] characters.
pub(crate) fn name(text: &str) -> String {
    let mut name = cut(text, MAX_NAME_CHARS).into_owned();
    if name.contains(char::is_control) {
        name = name.replace(char::is_control, " ");
    }
    name
}

/// Returns the beginning of a text as a value, at most [`MAX_VALUE_CHARS`] characters.
pub(crate) fn value(text: &str) -> String {
    cut(text, MAX_VALUE_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_limits() {
        assert_eq!(name(&"n".repeat(500)).chars().count(), MAX_NAME_CHARS);
        assert_eq!(value(&"🦀".repeat(5000)).chars().count(), MAX_VALUE_CHARS);
    }

    #[test]
    fn names_are_one_line() {
        assert_eq!(name("make\n\tall\u{1b}[0m"), "make  all [0m");
    }
}
