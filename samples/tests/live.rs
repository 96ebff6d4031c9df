//! Checks that the reducer accepts the bundles of the live writer.

use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use serde::{Serialize, Serializer};
use trace_recorder::Bundle;
use trace_recorder::recording::{RECORDER_FILE, Recording, Stopped};
use trace_recorder::write::{Later, NewSession, RecordingState, TraceRoot, WriterOptions};
use trace_reducer::{Code, Options, Reduction, reduce};
use trace_samples::live::{LiveSession, ROOT_THREAD_ID, run};

fn session(children: usize, steps: usize) -> LiveSession {
    LiveSession { children, steps, output_bytes: 600, model_latency: Duration::ZERO, command_latency: Duration::ZERO }
}

fn reduce_strictly(path: &Path) -> Reduction {
    let bundle = Bundle::open(path).expect("opens");
    reduce(&bundle, Options { strict: true, ..Options::default() }).expect("a strict reduction accepts it")
}

#[test]
fn a_tree_of_agents_on_threads_of_their_own_records_one_bundle() {
    let root = tempfile::tempdir().expect("a directory");
    let root = TraceRoot::new(root.path().join("traces"), WriterOptions::default());
    let writer = root.start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    run(&writer, &session(4, 12), &|| ());
    writer.complete().expect("completes");
    let stats = writer.stats().expect("is enabled");
    assert_eq!(stats.state, RecordingState::Completed);
    assert_eq!(stats.acknowledged_seq, stats.last_seq);
    assert_eq!((stats.dropped_bodies, stats.lost_events), (0, 0));
    let reduction = reduce_strictly(writer.path().expect("is enabled"));
    assert_eq!(reduction.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(reduction.trace.threads.len(), 5);
    assert_eq!(reduction.trace.inferences.len(), 5 * 13 + 4);
    assert_eq!(reduction.trace.tools.len(), 5 * 12 + 4);
    assert_eq!(reduction.trace.edges.len(), 8);
}

/// A value that blocks the writer's thread until the test releases it.
struct Held(Mutex<mpsc::Receiver<()>>);

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let _ = self.0.lock().expect("no panic").recv();
        serializer.serialize_str("held")
    }
}

#[test]
fn a_session_that_was_faster_than_its_disk_still_reduces_and_says_so() {
    let root = tempfile::tempdir().expect("a directory");
    let options = WriterOptions { queued_body_bytes: 50_000, max_block: Duration::ZERO, ..WriterOptions::default() };
    let writer = TraceRoot::new(root.path(), options).start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    let (release, held) = mpsc::channel();
    writer.observe("warning", Later { value: Held(Mutex::new(held)), bytes: 6 });
    run(&writer, &session(2, 12), &|| ());
    drop(release);
    writer.complete().expect("completes");
    let dropped = writer.stats().expect("is enabled").dropped_bodies;
    assert!(dropped > 10, "{dropped}");
    let reduction = reduce_strictly(writer.path().expect("is enabled"));
    let diagnostics: Vec<String> = reduction.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].contains(&format!("{dropped} payloads were kept without their bodies")), "{diagnostics:?}");
    assert_eq!(reduction.trace.inferences.len(), 3 * 13 + 2);
    assert!(!reduction.diagnostics.is_damaged());
}

#[test]
fn a_recording_that_stopped_or_went_on_says_so() {
    let root = tempfile::tempdir().expect("a directory");
    let traces = TraceRoot::new(root.path(), WriterOptions::default());
    let writer = traces.start(&NewSession::new(ROOT_THREAD_ID)).expect("starts");
    run(&writer, &session(0, 2), &|| ());
    let bundle = writer.path().expect("is enabled").to_owned();
    drop(writer);
    let stopped =
        Stopped { after_seq: 30, at_unix_ms: 1, lost_events: 4, dropped_bodies: 0, reason: "no space left".to_owned() };
    let recording = Recording { pid: 1, opened_at_unix_ms: 1, stopped: Some(stopped) };
    let text = serde_json::to_vec(&recording).expect("serializes");
    std::fs::write(bundle.join(RECORDER_FILE), text).expect("writes");
    let of = |code| {
        let reduction = reduce_strictly(&bundle);
        let found: Vec<String> = reduction
            .diagnostics
            .iter()
            .filter(|found| found.code == code)
            .map(|found| found.message.to_string())
            .collect();
        found
    };
    assert_eq!(
        of(Code::RecordingStopped),
        ["the recorder stopped after seq 30 (no space left); at least 4 later events are lost"]
    );
    traces.reopen(&bundle).expect("reopens").complete().expect("completes");
    assert_eq!(of(Code::RecordingStopped), [""; 0]);
    let events = std::fs::read_to_string(bundle.join("trace.jsonl")).expect("reads").lines().count() - 2;
    assert_eq!(
        of(Code::RecordingGap),
        [format!(
            "the recording was interrupted after seq {events}, and went on later; at least 4 events between are lost"
        )]
    );
}
