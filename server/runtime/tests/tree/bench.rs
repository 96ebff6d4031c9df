//! A runtime with a scripted model, a host that stores events, and a recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};
use trace_recorder::bundle::Bundle;
use trace_recorder::write::{TraceRoot, WriterOptions};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};
use trace_runtime::event::TurnOutcome;
use trace_runtime::host::QuestionId;
use trace_runtime::item::{Activity, Input, Item, ItemKind, ModelItem};
use trace_runtime::provider::Scripted;
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy};
use trace_runtime::tool::{AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};
use trace_runtime::tree::{self, NAMESPACE, TreeLimits};
use trace_runtime::{
    Agent, AgentHost, Answer, Event, EventKind, Host, NewAgent, Question, Runtime, RuntimeOptions, Settings, ThreadId,
    TurnId, TurnRequest,
};

/// A timeout that is never reached; test time is simulated.
const PATIENCE: Duration = Duration::from_secs(7200);

type Listener = Box<dyn FnMut(&ThreadId, &EventKind) + Send>;

/// A host that stores events.
#[derive(Default)]
pub(crate) struct Ears {
    heard: Mutex<Vec<(ThreadId, EventKind)>>,
    adopted: Mutex<Vec<Agent>>,
    released: Mutex<Vec<ThreadId>>,
    /// Another listener for the events.
    pub(crate) listener: Mutex<Option<Listener>>,
    changes: watch::Sender<usize>,
}

impl Host for Ears {
    fn event(&self, thread: &ThreadId, event: Event) {
        if let Some(listener) = &mut *self.listener.lock().expect("nobody broke down with it") {
            listener(thread, &event.kind);
        }
        self.heard.lock().expect("nobody broke down with it").push((thread.clone(), event.kind));
        self.changes.send_modify(|count| *count += 1);
    }

    /// Answers questions of the model to the user and calls of the client's tools; declines anything else.
    fn ask(&self, _: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId {
        let answer = match question {
            Question::UserInput { questions, .. } => {
                let ids = questions.iter().filter_map(|question| question["id"].as_str());
                Answer::UserInput(ids.map(|id| (id.to_owned(), vec!["yes".to_owned()])).collect())
            }
            Question::DynamicTool { .. } => Answer::DynamicTool {
                success: true,
                content: vec![json!({ "type": "inputText", "text": "the client did it" })],
            },
            _ => return QuestionId(0),
        };
        // The receiver may have been dropped.
        let _ = reply.send(answer);
        QuestionId(0)
    }

    fn withdraw(&self, _: &ThreadId, _: QuestionId) {}

    fn ready(&self, _: &ThreadId) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

impl AgentHost for Ears {
    fn adopt(&self, child: Agent) {
        let is_new =
            self.heard.lock().expect("nobody broke down with it").iter().all(|(thread, _)| thread != child.id());
        assert!(is_new, "a thread is adopted before anything happens in it");
        self.adopted.lock().expect("nobody broke down with it").push(child);
        self.changes.send_modify(|count| *count += 1);
    }

    fn release(&self, child: &Agent) {
        self.released.lock().expect("nobody broke down with it").push(child.id().clone());
        self.changes.send_modify(|count| *count += 1);
    }
}

/// A tool that takes time.
pub(crate) struct Pause;

impl Tool for Pause {
    fn specification(&self, _: &Settings) -> Option<Value> {
        None
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "pause"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        CallDescription { kind: "other".to_owned(), label: call.name.clone(), input_preview: None }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let ToolInput::Arguments(text) = call.input else { panic!("it is called with arguments") };
        let seconds = serde_json::from_str::<Value>(&text).expect("arguments")["s"].as_f64().expect("seconds");
        async move {
            tokio::select! {
                biased;
                () = context.cancelled.cancelled() => {}
                () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {}
            }
            ToolOutcome { output: json!("paused"), success: true, then: AfterCall::Continue }
        }
        .boxed()
    }
}

pub(crate) struct Bench {
    pub(crate) ears: Arc<Ears>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) root: Agent,
    /// The folder for work and recordings. It is deleted when this value is dropped.
    _directory: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_limits(TreeLimits::default())
    }

