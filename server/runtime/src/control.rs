//! What may be asked of an agent: turns, input, interruptions, its end.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, EventGuard};
use crate::event::{EventKind, TurnKind};
use crate::history::{self, History};
use crate::id::TurnId;
use crate::item::{Input, ModelItem, ToolOutput};
use crate::mail::{Mail, Wake};
pub use crate::refusal::Refusal;
use crate::settings::{Settings, SettingsChange};
use crate::state::{ActiveTurn, Plan, State, UserInput, Work, ids};
use crate::turn;

/// Most inputs that wait for one turn.
pub const MAX_WAITING_INPUTS: usize = 256;

/// Most turns that wait for the one that runs.
pub const MAX_PLANNED_TURNS: usize = 16;

/// Most messages of other agents that wait for the model.
pub const MAX_WAITING_MAIL: usize = 1024;

/// A turn that is asked for.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// What another program says, in the place of a user.
    pub tool_output: Option<ToolOutput>,
    /// What the user says.
    pub input: Vec<Input>,
    /// Id that the client gave the message.
    pub client_id: Option<String>,
    /// Changes of settings; they stick. A turn that the input joins keeps its own.
    pub change: SettingsChange,
    /// JSON schema of what the agent says last, for this turn only.
    pub output_schema: Option<Value>,
    /// The turn that this one stems from, if not itself.
    pub root_turn: Option<TurnId>,
    /// Class of service at the provider, for this turn only.
    pub service_tier_for_turn: Option<String>,
}

/// What became of a turn that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Whether it is a new one.
    pub how: Start,
}

/// Whether a turn is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It is; it begins at once, or when the turn that runs has ended.
    New,
    /// It ran or waited already, and the input joined it.
    Joined,
}

/// Whether a turn that is asked for may be one that there is already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    Allowed,
    Refused,
}

/// Keeps an agent from beginning turns while its history is changed. What is asked for meanwhile begins when this is dropped.
#[derive(Debug)]
#[must_use = "the agent goes on when this is dropped"]
pub struct Hold(Agent);

impl Hold {
    /// Replaces what the model sees.
    pub fn replace_history(&self, items: Vec<ModelItem>) {
        let agent = &self.0;
        let order = agent.order();
        let mut state = agent.state();
        state.history = History::restore(items);
        let used: Vec<String> = state.history.items().iter().flat_map(|item| ids(item)).collect();
        state.used_ids.extend(used);
        state.context_tokens = 0;
        let history = state.history.items().into();
        drop(state);
        agent.tell(&order, EventKind::HistoryReplaced { summary: None, history });
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let agent = &self.0;
        let order = agent.order();
        let mut state = agent.state();
        state.is_held = false;
        agent.tell_released();
        if let Some(plan) = state.following() {
            let first = turn::install(agent, &mut state, plan);
            tokio::spawn(turn::work(agent.clone(), first));
            return;
        }
        let notes = std::mem::take(&mut state.notes);
        drop(state);
        agent.remember(&order, notes, None);
    }
}

/// The right to give an agent mail.
pub(crate) struct Arrival<'a> {
    agent: &'a Agent,
    order: EventGuard<'a>,
}

/// Mail that an agent has, and that nobody was told of yet.
#[must_use = "nobody is told of it else"]
pub(crate) struct Arrived<'a> {
    agent: &'a Agent,
    order: EventGuard<'a>,
    mail: Arc<Mail>,
    started: Option<StartedTurn>,
}

impl<'a> Arrival<'a> {
    /// Gives the agent the mail; see [`Agent::deliver`].
    ///
    /// # Errors
    ///
    /// Refuses when too much mail waits, and when the agent is shut down.
    pub(crate) fn take(self, mail: Mail) -> Result<Arrived<'a>, Refusal> {
        self.take_within(mail, MAX_WAITING_MAIL)
    }

    fn take_within(self, mail: Mail, limit: usize) -> Result<Arrived<'a>, Refusal> {
        let Self { agent, order } = self;
        let mut state = agent.state();
        state.is_open()?;
        if state.mail.len() >= limit {
            return Err(Refusal::Full { limit, what: "messages" });
        }
        let (wake, root_turn) = (mail.wake, mail.root_turn.clone());
        let mail = Arc::new(mail);
        state.mail.push_back(Arc::clone(&mail));
        let started = match wake {
            Wake::Nobody => None,
            Wake::Agent => Some(match state.joinable() {
                Some((turn, _)) => StartedTurn { turn, how: Start::Joined },
                None => {
                    let turn = agent.begin(&mut state, Work::for_mail(), root_turn);
                    StartedTurn { turn, how: Start::New }
                }
            }),
        };
        Ok(Arrived { agent, order, mail, started })
    }
}

