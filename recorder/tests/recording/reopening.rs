//! Tests continuing a bundle whose recorder is gone.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use trace_recorder::Bundle;
use trace_recorder::format::{ExecutionStatus, RolloutStatus};
use trace_recorder::recording::{RECORDER_FILE, read_recording};
use trace_recorder::retention::delete;
use trace_recorder::write::{GAP_EVENT, Json, NewThread, TraceRoot, WriteError, WriterOptions};

use crate::support::{NoBody, document, read_events, start, types};

/// Makes a bundle with four events, in the state in which a dead process leaves it.
fn left_bundle(root: &Path) -> PathBuf {
    let writer = start(root, WriterOptions::default());
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), Some(Json(&1)));
    thread.start_turn("turn-1").end(ExecutionStatus::Completed);
    writer.path().expect("is enabled").to_owned()
}

fn append(bundle: &Path, bytes: &[u8]) {
    let mut log = OpenOptions::new().append(true).open(bundle.join("trace.jsonl")).expect("opens");
    log.write_all(bytes).expect("writes");
}

fn traces(root: &Path) -> TraceRoot {
    TraceRoot::new(root, WriterOptions::default())
}

#[test]
fn a_bundle_goes_on_behind_its_last_whole_line() {
    for tail in ["", "{\"schema_version\":2,\"seq\":5,\"wall", "{}", "\u{fffd}"] {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = left_bundle(root.path());
        append(&bundle, tail.as_bytes());
        // A payload whose event was never written.
        std::fs::write(bundle.join("payloads/7.json"), "{").expect("writes");
        let writer = traces(root.path()).reopen(&bundle).expect("reopens");
        let thread = writer.thread("thread-1").expect("is known");
        thread.start_turn("turn-2").end(ExecutionStatus::Completed);
        thread.end(RolloutStatus::Completed);
        writer.complete().expect("completes");
        let events = read_events(&bundle);
        assert_eq!(
            types(&events)[4..],
            [
                "protocol_event_observed",
                "codex_turn_started",
                "codex_turn_ended",
                "thread_ended",
                "recording_completed"
            ]
        );
        assert_eq!(events[4]["payload"]["event_type"], GAP_EVENT);
        assert_eq!(events[4]["payload"]["event_payload"]["path"], "payloads/8.json");
        assert_eq!(
            document(&bundle, &events[4], "event_payload"),
            json!({ "reason": "reopened", "after_seq": 4, "dropped_bodies": 0, "dropped_bytes": 0, "lost_events": 0 })
        );
        drop(writer);
        assert!(!bundle.join(RECORDER_FILE).exists());
    }
}

#[test]
#[cfg(unix)]
fn a_log_that_others_may_read_stays_open_to_them_when_its_incomplete_line_is_cut_off() {
    use std::os::unix::fs::PermissionsExt;

    for mode in [0o640, 0o604, 0o600] {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = left_bundle(root.path());
        append(&bundle, b"{");
        let log = bundle.join("trace.jsonl");
        std::fs::set_permissions(&log, PermissionsExt::from_mode(mode)).expect("sets");
        traces(root.path()).reopen(&bundle).expect("reopens").complete().expect("completes");
        assert_eq!(std::fs::metadata(&log).expect("is there").permissions().mode() & 0o777, mode);
        read_events(&bundle);
    }
}

#[test]
fn a_reader_keeps_a_log_whose_incomplete_line_is_cut_off() {
    let root = tempfile::tempdir().expect("a directory");
    let bundle = left_bundle(root.path());
    // Large enough to be mapped, and to lose whole pages.
    append(&bundle, &[b'x'; 1 << 20]);
    let read = Bundle::open(&bundle).expect("opens");
    let before = std::fs::read(bundle.join("trace.jsonl")).expect("reads");
    traces(root.path()).reopen(&bundle).expect("reopens").complete().expect("completes");
    assert!(read.log().expect("a log").as_bytes() == before);
    assert!(std::fs::metadata(bundle.join("trace.jsonl")).expect("is there").len() < 1 << 20);
    assert_eq!(read_events(&bundle).len(), 6);
}

#[test]
fn a_last_line_that_only_lacks_its_line_feed_is_kept() {
    let root = tempfile::tempdir().expect("a directory");
    let bundle = left_bundle(root.path());
    let log = bundle.join("trace.jsonl");
    let text = std::fs::read_to_string(&log).expect("reads");
    std::fs::write(&log, text.trim_end()).expect("writes");
    traces(root.path()).reopen(&bundle).expect("reopens").complete().expect("completes");
    assert_eq!(read_events(&bundle).len(), 6);
}

