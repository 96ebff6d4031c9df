//! Tests of the whole server with a client in the same process and the built-in model.

#[cfg(target_os = "linux")]
mod locks;
mod permissions;
mod questions;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use trace_protocol::Experimental;
use trace_recorder::write::{Form, TraceRoot, WriterOptions};
use trace_reducer::state_json;
use trace_runtime::provider::scripted::Scripted;
use trace_runtime::runtime::RuntimeOptions;
use trace_runtime::tool::{self, ToolOptions};
use trace_runtime::tree::{self, Role, TreeLimits};

use crate::config::{ConfigStore, Override};
use crate::outbound::OutboundPolicy;
use crate::server::{Server, ServerOptions};
use crate::services::{ServiceOptions, Variables};
use crate::transport::in_process::{CallError, ClientHandle, Event, Events, connect};

/// Timeout of a test. Only a broken server reaches it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server with a server home and a client.
struct TestServer {
    server: Server,
    model: Arc<Scripted>,
    client: ClientHandle,
    events: Events,
}

impl TestServer {
    async fn start(home: &Path) -> Self {
        Self::start_recording(home, Form::Packed).await
    }

    async fn start_recording(home: &Path, form: Form) -> Self {
        // Login shells of commands read start-up files in their home directory.
        let user = format!("shell_environment_policy.set.HOME=\"{}\"", home.join("user").display());
        let overrides = ["model=\"m\"", "model_provider=\"scripted\"", "sandbox_mode=\"danger-full-access\"", &user];
        let overrides = overrides.map(|text| Override::parse(text).unwrap());
        let configuration = Arc::new(ConfigStore::open(home, &overrides).unwrap());
        let model = Arc::new(Scripted::new());
        let mut tools = tool::standard(ToolOptions::default());
        tools.extend(tree::tools_with_roles(TreeLimits { max_threads: 8, max_depth: 3 }, vec![reader()]));
        let mut runtime = RuntimeOptions::new(vec![Arc::clone(&model) as _], tools);
        let traces = home.join("traces");
        runtime.recording = Some(TraceRoot::new(&traces, WriterOptions { form, ..WriterOptions::default() }));
        let cwd = home.join("work");
        std::fs::create_dir_all(&cwd).unwrap();
        let services = ServiceOptions {
            cwd,
            configuration,
            launcher: None,
            variables: Variables::default(),
            tokens: Arc::default(),
        };
        let options = ServerOptions { home: home.to_owned(), runtime, traces: Some(traces), services };
        let server = Server::start(options).unwrap();
        let (client, events) = connect(server.opener(), OutboundPolicy::Wait);
        client.initialize("whole", "1", Experimental::Enabled).await.unwrap();
        Self { server, model, client, events }
    }

    async fn try_call(&self, method: &str, params: Value) -> Result<Value, String> {
        let answer = tokio::time::timeout(TIMEOUT, self.client.request(method, &params)).await.unwrap();
        match answer {
            Ok(result) => Ok(serde_json::from_str(result.get()).unwrap()),
            Err(CallError::Refused(error)) => Err(error.message),
            Err(error) => panic!("{method}: {error}"),
        }
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, params).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    async fn thread(&self) -> String {
        let started = self.call("thread/start", json!({})).await;
        started["thread"]["id"].as_str().unwrap().to_owned()
    }

    async fn start_turn(&self, thread: &str, script: Value) -> String {
        let started = self.call("turn/start", json!({"threadId": thread, "input": input(&script)})).await;
        started["turn"]["id"].as_str().unwrap().to_owned()
    }

    /// Returns the params of the next notification of a method.
    async fn told(&mut self, method: &str) -> Value {
        self.told_that(method, |_| true).await
    }

