//! Opens the session of a bundle for commands that read its graph.

use std::path::Path;
use std::time::SystemTime;

use trace_explain::Session;
use trace_import::{Following, SessionRef};
use trace_recorder::Bundle;
use trace_recorder::bundle::is_bundle_directory;
use trace_recorder::format::EVENT_LOG_FILE;
use trace_reducer::{Options, ReduceError, reduce};

use crate::named::{self, Named};
use crate::ui::failure::Failure;
use crate::{bundles, foreign};

/// Opens the bundle, or the session of another agent, at `path` and reduces it.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Session, Failure> {
    reduced(bundles::open(path)?)
}

/// A session, and a way to its newer states.
pub(crate) struct Followed {
    pub(crate) session: Session,
    /// Returns the session again if it has grown. `None` for a packed bundle, which does not grow.
    pub(crate) newer: Option<Box<dyn FnMut() -> Option<Session> + Send>>,
}

/// Opens the bundle, or the session of another agent, at `path`, which may still be written.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened. A newer state that cannot be read is logged, and tried again when it
/// has changed.
pub(crate) fn open_to_follow(path: &Path) -> Result<Followed, Failure> {
    let path = match named::find(path)? {
        Some(Named::Imported(session)) => return follow(session),
        Some(Named::Bundle(path)) if is_bundle_directory(&path) => path,
        _ => return Ok(Followed { session: open(path)?, newer: None }),
    };
    let mut seen = log_state(&path);
    let session = open(&path)?;
    let newer = move || {
        let state = log_state(&path);
        if state == seen {
            return None;
        }
        seen = state;
        open(&path).map_err(|failure| tracing::warn!(failure = %failure.message(), "not read again")).ok()
    };
    Ok(Followed { session, newer: Some(Box::new(newer)) })
}

fn follow(session: SessionRef) -> Result<Followed, Failure> {
    let mut following = Following::new(session);
    // The first call always returns the session.
    let first = following.newer().map_err(foreign::import_failure)?;
    let Some(bundle) = first else { return Err(Failure::internal(anyhow::anyhow!("a session was not read"))) };
    let newer = move || {
        let bundle = following.newer().map_err(|error| tracing::warn!(%error, "not read again")).ok()??;
        reduced(bundle).ok()
    };
    Ok(Followed { session: reduced(bundle)?, newer: Some(Box::new(newer)) })
}

/// Returns the size and time of a bundle's log.
fn log_state(bundle: &Path) -> Option<(u64, Option<SystemTime>)> {
    let metadata = std::fs::metadata(bundle.join(EVENT_LOG_FILE)).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

fn reduced(bundle: Bundle) -> Result<Session, Failure> {
    // Only a strict reduction returns this error.
    let reduction = reduce(&bundle, Options::default())
        .map_err(|ReduceError::Refused(diagnostic)| Failure::internal(anyhow::anyhow!("refused: {diagnostic}")))?;
    Ok(Session::new(bundle, reduction))
}
