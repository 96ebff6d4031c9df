//! Tests a disk that is slower than the session, and many threads at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use trace_recorder::recording::read_recording;
use trace_recorder::write::{
    DROPPED_MEMBER, GAP_EVENT, Json, NewInference, NewThread, RawJson, RecordingState, WriteError, WriterOptions,
};

use crate::storage::{Fault, TestStorage};
use crate::support::{NoBody, document, read_events, start};

fn request(number: usize) -> RawJson {
    let text = "x".repeat(20_000);
    RawJson(json!({ "model": "m", "number": number, "input": [{ "text": text }] }).to_string().into_bytes())
}

#[test]
fn bodies_are_dropped_while_the_disk_stands_still_and_events_are_not() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        queued_body_bytes: 50_000,
        max_block: Duration::from_millis(1),
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    let turn = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>).start_turn("turn-1");
    writer.flush().expect("flushes");
    storage.stand_still();
    for number in 0..10 {
        let id = format!("inference-{number}");
        let new = NewInference { inference_call_id: &id, model: "m", provider_name: "p" };
        turn.start_inference(&new, request(number)).complete(None, None, Json(&json!({ "output_items": [] })));
    }
    let stats = writer.stats().expect("is enabled");
    assert_eq!((stats.state, stats.dropped_bodies, stats.waits > 0), (RecordingState::Recording, 8, true));
    storage.go_on();
    writer.flush().expect("flushes");
    turn.start_inference(&NewInference { inference_call_id: "later", model: "m", provider_name: "p" }, request(10));
    writer.complete().expect("completes");

    let bundle = writer.path().expect("is enabled");
    let events = read_events(bundle);
    let requests: Vec<Value> = events
        .iter()
        .filter(|event| event["payload"]["type"] == "inference_started")
        .map(|event| document(bundle, event, "request_payload"))
        .collect();
    assert_eq!(requests.len(), 11);
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(request["number"], number);
        let is_dropped = (2..10).contains(&number);
        assert_eq!(request.get(DROPPED_MEMBER).is_some(), is_dropped, "{number}");
        assert_eq!(request["input"].as_array().expect("stays a list").is_empty(), is_dropped);
    }
    let gaps: Vec<Value> = events
        .iter()
        .filter(|event| event["payload"]["event_type"] == GAP_EVENT)
        .map(|event| document(bundle, event, "event_payload"))
        .collect();
    let bytes = request(2).0.len() * 8;
    assert_eq!(
        gaps,
        [json!({
            "reason": "queue_full",
            "after_seq": 7,
            "dropped_bodies": 8,
            "dropped_bytes": bytes,
            "lost_events": 0,
        })]
    );
}

#[test]
fn a_disk_that_stands_still_for_good_ends_the_recording_and_not_the_session() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        queued_line_bytes: 10_000,
        max_block: Duration::from_millis(1),
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    let turn = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>).start_turn("turn-1");
    writer.flush().expect("flushes");
    storage.stand_still();
    (0..1_000).for_each(|number| turn.accept_item(&format!("msg_{number}")));
    let stats = writer.stats().expect("is enabled");
    assert!(matches!(stats.state, RecordingState::Stopped { .. }));
    assert_eq!(stats.last_seq + stats.lost_events, 1_003);
    storage.go_on();
    let error = writer.flush().expect_err("it has stopped");
    let WriteError::Stopped { after_seq, .. } = error else { panic!("{error}") };
    assert_eq!(after_seq, stats.last_seq, "all accepted events are written");
    turn.accept_item("msg_1000");
    let bundle = writer.path().expect("is enabled").to_owned();
    drop((writer, turn));
    let events = read_events(&bundle);
    assert_eq!(events.len() as u64, after_seq);
    let stopped = read_recording(&bundle).expect("reads").expect("stays").stopped.expect("stopped");
    assert_eq!((stopped.after_seq, stopped.lost_events), (after_seq, 1_004 - after_seq));
}

#[test]
fn a_gap_is_told_even_if_the_session_goes_without_an_end() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        queued_body_bytes: 10_000,
        max_block: Duration::ZERO,
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    let bundle = writer.path().expect("is enabled").to_owned();
    writer.flush().expect("flushes");
    storage.stand_still();
    (0..3).for_each(|number| writer.observe("warning", request(number)));
    storage.go_on();
    drop(writer);
    let events = read_events(&bundle);
    let last = events.last().expect("some");
    assert_eq!(last["payload"]["event_type"], GAP_EVENT);
    assert_eq!(document(&bundle, last, "event_payload")["dropped_bodies"], 2);
}

#[test]
fn a_session_does_not_wait_for_ever_for_a_dead_disk() {
    let root = tempfile::tempdir().expect("a directory");
    let storage = TestStorage::new(Fault::Never);
    let options = WriterOptions {
        max_close: Duration::from_millis(10),
        storage: Arc::new(storage.clone()),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    let bundle = writer.path().expect("is enabled").to_owned();
    writer.flush().expect("flushes");
    storage.stand_still();
    writer.observe("warning", Json(&1));
    drop(writer);
    assert_eq!(read_events(&bundle).len(), 1);
    storage.go_on();
}

#[test]
fn sixty_four_threads_record_without_gap_and_each_in_its_order() {
    const PRODUCERS: usize = 64;
    const EVENTS: usize = 150;
    let root = tempfile::tempdir().expect("a directory");
    // There is so little room that threads must wait for it.
    let options = WriterOptions {
        queued_line_bytes: 64 << 10,
        queued_body_bytes: 256 << 10,
        max_block: Duration::from_secs(60),
        ..WriterOptions::default()
    };
    let writer = start(root.path(), options);
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let writer = writer.clone();
            scope.spawn(move || {
                let id = format!("thread-{producer}");
                let path = format!("/root/agent_{producer}");
                let thread = writer.start_thread(NewThread::new(&id, &path), Some(Json(&producer)));
                let turn = thread.start_turn(&format!("turn-{producer}"));
                for number in 0..EVENTS {
                    if number % 10 == 9 {
                        let id = format!("{producer}-{number}");
                        let new = NewInference { inference_call_id: &id, model: "m", provider_name: "p" };
                        turn.start_inference(&new, request(number));
                    } else {
                        turn.accept_item(&format!("{producer}-{number}"));
                    }
                    if number % 50 == 0 {
                        writer.flush().expect("flushes");
                    }
                }
            });
        }
    });
    writer.complete().expect("completes");
    let stats = writer.stats().expect("is enabled");
    assert_eq!((stats.dropped_bodies, stats.lost_events), (0, 0));
    // `read_events` checks that there is no gap.
    let events = read_events(writer.path().expect("is enabled"));
    assert_eq!(events.len(), 2 + PRODUCERS * (2 + EVENTS));
    let mut next: HashMap<String, usize> = HashMap::new();
    for event in &events {
        let payload = &event["payload"];
        let id = payload["item_id"].as_str().or_else(|| payload["inference_call_id"].as_str());
        let Some((producer, number)) = id.and_then(|id| id.split_once('-')) else { continue };
        assert_eq!(event["thread_id"], format!("thread-{producer}"));
        let expected = next.entry(producer.to_owned()).or_default();
        assert_eq!(number, expected.to_string());
        *expected += 1;
    }
    assert!(next.len() == PRODUCERS && next.values().all(|count| *count == EVENTS));
}
