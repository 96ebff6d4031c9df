//! `trace tail`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use trace_recorder::format::{ExecutionStatus, RolloutStatus};
use trace_recorder::write::{
    BundleWriter, Json, NO_BODY, NewInference, NewSession, NewThread, TraceRoot, WriterOptions,
};

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, sample, troubled, well};

#[test]
fn a_recorded_session_is_told_from_its_start() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["tail", "bundle", "--from-start"]), @"
    00:01.000  /root  agent started
    00:02.000  /root  turn started
    00:03.000  /root  model-1 ← 1 item
    00:04.000  /root  model-1 → answered in 1.0 s, 1,200 in (1,000 cached), 34 out: done
    00:05.000  /root/a  agent started: Ada
    00:06.000  /root/b  agent started: Bob
    00:07.000  /root/b/c  agent started: Cyd
    00:08.000  /root/a    turn started
    00:09.000  /root/a    exec_command ← make all
    00:12.000  /root/a    exec_command → completed in 3.0 s, exit 2: make: *** [all] Error 1
    00:13.000  /root/a    model-1 ← 1 item
    00:14.000  /root/a    model-1 → failed after 1.0 s: stream disconnected ⏎ before completion
    00:15.000  /root/a    turn failed after 7.0 s
    00:16.000  /root/b    turn started
    00:17.000  /root/b    exec_command ← sleep 1000
    00:19.000  /root/b/c  turn started
    00:20.000  /root/b/c  model-1 ← 1 item
    00:21.000  /root/b/c  model-1 → answered in 1.0 s, 1,200 in (1,000 cached), 34 out: done
    00:22.000  /root/b/c  turn completed in 3.0 s
    00:23.000  /root/b/c  reported to /root/b: nobody reads this
    00:24.000  /root/b/c  agent completed in 17.0 s
    00:25.000  /root/b    turn cancelled after 9.0 s
    00:26.000  /root      turn completed in 24.0 s
    00:27.000  /root      agent completed in 26.0 s
    00:28.000             session failed after 28.0 s
    00:29.000             recording completed
    ");
}

#[test]
fn the_last_lines_are_shown_first() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_eq!(place.run(&["tail", "bundle"]).stdout.lines().count(), 10);
    assert_snapshot!(place.run(&["tail", "bundle", "-n", "2"]), @r#"
    00:28.000         session failed after 28.0 s
    00:29.000         recording completed
    "#);
    assert_snapshot!(place.run(&["tail", "bundle", "-n", "0"]), @"");
}

#[test]
fn one_agent_and_those_below_it() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["tail", "bundle", "--from-start", "--thread", "/root/b"]), @r#"
    00:06.000  /root/b  agent started: Bob
    00:07.000  /root/b/c  agent started: Cyd
    00:16.000  /root/b    turn started
    00:17.000  /root/b    exec_command ← sleep 1000
    00:19.000  /root/b/c  turn started
    00:20.000  /root/b/c  model-1 ← 1 item
    00:21.000  /root/b/c  model-1 → answered in 1.0 s, 1,200 in (1,000 cached), 34 out: done
    00:22.000  /root/b/c  turn completed in 3.0 s
    00:23.000  /root/b/c  reported to /root/b: nobody reads this
    00:24.000  /root/b/c  agent completed in 17.0 s
    00:25.000  /root/b    turn cancelled after 9.0 s
    "#);
}

#[test]
fn json_lines_are_as_their_schema_wants_them() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let mut events = std::collections::BTreeSet::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    for bundle in [place.path("bundle"), samples.join("three-children"), samples.join("damaged")] {
        let path = bundle.to_string_lossy().into_owned();
        let ran = place.run(&["tail", &path, "--from-start", "--json", "--no-follow"]);
        for line in ran.stdout.lines() {
            assert_valid("tail", line);
            let value: Value = serde_json::from_str(line).expect("JSON");
            events.insert(value["event"].as_str().expect("an event").to_owned());
        }
    }
    assert!(events.len() > 14, "{events:?}");
    let ran = place.run(&["tail", "bundle", "--json", "-n", "1"]);
    assert_snapshot!(ran, @r#"
    {"seq":30,"at_unix_ms":1735787074000,"elapsed_ms":29000,"event":"recording_completed","object":null,"thread_id":null,"agent_path":null,"to_agent_path":null,"status":null,"subject":null,"detail":null,"exit_code":null,"duration_ms":null,"tokens":null}
    "#);
}

