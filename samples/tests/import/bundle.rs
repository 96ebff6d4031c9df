//! What is told to a draft is a bundle that this program and the Codex CLI reduce to the same graph.

use std::path::Path;

use serde_json::{Value, json};
use trace_import::{Code, Draft, History, Lane, Stamp, Time};
use trace_recorder::Bundle;
use trace_recorder::check::check;
use trace_recorder::format::event::{
    CodexTurnEnded, CodexTurnStarted, HistoryItemAccepted, InferenceCompleted, InferenceStarted, ThreadStarted,
};
use trace_recorder::format::import::Place;
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind};
use trace_reducer::{Options, reduce, state_json};

const ROOT: &str = "019a0000-0000-7000-8000-000000000001";
const CHILD: &str = "019a0000-0000-7000-8000-000000000002";

/// A thread that is told line by line.
struct Teller<'a> {
    draft: &'a mut Draft,
    lane: Lane,
    thread: &'static str,
    turn: String,
    source: u32,
    line: u32,
    history: History,
}

impl<'a> Teller<'a> {
    fn new(draft: &'a mut Draft, thread: &'static str, path: &str, file: &str) -> Self {
        let source = draft.source(Path::new(file));
        let lane = draft.lane(thread);
        let mut teller =
            Self { draft, lane, thread, turn: format!("{path}-turn"), source, line: 0, history: History::default() };
        let started =
            ThreadStarted { thread_id: thread.into(), agent_path: path.to_owned().into(), metadata_payload: None };
        teller.tell(Time::Unknown, EventPayload::ThreadStarted(started));
        teller
    }

    fn tell(&mut self, time: Time, payload: EventPayload<'static>) -> trace_import::EventRef {
        self.line += 1;
        let stamp = Stamp { time, place: Place { source: self.source, line: self.line } };
        let turn = (!matches!(payload, EventPayload::ThreadStarted(_))).then_some(self.turn.as_str());
        self.draft.push(self.lane, turn, stamp, payload)
    }

    fn begin_turn(&mut self, at: i64) {
        let started = CodexTurnStarted { codex_turn_id: self.turn.clone().into(), thread_id: self.thread.into() };
        self.tell(Time::At(at), EventPayload::CodexTurnStarted(started));
    }

    fn item(&mut self, item: &Value) {
        let text = self.draft.other_item(self.lane, item).expect("is JSON");
        self.history.push(text);
        let id = item["id"].as_str().expect("an id").to_owned();
        let accepted = HistoryItemAccepted { item_id: id.into(), agent_message_payload: None };
        self.tell(Time::Unknown, EventPayload::HistoryItemAccepted(accepted));
    }

    fn infer(&mut self, id: &str, at: i64, answer: &Value) {
        let kind = PayloadKind::InferenceRequest;
        let request =
            self.draft.payload_with_items(kind, &json!({"model": "m"}), &[("input", &self.history)]).expect("is JSON");
        let started = InferenceStarted {
            inference_call_id: id.to_owned().into(),
            thread_id: self.thread.into(),
            codex_turn_id: self.turn.clone().into(),
            model: "m".into(),
            provider_name: "p".into(),
            request_payload: request,
        };
        self.tell(Time::Unknown, EventPayload::InferenceStarted(started));
        let usage =
            json!({"input_tokens": 7, "cached_input_tokens": 0, "output_tokens": 2, "reasoning_output_tokens": 0});
        let body = json!({"output_items": [answer], "token_usage": usage});
        let response_payload = self.draft.payload(PayloadKind::InferenceResponse, &body).expect("is JSON");
        let completed = InferenceCompleted {
            inference_call_id: id.to_owned().into(),
            response_id: None,
            upstream_request_id: None,
            response_payload,
        };
        self.tell(Time::At(at), EventPayload::InferenceCompleted(completed));
        self.item(answer);
    }

    fn end_turn(&mut self, at: i64) -> trace_import::EventRef {
        let ended = CodexTurnEnded { codex_turn_id: self.turn.clone().into(), status: ExecutionStatus::Completed };
        self.tell(Time::At(at), EventPayload::CodexTurnEnded(ended))
    }
}

