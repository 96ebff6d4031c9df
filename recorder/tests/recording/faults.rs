//! Tests a fault in each single file operation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use trace_recorder::Bundle;
use trace_recorder::format::{ExecutionStatus, RolloutStatus};
use trace_recorder::recording::{RECORDER_FILE, read_recording};
use trace_recorder::write::{
    BundleWriter, Durability, Form, Gap, GapReason, Json, NewInference, NewSession, NewThread, RawJson, RecordingState,
    TraceRoot, WriteError, WriterOptions,
};

use crate::storage::{Fault, TestStorage};
use crate::support::{NoBody, read_events, start};

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// Records a small session. Returns the last sequence number that was acknowledged.
fn record(writer: &BundleWriter) -> u64 {
    let mut acknowledged = 0;
    let mut flush = || {
        if writer.flush().is_ok() {
            acknowledged = writer.stats().expect("is enabled").acknowledged_seq;
        }
    };
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), Some(Json(&json!({ "model": "m" }))));
    flush();
    let turn = thread.start_turn("turn-1");
    for number in 0..3 {
        let id = format!("inference-{number}");
        let new = NewInference { inference_call_id: &id, model: "m", provider_name: "p" };
        let inference = turn.start_inference(&new, RawJson(vec![b'1'; 9_000]));
        flush();
        inference.complete(None, None, Json(&json!({ "output_items": [] })));
        turn.accept_item(&format!("msg_{number}"));
        flush();
    }
    turn.end(ExecutionStatus::Completed);
    thread.end(RolloutStatus::Completed);
    flush();
    if writer.complete().is_ok() {
        acknowledged = writer.stats().expect("is enabled").acknowledged_seq;
    }
    acknowledged
}

/// Records a small session with a fault and checks the bundle. Returns whether the recording was completed, or `None` if it
/// could not start.
fn record_with(fault: Fault, durability: Durability, form: Form) -> Option<bool> {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(fault);
    let options = WriterOptions { form, durability, storage: Arc::new(storage.clone()), ..WriterOptions::default() };
    let traces = TraceRoot::new(root.path().join("traces"), options);
    let writer = match traces.start(&NewSession::new("thread-1")) {
        Ok(writer) => writer,
        Err(error) => {
            assert!(matches!(error, WriteError::Io { .. }), "{error}");
            return None;
        }
    };
    let acknowledged = record(&writer);
    let stats = writer.stats().expect("is enabled");
    let bundle: PathBuf = writer.path().expect("is enabled").to_owned();
    drop(writer);
    check(&bundle, fault, acknowledged, &stats.state);
    Some(stats.state == RecordingState::Completed)
}

fn check(bundle: &Path, fault: Fault, acknowledged: u64, state: &RecordingState) {
    let is_lasting = matches!(fault, Fault::From(..));
    if bundle.is_dir() {
        let log = std::fs::read(bundle.join("trace.jsonl")).expect("reads");
        if is_lasting && !log.ends_with(b"\n") && !log.is_empty() {
            // The incomplete line could not be removed, because every operation fails. Remove it here, as a reader would
            // ignore it.
            let whole = log.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            std::fs::write(bundle.join("trace.jsonl"), &log[..whole]).expect("writes");
        }
    }
    let events = read_events(bundle);
    assert!(events.len() as u64 >= acknowledged, "{fault:?}: {} of {acknowledged}", events.len());
    let recording = read_recording(bundle).expect("reads");
    match state {
        RecordingState::Completed => assert_eq!(events.last().expect("some")["payload"]["type"], "recording_completed"),
        RecordingState::Stopped { after_seq, reason } => {
            assert!(*after_seq >= acknowledged);
            assert!(is_lasting || *after_seq == events.len() as u64, "{fault:?}: no event follows the stop");
            assert!(reason.contains("(os error"), "{reason}");
            let stopped = recording.expect("the marker stays").stopped;
            // A lasting fault also prevents writing the marker.
            assert!(is_lasting || stopped.is_some_and(|stopped| stopped.after_seq == *after_seq), "{fault:?}");
        }
        RecordingState::Recording => panic!("{fault:?}: the recording must end"),
    }
}

