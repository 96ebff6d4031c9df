//! One thread of a conversation that can work: what it is, what it holds, and how it tells what happens.
//!
//! What may be asked of an agent is in [`control`](crate::control); how its turns run is in `turn`.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use tokio::sync::{Notify, oneshot, watch};
use trace_recorder::write::{ThreadTrace, TurnTrace};

use crate::event::{Event, EventKind, ThreadUsage, TurnKind, TurnOutcome};
use crate::extensions::Extensions;
use crate::history::History;
use crate::host::{Answer, Decision, Host, Question, QuestionId};
use crate::id::{ThreadId, TurnId};
use crate::item::{Item, ModelItem};
use crate::mail::{Attention, Mail, Wake};
use crate::open_item::OpenItem;
use crate::recording::{self, Recording, ReviewRecord, ThreadDescription};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::state::{State, ids};
use crate::terminal::{Background, Terminal};
use crate::tool::{Tool, ToolFamily, dynamic};

/// One thread of a conversation: its settings, what the model has seen, and at most one turn that runs. Clones are the same
/// agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    id: ThreadId,
    lineage: Option<Lineage>,
    path: String,
    runtime: Arc<Runtime>,
    own_tools: Vec<Arc<dyn Tool>>,
    /// The tools of `dynamic_tools`.
    client_tools: Vec<Arc<dyn Tool>>,
    without: Vec<ToolFamily>,
    dynamic_tools: Vec<Value>,
    recording: Arc<Recording>,
    /// Held while an event is told, so that all hear them in one order. Taken before `state`, never after it.
    order: Mutex<()>,
    state: Mutex<State>,
    attention: watch::Sender<Attention>,
    released: Notify,
    extensions: Extensions,
    terminals: Mutex<BTreeMap<String, Arc<dyn Background>>>,
    observer: Mutex<Option<Observer>>,
    before_shutdown: Mutex<Option<BeforeShutdown>>,
}

type Observer = Arc<dyn Fn(&TurnReport) + Send + Sync>;

type BeforeShutdown = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// An agent that may be gone.
#[derive(Clone)]
pub struct WeakAgent(Weak<Inner>);

impl WeakAgent {
    /// Returns the agent, if somebody has it still.
    pub fn upgrade(&self) -> Option<Agent> {
        self.0.upgrade().map(Agent)
    }
}

impl fmt::Debug for WeakAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WeakAgent").finish_non_exhaustive()
    }
}

/// An agent that begins, or goes on.
pub struct NewAgent {
    /// Id of its thread.
    pub id: ThreadId,
    /// What it works with.
    pub settings: Settings,
    /// What its model has seen already.
    pub history: Vec<ModelItem>,
    /// Messages of other agents that came already, and that its model has not seen. They wait for the next turn: none of them
    /// begins one any more.
    pub mail: Vec<Mail>,
    /// Tokens that it has used already.
    pub usage: ThreadUsage,
    /// Tools of the client, in the protocol's words. None of them is offered if one is wrong: whoever takes them from a client
    /// asks [`dynamic::tools`] first.
    pub dynamic_tools: Vec<Value>,
    /// What this agent can do beside what all can.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What is taken from this agent of what all can do.
    pub without: Vec<ToolFamily>,
    /// Whether its session is recorded.
    pub recorded: Recorded,
    /// Who started it, for the description in the recording: `vscode`, `exec`.
    pub source: Option<String>,
    /// Who its parent is, if an agent started it.
    pub lineage: Option<Lineage>,
}

impl Drop for Inner {
    /// Lets go of the recording on a thread of its own: the last who does waits for the disk.
    fn drop(&mut self) {
        if self.recording.path().is_none() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let trace = std::mem::replace(&mut state.trace, ThreadTrace::disabled());
        let held = (trace, Arc::clone(&self.recording));
        self.recording = Recording::new(None, self.id.clone(), None);
        if let Err(error) = std::thread::Builder::new().name("trace-close".to_owned()).spawn(move || drop(held)) {
            tracing::warn!(thread = %self.id, %error, "the end of the recording is waited for");
        }
    }
}

impl NewAgent {
    /// Returns an agent that has seen nothing yet, at the root of a tree of its own.
    pub fn new(id: ThreadId, settings: Settings) -> Self {
        Self {
            id,
            settings,
            history: Vec::new(),
            mail: Vec::new(),
            usage: ThreadUsage::default(),
            dynamic_tools: Vec::new(),
            tools: Vec::new(),
            without: Vec::new(),
            recorded: Recorded::default(),
            source: None,
            lineage: None,
        }
    }
}

