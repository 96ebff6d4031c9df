//! Problems of payloads.

use trace_recorder::payloads::PayloadError;

use super::limits::{MAX_ITEMS, MAX_VALUES};

/// Why a payload cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum PayloadProblem {
    /// The file cannot be read.
    #[error("{0}")]
    File(PayloadError),
    /// The file does not exist.
    #[error("the file is missing")]
    Missing,
    /// The file is not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// The file is not a JSON document.
    #[error("not a JSON document: {0}")]
    Json(serde_json::Error),
    /// The JSON is nested deeper than a payload may be.
    #[error("nested too deeply")]
    TooDeep,
    /// The parts of the JSON that are read have too many values, as [`MAX_VALUES`] limits them.
    #[error("too many JSON values (limit {MAX_VALUES})")]
    TooManyValues,
    /// A list has more than [`MAX_ITEMS`] items.
    #[error("too many items in a list (limit {MAX_ITEMS})")]
    TooManyItems,
    /// The document does not have the form that its event requires.
    #[error("{0}")]
    Shape(&'static str),
}

impl From<serde_json::Error> for PayloadProblem {
    fn from(error: serde_json::Error) -> Self {
        if error.is_data() { Self::Shape("not an object") } else { Self::Json(error) }
    }
}

impl From<PayloadError> for PayloadProblem {
    fn from(error: PayloadError) -> Self {
        match error {
            PayloadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            error => Self::File(error),
        }
    }
}
