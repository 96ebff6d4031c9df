//! An agent with a host that stores events and gives prepared answers.

// Each test program uses another part of this module.
#![allow(dead_code, reason = "each test program uses another part")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, pending, ready};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ToolTrace;
use trace_runtime::event::{Delta, Event, EventKind};
use trace_runtime::host::{Answer, Host, Question, QuestionId};
use trace_runtime::id::{ItemId, ThreadId, TurnId};
use trace_runtime::item::{CommandItem, Item, ItemKind};
use trace_runtime::settings::{ApprovalPolicy, Mode, SandboxPolicy, Settings};
use trace_runtime::tool::{ModelAccess, Tool, ToolCall, ToolContext, ToolInput, ToolOptions, ToolOutcome, standard};
use trace_runtime::{Agent, AgentHost, NewAgent, Runtime, RuntimeOptions};

/// What a host does with a question.
pub(crate) enum Reply {
    /// Answers it.
    Give(Answer),
    /// Leaves it open.
    Hold,
}

/// Stores events.
#[derive(Default)]
pub(crate) struct Recorder {
    heard: Mutex<Heard>,
    count: watch::Sender<usize>,
    is_stalled: AtomicBool,
}

#[derive(Default)]
struct Heard {
    events: Vec<EventKind>,
    questions: Vec<Question>,
    withdrawn: usize,
    replies: VecDeque<Reply>,
    open: Vec<oneshot::Sender<Answer>>,
}

impl Host for Recorder {
    fn event(&self, _thread: &ThreadId, event: Event) {
        self.heard.lock().expect("nobody panicked").events.push(event.kind);
        self.count.send_modify(|count| *count += 1);
    }

    fn ask(&self, _thread: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId {
        let mut heard = self.heard.lock().expect("nobody panicked");
        heard.questions.push(question);
        let id = QuestionId(heard.questions.len() as i64);
        match heard.replies.pop_front() {
            Some(Reply::Give(answer)) => drop(reply.send(answer)),
            Some(Reply::Hold) => heard.open.push(reply),
            None => {}
        }
        drop(heard);
        self.count.send_modify(|count| *count += 1);
        id
    }

    fn withdraw(&self, _thread: &ThreadId, _question: QuestionId) {
        self.heard.lock().expect("nobody panicked").withdrawn += 1;
    }

    fn ready(&self, _thread: &ThreadId) -> BoxFuture<'static, ()> {
        if self.is_stalled.load(Ordering::Relaxed) { Box::pin(pending()) } else { Box::pin(ready(())) }
    }
}

impl AgentHost for Recorder {
    fn adopt(&self, _child: Agent) {}
}

/// An agent with tools.
pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) host: Arc<Recorder>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) settings: Settings,
    pub(crate) turn: TurnId,
    pub(crate) cancelled: CancellationToken,
    calls: Mutex<u32>,
}

impl World {
    /// Returns an agent in a folder with full access, unless the settings are changed.
    pub(crate) fn new(cwd: &Path, options: ToolOptions) -> Self {
        let settings = Settings {
            model: "m".to_owned(),
            provider: "p".to_owned(),
            effort: None,
            summary: None,
            service_tier: None,
            cwd: cwd.to_owned(),
            approval: ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox: SandboxPolicy::FullAccess,
            base_instructions: None,
            developer_instructions: None,
            personality: None,
            mode: Mode::Default,
            mode_instructions: None,
        };
        let host = Arc::new(Recorder::default());
        let runtime =
            Runtime::new(RuntimeOptions::new(Vec::new(), Vec::new()), Arc::clone(&host) as Arc<dyn AgentHost>);
        let agent = runtime.start(NewAgent::new(ThreadId::new(), settings.clone()));
        let (turn, cancelled) = (TurnId::new(), CancellationToken::new());
        Self { agent, host, tools: standard(options), settings, turn, cancelled, calls: Mutex::new(0) }
    }

