//! A loaded thread: turns the events of its agent into history, files and notifications, in one order.
//!
//! Everything of a thread that clients can see changes under one lock, and the notifications of a change are queued under the
//! same lock. So a client that joins gets a snapshot, and after it exactly the later changes. No code that holds the lock waits:
//! the queue of a connection takes a message or closes the connection.

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
use trace_runtime::tool::plan::Plan;
use trace_runtime::{Agent, Settings, ThreadId, TurnId};
use uuid::Uuid;

use super::origin::{InitialState, Origin};
use super::status::{StatusFacts, tell_status};
use super::view::View;
use crate::connection::{Connection, ConnectionId, Delivery, SerializedRequest};
use crate::hub::{Hub, serialized, tell};
use crate::mapping;
use crate::store::ThreadWriter;

/// Most characters of the first message that lists show of a thread.
pub(crate) const PREVIEW_CHARACTERS: usize = 4_000;

/// The turns that work towards a goal.
#[derive(Debug, Default)]
pub(crate) struct GoalTurns {
    /// Last turn that was started for the goal.
    pub(crate) started: Option<TurnId>,
    /// The running turn or the last one, if a goal was active when it began, with the objective of then.
    pub(crate) told: Option<(TurnId, String)>,
}

/// State of starting queued prompts.
#[derive(Debug, Default)]
pub(crate) struct QueueStart {
    /// Whether a task tries to start the next prompt.
    pub(crate) is_tried: bool,
    /// Number of requests to try, so that the task notices those that come while it tries.
    pub(crate) asked: u64,
    /// Id of the prompt that is being started, which clients cannot change any more.
    pub(crate) claimed: Option<String>,
}

/// A thread that is loaded.
#[derive(Debug)]
pub(crate) struct LoadedThread {
    agent: Agent,
    origin: Origin,
    state: Mutex<State>,
}

/// The state that clients see.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) view: View,
    pub(crate) name: Option<String>,
    pub(crate) git_info: Option<GitInfo>,
    pub(crate) goal: Option<ThreadGoal>,
    pub(crate) queue: Vec<QueuedSubmission>,
    pub(crate) queue_start: QueueStart,
    pub(crate) goal_turns: GoalTurns,
    pub(crate) read: ThreadReadState,
    pub(crate) writer: Option<ThreadWriter>,
    preview: String,
    updated_at: i64,
    recency_at: i64,
    usage: Option<(TurnId, ThreadUsage)>,
    /// The plan of the last turn.
    plan: Option<(TurnId, Plan)>,
    questions: BTreeMap<QuestionId, OpenQuestion>,
    subscribers: Vec<Arc<Connection>>,
    /// Subscribers that joined neither this thread nor its parent: they get notifications and no questions.
    hearers: Vec<ConnectionId>,
    announced: ThreadStatus,
    has_failed: bool,
    is_giving_up: bool,
    has_lost_lines: bool,
    is_closing: bool,
    quiet_since: Instant,
}

/// A question without an answer.
#[derive(Debug)]
struct OpenQuestion {
    question: Question,
    request: SerializedRequest,
    reply: oneshot::Sender<Answer>,
    /// The connections that were asked. Answers of others do not count.
    asked: Vec<ConnectionId>,
}

impl OpenQuestion {
    /// Sends the question to a connection, and notes it if it was sent.
    fn put_to(&mut self, connection: &Connection) {
        if connection.request(&self.request) == Delivery::Sent && !self.asked.contains(&connection.id()) {
            self.asked.push(connection.id());
        }
    }
}

/// Whether an answer of a client counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerOutcome {
    /// The answer was given to the agent.
    Accepted,
    /// The question is not open, or this connection was not asked.
    Ignored,
}

/// Which turns the representation of a thread contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// All turns with all items.
    Full,
    /// No turns.
    LeftOut,
}

