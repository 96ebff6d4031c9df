//! The severity of findings, and limits on how much of them is kept.
//!
//! The check of a bundle and its reduction share these terms for their findings.

/// Most findings of one code that a report keeps. It only counts the others.
pub const MAX_PER_CODE: usize = 100;

/// Longest message of a finding, in bytes. A message can contain ids of the bundle, which may have any length.
pub const MAX_MESSAGE_BYTES: usize = 600;

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing. Nothing is wrong.
    Note,
    /// Something is not as it should be, but nothing is lost.
    Warning,
    /// A rule of the format is broken, and information is lost.
    Error,
}

impl Severity {
    /// Returns the name of the severity in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Cuts a message to [`MAX_MESSAGE_BYTES`] and appends an ellipsis. A shorter message is returned unchanged.
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
