//! A provider that plays scripts, a host that stores events, and small tools.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a module of every test file, which uses a part of it"
)]

pub mod graph;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use trace_runtime::agent::{Agent, NewAgent};
use trace_runtime::clock::Clock;
use trace_runtime::control::TurnRequest;
use trace_runtime::event::{Delta, ErrorKind, Event, EventKind, TokenCounts, TurnOutcome};
use trace_runtime::host::{Answer, Host, Question, QuestionId};
use trace_runtime::id::{ThreadId, TurnId};
use trace_runtime::item::{CommandItem, CommandSource, Input, Item, ItemKind, ModelItem, WorkStatus};
use trace_runtime::provider::{ModelEvent, Provider, ProviderError, Request, RetryDecision, RetryPolicy, TokenError};
use trace_runtime::runtime::{AgentHost, Runtime, RuntimeOptions};
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy, Settings};
use trace_runtime::tool::{AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};

/// A step of a streamed answer.
#[derive(Debug, Clone)]
pub enum Step {
    Event(ModelEvent),
    Error(ProviderError),
    /// Waits until the gate is opened.
    Gate(Arc<Notify>),
    /// A pause.
    Pause(Duration),
    /// The stream stalls without an end.
    Hang,
    Panic,
}

/// Plays answers in order, then the answer `done`.
pub struct Scripted {
    answers: Mutex<VecDeque<Vec<Step>>>,
    pub requests: Mutex<Vec<Arc<Value>>>,
    pub retry_policy: RetryPolicy,
    /// Answer of `compact`; `None` if compaction is not supported.
    pub compacted: Mutex<Option<Result<Vec<ModelItem>, ProviderError>>>,
    /// Answer of `compact` once a token was renewed.
    pub compacted_later: Mutex<Option<Result<Vec<ModelItem>, ProviderError>>>,
    /// Whether there is another token.
    pub other_token: Mutex<Result<(), TokenError>>,
    /// Numbers of the tokens that were renewed.
    pub renewed: Mutex<Vec<u64>>,
    next_id: AtomicUsize,
}

impl Scripted {
    pub fn new(answers: Vec<Vec<Step>>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into()),
            requests: Mutex::default(),
            retry_policy: RetryPolicy { request_retries: 2, stream_retries: 2, idle_timeout: Duration::from_secs(30) },
            compacted: Mutex::new(None),
            compacted_later: Mutex::new(None),
            other_token: Mutex::new(Ok(())),
            renewed: Mutex::default(),
            next_id: AtomicUsize::new(1),
        })
    }

    pub fn then(&self, answer: Vec<Step>) {
        self.answers.lock().unwrap().push_back(answer);
    }

    /// Returns the inputs of all requests so far.
    pub fn inputs(&self) -> Vec<Vec<Value>> {
        self.requests.lock().unwrap().iter().map(|body| body["input"].as_array().unwrap().clone()).collect()
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn retry_policy(&self) -> RetryPolicy {
        self.retry_policy
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        self.requests.lock().unwrap().push(Arc::new(request.body.value().clone()));
        let n = self.next_id.fetch_add(1, Ordering::Relaxed);
        let steps =
            self.answers.lock().unwrap().pop_front().unwrap_or_else(|| answer([say(&format!("last_{n}"), "done")]));
        stream::iter(steps)
            .filter_map(|step| async move {
                tokio::task::yield_now().await;
                match step {
                    Step::Event(event) => Some(Ok(event)),
                    Step::Error(error) => Some(Err(error)),
                    Step::Gate(gate) => {
                        gate.notified().await;
                        None
                    }
                    Step::Pause(pause) => {
                        tokio::time::sleep(pause).await;
                        None
                    }
                    Step::Hang => std::future::pending().await,
                    Step::Panic => panic!("the provider breaks down, as the script says"),
                }
            })
            .boxed()
    }

    fn compact(&self, _: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        let answer = self.compacted.lock().unwrap().clone()?;
        Some(Box::pin(async move {
            tokio::task::yield_now().await;
            answer
        }))
    }

    fn renew_token(&self, refused: u64) -> BoxFuture<'_, Result<(), TokenError>> {
        self.renewed.lock().unwrap().push(refused);
        if let Some(answer) = self.compacted_later.lock().unwrap().take() {
            *self.compacted.lock().unwrap() = Some(answer);
        }
        let answer = self.other_token.lock().unwrap().clone();
        Box::pin(async move {
            tokio::task::yield_now().await;
            answer
        })
    }
}

