//! How much a finding matters, and how much of what is found is kept.
//!
//! A check of a bundle and a reduction of it both report findings; these are the terms that they share.

/// Most findings of one code that a report keeps; the others are counted.
pub const MAX_PER_CODE: usize = 100;

/// Most bytes of a finding's sentence. Ids come from the bundle and may be of any length.
pub const MAX_MESSAGE_BYTES: usize = 600;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is not as it should be, and nothing is lost by it.
    Warning,
    /// A rule of the format is broken, and something is lost.
    Error,
}

impl Severity {
    /// Returns the name of the severity.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Cuts a text to what a finding keeps of it.
pub fn cut_message(text: Box<str>) -> Box<str> {
    if text.len() <= MAX_MESSAGE_BYTES {
        return text;
    }
    let mut end = MAX_MESSAGE_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worse_is_greater() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = cut_message("é".repeat(MAX_MESSAGE_BYTES).into());
        assert_eq!(cut.len(), MAX_MESSAGE_BYTES + "…".len());
        assert!(cut.ends_with('…'));
        assert_eq!(&*cut_message("short".into()), "short");
    }
}
