//! Tests misbehaving callers and extreme options.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::json;
use trace_recorder::format::{ExecutionStatus, RolloutStatus};
use trace_recorder::recording::is_being_recorded;
use trace_recorder::write::{
    Body, BundleWriter, CellTrace, CompactionTrace, Durability, InferenceTrace, IntoBody, Json, KEPT_TEXT_BYTES, Later,
    MAX_EVENT_BYTES, NO_BODY, NewInference, NewThread, RawJson, RecordingState, SMALL_BODY_BYTES, ThreadTrace,
    ToolTrace, TraceRoot, TurnTrace, WriteError, WriterOptions,
};

use crate::storage::{Fault, TestStorage};
use crate::support::{document, read_events, start, types};

#[test]
fn handles_and_errors_go_anywhere() {
    fn anywhere<T: Send + Sync + 'static>() {}

    anywhere::<(TraceRoot, BundleWriter, ThreadTrace, TurnTrace, InferenceTrace, ToolTrace)>();
    anywhere::<(CellTrace, CompactionTrace, WriteError)>();
}

struct Panicking;

impl Serialize for Panicking {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bug of the caller's")
    }
}

#[test]
fn a_panicking_value_leaves_a_whole_thread() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    writer.start_thread(NewThread::new("thread-1", "/root"), Some(Json(&Panicking))).start_turn("turn-1");
    writer.complete().expect("completes");
    let bundle = writer.path().expect("is enabled");
    let events = read_events(bundle);
    assert_eq!(types(&events)[1..3], ["thread_started", "codex_turn_started"]);
    let expected = json!({ "trace_dropped": { "bytes": null, "reason": "not_serializable" } });
    assert_eq!(document(bundle, &events[1], "metadata_payload"), expected);
}

#[test]
fn an_end_and_a_resumption_at_the_same_time_stand_in_their_order() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    let trace = writer.start_thread(NewThread::new("thread-1", "/root"), NO_BODY);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|_| trace.end(RolloutStatus::Completed)));
            scope.spawn(|| (0..200).for_each(|_| trace.resume()));
        }
    });
    writer.complete().expect("completes");
    let events = read_events(writer.path().expect("is enabled"));
    let events = types(&events);
    for (number, event) in events[2..events.len() - 1].iter().enumerate() {
        assert_eq!(*event, if number % 2 == 0 { "thread_ended" } else { "thread_resumed" });
    }
}

#[test]
fn many_threads_may_start_the_same_thread_and_turn() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let trace = writer.start_thread(NewThread::new("thread-1", "/root"), NO_BODY);
                trace.start_turn("turn-1").end(ExecutionStatus::Completed);
            });
        }
    });
    writer.complete().expect("completes");
    let events = read_events(writer.path().expect("is enabled"));
    assert_eq!(types(&events)[1..4], ["thread_started", "codex_turn_started", "codex_turn_ended"]);
    assert_eq!(events.len(), 5);
}

#[test]
fn an_endless_text_is_cut_and_ends_nothing() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions { queued_line_bytes: 4 << 20, ..WriterOptions::default() });
    let turn = writer.start_thread(NewThread::new("thread-1", "/root"), NO_BODY).start_turn("turn-1");
    let new = NewInference { inference_call_id: "inference-1", model: "m", provider_name: "p" };
    turn.start_inference(&new, Json(&json!({}))).fail(None, &"\u{e9}".repeat(10 << 20), NO_BODY);
    turn.start_inference(&new, Json(&json!({}))).fail(None, &"x".repeat(MAX_EVENT_BYTES / 2), NO_BODY);
    writer.complete().expect("completes");
    let events = read_events(writer.path().expect("is enabled"));
    let error = |index: usize| events[index]["payload"]["error"].as_str().expect("a text");
    assert!(error(4).len() <= KEPT_TEXT_BYTES + 40, "{}", error(4).len());
    assert!(error(4).ends_with(&format!(" [dropped: {} bytes]", (20 << 20) - KEPT_TEXT_BYTES)));
    assert_eq!(error(6).len(), MAX_EVENT_BYTES / 2);
}

#[test]
fn what_a_dying_thread_records_is_recorded() {
    struct EndsTurn(TurnTrace);

    impl Drop for EndsTurn {
        fn drop(&mut self) {
            self.0.end(ExecutionStatus::Aborted);
        }
    }

    thread_local! {
        static GUARD: RefCell<Option<EndsTurn>> = const { RefCell::new(None) };
    }

    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    let trace = writer.start_thread(NewThread::new("thread-1", "/root"), NO_BODY);
    thread::spawn(move || {
        // The guard is created before the buffer of the thread, so it is dropped after the buffer.
        GUARD.with(|guard| guard.replace(None));
        let turn = trace.start_turn("turn-1");
        GUARD.with(|guard| guard.replace(Some(EndsTurn(turn))));
    })
    .join()
    .expect("ends");
    writer.complete().expect("completes");
    assert_eq!(types(&read_events(writer.path().expect("is enabled")))[3], "codex_turn_ended");
}