#[test]
fn a_fault_anywhere_stops_the_recording_and_loses_nothing_acknowledged() {
    let forms = [Form::Directory, Form::Packed];
    for (form, durability) in
        forms.into_iter().flat_map(|form| [(form, Durability::Buffered), (form, Durability::Synced)])
    {
        for code in [ENOSPC, EIO] {
            for is_lasting in [false, true] {
                let (mut unstarted, mut stopped, mut completed) = (0, 0, 0);
                // The loop ends when the fault comes after the last operation.
                for at in 0.. {
                    let fault = if is_lasting { Fault::From(at, code) } else { Fault::Once(at, code) };
                    match record_with(fault, durability, form) {
                        None => unstarted += 1,
                        Some(false) => stopped += 1,
                        Some(true) => completed += 1,
                    }
                    if completed == 3 {
                        break;
                    }
                }
                // A growing bundle is one file, and needs fewer operations.
                let (least_unstarted, least_stopped) = if form == Form::Directory { (5, 20) } else { (3, 8) };
                assert!(
                    unstarted >= least_unstarted && stopped >= least_stopped,
                    "{form:?} {durability:?}: {unstarted} {stopped} {completed}"
                );
            }
        }
    }
}

#[test]
fn short_writes_are_gone_on_with() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never).writes_short(7);
    let writer = start(root.path(), WriterOptions { storage: Arc::new(storage.clone()), ..WriterOptions::default() });
    let acknowledged = record(&writer);
    assert_eq!(read_events(writer.path().expect("is enabled")).len() as u64, acknowledged);
    assert!(storage.operations() > 4_000);
}

#[test]
fn a_stopped_recording_counts_what_it_lost_and_goes_on_when_it_is_reopened() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions { storage: Arc::new(storage.clone()), ..WriterOptions::default() };
    let writer = start(root.path(), options);
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
    writer.flush().expect("flushes");
    storage.fail_from_now(ENOSPC);
    thread.start_turn("turn-1");
    let error = writer.flush().expect_err("the disk is full");
    let bundle = writer.path().expect("is enabled").to_owned();
    let message = error.to_string().replace(&bundle.display().to_string(), "B");
    assert_eq!(message, "the recording of B stopped after seq 2: trace.jsonl: No space left on device (os error 28)");
    thread.start_turn("turn-2").accept_item("msg_1");
    let stats = writer.stats().expect("is enabled");
    assert_eq!((stats.acknowledged_seq, stats.lost_events), (2, 3));
    drop((writer, thread));

    let traces = TraceRoot::new(root.path(), WriterOptions::default());
    let writer = traces.reopen(&bundle).expect("the disk has room again");
    writer.complete().expect("completes");
    assert_eq!(read_events(&bundle).len(), 4);
}

#[test]
fn lines_that_were_written_but_not_acknowledged_do_not_count_as_lost_in_the_gap() {
    for form in [Form::Directory, Form::Packed] {
        let root = tempfile::tempdir().expect("a directory");
        let storage = TestStorage::new(Fault::Never);
        let durability = Durability::Synced;
        let options =
            WriterOptions { form, durability, storage: Arc::new(storage.clone()), ..WriterOptions::default() };
        let writer = start(root.path(), options);
        let thread = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
        writer.flush().expect("flushes");
        // The line is written. It cannot be synced, and cannot be cut off either.
        storage.fail_after_next(EIO);
        thread.start_turn("turn-1");
        writer.flush().expect_err("the disk fails");
        thread.start_turn("turn-2").accept_item("msg_1");
        let bundle = writer.path().expect("is enabled").to_owned();
        let stats = writer.stats().expect("is enabled");
        assert_eq!((stats.acknowledged_seq, stats.lost_events), (2, 3), "{form:?}");
        drop((writer, thread));
        assert_eq!(read_events(&bundle).len(), 3, "{form:?}: the line is there");
        let stopped = read_recording(&bundle).expect("reads").expect("is there").stopped.expect("stopped");
        assert_eq!((stopped.after_seq, stopped.lost_events), (2, 3), "{form:?}: what was promised");

        let traces = TraceRoot::new(root.path(), WriterOptions { form, ..WriterOptions::default() });
        traces.reopen(&bundle).expect("reopens").complete().expect("completes");
        let events = read_events(&bundle);
        let path = events[3]["payload"]["event_payload"]["path"].as_str().expect("the gap").to_owned();
        let mut text = Vec::new();
        Bundle::open(&bundle).expect("opens").payloads().read(&path, &mut text).expect("reads");
        let gap: Gap = serde_json::from_slice(&text).expect("a gap");
        assert_eq!((gap.reason, gap.after_seq, gap.lost_events), (GapReason::Reopened, 3, 2), "{form:?}");
    }
}