#[test]
fn what_cannot_be_gone_on_with_is_left_as_it_is() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 5] = [
        ("the recording of B is complete", |bundle| {
            append(bundle, b"{\"schema_version\":2,\"seq\":5,\"wall_time_unix_ms\":1,\"rollout_id\":\"thread-1\",\"thread_id\":null,\"codex_turn_id\":null,\"payload\":{\"type\":\"recording_completed\"}}\n");
        }),
        ("B cannot be continued: line 5: not an event: missing field `schema_version` at line 1 column 2", |bundle| {
            append(bundle, b"{}\n");
        }),
        ("B cannot be continued: line 4: seq 5 does not follow 3", |bundle| {
            let log = bundle.join("trace.jsonl");
            let text = std::fs::read_to_string(&log).expect("reads").replace("\"seq\":4", "\"seq\":5");
            std::fs::write(&log, text).expect("writes");
        }),
        ("cannot record to B/manifest.json", |bundle| {
            std::fs::remove_file(bundle.join("manifest.json")).expect("removes");
        }),
        ("cannot record to B/payloads", |bundle| {
            std::fs::remove_dir_all(bundle.join("payloads")).expect("removes");
        }),
    ];
    for (expected, damage) in cases {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = left_bundle(root.path());
        damage(&bundle);
        let marker = bundle.join(RECORDER_FILE);
        std::fs::write(&marker, r#"{"pid":1,"opened_at_unix_ms":2}"#).expect("writes");
        let before = [&bundle.join("trace.jsonl"), &marker].map(|path| std::fs::read(path).expect("reads"));
        let error = traces(root.path()).reopen(&bundle).expect_err(expected);
        assert_eq!(error.to_string().replace(&bundle.display().to_string(), "B"), expected);
        let after = [&bundle.join("trace.jsonl"), &marker].map(|path| std::fs::read(path).expect("reads"));
        assert_eq!(after, before);
        std::fs::remove_file(&marker).expect("removes");
        traces(root.path()).reopen(&bundle).expect_err(expected);
        assert!(!marker.exists(), "a failed attempt removes the lock file that it created");
    }
}

#[test]
fn a_stale_lock_is_taken_over_and_a_live_one_is_not() {
    let root = tempfile::tempdir().expect("a directory");
    let bundle = left_bundle(root.path());
    let stale = read_recording(&bundle).expect("reads").expect("the dead recorder's file is there");
    assert_eq!(stale.pid, std::process::id());
    let writer = traces(root.path()).reopen(&bundle).expect("takes over");
    assert!(matches!(traces(root.path()).reopen(&bundle), Err(WriteError::Locked { .. })));
    drop(writer);
    let writer = traces(root.path()).reopen(&bundle).expect("takes over again");
    writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
    writer.complete().expect("completes");
    let events = read_events(&bundle);
    assert_eq!(types(&events).iter().filter(|event| **event == "thread_started").count(), 1);
}

#[test]
fn a_bundle_is_either_gone_on_with_or_deleted() {
    for _ in 0..20 {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = left_bundle(root.path());
        let (reopened, deleted) = std::thread::scope(|scope| {
            let reopened = scope.spawn(|| traces(root.path()).reopen(&bundle));
            let deleted = delete(&bundle);
            (reopened.join().expect("no panic"), deleted)
        });
        assert_ne!(reopened.is_ok(), deleted.is_ok(), "{reopened:?} {deleted:?}");
        assert_eq!(bundle.exists(), reopened.is_ok());
        if let Ok(writer) = reopened {
            writer.complete().expect("the reopened bundle is complete");
        }
    }
}

#[test]
fn links_of_a_strangers_bundle_are_not_written_through() {
    for name in ["trace.jsonl", "payloads", RECORDER_FILE] {
        let root = tempfile::tempdir().expect("a directory");
        let bundle = left_bundle(root.path());
        let (inside, outside) = (bundle.join(name), root.path().join("outside"));
        std::fs::rename(&inside, &outside).expect("renames");
        std::os::unix::fs::symlink(&outside, &inside).expect("links");
        let before = outside.is_file().then(|| std::fs::read(&outside).expect("reads"));
        traces(root.path()).reopen(&bundle).expect_err(name);
        assert_eq!(outside.is_file().then(|| std::fs::read(&outside).expect("reads")), before);
    }
}

#[test]
fn a_missing_payloads_number_is_not_given_away() {
    let root = tempfile::tempdir().expect("a directory");
    let bundle = left_bundle(root.path());
    std::fs::remove_file(bundle.join("payloads/1.json")).expect("removes");
    traces(root.path()).reopen(&bundle).expect("reopens").complete().expect("completes");
    assert!(!bundle.join("payloads/1.json").exists());
    assert!(bundle.join("payloads/2.json").exists());
}

#[test]
fn what_has_ended_or_begun_once_does_not_again() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
    thread.start_turn("turn-1").end(ExecutionStatus::Completed);
    thread.start_turn("turn-2");
    writer.end(RolloutStatus::Completed);
    let bundle = writer.path().expect("is enabled").to_owned();
    drop((writer, thread));
    let writer = traces(root.path()).reopen(&bundle).expect("reopens");
    let thread = writer.thread("thread-1").expect("is known");
    thread.start_turn("turn-1").end(ExecutionStatus::Failed);
    thread.start_turn("turn-2").end(ExecutionStatus::Completed);
    writer.end(RolloutStatus::Failed);
    writer.complete().expect("completes");
    assert_eq!(
        types(&read_events(&bundle))[6..],
        ["protocol_event_observed", "codex_turn_ended", "recording_completed"]
    );
}

#[test]
fn a_bundle_of_schema_1_is_not_gone_on_with() {
    let root = tempfile::tempdir().expect("a directory");
    let bundle = left_bundle(root.path());
    let path = bundle.join("manifest.json");
    let text = std::fs::read_to_string(&path).expect("reads");
    std::fs::write(&path, text.replace("\"schema_version\": 2", "\"schema_version\": 1")).expect("writes");
    let error = traces(root.path()).reopen(&bundle).expect_err("is no longer written");
    assert!(error.to_string().ends_with("schema 1 is no longer written"), "{error}");
}
