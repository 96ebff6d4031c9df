//! What may be asked of an agent: turns, input, interruptions, its end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::arrival::Arrival;
pub use crate::core::{MAX_PLANNED_TURNS, MAX_WAITING_INPUTS, MAX_WAITING_MAIL};
use crate::core::{UserInput, Work};
use crate::event::EventKind;
use crate::history::{self, History};
pub use crate::hold::Hold;
use crate::id::TurnId;
use crate::item::{Input, ModelItem};
use crate::mail::Mail;
use crate::pace::PacedAgent;
pub use crate::refusal::Refusal;
use crate::settings::{Settings, SettingsChange};
use crate::turn;
pub use crate::turn_request::{Start, StartedTurn, TurnRequest};

/// Whether a turn that is asked for may be one that there is already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    Allowed,
    Refused,
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
        let said = UserInput { content: input, client_id, output: None };
        let is_silent = said.content.is_empty();
        if self.parent().is_some() {
            return Err(Refusal::NoDirectInput);
        }
        let core = self.core();
        let order = core.link.order();
        let mut state = core.state();
        state.turns.check_open()?;
        if joining == Joining::Refused {
            state.turns.check_idle()?;
        }
        let joined = state.turns.joined()?.map(|(turn, inputs)| {
            let said = (told.is_none() || !is_silent).then(|| said.clone());
            inputs.extend(told.iter().cloned().chain(said));
            turn
        });
        let changed = state.change(&change);
        let started = match joined {
            Some(turn) => StartedTurn { turn, how: Start::Joined },
            None => {
                let inputs = told.into_iter().chain((!is_silent).then_some(said)).collect();
                let work = Work::Regular { inputs, output_schema, service_tier: service_tier_for_turn };
                StartedTurn { turn: turn::begin(core, &mut state, work, root_turn), how: Start::New }
            }
        };
        drop(state);
        // The turn's task cannot tell anything before this.
        if let Some(settings) = changed {
            core.link.tell(&order, EventKind::SettingsChanged { settings });
        }
        drop(order);
        if started.how == Start::Joined {
            core.signals.attend(|attention| attention.steers += 1);
        }
        Ok(started)
    }

    /// Adds input to the turn that runs.
    ///
    /// # Errors
    ///
    /// Refuses when no turn, another one, or one that takes no input runs.
    pub fn steer(&self, expected: &TurnId, input: Vec<Input>, client_id: Option<String>) -> Result<TurnId, Refusal> {
        self.core().steer(expected, input, client_id)
    }

    /// Stops the turn that runs. The future resolves when it has ended.
    ///
    /// # Errors
    ///
    /// Refuses when no turn or another one runs.
    pub fn interrupt(&self, expected: &TurnId) -> Result<impl Future<Output = ()> + Send + use<>, Refusal> {
        Ok(self.core().interrupt(expected)?.cancelled_owned())
    }

    /// Stops whatever turn runs. The future resolves when it has ended.
    pub fn interrupt_any(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.core().state();
        let turn = state.turns.active.as_ref()?;
        turn.cancelled.cancel();
        Some(turn.ended.clone().cancelled_owned())
    }

    /// Returns what resolves when the turn that runs has ended, if one runs.
    pub fn turn_ended(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.core().state();
        state.turns.active.as_ref().map(|turn| turn.ended.clone().cancelled_owned())
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

    fn begin_alone(&self, work: Work) -> Result<TurnId, Refusal> {
        let core = self.core();
        let mut state = core.state();
        state.turns.check_open()?;
        state.turns.check_idle()?;
        Ok(turn::begin(core, &mut state, work, None))
    }

    /// Runs a command of the user, in the turn that runs or in one of its own. The model hears of it with the next request.
    ///
    /// # Errors
    ///
    /// Refuses when too much waits.
    pub fn shell_command(&self, command: String, timeout: Option<Duration>) -> Result<TurnId, Refusal> {
        let core = self.core();
        let mut state = core.state();
        state.turns.check_open()?;
        if let Some(turn) = &mut state.turns.active {
            turn.commands += 1;
            let (id, cancelled) = (turn.id.clone(), turn.cancelled.clone());
            drop(state);
            turn::run_beside(Arc::clone(core), id.clone(), cancelled, command, timeout);
            return Ok(id);
        }
        Ok(turn::begin(core, &mut state, Work::UserShell { command, timeout }, None))
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
        let core = self.core();
        let order = core.link.order();
        let mut state = core.state();
        state.turns.check_open()?;
        // By itself it keeps the laws of a history, so it does wherever it joins one.
        let items = History::restore(checked?).into_items();
        if !state.turns.are_free() {
            state.history.notes.extend(items);
            return Ok(());
        }
        drop(state);
        core.remember(&order, items, None);
        Ok(())
    }

    /// Makes changes of settings that stick, and tells it if they change something.
    pub fn change_settings(&self, change: &SettingsChange) -> Arc<Settings> {
        let core = self.core();
        let order = core.link.order();
        let mut state = core.state();
        let changed = state.change(change);
        let settings = Arc::clone(&state.settings);
        drop(state);
        if let Some(settings) = changed {
            core.link.tell(&order, EventKind::SettingsChanged { settings });
        }
        settings
    }

    /// Makes changes of settings that stick, and that the turn that runs works with from its next request on.
    ///
    /// # Errors
    ///
    /// Refuses when no turn or another one runs.
    pub fn change_turn_settings(&self, expected: &TurnId, change: &SettingsChange) -> Result<(), Refusal> {
        let core = self.core();
        let order = core.link.order();
        let mut state = core.state();
        let turn = state.turns.expected(expected)?;
        turn.settings = Arc::new(turn.settings.changed(change));
        let changed = state.change(change);
        drop(state);
        if let Some(settings) = changed {
            core.link.tell(&order, EventKind::SettingsChanged { settings });
        }
        Ok(())
    }

    /// Keeps turns from beginning, to change the history.
    ///
    /// # Errors
    ///
    /// Refuses while a turn runs or waits to begin, and while somebody else holds the agent.
    pub fn hold(&self) -> Result<Hold, Refusal> {
        let mut state = self.core().state();
        state.turns.check_open()?;
        state.turns.check_idle()?;
        state.turns.is_held = true;
        Ok(Hold(self.clone()))
    }

    /// Waits until nobody holds the agent.
    pub async fn released(&self) {
        loop {
            let released = self.core().signals.released.notified();
            if !self.core().state().turns.is_held {
                return;
            }
            released.await;
        }
    }

    /// Takes a message of another agent. The model sees it with its next request; one with
    /// [`Wake::Agent`](crate::mail::Wake::Agent) starts a turn for it, or keeps the turn that runs from ending before.
    ///
    /// # Errors
    ///
    /// Refuses when too much mail waits, and when the agent is shut down.
    pub fn deliver(&self, mail: Mail) -> Result<Option<StartedTurn>, Refusal> {
        Ok(Arrival::at(self.core()).take(mail)?.tell())
    }

    /// Takes what came of a turn of another agent, which is never too much: there is one message for each turn.
    ///
    /// # Errors
    ///
    /// Refuses when the agent is shut down.
    pub fn deliver_result(&self, mail: Mail) -> Result<(), Refusal> {
        Arrival::at(self.core()).take_within(mail, usize::MAX)?.tell();
        Ok(())
    }

    /// Ends the agent: stops its turn, ends the agents below it, ends its processes, ends its part of the recording. Nothing
    /// can be asked of it afterwards. The agent that a bundle belongs to is shut down after those that share it.
    pub async fn shutdown(&self) {
        let ended = self.stop();
        self.core().signals.do_before_shutdown().await;
        if let Some(ended) = ended {
            ended.cancelled().await;
        }
        self.terminals().terminate_all().await;
        self.recording().end().await;
    }

    /// Stops the turn that runs, and lets no other begin. Returns what is cancelled when the turn has ended.
    pub(crate) fn stop(&self) -> Option<CancellationToken> {
        self.core().state().turns.close()
    }

    /// Says whether a turn runs or waits to begin, or somebody changes the history.
    pub(crate) fn is_busy(&self) -> bool {
        self.core().state().turns.check_idle().is_err()
    }
}
