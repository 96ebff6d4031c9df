//! Tests which events each handle records.

use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use trace_recorder::format::{CellStatus, ExecutionStatus, Requester, RolloutStatus, ToolKind, ToolSummary};
use trace_recorder::recording::{RECORDER_FILE, is_being_recorded};
use trace_recorder::write::{
    AgentResult, Body, BundleWriter, Durability, IntoBody, Json, Later, NewCell, NewCompactionRequest, NewInference,
    NewSession, NewThread, NewToolCall, RawJson, RecordingState, SharedJson, ThreadTrace, TraceRoot, TurnTrace,
    WriteError, WriterOptions,
};

use crate::support::{NoBody, document, read_events, start, types};

fn new_tool_call() -> NewToolCall<'static> {
    NewToolCall {
        tool_call_id: "call-1",
        model_visible_call_id: Some("call-1"),
        code_mode_runtime_tool_id: None,
        requester: Requester::Model,
        kind: ToolKind::ExecCommand,
        summary: ToolSummary::Generic { label: "exec".into(), input_preview: None, output_preview: None },
    }
}

const INFERENCE: NewInference<'static> =
    NewInference { inference_call_id: "inference-1", model: "m", provider_name: "p" };
const CELL: NewCell<'static> = NewCell { runtime_cell_id: "1", model_visible_call_id: "call-2", source_js: "1 + 1" };
const COMPACTION: NewCompactionRequest<'static> = NewCompactionRequest {
    compaction_id: "compaction-1",
    compaction_request_id: "compaction_request:1",
    model: "m",
    provider_name: "p",
};

/// Records one event of every type, some of them twice.
fn record_everything(writer: &BundleWriter) {
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), Some(Json(&json!({ "model": "m" }))));
    writer.observe("session_configured", Json(&json!({ "type": "session_configured" })));
    let turn = thread.start_turn("turn-1");
    turn.accept_item("msg_1");
    turn.accept_agent_message("amsg_1", Json(&json!({ "type": "agent_message", "id": "amsg_1" })));
    let inference = turn.start_inference(&INFERENCE, SharedJson(b"{\"input\":[]}".as_slice().into()));
    inference.complete(Some("resp_1"), None, RawJson(b"{\"output_items\":[]}".to_vec()));
    inference.cancel(None, "too late", None::<NoBody>);
    turn.start_inference(&INFERENCE, Json(&1)).fail(Some("req_1"), "overloaded", None::<NoBody>);
    turn.start_inference(&INFERENCE, Json(&2)).cancel(None, "interrupted", Some(Json(&json!({}))));
    let tool = turn.start_tool_call(new_tool_call(), Some(Json(&json!({ "tool_name": "exec_command" }))));
    tool.assign_mcp_call("mcp-1");
    tool.resolve_stdin_target("call-0");
    tool.start_runtime(ToolKind::ExecCommand, Json(&json!({ "command": [] })));
    tool.end_runtime(ExecutionStatus::Failed, Later { value: json!({ "exit_code": 1 }), bytes: 20 });
    tool.end(ExecutionStatus::Completed, Some(Json(&json!({ "type": "error" }))));
    tool.end(ExecutionStatus::Aborted, None::<NoBody>);
    let cell = turn.start_code_cell(&CELL);
    cell.answer(CellStatus::Yielded, Some(Json(&3)));
    cell.answer(CellStatus::Failed, None::<NoBody>);
    cell.end(CellStatus::Completed, None::<NoBody>);
    cell.end(CellStatus::Failed, None::<NoBody>);
    turn.start_compaction_request(&COMPACTION, Json(&4)).complete(Json(&5));
    turn.start_compaction_request(&COMPACTION, Json(&6)).fail("refused");
    turn.install_compaction("compaction-1", Json(&7));
    let result = AgentResult { edge_id: "edge-1", parent_thread_id: "thread-0", message: "done" };
    turn.report_result(&result, None::<NoBody>);
    turn.end(ExecutionStatus::Completed);
    turn.end(ExecutionStatus::Failed);
    thread.end(RolloutStatus::Completed);
    thread.end(RolloutStatus::Failed);
    thread.resume();
    thread.resume();
    thread.end(RolloutStatus::Completed);
    writer.end(RolloutStatus::Completed);
    writer.end(RolloutStatus::Failed);
}