impl Arrived<'_> {
    /// Tells of it. A turn that began for it tells nothing before.
    pub(crate) fn tell(self) -> Option<StartedTurn> {
        let Self { agent, order, mail, started } = self;
        agent.tell(&order, EventKind::MailCame { mail });
        drop(order);
        agent.attend(|attention| attention.mail += 1);
        started
    }
}

impl Agent {
    /// Asks for a turn, and returns at once. An ordinary turn that runs takes the input instead; after a turn of another kind
    /// this one begins by itself.
    ///
    /// Needs a tokio runtime, as everything does that starts turns.
    ///
    /// # Errors
    ///
    /// Refuses agents that another agent started, too much input that waits, and agents that are shut down.
    pub fn start_turn(&self, request: TurnRequest) -> Result<StartedTurn, Refusal> {
        self.start_or_join(request, Joining::Allowed)
    }

    /// Asks for a turn if the agent has nothing to do. Nothing can begin between the look and the start.
    ///
    /// # Errors
    ///
    /// Refuses when a turn runs or waits to begin, and what [`start_turn`](Self::start_turn) refuses.
    pub fn start_turn_if_idle(&self, request: TurnRequest) -> Result<TurnId, Refusal> {
        Ok(self.start_or_join(request, Joining::Refused)?.turn)
    }

    fn start_or_join(&self, request: TurnRequest, joining: Joining) -> Result<StartedTurn, Refusal> {
        let TurnRequest { tool_output, input, client_id, change, output_schema, root_turn, service_tier_for_turn } =
            request;
        let told = tool_output.map(|output| UserInput { content: Vec::new(), client_id: None, output: Some(output) });
        if self.parent().is_some() {
            return Err(Refusal::NoDirectInput);
        }
        let order = self.order();
        let mut state = self.state();
        state.is_open()?;
        if joining == Joining::Refused {
            state.is_idle()?;
        }
        let planned = state.planned.len();
        let joined = match state.joinable() {
            Some((_, inputs)) if inputs.len() >= MAX_WAITING_INPUTS => {
                return Err(Refusal::Full { limit: MAX_WAITING_INPUTS, what: "inputs" });
            }
            Some((turn, inputs)) => {
                inputs.extend(told.clone());
                if told.is_none() || !input.is_empty() {
                    inputs.push_back(UserInput { content: input.clone(), client_id: client_id.clone(), output: None });
                }
                Some(turn)
            }
            None if planned >= MAX_PLANNED_TURNS => {
                return Err(Refusal::Full { limit: MAX_PLANNED_TURNS, what: "turns" });
            }
            None => None,
        };
        let changed = state.change(&change);
        let started = match joined {
            Some(turn) => StartedTurn { turn, how: Start::Joined },
            None => {
                let message =
                    Some(UserInput { content: input, client_id, output: None }).filter(|said| !said.content.is_empty());
                let inputs = told.into_iter().chain(message).collect();
                let work = Work::Regular { inputs, output_schema, service_tier: service_tier_for_turn };
                StartedTurn { turn: self.begin(&mut state, work, root_turn), how: Start::New }
            }
        };
        drop(state);
        // The turn's task cannot tell anything before this.
        if let Some(settings) = changed {
            self.tell(&order, EventKind::SettingsChanged { settings });
        }
        drop(order);
        if started.how == Start::Joined {
            self.attend(|attention| attention.steers += 1);
        }
        Ok(started)
    }

    /// Adds input to the turn that runs.
    ///
    /// # Errors
    ///
    /// Refuses when no turn, another one, or one that takes no input runs.
    pub fn steer(&self, expected: &TurnId, input: Vec<Input>, client_id: Option<String>) -> Result<TurnId, Refusal> {
        if self.parent().is_some() {
            return Err(Refusal::NoDirectInput);
        }
        let mut state = self.state();
        let turn = state.expected(expected)?;
        if turn.kind != TurnKind::Regular {
            return Err(Refusal::NotSteerable(turn.kind));
        }
        if turn.cancelled.is_cancelled() || turn.is_closing {
            // It is about to end, and would not look at it.
            return Err(Refusal::NoActiveTurn);
        }
        if turn.inputs.len() >= MAX_WAITING_INPUTS {
            return Err(Refusal::Full { limit: MAX_WAITING_INPUTS, what: "inputs" });
        }
        turn.inputs.push_back(UserInput { content: input, client_id, output: None });
        let id = turn.id.clone();
        drop(state);
        self.attend(|attention| attention.steers += 1);
        Ok(id)
    }

    /// Stops the turn that runs. The future resolves when it has ended.
    ///
    /// # Errors
    ///
    /// Refuses when no turn or another one runs.
    pub fn interrupt(&self, expected: &TurnId) -> Result<impl Future<Output = ()> + Send + use<>, Refusal> {
        let mut state = self.state();
        let turn = state.expected(expected)?;
        turn.cancelled.cancel();
        Ok(turn.ended.clone().cancelled_owned())
    }