fn message(id: &str, role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "id": id, "role": role, "content": [{"type": kind, "text": text}]})
}

/// Two threads. The clock of the child's file is an hour behind.
fn session() -> Bundle {
    let mut draft = Draft::new("test");
    draft.agent_version("1.2.3");
    draft.note(Code::NoSystemPrompt, None);
    let mut root = Teller::new(&mut draft, ROOT, "/root", "root.jsonl");
    root.begin_turn(4_000_000);
    root.item(&message("msg_1", "user", "Say \"hello\" to\nall."));
    root.infer("call-1", 4_001_000, &message("msg_2", "assistant", "Hello."));
    root.item(&message("msg_3", "user", "Again."));
    root.infer("call-2", 4_002_000, &message("msg_4", "assistant", "Hello again."));
    let end = root.end_turn(4_003_000);
    let mut child = Teller::new(&mut draft, CHILD, "/root/helper", "child.jsonl");
    child.begin_turn(400_000);
    child.item(&message("msg_5", "user", "Wait."));
    child.infer("call-3", 401_000, &message("msg_6", "assistant", "Done."));
    let answered = child.end_turn(402_000);
    draft.after(end, answered);
    draft.finish(Path::new("root.jsonl")).expect("something happens")
}

fn state(bundle: &Bundle) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(bundle, strict).expect("nothing is reported");
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

#[test]
fn a_session_reduces_alike_in_memory_on_disk_and_at_the_peer() {
    let bundle = session();
    let in_memory = state(&bundle);
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path().join("imported");
    trace_import::write(&bundle, &directory).expect("writes");
    let written = Bundle::open(&directory).expect("opens");
    assert_eq!(state(&written), in_memory);
    assert_eq!(written.import(), bundle.import());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = directory.metadata().expect("exists").permissions().mode();
        assert_eq!(mode & 0o077, 0, "only its owner may enter it");
    }
    let found: Vec<_> = check(&written).findings.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:?}");
    if let Some(theirs) = trace_needs::state_by_peer(&directory) {
        let theirs: Value = serde_json::from_str(&theirs).expect("is JSON");
        assert_eq!(in_memory, theirs);
    }
    assert_eq!(in_memory["threads"].as_object().expect("threads").len(), 2);
    let calls = in_memory["inference_calls"].as_object().expect("calls");
    let seen = |call: &str| calls[call]["request_item_ids"].as_array().expect("items").len();
    assert_eq!((calls.len(), seen("call-1"), seen("call-2")), (3, 1, 3));
    assert_eq!(in_memory["status"], "completed");
    // A directory of this name is not replaced, and no other is left behind.
    trace_import::write(&bundle, &directory).expect_err("it exists");
    assert_eq!(folder.path().read_dir().expect("lists").count(), 1);
}

#[test]
fn an_event_leads_back_to_its_line() {
    let bundle = session();
    let record = bundle.import().expect("it is imported");
    assert_eq!((record.format.as_str(), record.agent_version.as_deref()), ("test", Some("1.2.3")));
    let codes: Vec<_> = record.notes.iter().map(|note| (note.code.as_str(), note.count)).collect();
    assert_eq!(codes, [("no-system-prompt", 1), ("session-end-inferred", 2)]);
    let log = std::str::from_utf8(bundle.log().expect("a log").as_bytes()).expect("UTF-8");
    assert_eq!(log.lines().count(), record.origins.len());
    let answered = |line: &str| line.contains("\"call-3\"") && line.contains("inference_completed");
    let seq = 1 + log.lines().position(answered).expect("the answer of the child") as u64;
    let origin = record.origin(seq).expect("an origin");
    assert_eq!((record.path(origin.place), origin.place.line, origin.is_timed), (Some("child.jsonl"), 5, true));
    // The turn of the root ends behind the child's, whose clock is behind.
    let end = |turn: &str| log.lines().position(|line| line.contains("codex_turn_ended") && line.contains(turn));
    assert!(end("/root/helper-turn") < end("/root-turn"), "{log}");
}

#[test]
fn a_recorded_bundle_is_not_an_imported_one() {
    let sample = trace_needs::repository().join("samples/three-children");
    assert!(Bundle::open(&sample).expect("opens").import().is_none());
}
