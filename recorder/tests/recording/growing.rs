//! Tests recordings that are one growing file: they have the files that a directory has, at any moment and after any cut.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use trace_recorder::Bundle;
use trace_recorder::activity::{Activity, activity};
use trace_recorder::check::{check, repair};
use trace_recorder::follow::{End, Growth, LogFollower, Standing};
use trace_recorder::format::{ExecutionStatus, Requester, RolloutStatus, ToolKind, ToolSummary};
use trace_recorder::pack::{Level, PackedBundle, Source, finish, is_growing, is_packed, pack, unpack};
use trace_recorder::recording::{RECORDER_FILE, is_being_recorded, read_recording};
use trace_recorder::retention::delete;
use trace_recorder::write::{
    BundleWriter, Durability, Form, JoinedJson, Json, NewInference, NewSession, NewThread, NewToolCall, Piece, RawJson,
    ThreadTrace, TraceRoot, WriteError, WriterOptions, finish_growing,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::support::{read_events, start, types};

/// What one conversation does next.
#[derive(Debug, Clone)]
enum Step {
    /// A request with everything so far and a number of new items of some size.
    Ask { thread: usize, items: usize, bytes: usize },
    /// The same as one text.
    AskInOneText { thread: usize, items: usize, bytes: usize },
    /// The history is replaced by its last items.
    Compact { thread: usize, kept: usize },
    /// A thread begins with the history of another one.
    Fork { from: usize },
    /// A tool says something.
    Run { thread: usize, bytes: usize },
    /// Everything so far gets to the disk.
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let thread = 0..4_usize;
    let bytes = prop_oneof![0..200_usize, 1_000..40_000_usize];
    let step = prop_oneof![
        6 => (thread.clone(), 0..4_usize, bytes.clone()).prop_map(|(thread, items, bytes)| Step::Ask { thread, items, bytes }),
        2 => (thread.clone(), 0..4_usize, bytes.clone()).prop_map(|(thread, items, bytes)| Step::AskInOneText { thread, items, bytes }),
        1 => (thread.clone(), 0..3_usize).prop_map(|(thread, kept)| Step::Compact { thread, kept }),
        1 => thread.clone().prop_map(|from| Step::Fork { from }),
        2 => (thread, bytes).prop_map(|(thread, bytes)| Step::Run { thread, bytes }),
        2 => Just(Step::Flush),
    ];
    proptest::collection::vec(step, 1..40)
}

/// The texts of the items of a conversation.
type History = Vec<Arc<[u8]>>;

/// A session that is told to several writers.
struct Session {
    writers: Vec<BundleWriter>,
    threads: Vec<(Vec<ThreadTrace>, History)>,
    count: usize,
}

impl Session {
    fn new(writers: Vec<BundleWriter>) -> Self {
        let mut session = Self { writers, threads: Vec::new(), count: 0 };
        session.begin_thread(Vec::new());
        session
    }

    fn begin_thread(&mut self, history: History) {
        let id = format!("thread-{}", self.threads.len() + 1);
        let begin = |writer: &BundleWriter| {
            writer.start_thread(NewThread::new(&id, "/root"), Some(Json(&json!({ "agent": id }))))
        };
        let traces = self.writers.iter().map(begin).collect();
        self.threads.push((traces, history));
    }

    fn do_step(&mut self, step: &Step) {
        self.count += 1;
        let count = self.count;
        match *step {
            Step::Ask { thread, items, bytes } => self.ask(thread, items, bytes, false),
            Step::AskInOneText { thread, items, bytes } => self.ask(thread, items, bytes, true),
            Step::Compact { thread, kept } => {
                let at = thread % self.threads.len();
                let history = &mut self.threads[at].1;
                history.drain(..history.len().saturating_sub(kept));
            }
            Step::Fork { from } => {
                let at = from % self.threads.len();
                if self.threads.len() < 6 {
                    self.begin_thread(self.threads[at].1.clone());
                }
            }
            Step::Run { thread, bytes } => {
                let at = thread % self.threads.len();
                for trace in &self.threads[at].0 {
                    let turn = trace.start_turn(&format!("run-{count}"));
                    let id = format!("call-{count}");
                    let call = turn.start_tool_call(tool_call(&id), Some(Json(&json!({ "cmd": count }))));
                    call.end(ExecutionStatus::Completed, Some(Json(&json!({ "out": text(bytes, count) }))));
                    turn.end(ExecutionStatus::Completed);
                }
            }
            Step::Flush => self.writers.iter().for_each(|writer| writer.flush().expect("writes")),
        }
    }

    fn ask(&mut self, thread: usize, items: usize, bytes: usize, in_one_text: bool) {
        let at = thread % self.threads.len();
        let (traces, history) = &mut self.threads[at];
        for number in 0..items {
            let item = format!(",{{\"text\":{}}}", json!(text(bytes, self.count * 10 + number)));
            history.push(item.into_bytes().into());
        }
        let front: Arc<[u8]> = br#"{"model":"m","input":[0"#.to_vec().into();
        let back = format!("],\"tools\":{},\"n\":{}}}", json!(text(3_000, 1)), self.count % 3);
        let back: Arc<[u8]> = back.into_bytes().into();
        let mut pieces = vec![Piece::single(front)];
        pieces.extend(history.iter().map(|item| Piece::shared(Arc::clone(item), 0)));
        pieces.push(Piece::single(back));
        let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        for trace in traces {
            let turn = trace.start_turn(&format!("turn-{}", self.count));
            let id = format!("inference-{}", self.count);
            let new = NewInference { inference_call_id: &id, model: "m", provider_name: "p" };
            let call = if in_one_text {
                turn.start_inference(&new, RawJson(whole.clone()))
            } else {
                turn.start_inference(&new, JoinedJson(pieces.clone()))
            };
            call.complete(None, None, Json(&json!({ "output_items": [] })));
            turn.end(ExecutionStatus::Completed);
        }
    }
}

fn tool_call(id: &str) -> NewToolCall<'_> {
    NewToolCall {
        tool_call_id: id,
        model_visible_call_id: Some(id),
        code_mode_runtime_tool_id: None,
        requester: Requester::Model,
        kind: ToolKind::ExecCommand,
        summary: ToolSummary::Generic { label: "exec".into(), input_preview: None, output_preview: None },
    }
}