/// Whether and where an agent's session is recorded.
#[derive(Debug, Clone, Default)]
pub enum Recorded {
    /// In a bundle of its own, if the runtime records.
    #[default]
    Apart,
    /// In the bundle of the agent that started it.
    With(Agent),
    /// Nowhere.
    Nowhere,
}

/// Where an agent that another agent started stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The agent that started it.
    pub parent: ThreadId,
    /// The agent at the root of the tree.
    pub root: ThreadId,
    /// Its path, such as `/root/docs`.
    pub path: String,
    /// How many agents are above it.
    pub depth: u32,
    /// A name for people.
    pub nickname: Option<String>,
    /// What it is for.
    pub role: Option<String>,
}

/// Returns the path under which reviews for an agent are recorded.
pub(crate) fn review_path(path: &str) -> String {
    format!("{path}/review")
}

/// What came of a turn, for those who watch an agent's turns.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The agent.
    pub agent: Agent,
    /// The turn.
    pub turn: TurnId,
    /// The turn that it stems from.
    pub root_turn: TurnId,
    /// What kind of turn it was.
    pub kind: TurnKind,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Records what follows from it.
    pub trace: TurnTrace,
}

impl Runtime {
    /// Returns a new agent. Nothing happens and nothing is recorded before it is asked for something.
    pub fn start(self: &Arc<Self>, new: NewAgent) -> Agent {
        let NewAgent { id, settings, history, mail, usage, dynamic_tools, tools, without, recorded, source, lineage } =
            new;
        let client_tools = dynamic::tools(&dynamic_tools).unwrap_or_else(|error| {
            tracing::warn!(thread = %id, %error, "the client's tools are not offered");
            Vec::new()
        });
        let recording = match recorded {
            Recorded::Apart => Recording::new(self.options().recording.clone(), id.clone(), source),
            Recorded::With(agent) => Arc::clone(&agent.0.recording),
            Recorded::Nowhere => Recording::new(None, id.clone(), source),
        };
        let path = lineage.as_ref().map_or_else(|| "/root".to_owned(), |lineage| lineage.path.clone());
        Agent(Arc::new(Inner {
            id,
            lineage,
            path,
            runtime: Arc::clone(self),
            own_tools: tools,
            client_tools,
            without,
            dynamic_tools,
            recording,
            order: Mutex::new(()),
            state: Mutex::new(State {
                mail: mail.into_iter().map(|mail| Arc::new(Mail { wake: Wake::Nobody, ..mail })).collect(),
                ..State::new(settings, History::restore(history), usage)
            }),
            attention: watch::Sender::new(Attention::default()),
            released: Notify::new(),
            extensions: Extensions::default(),
            terminals: Mutex::new(BTreeMap::new()),
            observer: Mutex::new(None),
            before_shutdown: Mutex::new(None),
        }))
    }
}

impl Agent {
    /// Returns the id of the thread.
    pub fn id(&self) -> &ThreadId {
        &self.0.id
    }

