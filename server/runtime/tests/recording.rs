//! The bundles of agents, as readers see them.
//!
//! If `TRACE_PEER` names the binary of the Codex CLI, it has to accept every bundle and reduce it to the same graph.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod common;

use std::time::Duration;

use common::graph::state;
use common::*;
use serde_json::{Value, json};
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_runtime::agent::{Lineage, NewAgent, RecordingTarget};
use trace_runtime::event::{ErrorKind, EventKind, Retry, TurnOutcome};
use trace_runtime::id::ThreadId;
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::provider::{ProviderError, RetryDecision};

/// A world that records to its own directory.
fn recorded(answers: Vec<Vec<Step>>) -> (World, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let provider = Scripted::new(answers);
    let mut options = options(&provider);
    options.recording = Some(TraceRoot::new(directory.path(), WriterOptions::default()));
    (world_with(provider, options), directory)
}

/// Shuts the agent down and returns the graph of its session.
async fn graph(world: &World) -> Value {
    world.agent.shutdown().await;
    world.check_laws();
    state(&world.agent.recording().path().expect("it was recorded"))
}

/// Returns the values of a map of the graph, ordered by start.
fn by_start<'a>(state: &'a Value, map: &str) -> Vec<&'a Value> {
    let mut values: Vec<&Value> = state[map].as_object().unwrap().values().collect();
    values.sort_by_key(|value| value["execution"]["started_seq"].as_u64());
    values
}

fn statuses(values: &[&Value]) -> Vec<String> {
    values.iter().map(|value| value["execution"]["status"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_session_is_recorded_with_everything_in_it() {
    let half = broken([think("rs_1", "hm"), begin_saying("msg_0", "half")]);
    let (world, _directory) = recorded(vec![
        half,
        answer([
            say("msg_1", "I look."),
            call("call_1", "echo", &json!({"a": 1})),
            custom("call_2", "echo", "free"),
            call("call_3", "no_such_tool", &json!({})),
            // Readers have a special meaning for this name. A tool of that name must not make them reject the bundle.
            call("call_4", "wait", &json!({})),
            call("call_5", "break", &json!({})),
        ]),
        answer([say("msg_2", "all done")]),
        fails("no such model", ErrorKind::ModelNotFound, RetryDecision::Never),
        answer([call("call_6", "slow", &json!({"ms": 60_000, "deaf": true}))]),
    ]);
    assert!(world.agent.recording().path().is_none(), "nothing is recorded before anything happens");
    let past = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "injected"}]});
    world.agent.inject(vec![past.into()]).unwrap();
    assert!(matches!(world.run("hello").await, TurnOutcome::Completed { .. }));
    assert!(matches!(world.run("fail").await, TurnOutcome::Failed(_)));
    let turn = world.start("stop");
    world.witness.until(|kind| matches!(kind, EventKind::ItemGrew { item, .. } if item.as_str() == "call_6")).await;
    world.agent.interrupt(&turn).unwrap().await;
    world.run("go on").await;
    let state = graph(&world).await;

    assert_eq!(state["status"], "completed");
    assert_eq!(state["recording_complete"], true);
    let thread = &state["threads"][world.agent.id().as_str()];
    assert_eq!(thread["agent_path"], "/root");
    assert_eq!(thread["default_model"], "model-1");
    assert_eq!(thread["execution"]["status"], "completed");
    assert_eq!(statuses(&by_start(&state, "codex_turns")), ["completed", "failed", "cancelled", "completed"]);
    let inferences = by_start(&state, "inference_calls");
    assert_eq!(statuses(&inferences), ["failed", "completed", "completed", "failed", "completed", "completed"]);
    assert_eq!(inferences[1]["usage"]["input_tokens"], 100);
    assert_eq!(inferences[1]["upstream_request_id"], "req");
    assert_eq!(inferences[3]["upstream_request_id"], "req_failed");
    assert!(inferences[0]["raw_response_payload_id"].is_string(), "what arrived is kept");
    let tools = by_start(&state, "tool_calls");
    let names: Vec<_> = tools.iter().map(|tool| tool["summary"]["label"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "echo", "no_such_tool", "wait", "break", "slow"]);
    assert_eq!(statuses(&tools), ["completed", "completed", "failed", "failed", "failed", "cancelled"]);
    for tool in &tools {
        assert_eq!(tool["model_visible_call_item_ids"].as_array().unwrap().len(), 1, "{tool}");
        assert_eq!(tool["model_visible_output_item_ids"].as_array().unwrap().len(), 1, "{tool}");
    }
    // Every item of the history is in the graph once, in order, and was accepted.
    let ids: Vec<&str> =
        thread["conversation_item_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let items: Vec<&Value> = ids.iter().map(|id| &state["conversation_items"][*id]).collect();
    let recorded: Vec<_> = items.iter().map(|item| item["responses_item_id"].as_str().unwrap()).collect();
    let history = world.agent.history();
    let kept: Vec<_> = history.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(recorded, kept);
    for item in items {
        assert!(item["accepted_seq"].is_u64(), "{item}");
    }
}

