//! Whether somebody may still write to a bundle.
//!
//! A recorder of this crate holds a lock as long as it works. Others, as the Codex CLI's, hold none: what they leave is
//! over when its log has an end, and without one nobody can tell a session that waits for an answer from a process that
//! died. All that is known is how long nothing was written. How long is long enough depends on what is to be done.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::format::{EVENT_LOG_FILE, EventPayload, MANIFEST_FILE, PAYLOADS_DIR};
use crate::log::{EventLog, Line, parse_lines};
use crate::recording::{is_being_recorded, read_recording};
use crate::tail::read_tail_of_file;

/// A session without an end that wrote within this time is called running.
pub const RUNNING_WITHIN: Duration = Duration::from_secs(60);

/// A bundle without an end is not repaired before it was silent for so long: what a recorder goes on to write to a log
/// that was replaced is lost.
pub const REPAIR_AFTER: Duration = Duration::from_secs(10 * 60);

/// A bundle without an end is not deleted before it was silent for so long: a person may answer the session tomorrow.
pub const DELETE_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Who may write to a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A recorder holds the lock.
    Recorded,
    /// Nobody: the log has its end, the recorder that held the lock is gone, or the bundle is packed.
    Over,
    /// Perhaps somebody who holds no lock: the log has no end, is empty or is missing.
    Silent {
        /// When the log was last written to; without a log, when anything else was.
        since: SystemTime,
    },
}

impl Activity {
    /// Says whether nobody has written for as long as `patience` at the time `now`, or nobody will any more.
    pub fn is_quiet(self, patience: Duration, now: SystemTime) -> bool {
        match self {
            Self::Recorded => false,
            Self::Over => true,
            // What is dated in the future was written by a clock that is ahead.
            Self::Silent { since } => now.duration_since(since).unwrap_or_default() >= patience,
        }
    }
}

/// Finds out who may write to the bundle at `path`, a directory or a packed bundle.
///
/// # Errors
///
/// Returns an I/O error when the lock cannot be asked for, or when neither log nor anything else of a bundle can be
/// looked at.
pub fn activity(path: &Path) -> io::Result<Activity> {
    if fs::metadata(path)?.is_file() {
        return Ok(Activity::Over);
    }
    if is_being_recorded(path)? {
        return Ok(Activity::Recorded);
    }
    // The mark of a recorder that takes the lock, and nobody has it. Who takes it to keep recorders away opens nothing: what
    // is left of that one's says nothing about the recorder.
    if read_recording(path).is_ok_and(|found| found.is_some_and(|recording| recording.opened_at_unix_ms > 0)) {
        return Ok(Activity::Over);
    }
    let log = path.join(EVENT_LOG_FILE);
    match fs::symlink_metadata(&log) {
        // A pipe in the place of the log would hold whoever opens it for ever.
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

/// Says whether the end of a log holds the end of the session or of its recording.
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

    /// Makes a bundle with this log, all of it written long ago.
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
        // A process that another test is starting may still hold the open file.
        lock.unlock().expect("unlocks");
        assert_eq!(activity(root.path()).expect("asks"), Activity::Over, "its recorder died");
        for left in ["", r#"{"pid":7,"opened_at_unix_ms":0}"#] {
            fs::write(&path, left).expect("writes");
            let silent = Activity::Silent { since: long_ago() };
            assert_eq!(activity(root.path()).expect("asks"), silent, "left by who kept recorders away");
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
