//! Reads any bytes as an event log. Nothing may panic, and a strict reduction must fail exactly if a lenient one reports
//! damage.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trace_recorder::format::{Manifest, SchemaVersion};
use trace_recorder::log::{EventLog, Line};
use trace_recorder::payloads::PayloadFiles;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, ReduceError, Reducer, Reduction};

/// A bundle with a few payloads to which a log may refer.
static BUNDLE: LazyLock<(tempfile::TempDir, PayloadFiles)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("payloads")).expect("a directory");
    let payloads = [
        r#"{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"t"}]}]}"#,
        r#"{"output_items":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#,
        r#"{"command":["sh"],"cwd":"/","process_id":"1"}"#,
        r#"{"exit_code":0,"aggregated_output":"x","process_id":"1"}"#,
        r#"{"input_history":[],"replacement_history":[{"type":"compaction","encrypted_content":"e"}]}"#,
        r#"{"tool_name":"write_stdin","payload":{"type":"function","arguments":"{\"session_id\":1}"}}"#,
        r#"{"input":["#,
    ];
    for (number, payload) in payloads.iter().enumerate() {
        std::fs::write(directory.path().join(format!("payloads/{}.json", number + 1)), payload).expect("writes");
    }
    let files = PayloadFiles::open(directory.path()).expect("opens");
    (directory, files)
});

fn reduce(schema: SchemaVersion, log: &EventLog, strict: bool) -> Result<Reduction, ReduceError> {
    let manifest = Manifest { schema_version: schema, ..Manifest::new("trace", "r", "t", 0) };
    let mut reducer = Reducer::new(&manifest, Options { strict, verify: false })?;
    let lines: Vec<Line<'_>> = log.lines().collect();
    reducer.feed(&lines, &BUNDLE.1)?;
    reducer.finish()
}

fuzz_target!(|data: &[u8]| {
    let log = EventLog::from_bytes(data.to_vec());
    for schema in [SchemaVersion::V1, SchemaVersion::V2] {
        let reduction = reduce(schema, &log, false).expect("a lenient reduction does not fail");
        state_json::write(&reduction, Style::Compact, std::io::sink()).expect("a sink takes everything");
        assert_eq!(reduce(schema, &log, true).is_err(), reduction.diagnostics.is_damaged());
    }
});