    /// Sets how the host handles the next questions.
    pub(crate) fn reply(&self, reply: Reply) {
        self.host.heard.lock().expect("nobody panicked").replies.push_back(reply);
    }

    /// Answers the first open question.
    pub(crate) fn answer_open(&self, answer: Answer) {
        let reply = self.host.heard.lock().expect("nobody panicked").open.remove(0);
        drop(reply.send(answer));
    }

    /// Makes the host block: waiting until it is ready never ends.
    pub(crate) fn stall(&self) {
        self.host.is_stalled.store(true, Ordering::Relaxed);
    }

    /// Calls a tool with JSON arguments.
    pub(crate) fn call(&self, name: &str, arguments: &Value) -> BoxFuture<'static, ToolOutcome> {
        self.call_raw(None, name, ToolInput::Arguments(arguments.to_string()))
    }

    /// Calls a tool.
    pub(crate) fn call_raw(
        &self,
        namespace: Option<&str>,
        name: &str,
        input: ToolInput,
    ) -> BoxFuture<'static, ToolOutcome> {
        let mut calls = self.calls.lock().expect("nobody panicked");
        *calls += 1;
        let call = ToolCall {
            id: ItemId::from(format!("call_{calls}")),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            input,
        };
        let context = ToolContext {
            agent: self.agent.for_tools().clone(),
            turn: self.turn.clone(),
            settings: Arc::new(self.settings.clone()),
            cancelled: self.cancelled.clone(),
            trace: ToolTrace::disabled(),
            model: ModelAccess::none(),
            next: None,
        };
        let tool = self.tools.iter().find(|tool| tool.is_called(namespace, name)).expect("a tool takes the call");
        tool.call(context, call)
    }

    /// Returns the events so far.
    pub(crate) fn events(&self) -> Vec<EventKind> {
        self.host.heard.lock().expect("nobody panicked").events.clone()
    }

    /// Returns the questions so far.
    pub(crate) fn questions(&self) -> Vec<Question> {
        self.host.heard.lock().expect("nobody panicked").questions.clone()
    }

    /// Returns the number of withdrawn questions.
    pub(crate) fn withdrawn(&self) -> usize {
        self.host.heard.lock().expect("nobody panicked").withdrawn
    }

    /// Waits for a condition.
    pub(crate) async fn until(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let mut count = self.host.count.subscribe();
        let limit = Duration::from_secs(60);
        let wait = async {
            while !is_so(self) {
                count.changed().await.expect("it ends");
            }
        };
        tokio::time::timeout(limit, wait)
            .await
            .unwrap_or_else(|_| panic!("waited in vain for {what}: {:#?}", self.events()));
    }

    /// Returns the items that started.
    pub(crate) fn started(&self) -> Vec<Arc<Item>> {
        let events = self.events().into_iter();
        events
            .filter_map(|event| if let EventKind::ItemStarted { item, .. } = event { Some(item) } else { None })
            .collect()
    }

    /// Returns the items that completed.
    pub(crate) fn completed(&self) -> Vec<Arc<Item>> {
        let events = self.events().into_iter();
        events
            .filter_map(|event| if let EventKind::ItemCompleted { item, .. } = event { Some(item) } else { None })
            .collect()
    }

    /// Returns the joined deltas of an item.
    pub(crate) fn told(&self, id: &str) -> String {
        let events = self.events().into_iter();
        let pieces = events.filter_map(|event| match event {
            EventKind::ItemGrew { item, delta: Delta::Output(text), .. } if item.as_str() == id => Some(text),
            _ => None,
        });
        pieces.collect()
    }
}

/// Returns the command of an item.
pub(crate) fn command(item: &Item) -> &CommandItem {
    match &item.kind {
        ItemKind::Command(command) => command,
        other => panic!("no command: {other:?}"),
    }
}

/// Returns the text of an outcome.
pub(crate) fn text(outcome: &ToolOutcome) -> &str {
    outcome.output.as_str().expect("a text")
}