    /// Returns where the agent stands in the tree of agents, such as `/root/docs`.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns where the agent stands, if another agent started it.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.0.lineage.as_ref()
    }

    /// Returns the agent that started this one.
    pub fn parent(&self) -> Option<&ThreadId> {
        self.lineage().map(|lineage| &lineage.parent)
    }

    /// Returns the agent at the root of the tree; that may be this one.
    pub fn root(&self) -> &ThreadId {
        self.lineage().map_or(&self.0.id, |lineage| &lineage.root)
    }

    /// Returns how many agents are above this one.
    pub fn depth(&self) -> u32 {
        self.lineage().map_or(0, |lineage| lineage.depth)
    }

    /// Returns what all agents share.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.0.runtime
    }

    /// Returns who hears what happens.
    pub fn host(&self) -> &Arc<dyn Host> {
        self.0.runtime.host()
    }

    /// Returns the settings for turns that begin from now on.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state().settings)
    }

    /// Returns the tokens that were used up.
    pub fn usage(&self) -> ThreadUsage {
        self.state().usage
    }

    /// Returns what the model has seen.
    pub fn history(&self) -> Vec<ModelItem> {
        self.state().history.items().to_vec()
    }

    /// Returns the turn that runs.
    pub fn active_turn(&self) -> Option<(TurnId, TurnKind)> {
        self.state().turn.as_ref().map(|turn| (turn.id.clone(), turn.kind))
    }

    /// Returns the client's tools, in the protocol's words.
    pub fn dynamic_tools(&self) -> &[Value] {
        &self.0.dynamic_tools
    }

    /// Returns what this agent can do beside what all can; the client's tools are not among it.
    pub fn own_tools(&self) -> &[Arc<dyn Tool>] {
        &self.0.own_tools
    }

    /// Returns what is taken from this agent of what all can do.
    pub fn without(&self) -> &[ToolFamily] {
        &self.0.without
    }

    /// Returns what the agent can do: its own tools first, then the client's.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        let first = self.runtime().options().first_tools.iter();
        let all = first.chain(&self.0.own_tools).chain(&self.0.client_tools).chain(&self.0.runtime.options().tools);
        all.filter(|tool| !self.0.without.contains(&tool.family()))
    }

    /// Returns the one value of a type that the agent keeps for its tools, made when it is first asked for.
    pub fn extension<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        self.0.extensions.get()
    }

    /// Tells the host what happened. Everything that an agent tells is told in one order.
    ///
    /// A host must not ask the agent for anything that tells something while it is told something.
    pub fn event(&self, kind: EventKind) {
        let order = self.order();
        self.tell(&order, kind);
    }

    /// Begins an item. Whatever happens, it ends.
    pub fn start_item(&self, turn: &TurnId, item: Item) -> OpenItem {
        OpenItem::start(self.clone(), turn.clone(), item)
    }

    /// Begins and ends an item.
    pub fn show_item(&self, turn: &TurnId, item: Item) -> Arc<Item> {
        let item = Arc::new(item);
        let order = self.order();
        self.tell(&order, EventKind::ItemStarted { turn: turn.clone(), item: Arc::clone(&item) });
        self.tell(&order, EventKind::ItemCompleted { turn: turn.clone(), item: Arc::clone(&item) });
        item
    }

    /// Puts a question and waits for the answer. A caller that stops waiting takes the question back.
    pub async fn ask(&self, question: Question) -> Answer {
        let refusal = match question {
            Question::Command(_) | Question::FileChange { .. } | Question::ServerTool(_) => {
                Answer::Decision(Decision::Decline)
            }
            Question::UserInput { .. } | Question::DynamicTool { .. } | Question::Elicitation { .. } => {
                Answer::Failed { message: "nobody answered".to_owned() }
            }
        };
        let (reply, answer) = oneshot::channel();
        let id = self.host().ask(self.id(), question, reply);
        let mut open = OpenQuestion { agent: self, id, is_answered: false };
        let answer = answer.await;
        open.is_answered = answer.is_ok();
        answer.unwrap_or(refusal)
    }

    /// Waits until those who listen have taken enough of what they were told. Work that produces much waits here between
    /// its pieces.
    pub fn ready(&self) -> BoxFuture<'static, ()> {
        self.host().ready(self.id())
    }

    /// Returns what records the thread; it records nothing before the first turn.
    pub fn trace(&self) -> ThreadTrace {
        self.state().trace.clone()
    }

    /// Begins the bundle that the session is recorded in, if that was not done yet. Returns it if the session is recorded.
    pub async fn begin_recording(&self) -> Option<PathBuf> {
        self.0.recording.begin().await;
        self.bundle_path()
    }

    /// Waits until what was recorded so far can be read, or it takes too long.
    pub async fn recorded_so_far(&self) {
        self.0.recording.written().await;
    }

    /// Returns the bundle that the session is recorded in, once it is.
    pub fn bundle_path(&self) -> Option<PathBuf> {
        self.0.recording.path()
    }

    /// Takes over a process that a tool leaves running. One with the same id is forgotten.
    pub fn keep_terminal(&self, process: Arc<dyn Background>) {
        let id = process.terminal().process_id;
        self.kept().insert(id, process);
    }

    /// Forgets a process, which has ended.
    pub fn forget_terminal(&self, process_id: &str) {
        self.kept().remove(process_id);
    }

    /// Returns the processes that run in the background.
    pub fn terminals(&self) -> Vec<Terminal> {
        let kept: Vec<_> = self.kept().values().cloned().collect();
        kept.iter().map(|process| process.terminal()).collect()
    }

    /// Ends a process in the background and waits for its end. Says whether there was one.
    pub async fn terminate(&self, process_id: &str) -> bool {
        let process = self.kept().remove(process_id);
        match process {
            Some(process) => {
                process.kill().await;
                true
            }
            None => false,
        }
    }

    /// Ends all processes in the background and waits for their ends.
    pub async fn clean_terminals(&self) {
        let kept = std::mem::take(&mut *self.kept());
        join_all(kept.values().map(|process| process.kill())).await;
    }

    /// Waits until nobody holds the agent.
    pub async fn released(&self) {
        loop {
            let released = self.0.released.notified();
            if !self.state().is_held {
                return;
            }
            released.await;
        }
    }

    pub(crate) fn tell_released(&self) {
        self.0.released.notify_waiters();
    }

    /// Returns what tells that mail came or that the user said something while a turn ran.
    pub fn attention(&self) -> watch::Receiver<Attention> {
        self.0.attention.subscribe()
    }

    /// Says whether mail waits for the model.
    pub fn has_mail(&self) -> bool {
        !self.state().mail.is_empty()
    }

    /// Returns the mail that the model has not seen.
    pub fn open_mail(&self) -> Vec<Mail> {
        self.state().mail.iter().map(|mail| Mail::clone(mail)).collect()
    }

    /// Sets who hears what comes of the turns, after their last event. There is one at most.
    pub fn observe_turns(&self, observer: Arc<dyn Fn(&TurnReport) + Send + Sync>) {
        *self.0.observer.lock().unwrap_or_else(PoisonError::into_inner) = Some(observer);
    }

    /// Sets what is done first when the agent is shut down, while its turn is being stopped. There is one at most.
    pub fn before_shutdown(&self, first: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        *self.0.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(first));
    }

    /// Does what is done first when the agent is shut down, once.
    pub(crate) async fn do_before_shutdown(&self) {
        let first = self.0.before_shutdown.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(first) = first {
            first().await;
        }
    }

    /// Returns what does not keep the agent.
    pub fn downgrade(&self) -> WeakAgent {
        WeakAgent(Arc::downgrade(&self.0))
    }

    pub(crate) fn report(&self, report: &TurnReport) {
        let observer = self.0.observer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observer) = observer {
            observer(report);
        }
    }

    /// Adds items to what the model sees, and tells and records it. Without a turn that records, the next one does.
    pub(crate) fn remember(&self, order: &EventGuard<'_>, items: Vec<ModelItem>, trace: Option<&TurnTrace>) {
        let mut state = self.state();
        for item in &items {
            state.used_ids.extend(ids(item));
            state.history.push(Arc::clone(item));
        }
        if trace.is_none() {
            state.unrecorded.extend(items.iter().cloned());
        }
        drop(state);
        if let Some(trace) = trace {
            items.iter().for_each(|item| recording::accept(trace, item));
        }
        for item in items {
            self.tell(order, EventKind::Remembered { item });
        }
    }

    pub(crate) fn attend(&self, change: impl FnOnce(&mut Attention)) {
        self.0.attention.send_modify(change);
    }

    pub(crate) fn recording(&self) -> &Arc<Recording> {
        &self.0.recording
    }

    /// Returns what records the thread. Begins the recording if that was not done yet.
    pub(crate) async fn record(&self) -> ThreadTrace {
        let lineage = self.lineage();
        let settings = self.settings();
        let description = ThreadDescription {
            thread: self.id(),
            path: self.path(),
            parent: lineage.map(|lineage| &lineage.parent),
            depth: self.depth(),
            nickname: lineage.and_then(|lineage| lineage.nickname.as_deref()),
            role: lineage.and_then(|lineage| lineage.role.as_deref()),
            settings: &settings,
        };
        let trace = self.0.recording.start_thread(&description).await;
        self.state().trace = trace.clone();
        trace
    }

    /// Begins the recording of a review.
    pub(crate) async fn record_review(&self) -> ReviewRecord {
        let settings = self.settings();
        let description = ThreadDescription {
            thread: &ThreadId::new(),
            path: &review_path(self.path()),
            parent: Some(self.id()),
            depth: self.depth() + 1,
            nickname: None,
            role: Some("review"),
            settings: &settings,
        };
        ReviewRecord::start(self.0.recording.start_thread(&description).await)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the right to tell events.
    pub(crate) fn order(&self) -> EventGuard<'_> {
        EventGuard(self.0.order.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells an event among others that belong together.
    pub(crate) fn tell(&self, _order: &EventGuard<'_>, kind: EventKind) {
        let at_ms = self.0.runtime.options().clock.now_ms();
        self.host().event(self.id(), Event { at_ms, kind });
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn Background>>> {
        self.0.terminals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to tell events: nobody else tells one meanwhile.
pub(crate) struct EventGuard<'a>(#[expect(dead_code, reason = "held, not looked at")] MutexGuard<'a, ()>);

struct OpenQuestion<'a> {
    agent: &'a Agent,
    id: QuestionId,
    is_answered: bool,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.agent.host().withdraw(self.agent.id(), self.id);
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Agent").field(&self.0.id).finish()
    }
}
