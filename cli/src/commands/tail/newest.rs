//! Finds the session that is followed.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use trace_recorder::BundleError;
use trace_recorder::bundle::{find_bundles, is_bundle, read_manifest};
use trace_recorder::format::EVENT_LOG_FILE;
use trace_recorder::pack::is_growing;

use crate::named::{self, Named};
use crate::ui::failure::Failure;
use crate::{cache, foreign};

/// Pause between two reads of the folder.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns what `path` names, or the newest bundle or session below it.
pub(super) fn newest(path: &Path) -> Result<Named, Failure> {
    if is_bundle(path) {
        return Ok(Named::Bundle(path.to_owned()));
    }
    if path.is_dir() {
        if let Some(bundle) = newest_of(find_bundles(path)?) {
            return Ok(Named::Bundle(bundle));
        }
        let mut catalog = cache::load();
        let last = named::newest_of(foreign::sessions(path)?, &mut catalog);
        cache::save(catalog);
        return last.map(|(_, session)| Named::Imported(session)).ok_or_else(|| {
            Failure::data(BundleError::NotABundle { path: path.to_owned() })
                .with_hint("there is no bundle below it either; --wait waits for one")
        });
    }
    match named::find(path)? {
        Some(named) => Ok(named),
        None => named::nothing(path).map_or_else(|| Ok(Named::Bundle(path.to_owned())), Err),
    }
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
        let new = found()?.into_iter().filter(|bundle| !before.contains(bundle) && has_begun(bundle)).collect();
        if let Some(bundle) = newest_of(new) {
            return Ok(Some(bundle));
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// Returns whether a bundle has all files that a reader opens. A recorder creates the log and the manifest one after the
/// other, in either order, and writes no event before both are there: a log with events is followed even if its manifest
/// cannot be read.
fn has_begun(bundle: &Path) -> bool {
    if bundle.is_file() {
        return !is_growing(bundle).unwrap_or(false) || read_manifest(bundle).is_ok();
    }
    match std::fs::metadata(bundle.join(EVENT_LOG_FILE)) {
        Ok(log) => log.is_file() && (log.len() > 0 || read_manifest(bundle).is_ok()),
        Err(_) => false,
    }
}

fn newest_of(bundles: Vec<PathBuf>) -> Option<PathBuf> {
    bundles.into_iter().min_by_key(|bundle| {
        let started = read_manifest(bundle).map(|manifest| manifest.started_at_unix_ms).ok();
        let log = if bundle.is_file() { bundle.clone() } else { bundle.join(EVENT_LOG_FILE) };
        let written = std::fs::metadata(log).and_then(|log| log.modified());
        (Reverse(started), Reverse(written.unwrap_or(SystemTime::UNIX_EPOCH)), bundle.clone())
    })
}

#[cfg(test)]
mod tests {
    use trace_recorder::format::MANIFEST_FILE;

    use super::*;

    #[test]
    fn a_bundle_that_is_being_created_has_not_begun() {
        let folder = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writes");
        assert!(!has_begun(folder.path()));
        write(EVENT_LOG_FILE, "");
        assert!(!has_begun(folder.path()));
        write(MANIFEST_FILE, "{");
        assert!(!has_begun(folder.path()));
        // A manifest that stays damaged is told of when there are events.
        write(EVENT_LOG_FILE, "{}\n");
        assert!(has_begun(folder.path()));
        write(EVENT_LOG_FILE, "");
        let manifest = r#"{"schema_version":2,"trace_id":"t","rollout_id":"r","root_thread_id":"r","started_at_unix_ms":1,
            "raw_event_log":"trace.jsonl","payloads_dir":"payloads"}"#;
        write(MANIFEST_FILE, manifest);
        assert!(has_begun(folder.path()));
    }
}