/// Returns a complete answer.
pub fn answer<const N: usize>(items: [Vec<Step>; N]) -> Vec<Step> {
    answer_with(items, 100)
}

pub fn answer_with<const N: usize>(items: [Vec<Step>; N], tokens: u64) -> Vec<Step> {
    let mut steps = broken(items);
    let usage = TokenCounts { input: tokens, output: 10, total: tokens + 10, ..TokenCounts::default() };
    steps.push(Step::Event(ModelEvent::Completed {
        response_id: Some("resp".to_owned()),
        usage: Some(usage),
        raw_usage: Some(json!({ "input_tokens": tokens })),
    }));
    steps
}

/// Returns an answer without its final event.
pub fn broken<const N: usize>(items: [Vec<Step>; N]) -> Vec<Step> {
    let created = ModelEvent::Created { response_id: Some("resp".to_owned()), request_id: Some("req".to_owned()) };
    let mut steps = vec![Step::Event(created)];
    steps.extend(items.into_iter().flatten());
    steps
}

pub fn message(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

/// A message in pieces.
pub fn say(id: &str, text: &str) -> Vec<Step> {
    let mut steps = begin_saying(id, text);
    steps.push(Step::Event(ModelEvent::ItemDone(message(id, text))));
    steps
}

pub fn begin_saying(id: &str, text: &str) -> Vec<Step> {
    let added = json!({"type": "message", "id": id, "role": "assistant", "content": []});
    let mut steps = vec![Step::Event(ModelEvent::ItemAdded(added))];
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(4) {
        steps.push(Step::Event(ModelEvent::Text { item_id: id.to_owned(), delta: piece.iter().collect() }));
    }
    steps
}

pub fn think(id: &str, text: &str) -> Vec<Step> {
    let item_id = id.to_owned();
    vec![
        Step::Event(ModelEvent::ItemAdded(json!({"type": "reasoning", "id": id, "summary": []}))),
        Step::Event(ModelEvent::SummaryPart { item_id: item_id.clone(), index: 0 }),
        Step::Event(ModelEvent::Summary { item_id, index: 0, delta: text.to_owned() }),
        Step::Event(ModelEvent::ItemDone(json!({
            "type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "sealed",
        }))),
    ]
}

pub fn call(id: &str, name: &str, arguments: &Value) -> Vec<Step> {
    vec![Step::Event(ModelEvent::ItemDone(json!({
        "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
        "arguments": arguments.to_string(),
    })))]
}

pub fn custom(id: &str, name: &str, input: &str) -> Vec<Step> {
    vec![Step::Event(ModelEvent::ItemDone(json!({
        "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id, "name": name, "input": input,
    })))]
}

pub fn event(event: ModelEvent) -> Vec<Step> {
    vec![Step::Event(event)]
}

pub fn fails(message: &str, kind: ErrorKind, retry: RetryDecision) -> Vec<Step> {
    vec![Step::Error(ProviderError {
        message: message.to_owned(),
        details: None,
        kind,
        retry,
        request_id: Some("req_failed".to_owned()),
    })]
}

/// The answer of a service that refuses the token with this number.
pub fn refuses(token: u64) -> Vec<Step> {
    fails("the token is not valid", ErrorKind::Unauthorized, RetryDecision::OtherToken { refused: token })
}

/// Stores the events, and formats each as one line.
#[derive(Default)]
pub struct Witness {
    pub events: Mutex<Vec<(ThreadId, Event)>>,
    heard: watch::Sender<usize>,
    next_question: AtomicI64,
    pub withdrawn: Mutex<Vec<QuestionId>>,
    pub open: Mutex<Vec<oneshot::Sender<Answer>>>,
    /// Number of events after which the agent's turn is interrupted.
    stop_at: Mutex<Option<(usize, Agent)>>,
}

impl Host for Witness {
    fn event(&self, thread: &ThreadId, event: Event) {
        let mut events = self.events.lock().unwrap();
        events.push((thread.clone(), event));
        let count = events.len();
        drop(events);
        if let Some((stop_at, agent)) = &*self.stop_at.lock().unwrap()
            && count == *stop_at
        {
            drop(agent.interrupt_any());
        }
        self.heard.send_replace(count);
    }

    fn ask(&self, _: &ThreadId, _: Question, reply: oneshot::Sender<Answer>) -> QuestionId {
        self.open.lock().unwrap().push(reply);
        QuestionId(self.next_question.fetch_add(1, Ordering::Relaxed))
    }

    fn withdraw(&self, _: &ThreadId, question: QuestionId) {
        self.withdrawn.lock().unwrap().push(question);
    }

    fn ready(&self, _: &ThreadId) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::yield_now())
    }
}

