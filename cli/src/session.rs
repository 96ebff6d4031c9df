//! Opens the session of a bundle for commands that read its graph.

use std::path::Path;

use trace_explain::Session;
use trace_explain::session::SessionError;
use trace_reducer::ReduceError;

use crate::ui::failure::Failure;

/// Opens the bundle at `path` and reduces it.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Session, Failure> {
    Session::open(path).map_err(|error| match error {
        SessionError::Bundle(error) => error.into(),
        // Only a strict reduction returns this error.
        SessionError::Reduce(ReduceError::Refused(diagnostic)) => {
            Failure::internal(anyhow::anyhow!("refused: {diagnostic}"))
        }
    })
}
