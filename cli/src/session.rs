//! Opens the session of a bundle for commands that read its graph.

use std::path::Path;
use std::time::SystemTime;

use trace_explain::Session;
use trace_import::{Following, SessionRef};
use trace_recorder::Bundle;
use trace_recorder::bundle::is_bundle_directory;
use trace_recorder::follow::{Growth, LogFollower, Standing};
use trace_recorder::format::EVENT_LOG_FILE;
use trace_recorder::pack::is_growing;
use trace_reducer::{LiveReduction, Options, ReduceError, reduce};
use trace_serve::Newer;
use trace_viz::page::Recorder;

use crate::named::{self, Named};
use crate::ui::failure::Failure;
use crate::{address, bundles, foreign};

/// Opens the bundle, or the session of another agent, at `path` and reduces it.
///
/// # Errors
///
/// Returns an error if the bundle cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Session, Failure> {
    reduced(bundles::open(path)?)
}

/// Returns whether a bundle may be recorded while it is read: a directory, or a growing bundle.
fn may_grow(bundle: &Path) -> bool {
    is_bundle_directory(bundle) || is_growing(bundle).unwrap_or(false)
}

/// A session, and a way to its newer states.
pub(crate) struct Followed {
    pub(crate) session: Session,
    /// Returns the session again if it has grown. `None` for a packed bundle that does not grow.
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
        Some(Named::Bundle(path)) if may_grow(&path) => path,
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

/// A session for a page that shows it as it grows.
pub(crate) struct Watched {
    pub(crate) session: Session,
    /// Returns the session again if it has grown, or if its recorder has left. `None` for a packed bundle, which does not
    /// grow. The log of the returned session's bundle is not read.
    pub(crate) newer: Option<Newer>,
}

/// Opens the bundle, or the session of another agent, at `path`, for a page. In contrast to [`open_to_follow`], each event of
/// a bundle is reduced once, however often the page is told what is new.
///
/// # Errors
///
/// Returns an error under the same conditions as [`open_to_follow`].
pub(crate) fn open_to_watch(path: &Path) -> Result<Watched, Failure> {
    let path = match named::find(path)? {
        Some(Named::Bundle(path)) if may_grow(&path) => path,
        _ => {
            let Followed { session, newer } = open_to_follow(path)?;
            // Other agents do not say whether they are at work.
            let newer = newer.map(|look| Newer { look, recorder: Box::new(|| Recorder::Gone) });
            return Ok(Watched { session, newer });
        }
    };
    let mut seen = (log_state(&path), recorder_of(&path));
    let session = open(&path)?;
    let followed = path.clone();
    let mut reading = Reading::NotYet;
    let look = move || {
        let state = (log_state(&path), recorder_of(&path));
        if state == seen {
            return None;
        }
        seen = state;
        let next = reading.advance(&path);
        next.map_err(|failure| tracing::warn!(failure = %failure.message(), "not read again")).ok()
    };
    let recorder = move || recorder_of(&followed);
    Ok(Watched { session, newer: Some(Newer { look: Box::new(look), recorder: Box::new(recorder) }) })
}

/// Returns whether a recorder is at work on a bundle.
fn recorder_of(path: &Path) -> Recorder {
    match LogFollower::new(path).standing() {
        Ok(Standing::Recorded) => Recorder::AtWork,
        _ => Recorder::Gone,
    }
}

/// How a bundle that is written is read again.
enum Reading {
    NotYet,
    /// Each event is reduced once.
    Live(Box<Live>),
    /// The whole bundle is reduced each time, because events came in another order than their numbers.
    Whole,
}

/// A bundle that is reduced while it is written.
struct Live {
    bundle: Bundle,
    reduction: LiveReduction,
    follower: LogFollower,
}

impl Reading {
    /// Reads what was appended, and returns the session as it is now. A log that was replaced is read from its beginning.
    fn advance(&mut self, path: &Path) -> Result<Session, Failure> {
        let mut live = match std::mem::replace(self, Self::NotYet) {
            Self::NotYet => Box::new(Live::begin(path)?),
            Self::Live(live) => live,
            Self::Whole => {
                *self = Self::Whole;
                return open(path);
            }
        };
        if !live.catch_up()? {
            return open(path);
        }
        if live.reduction.has_late_events() {
            *self = Self::Whole;
            return open(path);
        }
        let reduction = live.reduction.snapshot(live.bundle.payloads()).map_err(refused)?;
        let bundle = live.bundle.follow_again().map_err(Failure::data)?;
        *self = Self::Live(live);
        Ok(Session::new(bundle, reduction))
    }
}

impl Live {
    fn begin(path: &Path) -> Result<Self, Failure> {
        let bundle = Bundle::open_to_follow(path).map_err(Failure::data)?;
        let reduction = LiveReduction::begin(&bundle, Options::default()).map_err(refused)?;
        Ok(Self { bundle, reduction, follower: LogFollower::new(path) })
    }

    /// Reduces what was appended. Returns false if the log was replaced by another one.
    fn catch_up(&mut self) -> Result<bool, Failure> {
        let mut bytes = Vec::new();
        loop {
            match self.follower.read(&mut bytes).map_err(Failure::data)? {
                Growth::Grew => self.reduction.catch_up(&bytes, self.bundle.payloads()).map_err(refused)?,
                Growth::Still => return Ok(true),
                Growth::Rewritten => return Ok(false),
            }
            bytes.clear();
        }
    }
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
    let log = if bundle.is_file() { bundle.to_owned() } else { bundle.join(EVENT_LOG_FILE) };
    let metadata = std::fs::metadata(log).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

fn reduced(bundle: Bundle) -> Result<Session, Failure> {
    let reduction = reduce(&bundle, Options::default()).map_err(refused)?;
    match address::failure_of(&bundle) {
        Some(failure) => Err(failure),
        None => Ok(Session::new(bundle, reduction)),
    }
}

/// Only a strict reduction returns this error.
fn refused(ReduceError::Refused(diagnostic): ReduceError) -> Failure {
    Failure::internal(anyhow::anyhow!("refused: {diagnostic}"))
}
