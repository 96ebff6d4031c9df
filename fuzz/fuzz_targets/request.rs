//! Reads any bytes as three requests of a thread, cut at zero bytes. The incremental reading, which compares a request with
//! the one before, must have the same result as parsing all of it, whether the log is fed at once or line by line.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use trace_recorder::format::Manifest;
use trace_recorder::log::{EventLog, Line};
use trace_recorder::payloads::PayloadFiles;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, Reducer};

const LOG: &str = concat!(
    r#"{"schema_version":2,"seq":1,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"thread_started","thread_id":"t","agent_path":"/root"}}"#,
    "\n",
    r#"{"schema_version":2,"seq":2,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"codex_turn_started","codex_turn_id":"u","thread_id":"t"}}"#,
    "\n",
    r#"{"schema_version":2,"seq":3,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"inference_started","inference_call_id":"1","thread_id":"t","codex_turn_id":"u","model":"m","provider_name":"p","request_payload":{"raw_payload_id":"1","kind":{"type":"inference_request"},"path":"1"}}}"#,
    "\n",
    r#"{"schema_version":2,"seq":4,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"inference_started","inference_call_id":"2","thread_id":"t","codex_turn_id":"u","model":"m","provider_name":"p","request_payload":{"raw_payload_id":"2","kind":{"type":"inference_request"},"path":"2"}}}"#,
    "\n",
    r#"{"schema_version":2,"seq":5,"wall_time_unix_ms":1,"rollout_id":"r","payload":{"type":"inference_started","inference_call_id":"3","thread_id":"t","codex_turn_id":"u","model":"m","provider_name":"p","request_payload":{"raw_payload_id":"3","kind":{"type":"inference_request"},"path":"3"}}}"#,
    "\n",
);

thread_local! {
    static DIRECTORY: tempfile::TempDir = tempfile::tempdir().expect("a directory");
}

fn reduce(directory: &Path, verify: bool, lines_at_once: usize) -> Vec<u8> {
    let files = PayloadFiles::open(directory).expect("opens");
    let log = EventLog::from_bytes(LOG.as_bytes().to_vec());
    let lines: Vec<Line<'_>> = log.lines().collect();
    let mut reducer =
        Reducer::new(&Manifest::new("trace", "r", "t", 0), Options { strict: false, verify }).expect("lenient");
    for piece in lines.chunks(lines_at_once) {
        reducer.feed(piece, &files).expect("lenient");
    }
    let mut text = Vec::new();
    state_json::write(&reducer.finish().expect("lenient"), Style::Compact, &mut text).expect("memory does not fail");
    text
}

fuzz_target!(|data: &[u8]| {
    let mut requests = data.splitn(3, |byte| *byte == 0);
    DIRECTORY.with(|directory| {
        for name in ["1", "2", "3"] {
            std::fs::write(directory.path().join(name), requests.next().unwrap_or_default()).expect("writes");
        }
        let expected = reduce(directory.path(), true, usize::MAX);
        assert!(reduce(directory.path(), false, usize::MAX) == expected);
        assert!(reduce(directory.path(), false, 1) == expected);
    });
});