/// Returns a text of words that repeat now and then.
fn text(bytes: usize, seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut text = String::new();
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(["one ", "two\n", "\"three\" ", "vier ", "é "][(state >> 33) as usize % 5]);
        text.push_str(&(state >> 50).to_string());
    }
    text
}

fn packed_options() -> WriterOptions {
    WriterOptions { form: Form::Packed, ..WriterOptions::default() }
}

/// Returns the files of a bundle. Times in the log and in the recorder's file are left out.
fn files(bundle: &Path) -> BTreeMap<String, String> {
    let opened = Bundle::open(bundle).expect("opens");
    let all = opened.payloads().list_all().expect("lists");
    all.into_iter()
        .map(|file| {
            let mut bytes = Vec::new();
            opened.payloads().read(&file.path, &mut bytes).expect("reads");
            assert_eq!(bytes.len() as u64, file.bytes, "{}", file.path);
            let text = String::from_utf8(bytes).expect("UTF-8");
            let text = match file.path.as_str() {
                "trace.jsonl" => text.lines().map(without_time).collect::<Vec<_>>().join("\n"),
                "manifest.json" | RECORDER_FILE => without_time(&text),
                _ => text,
            };
            (file.path, text)
        })
        .collect()
}

fn without_time(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    for member in ["wall_time_unix_ms", "started_at_unix_ms", "opened_at_unix_ms", "trace_id"] {
        value.as_object_mut().expect("an object").remove(member);
    }
    if let Some(payload) = value.get_mut("payload").and_then(Value::as_object_mut) {
        payload.remove("trace_id");
    }
    value.to_string()
}

