//! Whether a process may still write to a bundle.
//!
//! A recorder of this crate holds the lock of the bundle while it works. Other recorders, such as the Codex CLI's, take no
//! lock. For their bundles the log is the only evidence: the recording is over when the log ends with an end event. Without
//! one, a session that waits for an answer looks the same as a process that died, and all that is known is how long nothing
//! was written. The constants below say how long is long enough for each use.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::format::{EVENT_LOG_FILE, EventPayload, MANIFEST_FILE, PAYLOADS_DIR};
use crate::log::{EventLog, Line, parse_lines};
use crate::recording::{is_being_recorded, read_recording};
use crate::tail::read_tail_of_file;

/// A session without an end counts as running if something was written within this time.
pub const RUNNING_WITHIN: Duration = Duration::from_secs(60);

/// A bundle without an end is repaired only after nothing was written for this long. Repair replaces the log, and what a
/// recorder that is still alive writes to the replaced file is lost.
pub const REPAIR_AFTER: Duration = Duration::from_secs(10 * 60);

/// A bundle without an end is deleted only after nothing was written for this long: the user may continue the session the
/// next day.
pub const DELETE_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Who may write to a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A recorder holds the lock.
    Recorded,
    /// Nobody: the log has an end event, the recorder that held the lock is gone, or the bundle is packed and does not grow.
    Over,
    /// Possibly a recorder that takes no lock: the log has no end event, is empty or is missing.
    Silent {
        /// When the log was last written to. If there is no log, when the manifest or the payload directory was.
        since: SystemTime,
    },
}

impl Activity {
    /// Returns whether nothing was written for at least `patience` before `now`, or nothing can be written any more.
    pub fn is_quiet(self, patience: Duration, now: SystemTime) -> bool {
        match self {
            Self::Recorded => false,
            Self::Over => true,
            // A modification time in the future comes from a clock that is ahead. It counts as just now.
            Self::Silent { since } => now.duration_since(since).unwrap_or_default() >= patience,
        }
    }
}

/// Finds out whether a process may write to the bundle at `path`, a directory or a packed bundle.
///
/// # Errors
///
/// Returns an I/O error if the lock cannot be queried, or if neither the log nor the manifest nor the payload directory
/// exists or can be inspected.
pub fn activity(path: &Path) -> io::Result<Activity> {
    if fs::metadata(path)?.is_file() {
        return Ok(if is_being_recorded(path)? { Activity::Recorded } else { Activity::Over });
    }
    if is_being_recorded(path)? {
        return Ok(Activity::Recorded);
    }
    // A `recorder.json` with an opening time is left by a recorder that takes the lock, and the lock is free: the recorder
    // is gone. `BundleLock` (repair and deletion) writes the opening time 0, which says nothing about a recorder.
    if read_recording(path).is_ok_and(|found| found.is_some_and(|recording| recording.opened_at_unix_ms > 0)) {
        return Ok(Activity::Over);
    }
    let log = path.join(EVENT_LOG_FILE);
    match fs::symlink_metadata(&log) {
        // Opening a named pipe in the place of the log would block forever.
        Ok(metadata) if metadata.is_file() => {
            if has_end(read_tail_of_file(&log, metadata.len())?) {
                return Ok(Activity::Over);
            }
            Ok(Activity::Silent { since: metadata.modified()? })
        }
        Ok(metadata) => Ok(Activity::Silent { since: metadata.modified()? }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parts = [MANIFEST_FILE, PAYLOADS_DIR].map(|name| fs::symlink_metadata(path.join(name)));
            let last = parts.iter().flatten().filter_map(|metadata: &Metadata| metadata.modified().ok()).max();
            Ok(Activity::Silent { since: last.ok_or(error)? })
        }
        Err(error) => Err(error),
    }
}