    pub(crate) fn with_limits(limits: TreeLimits) -> Self {
        Self::with(limits, Vec::new(), |_| {})
    }

    /// Returns a bench whose agents have additional tools and whose root is changed before it starts.
    pub(crate) fn with(limits: TreeLimits, more: Vec<Arc<dyn Tool>>, change: impl FnOnce(&mut NewAgent)) -> Self {
        let directory = tempfile::tempdir().expect("a folder");
        let ears = Arc::new(Ears::default());
        let mut tools = tree::tools(limits);
        tools.push(Arc::new(Pause));
        tools.extend(more);
        let mut options = RuntimeOptions::new(vec![Arc::new(Scripted::new())], tools);
        // A slow disk must not cause a failure: the tests check what was recorded, not how fast.
        let writer = WriterOptions { max_block: PATIENCE, max_close: PATIENCE, ..WriterOptions::default() };
        options.recording = Some(TraceRoot::new(directory.path().join("traces"), writer));
        options.seed = 1;
        let runtime = Runtime::new(options, Arc::clone(&ears) as Arc<dyn AgentHost>);
        let settings = Settings {
            model: "model-1".to_owned(),
            provider: "scripted".to_owned(),
            effort: None,
            summary: None,
            service_tier: None,
            cwd: directory.path().to_owned(),
            approval: ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox: SandboxPolicy::FullAccess,
            base_instructions: None,
            developer_instructions: None,
            personality: None,
            mode: Mode::Default,
            mode_instructions: None,
        };
        let mut root = NewAgent::new(ThreadId::new(), settings);
        change(&mut root);
        let root = runtime.start(root);
        Self { ears, runtime, root, _directory: directory }
    }

    /// Creates another root in the same runtime.
    pub(crate) fn another_root(&self) -> Agent {
        let settings = Settings::clone(&self.root.settings());
        self.runtime.start(NewAgent::new(ThreadId::new(), settings))
    }

    pub(crate) fn begin(&self, steps: &[Value]) -> TurnId {
        begin(&self.root, steps)
    }

    /// Runs a turn of the root to its end.
    pub(crate) async fn run(&self, steps: &[Value]) -> TurnId {
        let turn = self.begin(steps);
        self.turn_ended(&turn).await;
        turn
    }

    pub(crate) async fn turn_ended(&self, turn: &TurnId) -> TurnOutcome {
        self.until(|heard, _| {
            heard.iter().find_map(|(_, event)| match event {
                EventKind::TurnEnded { turn: ended, outcome } if ended == turn => Some(outcome.clone()),
                _ => None,
            })
        })
        .await
    }

    /// Waits until this number of turns of a thread have ended.
    pub(crate) async fn turns_ended(&self, thread: &ThreadId, count: usize) {
        let is_end =
            |(heard, event): &&(ThreadId, EventKind)| heard == thread && matches!(event, EventKind::TurnEnded { .. });
        self.until(|heard, _| (heard.iter().filter(is_end).count() >= count).then_some(())).await;
    }

    /// Waits until this number of messages have arrived for a thread, whether or not its model has seen them.
    pub(crate) async fn mail_came(&self, thread: &ThreadId, count: usize) {
        let is_mail =
            |(heard, event): &&(ThreadId, EventKind)| heard == thread && matches!(event, EventKind::MailCame { .. });
        self.until(|heard, _| (heard.iter().filter(is_mail).count() >= count).then_some(())).await;
    }

    /// Waits until a command of a thread has started.
    pub(crate) async fn command_begun(&self, thread: &ThreadId) {
        let is_begin = |(heard, event): &(ThreadId, EventKind)| match event {
            EventKind::ItemStarted { item, .. } => heard == thread && matches!(item.kind, ItemKind::Command(_)),
            _ => false,
        };
        self.until(|heard, _| heard.iter().any(is_begin).then_some(())).await;
    }

    /// Waits for the agent at a path.
    pub(crate) async fn child(&self, path: &str) -> Agent {
        self.until(|_, adopted| adopted.iter().find(|agent| agent.path() == path).cloned()).await
    }