#[test]
fn a_packed_bundle_is_over() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    let whole = place.run(&["tail", "bundle", "--from-start"]).stdout;
    assert_eq!(place.run(&["pack", "bundle"]).code, 0);
    fs::remove_dir_all(place.path("bundle")).expect("removes");
    assert_eq!(place.run(&["tail", "bundle.trace", "--from-start"]).stdout, whole);
}

#[test]
fn the_newest_bundle_of_a_folder_is_meant() {
    let place = Place::new();
    troubled(&place.path("root/older"));
    well(&place.path("root/newer"), START + 60_000);
    let expected = place.run(&["tail", "root/newer"]).stdout;
    assert_eq!(place.run(&["tail", "root"]).stdout, expected);
    let output = place.command(&["tail"]).env("TRACE_ROOT", place.path("root")).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    fs::create_dir(place.path("empty")).expect("creates");
    assert_snapshot!(place.run(&["tail", "empty"]), @r#"
    --- stderr
    error: empty is not a bundle: it has neither manifest.json nor trace.jsonl
    hint: there is no bundle below it either; --wait waits for one
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["tail", "root/newer", "--wait"]), @r#"
    --- stderr
    error: --wait waits for a new bundle in a folder, and this is a bundle
    --- exit code 2
    "#);
}

#[test]
fn a_recorder_that_had_to_stop_is_told() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    let log = place.read("bundle/trace.jsonl");
    let lines: Vec<_> = log.lines().take(4).collect();
    fs::write(place.path("bundle/trace.jsonl"), lines.join("\n") + "\n{\"half").expect("writes");
    let stopped = json!({ "after_seq": 4, "at_unix_ms": START, "lost_events": 2, "reason": "the disk\u{1b} is full" });
    let recorder = json!({ "pid": 4242, "opened_at_unix_ms": START, "stopped": stopped });
    fs::write(place.path("bundle/recorder.json"), recorder.to_string()).expect("writes");
    assert_snapshot!(place.run(&["tail", "bundle", "-n", "3"]), @r#"
     00:01.000  /root  agent started
     00:02.000  /root  turn started
     00:03.000  /root  model-1 ← 1 item
     00:03.000         damage (torn_tail): the last line breaks off after 6 bytes; its event is lost
    --- stderr
    error: the recorder had to stop after seq 4: the disk\u{1b} is full
    --- exit code 1
    "#);
    fs::write(place.path("bundle/recorder.json"), r#"{"pid":4242,"opened_at_unix_ms":1}"#).expect("writes");
    assert_snapshot!(place.run(&["tail", "bundle", "-n", "1"]), @r#"
     00:03.000  /root  model-1 ← 1 item
     00:03.000         damage (torn_tail): the last line breaks off after 6 bytes; its event is lost
    --- stderr
    error: the recording process 4242 has died; the log has no end
    hint: `trace show` shows how far the session came
    --- exit code 1
    "#);
}

/// A running `trace tail`, whose lines are read one by one. The test waits for nothing else.
struct Following {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Following {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// Waits for the next line.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("reads");
        assert_valid("tail", &line);
        serde_json::from_str(&line).expect("JSON")
    }

    /// Waits for an event of this type, and returns it.
    fn until(&mut self, event: &str) -> Value {
        loop {
            let value = self.next();
            if value["event"] == event {
                return value;
            }
        }
    }

    /// Waits for the end. Returns the exit code, the rest of stdout, and stderr.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut rest, mut said) = (String::new(), String::new());
        self.lines.read_to_string(&mut rest).expect("reads");
        self.child.stderr.take().expect("piped").read_to_string(&mut said).expect("reads");
        (self.child.wait().expect("ends").code(), rest, said)
    }
}

fn start(root: &TraceRoot) -> BundleWriter {
    root.start(&NewSession::new("t-root")).expect("starts")
}

fn path_of(writer: &BundleWriter) -> String {
    writer.path().expect("enabled").to_string_lossy().into_owned()
}

#[test]
fn a_session_is_followed_while_it_is_recorded() {
    let place = Place::new();
    let root = TraceRoot::new(place.path("root"), WriterOptions::default());
    let writer = start(&root);
    let thread = writer.start_thread(NewThread::new("t-root", "/root"), NO_BODY);
    writer.flush().expect("writes");

    let mut following = Following::start(&place, &["tail", &path_of(&writer), "--json", "--from-start"]);
    assert_eq!(following.next()["event"], "agent_started");
    // The test waits for each line before it records the next event, so the line can only come from following the log.
    let turn = thread.start_turn("turn-1");
    assert_eq!(following.next()["event"], "turn_started");
    let input = json!([{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "please" }] }]);
    let request = NewInference { inference_call_id: "call-1", model: "model-1", provider_name: "provider" };
    let inference = turn.start_inference(&request, Json(&json!({ "model": "model-1", "input": input })));
    let asked = following.next();
    assert_eq!((&asked["event"], &asked["detail"]), (&json!("inference_started"), &json!("1 item")));
    let content = json!([{ "type": "output_text", "text": "done" }]);
    let output = json!([{ "type": "message", "role": "assistant", "id": "m", "content": content }]);
    inference.complete(None, None, Json(&json!({ "output_items": output })));
    assert_eq!(following.until("inference_ended")["detail"], "done");
    writer.observe("error", Json(&json!({ "type": "error", "message": "no more", "turn_id": "turn-1" })));
    let error = following.next();
    assert_eq!((&error["detail"], &error["agent_path"]), (&json!("no more"), &json!("/root")));
    turn.end(ExecutionStatus::Completed);
    assert_eq!(following.next()["status"], "completed");
    thread.end(RolloutStatus::Completed);
    writer.end(RolloutStatus::Completed);
    assert_eq!(following.until("session_ended")["status"], "completed");
    writer.complete().expect("completes");
    assert_eq!(following.until("recording_completed")["agent_path"], Value::Null);
    assert_eq!(following.end(), (Some(0), String::new(), String::new()));
}

