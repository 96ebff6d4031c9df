//! The reason why a server cannot be used.

use std::error::Error;

/// Most characters of a failure that are shown.
pub const MAX_FAILURE_CHARS: usize = 600;

/// Why a server did not start, or has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFailure {
    /// The error message.
    pub message: String,
    /// What the user can do about it.
    pub need: Remedy,
}

/// What the user can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing is known.
    Unknown,
    /// The server requires authentication, such as a token.
    Login,
}

impl StartFailure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: bounded(message.into()), need: Remedy::Unknown }
    }
}

/// Formats an error with all its causes as one line.
pub(crate) fn shown(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        // Many errors already contain the text of their cause.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    bounded(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Cuts a text that is too long to be shown.
pub(crate) fn bounded(text: String) -> String {
    match text.char_indices().nth(MAX_FAILURE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once_and_in_bounds() {
        #[derive(Debug, thiserror::Error)]
        #[error("{text}")]
        struct Outer {
            text: String,
            #[source]
            cause: std::io::Error,
        }
        let error = |text: &str| Outer { text: text.to_owned(), cause: std::io::Error::other("the pipe broke") };
        assert_eq!(shown(&error("no\n answer")), "no answer: the pipe broke");
        assert_eq!(shown(&error("no answer (the pipe broke)")), "no answer (the pipe broke)");
        assert_eq!(shown(&error(&"é".repeat(1000))).chars().count(), MAX_FAILURE_CHARS + 3);
    }
}
