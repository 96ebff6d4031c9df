//! A thread that is loaded: what its agent tells becomes history, files and notifications, in one order.
//!
//! Everything of a thread that clients can see changes under one lock, and whatever follows from a change is queued for
//! its receivers under the same lock. So whoever joins at one point gets a snapshot, and after it exactly what came
//! later. Nothing below the lock waits: queues of connections take a message or close.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use trace_protocol::goal::{ThreadGoal, ThreadGoalStatus};
use trace_protocol::notification as wire;
use trace_protocol::queue::QueuedSubmission;
use trace_protocol::thread::{GitInfo, Thread, ThreadReadState, ThreadStatus, ThreadUnreadPosition};
use trace_protocol::turn::{Turn, TurnStatus};
use trace_protocol::{RequestId, RpcError, ServerNotification};
use trace_runtime::event::{Event, EventKind, Retry, ThreadUsage, TurnOutcome};
use trace_runtime::host::{Answer, Question, QuestionId};
use trace_runtime::item::{Input, ItemKind, ModelItem};
use trace_runtime::{Agent, Settings, ThreadId, TurnId};
use uuid::Uuid;

use super::origin::{Beginning, Origin};
use super::status::Facts;
use super::view::View;
use crate::connection::{Connection, ConnectionId, Delivery, PreparedRequest};
use crate::hub::{Hub, prepared, tell};
use crate::mapping;
use crate::store::ThreadWriter;

/// Characters of the first message that stand for a thread in lists.
pub(crate) const PREVIEW_CHARACTERS: usize = 4_000;

/// What is known of the turns that work towards a goal.
#[derive(Debug, Default)]
pub(crate) struct Pursuit {
    /// The turn that was started for the goal last.
    pub(crate) started: Option<TurnId>,
    /// The turn that runs or ran last, and the objective that its agent knows.
    pub(crate) told: Option<(TurnId, String)>,
}

/// Whether somebody starts the next prompt that waits.
#[derive(Debug, Default)]
pub(crate) struct Draining {
    /// Somebody tries to.
    pub(crate) is_tried: bool,
    /// How often it was asked for.
    pub(crate) asked: u64,
    /// The prompt that is being started, which cannot be changed any more.
    pub(crate) claimed: Option<String>,
}

/// A thread that is loaded.
#[derive(Debug)]
pub(crate) struct LoadedThread {
    agent: Agent,
    origin: Origin,
    state: Mutex<State>,
}

/// What changes, and is seen by clients.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) view: View,
    pub(crate) name: Option<String>,
    pub(crate) git_info: Option<GitInfo>,
    pub(crate) goal: Option<ThreadGoal>,
    pub(crate) queue: Vec<QueuedSubmission>,
    pub(crate) draining: Draining,
    pub(crate) pursuit: Pursuit,
    pub(crate) read: ThreadReadState,
    pub(crate) writer: Option<ThreadWriter>,
    preview: String,
    updated_at: i64,
    recency_at: i64,
    usage: Option<(TurnId, ThreadUsage)>,
    questions: BTreeMap<QuestionId, OpenQuestion>,
    subscribers: Vec<Arc<Connection>>,
    /// Subscribers that did not ask for this thread or the one above it: they hear what happens, and are asked nothing.
    hearers: Vec<ConnectionId>,
    announced: ThreadStatus,
    has_failed: bool,
    is_giving_up: bool,
    has_lost_lines: bool,
    is_closing: bool,
    quiet_since: Instant,
}

/// A question that nobody has answered.
#[derive(Debug)]
struct OpenQuestion {
    question: Question,
    request: PreparedRequest,
    reply: oneshot::Sender<Answer>,
    /// Who was asked. Nobody else may answer.
    asked: Vec<ConnectionId>,
}

impl OpenQuestion {
    /// Puts the question to a connection, if it may be asked.
    fn put_to(&mut self, connection: &Connection) {
        if connection.request(&self.request) == Delivery::Sent && !self.asked.contains(&connection.id()) {
            self.asked.push(connection.id());
        }
    }
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It counts.
    Counts,
    /// There is no such question any more, or never was, or somebody else was asked.
    Dropped,
}

/// How much of its history a thread is shown with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// All turns with all items.
    Full,
    /// None.
    LeftOut,
}