    async fn told_that(&mut self, wanted: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = tokio::time::timeout(TIMEOUT, self.events.next()).await.unwrap().unwrap();
            if let Event::Notification { method, params } = event
                && method == wanted
            {
                let params: Value = params.map_or(Value::Null, |params| serde_json::from_str(params.get()).unwrap());
                if fits(&params) {
                    return params;
                }
            }
        }
    }

    async fn run(&mut self, thread: &str, script: Value) -> Value {
        let turn = self.start_turn(thread, script).await;
        self.told_that("turn/completed", |params| params["turn"]["id"] == turn.as_str()).await
    }

    /// Returns the texts of the users, turn by turn.
    async fn said(&self, thread: &str) -> Vec<Vec<String>> {
        let read = self.call("thread/read", json!({"threadId": thread, "includeTurns": true})).await;
        let of_turn = |turn: &Value| {
            let items = turn["items"].as_array().unwrap().iter().filter(|item| item["type"] == "userMessage");
            items.map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
        };
        read["thread"]["turns"].as_array().unwrap().iter().map(of_turn).collect()
    }
}

fn input(script: &Value) -> Value {
    let text = match script {
        Value::String(text) => text.clone(),
        script => format!("RUN {script}"),
    };
    json!([{"type": "text", "text": text}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_prompts_become_separate_turns_in_order() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let first = server.start_turn(&thread, json!([[{"hold": "first"}]])).await;
    for number in 0..12 {
        let params = json!({"threadId": thread, "clientUserMessageId": number.to_string(),
            "input": input(&json!(format!("prompt {number}")))});
        server.call("thread/queue/add", params).await;
    }
    server.model.release("first");
    server.told_that("turn/completed", |params| params["turn"]["id"] == first.as_str()).await;
    for _ in 0..12 {
        server.told("turn/completed").await;
    }
    let said = server.said(&thread).await;
    let expected: Vec<Vec<String>> = (0..12).map(|number| vec![format!("prompt {number}")]).collect();
    assert_eq!(said[1..], expected);
    // An idle thread starts at once, one prompt after the other.
    let add = |number: usize| {
        let params =
            json!({"threadId": thread, "clientUserMessageId": "x", "input": input(&json!(number.to_string()))});
        server.call("thread/queue/add", params)
    };
    futures_util::future::join_all((0..8).map(add)).await;
    for _ in 0..8 {
        server.told("turn/completed").await;
    }
    assert!(server.said(&thread).await[13..].iter().all(|turn| turn.len() == 1));
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_prompts_survive_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.run(&thread, json!("hello")).await;
    server.start_turn(&thread, json!([[{"hold": "never"}]])).await;
    let params = json!({"threadId": thread, "clientUserMessageId": "m", "input": input(&json!("later"))});
    let queued = server.call("thread/queue/add", params).await["queuedSubmission"].clone();
    server.server.shutdown().await;

    let mut server = TestServer::start(home.path()).await;
    server.call("thread/resume", json!({"threadId": thread})).await;
    let waiting = server.call("thread/queue/list", json!({"threadId": thread})).await;
    assert_eq!(waiting["data"], json!([queued]));
    server.run(&thread, json!([[{"say": "on"}]])).await;
    server.told("turn/completed").await;
    assert_eq!(server.said(&thread).await.last().unwrap(), &["later"]);
    let waiting = server.call("thread/queue/list", json!({"threadId": thread})).await;
    assert_eq!(waiting["data"], json!([]));
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_reverted_when_no_turn_runs() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.run(&thread, json!("one")).await;
    let turn = server.run(&thread, json!("two")).await["turn"]["id"].clone();
    let hold = server.start_turn(&thread, json!([[{"hold": "x"}]])).await;
    let params = json!({"threadId": thread, "beforeTurnId": turn});
    let refused = server.try_call("thread/revert", params.clone()).await.unwrap_err();
    assert!(refused.contains("a turn is running"), "{refused}");
    server.model.release("x");
    server.told_that("turn/completed", |params| params["turn"]["id"] == hold.as_str()).await;
    server.call("thread/revert", params).await;
    assert_eq!(server.said(&thread).await, [["one"]]);
    server.run(&thread, json!("three")).await;
    assert_eq!(server.said(&thread).await, [["one"], ["three"]]);
    server.server.shutdown().await;
    let server = TestServer::start(home.path()).await;
    assert_eq!(server.said(&thread).await, [["one"], ["three"]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_of_the_last_turn_is_sent_to_clients_that_join() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let plan = |status: &str| json!({"explanation": "why", "plan": [{"step": "look", "status": status}]});
    let update = |status: &str| json!([{"call": "update_plan", "args": plan(status)}]);
    let turn = server.start_turn(&thread, json!([update("pending"), update("in_progress"), [{"hold": "x"}]])).await;
    let is_newest = |params: &Value| params["plan"][0]["status"] == "inProgress";
    let first = server.told_that("turn/plan/updated", is_newest).await;
    assert_eq!((&first["turnId"], &first["explanation"]), (&json!(turn), &json!("why")));
    let resume = json!({"threadId": thread, "excludeTurns": true});
    server.call("thread/resume", resume.clone()).await;
    assert_eq!(server.told("turn/plan/updated").await, first);
    server.model.release("x");
    server.told("turn/completed").await;
    server.server.shutdown().await;

    let mut server = TestServer::start(home.path()).await;
    server.call("thread/resume", resume.clone()).await;
    assert_eq!(server.told("turn/plan/updated").await, first, "it is stored");
    // A turn that is dropped has no plan any more, and another turn begins without one.
    let kept = server.run(&thread, json!([update("completed")])).await["turn"]["id"].clone();
    server.call("thread/revert", json!({"threadId": thread, "beforeTurnId": kept})).await;
    server.call("thread/resume", resume.clone()).await;
    server.run(&thread, json!([[{"say": "next"}]])).await;
    server.call("thread/resume", resume).await;
    let last = server.start_turn(&thread, json!([update("pending")])).await;
    assert_eq!(server.told("turn/plan/updated").await["turnId"], last.as_str());
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_can_be_followed_from_before_the_first_turn() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let subscribed = server.call("trace/subscribe", json!({"threadId": thread})).await;
    let id = subscribed["subscriptionId"].clone();
    let traces = server.call("trace/list", json!({})).await;
    assert_eq!(traces["data"][0]["threadIds"], json!([thread]));
    server.run(&thread, json!("hello")).await;
    let seen = server.told("trace/changed").await;
    assert_eq!(seen["subscriptionId"], id);
    let child = json!([[{"call": "spawn_agent", "ns": "collaboration", "args": {"task_name": "a", "message": "hi"}}]]);
    server.start_turn(&thread, child).await;
    // The turns of the root and of the child. The response to `trace/read` comes after everything so far is on disk.
    server.told("turn/completed").await;
    server.told("turn/completed").await;
    server.call("trace/read", json!({"threadId": thread})).await;
    let traces = server.call("trace/list", json!({})).await;
    assert_eq!(traces["data"][0]["threadIds"].as_array().unwrap().len(), 2);
    let path = traces["data"][0]["path"].clone();
    assert!(path.as_str().unwrap().ends_with(".trace"), "a file that grows");
    let again = server.call("trace/list", json!({})).await;
    assert_eq!(again["data"], traces["data"]);
    server.server.shutdown().await;
    let server = TestServer::start(home.path()).await;
    let finished = server.call("trace/list", json!({"status": "finished"})).await;
    assert_eq!(finished["data"][0]["threadIds"], traces["data"][0]["threadIds"]);
    let whole = server.call("trace/read", json!({"tracePath": path})).await;
    let compact = server.call("trace/read", json!({"tracePath": path, "compact": true})).await;
    assert_eq!((&compact["lastSeq"], &compact["state"]["compact"]), (&whole["lastSeq"], &json!(1)));
    let mut expanded = Vec::new();
    state_json::expand(&compact["state"].to_string(), state_json::Style::Compact, &mut expanded).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&expanded).unwrap(), whole["state"]);
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_configures_a_thread_that_it_resumes() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let started = server.call("thread/start", json!({"model": "first"})).await;
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    server.run(&thread, json!("hello")).await;
    server.server.shutdown().await;
    let server = TestServer::start(home.path()).await;
    let config = json!({"model_reasoning_effort": "high", "features": {"shell_tool": false}});
    let resumed = server.call("thread/resume", json!({"threadId": thread, "config": config})).await;
    // Stored settings are kept, unless the client overrides them.
    assert_eq!((&resumed["model"], &resumed["reasoningEffort"]), (&json!("first"), &json!("high")));
    let mut server = server;
    let call = json!([[{"call": "exec_command", "args": {"cmd": "true"}}]]);
    server.run(&thread, call).await;
    let read = server.call("thread/read", json!({"threadId": thread, "includeTurns": true})).await;
    assert!(!read.to_string().contains("commandExecution"), "{read}");
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_a_turn_change_only_while_it_runs() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let turn = server.start_turn(&thread, json!([[{"hold": "x"}]])).await;
    let update = |turn: &str| json!({"threadId": thread, "turnId": turn, "effort": "low"});
    assert_eq!(server.call("turn/settings/update", update(&turn)).await["status"], "applied");
    assert_eq!(server.call("turn/settings/update", update("other")).await["status"], "targetUnavailable");
    server.model.release("x");
    server.told("turn/completed").await;
    assert_eq!(server.call("turn/settings/update", update(&turn)).await["status"], "targetUnavailable");
    server.server.shutdown().await;
}

/// Returns a role.
fn reader() -> Role {
    Role {
        name: "reader".to_owned(),
        description: "reads".to_owned(),
        model: Some("small".to_owned()),
        effort: Some("low".to_owned()),
        instructions: Some("Read every word.".to_owned()),
    }
}

/// Returns a call of a tool for communication between agents.
#[expect(clippy::needless_pass_by_value, reason = "scripts are written in place")]
fn agents(tool: &str, arguments: Value) -> Value {
    json!({"call": tool, "ns": "collaboration", "args": arguments})
}

#[expect(clippy::needless_pass_by_value, reason = "scripts are written in place")]
fn spawn(name: &str, script: Value) -> Value {
    agents("spawn_agent", json!({"task_name": name, "fork_turns": "none", "message": format!("RUN {script}")}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_comes_back_with_its_root() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let below = json!([[spawn("below", json!([[{"say": "deep"}]]))], [agents("wait_agent", json!({}))]]);
    let script = json!([
        [
            spawn("done", json!([[{"say": "the answer"}]])),
            spawn("cut", json!([[{"hold": "never"}]])),
            spawn("above", below)
        ],
        [agents("wait_agent", json!({}))],
        [agents("send_message", json!({"target": "done", "message": "by the way"}))],
    ]);
    server.start_turn(&thread, script).await;
    // All turns except the interrupted one: that of the root, and three below it.
    for _ in 0..4 {
        server.told("turn/completed").await;
    }
    server.server.shutdown().await;

    for round in 0..2 {
        let mut server = TestServer::start(home.path()).await;
        server.call("thread/resume", json!({"threadId": thread})).await;
        let loaded = server.call("thread/loaded/list", json!({})).await;
        assert_eq!(loaded["data"].as_array().unwrap().len(), 5, "{loaded}");
        let script = json!([[agents("list_agents", json!({}))], [{"say": "listed"}]]);
        server.run(&thread, script).await;
        let state = server.call("trace/read", json!({"threadId": thread})).await["state"].clone();
        let text = state.to_string();
        let listed = ["/root", "/root/above", "/root/above/below", "/root/cut", "/root/done"];
        for path in listed {
            assert!(text.contains(&format!("\\\"agent_name\\\":\\\"{path}\\\"")), "{path}: {text}");
        }
        // It is reported once, regardless of what comes later.
        let told = text.matches("was interrupted before it was done").count();
        assert!(if round == 0 { told > 0 } else { told <= 2 }, "round {round}: {told}");
        if round == 1 {
            let script = json!([
                [agents("followup_task", json!({"target": "done", "message": "RUN [[{\"say\": \"again\"}]]"}))],
                [agents("wait_agent", json!({}))],
            ]);
            server.run(&thread, script).await;
            let state = server.call("trace/read", json!({"threadId": thread})).await["state"].to_string();
            assert!(state.contains("by the way"), "the mail still exists");
            assert!(state.contains("again"), "{state}");
        }
        server.server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_keeps_the_settings_of_its_role_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let task = |role: &str| json!({"task_name": role, "role": role, "message": "RUN [[{\"say\": \"read\"}]]"});
    let script = json!([
        [agents("spawn_agent", task("reader")), agents("spawn_agent", task("writer"))],
        [agents("wait_agent", json!({}))],
    ]);
    server.start_turn(&thread, script).await;
    server.told("turn/completed").await;
    server.told("turn/completed").await;
    let state = server.call("trace/read", json!({"threadId": thread})).await["state"].to_string();
    assert!(state.contains("there is no role `writer`"), "{state}");
    assert!(state.contains("Read every word."), "{state}");
    for _ in 0..2 {
        let loaded = server.call("thread/loaded/list", json!({})).await;
        let child = loaded["data"].as_array().unwrap().iter().find(|id| **id != thread.as_str()).unwrap().clone();
        let resumed = server.call("thread/resume", json!({"threadId": child})).await;
        assert_eq!((&resumed["model"], &resumed["reasoningEffort"]), (&json!("small"), &json!("low")));
        assert_eq!(resumed["thread"]["agentRole"], "reader");
        server.server.shutdown().await;
        server = TestServer::start(home.path()).await;
        server.call("thread/resume", json!({"threadId": thread})).await;
    }
    let again = json!([
        [agents("followup_task", json!({"target": "reader", "message": "RUN [[{\"say\": \"again\"}]]"}))],
        [agents("wait_agent", json!({}))],
    ]);
    server.start_turn(&thread, again).await;
    server.told("turn/completed").await;
    server.told("turn/completed").await;
    let state = server.call("trace/read", json!({"threadId": thread})).await["state"].clone();
    let calls = state["inference_calls"].as_object().unwrap().values();
    let models: HashSet<&str> = calls.map(|call| call["model"].as_str().unwrap()).collect();
    assert_eq!(models, HashSet::from(["m", "small"]));
    assert!(state.to_string().contains("Read every word."), "{state}");
    server.server.shutdown().await;
}

/// Copies a folder in the state in which a killed process leaves it: with everything that was written, but without what
/// was only in memory. The index is left out, because a database cannot be copied while it is written.
fn copy_as_if_killed(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_as_if_killed(&entry.path(), &to);
        } else if entry.file_type().unwrap().is_file() && !entry.file_name().to_string_lossy().contains(".sqlite") {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns the path of a thread's rollout.
fn rollout(home: &Path, thread: &str) -> PathBuf {
    let mut found = Vec::new();
    files(home, &mut found);
    let is_its = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with("rollout-") && name.contains(thread)
        })
    };
    found.into_iter().find(is_its).unwrap()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

/// Returns the number of agents that have read a task.
fn readers(home: &Path) -> usize {
    let mut found = Vec::new();
    files(home, &mut found);
    let reads = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.contains("\"type\":\"agent_message\"") && text.contains("Message Type: NEW_TASK")
    };
    let rollouts = found.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    rollouts.filter(|path| !path.ends_with("trace.jsonl")).filter(reads).count()
}

/// Returns the lines of a thread's rollout that store mail.
fn mail_lines(home: &Path, thread: &str) -> Vec<String> {
    let text = std::fs::read_to_string(rollout(home, thread)).unwrap();
    text.lines().filter(|line| line.contains("agent_mail_queued")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_a_killed_server_did_not_deliver_are_delivered_once() {
    let (home, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let script = json!([
        [spawn("first", json!([[{"say": "early"}]]))],
        [{"hold": "told"}, agents("list_agents", json!({}))],
        [spawn("late", json!([[{"say": "the late answer"}]])), spawn("cut", json!([[{"hold": "cut"}]]))],
        [{"hold": "root"}],
    ]);
    server.start_turn(&thread, script).await;
    server.told("turn/completed").await;
    server.model.release("told");
    // Two children have ended, and the root has stored their results. The third child has read its task.
    server.told("turn/completed").await;
    tokio::time::timeout(TIMEOUT, async {
        while mail_lines(home.path(), &thread).len() < 2 || readers(home.path()) < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    copy_as_if_killed(home.path(), killed.path());
    server.model.release("cut");
    server.model.release("root");
    server.server.shutdown().await;

    // The server died before the late answer was stored in the root's rollout.
    let path = rollout(killed.path(), &thread);
    let text = std::fs::read_to_string(&path).unwrap();
    let kept = text.lines().filter(|line| !(line.contains("agent_mail_queued") && line.contains("the late answer")));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    assert!(kept.len() < text.len());
    std::fs::write(&path, kept).unwrap();
    assert_eq!(mail_lines(killed.path(), &thread).len(), 1);
    for _ in 0..2 {
        let mut server = TestServer::start(killed.path()).await;
        server.call("thread/resume", json!({"threadId": thread})).await;
        server.run(&thread, json!([[{"say": "seen"}]])).await;
        server.server.shutdown().await;
        let told = mail_lines(killed.path(), &thread);
        assert_eq!(told.len(), 3, "{told:#?}");
        assert_eq!(told.iter().filter(|line| line.contains("the late answer")).count(), 1);
        assert_eq!(told.iter().filter(|line| line.contains("was interrupted before it was done")).count(), 1);
    }
}

/// A root with two children and a grandchild, all of which are running a turn. After `until`, the root spawns another
/// child.
fn busy_tree(until: &Value) -> Value {
    let above = json!([[spawn("below", json!([[{"hold": "never"}]]))], [{"hold": "never"}]]);
    json!([
        [spawn("above", above), spawn("beside", json!([[{"hold": "never"}]]))],
        until,
        [spawn("instead", json!([[{"hold": "never"}]]))],
        [{"hold": "never"}],
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_tree_is_archived_and_deleted_as_a_whole() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    let begin = async |server: &mut TestServer| {
        let wait = json!([agents("wait_agent", json!({"timeout_ms": 3_600_000}))]);
        server.start_turn(&thread, busy_tree(&wait)).await;
        for _ in 0..4 {
            server.told("turn/started").await;
        }
    };
    begin(&mut server).await;
    server.call("thread/archive", json!({"threadId": thread})).await;
    let mut archived = HashSet::new();
    for _ in 0..4 {
        archived.insert(server.told("thread/archived").await["threadId"].as_str().unwrap().to_owned());
    }
    assert_eq!(archived.len(), 4);
    let loaded = server.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));

    server.call("thread/unarchive", json!({"threadId": thread})).await;
    server.call("thread/resume", json!({"threadId": thread})).await;
    let loaded = server.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"].as_array().unwrap().len(), 4, "{loaded}");
    // The interrupted agents are still known by their names, and the root can use them.
    server.run(&thread, json!([[agents("list_agents", json!({}))], [{"say": "listed"}]])).await;
    let told = mail_lines(home.path(), &thread);
    let cut = told.iter().filter(|line| line.contains("was interrupted before it was done")).count();
    assert_eq!((cut, told.len()), (2, 2), "one for each child of the root: {told:#?}");

    let again = json!([
        [agents("followup_task", json!({"target": "above", "message": "RUN [[{\"hold\": \"never\"}]]"}))],
        [agents("wait_agent", json!({"timeout_ms": 3_600_000}))],
        [spawn("instead", json!([[{"hold": "never"}]]))],
    ]);
    server.start_turn(&thread, again).await;
    server.told("turn/started").await;
    server.told("turn/started").await;
    server.call("thread/delete", json!({"threadId": thread})).await;
    for _ in 0..4 {
        archived.remove(server.told("thread/deleted").await["threadId"].as_str().unwrap());
    }
    assert_eq!(archived, HashSet::new());
    assert_eq!(server.call("thread/loaded/list", json!({})).await["data"], json!([]));
    let mut left = Vec::new();
    files(home.path(), &mut left);
    left.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("rollout-"));
    assert_eq!(left, Vec::<PathBuf>::new());
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_child_is_archived_with_its_descendants() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.start_turn(&thread, busy_tree(&json!([{"hold": "until"}, agents("list_agents", json!({}))]))).await;
    let mut above = None;
    for _ in 0..4 {
        let started = server.told("turn/started").await["threadId"].clone();
        let read = server.call("thread/read", json!({"threadId": started})).await;
        let is_childs = read["thread"]["parentThreadId"] == thread.as_str();
        if is_childs && read.to_string().contains("\"/root/above\"") {
            above = Some(started);
        }
    }
    server.call("thread/archive", json!({"threadId": above.unwrap()})).await;
    server.told("thread/archived").await;
    server.told("thread/archived").await;
    // The root is notified, and can spawn another child.
    server.model.release("until");
    server.told("turn/started").await;
    let told = mail_lines(home.path(), &thread);
    assert_eq!(told.iter().filter(|line| line.contains("was interrupted before it was done")).count(), 1, "{told:#?}");
    let loaded = server.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"].as_array().unwrap().len(), 3, "the root, one beside, one instead: {loaded}");
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resuming_a_child_resumes_its_root() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.run(&thread, json!([[spawn("a", json!([[{"say": "x"}]]))], [agents("wait_agent", json!({}))]])).await;
    let listed = server.call("thread/loaded/list", json!({})).await;
    let child = listed["data"].as_array().unwrap().iter().find(|id| **id != thread.as_str()).unwrap().clone();
    server.server.shutdown().await;
    let server = TestServer::start(home.path()).await;
    let resumed = server.call("thread/resume", json!({"threadId": child})).await;
    assert_eq!(resumed["thread"]["parentThreadId"], thread.as_str());
    assert_eq!(server.call("thread/loaded/list", json!({})).await["data"].as_array().unwrap().len(), 2);
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goals_are_pursued_until_the_agent_says_how_they_ended() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.run(&thread, json!("hello")).await;
    // Each turn runs the next step of it, because the model uses the newest message with a script.
    let update = json!({"call": "update_goal", "args": {"status": "complete"}});
    let objective = format!(
        "RUN {}",
        json!([[{"call": "exec_command", "args": {"cmd": "true"}}, {"tokens": 50}], [{"say": "on"}, {"tokens": 50}]])
    );
    let set = json!({"threadId": thread, "objective": objective, "tokenBudget": 400});
    assert_eq!(server.call("thread/goal/set", set).await["goal"]["status"], "active");
    let ended = server.told_that("thread/goal/updated", |params| params["goal"]["status"] == "budgetLimited").await;
    assert!(ended["goal"]["tokensUsed"].as_i64().unwrap() >= 400, "{ended}");
    assert!(server.said(&thread).await.len() > 2);
    let set = json!({"threadId": thread, "objective": format!("RUN {}", json!([[update], [{"say": "done"}]]))});
    server.call("thread/goal/set", set).await;
    server.told_that("thread/goal/updated", |params| params["goal"]["status"] == "complete").await;
    server.told("turn/completed").await;
    // An agent that only sends messages is not asked forever.
    let turns = server.said(&thread).await.len();
    server.call("thread/goal/set", json!({"threadId": thread, "objective": "say something"})).await;
    server.told("turn/completed").await;
    let goal = server.call("thread/goal/get", json!({"threadId": thread})).await;
    assert_eq!(goal["goal"]["status"], "active");
    assert_eq!(server.said(&thread).await.len(), turns + 1);
    let hold = json!([[{"hold": "x"}]]);
    let turn = server.start_turn(&thread, hold).await;
    server.call("turn/interrupt", json!({"threadId": thread, "turnId": turn})).await;
    server.told_that("thread/goal/updated", |params| params["goal"]["status"] == "paused").await;
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goals_and_mail_survive_a_revert() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.run(&thread, json!("one")).await;
    let paused = json!({"threadId": thread, "objective": "old", "status": "paused"});
    server.call("thread/goal/set", paused).await;
    let answer = json!([[{"hold": "a"}, {"say": "the answer"}]]);
    let turn = server.run(&thread, json!([[spawn("a", answer)]])).await;
    // The answer must not be read earlier, because reverting a turn also drops the mail that was read in it.
    server.model.release("a");
    server.told("turn/completed").await;
    let done = json!({"threadId": thread, "status": "complete"});
    server.call("thread/goal/set", done).await;
    server.call("thread/revert", json!({"threadId": thread, "beforeTurnId": turn["turn"]["id"]})).await;
    for _ in 0..2 {
        server.server.shutdown().await;
        server = TestServer::start(home.path()).await;
        server.call("thread/resume", json!({"threadId": thread})).await;
        let goal = server.call("thread/goal/get", json!({"threadId": thread})).await["goal"].clone();
        assert_eq!((&goal["objective"], &goal["status"]), (&json!("old"), &json!("complete")));
    }
    server.run(&thread, json!([[{"say": "and?"}]])).await;
    let state = server.call("trace/read", json!({"threadId": thread})).await["state"].clone();
    let items = state["conversation_items"].as_object().unwrap().values();
    let told = items.filter(|item| item.to_string().contains("the answer") && item["thread_id"] == thread.as_str());
    assert_eq!(told.count(), 1, "the agent's answer is read once: {state}");
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_that_a_root_lacks_are_missing_in_resumed_agents() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.start_turn(&thread, json!([[spawn("a", json!([[{"say": "x"}]]))], [agents("wait_agent", json!({}))]])).await;
    server.told("turn/completed").await;
    server.told("turn/completed").await;
    server.server.shutdown().await;
    let mut server = TestServer::start(home.path()).await;
    let config = json!({"features": {"shell_tool": false}});
    server.call("thread/resume", json!({"threadId": thread, "config": config})).await;
    let task = json!([[{"call": "exec_command", "args": {"cmd": "echo ran"}}], [{"say": "tried"}]]);
    let task = agents("followup_task", json!({"target": "a", "message": format!("RUN {task}")}));
    server.start_turn(&thread, json!([[task], [agents("wait_agent", json!({}))]])).await;
    server.told("turn/completed").await;
    server.told("turn/completed").await;
    let state = server.call("trace/read", json!({"threadId": thread})).await["state"].to_string();
    assert!(state.contains("unsupported call: exec_command"), "{state}");
    // The whole tree is archived and unarchived.
    server.call("thread/archive", json!({"threadId": thread})).await;
    server.call("thread/unarchive", json!({"threadId": thread})).await;
    server.call("thread/resume", json!({"threadId": thread})).await;
    assert_eq!(server.call("thread/loaded/list", json!({})).await["data"].as_array().unwrap().len(), 2);
    server.server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_objective_is_pursued_at_once() {
    let home = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(home.path()).await;
    let thread = server.thread().await;
    server.call("thread/goal/set", json!({"threadId": thread, "objective": "talk"})).await;
    server.told("turn/completed").await;
    server.call("thread/goal/set", json!({"threadId": thread, "objective": "talk more"})).await;
    server.told("turn/completed").await;
    assert_eq!(server.said(&thread).await.len(), 2);
    // A turn of the user in between does not stop the goal.
    server.run(&thread, json!("how far are you?")).await;
    server.told("turn/completed").await;
    assert_eq!(server.said(&thread).await.len(), 4);
    server.server.shutdown().await;
}
