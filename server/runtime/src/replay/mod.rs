//! Replays a recorded session: the answers of models and the outputs of tools come from a bundle.
//!
//! [`Replay`] is created from a bundle. It supplies a provider for
//! [`RuntimeOptions::providers`](crate::runtime::RuntimeOptions) and a tool for
//! [`RuntimeOptions::first_tools`](crate::runtime::RuntimeOptions). Each agent gets the answers that the recording has for
//! the agent with the same path, turn by turn and request by request, and each request is compared with the recorded one.
//! The first difference is a [`Divergence`].
//!
//! Agents are started, messaged and awaited by the tools of live sessions, so a real tree of agents is built. What agents
//! do to each other happens in the order of the recording. No model is called. If outputs of tools come from the recording,
//! no command runs.

mod choices;
mod compare;
mod foreign;
mod own_tools;
mod paced;
mod play;
mod provider;
mod report;
mod schedule;
mod session;
mod state;
mod tools;
mod user_messages;

pub use choices::{OnDivergence, ReplayTools};
pub use compare::{DIFF_BYTES_MAX, DIFF_INPUT_BYTES_MAX, DIFF_INPUT_LINES_MAX};
pub use play::{Replay, ReplayOptions};
pub use provider::PROVIDER_NAME;
pub use report::{Divergence, ThreadReport};
pub use schedule::STALL_TIMEOUT;
pub use session::{
    FirstTurn, REPLAY_BODY_BYTES_MAX, RecordedSettings, ReplayError, RequestKind, Step, StepKind, StepSettings,
};