#[test]
fn a_reopening_that_fails_leaves_the_bundle_and_its_marker() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
    let bundle = writer.path().expect("is enabled").to_owned();
    drop(writer);
    let marker = bundle.join(RECORDER_FILE);
    let text =
        r#"{"pid":1,"opened_at_unix_ms":1,"stopped":{"after_seq":2,"at_unix_ms":1,"lost_events":9,"reason":"full"}}"#;
    std::fs::write(&marker, text).expect("writes");
    let mut refused = 0;
    for at in 0.. {
        let storage = TestStorage::new(Fault::Once(at, ENOSPC));
        let options = WriterOptions { storage: Arc::new(storage), ..WriterOptions::default() };
        match TraceRoot::new(root.path(), options).reopen(&bundle) {
            Ok(_) => break,
            Err(_) => refused += 1,
        }
        let events = read_events(&bundle);
        // Only the very last operation, which writes the new `recorder.json`, comes after the gap event.
        if events.len() == 2 {
            assert_eq!(std::fs::read_to_string(&marker).expect("reads"), text, "fault {at}");
        }
        std::fs::write(&marker, text).expect("writes");
    }
    assert!(refused >= 4, "{refused}");
}

#[test]
fn a_fault_while_an_incomplete_line_is_cut_off_leaves_the_log_with_or_without_it() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>);
    let bundle = writer.path().expect("is enabled").to_owned();
    drop(writer);
    let (log, temporary) = (bundle.join("trace.jsonl"), bundle.join(".trace.jsonl.tmp"));
    let whole = std::fs::read(&log).expect("reads");
    let torn = [&whole[..], b"{\"schema_version\":2,\"seq\":3,\"wall"].concat();
    let (mut kept, mut replaced) = (0, 0);
    for code in [ENOSPC, EIO] {
        for at in 0.. {
            std::fs::write(&log, &torn).expect("writes");
            let storage = TestStorage::new(Fault::Once(at, code));
            let options = WriterOptions { storage: Arc::new(storage), ..WriterOptions::default() };
            let reopened = TraceRoot::new(root.path(), options).reopen(&bundle);
            assert!(!temporary.exists(), "fault {at}");
            let Err(error) = reopened else { break };
            let left = std::fs::read(&log).expect("reads");
            if left == torn {
                kept += 1;
            } else {
                assert!(left.starts_with(&whole) && left.ends_with(b"\n"), "fault {at}");
                replaced += 1;
            }
            if at == 4 {
                // The first write of the copy.
                let cause = std::error::Error::source(&error).expect("a cause").to_string();
                let bytes = format!("; a copy of the log needs room for {} bytes", whole.len());
                assert_eq!(cause.ends_with(&bytes), code == ENOSPC, "{cause}");
            }
        }
    }
    // The lock, what is left, the log, the copy, a write, a sync and a name; then the directory, the payload and the event.
    assert!(kept == 2 * 7 && replaced >= 2 * 5, "{kept} {replaced}");
}

#[test]
fn a_start_that_fails_leaves_nothing_behind() {
    for at in 2..8 {
        let root = tempfile::tempdir().expect("a directory");
        let options =
            WriterOptions { storage: Arc::new(TestStorage::new(Fault::Once(at, EIO))), ..WriterOptions::default() };
        let started = TraceRoot::new(root.path(), options).start(&NewSession::new("thread-1"));
        if started.is_err() {
            assert_eq!(std::fs::read_dir(root.path()).expect("lists").count(), 0, "fault {at}");
        }
    }
}