    /// Waits until `find` returns a value for the events and agents so far.
    pub(crate) async fn until<T>(&self, mut find: impl FnMut(&[(ThreadId, EventKind)], &[Agent]) -> Option<T>) -> T {
        let mut changes = self.ears.changes.subscribe();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                let found = find(
                    &self.ears.heard.lock().expect("nobody broke down with it"),
                    &self.ears.adopted.lock().expect("nobody broke down with it"),
                );
                if let Some(found) = found {
                    return found;
                }
                changes.changed().await.expect("the host is there");
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("it happens")
    }

    pub(crate) fn released(&self) -> Vec<ThreadId> {
        self.ears.released.lock().expect("nobody broke down with it").clone()
    }

    pub(crate) fn heard(&self, thread: &ThreadId) -> Vec<EventKind> {
        let heard = self.ears.heard.lock().expect("nobody broke down with it");
        heard.iter().filter(|(from, _)| from == thread).map(|(_, event)| event.clone()).collect()
    }

    pub(crate) fn heard_by_all(&self) -> Vec<(ThreadId, EventKind)> {
        self.ears.heard.lock().expect("nobody broke down with it").clone()
    }

    /// Returns the activities of a thread, each with its turn. They start and complete at once.
    pub(crate) fn activities(&self, thread: &ThreadId) -> Vec<(TurnId, String, Activity, String)> {
        let mut shown = Vec::new();
        let mut begun = None;
        for event in self.heard(thread) {
            match event {
                EventKind::ItemStarted { turn, item } if is_activity(&item) => begun = Some((turn, item)),
                EventKind::ItemCompleted { turn, item } if is_activity(&item) => {
                    assert_eq!(begun.take(), Some((turn.clone(), Arc::clone(&item))));
                    let ItemKind::AgentActivity { activity, path, .. } = &item.kind else { unreachable!() };
                    shown.push((turn, item.id.to_string(), *activity, path.clone()));
                }
                _ => {}
            }
        }
        shown
    }

    /// Returns the outputs of the calls of an agent, in order.
    pub(crate) fn outputs(&self, agent: &Agent) -> Vec<String> {
        let history = agent.history();
        let outputs = history.iter().filter(|item| item["type"] == "function_call_output");
        outputs.map(|item| item["output"].as_str().expect("a text").to_owned()).collect()
    }

    /// Shuts the root down and returns the graph of the bundle.
    pub(crate) async fn reduced(&self) -> Graph {
        self.root.shutdown().await;
        let bundle = self.root.recording().path().expect("it is recorded");
        let (state, is_whole) = state_of(&bundle).expect("a strict reader accepts it");
        assert!(is_whole);
        if let Some(peers) = reduce_by_peer(&bundle) {
            assert_eq!(state, peers, "the peer sees the same");
        }
        Graph(state)
    }
}

/// Starts a turn of an agent.
pub(crate) fn begin(agent: &Agent, steps: &[Value]) -> TurnId {
    let input = vec![Input::Text { text: script(steps), elements: Vec::new() }];
    agent.start_turn(TurnRequest { input, ..TurnRequest::default() }).expect("it begins").turn
}

pub(crate) fn script(steps: &[Value]) -> String {
    format!("RUN {}", json!(steps))
}

pub(crate) fn call(name: &str, arguments: &Value) -> Value {
    json!({ "call": name, "ns": NAMESPACE, "args": arguments })
}

/// A call that starts an agent without the conversation. The agent first pauses for a second: simulated time advances only
/// when all other tasks are idle.
pub(crate) fn spawn(name: &str, steps: &[Value]) -> Value {
    let steps: Vec<Value> = [pause(1)].into_iter().chain(steps.iter().cloned()).collect();
    call("spawn_agent", &json!({ "task_name": name, "message": script(&steps), "fork_turns": "none" }))
}

pub(crate) fn wait() -> Value {
    json!([call("wait_agent", &json!({ "timeout_ms": 60_000 }))])
}

