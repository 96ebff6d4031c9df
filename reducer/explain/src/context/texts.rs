//! Limit of the texts in an answer.

/// How much of each text an answer contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// All of it.
    Whole,
    /// At most this many characters.
    Beginnings {
        /// Number of characters.
        chars: usize,
    },
}

/// Returns as much of a text as was asked for, and whether the text was cut.
pub(super) fn shortened(whole: &str, texts: Texts) -> (String, bool) {
    let end = match texts {
        Texts::Whole => None,
        Texts::Beginnings { chars } => whole.char_indices().nth(chars).map(|(end, _)| end),
    };
    (whole[..end.unwrap_or(whole.len())].to_owned(), end.is_some())
}
