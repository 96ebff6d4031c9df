//! Makes sessions of any bytes as their log, with payloads of the shapes to which events refer.

use std::path::PathBuf;
use std::sync::LazyLock;

use trace_explain::Session;

/// A bundle whose log is overwritten for each input.
static BUNDLE: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_owned();
    std::fs::create_dir(path.join("payloads")).expect("a directory");
    let payloads = [
        r#"{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"t"}]}]}"#,
        r#"{"output_items":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#,
        r#"{"command":["sh"],"cwd":"/","process_id":"1"}"#,
        r#"{"exit_code":3,"aggregated_output":"x","process_id":"1"}"#,
        r#"{"input_history":[],"replacement_history":[{"type":"compaction","encrypted_content":"e"}]}"#,
        r#"{"tool_name":"write_stdin","payload":{"type":"function","arguments":"{\"session_id\":1}"}}"#,
        r#"{"input":["#,
        r#"{"type":"task_complete","turn_id":"u","error":{"message":"t","codex_error_info":"other"}}"#,
        r#"{"agent_thread_id":"00000000-0000-7000-8000-000000000001","agent_path":"/root/a","kind":"started","event_id":"c"}"#,
        r#"{"type":"error","error":"unsupported call: t"}"#,
    ];
    for (number, payload) in payloads.iter().enumerate() {
        std::fs::write(path.join(format!("payloads/{}.json", number + 1)), payload).expect("writes");
    }
    let manifest = r#"{"schema_version":2,"trace_id":"t","rollout_id":"r","root_thread_id":"t","started_at_unix_ms":0,
        "raw_event_log":"trace.jsonl","payloads_dir":"payloads"}"#;
    std::fs::write(path.join("manifest.json"), manifest).expect("writes");
    (directory, path)
});

/// Returns the session with this log.
pub fn session(log: &[u8]) -> Session {
    std::fs::write(BUNDLE.1.join("trace.jsonl"), log).expect("writes");
    Session::open(&BUNDLE.1).expect("a bundle opens whatever is in it")
}