#[tokio::test]
async fn compactions_are_recorded_with_both_histories() {
    let (world, _directory) = recorded(vec![]);
    world.run("one").await;
    let turn = world.agent.compact().unwrap();
    world.witness.ended(&turn).await;
    world.run("two").await;
    let sealed = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"});
    // The first attempt fails.
    let after = Some(Duration::from_millis(1));
    let error = ProviderError {
        message: "no".to_owned(),
        details: Some("really".to_owned()),
        kind: ErrorKind::Other,
        retry: RetryDecision::Request { after },
        request_id: None,
    };
    *world.provider.compacted.lock().unwrap() = Some(Err(error));
    let turn = world.agent.compact().unwrap();
    world.witness.until(|kind| matches!(kind, EventKind::Error { retry: Retry::Follows, .. })).await;
    *world.provider.compacted.lock().unwrap() = Some(Ok(vec![sealed.into()]));
    world.witness.ended(&turn).await;
    world.run("three").await;
    let state = graph(&world).await;
    let mut compactions: Vec<&Value> = state["compactions"].as_object().unwrap().values().collect();
    compactions.sort_by_key(|compaction| compaction["request_ids"].as_array().unwrap().len());
    let count = |compaction: &Value, list: &str| compaction[list].as_array().unwrap().len();
    assert_eq!(compactions.len(), 2);
    // By the model: context, message of the user, summary. By the provider: its own items.
    assert_eq!((count(compactions[0], "input_item_ids"), count(compactions[0], "replacement_item_ids")), (3, 3));
    assert_eq!((count(compactions[1], "input_item_ids"), count(compactions[1], "replacement_item_ids")), (5, 4));
    assert_eq!(count(compactions[1], "request_ids"), 2);
    assert_eq!(statuses(&by_start(&state, "compaction_requests")), ["failed", "completed"]);
    // The next request contains the installed history.
    let last = by_start(&state, "inference_calls").pop().unwrap();
    let request = last["request_item_ids"].as_array().unwrap();
    assert_eq!(request[..4], compactions[1]["replacement_item_ids"].as_array().unwrap()[..]);
}

#[tokio::test]
async fn a_request_with_another_token_is_an_attempt_of_its_own() {
    let (world, _directory) = recorded(vec![refuses(1), answer([say("msg_1", "hello")])]);
    assert!(matches!(world.run("hello").await, TurnOutcome::Completed { .. }));
    let sealed = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"});
    let error = ProviderError {
        message: "the token is not valid".to_owned(),
        details: None,
        kind: ErrorKind::Unauthorized,
        retry: RetryDecision::OtherToken { refused: 2 },
        request_id: None,
    };
    *world.provider.compacted.lock().unwrap() = Some(Err(error));
    *world.provider.compacted_later.lock().unwrap() = Some(Ok(vec![sealed.into()]));
    let turn = world.agent.compact().unwrap();
    assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    assert_eq!(*world.provider.renewed.lock().unwrap(), [1, 2]);
    let is_error = |kind: &EventKind| matches!(kind, EventKind::Error { .. });
    assert!(!world.witness.kinds().iter().any(is_error), "{}", world.witness.story());
    let state = graph(&world).await;
    assert_eq!(statuses(&by_start(&state, "codex_turns")), ["completed", "completed"]);
    let inferences = by_start(&state, "inference_calls");
    assert_eq!(statuses(&inferences), ["failed", "completed"]);
    assert_eq!(inferences[0]["request_item_ids"], inferences[1]["request_item_ids"]);
    assert_eq!(statuses(&by_start(&state, "compaction_requests")), ["failed", "completed"]);
}