impl LoadedThread {
    /// Makes a loaded thread of an agent.
    pub(crate) fn new(agent: Agent, origin: Origin, initial: InitialState) -> Self {
        let state = State {
            view: View::of(agent.id(), initial.turns),
            name: initial.name,
            git_info: initial.git_info,
            goal: initial.goal,
            queue: initial.queue,
            queue_start: QueueStart::default(),
            goal_turns: GoalTurns::default(),
            read: ThreadReadState { revision: Uuid::now_v7().to_string(), first_unread: None },
            writer: initial.writer,
            preview: initial.preview,
            updated_at: initial.updated_at,
            recency_at: initial.updated_at,
            usage: initial.usage,
            plan: initial.plan,
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

    /// Returns the constant properties.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Locks the state.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic of another holder must not make the thread unusable: at worst a notification was not sent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the thread in the form of the protocol. The caller must read the settings before it locks the state, because
    /// the state is locked when an agent reports a change of its settings.
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
            // Not `origin.path`, because a revert continues in another file.
            path: state.writer.as_ref().map(|writer| writer.path().to_string_lossy().into_owned()),
            reasoning_effort: settings.effort.clone(),
            recency_at: Some(state.recency_at),
            section: None,
            section_entered_at: None,
            thread_source: self.origin.thread_source.clone(),
            id,
        }
    }

    /// Returns the thread in the form of the protocol, without turns.
    pub(crate) fn summary(&self) -> Thread {
        let settings = self.agent.settings();
        self.show(&self.state(), &settings, Turns::LeftOut)
    }