fn both(root: &Path) -> (BundleWriter, BundleWriter) {
    (start(&root.join("directory"), WriterOptions::default()), start(&root.join("packed"), packed_options()))
}

fn path_of(writer: &BundleWriter) -> PathBuf {
    writer.path().expect("is enabled").to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_growing_bundle_has_the_files_of_a_directory(steps in steps(), cut in 0.0..1.0_f64) {
        let root = tempfile::tempdir().expect("a directory");
        let (directory, packed) = both(root.path());
        let (at, packed_at) = (path_of(&directory), path_of(&packed));
        let mut session = Session::new(vec![directory.clone(), packed.clone()]);
        for step in &steps {
            session.do_step(step);
            if matches!(step, Step::Flush) {
                prop_assert_eq!(files(&packed_at), files(&at), "while it is recorded");
            }
        }
        session.do_step(&Step::Flush);
        // What a crash would leave: a part of the file, which is whole up to some event.
        let left = root.path().join("left.trace");
        let bytes = fs::read(&packed_at).expect("reads");
        let all = read_events(&packed_at);
        fs::write(&left, &bytes[..4096 + ((bytes.len() - 4096) as f64 * cut) as usize]).expect("writes");
        if let Ok(opened) = Bundle::open(&left)
            && opened.manifest().is_ok()
        {
            let events = read_events(&left);
            prop_assert_eq!(&events[..], &all[..events.len()]);
        }
        for writer in [&directory, &packed] {
            writer.end(RolloutStatus::Completed);
            writer.complete().expect("completes");
        }
        prop_assert!(is_packed(&packed_at) && !is_growing(&packed_at).expect("reads"), "it is finished");
        prop_assert_eq!(files(&packed_at), files(&at), "when it is finished");
        let finished = PackedBundle::open(&packed_at).expect("opens");
        prop_assert_eq!(finished.verify().expect("reads").len(), 0);
        let target = root.path().join("unpacked");
        fs::create_dir(&target).expect("creates");
        unpack(&finished, &target, u64::MAX).expect("unpacks");
        prop_assert_eq!(files(&target), files(&at));
    }
}

/// Records a small session whose recorder dies, and returns its file.
fn left(root: &Path) -> PathBuf {
    let writer = start(root, packed_options());
    let path = path_of(&writer);
    let mut session = Session::new(vec![writer]);
    for step in 0..12 {
        session.do_step(&Step::Ask { thread: 0, items: 2, bytes: 300 });
        session.do_step(&Step::Run { thread: 0, bytes: 50 });
        if step % 3 == 0 {
            session.do_step(&Step::Flush);
        }
    }
    drop(session);
    path
}

#[test]
fn a_cut_at_any_byte_leaves_a_bundle_that_goes_on() {
    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let whole = fs::read(&path).expect("reads");
    let all = read_events(&path);
    let mut seen = 0;
    for length in (0..=whole.len()).rev().step_by(37) {
        fs::write(&path, &whole[..length]).expect("writes");
        let Ok(bundle) = Bundle::open(&path) else {
            assert!(length < 5_000, "only a file without its first record is not a bundle: {length}");
            continue;
        };
        if bundle.manifest().is_err() {
            continue;
        }
        let events = read_events(&path);
        assert_eq!(events[..], all[..events.len()], "cut at {length}");
        seen = seen.max(events.len());
        let found = check(&bundle);
        assert!(found.is_sound(), "cut at {length}: {:?}", found.findings);
        if length % 5 == 0 {
            let writer = TraceRoot::new(root.path(), packed_options()).reopen(&path).expect("goes on");
            writer.observe("later", Json(&json!({ "after": length })));
            writer.complete().expect("completes");
            let events = read_events(&path);
            assert_eq!(
                types(&events)[events.len() - 3..],
                ["protocol_event_observed", "protocol_event_observed", "recording_completed"]
            );
            assert!(!is_growing(&path).expect("reads"));
        }
    }
    assert_eq!(seen, all.len());
}

