//! How turns of all kinds start and end.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::compaction;
use super::converse::converse;
use super::request::{Audience, Offered, Question};
use super::review;
use super::shell;
use super::task::{Conversation, Stop, Task};
use crate::core::{AgentCore, InstalledTurn, Plan, State, TurnReport, Work};
use crate::event::{ErrorKind, EventKind, Retry, TurnError, TurnKind, TurnOutcome};
use crate::id::TurnId;
use crate::item::Item;
use crate::recording::TurnRecord;
use crate::{history, instructions};

/// Tells the model that a turn was interrupted.
const STOPPED_NOTE: &str = "<turn_aborted>\nThe user stopped the last turn before it was done. Commands and changes that had \
                            begun may be half done: look before you rely on them.\n</turn_aborted>";

/// Makes a turn the running turn of the agent.
pub(super) fn install(agent: &AgentCore, state: &mut State, plan: Plan) -> InstalledTurn {
    if let Some(pace) = &agent.options().pace {
        pace.turn_started(&plan.id);
    }
    state.turns.install(plan, &state.settings)
}

/// Runs a turn, and then all turns that were queued meanwhile.
pub(super) async fn work(agent: Arc<AgentCore>, first: InstalledTurn) {
    let mut next = Some(first);
    while let Some(mut turn) = next {
        if let Some(reported) = turn.may_begin.take() {
            reported.cancelled().await;
        }
        let Some(turn) = unless_shut_down(&agent, turn) else { return };
        next = run(&agent, turn).await;
    }
}

/// Returns the turn, unless the agent was shut down before it started and it would only read mail. If the parent was shut
/// down too, it did not receive the previous result; it gets the newest one when both are loaded again.
fn unless_shut_down(agent: &AgentCore, next: InstalledTurn) -> Option<InstalledTurn> {
    let mut state = agent.state();
    let is_empty = state.history.notes.is_empty() && state.turns.active.as_ref().is_some_and(|turn| turn.commands == 0);
    if !state.turns.is_closed
        || !is_empty
        || agent.identity.parent().is_none()
        || next.plan.work.kind() != TurnKind::Regular
    {
        return Some(next);
    }
    state.turns.active = None;
    drop(state);
    if let Some(pace) = &agent.options().pace {
        pace.end_reported(&agent.identity.path, &next.plan.id);
    }
    next.ended.cancel();
    None
}

/// Runs a command of the user while a turn runs. The turn waits for the command before it ends.
pub(crate) fn run_beside(
    agent: Arc<AgentCore>,
    turn: TurnId,
    cancelled: CancellationToken,
    command: String,
    timeout: Option<Duration>,
) {
    let running = RunningCommand { agent, turn };
    tokio::spawn(async move {
        let RunningCommand { agent, turn } = &running;
        let note = shell::run(agent, turn, &agent.settings(), &cancelled, command, timeout).await;
        agent.state().history.notes.push(note);
    });
}

/// Guard for a command that a turn waits for.
struct RunningCommand {
    agent: Arc<AgentCore>,
    turn: TurnId,
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        let mut state = self.agent.state();
        if let Some(turn) = state.turns.active.as_mut().filter(|active| active.id == self.turn) {
            turn.commands -= 1;
            turn.command_ended.notify_one();
        }
    }
}