impl LoadedThread {
    /// Makes a thread out of an agent and what is known of it.
    pub(crate) fn new(agent: Agent, origin: Origin, beginning: Beginning) -> Self {
        let state = State {
            view: View::of(agent.id(), beginning.turns),
            name: beginning.name,
            git_info: beginning.git_info,
            goal: beginning.goal,
            queue: beginning.queue,
            draining: Draining::default(),
            pursuit: Pursuit::default(),
            read: ThreadReadState { revision: Uuid::now_v7().to_string(), first_unread: None },
            writer: beginning.writer,
            preview: beginning.preview,
            updated_at: beginning.updated_at,
            recency_at: beginning.updated_at,
            usage: beginning.usage,
            questions: BTreeMap::new(),
            subscribers: Vec::new(),
            hearers: Vec::new(),
            announced: ThreadStatus::Idle,
            has_failed: false,
            is_giving_up: false,
            has_lost_lines: false,
            is_closing: false,
            quiet_since: Instant::now(),
        };
        Self { agent, origin, state: Mutex::new(state) }
    }

    /// Returns the agent that works in the thread.
    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the thread's id.
    pub(crate) fn id(&self) -> &ThreadId {
        self.agent.id()
    }

    /// Returns what does not change.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns what changes, for as long as the guard lives.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not take the thread with it: what it left is a message that was not sent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the thread. The settings are looked up before the state is locked, since an agent that changes its settings
    /// tells of it.
    pub(crate) fn show(&self, state: &State, settings: &Settings, turns: Turns) -> Thread {
        let id = self.id().to_string();
        Thread {
            session_id: self.agent.root().to_string(),
            cli_version: self.origin.version.clone(),
            created_at: self.origin.created_at,
            cwd: mapping::settings::absolute(&settings.cwd),
            ephemeral: self.origin.is_ephemeral,
            model_provider: settings.provider.clone(),
            preview: state.preview.clone(),
            project_id: None,
            source: self.origin.source.clone(),
            status: state.facts().status(),
            turns: match turns {
                Turns::Full => state.view.snapshot().iter().map(|turn| Turn::clone(turn)).collect(),
                Turns::LeftOut => Vec::new(),
            },
            updated_at: state.updated_at,
            agent_nickname: self.origin.agent_nickname.clone(),
            agent_role: self.origin.agent_role.clone(),
            attached_to_thread_id: None,
            can_accept_direct_input: Some(self.agent.parent().is_none()),
            daybreak_enabled: None,
            environments: None,
            extra: None,
            forked_from_id: self.origin.forked_from.clone(),
            git_info: state.git_info.clone(),
            history_mode: self.origin.history_mode,
            model: Some(settings.model.clone()),
            name: state.name.clone(),
            originator: self.origin.originator.clone(),
            parent_thread_id: self.agent.parent().map(ToString::to_string),
            // A revert goes on in another file.
            path: state.writer.as_ref().map(|writer| writer.path().to_string_lossy().into_owned()),
            reasoning_effort: settings.effort.clone(),
            recency_at: Some(state.recency_at),
            section: None,
            section_entered_at: None,
            thread_source: self.origin.thread_source.clone(),
            id,
        }
    }