#[test]
fn a_wrong_byte_is_never_read() {
    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let whole = fs::read(&path).expect("reads");
    let all = read_events(&path);
    let mut damaged = 0;
    for at in (4096..whole.len()).step_by(23) {
        let mut wrong = whole.clone();
        wrong[at] ^= 0x10;
        fs::write(&path, &wrong).expect("writes");
        let Ok(bundle) = Bundle::open(&path) else { continue };
        if bundle.manifest().is_ok() {
            let events = read_events(&path);
            assert!(events.len() < all.len(), "byte {at} is part of a record, which does not count");
            assert_eq!(events[..], all[..events.len()], "byte {at}");
            let packed = bundle.packed().expect("is packed");
            assert!(packed.torn_bytes() > 0);
            if packed.has_records_behind_damage().expect("reads") {
                damaged += 1;
                assert!(!check(&bundle).is_sound(), "byte {at}");
                let refused = TraceRoot::new(root.path(), packed_options()).reopen(&path);
                assert!(matches!(refused, Err(WriteError::Damaged { .. })), "{refused:?}");
            }
        }
    }
    assert!(damaged > 20, "most wrong bytes are followed by whole records: {damaged}");
}

#[test]
fn a_repair_keeps_what_lies_behind_a_damaged_record() {
    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let mut bytes = fs::read(&path).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).expect("writes");
    let repaired = repair(&path).expect("repairs");
    let kept = repaired.backup.expect("the file is kept");
    assert!(fs::read(&kept).expect("reads") == bytes && kept.to_string_lossy().ends_with(".trace.damaged-1"));
    assert!(!is_growing(&path).expect("reads") && check(&Bundle::open(&path).expect("opens")).is_sound());
}

#[test]
fn a_bundle_is_finished_once() {
    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let count = read_events(&path).len();
    finish_growing(&path, &path, Level::new(3).expect("a level")).expect("finishes");
    let again = finish_growing(&path, &path, Level::new(3).expect("a level"));
    assert!(matches!(again, Err(WriteError::Complete { .. })), "{again:?}");
    let packed = PackedBundle::open(&path).expect("opens");
    finish(&packed, Vec::new(), Level::new(3).expect("a level")).expect_err("it is finished already");
    assert_eq!(read_events(&path).len(), count);
}

#[test]
fn a_bundle_that_is_recorded_is_not_deleted() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), packed_options());
    let path = path_of(&writer);
    delete(&path).expect_err("a recorder is at work");
    let finished = finish_growing(&path, &path, Level::new(3).expect("a level"));
    assert!(matches!(finished, Err(WriteError::Locked { .. })), "{finished:?}");
    drop(writer);
    delete(&path).expect("deletes");
    assert!(!path.exists());
}

#[test]
fn lines_are_whole_wherever_a_file_with_many_blocks_is_cut() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), packed_options());
    let path = path_of(&writer);
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), None::<RawJson>);
    let turn = thread.start_turn("turn-1");
    for number in 0..60_000 {
        turn.accept_item(&format!("message-{number}-{}", text(40, number)));
    }
    writer.flush().expect("writes");
    let whole = fs::read(&path).expect("reads");
    let count = read_events(&path).len();
    assert_eq!(count, 60_003);
    assert!(Bundle::open(&path).expect("opens").log().expect("a log").as_bytes().len() > 12 << 20);
    let left = root.path().join("left.trace");
    for part in 1..40 {
        fs::write(&left, &whole[..whole.len() / 40 * part]).expect("writes");
        let bundle = Bundle::open(&left).expect("opens");
        let log = bundle.log().expect("a log").as_bytes();
        assert!(log.is_empty() || log.ends_with(b"\n"), "part {part}");
    }
}

