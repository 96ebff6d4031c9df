//! Finds the bundle of a folder that is followed.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use trace_recorder::BundleError;
use trace_recorder::bundle::{find_bundles, is_bundle, read_manifest};
use trace_recorder::format::EVENT_LOG_FILE;

use crate::ui::failure::Failure;

/// Pause between two reads of the folder.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the bundle at `path`, or the newest bundle below it.
pub(super) fn newest(path: &Path) -> Result<PathBuf, Failure> {
    if is_bundle(path) || !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found = newest_of(find_bundles(path)?);
    found.ok_or_else(|| {
        Failure::data(BundleError::NotABundle { path: path.to_owned() })
            .with_hint("there is no bundle below it either; --wait waits for one")
    })
}

/// Waits until a new bundle is started below `root`; `None` if the wait was interrupted.
pub(super) fn wait_for_one(root: &Path, interrupted: &AtomicBool) -> Result<Option<PathBuf>, Failure> {
    if is_bundle(root) {
        return Err(Failure::usage("--wait waits for a new bundle in a folder, and this is a bundle"));
    }
    let found = || match find_bundles(root) {
        Err(error) if error.is_missing() => Ok(Vec::new()),
        found => found,
    };
    let before: HashSet<PathBuf> = found()?.into_iter().collect();
    tracing::info!(root = %root.display(), "waiting for a bundle");
    while !interrupted.load(Ordering::Relaxed) {
        // A recorder creates the manifest first. Until there is a log, there is nothing to follow.
        let has_begun = |bundle: &PathBuf| bundle.is_file() || bundle.join(EVENT_LOG_FILE).is_file();
        let new = found()?.into_iter().filter(|bundle| !before.contains(bundle) && has_begun(bundle)).collect();
        if let Some(bundle) = newest_of(new) {
            return Ok(Some(bundle));
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

fn newest_of(bundles: Vec<PathBuf>) -> Option<PathBuf> {
    bundles.into_iter().min_by_key(|bundle| {
        let started = read_manifest(bundle).map(|manifest| manifest.started_at_unix_ms).ok();
        let written = std::fs::metadata(bundle.join(EVENT_LOG_FILE)).and_then(|log| log.modified());
        (Reverse(started), Reverse(written.unwrap_or(SystemTime::UNIX_EPOCH)), bundle.clone())
    })
}
