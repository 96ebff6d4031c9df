//! Explains for each turn that did not simply succeed what went wrong, where that began, and how much time it cost.
//!
//! A postmortem is made in four steps. *Faults* ([`faults`](self)) are operations that failed by themselves: an
//! inference call, a tool call, a code cell, a message that nobody received. *Stops* are turns that were cut off: by
//! the user, by an agent, by the end of the session or of the recording. A fault is *made good* if the same kind of
//! operation succeeds later in the same thread. A fault that was not made good is *passed up*: a turn that completed
//! despite it is degraded, and so is every turn above that gave the agent its work. The root cause of all these turns
//! is the first fault.
//!
//! | outcome | a turn that |
//! |---|---|
//! | `failed` | failed |
//! | `cancelled` | was stopped |
//! | `unfinished` | has no end in the recording, or only the end of the session |
//! | `degraded` | completed despite a failure that was not made good |
//! | `recovered` | completed, and its failures were made good |
//! | `ok` | completed without a failure |
//!
//! Structure counts more than texts; the known texts are in one file ([`texts`](self)). Each verdict has a confidence
//! and lists the evidence that it lacks.

mod cause;
mod chain;
mod charges;
mod faults;
mod finding;
mod judge;
mod stops;
mod texts;
mod verdict;
mod words;

pub use faults::MAX_TEXT_PAYLOAD_BYTES;
pub(crate) use texts::exit_code_in;
pub use verdict::{
    Category, Confidence, MAX_CHAIN_AGENTS, MAX_OTHER_CAUSES, MAX_RESTS_ON, MAX_TEXT_CHARS, Outcome, Postmortem,
    RootCause, Step, Symptom, TurnVerdict,
};

use crate::session::Session;

/// Judges every turn of a session.
pub fn postmortem(session: &Session) -> Postmortem {
    judge::judge(session)
}
