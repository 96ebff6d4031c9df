//! Any bytes as an event log: no question about such a session panics, and what answers promise holds.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trace_explain::context::{self, Against, Texts};
use trace_explain::costs::Costs;
use trace_explain::critical_path::CriticalPath;
use trace_explain::diff::Diff;
use trace_explain::grep::{CaseRule, Matcher, Selection, Syntax, WholeWords, grep};
use trace_explain::postmortem::postmortem;
use trace_explain::timeline::Timeline;
use trace_explain::why::{Needle, why};
use trace_explain::{CausalGraph, Session};

/// A bundle whose log is written anew for each input.
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

fuzz_target!(|data: &[u8]| {
    std::fs::write(BUNDLE.1.join("trace.jsonl"), data).expect("writes");
    let session = Session::open(&BUNDLE.1).expect("a bundle opens whatever is in it");
    let trace = session.trace();
    CausalGraph::new(&session);
    let verdicts = postmortem(&session);
    assert_eq!(verdicts.turns.len(), trace.turns.len());
    why(&session, &Needle::new("t").expect("a text"));
    let matcher = Matcher::new(&["."], Syntax::Regex, CaseRule::Smart, WholeWords::No).expect("a pattern");
    grep(&session, &matcher, &Selection::default());
    for (inference, _) in trace.inferences.iter() {
        context::request(&session, inference, Texts::Whole, Against::RequestBefore);
    }
    Costs::new(trace, None);
    Timeline::new(&session);
    CriticalPath::new(&session, None);
    Diff::new(&session, &session, None);
});