#[test]
fn options_and_sizes_without_measure_are_taken_for_what_they_mean() {
    let root = tempfile::tempdir().expect("a directory");
    let options = WriterOptions {
        max_block: Duration::MAX,
        max_close: Duration::MAX,
        queued_body_bytes: usize::MAX,
        queued_line_bytes: usize::MAX,
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    (0..3).for_each(|number| writer.observe("warning", Later { value: number, bytes: usize::MAX }));
    writer.complete().expect("completes");
    assert_eq!(read_events(writer.path().expect("is enabled")).len(), 5);
    // Events may be collected without limit until a caller waits for them.
    let writer = start(root.path(), WriterOptions { max_linger: Duration::MAX, ..WriterOptions::default() });
    writer.observe("warning", Json(&1));
    writer.flush().expect("flushes");
    writer.complete().expect("completes");
}

#[test]
fn ending_a_recording_on_a_dead_disk_takes_no_longer_than_it_may() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        max_close: Duration::from_millis(20),
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    writer.flush().expect("flushes");
    storage.stand_still();
    writer.observe("warning", Json(&1));
    let error = writer.flush_within(Duration::from_millis(5)).expect_err("the disk is blocked");
    assert!(matches!(error, WriteError::Unfinished { acknowledged_seq: 1, .. }), "{error}");
    let error = writer.complete().expect_err("the disk is blocked");
    assert!(matches!(error, WriteError::Unfinished { .. }), "{error}");
    storage.go_on();
    writer.flush().expect("flushes");
    assert_eq!(writer.stats().expect("is enabled").state, RecordingState::Completed);
}

#[test]
fn a_body_that_holds_the_last_handle_holds_nobody_up() {
    struct Holds(mpsc::Sender<()>, Mutex<Option<BundleWriter>>);

    impl Serialize for Holds {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit()
        }
    }

    impl Drop for Holds {
        fn drop(&mut self) {
            drop(self.1.lock().expect("no panic").take());
            let _ = self.0.send(());
        }
    }

    let root = tempfile::tempdir().expect("a directory");
    let options = WriterOptions { max_close: Duration::from_secs(600), ..WriterOptions::default() };
    let writer = start(root.path(), options);
    let bundle = writer.path().expect("is enabled").to_owned();
    let (sender, dropped) = mpsc::channel();
    let value = Holds(sender, Mutex::new(Some(writer.clone())));
    writer.observe("warning", Later { value, bytes: 4 });
    drop(writer);
    dropped.recv_timeout(Duration::from_secs(60)).expect("the writer does not wait for itself");
    while is_being_recorded(&bundle).expect("asks") {
        thread::yield_now();
    }
    assert_eq!(read_events(&bundle).len(), 2);
}

#[test]
fn after_a_stop_no_body_is_made() {
    struct Counted<'c>(&'c mut usize);

    impl IntoBody for Counted<'_> {
        fn into_body(self) -> Body {
            *self.0 += 1;
            RawJson(b"1".to_vec()).into_body()
        }
    }

    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let writer = start(root.path(), WriterOptions { storage: Arc::new(storage.clone()), ..WriterOptions::default() });
    writer.flush().expect("flushes");
    storage.fail_from_now(28);
    let mut made = 0;
    writer.observe("warning", Counted(&mut made));
    writer.flush().expect_err("the disk is full");
    (0..10).for_each(|_| writer.observe("warning", Counted(&mut made)));
    // The first refused event sets the flag that spares the later ones.
    assert_eq!(made, 2);
    assert_eq!(writer.stats().expect("is enabled").lost_events, 11);
}

#[test]
fn files_that_wait_for_their_sync_are_few() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        durability: Durability::Synced,
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    writer.flush().expect("flushes");
    storage.stand_still();
    (0..1_000).for_each(|number| writer.observe("warning", Json(&number)));
    storage.go_on();
    writer.complete().expect("completes");
    assert!(storage.most_open_files() <= 64 + 8, "{}", storage.most_open_files());
}

#[test]
fn small_bodies_travel_with_their_events_until_only_events_have_room() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        queued_line_bytes: 100_000,
        queued_body_bytes: 1,
        max_block: Duration::ZERO,
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    writer.flush().expect("flushes");
    storage.stand_still();
    let body = |bytes: usize| RawJson(format!("\"{}\"", "x".repeat(bytes - 2)).into_bytes());
    let dropped = || writer.stats().expect("is enabled").dropped_bodies;
    writer.observe("warning", body(SMALL_BODY_BYTES + 1));
    assert_eq!(dropped(), 0, "a single body may exceed the limit");
    writer.observe("warning", body(SMALL_BODY_BYTES));
    assert_eq!(dropped(), 0);
    writer.observe("warning", body(SMALL_BODY_BYTES + 1));
    assert_eq!(dropped(), 1);
    (0..60).for_each(|_| writer.observe("warning", body(SMALL_BODY_BYTES)));
    let stats = writer.stats().expect("is enabled");
    assert_eq!(stats.state, RecordingState::Recording, "bodies are dropped, the recording continues");
    assert!(stats.dropped_bodies > 40, "{}", stats.dropped_bodies);
    storage.go_on();
    writer.complete().expect("completes");
    assert_eq!(read_events(writer.path().expect("is enabled")).len(), 1 + 63 + 2);
}