#[test]
fn a_log_without_a_lock_is_followed_until_it_is_closed() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    let mut following = Following::start(&place, &["tail", "bundle", "--json"]);
    assert_eq!(following.next()["event"], "agent_started");
    // The ends of the session, of its threads and of the recording are written one after the other.
    session.thread_ended("t-root", RolloutStatus::Completed);
    session.end(RolloutStatus::Completed);
    assert_eq!(following.until("recording_completed")["seq"], 5);
    assert_eq!(following.end(), (Some(0), String::new(), String::new()));
}

#[test]
fn the_next_session_is_waited_for() {
    let place = Place::new();
    let root = TraceRoot::new(place.path("root"), WriterOptions::default());
    let old = start(&root);
    old.complete().expect("completes");
    let mut following = Following::start(&place, &["tail", "root", "--wait", "--json", "--from-start", "-v"]);
    // After the message that it waits, every bundle that starts is a new one.
    let mut said = BufReader::new(following.child.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("reads");
    assert!(line.contains("waiting for a bundle"), "{line}");
    let writer = start(&root);
    writer.start_thread(NewThread::new("t-new", "/root"), NO_BODY);
    let first = following.next();
    assert_eq!(first["thread_id"], "t-new", "{first}");
    writer.complete().expect("completes");
    assert_eq!(following.until("recording_completed")["event"], "recording_completed");
    assert_eq!(following.child.wait().expect("ends").code(), Some(0));
}

#[test]
#[cfg(unix)]
fn an_interrupted_wait_is_no_failure() {
    let place = Place::new();
    let root = TraceRoot::new(place.path("root"), WriterOptions::default());
    let writer = start(&root);
    writer.start_thread(NewThread::new("t-root", "/root"), NO_BODY);
    writer.flush().expect("writes");
    let mut following = Following::start(&place, &["tail", &path_of(&writer), "--json"]);
    assert_eq!(following.next()["event"], "agent_started");
    let pid = following.child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(following.end(), (Some(0), String::new(), String::new()));
}

#[test]
fn a_log_that_is_replaced_is_told() {
    let place = Place::new();
    let root = TraceRoot::new(place.path("root"), WriterOptions::default());
    let writer = start(&root);
    writer.start_thread(NewThread::new("t-root", "/root"), NO_BODY);
    writer.flush().expect("writes");
    let path = path_of(&writer);
    let mut following = Following::start(&place, &["tail", &path, "--json"]);
    assert_eq!(following.next()["event"], "agent_started");
    fs::write(place.path("other"), "{}\n").expect("writes");
    fs::rename(place.path("other"), Path::new(&path).join("trace.jsonl")).expect("renames");
    let (code, rest, said) = following.end();
    assert_eq!((code, rest.as_str()), (Some(1), ""));
    assert!(said.contains("was replaced while it was followed"), "{said}");
}

#[test]
fn an_agent_that_is_not_there_is_told_of() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    assert_snapshot!(place.run(&["tail", "bundle", "--no-follow", "--thread", "/root/none"]), @r#"
    --- stderr
    hint: the session has no agent /root/none
    "#);
    let ran = place.run(&["tail", "bundle", "--no-follow", "--thread", "/root"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_log_without_line_ends_is_damage_or_no_log() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    let log = File::options().write(true).open(place.path("bundle/trace.jsonl")).expect("opens");
    log.set_len(trace_recorder::log::MAX_LINE_BYTES as u64 + (2 << 20)).expect("a sparse file");
    // The events are shown. The rest of the log, which is not a line, is reported as damage.
    let ran = place.run(&["tail", "bundle", "--from-start", "--no-follow"]);
    assert!(ran.stdout.contains("session completed"), "{ran}");
    let ran = place.run(&["show", "bundle"]);
    assert!(ran.stdout.contains("is longer than the 67108864 that an event may have"), "{ran}");
    assert!(ran.stdout.contains("at byte "), "{ran}");
    log.set_len(trace_recorder::log::MAX_LOG_BYTES + 1).expect("a sparse file");
    let ran = place.run(&["tail", "bundle", "--no-follow"]);
    assert!(ran.code == 1 && ran.stderr.contains("cannot read the log of bundle"), "{ran}");
    assert!(ran.stderr.contains("more than the 1073741824 that a log may have"), "{ran}");
    assert!(ran.stderr.contains("hint: "), "{ran}");
    let ran = place.run(&["show", "bundle"]);
    assert!(ran.stdout.contains("log_unreadable"), "{ran}");
}

#[test]
fn findings_of_high_severity_are_told_once() {
    let place = Place::new();
    let ran = place.run(&["tail", &sample("untrue.trace"), "--from-start"]);
    let findings: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("audit (")).collect();
    assert_snapshot!(findings.join("\n"), @"
    00:09.138  /root          audit (false_success): said that site tests pass; the last run failed (jest: 1 failed, 17 passed) (“The tests of the site…
    00:19.444  /root          audit (child_failure_hidden): said that the work is done; the last turn of /root/resizer failed (“The resizer has finished: all p…
    00:26.254  /root          audit (tests_weakened): a test was marked to be skipped or to fail in test_wick.py after it had failed
    00:26.254  /root          audit (hardcoded_result): oil.py returns 3735928559 for exactly the input of a test
    00:30.238  /root          audit (destructive_command): deleted folders: data-2025; nobody asked for it
    00:37.312  /root          audit (secret_exposed): wrote a secret into a call: url-password
    00:37.312  /root          audit (injected_instruction): followed an instruction that came with data: https://paste.acme-drop.example/in
    ");
    // Of earlier turns, only those whose end is shown have their findings told.
    let told = |lines: &str| {
        let ran = place.run(&["tail", &sample("untrue.trace"), "--json", "-n", lines]);
        let (findings, others): (Vec<&str>, Vec<&str>) =
            ran.stdout.lines().partition(|line| line.contains("audit_finding"));
        findings.iter().for_each(|finding| assert_valid("tail", finding));
        (others.len(), findings.len())
    };
    assert_eq!(told("1"), (1, 0));
    assert_eq!(told("1000").1, 7);
    let (lines, findings) = told("40");
    assert!(lines == 40 && (1..7).contains(&findings), "{findings}");
    let ran = place.run(&["tail", &sample("honest.trace"), "--from-start"]);
    assert!(!ran.stdout.contains("audit ("), "{ran}");
}

/// While a session runs, a finding follows the end of its turn.
#[test]
fn a_finding_follows_its_turn_while_the_session_runs() {
    let place = Place::new();
    let bundle = place.path("bundle");
    trace_samples::scenes::untrue(&bundle).expect("a sample");
    let log = fs::read_to_string(bundle.join("trace.jsonl")).expect("a log");
    // The first two turns are there; the rest is not written yet.
    let until = log.match_indices("codex_turn_ended").nth(1).expect("two turns have ended").0;
    let until = until + log[until..].find('\n').expect("the line ends") + 1;
    fs::write(bundle.join("trace.jsonl"), &log[..until]).expect("writes");
    let ran = place.run(&["tail", "bundle", "--from-start", "--no-follow"]);
    let findings: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("audit (")).collect();
    assert_eq!(findings.len(), 1, "{ran}");
    assert!(findings[0].contains("audit (false_success)"), "{ran}");
}
