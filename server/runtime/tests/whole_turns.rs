//! Commands and patches in turns of an agent: the order of events, and the recording.

mod support;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
use support::{Reply, World, command};
use tempfile::TempDir;
use trace_recorder::Bundle;
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_reducer::{Options, reduce, state_json};
use trace_runtime::control::TurnRequest;
use trace_runtime::event::{EventKind, TurnOutcome};
use trace_runtime::host::{Answer, Decision};
use trace_runtime::item::{Input, ItemKind, ModelItem, WorkStatus};
use trace_runtime::provider::{ModelEvent, Provider, ProviderError, Request, RetryPolicy};
use trace_runtime::settings::{ApprovalPolicy, Network, SandboxPolicy};
use trace_runtime::tool::{ToolOptions, standard};
use trace_runtime::{NewAgent, Runtime, RuntimeOptions, ThreadId};

/// A model that makes the given calls and then says that it is done. `SESSION` in an argument is replaced by the id of the
/// running command.
struct Script(Mutex<VecDeque<Vec<(&'static str, Value)>>>);

impl Provider for Script {
    fn name(&self) -> &str {
        "p"
    }

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy { request_retries: 0, stream_retries: 0, idle_timeout: Duration::from_secs(60) }
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let mut steps = self.0.lock().expect("nobody panicked");
        let left = steps.len();
        let seen = request.body.value().to_string();
        let session = seen
            .rsplit_once("running with session ID ")
            .map_or("0", |(_, rest)| rest.split('\\').next().unwrap_or("0"));
        let calls = steps.pop_front().unwrap_or_default();
        let mut events = vec![ModelEvent::Created { response_id: None, request_id: None }];
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let (id, call_id) = (format!("fc_{left}_{index}"), format!("call_{left}_{index}"));
            let arguments = arguments.to_string().replace("\"SESSION\"", session);
            let item =
                json!({ "type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments });
            events.push(ModelEvent::ItemDone(item));
        }
        if calls.is_empty() {
            let content = json!([{ "type": "output_text", "text": "done" }]);
            let item = json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": content });
            events.push(ModelEvent::ItemDone(item));
        }
        events.push(ModelEvent::Completed { response_id: None, usage: None, raw_usage: None });
        stream::iter(events.into_iter().map(Ok)).boxed()
    }

    fn compact(&self, _: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        None
    }
}

/// Returns an agent that records, with a model that makes these calls.
fn world(steps: Vec<Vec<(&'static str, Value)>>, change: impl FnOnce(&mut World)) -> (TempDir, World) {
    let folder = tempfile::tempdir().expect("a folder");
    let cwd = folder.path().canonicalize().expect("a path").join("work");
    std::fs::create_dir(&cwd).expect("a folder");
    let mut world = World::new(&cwd, ToolOptions::default());
    change(&mut world);
    let mut options =
        RuntimeOptions::new(vec![Arc::new(Script(Mutex::new(steps.into())))], standard(ToolOptions::default()));
    options.recording = Some(TraceRoot::new(folder.path().join("traces"), WriterOptions::default()));
    let runtime = Runtime::new(options, Arc::clone(&world.host) as _);
    world.agent = runtime.start(NewAgent::new(ThreadId::new(), world.settings.clone()));
    (folder, world)
}

impl World {
    fn start(&self) {
        let input = vec![Input::Text { text: "go".to_owned(), elements: Vec::new() }];
        self.agent.start_turn(TurnRequest { input, ..TurnRequest::default() }).expect("a turn");
    }

    fn outcome(&self) -> Option<TurnOutcome> {
        self.events()
            .into_iter()
            .find_map(|event| if let EventKind::TurnEnded { outcome, .. } = event { Some(outcome) } else { None })
    }

    async fn finish(&self) -> (TurnOutcome, Value) {
        self.until("the end of the turn", |world| world.outcome().is_some()).await;
        let bundle: PathBuf = self.agent.recording().path().expect("a recording");
        self.agent.shutdown().await;
        let options = Options { strict: true, ..Options::default() };
        let reduction = reduce(&Bundle::open(&bundle).expect("a bundle"), options).expect("reduces");
        let mut text = Vec::new();
        state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("a state");
        let state: Value = serde_json::from_slice(&text).expect("JSON");
        if let Some(theirs) = trace_needs::state_by_peer(&bundle) {
            let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
            assert_eq!(state, theirs);
        }
        (self.outcome().expect("it has ended"), state)
    }

    /// Returns the outputs that the model got.
    fn outputs(&self) -> Vec<String> {
        let history = self.agent.history();
        let outputs = history.iter().filter(|item| item["type"] == "function_call_output");
        outputs.map(|item| item["output"].as_str().map_or_else(|| item["output"].to_string(), str::to_owned)).collect()
    }

    /// Checks that every item of the turn completed before the turn ended, except background commands.
    fn check_items(&self) {
        let events = self.events();
        let end = events.iter().position(|event| matches!(event, EventKind::TurnEnded { .. })).expect("it has ended");
        let ids = |events: &[EventKind], is_start: bool| -> Vec<String> {
            let found = events.iter().filter_map(|event| match event {
                EventKind::ItemStarted { item, .. } if is_start => Some(item.id.to_string()),
                EventKind::ItemCompleted { item, .. } if !is_start => Some(item.id.to_string()),
                _ => None,
            });
            let mut ids: Vec<String> = found.collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&events[..end], true), ids(&events[..end], false));
    }
}

fn sh(line: &str) -> (&'static str, Value) {
    ("exec_command", json!({ "cmd": line, "login": false, "yield_time_ms": 30000 }))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tools_did_is_in_the_recording() {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\nEOF\n";
    let steps = vec![
        vec![sh("echo one; exit 3"), sh(patch), ("no_such_tool", json!({}))],
        vec![(
            "exec_command",
            json!({ "cmd": "read x; echo got $x", "tty": true, "login": false, "yield_time_ms": 250 }),
        )],
        vec![("write_stdin", json!({ "session_id": "SESSION", "chars": "hello\n", "yield_time_ms": 30000 }))],
    ];
    let (_folder, world) = world(steps, |_| {});
    world.start();
    let (outcome, state) = world.finish().await;
    assert!(matches!(outcome, TurnOutcome::Completed { .. }), "{outcome:?}");
    world.check_items();
    let outputs = world.outputs();
    assert!(outputs[0].contains("Process exited with code 3\n") && outputs[1].contains("A made.txt"), "{outputs:?}");
    assert!(outputs[4].contains("got hello"), "{outputs:?}");
    let calls: Vec<&Value> = state["tool_calls"].as_object().expect("calls").values().collect();
    let mut kinds: Vec<(&str, &str)> = calls
        .iter()
        .map(|call| {
            (call["kind"]["type"].as_str().expect("a kind"), call["execution"]["status"].as_str().expect("a status"))
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            ("apply_patch", "completed"),
            ("exec_command", "completed"),
            ("exec_command", "completed"),
            ("other", "failed"),
            ("write_stdin", "completed")
        ]
    );
    let operations: Vec<&Value> = state["terminal_operations"].as_object().expect("operations").values().collect();
    let results: Vec<(&Value, &Value, &Value)> = operations
        .iter()
        .map(|operation| (&operation["kind"], &operation["result"]["exit_code"], &operation["execution"]["status"]))
        .collect();
    assert_eq!(results.len(), 3, "{operations:#?}");
    assert!(results.contains(&(&json!("exec_command"), &json!(3), &json!("failed"))), "{results:?}");
    assert!(results.contains(&(&json!("exec_command"), &json!(0), &json!("completed"))), "{results:?}");
    let sessions = state["terminal_sessions"].as_object().expect("sessions");
    let shared =
        sessions.values().find(|session| session["operation_ids"].as_array().is_some_and(|ids| ids.len() == 2));
    assert!(shared.is_some(), "the write joins the session of its command: {sessions:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_patches_of_one_answer_see_each_other_in_order() {
    let patch = |body: &str| ("apply_patch", json!({ "input": format!("*** Begin Patch\n{body}*** End Patch\n") }));
    let mut calls = vec![patch("*** Add File: a.txt\n+0\n")];
    for number in 0..5 {
        calls.push(sh("sleep 0.05; cat a.txt"));
        calls.push(sh("cat a.txt"));
        calls.push(patch(&format!("*** Update File: a.txt\n@@\n-{number}\n+{}\n", number + 1)));
    }
    let (_folder, world) = world(vec![calls], |_| {});
    world.start();
    let (outcome, _) = world.finish().await;
    assert!(matches!(outcome, TurnOutcome::Completed { .. }), "{outcome:?}");
    let outputs = world.outputs();
    for number in 0..5 {
        let shown = format!("\n{number}\n");
        let [first, second, patched] = &outputs[1 + 3 * number..4 + 3 * number] else { panic!("{outputs:?}") };
        assert!(first.ends_with(&shown) && second.ends_with(&shown), "{number}: {first} {second}");
        assert!(patched.contains("M a.txt"), "{patched}");
    }
}

/// A call that waits for a running call has not started when the turn is interrupted, and never starts.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_does_not_begin_once_the_turn_is_stopped() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n";
    let steps = vec![vec![sh("echo begun; sleep 1000"), ("apply_patch", json!({ "input": patch }))]];
    let (folder, world) = world(steps, |_| {});
    world.start();
    world.until("output", |world| world.told("call_1_0") == "begun\n").await;
    world.agent.interrupt_any().expect("a turn runs").await;
    let (outcome, state) = world.finish().await;
    assert_eq!((outcome, folder.path().join("work/a.txt").exists()), (TurnOutcome::Interrupted, false));
    assert_eq!(world.outputs()[1], "aborted");
    let calls = state["tool_calls"].as_object().expect("calls");
    assert_eq!(calls["call_1_1"]["execution"]["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_completes_a_command_before_its_turn_ends() {
    let (_folder, world) = world(vec![vec![sh("echo begun; sleep 1000")]], |_| {});
    world.start();
    world.until("output", |world| world.told("call_1_0") == "begun\n").await;
    world.agent.interrupt_any().expect("a turn runs").await;
    let (outcome, state) = world.finish().await;
    assert_eq!(outcome, TurnOutcome::Interrupted);
    world.check_items();
    assert_eq!(world.outputs().len(), 1);
    let status = &state["terminal_operations"].as_object().expect("operations").values().next().expect("one")["execution"]
        ["status"];
    assert_eq!(status, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_background_outlives_its_turn() {
    let call = ("exec_command", json!({ "cmd": "exec sleep 1000", "login": false, "yield_time_ms": 250 }));
    let (_folder, world) = world(vec![vec![call]], |_| {});
    world.start();
    world.until("the end of the turn", |world| world.outcome().is_some()).await;
    assert_eq!(
        (
            world.started().iter().filter(|item| matches!(item.kind, ItemKind::Command(_))).count(),
            world.agent.terminals().list().len()
        ),
        (1, 1)
    );
    assert!(!world.completed().iter().any(|item| matches!(item.kind, ItemKind::Command(_))));
    world.finish().await;
    assert!(world.completed().iter().any(|item| matches!(item.kind, ItemKind::Command(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_approval_interrupts_the_turn() {
    let mut escalated = sh("touch made");
    escalated.1["sandbox_permissions"] = json!("require_escalated");
    let (_folder, world) = world(vec![vec![escalated]], |world| {
        world.settings.approval = ApprovalPolicy::OnRequest;
        world.settings.sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
    });
    world.reply(Reply::Give(Answer::Decision(Decision::Cancel)));
    world.start();
    let (outcome, _) = world.finish().await;
    assert_eq!(outcome, TurnOutcome::Interrupted);
    world.check_items();
    let items = world.completed();
    let item = items.iter().find(|item| matches!(item.kind, ItemKind::Command(_))).expect("a command");
    assert_eq!(command(item).status, WorkStatus::Declined);
}