/// Returns whether the tail of a log has an event that ends the session or its recording.
fn has_end(tail: Vec<u8>) -> bool {
    let log = EventLog::from_bytes(tail);
    let lines: Vec<Line<'_>> = log.lines().collect();
    parse_lines(&lines)
        .into_iter()
        .filter_map(|parsed| parsed.event.ok().flatten())
        .any(|event| matches!(event.payload, EventPayload::RolloutEnded(_) | EventPayload::RecordingCompleted(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RECORDER_FILE;

    const BEGIN: &str = r#"{"schema_version":1,"seq":1,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"rollout_started","trace_id":"t","root_thread_id":"r"}}"#;
    const END: &str = r#"{"schema_version":1,"seq":2,"wall_time_unix_ms":2,"rollout_id":"r","payload":{"type":"rollout_ended","status":"completed"}}"#;
    const CLOSED: &str = r#"{"schema_version":2,"seq":3,"wall_time_unix_ms":2,"rollout_id":"r","payload":{"type":"recording_completed"}}"#;

    fn long_ago() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
    }

    /// Makes a bundle with this log. All its files have a modification time long ago.
    fn bundle(log: Option<&str>) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join(PAYLOADS_DIR)).expect("creates");
        fs::write(root.path().join(MANIFEST_FILE), "{}").expect("writes");
        if let Some(log) = log {
            fs::write(root.path().join(EVENT_LOG_FILE), log).expect("writes");
        }
        for entry in fs::read_dir(root.path()).expect("lists") {
            set_modified(&entry.expect("an entry").path(), long_ago());
        }
        root
    }

    fn set_modified(path: &Path, time: SystemTime) {
        fs::File::open(path).and_then(|file| file.set_modified(time)).expect("sets the time");
    }

    #[test]
    fn a_log_with_an_end_is_over() {
        for log in [format!("{BEGIN}\n{END}\n"), format!("{END}\n{CLOSED}\n"), format!("{CLOSED}\n{{\"torn")] {
            assert_eq!(activity(bundle(Some(&log)).path()).expect("asks"), Activity::Over, "{log}");
        }
    }

    #[test]
    fn without_an_end_silence_tells() {
        let silent = Activity::Silent { since: long_ago() };
        for log in [None, Some(""), Some(BEGIN), Some("garbage\n")] {
            assert_eq!(activity(bundle(log).path()).expect("asks"), silent, "{log:?}");
        }
        for patience in [RUNNING_WITHIN, REPAIR_AFTER, DELETE_AFTER] {
            assert!(!silent.is_quiet(patience, long_ago() + patience - Duration::from_secs(1)));
            assert!(silent.is_quiet(patience, long_ago() + patience));
            assert!(!silent.is_quiet(patience, long_ago() - patience), "a clock that is ahead");
            assert!(Activity::Over.is_quiet(patience, long_ago()));
            assert!(!Activity::Recorded.is_quiet(patience, SystemTime::now()));
        }
    }

    #[test]
    fn the_lock_tells_more_than_the_log() {
        let root = bundle(Some(BEGIN));
        let path = root.path().join(RECORDER_FILE);
        fs::write(&path, r#"{"pid":7,"opened_at_unix_ms":1}"#).expect("writes");
        let lock = fs::File::open(&path).expect("opens");
        lock.lock().expect("locks");
        assert_eq!(activity(root.path()).expect("asks"), Activity::Recorded);
        // After the unlock, a process that another test is starting may still have inherited the open file.
        lock.unlock().expect("unlocks");
        assert_eq!(activity(root.path()).expect("asks"), Activity::Over, "its recorder died");
        for left in ["", r#"{"pid":7,"opened_at_unix_ms":0}"#] {
            fs::write(&path, left).expect("writes");
            let silent = Activity::Silent { since: long_ago() };
            assert_eq!(activity(root.path()).expect("asks"), silent, "left by a `BundleLock`");
        }
    }

    #[test]
    fn what_is_no_directory_is_over_and_what_is_nothing_is_an_error() {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join("file"), "").expect("writes");
        assert_eq!(activity(&root.path().join("file")).expect("asks"), Activity::Over);
        activity(&root.path().join("none")).expect_err("nothing is there");
        activity(root.path()).expect_err("no bundle");
    }
}
