//! A lenient reduction of a bundle that the peer refuses recovers everything around the damage and reports the damage.

use std::fmt::Write as _;
use std::path::Path;

use tempfile::TempDir;
use trace_recorder::Bundle;
use trace_reducer::{Options, Reduction, reduce};

/// Copies a session of a parent and a child that answers, and returns the lines of its log.
fn session() -> (TempDir, Vec<String>) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/full-two-threads");
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("payloads")).expect("a directory");
    for entry in std::fs::read_dir(case.join("payloads")).expect("lists") {
        let path = entry.expect("an entry").path();
        let target = directory.path().join("payloads").join(path.file_name().expect("a name"));
        std::fs::copy(&path, target).expect("copies");
    }
    std::fs::copy(case.join("manifest.json"), directory.path().join("manifest.json")).expect("copies");
    let log = std::fs::read_to_string(case.join("trace.jsonl")).expect("reads");
    (directory, log.lines().map(str::to_owned).collect())
}

fn run(directory: &TempDir, log: &str) -> Reduction {
    std::fs::write(directory.path().join("trace.jsonl"), log).expect("writes");
    let bundle = Bundle::open(directory.path()).expect("opens");
    reduce(&bundle, Options { strict: true, verify: false }).expect_err("the peer refuses this bundle, and so do we");
    reduce(&bundle, Options::default()).expect("a lenient reduction does not fail")
}

