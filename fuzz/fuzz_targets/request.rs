//! Any bytes as two requests of a thread, cut at a zero byte: reading the second by comparing it with the first gives
//! what parsing it whole gives.
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
);

thread_local! {
    static DIRECTORY: tempfile::TempDir = tempfile::tempdir().expect("a directory");
}

fn reduce(directory: &Path, verify: bool) -> Vec<u8> {
    let files = PayloadFiles::open(directory).expect("opens");
    let log = EventLog::from_bytes(LOG.as_bytes().to_vec());
    let lines: Vec<Line<'_>> = log.lines().collect();
    let mut reducer =
        Reducer::new(&Manifest::new("trace", "r", "t", 0), Options { strict: false, verify }).expect("lenient");
    reducer.feed(&lines, &files).expect("lenient");
    let mut text = Vec::new();
    state_json::write(&reducer.finish().expect("lenient"), Style::Compact, &mut text).expect("memory does not fail");
    text
}

fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (first, second) = data.split_at(cut);
    DIRECTORY.with(|directory| {
        std::fs::write(directory.path().join("1"), first).expect("writes");
        std::fs::write(directory.path().join("2"), second.get(1..).unwrap_or_default()).expect("writes");
        assert!(reduce(directory.path(), false) == reduce(directory.path(), true));
    });
});