/// Runs a turn to its end and returns the next one.
async fn run(agent: &Arc<AgentCore>, begun: InstalledTurn) -> Option<InstalledTurn> {
    let InstalledTurn { plan, settings, may_begin: _, cancelled, ended } = begun;
    // The guard also releases the next turn if this one panics.
    let _ended = ended.drop_guard();
    let Plan { id, root_turn, work } = plan;
    let kind = work.kind();
    let context_window = agent.options().context_window(&settings.model);
    agent.link.event(EventKind::TurnStarted { turn: id.clone(), root_turn: root_turn.clone(), kind, context_window });
    let thread = agent.start_recording().await;
    let record =
        TurnRecord::start(agent.record.shared(), &thread, &id, &root_turn, context_window, &agent.options().clock);
    let task = Task {
        agent: Arc::clone(agent),
        turn: id.clone(),
        root_turn: root_turn.clone(),
        settings: Mutex::new(settings),
        cancelled,
        trace: record.trace().clone(),
        conversation: Conversation::Thread,
        jitter: Backoff::new(agent.shared.seed()),
    };
    task.record_earlier();
    let mut work = Doing::from(work);
    let mut said = None;
    let (outcome, next) = loop {
        // A panic in a tool or a provider must not leave a turn that never ends.
        let done = AssertUnwindSafe(work.go_on(&task)).catch_unwind().await.unwrap_or_else(|_| Err(broken()));
        let done = done.map(|last| {
            said = last.or(said.take());
            said.clone()
        });
        if let Some(pace) = &agent.options().pace {
            // A turn that is interrupted now is handled separately.
            if task.cancelled.is_cancelled()
                || task.unless_stopped(pace.before_turn_end(&**agent, &task.turn)).await.is_err()
            {
                pace.before_turn_end(&**agent, &task.turn).await;
            }
        }
        if let Some(closed) = close(&task, kind, wind_up(&task, done), &record).await {
            break closed;
        }
    };
    let trace = task.trace.clone();
    let pace = agent.options().pace.as_ref();
    if let Some(pace) = pace {
        pace.turn_ended(&agent.identity.path, &id, &outcome).await;
    }
    agent.signals.report(&TurnReport { turn: id.clone(), root_turn, kind, outcome, trace });
    if let Some(pace) = pace {
        pace.end_reported(&agent.identity.path, &id);
    }
    next
}

fn broken() -> Stop {
    Stop::Failed(TurnError { message: "the turn broke down".to_owned(), details: None, kind: ErrorKind::Other })
}

/// The work of a turn, which may be reopened several times.
enum Doing {
    Regular {
        output_schema: Option<Value>,
        service_tier: Option<String>,
        /// Whether the settings of the requests were already shown.
        is_told: bool,
    },
    Compact,
    Review {
        instructions: String,
        shown: String,
    },
    UserShell {
        command: String,
        timeout: Option<Duration>,
    },
}

impl From<Work> for Doing {
    fn from(work: Work) -> Self {
        match work {
            Work::Regular { output_schema, service_tier, .. } => {
                Self::Regular { output_schema, service_tier, is_told: false }
            }
            Work::Compact => Self::Compact,
            Work::Review { instructions, shown } => Self::Review { instructions, shown },
            Work::UserShell { command, timeout } => Self::UserShell { command, timeout },
        }
    }
}

impl Doing {
    async fn go_on(&mut self, task: &Task) -> Result<Option<Arc<Item>>, Stop> {
        let question = |output_schema: &Option<Value>, service_tier: &Option<String>| Question {
            audience: Audience::User,
            instructions: instructions::base(&task.settings()),
            last: None,
            tools: Offered::All,
            output_schema: output_schema.clone(),
            service_tier: service_tier.clone(),
        };
        match self {
            Self::Regular { output_schema, service_tier, is_told } => {
                task.tell_news().await;
                task.take_up_inputs().await;
                if !std::mem::replace(is_told, true) {
                    let (turn, settings) = (task.turn.clone(), task.settings());
                    task.agent.link.event(EventKind::TurnContext { turn, settings });
                }
                converse(task, &question(output_schema, service_tier)).await
            }
            Self::Compact => {
                task.paced().await?;
                compaction::compact(task, &question(&None, &None)).await?;
                Ok(None)
            }
            Self::Review { instructions, shown } => review::review(task, instructions, shown).await.map(Some),
            Self::UserShell { command, timeout } => {
                let command = std::mem::take(command);
                let note =
                    shell::run(&task.agent, &task.turn, &task.settings(), &task.cancelled, command, *timeout).await;
                task.remember(vec![note]);
                if task.cancelled.is_cancelled() { Err(Stop::Interrupted) } else { Ok(None) }
            }
        }
    }
}

