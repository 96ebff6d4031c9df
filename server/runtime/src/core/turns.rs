//! The turns of an agent: the running one, the planned ones, and whether a turn may start.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::event::TurnKind;
use crate::id::TurnId;
use crate::item::{Input, ToolOutput};
use crate::refusal::Refusal;
use crate::settings::Settings;

/// Most inputs that wait in one turn.
pub const MAX_WAITING_INPUTS: usize = 256;

/// Most planned turns.
pub const MAX_PLANNED_TURNS: usize = 16;

/// The turns of an agent.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) active: Option<ActiveTurn>,
    /// Is cancelled when the end of the newest finished turn has been reported.
    reported: Option<CancellationToken>,
    /// Turns that start after the running one.
    pub(crate) planned: VecDeque<Plan>,
    pub(crate) is_closed: bool,
    /// Whether no turn may start, because the history is being changed.
    pub(crate) is_held: bool,
}

/// The running turn.
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) root_turn: TurnId,
    pub(crate) kind: TurnKind,
    /// The settings for its next requests.
    pub(crate) settings: Arc<Settings>,
    /// Input for the next request.
    pub(crate) inputs: VecDeque<UserInput>,
    /// Number of commands of the user that run at the same time.
    pub(crate) commands: usize,
    /// Notified when one of these commands ends.
    pub(crate) command_ended: Arc<Notify>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: CancellationToken,
    /// Whether it takes no more input.
    pub(crate) is_closing: bool,
}

impl ActiveTurn {
    fn takes_input(&self) -> bool {
        !self.cancelled.is_cancelled() && !self.is_closing
    }
}

/// An input of the user.
#[derive(Debug, Clone)]
pub(crate) struct UserInput {
    pub(crate) content: Vec<Input>,
    pub(crate) client_id: Option<String>,
    /// The output of another program, instead of a message.
    pub(crate) output: Option<ToolOutput>,
}

/// A turn that has not started.
pub(crate) struct Plan {
    pub(crate) id: TurnId,
    pub(crate) root_turn: TurnId,
    pub(crate) work: Work,
}

impl Plan {
    pub(crate) fn new(work: Work, root_turn: Option<TurnId>) -> Self {
        let id = TurnId::new();
        Self { root_turn: root_turn.unwrap_or_else(|| id.clone()), id, work }
    }
}

/// A turn that is the running one of its agent.
pub(crate) struct InstalledTurn {
    pub(crate) plan: Plan,
    pub(crate) settings: Arc<Settings>,
    /// Is cancelled when the turn may start, which is after the end of the previous turn was reported.
    pub(crate) may_begin: Option<CancellationToken>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: CancellationToken,
}

/// The work of a turn.
pub(crate) enum Work {
    /// Works on input of the user, or on messages of other agents.
    Regular { inputs: VecDeque<UserInput>, output_schema: Option<Value>, service_tier: Option<String> },
    /// Compacts the history.
    Compact,
    /// Reviews changes.
    Review { instructions: String, shown: String },
    /// Runs a command of the user.
    UserShell { command: String, timeout: Option<Duration> },
}

impl Work {
    /// Returns the work of a turn that a message starts.
    pub(crate) fn for_mail() -> Self {
        Self::Regular { inputs: VecDeque::new(), output_schema: None, service_tier: None }
    }

    pub(crate) fn kind(&self) -> TurnKind {
        match self {
            Self::Regular { .. } => TurnKind::Regular,
            Self::Compact => TurnKind::Compact,
            Self::Review { .. } => TurnKind::Review,
            Self::UserShell { .. } => TurnKind::UserShell,
        }
    }
}

impl Turns {
    pub(crate) fn check_open(&self) -> Result<(), Refusal> {
        if self.is_closed { Err(Refusal::Closed) } else { Ok(()) }
    }

    /// Checks that no turn is running or planned, and that turns may start.
    pub(crate) fn check_idle(&self) -> Result<(), Refusal> {
        let of_plan = || self.planned.front().map(|plan| &plan.id);
        match self.active.as_ref().map(|turn| &turn.id).or_else(of_plan) {
            Some(turn) => Err(Refusal::Busy(turn.clone())),
            None if self.is_held => Err(Refusal::Held),
            None => Ok(()),
        }
    }

