//! Requests to an agent: turns, input, interrupts, changes of settings and history, shutdown.

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

/// Whether input may join an existing turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    Allowed,
    Refused,
}

impl Agent {
    /// Requests a turn, and returns at once. If a regular turn is running, it takes the input instead. A turn of another kind is
    /// followed by the new turn.
    ///
    /// It must be called within a tokio runtime, like everything that starts turns.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent is a child, a limit is reached, or the agent is shut down.
    pub fn start_turn(&self, request: TurnRequest) -> Result<StartedTurn, Refusal> {
        self.start_or_join(request, Joining::Allowed)
    }

    /// Requests a turn if the agent is idle. No other turn can start between the check and the start.
    ///
    /// # Errors
    ///
    /// Returns an error if a turn is running or planned, and the errors of [`start_turn`](Self::start_turn).
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
        // The task of the turn cannot send events before this.
        if let Some(settings) = changed {
            core.link.tell(&order, EventKind::SettingsChanged { settings });
        }
        drop(order);
        if started.how == Start::Joined {
            core.signals.attend(|attention| attention.steers += 1);
        }
        Ok(started)
    }

    /// Adds input to the running turn.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn, another one, or one that takes no input is running.
    pub fn steer(&self, expected: &TurnId, input: Vec<Input>, client_id: Option<String>) -> Result<TurnId, Refusal> {
        self.core().steer(expected, input, client_id)
    }

    /// Interrupts the running turn if it has this id. The future resolves when the turn has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn or another one is running.
    pub fn interrupt(&self, expected: &TurnId) -> Result<impl Future<Output = ()> + Send + use<>, Refusal> {
        Ok(self.core().interrupt(expected)?.cancelled_owned())
    }

    /// Interrupts the running turn. The future resolves when the turn has ended. Returns `None` if no turn is running.
    pub fn interrupt_any(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.core().state();
        let turn = state.turns.active.as_ref()?;
        turn.cancelled.cancel();
        Some(turn.ended.clone().cancelled_owned())
    }

    /// Returns a future that resolves when the running turn has ended; `None` if no turn is running.
    pub fn turn_ended(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let state = self.core().state();
        state.turns.active.as_ref().map(|turn| turn.ended.clone().cancelled_owned())
    }

    /// Compacts the history in a separate turn.
    ///
    /// # Errors
    ///
    /// Returns an error if a turn is running or planned.
    pub fn compact(&self) -> Result<TurnId, Refusal> {
        self.begin_alone(Work::Compact)
    }

    /// Reviews changes in a separate turn. `instructions` are for the reviewer, and `shown` describes the review for users.
    ///
    /// # Errors
    ///
    /// Returns an error if a turn is running or planned.
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

    /// Runs a command of the user, in the running turn or in a separate one. The next request contains the command and its output.
    ///
    /// # Errors
    ///
    /// Returns an error if a limit is reached.
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

    /// Adds items to the history. If a turn is running, they are added before its next request.
    ///
    /// # Errors
    ///
    /// Returns an error, and adds nothing, if an item is invalid. Calls without an output get the output `aborted`, and outputs
    /// without their call are left out.
    pub fn inject(&self, items: Vec<ModelItem>) -> Result<(), Refusal> {
        let check = |(index, item)| history::with_id(item).map_err(|reason| Refusal::BadItem { index, reason });
        let checked: Result<Vec<_>, _> = items.into_iter().enumerate().map(check).collect();
        let core = self.core();
        let order = core.link.order();
        let mut state = core.state();
        state.turns.check_open()?;
        // The items form a valid history by themselves, so they stay valid at any place.
        let items = History::restore(checked?).into_items();
        if !state.turns.are_free() {
            state.history.notes.extend(items);
            return Ok(());
        }
        drop(state);
        core.remember(&order, items, None);
        Ok(())
    }

    /// Changes the settings for later turns. Sends an event if they differ from before.
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

    /// Changes the settings for the next requests of the running turn and for later turns.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn or another one is running.
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

    /// Keeps turns from starting, so that the history can be changed.
    ///
    /// # Errors
    ///
    /// Returns an error if a turn is running or planned, or if the agent is held already.
    pub fn hold(&self) -> Result<Hold, Refusal> {
        let mut state = self.core().state();
        state.turns.check_open()?;
        state.turns.check_idle()?;
        state.turns.is_held = true;
        Ok(Hold(self.clone()))
    }

    /// Waits until the agent is not held.
    pub async fn released(&self) {
        loop {
            let released = self.core().signals.released.notified();
            if !self.core().state().turns.is_held {
                return;
            }
            released.await;
        }
    }

    /// Delivers a message of another agent, which the next request contains. A message with
    /// [`Wake::Agent`](crate::mail::Wake::Agent) starts a turn, or keeps the running turn from ending before it has read the message.
    ///
    /// # Errors
    ///
    /// Returns an error if the mailbox is full or the agent is shut down.
    pub fn deliver(&self, mail: Mail) -> Result<Option<StartedTurn>, Refusal> {
        Ok(Arrival::at(self.core()).take(mail)?.tell())
    }

    /// Delivers the result of a turn of another agent. The limit of the mailbox does not apply, because each turn has one result.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent is shut down.
    pub fn deliver_result(&self, mail: Mail) -> Result<(), Refusal> {
        Arrival::at(self.core()).take_within(mail, usize::MAX)?.tell();
        Ok(())
    }

    /// Shuts down the agent: interrupts its turn, shuts down the agents below it, and ends its processes and its part of the
    /// recording. Later requests are refused. The agent that owns a bundle is shut down after those that share the bundle.
    pub async fn shutdown(&self) {
        let ended = self.stop();
        self.core().signals.do_before_shutdown().await;
        if let Some(ended) = ended {
            ended.cancelled().await;
        }
        self.terminals().terminate_all().await;
        self.recording().end().await;
    }

    /// Interrupts the running turn, and lets no other start. Returns a token that is cancelled when the turn has ended.
    pub(crate) fn stop(&self) -> Option<CancellationToken> {
        self.core().state().turns.close()
    }

    /// Returns whether a turn is running or planned, or the agent is held.
    pub(crate) fn is_busy(&self) -> bool {
        self.core().state().turns.check_idle().is_err()
    }
}