#[test]
fn every_event_is_recorded_once_and_where_it_belongs() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    record_everything(&writer);
    writer.complete().expect("completes");
    let bundle = writer.path().expect("is enabled").to_owned();
    let events = read_events(&bundle);
    let contexts: Vec<String> = events
        .iter()
        .map(|event| {
            assert_eq!(event["rollout_id"], "thread-1");
            let place = match (event["thread_id"].as_str(), event["codex_turn_id"].as_str()) {
                (None, None) => "session",
                (Some("thread-1"), Some("turn-1")) => "turn",
                _ => "elsewhere",
            };
            format!("{place}: {}", event["payload"]["type"].as_str().expect("a type"))
        })
        .collect();
    insta::assert_snapshot!(contexts.join("\n"), @r"
    session: rollout_started
    session: thread_started
    session: protocol_event_observed
    turn: codex_turn_started
    turn: history_item_accepted
    turn: history_item_accepted
    turn: inference_started
    turn: inference_completed
    turn: inference_started
    turn: inference_failed
    turn: inference_started
    turn: inference_cancelled
    turn: tool_call_started
    session: mcp_tool_call_correlation_assigned
    turn: stdin_target_resolved
    turn: tool_call_runtime_started
    turn: tool_call_runtime_ended
    turn: tool_call_ended
    turn: code_cell_started
    turn: code_cell_initial_response
    turn: code_cell_ended
    turn: compaction_request_started
    turn: compaction_request_completed
    turn: compaction_request_started
    turn: compaction_request_failed
    turn: compaction_installed
    turn: agent_result_observed
    turn: codex_turn_ended
    session: thread_ended
    session: thread_resumed
    session: thread_ended
    session: rollout_ended
    session: recording_completed
    ");
    // Neither a second outcome nor a second end is recorded.
    assert_eq!(events[7]["payload"]["response_id"], "resp_1");
    assert_eq!(document(&bundle, &events[6], "request_payload"), json!({ "input": [] }));
    let stats = writer.stats().expect("is enabled");
    assert_eq!((stats.state, stats.acknowledged_seq), (RecordingState::Completed, events.len() as u64));
    assert_eq!(stats.payloads, std::fs::read_dir(bundle.join("payloads")).expect("lists").count() as u64);
    assert_eq!(stats.log_bytes, std::fs::metadata(bundle.join("trace.jsonl")).expect("is there").len());
}

#[test]
fn nothing_follows_the_end() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    writer.complete().expect("completes");
    writer.observe("warning", Json(&1));
    writer.complete().expect("is complete already");
    writer.flush().expect("has nothing to wait for");
    let path = writer.path().expect("is enabled").to_owned();
    drop(writer);
    assert_eq!(types(&read_events(&path)), ["rollout_started", "recording_completed"]);
    assert!(!path.join(RECORDER_FILE).exists());
}

#[test]
fn whoever_goes_without_an_end_leaves_what_was_recorded() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    let turn = writer.start_thread(NewThread::new("thread-1", "/root"), None::<NoBody>).start_turn("turn-1");
    let path = writer.path().expect("is enabled").to_owned();
    drop(writer);
    assert!(is_being_recorded(&path).expect("asks"), "a handle is still alive");
    turn.accept_item("msg_1");
    drop(turn);
    let expected = ["rollout_started", "thread_started", "codex_turn_started", "history_item_accepted"];
    assert_eq!(types(&read_events(&path)), expected);
    assert!(!is_being_recorded(&path).expect("asks"));
}

#[test]
fn a_disabled_writer_makes_neither_files_nor_bodies() {
    struct Unwanted;

    impl IntoBody for Unwanted {
        fn into_body(self) -> Body {
            panic!("a disabled writer must not ask for the body")
        }
    }

    let writer = BundleWriter::disabled();
    record_everything(&writer);
    writer.observe("warning", Unwanted);
    let thread = writer.start_thread(NewThread::new("thread-1", "/root"), Some(Unwanted));
    let turn = thread.start_turn("turn-1");
    turn.start_inference(&INFERENCE, Unwanted).complete(None, None, Unwanted);
    assert!(!writer.is_enabled() && writer.path().is_none() && writer.stats().is_none());
    assert!(writer.thread("thread-1").is_none());
    writer.flush().expect("has nothing to wait for");
    writer.complete().expect("has nothing to end");
    assert_eq!(ThreadTrace::disabled().thread_id(), None);
    assert_eq!(TurnTrace::disabled().codex_turn_id(), None);
}