impl AgentHost for Witness {
    fn adopt(&self, _: Agent) {}
}

impl Witness {
    /// Interrupts the agent's turn after this number of events.
    pub fn stop_at(&self, count: usize, agent: &Agent) {
        *self.stop_at.lock().unwrap() = Some((count, agent.clone()));
    }

    pub fn kinds(&self) -> Vec<EventKind> {
        self.events.lock().unwrap().iter().map(|(_, event)| event.kind.clone()).collect()
    }

    /// Waits for an event that matches.
    pub async fn until(&self, matches: impl Fn(&EventKind) -> bool) {
        let mut heard = self.heard.subscribe();
        loop {
            if self.events.lock().unwrap().iter().any(|(_, event)| matches(&event.kind)) {
                return;
            }
            heard.changed().await.unwrap();
        }
    }

    pub async fn ended(&self, turn: &TurnId) -> TurnOutcome {
        self.until(|kind| matches!(kind, EventKind::TurnEnded { turn: ended, .. } if ended == turn)).await;
        let ended = self.kinds().into_iter().find_map(|kind| match kind {
            EventKind::TurnEnded { turn: ended, outcome } if ended == *turn => Some(outcome),
            _ => None,
        });
        ended.unwrap()
    }

    /// Returns the events as text, without ids that differ from run to run.
    pub fn story(&self) -> String {
        story(&self.kinds())
    }
}

/// Formats events as short lines.
pub fn story(kinds: &[EventKind]) -> String {
    let mut story = String::new();
    for kind in kinds {
        let line = match kind {
            EventKind::TurnStarted { kind, .. } => format!("turn started: {kind:?}"),
            EventKind::TurnEnded { outcome, .. } => match outcome {
                TurnOutcome::Completed { last_message } => {
                    let text = last_message.as_ref().map(|item| brief(item));
                    format!("turn completed: {}", text.unwrap_or_default())
                }
                TurnOutcome::Interrupted => "turn interrupted".to_owned(),
                TurnOutcome::Failed(error) => format!("turn failed: {} {:?}", error.message, error.kind),
            },
            EventKind::ItemStarted { item, .. } => format!("  + {}", brief(item)),
            EventKind::ItemCompleted { item, .. } => format!("  - {}", brief(item)),
            EventKind::ItemGrew { delta, .. } => format!("    {}", grown(delta)),
            EventKind::Error { error, retry, .. } => format!("  ! {} {retry:?}", error.message),
            EventKind::Warning { message } => format!("warning: {message}"),
            EventKind::TokensUsed { usage, .. } => format!("  = {} of {}", usage.last.total, usage.total.total),
            EventKind::SettingsChanged { settings } => format!("settings: {}", settings.model),
            EventKind::TurnContext { settings, .. } => format!("  context: {}", settings.model),
            EventKind::MailCame { mail } => format!("mail: {}", mail.author),
            EventKind::Remembered { item } => format!("  * {}", remembered(item)),
            EventKind::HistoryReplaced { history, .. } => format!("  history of {} items", history.len()),
            EventKind::DiffChanged { .. } | EventKind::PlanChanged { .. } => "  other".to_owned(),
        };
        writeln!(story, "{line}").unwrap();
    }
    story
}