    /// Says whether somebody has stopped the turn that runs.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state().turn.as_ref().is_some_and(|turn| turn.cancelled.is_cancelled())
    }

    /// Stops whatever turn runs. The future resolves when it has ended.
    pub fn interrupt_any(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.state();
        let turn = state.turn.as_ref()?;
        turn.cancelled.cancel();
        Some(turn.ended.clone().cancelled_owned())
    }

    /// Returns what resolves when the turn that runs has ended, if one runs.
    pub fn turn_ended(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.state();
        state.turn.as_ref().map(|turn| turn.ended.clone().cancelled_owned())
    }

    /// Makes the history shorter, in a turn of its own.
    ///
    /// # Errors
    ///
    /// Refuses while a turn runs.
    pub fn compact(&self) -> Result<TurnId, Refusal> {
        self.begin_alone(Work::Compact)
    }

    /// Reviews changes, in a turn of its own: `instructions` is what the reviewer is told, `shown` what people are.
    ///
    /// # Errors
    ///
    /// Refuses while a turn runs.
    pub fn review(&self, instructions: String, shown: String) -> Result<TurnId, Refusal> {
        self.begin_alone(Work::Review { instructions, shown })
    }

    /// Runs a command of the user, in the turn that runs or in one of its own. The model hears of it with the next request.
    ///
    /// # Errors
    ///
    /// Refuses when too much waits.
    pub fn shell_command(&self, command: String, timeout: Option<Duration>) -> Result<TurnId, Refusal> {
        let mut state = self.state();
        state.is_open()?;
        if let Some(turn) = &mut state.turn {
            turn.commands += 1;
            let (id, cancelled) = (turn.id.clone(), turn.cancelled.clone());
            drop(state);
            turn::run_beside(self.clone(), id.clone(), cancelled, command, timeout);
            return Ok(id);
        }
        Ok(self.begin(&mut state, Work::UserShell { command, timeout }, None))
    }

    /// Adds items to what the model sees. While a turn runs they join before its next request.
    ///
    /// # Errors
    ///
    /// Refuses all of them if one is none that a model takes. Calls among them that have no output get one that says
    /// `aborted`; outputs of calls that are not among them are left out.
    pub fn inject(&self, items: Vec<ModelItem>) -> Result<(), Refusal> {
        let check = |(index, item)| history::with_id(item).map_err(|reason| Refusal::BadItem { index, reason });
        let checked: Result<Vec<_>, _> = items.into_iter().enumerate().map(check).collect();
        let order = self.order();
        let mut state = self.state();
        state.is_open()?;
        // By itself it keeps the laws of a history, so it does wherever it joins one.
        let items = History::restore(checked?).into_items();
        if state.turn.is_some() || state.is_held {
            state.notes.extend(items);
            return Ok(());
        }
        drop(state);
        self.remember(&order, items, None);
        Ok(())
    }

    /// Makes changes of settings that stick, and tells it if they change something.
    pub fn change_settings(&self, change: &SettingsChange) -> Arc<Settings> {
        let order = self.order();
        let mut state = self.state();
        let changed = state.change(change);
        let settings = Arc::clone(&state.settings);
        drop(state);
        if let Some(settings) = changed {
            self.tell(&order, EventKind::SettingsChanged { settings });
        }
        settings
    }

    /// Makes changes of settings that stick, and that the turn that runs works with from its next request on.
    ///
    /// # Errors
    ///
    /// Refuses when no turn or another one runs.
    pub fn change_turn_settings(&self, expected: &TurnId, change: &SettingsChange) -> Result<(), Refusal> {
        let order = self.order();
        let mut state = self.state();
        let turn = state.expected(expected)?;
        turn.settings = Arc::new(turn.settings.changed(change));
        let changed = state.change(change);
        drop(state);
        if let Some(settings) = changed {
            self.tell(&order, EventKind::SettingsChanged { settings });
        }
        Ok(())
    }

    /// Keeps turns from beginning, to change the history.
    ///
    /// # Errors
    ///
    /// Refuses while a turn runs or waits to begin, and while somebody else holds the agent.
    pub fn hold(&self) -> Result<Hold, Refusal> {
        let mut state = self.state();
        state.is_open()?;
        state.is_idle()?;
        state.is_held = true;
        Ok(Hold(self.clone()))
    }

    /// Takes a message of another agent. The model sees it with its next request; one with [`Wake::Agent`] starts a turn for
    /// it, or keeps the turn that runs from ending before.
    ///
    /// # Errors
    ///
    /// Refuses when too much mail waits, and when the agent is shut down.
    pub fn deliver(&self, mail: Mail) -> Result<Option<StartedTurn>, Refusal> {
        self.take_mail(mail, MAX_WAITING_MAIL)
    }

    /// Takes what came of a turn of another agent, which is never too much: there is one message for each turn.
    ///
    /// # Errors
    ///
    /// Refuses when the agent is shut down.
    pub fn deliver_result(&self, mail: Mail) -> Result<(), Refusal> {
        self.take_mail(mail, usize::MAX).map(drop)
    }

    /// Begins to give the agent mail, for those who have to look after something else before it is taken: the agent tells
    /// nothing until it was told of, and what is told is stored, which takes time.
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        Arrival { agent: self, order: self.order() }
    }

    fn take_mail(&self, mail: Mail, limit: usize) -> Result<Option<StartedTurn>, Refusal> {
        Ok(self.arrival().take_within(mail, limit)?.tell())
    }

    /// Ends the agent: stops its turn, ends the agents below it, ends its processes, ends its part of the recording. Nothing
    /// can be asked of it afterwards. The agent that a bundle belongs to is shut down after those that share it.
    pub async fn shutdown(&self) {
        let ended = self.stop();
        self.do_before_shutdown().await;
        if let Some(ended) = ended {
            ended.cancelled().await;
        }
        self.clean_terminals().await;
        let trace = self.trace();
        self.recording().end_thread(self.id(), &trace).await;
    }

    /// Stops the turn that runs, and lets no other begin. Returns what is cancelled when the turn has ended.
    pub(crate) fn stop(&self) -> Option<CancellationToken> {
        let mut state = self.state();
        state.is_closed = true;
        state.planned.clear();
        let running = state.turn.as_ref().map(|turn| {
            turn.cancelled.cancel();
            turn.ended.clone()
        });
        // One that has ended may not have been told yet.
        running.or_else(|| state.reported.clone().filter(|reported| !reported.is_cancelled()))
    }

    /// Says whether a turn runs or waits to begin, or somebody changes the history.
    pub(crate) fn is_busy(&self) -> bool {
        self.state().is_idle().is_err()
    }

    fn begin_alone(&self, work: Work) -> Result<TurnId, Refusal> {
        let mut state = self.state();
        state.is_open()?;
        state.is_idle()?;
        Ok(self.begin(&mut state, work, None))
    }

    /// Begins a turn, or plans it for when the one that runs has ended.
    fn begin(&self, state: &mut State, work: Work, root_turn: Option<TurnId>) -> TurnId {
        let plan = Plan::new(work, root_turn);
        let id = plan.id.clone();
        if state.turn.is_some() || state.is_held {
            state.planned.push_back(plan);
        } else {
            let first = turn::install(self, state, plan);
            tokio::spawn(turn::work(self.clone(), first));
        }
        id
    }
}