#[test]
fn a_payload_with_bytes_of_the_recorders_file_is_refused() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("hostile.trace");
    let mut file = b"\x89TRACE\r\n\x02\0\0\0\0\0\0\0".to_vec();
    file.resize(4096, b' ');
    // No runs, and one file: payload 1 with one slice, the first byte of lane 2.
    let list = [0, 1, 1, 1, 2, 0, 1];
    let mut head = b"rec\n".to_vec();
    for field in [list.len() as u32, 0, 0] {
        head.extend(field.to_le_bytes());
    }
    head.extend(xxh3_64(b"").to_le_bytes());
    head.extend(xxh3_64_with_seed(&head, xxh3_64_with_seed(&list, 4096)).to_le_bytes());
    file.extend([&head[..], &list].concat());
    fs::write(&path, file).expect("writes");
    let refused = PackedBundle::open(&path).expect_err("refused").to_string();
    assert!(
        refused.ends_with("a payload has bytes of the recorder's file") && refused.contains("byte 4096"),
        "{refused}"
    );
}

#[test]
fn a_recorder_holds_its_file() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), packed_options());
    let path = path_of(&writer);
    assert_eq!(path.extension().and_then(|extension| extension.to_str()), Some("trace"));
    assert!(is_growing(&path).expect("reads") && is_packed(&path) && is_being_recorded(&path).expect("asks"));
    assert_eq!(activity(&path).expect("asks"), Activity::Recorded);
    let second = TraceRoot::new(root.path(), packed_options()).reopen(&path);
    assert!(matches!(second, Err(WriteError::Locked { .. })), "{second:?}");
    assert_eq!(read_recording(&path).expect("reads").expect("is there").pid, std::process::id());
    drop(writer);
    assert!(!is_being_recorded(&path).expect("asks"), "it is gone");
    assert_eq!(activity(&path).expect("asks"), Activity::Over);
    assert!(read_recording(&path).expect("reads").is_some(), "the header tells who it was");
    assert_eq!(
        LogFollower::new(&path).standing().expect("asks"),
        Standing::Over(End::Died { pid: std::process::id() })
    );
    let writer = TraceRoot::new(root.path(), packed_options()).reopen(&path).expect("goes on");
    writer.complete().expect("completes");
    assert!(!is_growing(&path).expect("reads"));
    assert_eq!(read_recording(&path).expect("reads"), None);
    let again = TraceRoot::new(root.path(), packed_options()).reopen(&path);
    assert!(matches!(again, Err(WriteError::Complete { .. })), "{again:?}");
    let left: Vec<_> =
        fs::read_dir(root.path()).expect("lists").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_follower_reads_what_is_recorded_until_it_is_finished() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), packed_options());
    let path = path_of(&writer);
    let mut follower = LogFollower::new(&path);
    let followed = Bundle::open_to_follow(&path).expect("opens");
    assert!(followed.packed().is_none() && followed.manifest().is_ok());
    let mut session = Session::new(vec![writer.clone()]);
    let (mut log, mut before) = (Vec::new(), None::<String>);
    for count in 0..20 {
        session.do_step(&Step::Ask { thread: 0, items: 1, bytes: 2_000 });
        session.do_step(&Step::Flush);
        while follower.read(&mut log).expect("reads") == Growth::Grew {}
        assert_eq!(follower.standing().expect("asks"), Standing::Recorded);
        // The request of this step is asked for by its path, as a reduction does it.
        let text = String::from_utf8(log.clone()).expect("UTF-8");
        let line = text.lines().rev().find(|line| line.contains("\"inference_started\"")).expect("a request");
        let line: Value = serde_json::from_str(line).expect("JSON");
        let path = line["payload"]["request_payload"]["path"].as_str().expect("a path").to_owned();
        if let Some(before) = before {
            let shared = followed.payloads().known_prefix(&before, &path);
            assert!(shared > 2_000 * count, "{shared} bytes of the request before are known");
            let (mut rest, mut whole) = (Vec::new(), Vec::new());
            followed.payloads().read_from(&path, shared, &mut rest).expect("reads");
            followed.payloads().read(&path, &mut whole).expect("reads");
            assert!(whole[shared..] == rest);
        }
        before = Some(path);
    }
    drop(session);
    writer.complete().expect("completes");
    while follower.read(&mut log).expect("reads") == Growth::Grew {}
    assert_eq!(follower.standing().expect("asks"), Standing::Over(End::Complete));
    let finished = Bundle::open(&path).expect("opens");
    assert!(finished.log().expect("a log").as_bytes() == log);
    assert!(read_events(&path).len() > 60);
}