    /// Takes in what the agent tells, and tells it on.
    pub(crate) fn event(&self, hub: &Hub, event: &Event) {
        let id = self.id();
        let mut state = self.state();
        let state = &mut *state;
        state.quiet_since = Instant::now();
        state.store(id, event);
        match &event.kind {
            EventKind::TurnStarted { turn, root_turn, kind, .. } => {
                state.resolve(id, |_| true);
                state.has_failed = false;
                state.is_giving_up = false;
                state.touch(event.at_ms);
                state.recency_at = event.at_ms.div_euclid(1000);
                let goal = state.goal.as_ref().filter(|goal| goal.status == ThreadGoalStatus::Active);
                state.pursuit.told = goal.map(|goal| (turn.clone(), goal.objective.clone()));
                let turn = state.view.begin(turn, root_turn, *kind, event.at_ms);
                state.announce(id, hub);
                state.tell(wire::TurnStartedNotification { thread_id: id.to_string(), turn });
            }
            EventKind::TurnEnded { turn, outcome } => {
                state.resolve(id, |question| mapping::question::place(question).0 == turn);
                state.touch(event.at_ms);
                state.has_failed = matches!(outcome, TurnOutcome::Failed(_));
                state.is_giving_up = false;
                let Some(turn) = state.view.end(outcome, event.at_ms) else { return };
                if turn.status == TurnStatus::Completed && state.read.first_unread.is_none() {
                    state.read = ThreadReadState {
                        revision: Uuid::now_v7().to_string(),
                        first_unread: Some(ThreadUnreadPosition::Turn { turn_id: turn.id.clone() }),
                    };
                    let read_state = state.read.clone();
                    state.tell(wire::ThreadReadStateChangedNotification { thread_id: id.to_string(), read_state });
                }
                state.announce(id, hub);
                state.tell(wire::TurnCompletedNotification { thread_id: id.to_string(), turn });
            }
            EventKind::ItemStarted { turn, item } => {
                if let (true, ItemKind::UserMessage { content, .. }) = (state.preview.is_empty(), &item.kind) {
                    state.preview = preview(content);
                }
                let item = state.view.start_item(turn, item, event.at_ms);
                state.tell(mapping::event::item_started(id, turn, item, event.at_ms));
            }
            EventKind::ItemCompleted { turn, item } => {
                let item = state.view.complete_item(turn, item, event.at_ms);
                state.tell(mapping::event::item_completed(id, turn, item, event.at_ms));
            }
            EventKind::ItemGrew { turn, item, delta } => {
                state.view.grow_item(turn, item, delta);
                state.tell_event(id, event);
            }
            EventKind::Error { retry, .. } => {
                if *retry == Retry::Ends {
                    state.resolve(id, |_| true);
                    state.has_failed = true;
                    state.is_giving_up = true;
                    state.announce(id, hub);
                }
                state.tell_event(id, event);
            }
            EventKind::TokensUsed { turn, usage } => {
                state.usage = Some((turn.clone(), *usage));
                state.tell_event(id, event);
            }
            EventKind::Warning { .. }
            | EventKind::DiffChanged { .. }
            | EventKind::PlanChanged { .. }
            | EventKind::SettingsChanged { .. }
            | EventKind::TurnContext { .. }
            | EventKind::MailCame { .. }
            | EventKind::Remembered { .. }
            | EventKind::HistoryReplaced { .. } => state.tell_event(id, event),
        }
    }

    /// Puts a question to all subscribers, and to whoever subscribes while it is open. Tells whether it is open now.
    pub(crate) fn ask(
        &self,
        hub: &Hub,
        number: QuestionId,
        request: RequestId,
        question: Question,
        reply: oneshot::Sender<Answer>,
        at_ms: i64,
    ) -> bool {
        let id = self.id();
        let mut state = self.state();
        let params = mapping::question::request(id, &question, at_ms);
        let request = match PreparedRequest::new(request, &params) {
            Ok(request) => request,
            Err(error) => {
                let _ = reply.send(Answer::Failed { message: format!("the question cannot be put: {error}") });
                return false;
            }
        };
        state.questions.insert(number, OpenQuestion { question, request, reply, asked: Vec::new() });
        state.announce(id, hub);
        let state = &mut *state;
        if let Some(open) = state.questions.get_mut(&number) {
            let asked = state.subscribers.iter().filter(|connection| !state.hearers.contains(&connection.id()));
            asked.for_each(|connection| open.put_to(connection));
        }
        true
    }

    /// Takes a question back.
    pub(crate) fn withdraw(&self, hub: &Hub, number: QuestionId) {
        let id = self.id();
        let mut state = self.state();
        if let Some(open) = state.questions.remove(&number) {
            state.tell(resolved(id, &open));
            state.announce(id, hub);
        }
    }

    /// Takes an answer of a connection. The first one counts of those that were asked.
    pub(crate) fn answered(
        &self,
        hub: &Hub,
        (connection, number): (ConnectionId, QuestionId),
        request: &RequestId,
        result: Result<&RawValue, &RpcError>,
    ) -> Heard {
        let id = self.id();
        let mut state = self.state();
        let is_asked = |open: &OpenQuestion| open.request.id() == request && open.asked.contains(&connection);
        if !state.questions.get(&number).is_some_and(is_asked) {
            return Heard::Dropped;
        }
        let Some(open) = state.questions.remove(&number) else { return Heard::Dropped };
        let answer = match result {
            Ok(result) => mapping::question::answer(&open.question, result),
            Err(error) => Answer::Failed { message: error.message.clone() },
        };
        state.tell(resolved(id, &open));
        state.announce(id, hub);
        // Whoever asked may have gone meanwhile.
        let _ = open.reply.send(answer);
        Heard::Counts
    }