/// Completes the conversation after the work of a turn, and returns the preliminary outcome.
fn wind_up(task: &Task, done: Result<Option<Arc<Item>>, Stop>) -> TurnOutcome {
    // An interrupted turn counts as interrupted, even if it was able to finish.
    let done = if task.cancelled.is_cancelled() { Err(Stop::Interrupted) } else { done };
    match done {
        Ok(last_message) => TurnOutcome::Completed { last_message },
        Err(Stop::Failed(error)) => {
            task.answer_open_calls();
            TurnOutcome::Failed(error)
        }
        Err(Stop::Interrupted) => {
            task.answer_open_calls();
            TurnOutcome::Interrupted
        }
    }
}

/// Ends a turn and returns its outcome and the next turn. Returns `None` if new input reopens the turn.
async fn close(
    task: &Task,
    kind: TurnKind,
    mut outcome: TurnOutcome,
    record: &TurnRecord,
) -> Option<(TurnOutcome, Option<InstalledTurn>)> {
    let mut is_noted = false;
    let mut attention = task.agent.signals.attention();
    loop {
        attention.mark_unchanged();
        if !may_reopen(kind, &outcome) {
            if let Some(turn) = task.agent.state().turns.active.as_mut() {
                turn.is_closing = true;
            }
            // Input of the user is not lost: the next turn finds it in the history.
            task.take_up_inputs().await;
        }
        task.take_up_notes();
        if kind == TurnKind::Regular && outcome == TurnOutcome::Interrupted && !is_noted {
            task.remember(vec![history::text_message("user", STOPPED_NOTE)]);
            is_noted = true;
        }
        match end(task, kind, &outcome, record) {
            Try::Ended(next) => return Some((outcome, next)),
            Try::Reopened => return None,
            Try::Stopped => outcome = TurnOutcome::Interrupted,
            Try::MoreCame => {}
            // New input is handled while a command of the user runs, so that it does not have to wait for the command.
            Try::CommandRuns(ended) => tokio::select! {
                () = ended.notified() => {}
                Ok(()) = attention.changed() => {}
                () = task.cancelled.cancelled(), if outcome != TurnOutcome::Interrupted => {}
            },
        }
    }
}

fn may_reopen(kind: TurnKind, outcome: &TurnOutcome) -> bool {
    kind == TurnKind::Regular && matches!(outcome, TurnOutcome::Completed { .. })
}

/// Result of an attempt to end a turn.
enum Try {
    /// The turn has ended.
    Ended(Option<InstalledTurn>),
    /// The turn continues with new input.
    Reopened,
    /// The turn was interrupted in the meantime.
    Stopped,
    /// Further input arrived that belongs to the turn.
    MoreCame,
    /// A command of the user still runs.
    CommandRuns(Arc<Notify>),
}

/// Ends a turn if nothing is left to do. The state is locked, so nothing can arrive in the meantime.
fn end(task: &Task, kind: TurnKind, outcome: &TurnOutcome, record: &TurnRecord) -> Try {
    let order = task.agent.link.order();
    let mut state = task.agent.state();
    let has_urgent_mail = state.mailbox.urgent().is_some();
    let has_notes = !state.history.notes.is_empty();
    let turn = state.turns.active.as_mut().expect("a turn has the agent until it ends");
    let has_inputs = !turn.inputs.is_empty();
    if task.cancelled.is_cancelled() && *outcome != TurnOutcome::Interrupted {
        return Try::Stopped;
    }
    if may_reopen(kind, outcome) && (has_inputs || has_urgent_mail) {
        return Try::Reopened;
    }
    if has_inputs || has_notes {
        return Try::MoreCame;
    }
    if turn.commands > 0 {
        return Try::CommandRuns(Arc::clone(&turn.command_ended));
    }
    state.turns.end();
    let next = state.take_following().map(|plan| install(&task.agent, &mut state, plan));
    drop(state);
    record.end(outcome);
    let turn = &task.turn;
    if let TurnOutcome::Failed(error) = outcome {
        let (turn, error) = (turn.clone(), error.clone());
        task.agent.link.tell(&order, EventKind::Error { turn, error, retry: Retry::Ends });
    }
    task.agent.link.tell(&order, EventKind::TurnEnded { turn: turn.clone(), outcome: outcome.clone() });
    Try::Ended(next)
}