fn brief(item: &Item) -> String {
    match &item.kind {
        ItemKind::UserMessage { content, .. } => match &content[..] {
            [Input::Text { text, .. }] => format!("user: {text}"),
            content => format!("user: {} parts", content.len()),
        },
        ItemKind::AgentMessage { text, .. } => format!("agent: {text}"),
        ItemKind::Reasoning { summary, .. } => format!("reasoning: {}", summary.join("|")),
        ItemKind::Command(command) => {
            format!("command: {:?} {:?} {:?}", command.source, command.status, command.output.as_deref().unwrap_or(""))
        }
        ItemKind::WebSearch { query, .. } => format!("search: {query}"),
        ItemKind::EnteredReview { review } => format!("review: {review}"),
        ItemKind::ExitedReview { review } => format!("reviewed: {review}"),
        ItemKind::Compaction => "compaction".to_owned(),
        other => format!("{other:?}"),
    }
}

fn grown(delta: &Delta) -> String {
    match delta {
        Delta::Text(text) => format!("{text:?}"),
        Delta::Summary { index, text } => format!("summary {index}: {text:?}"),
        other => format!("{other:?}"),
    }
}

fn remembered(item: &Value) -> String {
    let kind = item["type"].as_str().unwrap();
    match kind {
        "message" => {
            let text = item["content"][0]["text"].as_str().unwrap_or("(no text)");
            let text = text.lines().next().unwrap_or_default();
            format!("{}: {text}", item["role"].as_str().unwrap())
        }
        "function_call_output" | "custom_tool_call_output" => format!("output: {}", item["output"]),
        "agent_message" => format!("mail: {}", item["author"]),
        kind => kind.to_owned(),
    }
}

