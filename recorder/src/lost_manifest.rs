//! Reconstructs a missing manifest from the event log.

use crate::format::{EventPayload, Manifest};
use crate::log::{EventLog, parse_lines};

/// Number of lines that are searched for the ids of a session. Recorders write the ids in the first two events.
pub const MAX_SEARCHED_LINES: usize = 1 << 16;

/// Returns a manifest with what the log says about the session. Fields that the log says nothing about are empty.
pub fn manifest_from_log(log: &EventLog) -> Manifest {
    let events =
        log.lines().take(MAX_SEARCHED_LINES).filter_map(|line| parse_lines(&[line]).pop()?.event.ok().flatten());
    let mut manifest = Manifest::new("", "", "", 0);
    let mut first = true;
    for event in events {
        if std::mem::take(&mut first) {
            manifest.schema_version = event.schema_version;
            manifest.rollout_id = event.rollout_id.to_string();
            manifest.started_at_unix_ms = event.wall_time_unix_ms;
        }
        if let EventPayload::RolloutStarted(started) = &event.payload {
            manifest.trace_id = started.trace_id.to_string();
            manifest.root_thread_id = started.root_thread_id.to_string();
            break;
        }
        if let (EventPayload::ThreadStarted(started), "") = (&event.payload, manifest.root_thread_id.as_str()) {
            manifest.root_thread_id = started.thread_id.to_string();
        }
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64, payload: &str) -> String {
        format!(r#"{{"schema_version":1,"seq":{seq},"wall_time_unix_ms":5,"rollout_id":"r","payload":{payload}}}"#)
            + "\n"
    }

    #[test]
    fn the_first_events_tell() {
        let thread = r#"{"type":"thread_started","thread_id":"a","agent_path":"/root"}"#;
        let start = r#"{"type":"rollout_started","trace_id":"t","root_thread_id":"b"}"#;
        let log = EventLog::from_bytes(format!("garbage\n{}{}", event(1, thread), event(2, start)).into_bytes());
        let manifest = manifest_from_log(&log);
        assert_eq!((manifest.trace_id.as_str(), manifest.rollout_id.as_str()), ("t", "r"));
        assert_eq!((manifest.root_thread_id.as_str(), manifest.started_at_unix_ms), ("b", 5));
        assert_eq!(manifest.schema_version.0, 1);
        let log = EventLog::from_bytes(event(1, thread).into_bytes());
        assert_eq!(manifest_from_log(&log).root_thread_id, "a");
    }
}
