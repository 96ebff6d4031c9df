//! Opens the session of a bundle for commands that read its graph.

use std::path::Path;

use trace_explain::Session;
use trace_reducer::{Options, ReduceError, reduce};

use crate::bundles;
use crate::ui::failure::Failure;

/// Opens the bundle, or the session of another agent, at `path` and reduces it.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Session, Failure> {
    let bundle = bundles::open(path)?;
    // Only a strict reduction returns this error.
    let reduction = reduce(&bundle, Options::default())
        .map_err(|ReduceError::Refused(diagnostic)| Failure::internal(anyhow::anyhow!("refused: {diagnostic}")))?;
    Ok(Session::new(bundle, reduction))
}