/// Checks invariants that hold for all event sequences.
pub fn check_laws(kinds: &[EventKind], history: &[ModelItem]) {
    let mut open: Vec<Item> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut running: Option<TurnId> = None;
    for kind in kinds {
        match kind {
            EventKind::TurnStarted { turn, .. } => {
                assert!(running.is_none(), "a turn began in another one");
                running = Some(turn.clone());
            }
            EventKind::TurnEnded { turn, .. } => {
                assert_eq!(running.take().as_ref(), Some(turn), "a turn ended that did not run");
                assert!(open.is_empty(), "items are open when the turn ends: {open:?}");
            }
            EventKind::ItemStarted { turn, item } => {
                assert_eq!(running.as_ref(), Some(turn), "an item outside its turn");
                assert!(!seen.contains(&item.id.to_string()), "an item began twice: {}", item.id);
                seen.push(item.id.to_string());
                open.push(Item::clone(item));
            }
            EventKind::ItemGrew { item, delta, .. } => {
                let item = open.iter_mut().find(|open| open.id == *item).expect("a delta of an item that is not open");
                match (&mut item.kind, delta) {
                    (ItemKind::AgentMessage { text, .. }, Delta::Text(more)) => text.push_str(more),
                    (ItemKind::Reasoning { summary, .. }, Delta::SummaryPart { index }) => {
                        assert_eq!(*index, summary.len());
                        summary.push(String::new());
                    }
                    (ItemKind::Reasoning { summary, .. }, Delta::Summary { index, text }) => {
                        summary[*index].push_str(text);
                    }
                    (ItemKind::Command(command), Delta::Output(more)) => {
                        command.output.get_or_insert_default().push_str(more);
                    }
                    _ => {}
                }
            }
            EventKind::ItemCompleted { item, .. } => {
                let index = open.iter().position(|open| open.id == item.id).expect("an item ended that is not open");
                let told = open.remove(index);
                match (&told.kind, &item.kind) {
                    (ItemKind::AgentMessage { text: told, .. }, ItemKind::AgentMessage { text, .. }) => {
                        assert_eq!(told, text, "deltas add up to the message");
                    }
                    (ItemKind::Reasoning { summary: told, .. }, ItemKind::Reasoning { summary, .. }) => {
                        assert_eq!(told, summary, "deltas add up to the summary");
                    }
                    (ItemKind::Command(told), ItemKind::Command(command)) => {
                        assert_eq!(told.output, command.output, "deltas add up to the output");
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "items are open in the end: {open:?}");
    check_history(history);
}

/// Checks that every call has one output after it, every output has its call before it, and every item has a unique id.
pub fn check_history(history: &[ModelItem]) {
    let mut calls: Vec<&str> = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    for item in history {
        let id = item["id"].as_str().expect("every item has an id");
        assert!(!ids.contains(&id), "two items with the id {id}");
        ids.push(id);
        let call = item.get("call_id").and_then(Value::as_str);
        match item["type"].as_str().unwrap() {
            "function_call" | "custom_tool_call" => calls.push(call.unwrap()),
            "function_call_output" | "custom_tool_call_output" => {
                let index = calls.iter().position(|open| Some(*open) == call).expect("an output has a call before it");
                calls.remove(index);
            }
            _ => {}
        }
    }
    assert!(calls.is_empty(), "calls without output: {calls:?}");
}

/// A clock that stands still, so that recordings and events are equal in all runs.
#[derive(Debug)]
pub struct FixedClock;

impl Clock for FixedClock {
    fn now_ms(&self) -> i64 {
        1_790_000_000_000
    }

    fn date(&self) -> String {
        "2026-09-21".to_owned()
    }
}

pub fn settings() -> Settings {
    Settings {
        model: "model-1".to_owned(),
        provider: "scripted".to_owned(),
        effort: None,
        summary: None,
        service_tier: None,
        cwd: PathBuf::from("/nowhere"),
        approval: ApprovalPolicy::Never,
        approvals_reviewer: None,
        sandbox: SandboxPolicy::FullAccess,
        base_instructions: None,
        developer_instructions: None,
        personality: None,
        mode: Mode::Default,
        mode_instructions: None,
    }
}

/// An agent with its provider, host and runtime.
pub struct World {
    pub provider: Arc<Scripted>,
    pub witness: Arc<Witness>,
    pub runtime: Arc<Runtime>,
    pub agent: Agent,
}

pub fn options(provider: &Arc<Scripted>) -> RuntimeOptions {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Echo), Arc::new(Slow), Arc::new(Stopper), Arc::new(Breaker)];
    let mut options = RuntimeOptions::new(vec![Arc::clone(provider) as Arc<dyn Provider>], tools);
    options.clock = Arc::new(FixedClock);
    options.seed = 1;
    options
}

pub fn world(answers: Vec<Vec<Step>>) -> World {
    let provider = Scripted::new(answers);
    let options = options(&provider);
    world_with(provider, options)
}

pub fn world_with(provider: Arc<Scripted>, options: RuntimeOptions) -> World {
    let witness = Arc::new(Witness::default());
    let runtime = Runtime::new(options, Arc::clone(&witness) as Arc<dyn AgentHost>);
    let agent = runtime.start(NewAgent::new(ThreadId::new(), settings()));
    World { provider, witness, runtime, agent }
}

impl World {
    pub fn start(&self, text: &str) -> TurnId {
        self.agent.start_turn(request(text)).unwrap().turn
    }

    /// Runs a turn to its end.
    pub async fn run(&self, text: &str) -> TurnOutcome {
        let turn = self.start(text);
        self.witness.ended(&turn).await
    }

    pub fn check_laws(&self) {
        check_laws(&self.witness.kinds(), &self.agent.history());
    }
}

pub fn text(text: &str) -> Vec<Input> {
    vec![Input::Text { text: text.to_owned(), elements: Vec::new() }]
}

pub fn request(said: &str) -> TurnRequest {
    TurnRequest { input: text(said), ..TurnRequest::default() }
}

fn outcome(output: &str) -> ToolOutcome {
    ToolOutcome { output: json!(output), success: true, then: AfterCall::Continue }
}

fn describe(kind: &str, call: &ToolCall) -> CallDescription {
    let input_preview = match &call.input {
        ToolInput::Arguments(text) | ToolInput::Text(text) => Some(text.clone()),
    };
    CallDescription { kind: kind.to_owned(), label: call.name.clone(), input_preview }
}

fn function(name: &str) -> Option<Value> {
    Some(json!({"type": "function", "name": name, "description": name, "parameters": {"type": "object"}}))
}

/// Returns its arguments.
pub struct Echo;

impl Tool for Echo {
    fn specification(&self, _: &Settings) -> Option<Value> {
        function("echo")
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "echo"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("other", call)
    }

    fn call(&self, _: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match call.input {
                ToolInput::Arguments(text) | ToolInput::Text(text) => outcome(&text),
            }
        })
    }
}