    /// Subscribes a connection at one point of the thread's history: answers it with what there is up to there, and tells
    /// it everything after. Questions that are open are put to it once more.
    pub(crate) fn join(&self, connection: &Arc<Connection>, turns: Turns, answer: impl FnOnce(&State)) {
        let id = self.id();
        let mut state = self.state();
        state.subscribe(connection);
        answer(&state);
        if let (Turns::Full, Some((turn, usage))) = (turns, &state.usage) {
            tell(connection, mapping::event::usage_updated(id, turn, usage));
        }
        let goal: ServerNotification = match &state.goal {
            Some(goal) => {
                let goal = goal.clone();
                wire::ThreadGoalUpdatedNotification { thread_id: id.to_string(), goal, turn_id: None }.into()
            }
            None => wire::ThreadGoalClearedNotification { thread_id: id.to_string() }.into(),
        };
        tell(connection, goal);
        state.questions.values_mut().for_each(|open| open.put_to(connection));
    }

    /// Makes the thread's file, if it has none yet.
    ///
    /// # Errors
    ///
    /// The thread is ephemeral, or the file cannot be written.
    pub(crate) fn materialize(&self) -> Result<(), RpcError> {
        let writer = self.state().writer.clone();
        match writer {
            Some(writer) => Ok(writer.materialize()?),
            None => Err(RpcError::invalid_request(format!("thread {} is ephemeral: it has no file", self.id()))),
        }
    }

    /// Drops a turn and all after it from the thread's file. Returns what the model sees from then on.
    ///
    /// # Errors
    ///
    /// There is no such turn, or the file cannot be written.
    pub(crate) fn revert_stored(&self, before: &TurnId) -> Result<Vec<ModelItem>, RpcError> {
        let writer = self.state().writer.clone();
        match writer {
            Some(writer) => Ok(writer.revert(before)?.history),
            None => Err(RpcError::invalid_request(format!("thread {} is ephemeral: it cannot go back", self.id()))),
        }
    }

    /// Returns what the thread is to reach.
    pub(crate) fn goal(&self) -> Option<ThreadGoal> {
        self.state().goal.clone()
    }

    /// Changes what the thread is to reach, and stores it.
    ///
    /// # Errors
    ///
    /// What the change returns, or that the thread's file cannot be written.
    pub(crate) fn change_goal<T>(
        &self,
        change: impl FnOnce(&mut Option<ThreadGoal>) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let mut state = self.state();
        let mut goal = state.goal.clone();
        let result = change(&mut goal)?;
        if let Some(writer) = &state.writer {
            writer.set_goal(goal.as_ref())?;
        }
        state.goal = goal;
        Ok(result)
    }

    /// Ends the agent, with all that it runs, and closes the thread's file.
    pub(crate) async fn close(self: &Arc<Self>) {
        self.agent.shutdown().await;
        let this = Arc::clone(self);
        if tokio::task::spawn_blocking(move || this.close_file()).await.is_err() {
            tracing::error!(thread = %self.id(), "the thread's file was not closed");
        }
    }

    /// Closes the thread's file.
    pub(crate) fn close_file(&self) {
        let writer = self.state().writer.clone();
        if let Some(writer) = writer {
            writer.close();
        }
    }

    /// Ends a subscription. Tells whether there was one.
    pub(crate) fn leave(&self, connection: ConnectionId) -> bool {
        let mut state = self.state();
        let before = state.subscribers.len();
        state.subscribers.retain(|known| known.id() != connection);
        state.hearers.retain(|hearer| *hearer != connection);
        for open in state.questions.values_mut() {
            open.asked.retain(|asked| *asked != connection);
        }
        state.quiet_since = Instant::now();
        state.subscribers.len() < before
    }
}

impl State {
    /// Subscribes everybody to the thread of an agent. Those that listen to the thread that started it are asked what the agent
    /// asks; others hear it only.
    pub(crate) fn subscribe_all(&mut self, everybody: &[Arc<Connection>], of_parent: &[Arc<Connection>]) {
        for connection in everybody {
            let id = connection.id();
            let is_new = self.subscribers.iter().all(|known| known.id() != id);
            self.subscribe(connection);
            if is_new && of_parent.iter().all(|known| known.id() != id) {
                self.hearers.push(id);
            }
        }
    }

    /// Returns who listens and is asked.
    pub(crate) fn participants(&self) -> Vec<Arc<Connection>> {
        let asked = self.subscribers.iter().filter(|connection| !self.hearers.contains(&connection.id()));
        asked.map(Arc::clone).collect()
    }

