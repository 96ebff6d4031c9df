//! Why a tool cannot answer, in words for a model.

use std::fmt::Display;

use serde_json::{Value, json};

/// A tool cannot answer. The client gets it as a result with `isError`, so that the model can read it and call again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    message: String,
    hint: Option<String>,
}

/// Most characters of an error's text. Messages of other programs, such as those of SQL, can be long.
pub const MAX_PROBLEM_CHARS: usize = 2_000;

impl Problem {
    /// Makes a problem from what went wrong.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), hint: None }
    }

    /// Adds what the model can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Returns the result of a call that failed.
    pub(crate) fn result(&self) -> Value {
        json!({"content": [{"type": "text", "text": self.text()}], "isError": true})
    }

    /// Returns the message with the hint, cut at [`MAX_PROBLEM_CHARS`].
    pub fn text(&self) -> String {
        let whole = match &self.hint {
            Some(hint) => format!("{}\n{hint}", self.message),
            None => self.message.clone(),
        };
        trace_text::cut(&whole, MAX_PROBLEM_CHARS).into_owned()
    }
}