    /// Stores an event of the agent, applies it to the state, and notifies the subscribers.
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
                state.plan = None;
                state.touch(event.at_ms);
                state.recency_at = event.at_ms.div_euclid(1000);
                let goal = state.goal.as_ref().filter(|goal| goal.status == ThreadGoalStatus::Active);
                state.goal_turns.told = goal.map(|goal| (turn.clone(), goal.objective.clone()));
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
            EventKind::PlanChanged { turn, explanation, steps } => {
                state.plan = Some((turn.clone(), Plan { explanation: explanation.clone(), steps: steps.clone() }));
                state.tell_event(id, event);
            }
            EventKind::Warning { .. }
            | EventKind::DiffChanged { .. }
            | EventKind::SettingsChanged { .. }
            | EventKind::TurnContext { .. }
            | EventKind::MailCame { .. }
            | EventKind::Remembered { .. }
            | EventKind::HistoryReplaced { .. } => state.tell_event(id, event),
        }
    }

    /// Sends a question to all subscribers that may be asked, and to later ones while it is open. Returns whether it is open now.
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
        let request = match SerializedRequest::new(request, &params) {
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

    /// Withdraws a question.
    pub(crate) fn withdraw(&self, hub: &Hub, number: QuestionId) {
        let id = self.id();
        let mut state = self.state();
        if let Some(open) = state.questions.remove(&number) {
            state.tell(resolved(id, &open));
            state.announce(id, hub);
        }
    }

    /// Takes the answer of a connection. The first answer of a connection that was asked counts.
    pub(crate) fn answered(
        &self,
        hub: &Hub,
        (connection, number): (ConnectionId, QuestionId),
        request: &RequestId,
        result: Result<&RawValue, &RpcError>,
    ) -> AnswerOutcome {
        let id = self.id();
        let mut state = self.state();
        let is_asked = |open: &OpenQuestion| open.request.id() == request && open.asked.contains(&connection);
        if !state.questions.get(&number).is_some_and(is_asked) {
            return AnswerOutcome::Ignored;
        }
        let Some(open) = state.questions.remove(&number) else { return AnswerOutcome::Ignored };
        let answer = match result {
            Ok(result) => mapping::question::answer(&open.question, result),
            Err(error) => Answer::Failed { message: error.message.clone() },
        };
        state.tell(resolved(id, &open));
        state.announce(id, hub);
        // The agent may have stopped waiting.
        let _ = open.reply.send(answer);
        AnswerOutcome::Accepted
    }

    /// Subscribes a connection at one point of the thread's history: `answer` responds with the state at this point, and later
    /// changes follow as notifications. The plan of the last turn and open questions are sent to the connection again.
    pub(crate) fn join(&self, connection: &Arc<Connection>, turns: Turns, answer: impl FnOnce(&State)) {
        let id = self.id();
        let mut state = self.state();
        state.subscribe(connection);
        answer(&state);
        if let (Turns::Full, Some((turn, usage))) = (turns, &state.usage) {
            tell(connection, mapping::event::usage_updated(id, turn, usage));
        }
        // No item of the protocol has the plan of a turn.
        if let Some((turn, Plan { explanation, steps })) = &state.plan
            && state.view.last_turn() == Some(turn.as_str())
        {
            tell(connection, mapping::event::plan_updated(id, turn, explanation.as_deref(), steps));
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

    /// Creates the thread's file if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread is ephemeral or the file cannot be written.
    pub(crate) fn materialize(&self) -> Result<(), RpcError> {
        let writer = self.state().writer.clone();
        match writer {
            Some(writer) => Ok(writer.materialize()?),
            None => Err(RpcError::invalid_request(format!("thread {} is ephemeral: it has no file", self.id()))),
        }
    }

    /// Drops a turn and all later ones from the thread's file. Returns the remaining history of the model.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such turn or the file cannot be written.
    pub(crate) fn revert_stored(&self, before: &TurnId) -> Result<Vec<ModelItem>, RpcError> {
        let writer = self.state().writer.clone();
        match writer {
            Some(writer) => Ok(writer.revert(before)?.history),
            None => Err(RpcError::invalid_request(format!("thread {} is ephemeral: it cannot go back", self.id()))),
        }
    }

    /// Returns the goal.
    pub(crate) fn goal(&self) -> Option<ThreadGoal> {
        self.state().goal.clone()
    }

    /// Changes the goal, and stores it.
    ///
    /// # Errors
    ///
    /// Returns the error of `change`, or an error if the thread's file cannot be written.
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

    /// Shuts down the agent with its commands, and closes the thread's file.
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

    /// Ends a subscription. Returns whether there was one.
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
    /// Subscribes all connections to the thread of a spawned agent. The participants of the parent's thread also get the agent's
    /// questions.
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

    /// Returns the subscribers that get questions.
    pub(crate) fn participants(&self) -> Vec<Arc<Connection>> {
        let asked = self.subscribers.iter().filter(|connection| !self.hearers.contains(&connection.id()));
        asked.map(Arc::clone).collect()
    }

    /// Subscribes a connection, with questions, unless it is subscribed already.
    pub(crate) fn subscribe(&mut self, connection: &Arc<Connection>) {
        self.hearers.retain(|hearer| *hearer != connection.id());
        // A connection is marked as ended before its subscriptions are removed, so the removal finds all that are added here.
        if !connection.has_ended() && self.subscribers.iter().all(|known| known.id() != connection.id()) {
            self.subscribers.push(Arc::clone(connection));
        }
    }

    /// Returns the subscribers.
    pub(crate) fn subscribers(&self) -> &[Arc<Connection>] {
        &self.subscribers
    }

    /// Returns the token usage, and the last turn that added to it.
    pub(crate) fn usage(&self) -> Option<&(TurnId, ThreadUsage)> {
        self.usage.as_ref()
    }

    /// Returns the number of open questions.
    pub(crate) fn open_questions(&self) -> usize {
        self.questions.len()
    }

    /// Returns whether the thread is being unloaded.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Notes that the thread is being unloaded. Returns whether this is new.
    pub(crate) fn begin_closing(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closing, true)
    }

    /// Returns the time of the last event or end of a subscription.
    pub(crate) fn quiet_since(&self) -> Instant {
        self.quiet_since
    }

    /// Returns the facts that determine the status.
    pub(crate) fn facts(&self) -> StatusFacts {
        use trace_protocol::thread::ThreadActiveFlag;

        let open =
            |flag| self.questions.values().filter(|open| mapping::question::flag(&open.question) == Some(flag)).count();
        StatusFacts {
            is_running: self.view.running().is_some() && !self.is_giving_up,
            open_approvals: open(ThreadActiveFlag::WaitingOnApproval),
            open_user_inputs: open(ThreadActiveFlag::WaitingOnUserInput),
            has_failed: self.has_failed,
        }
    }

    /// Sends a notification to all subscribers.
    pub(crate) fn tell(&self, notification: impl Into<ServerNotification>) {
        if self.subscribers.is_empty() {
            return;
        }
        let Some(serialized) = serialized(&notification.into()) else { return };
        for connection in &self.subscribers {
            connection.notify(&serialized);
        }
    }

    /// Notifies all clients of the status if it has changed.
    pub(crate) fn announce(&mut self, id: &ThreadId, hub: &Hub) {
        let status = self.facts().status();
        if status != self.announced {
            self.announced = status.clone();
            tell_status(hub, id, status);
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

    /// Stores an event, which happens before clients are notified of it. If it cannot be written, subscribers get one warning and the
    /// agent continues.
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

    /// Withdraws the questions for which `is_over` is true.
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

/// Returns the beginning of a message, for lists of threads.
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
