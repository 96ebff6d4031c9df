//! When agents go on, where something outside decides that.
//!
//! A replay keeps its agents in the order of a recording. Live sessions have no pace: everybody goes on at once.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::agent::Agent;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::Mail;

/// Says when agents go on.
///
/// Nothing here may ask the agent for anything that waits for its turn.
pub trait Pace: Send + Sync {
    /// Hears that a turn has an agent from now on. The agent is locked meanwhile.
    fn begun(&self, turn: &TurnId);

    /// Waits until a turn may look at what came for it, to ask a model.
    fn looks<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Waits until a turn may end, or go on with what came.
    fn closes<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId) -> BoxFuture<'a, ()>;

    /// Takes the mail that the turn's next request has. The agent is locked meanwhile.
    fn takes(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>>;

    /// Says whether a turn makes its history shorter before its next request.
    fn shortens(&self, path: &str, turn: &TurnId) -> bool;

    /// Hears that a turn has ended, and waits until others may hear of it.
    fn ended<'a>(&'a self, agent: &'a Agent, turn: &'a TurnId, outcome: &'a TurnOutcome) -> BoxFuture<'a, ()>;

    /// Tells whether tools run. Where they do not, nothing is started that has some.
    fn runs_tools(&self) -> bool;

    /// Hears that others have heard of it.
    fn told(&self, path: &str, turn: &TurnId);
}
