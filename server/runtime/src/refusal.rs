//! Reasons why an agent refuses a request.

use crate::event::TurnKind;
use crate::id::TurnId;

/// Why an agent refuses a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No turn runs.
    #[error("no active turn")]
    NoActiveTurn,
    /// Another turn runs.
    #[error("expected active turn id {expected} but found {found}")]
    OtherTurn {
        /// Id of the turn in the request.
        expected: TurnId,
        /// Id of the running turn.
        found: TurnId,
    },
    /// The running turn takes no input.
    #[error("cannot steer a {} turn", .0.name())]
    NotSteerable(TurnKind),
    /// The agent is a child: only other agents send it input.
    #[error("the agent takes no direct input: it works for another agent")]
    NoDirectInput,
    /// A turn is running or planned.
    #[error("turn {0} is running")]
    Busy(TurnId),
    /// The history is being changed.
    #[error("the history is being changed")]
    Held,
    /// A limit is reached.
    #[error("too much waits for the agent: at most {limit} {what}")]
    Full {
        /// The limit.
        limit: usize,
        /// What is limited.
        what: &'static str,
    },
    /// An item is not valid in a history.
    #[error("item {index}: {reason}")]
    BadItem {
        /// Index of the item.
        index: usize,
        /// Why it is invalid.
        reason: &'static str,
    },
    /// The agent has been shut down.
    #[error("the agent is shut down")]
    Closed,
}