    /// Returns whether a turn can start at once.
    pub(crate) fn are_free(&self) -> bool {
        self.active.is_none() && !self.is_held
    }

    /// Returns the running turn if it has this id.
    pub(crate) fn expected(&mut self, expected: &TurnId) -> Result<&mut ActiveTurn, Refusal> {
        match &mut self.active {
            None => Err(Refusal::NoActiveTurn),
            Some(turn) if turn.id != *expected => {
                Err(Refusal::OtherTurn { expected: expected.clone(), found: turn.id.clone() })
            }
            Some(turn) => Ok(turn),
        }
    }

    /// Adds input to the running turn.
    pub(crate) fn steer(&mut self, expected: &TurnId, input: UserInput) -> Result<TurnId, Refusal> {
        let turn = self.expected(expected)?;
        if turn.kind != TurnKind::Regular {
            return Err(Refusal::NotSteerable(turn.kind));
        }
        if !turn.takes_input() {
            // The turn is about to end and reads no more input.
            return Err(Refusal::NoActiveTurn);
        }
        if turn.inputs.len() >= MAX_WAITING_INPUTS {
            return Err(Refusal::Full { limit: MAX_WAITING_INPUTS, what: "inputs" });
        }
        turn.inputs.push_back(input);
        Ok(turn.id.clone())
    }

    /// Returns the regular turn that takes new input: the running one, or the first planned one.
    pub(crate) fn joinable(&mut self) -> Option<(TurnId, &mut VecDeque<UserInput>)> {
        if let Some(turn) = &mut self.active
            && turn.kind == TurnKind::Regular
            && turn.takes_input()
        {
            return Some((turn.id.clone(), &mut turn.inputs));
        }
        self.planned.iter_mut().find_map(|plan| match &mut plan.work {
            Work::Regular { inputs, .. } => Some((plan.id.clone(), inputs)),
            _ => None,
        })
    }

    /// Returns the regular turn that takes new input, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if this turn has too many inputs, or if there is none and too many turns are planned.
    pub(crate) fn joined(&mut self) -> Result<Option<(TurnId, &mut VecDeque<UserInput>)>, Refusal> {
        let planned = self.planned.len();
        match self.joinable() {
            Some((_, inputs)) if inputs.len() >= MAX_WAITING_INPUTS => {
                Err(Refusal::Full { limit: MAX_WAITING_INPUTS, what: "inputs" })
            }
            None if planned >= MAX_PLANNED_TURNS => Err(Refusal::Full { limit: MAX_PLANNED_TURNS, what: "turns" }),
            joinable => Ok(joinable),
        }
    }

    /// Makes a turn the running one.
    pub(crate) fn install(&mut self, mut plan: Plan, settings: &Arc<Settings>) -> InstalledTurn {
        let inputs = match &mut plan.work {
            Work::Regular { inputs, .. } => std::mem::take(inputs),
            _ => VecDeque::new(),
        };
        let (cancelled, ended) = (CancellationToken::new(), CancellationToken::new());
        self.active = Some(ActiveTurn {
            id: plan.id.clone(),
            root_turn: plan.root_turn.clone(),
            kind: plan.work.kind(),
            settings: Arc::clone(settings),
            inputs,
            commands: 0,
            command_ended: Arc::default(),
            cancelled: cancelled.clone(),
            ended: ended.clone(),
            is_closing: false,
        });
        InstalledTurn { plan, settings: Arc::clone(settings), may_begin: self.reported.clone(), cancelled, ended }
    }

    /// Removes the running turn. The next turn starts when its end has been reported.
    pub(crate) fn end(&mut self) {
        self.reported = self.active.take().map(|turn| turn.ended);
    }

    /// Interrupts the running turn, and lets no other start. Returns a token that is cancelled when the turn has ended.
    pub(crate) fn close(&mut self) -> Option<CancellationToken> {
        self.is_closed = true;
        self.planned.clear();
        let running = self.active.as_ref().map(|turn| {
            turn.cancelled.cancel();
            turn.ended.clone()
        });
        // The end of the previous turn may not have been reported yet.
        running.or_else(|| self.reported.clone().filter(|reported| !reported.is_cancelled()))
    }
}
