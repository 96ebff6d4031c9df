//! Points at which something outside can make an agent wait.
//!
//! A replay uses them to keep its agents in the order of the recording. Live sessions have no [`Pace`], so no agent waits.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::agent::Agent;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::Mail;

/// Makes agents wait at certain points of their turns.
///
/// An implementation must not call a method of the agent that waits for the agent's turn to end: the turn waits here.
pub trait Pace: Send + Sync {
    /// Called when an agent starts a turn. The agent's lock is held.
    fn turn_started(&self, turn: &TurnId);

    /// Waits until the turn may read its mailbox and send the next request.
    fn before_request<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Waits until the turn may end, or go on with mail that has come.
    fn before_turn_end<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Takes the mail that goes into the turn's next request out of the mailbox. The agent's lock is held.
    fn take_mail(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>>;

    /// Returns true if the turn compacts its history before its next request.
    fn compacts(&self, path: &str, turn: &TurnId) -> bool;

    /// Called when a turn has ended. Waits until its end may be reported to other agents and clients.
    fn turn_ended<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId, outcome: &'a TurnOutcome) -> BoxFuture<'a, ()>;

    /// Returns true if tools run. Otherwise their recorded outputs are used, and MCP servers are not started.
    fn runs_tools(&self) -> bool;

    /// Called when the turn's end has been reported.
    fn end_reported(&self, path: &str, turn: &TurnId);
}
