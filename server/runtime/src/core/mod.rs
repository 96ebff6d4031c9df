//! The parts of an agent. Each owns its state; turns and the agent's handle work with them.

mod agent_core;
mod mailbox;
mod signals;
mod state;
mod thread_history;
mod toolbox;
mod turns;

pub(crate) use agent_core::AgentCore;
pub use mailbox::MAX_WAITING_MAIL;
pub(crate) use mailbox::Mailbox;
pub use signals::TurnReport;
pub(crate) use state::State;
pub(crate) use thread_history::{CONTEXT_IS_FULL, ThreadHistory};
pub use toolbox::Toolbox;
pub(crate) use turns::{InstalledTurn, Plan, UserInput, Work};
pub use turns::{MAX_PLANNED_TURNS, MAX_WAITING_INPUTS};