/// Returns a summary of a reduction: the numbers of objects, then the diagnostics.
fn sum_up(reduction: &Reduction) -> String {
    let trace = &reduction.trace;
    let mut text = format!(
        "{} threads, {} turns, {} items, {} inference calls, {} tool calls, {} edges\n",
        trace.threads.len(),
        trace.turns.len(),
        trace.items.len(),
        trace.inferences.len(),
        trace.tools.len(),
        trace.edges.len(),
    );
    for diagnostic in &reduction.diagnostics {
        writeln!(text, "{diagnostic}").expect("writes");
    }
    text
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

#[test]
fn the_undamaged_session() {
    let (directory, lines) = session();
    std::fs::write(directory.path().join("trace.jsonl"), joined(&lines)).expect("writes");
    let bundle = Bundle::open(directory.path()).expect("opens");
    let reduction = reduce(&bundle, Options { strict: true, verify: false }).expect("nothing is wrong");
    insta::assert_snapshot!(sum_up(&reduction), @"2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges");
}

#[test]
fn a_torn_last_line() {
    let (directory, lines) = session();
    let log = joined(&lines);
    insta::assert_snapshot!(sum_up(&run(&directory, &log[..log.len() - 40])), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[torn_tail] line 31: the last line breaks off after 133 bytes; its event is lost
    note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
    "#);
}

#[test]
fn a_line_that_is_no_event() {
    let (directory, mut lines) = session();
    lines[6] = "\u{0}\u{0}garbage".to_owned();
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[invalid_line] line 7: not an event: expected value at line 1 column 1; the line is passed over
    "#);
}

#[test]
fn a_line_that_is_not_text() {
    let (directory, lines) = session();
    let mut log = joined(&lines).into_bytes();
    log.splice(0..0, *b"\xff\xfe\n");
    std::fs::write(directory.path().join("trace.jsonl"), log).expect("writes");
    let bundle = Bundle::open(directory.path()).expect("opens");
    insta::assert_snapshot!(sum_up(&reduce(&bundle, Options::default()).expect("lenient")), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[invalid_line] line 1: invalid UTF-8 at byte 0 of the line; the line is passed over
    "#);
}

#[test]
fn a_missing_line() {
    let (directory, mut lines) = session();
    // The start of the child thread.
    let start = lines.iter().rposition(|line| line.contains("\"thread_started\"")).expect("a child");
    lines.remove(start);
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[seq_gap] seq 11: event 10 is missing
    warning[thread_unknown] seq 11: thread 00000000-0000-7000-8000-00000000000b was never started; it is added without its start
    "#);
}

#[test]
fn a_repeated_line_and_two_swapped_ones() {
    let (directory, mut lines) = session();
    let line = lines[3].clone();
    lines.insert(4, line);
    lines.swap(9, 10);
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    warning[seq_out_of_order] seq 9: seq 9 stands after 10; the events are sorted
    warning[seq_repeated] seq 4: the same event stands twice; once is enough
    "#);
}

#[test]
fn a_missing_and_a_cut_payload() {
    let (directory, lines) = session();
    let requests: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("\"inference_started\""))
        .filter_map(|line| line.split("\"path\": \"").nth(1)?.split('"').next())
        .collect();
    std::fs::remove_file(directory.path().join(requests[0])).expect("removes");
    let cut = directory.path().join(requests[2]);
    let text = std::fs::read(&cut).expect("reads");
    std::fs::write(&cut, &text[..text.len() * 3 / 4]).expect("writes");
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[payload_missing] seq 5 raw_payload:1: the payload file is missing
    error[payload_invalid] seq 21 raw_payload:12: the payload cannot be used: not a JSON document: EOF while parsing a string at line 30 column 9
    "#);
}

#[test]
fn an_event_of_a_later_release() {
    let (directory, mut lines) = session();
    lines[4] = lines[4].replace("\"type\": \"", "\"type\": \"later_");
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 2 inference calls, 2 tool calls, 3 edges
    error[unknown_event] seq 5: the event `later_inference_started` is not known to this version; it is passed over
    error[inference_unknown] seq 6: inference call inf-1 ends, but it was never started
    "#);
}

#[test]
fn no_manifest() {
    let (directory, lines) = session();
    std::fs::remove_file(directory.path().join("manifest.json")).expect("removes");
    let reduction = run(&directory, &joined(&lines));
    assert_eq!(reduction.trace.text(reduction.trace.root_thread_id), "00000000-0000-7000-8000-00000000000a");
    let told: Vec<&str> = reduction.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(told, ["manifest_missing"]);
    assert_eq!(reduction.trace.items.len(), 7);
}

#[test]
fn a_child_of_an_earlier_session() {
    let (directory, mut lines) = session();
    let start = lines.iter().rposition(|line| line.contains("\"thread_started\"")).expect("a child");
    // When a resumed session continues with a child, the client writes no other event about that child.
    let child = "00000000-0000-7000-8000-00000000000b";
    let (head, _) = lines[start].split_once("\"payload\":").expect("a payload");
    lines[start] = format!("{head}\"payload\": {{\"type\": \"thread_resumed\", \"thread_id\": \"{child}\"}}}}");
    let reduction = run(&directory, &joined(&lines));
    let thread = reduction.trace.threads.values().find(|thread| reduction.trace.text(thread.id) == child);
    let thread = thread.expect("the child is there");
    assert_eq!(reduction.trace.text(thread.agent_path), "/root/kid");
    insta::assert_snapshot!(sum_up(&reduction), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    warning[thread_of_earlier_session] seq 10: thread 00000000-0000-7000-8000-00000000000b was started in an earlier session and goes on in this one; it is added without its start
    "#);
}

#[test]
fn a_path_that_leaves_the_bundle() {
    let (directory, mut lines) = session();
    let at = lines.iter().position(|line| line.contains("\"inference_started\"")).expect("a request");
    let path =
        lines[at].split("\"path\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a path").to_owned();
    lines[at] = lines[at].replace(&path, "../outside.json");
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[payload_outside_bundle] seq 5 raw_payload:1: the payload path leads out of the bundle and is not followed
    "#);
}

#[test]
fn numbers_out_of_range_and_deep_nesting() {
    let (directory, mut lines) = session();
    lines[2] = lines[2].replace("\"seq\": 3", "\"seq\": 99999999999999999999999");
    let deep = format!("{{\"x\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    lines[3] = lines[3].replace("\"payload\": {", &format!("\"payload\": {{\"later\": {deep}, "));
    insta::assert_snapshot!(sum_up(&run(&directory, &joined(&lines))), @r#"
    2 threads, 2 turns, 7 items, 3 inference calls, 2 tool calls, 3 edges
    error[invalid_line] line 3: not an event: invalid type: floating point `1e+23`, expected u64 at line 1 column 52; the line is passed over
    error[invalid_line] line 4: not an event: recursion limit exceeded at line 1 column 141; the line is passed over
    warning[turn_unknown] seq 5: turn turn-1 was never started; it is added without its start
    "#);
}

#[test]
fn a_hundred_thousand_threads() {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = r#"{"schema_version":2,"trace_id":"t","rollout_id":"r","root_thread_id":"0","started_at_unix_ms":0,"raw_event_log":"trace.jsonl","payloads_dir":"payloads"}"#;
    std::fs::write(directory.path().join("manifest.json"), manifest).expect("writes");
    let log: String = (1..=100_000)
        .map(|seq| {
            format!(
                "{{\"schema_version\":2,\"seq\":{seq},\"wall_time_unix_ms\":0,\"rollout_id\":\"r\",\"payload\":{{\"type\":\"thread_started\",\"thread_id\":\"{seq}\",\"agent_path\":\"/root/a{seq}\"}}}}\n"
            )
        })
        .collect();
    std::fs::write(directory.path().join("trace.jsonl"), log).expect("writes");
    let bundle = Bundle::open(directory.path()).expect("opens");
    let reduction = reduce(&bundle, Options { strict: true, verify: false }).expect("nothing is wrong");
    assert_eq!(reduction.trace.threads.len(), 100_000);
}
