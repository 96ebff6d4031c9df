//! Why an agent does not do what it is asked for.

use crate::event::TurnKind;
use crate::id::TurnId;

/// Why an agent does not do what it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No turn runs.
    #[error("no active turn")]
    NoActiveTurn,
    /// Another turn runs.
    #[error("expected active turn id {expected} but found {found}")]
    OtherTurn {
        /// The one that was named.
        expected: TurnId,
        /// The one that runs.
        found: TurnId,
    },
    /// The turn that runs takes no input.
    #[error("cannot steer a {} turn", .0.name())]
    NotSteerable(TurnKind),
    /// The agent belongs to another agent, which talks to it.
    #[error("the agent takes no direct input: it works for another agent")]
    NoDirectInput,
    /// A turn runs, and this has to wait for its end.
    #[error("turn {0} is running")]
    Busy(TurnId),
    /// The history is being changed, and this has to wait until it is.
    #[error("the history is being changed")]
    Held,
    /// Too much waits already.
    #[error("too much waits for the agent: at most {limit} {what}")]
    Full {
        /// How much may wait.
        limit: usize,
        /// What waits.
        what: &'static str,
    },
    /// An item is none that a model takes.
    #[error("item {index}: {reason}")]
    BadItem {
        /// Which.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The agent has been shut down.
    #[error("the agent is shut down")]
    Closed,
}