/// Shows a command item and takes some time. With `{"deaf": true}` it ignores the interrupt.
pub struct Slow;

impl Tool for Slow {
    fn specification(&self, _: &Settings) -> Option<Value> {
        function("slow")
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "slow"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("other", call)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let ToolInput::Arguments(arguments) = call.input else { return outcome("no arguments") };
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let item = |status, output: Option<&str>| {
                ItemKind::Command(CommandItem {
                    command: "slow".to_owned(),
                    cwd: PathBuf::from("/nowhere"),
                    source: CommandSource::Agent,
                    process_id: None,
                    actions: Vec::new(),
                    output: output.map(str::to_owned),
                    exit_code: None,
                    duration_ms: None,
                    status,
                })
            };
            let first = Item { id: call.id, kind: item(WorkStatus::InProgress, None) };
            let mut open = context.agent.start_item(&context.turn, first);
            open.grow(Delta::Output("begun".to_owned()));
            let time = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(10));
            if arguments["deaf"] == true {
                tokio::time::sleep(time).await;
            } else {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = context.cancelled.cancelled() => {
                        open.complete(item(WorkStatus::Interrupted, Some("begun")));
                        return outcome("stopped");
                    }
                }
            }
            open.complete(item(WorkStatus::Completed, Some("begun")));
            outcome("slow is done")
        })
    }
}

/// Interrupts the turn.
pub struct Stopper;

impl Tool for Stopper {
    fn specification(&self, _: &Settings) -> Option<Value> {
        None
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace == Some("odd") && name == "stop"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("other", call)
    }

    fn call(&self, _: ToolContext, _: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { ToolOutcome { then: AfterCall::Interrupt, ..outcome("the user said no") } })
    }
}

/// Panics.
pub struct Breaker;

impl Tool for Breaker {
    fn specification(&self, _: &Settings) -> Option<Value> {
        None
    }

    fn is_called(&self, _: Option<&str>, name: &str) -> bool {
        name == "break"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("other", call)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let kind = ItemKind::FileChange { changes: Vec::new(), status: WorkStatus::InProgress };
            let _open = context.agent.start_item(&context.turn, Item { id: call.id, kind });
            tokio::task::yield_now().await;
            panic!("the tool breaks down, as the script says")
        })
    }
}