pub(crate) fn pause(seconds: u64) -> Value {
    json!([{ "call": "pause", "args": { "s": seconds } }])
}

pub(crate) fn say(text: &str) -> Value {
    json!([{ "say": text }])
}

pub(crate) fn list() -> Value {
    json!([call("list_agents", &json!({}))])
}

/// Returns the messages in a history: author, recipient and text.
pub(crate) fn mail(history: &[ModelItem]) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let letters = history.iter().filter(|item| item["type"] == "agent_message");
    let read = |item: &ModelItem| {
        let parts = item["content"].as_array().expect("a list").iter();
        let said: Vec<String> = parts
            .map(|part| match part["type"].as_str().expect("a text") {
                "input_text" => text(&part["text"]),
                _ => text(&part["encrypted_content"]),
            })
            .collect();
        (text(&item["author"]), text(&item["recipient"]), said.concat())
    };
    letters.map(read).collect()
}

fn is_activity(item: &Item) -> bool {
    matches!(item.kind, ItemKind::AgentActivity { .. })
}

/// The graph of a bundle.
pub(crate) struct Graph(Value);

impl Graph {
    /// Returns the interaction edges as text.
    pub(crate) fn edges(&self) -> Vec<String> {
        let edges = self.0["interaction_edges"].as_object().expect("an object").values();
        let mut edges: Vec<String> = edges
            .map(|edge| {
                let kind = edge["kind"].as_str().expect("a text");
                format!("{kind}: {} -> {}", self.anchor(&edge["source"]), self.anchor(&edge["target"]))
            })
            .collect();
        edges.sort();
        edges
    }

    /// Counts the calls by kind and final status.
    pub(crate) fn calls(&self) -> BTreeMap<(String, String), usize> {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let mut calls = BTreeMap::new();
        for call in self.0["tool_calls"].as_object().expect("an object").values() {
            *calls.entry((text(&call["kind"]["type"]), text(&call["execution"]["status"]))).or_default() += 1;
        }
        calls
    }

    /// Returns the threads with their parents.
    pub(crate) fn threads(&self) -> Vec<String> {
        let threads = self.0["threads"].as_object().expect("an object").values();
        let mut threads: Vec<String> = threads
            .map(|thread| {
                let parent = thread["origin"]["parent_thread_id"].as_str().map(|id| self.path(id));
                let status = thread["execution"]["status"].as_str().expect("a text");
                format!("{} of {} {status}", thread["agent_path"].as_str().expect("a text"), parent.unwrap_or("nobody"))
            })
            .collect();
        threads.sort();
        threads
    }

    fn anchor(&self, anchor: &Value) -> String {
        let id = |name: &str| anchor[name].as_str().expect("a text");
        match anchor["type"].as_str().expect("a text") {
            "tool_call" => {
                let call = &self.0["tool_calls"][id("tool_call_id")];
                format!("call in {}", self.path(call["thread_id"].as_str().expect("a text")))
            }
            "conversation_item" => {
                let item = &self.0["conversation_items"][id("item_id")];
                format!("item in {}", self.path(item["thread_id"].as_str().expect("a text")))
            }
            "thread" => format!("thread {}", self.path(id("thread_id"))),
            other => panic!("an anchor of the type {other}"),
        }
    }

    fn path(&self, thread: &str) -> &str {
        self.0["threads"][thread]["agent_path"].as_str().expect("a text")
    }
}

/// Returns the graph that the strict reducer makes of a bundle, and whether the recording is complete.
pub(crate) fn state_of(bundle: &Path) -> Result<(Value, bool), String> {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&Bundle::open(bundle).map_err(|error| error.to_string())?, strict);
    let reduction = reduction.map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    state_json::write(&reduction, Style::Pretty, &mut text).expect("it is written");
    Ok((serde_json::from_slice(&text).expect("it is JSON"), reduction.trace.recording_complete))
}

/// Returns the graph of the peer, if there is a peer.
pub(crate) fn reduce_by_peer(bundle: &Path) -> Option<Value> {
    trace_needs::state_by_peer(bundle).map(|state| serde_json::from_str(&state).expect("it is JSON"))
}