/// Records a session up to a cut, and then some more. Returns its file, how long it was at the cut, and how long it is.
fn cut_later(root: &Path) -> (PathBuf, u64, u64) {
    let writer = start(root, packed_options());
    let path = path_of(&writer);
    let length = || fs::metadata(&path).expect("is there").len();
    let mut session = Session::new(vec![writer]);
    let mut record = |steps: usize| {
        for _ in 0..steps {
            session.do_step(&Step::Run { thread: 0, bytes: 50 });
            session.do_step(&Step::Flush);
        }
        length()
    };
    let cut = record(3);
    let end = record(2);
    drop(session);
    (path, cut, end)
}

#[test]
fn a_follower_notices_that_records_were_cut_off_however_long_the_file_is_then() {
    let follow = |path: &Path| {
        let mut follower = LogFollower::new(path);
        while follower.read(&mut Vec::new()).expect("reads") == Growth::Grew {}
        follower
    };
    let truncate = |path: &Path, bytes: u64| {
        let file = OpenOptions::new().write(true).open(path).expect("opens");
        file.set_len(bytes).expect("cuts");
    };
    // Nothing is written behind the cut, the same number of bytes, or a longer recording.
    for rewrite in 0..3 {
        let root = tempfile::tempdir().expect("a directory");
        let (path, cut, end) = cut_later(root.path());
        let mut follower = follow(&path);
        assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Still);
        truncate(&path, cut);
        match rewrite {
            0 => {}
            1 => truncate(&path, end),
            _ => {
                let writer = TraceRoot::new(root.path(), packed_options()).reopen(&path).expect("goes on");
                for count in 0..30 {
                    writer.observe("later", Json(&json!({ "after": count, "text": text(500, count) })));
                    writer.flush().expect("writes");
                }
                assert!(fs::metadata(&path).expect("is there").len() > end);
            }
        }
        let mut bytes = Vec::new();
        assert_eq!(follower.read(&mut bytes).expect("reads"), Growth::Rewritten, "{rewrite}");
        assert_eq!(
            follower.read(&mut bytes).expect("reads"),
            Growth::Rewritten,
            "{rewrite}: also when it is asked again"
        );
        assert!(bytes.is_empty());
    }
    // A cut behind the last record that was read, such as that of half a record, changes nothing.
    let root = tempfile::tempdir().expect("a directory");
    let (path, _, end) = cut_later(root.path());
    let mut follower = follow(&path);
    truncate(&path, end + 10);
    assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Still);
    truncate(&path, end);
    assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Still);
}

#[test]
#[cfg(unix)]
fn a_follower_keeps_a_file_that_was_finished_and_no_other() {
    let root = tempfile::tempdir().expect("a directory");
    let follow = |path: &Path| {
        let mut follower = LogFollower::new(path);
        assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Grew);
        follower
    };
    let (path, ..) = cut_later(&root.path().join("finished"));
    let mut follower = follow(&path);
    finish_growing(&path, &path, Level::new(3).expect("a level")).expect("finishes");
    assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Still);

    let (path, ..) = cut_later(&root.path().join("replaced"));
    let mut follower = follow(&path);
    let (other, ..) = cut_later(&root.path().join("other"));
    fs::rename(other, &path).expect("renames");
    assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Rewritten, "another recording");

    let (path, ..) = cut_later(&root.path().join("deleted"));
    let mut follower = follow(&path);
    fs::remove_file(&path).expect("removes");
    assert_eq!(follower.read(&mut Vec::new()).expect("reads"), Growth::Rewritten, "nothing is there");
}

