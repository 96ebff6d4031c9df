//! What can be wrong with a payload.

use trace_recorder::payloads::PayloadError;

/// Why a payload says less than it should.
#[derive(Debug, thiserror::Error)]
pub enum PayloadProblem {
    /// The file cannot be read.
    #[error("{0}")]
    File(PayloadError),
    /// The file is not there.
    #[error("the file is missing")]
    Missing,
    /// The file is not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// The file is not one JSON document.
    #[error("not a JSON document: {0}")]
    Json(serde_json::Error),
    /// The JSON nests deeper than a payload may.
    #[error("nested too deeply")]
    TooDeep,
    /// The document has another shape than its event calls for.
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
