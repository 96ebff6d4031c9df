//! The turns of an agent: the one that runs, those that wait for it, and whether one may begin.

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

/// Most inputs that wait for one turn.
pub const MAX_WAITING_INPUTS: usize = 256;

/// Most turns that wait for the one that runs.
pub const MAX_PLANNED_TURNS: usize = 16;

/// The turns of an agent.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) active: Option<ActiveTurn>,
    /// Is cancelled when all have heard what came of the newest turn that ended.
    reported: Option<CancellationToken>,
    /// Turns that begin when the one that runs has ended.
    pub(crate) planned: VecDeque<Plan>,
    pub(crate) is_closed: bool,
    /// Turns do not begin: the history is being changed.
    pub(crate) is_held: bool,
}

/// A turn that runs.
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) root_turn: TurnId,
    pub(crate) kind: TurnKind,
    /// What it works with from its next request on.
    pub(crate) settings: Arc<Settings>,
    /// What waits for the next request.
    pub(crate) inputs: VecDeque<UserInput>,
    /// How many commands of the user run beside the model.
    pub(crate) commands: usize,
    /// Tells that one of them ended.
    pub(crate) command_ended: Arc<Notify>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: CancellationToken,
    /// It does not look at input any more.
    pub(crate) is_closing: bool,
}

impl ActiveTurn {
    fn takes_input(&self) -> bool {
        !self.cancelled.is_cancelled() && !self.is_closing
    }
}

/// Something that a user said.
#[derive(Debug, Clone)]
pub(crate) struct UserInput {
    pub(crate) content: Vec<Input>,
    pub(crate) client_id: Option<String>,
    /// What another program says, in the place of a message.
    pub(crate) output: Option<ToolOutput>,
}

/// A turn before it begins.
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

/// A turn that has the agent for itself.
pub(crate) struct InstalledTurn {
    pub(crate) plan: Plan,
    pub(crate) settings: Arc<Settings>,
    /// Is cancelled when it may begin: what came of the turn before it is told first.
    pub(crate) may_begin: Option<CancellationToken>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: CancellationToken,
}

/// What a turn does.
pub(crate) enum Work {
    /// Works for the user, or on mail.
    Regular { inputs: VecDeque<UserInput>, output_schema: Option<Value>, service_tier: Option<String> },
    /// Makes the history shorter.
    Compact,
    /// Reviews changes.
    Review { instructions: String, shown: String },
    /// Runs a command of the user.
    UserShell { command: String, timeout: Option<Duration> },
}

impl Work {
    /// Returns the work that mail makes.
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

    /// Checks that no turn runs or waits to begin, and that none is kept from beginning.
    pub(crate) fn check_idle(&self) -> Result<(), Refusal> {
        let of_plan = || self.planned.front().map(|plan| &plan.id);
        match self.active.as_ref().map(|turn| &turn.id).or_else(of_plan) {
            Some(turn) => Err(Refusal::Busy(turn.clone())),
            None if self.is_held => Err(Refusal::Held),
            None => Ok(()),
        }
    }

    /// Says whether a turn can begin at once.
    pub(crate) fn are_free(&self) -> bool {
        self.active.is_none() && !self.is_held
    }

    /// Returns the turn that runs, if it is the one that a client means.
    pub(crate) fn expected(&mut self, expected: &TurnId) -> Result<&mut ActiveTurn, Refusal> {
        match &mut self.active {
            None => Err(Refusal::NoActiveTurn),
            Some(turn) if turn.id != *expected => {
                Err(Refusal::OtherTurn { expected: expected.clone(), found: turn.id.clone() })
            }
            Some(turn) => Ok(turn),
        }
    }

    /// Adds input to the turn that runs.
    pub(crate) fn steer(&mut self, expected: &TurnId, input: UserInput) -> Result<TurnId, Refusal> {
        let turn = self.expected(expected)?;
        if turn.kind != TurnKind::Regular {
            return Err(Refusal::NotSteerable(turn.kind));
        }
        if !turn.takes_input() {
            // It is about to end, and would not look at it.
            return Err(Refusal::NoActiveTurn);
        }
        if turn.inputs.len() >= MAX_WAITING_INPUTS {
            return Err(Refusal::Full { limit: MAX_WAITING_INPUTS, what: "inputs" });
        }
        turn.inputs.push_back(input);
        Ok(turn.id.clone())
    }

    /// Returns the ordinary turn that input joins: the one that runs, or the first that waits.
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

    /// Returns the ordinary turn that more input joins, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if too much waits for that turn, or if there is none and too many turns wait.
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

    /// Gives a turn the agent.
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

    /// Takes the agent from the turn that runs. What follows begins when all have heard what came of it.
    pub(crate) fn end(&mut self) {
        self.reported = self.active.take().map(|turn| turn.ended);
    }

    /// Stops the turn that runs, and lets no other begin. Returns what is cancelled when the turn has ended.
    pub(crate) fn close(&mut self) -> Option<CancellationToken> {
        self.is_closed = true;
        self.planned.clear();
        let running = self.active.as_ref().map(|turn| {
            turn.cancelled.cancel();
            turn.ended.clone()
        });
        // One that has ended may not have been told yet.
        running.or_else(|| self.reported.clone().filter(|reported| !reported.is_cancelled()))
    }
}