    /// Subscribes a connection that asks for it, once.
    pub(crate) fn subscribe(&mut self, connection: &Arc<Connection>) {
        self.hearers.retain(|hearer| *hearer != connection.id());
        // A connection ends before its subscriptions are looked for, so one that has ended here is not missed there.
        if !connection.has_ended() && self.subscribers.iter().all(|known| known.id() != connection.id()) {
            self.subscribers.push(Arc::clone(connection));
        }
    }

    /// Returns who listens.
    pub(crate) fn subscribers(&self) -> &[Arc<Connection>] {
        &self.subscribers
    }

    /// Returns what was used up, and by which turn last.
    pub(crate) fn usage(&self) -> Option<&(TurnId, ThreadUsage)> {
        self.usage.as_ref()
    }

    /// Returns how many questions are open.
    pub(crate) fn open_questions(&self) -> usize {
        self.questions.len()
    }

    /// Tells whether the thread is about to be let go.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Notes that the thread is about to be let go. Tells whether it was not before.
    pub(crate) fn begin_closing(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closing, true)
    }

    /// Returns since when nothing happened and nobody left.
    pub(crate) fn quiet_since(&self) -> Instant {
        self.quiet_since
    }

    /// Returns what the status follows from.
    pub(crate) fn facts(&self) -> Facts {
        use trace_protocol::thread::ThreadActiveFlag;

        let open =
            |flag| self.questions.values().filter(|open| mapping::question::flag(&open.question) == Some(flag)).count();
        Facts {
            is_running: self.view.running().is_some() && !self.is_giving_up,
            open_approvals: open(ThreadActiveFlag::WaitingOnApproval),
            open_user_inputs: open(ThreadActiveFlag::WaitingOnUserInput),
            has_failed: self.has_failed,
        }
    }

    /// Tells all subscribers.
    pub(crate) fn tell(&self, notification: impl Into<ServerNotification>) {
        if self.subscribers.is_empty() {
            return;
        }
        let Some(prepared) = prepared(&notification.into()) else { return };
        for connection in &self.subscribers {
            connection.notify(&prepared);
        }
    }

    /// Tells everybody the status, if it is another one.
    pub(crate) fn announce(&mut self, id: &ThreadId, hub: &Hub) {
        let status = self.facts().status();
        if status != self.announced {
            self.announced = status.clone();
            hub.broadcast(wire::ThreadStatusChangedNotification { thread_id: id.to_string(), status });
        }
    }

    /// Notes that the thread changed.
    pub(crate) fn touch(&mut self, at_ms: i64) {
        self.updated_at = self.updated_at.max(at_ms.div_euclid(1000));
    }

    fn tell_event(&self, id: &ThreadId, event: &Event) {
        if self.subscribers.is_empty() {
            return;
        }
        if let Some(notification) = mapping::event::notification(id, event) {
            self.tell(notification);
        }
    }

    /// Writes an event down before anybody is told of it. What cannot be written is told once; the work goes on.
    fn store(&mut self, id: &ThreadId, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        let Err(error) = writer.record(event) else {
            self.has_lost_lines = false;
            return;
        };
        tracing::error!(thread = %id, %error, "the thread's file could not be written");
        if !std::mem::replace(&mut self.has_lost_lines, true) {
            self.tell(wire::WarningNotification {
                message: format!("this thread is not stored completely: {error}"),
                thread_id: Some(id.to_string()),
            });
        }
    }

    /// Drops the questions that a condition names.
    fn resolve(&mut self, id: &ThreadId, mut is_over: impl FnMut(&Question) -> bool) {
        let over: Vec<QuestionId> =
            self.questions.iter().filter(|(_, open)| is_over(&open.question)).map(|(number, _)| *number).collect();
        for number in over {
            if let Some(open) = self.questions.remove(&number) {
                self.tell(resolved(id, &open));
            }
        }
    }
}

fn resolved(id: &ThreadId, open: &OpenQuestion) -> wire::ServerRequestResolvedNotification {
    wire::ServerRequestResolvedNotification { thread_id: id.to_string(), request_id: open.request.id().clone() }
}

/// Returns the text of a message, as far as it stands for a thread.
pub(crate) fn preview(content: &[Input]) -> String {
    let mut preview = String::new();
    for part in content {
        if let Input::Text { text, .. } = part {
            if !preview.is_empty() {
                preview.push(' ');
            }
            preview.extend(text.chars().take(PREVIEW_CHARACTERS));
        }
    }
    preview.chars().take(PREVIEW_CHARACTERS).collect()
}