#[test]
fn a_thread_of_this_bundle_is_resumed_and_one_of_an_earlier_session_is_started() {
    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    let child = NewThread::new("child-1", "/root/child");
    writer.start_thread(child, None::<NoBody>).end(RolloutStatus::Completed);
    writer.resume_thread(child, Some(Json(&1)));
    writer.resume_thread(child, Some(Json(&2)));
    writer.resume_thread(NewThread::new("child-of-old", "/root/old"), Some(Json(&3)));
    writer.thread("child-1").expect("is known").end(RolloutStatus::Completed);
    writer.complete().expect("completes");
    let events = read_events(writer.path().expect("is enabled"));
    assert_eq!(
        types(&events)[1..],
        ["thread_started", "thread_ended", "thread_resumed", "thread_started", "thread_ended", "recording_completed"]
    );
    assert_eq!(events[4]["payload"]["thread_id"], "child-of-old");
}

#[test]
fn what_is_recorded_is_its_owners_alone() {
    let root = tempfile::tempdir().expect("a directory");
    let traces = root.path().join("deep/traces");
    let writer = start(&traces, WriterOptions { durability: Durability::Synced, ..WriterOptions::default() });
    record_everything(&writer);
    writer.flush().expect("flushes");
    let bundle = writer.path().expect("is enabled");
    for directory in [&traces, bundle, &bundle.join("payloads")] {
        assert_eq!(std::fs::metadata(directory).expect("is there").permissions().mode() & 0o777, 0o700);
    }
    for file in ["manifest.json", "trace.jsonl", "payloads/1.json", RECORDER_FILE] {
        assert_eq!(std::fs::metadata(bundle.join(file)).expect("is there").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_value_that_has_no_json_form_takes_nothing_with_it() {
    struct Failing;

    impl Serialize for Failing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no form"))
        }
    }

    struct Panicking;

    impl Serialize for Panicking {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("a bug of the caller's")
        }
    }

    let root = tempfile::tempdir().expect("a directory");
    let writer = start(root.path(), WriterOptions::default());
    writer.observe("warning", Json(&Failing));
    writer.observe("warning", Later { value: Failing, bytes: 10 });
    catch_unwind(AssertUnwindSafe(|| writer.observe("warning", Later { value: Panicking, bytes: 10 })))
        .expect("the caller does not notice");
    writer.complete().expect("completes");
    let bundle = writer.path().expect("is enabled");
    let events = read_events(bundle);
    assert_eq!(events.len(), 5);
    for event in &events[1..4] {
        let expected = json!({ "trace_dropped": { "bytes": null, "reason": "not_serializable" } });
        assert_eq!(document(bundle, event, "event_payload"), expected);
    }
}

#[test]
fn texts_of_any_kind_reach_the_log() {
    let root = tempfile::tempdir().expect("a directory");
    let id = "thread \"1\"\n\u{1f41f}/../x";
    let options = WriterOptions::default();
    let writer = TraceRoot::new(root.path(), options).start(&NewSession::new(id)).expect("starts");
    writer.start_thread(NewThread::new(id, "/root"), None::<NoBody>).start_turn("turn \u{7}").accept_item("\\");
    writer.complete().expect("completes");
    let bundle = writer.path().expect("is enabled");
    assert_eq!(bundle.parent(), Some(root.path()));
    let events = read_events(bundle);
    assert_eq!(events[3]["thread_id"], Value::from(id));
    assert_eq!(events[3]["codex_turn_id"], "turn \u{7}");
    assert_eq!(events[3]["payload"]["item_id"], "\\");
}

#[test]
fn two_sessions_cannot_share_a_bundle() {
    let root = tempfile::tempdir().expect("a directory");
    let traces = TraceRoot::new(root.path(), WriterOptions::default());
    let session = NewSession { trace_id: Some("trace-1"), ..NewSession::new("thread-1") };
    let writer = traces.start(&session).expect("starts");
    assert!(matches!(traces.start(&session), Err(WriteError::Io { .. })));
    let path = writer.path().expect("is enabled").to_owned();
    assert!(matches!(traces.reopen(&path), Err(WriteError::Locked { .. })));
}