impl State {
    /// Makes changes and returns the settings if they are others now.
    fn change(&mut self, change: &SettingsChange) -> Option<Arc<Settings>> {
        let changed = self.settings.changed(change);
        if changed == *self.settings {
            return None;
        }
        self.settings = Arc::new(changed);
        Some(Arc::clone(&self.settings))
    }

    fn is_open(&self) -> Result<(), Refusal> {
        if self.is_closed { Err(Refusal::Closed) } else { Ok(()) }
    }

    /// Checks that no turn runs or waits to begin, and that none is kept from beginning.
    fn is_idle(&self) -> Result<(), Refusal> {
        let of_plan = || self.planned.front().map(|plan| &plan.id);
        match self.turn.as_ref().map(|turn| &turn.id).or_else(of_plan) {
            Some(turn) => Err(Refusal::Busy(turn.clone())),
            None if self.is_held => Err(Refusal::Held),
            None => Ok(()),
        }
    }

    fn expected(&mut self, expected: &TurnId) -> Result<&mut ActiveTurn, Refusal> {
        match &mut self.turn {
            None => Err(Refusal::NoActiveTurn),
            Some(turn) if turn.id != *expected => {
                Err(Refusal::OtherTurn { expected: expected.clone(), found: turn.id.clone() })
            }
            Some(turn) => Ok(turn),
        }
    }

    /// Returns the ordinary turn that input joins: the one that runs, or the first that waits.
    fn joinable(&mut self) -> Option<(TurnId, &mut VecDeque<UserInput>)> {
        if let Some(turn) = &mut self.turn
            && turn.kind == TurnKind::Regular
            && !turn.cancelled.is_cancelled()
            && !turn.is_closing
        {
            return Some((turn.id.clone(), &mut turn.inputs));
        }
        self.planned.iter_mut().find_map(|plan| match &mut plan.work {
            Work::Regular { inputs, .. } => Some((plan.id.clone(), inputs)),
            _ => None,
        })
    }
}
