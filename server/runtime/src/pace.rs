//! Points at which something outside can make an agent wait.
//!
//! A replay uses them to keep its agents in the order of the recording. Live sessions have no [`Pace`], so no agent waits.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::item::Input;
use crate::mail::Mail;
use crate::refusal::Refusal;

/// Makes agents wait at certain points of their turns.
pub trait Pace: Send + Sync {
    /// Called when an agent starts a turn. The agent's lock is held.
    fn turn_started(&self, turn: &TurnId);

    /// Waits until the turn may read its mailbox and send the next request.
    fn before_request<'a>(&'a self, agent: &'a Arc<dyn PacedAgent>, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Waits until the turn may end, or go on with mail that has come.
    fn before_turn_end<'a>(&'a self, agent: &'a dyn PacedAgent, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Takes the mail that goes into the turn's next request out of the mailbox. The agent's lock is held.
    fn take_mail(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>>;

    /// Returns true if the turn compacts its history before its next request.
    fn compacts(&self, path: &str, turn: &TurnId) -> bool;

    /// Called when a turn has ended. Waits until its end may be reported to other agents and clients.
    fn turn_ended<'a>(&'a self, path: &'a str, turn: &'a TurnId, outcome: &'a TurnOutcome) -> BoxFuture<'a, ()>;

    /// Returns true if tools run. Otherwise their recorded outputs are used, and MCP servers are not started.
    fn runs_tools(&self) -> bool;

    /// Called when the turn's end has been reported.
    fn end_reported(&self, path: &str, turn: &TurnId);
}

/// An agent whose turn waits, as far as a [`Pace`] may act on it.
pub trait PacedAgent: Send + Sync {
    /// Returns the agent's path in its tree.
    fn path(&self) -> &str;

    /// Returns true if the turn that runs has been interrupted.
    fn is_stopped(&self) -> bool;

    /// Adds input to the turn that runs.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn, another one, or one that takes no input runs.
    fn steer(&self, expected: &TurnId, input: Vec<Input>, client_id: Option<String>) -> Result<TurnId, Refusal>;

    /// Interrupts the turn that runs. The token is cancelled when the turn has ended; a pace must not wait for it, because the turn
    /// waits for the pace.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn or another one runs.
    fn interrupt(&self, expected: &TurnId) -> Result<CancellationToken, Refusal>;

    /// Calls `change` with the messages that wait for the agent. The agent's lock is held.
    fn with_mail(&self, change: &mut dyn FnMut(&mut VecDeque<Arc<Mail>>));

    /// Adds messages that were taken out of the mailbox to what the model sees.
    fn remember_mail(&self, mail: &[Arc<Mail>]);

    /// Makes waiting messages, given by their ids, start a turn if none runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent was shut down.
    fn wake_for(self: Arc<Self>, mail: &[String]) -> Result<(), Refusal>;
}