#[tokio::test]
async fn a_review_is_a_thread_of_its_own() {
    let (world, _directory) = recorded(vec![
        answer([say("msg_1", "earlier")]),
        answer([call("call_1", "echo", &json!(1))]),
        answer([say("msg_2", "all well")]),
    ]);
    world.run("hello").await;
    let turn = world.agent.review("look".to_owned(), "changes".to_owned()).unwrap();
    world.witness.ended(&turn).await;
    world.run("go on").await;
    let state = graph(&world).await;
    let threads = by_start(&state, "threads");
    assert_eq!(threads.len(), 2);
    assert_eq!(threads[1]["agent_path"], "/root/review");
    assert_eq!(threads[1]["origin"]["parent_thread_id"], world.agent.id().as_str());
    assert_eq!(statuses(&threads), ["completed", "completed"]);
    let own = threads[0]["conversation_item_ids"].as_array().unwrap().len();
    assert_eq!(own, world.agent.history().len(), "what the reviewer saw is not the agent's");
}

#[tokio::test]
async fn agents_of_a_tree_share_a_bundle_and_mail_is_accepted() {
    let (world, _directory) = recorded(vec![]);
    world.run("hello").await;
    let child_id = ThreadId::new();
    let child = world.runtime.start(NewAgent {
        recorded: RecordingTarget::BundleOf(world.agent.clone()),
        lineage: Some(Lineage {
            parent: world.agent.id().clone(),
            root: world.agent.id().clone(),
            path: "/root/docs".to_owned(),
            depth: 1,
            nickname: Some("Ada".to_owned()),
            role: Some("writer".to_owned()),
        }),
        ..NewAgent::new(child_id.clone(), settings())
    });
    assert!(child.start_turn(request("directly")).is_err());
    let task = Mail {
        id: format!("amsg_{}", uuid::Uuid::now_v7()),
        author: "/root".to_owned(),
        recipient: "/root/docs".to_owned(),
        content: vec![json!({"type": "input_text", "text": "write the docs"})],
        wake: Wake::Agent,
        root_turn: None,
    };
    for _ in 0..2 {
        let turn = child.deliver(task.clone()).unwrap().unwrap().turn;
        assert!(matches!(world.witness.ended(&turn).await, TurnOutcome::Completed { .. }));
    }
    assert_eq!(child.recording().path(), world.agent.recording().path());
    child.shutdown().await;
    world.agent.shutdown().await;
    let state = state(&world.agent.recording().path().unwrap());
    let thread = &state["threads"][child_id.as_str()];
    assert_eq!((&thread["agent_path"], &thread["nickname"]), (&json!("/root/docs"), &json!("Ada")));
    assert_eq!(thread["origin"]["task_name"], "docs");
    assert_eq!(thread["origin"]["agent_role"], "writer");
    let items = state["conversation_items"].as_object().unwrap().values();
    let mail: Vec<&Value> = items.filter(|item| item.get("agent_message").is_some()).collect();
    assert_eq!(mail.len(), 2);
    assert!(mail.iter().all(|item| item["accepted_seq"].is_u64() && item["agent_message"]["author"] == "/root"));
}

#[tokio::test]
async fn a_thread_that_goes_on_gets_a_bundle_of_its_own() {
    let (world, _directory) = recorded(vec![answer([call("call_1", "slow", &json!({}))])]);
    world.run("hello").await;
    // The state after a process that died: the call has no output.
    let mut history = world.agent.history();
    history.retain(|item| item.get("output").is_none());
    let again = world.runtime.start(NewAgent { history, ..NewAgent::new(world.agent.id().clone(), settings()) });
    let first = graph(&world).await;
    let turn = again.start_turn(request("go on")).unwrap().turn;
    world.witness.ended(&turn).await;
    again.shutdown().await;
    let second = state(&again.recording().path().unwrap());
    assert_ne!(first["trace_id"], second["trace_id"]);
    assert_eq!(first["root_thread_id"], second["root_thread_id"]);
    check_history(&again.history());
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_stops_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let provider = Scripted::new(vec![]);
    let mut options = options(&provider);
    options.recording = Some(TraceRoot::new(file.join("traces"), WriterOptions::default()));
    let world = world_with(provider, options);
    assert!(matches!(world.run("hello").await, TurnOutcome::Completed { .. }));
    world.agent.shutdown().await;
    assert_eq!(world.agent.recording().path(), None);
}