#[test]
fn what_a_killed_process_left_of_a_finished_bundle_goes_with_the_bundle() {
    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    fs::write(path.with_file_name(format!(".{name}.tmp")), "half of a file").expect("writes");
    delete(&path).expect("deletes");
    assert_eq!(fs::read_dir(root.path()).expect("lists").count(), 0);
}

#[test]
fn what_a_conversation_repeats_takes_no_room() {
    let root = tempfile::tempdir().expect("a directory");
    let (directory, packed) = both(root.path());
    let (at, packed_at) = (path_of(&directory), path_of(&packed));
    let mut session = Session::new(vec![directory, packed]);
    for count in 0..400 {
        let step = if count % 2 == 0 {
            Step::Ask { thread: 0, items: 1, bytes: 300 }
        } else {
            Step::AskInOneText { thread: 1, items: 1, bytes: 300 }
        };
        session.do_step(&step);
        session.do_step(&Step::Run { thread: 0, bytes: 100 });
        if count == 10 {
            session.do_step(&Step::Fork { from: 0 });
        }
        session.do_step(&Step::Flush);
    }
    let growing = fs::metadata(&packed_at).expect("is there").len();
    let opened = PackedBundle::open(&packed_at).expect("opens");
    let bytes = opened.bytes();
    assert!(growing * 25 < bytes, "{growing} bytes for {bytes}");
    session.writers.iter().for_each(|writer| writer.complete().expect("completes"));
    let finished = fs::metadata(&packed_at).expect("is there").len();
    let mut smallest = Vec::new();
    pack(&Source::list(&at).expect("lists"), &mut smallest, Level::new(9).expect("a level")).expect("packs");
    assert!(finished as f64 <= smallest.len() as f64 * 1.5, "{finished} bytes instead of {}", smallest.len());
}

#[test]
fn bytes_behind_the_last_record_are_cut_off_when_it_goes_on() {
    use std::io::Write;

    let root = tempfile::tempdir().expect("a directory");
    let path = left(root.path());
    let count = read_events(&path).len();
    let mut file = OpenOptions::new().append(true).open(&path).expect("opens");
    file.write_all(b"REC\n and then nothing").expect("writes");
    drop(file);
    assert_eq!(read_events(&path).len(), count);
    let writer = TraceRoot::new(root.path(), packed_options()).reopen(&path).expect("goes on");
    let thread = writer.thread("thread-1").expect("is known");
    thread.end(RolloutStatus::Completed);
    writer.flush().expect("writes");
    assert_eq!(read_events(&path).len(), count + 2);
    writer.complete().expect("completes");
    assert_eq!(read_events(&path).len(), count + 3);
}

#[test]
fn a_body_of_many_blocks_is_one_file() {
    let root = tempfile::tempdir().expect("a directory");
    let options = WriterOptions { durability: Durability::Synced, ..packed_options() };
    let writer = TraceRoot::new(root.path(), options).start(&NewSession::new("thread-1")).expect("starts");
    let path = path_of(&writer);
    // Random letters do not compress well, so the blocks take room in the file, too.
    let large = text(9 << 20, 7);
    writer.observe("large", Json(&json!({ "text": large })));
    writer.observe("small", Json(&json!({ "text": "x" })));
    writer.flush().expect("writes");
    for _ in 0..2 {
        let bundle = Bundle::open(&path).expect("opens");
        let mut bytes = Vec::new();
        bundle.payloads().read("payloads/1.json", &mut bytes).expect("reads");
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert!(value["text"] == large);
        writer.complete().unwrap_or_default();
    }
}
