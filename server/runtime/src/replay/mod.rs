//! Plays a recorded session again: the model's answers, and what tools answered, come from a bundle.
//!
//! [`Replay`] is made from a bundle. It is a provider for [`RuntimeOptions::providers`](crate::runtime::RuntimeOptions) and a
//! tool for [`RuntimeOptions::first_tools`](crate::runtime::RuntimeOptions). Each agent gets the answers that the recording has
//! for an agent of its path, turn by turn and request by request, and each request is held against the recorded one. The first
//! that differs is a [`Divergence`].
//!
//! Promises: agents are started, told and waited for by the tools that live sessions use, so the tree is really built; what
//! agents do to each other happens in the order of the recording; no model is asked. Where calls are answered out of the recording, nothing runs.

mod choices;
mod compare;
mod own_tools;
mod paced;
mod play;
mod provider;
mod report;
mod schedule;
mod stage;
mod tape;
mod tools;
mod user_messages;

pub use choices::{OnDivergence, ReplayTools};
pub use compare::{DIFF_BYTES_MAX, DIFF_INPUT_BYTES_MAX, DIFF_INPUT_LINES_MAX};
pub use play::{Replay, ReplayOptions};
pub use provider::PROVIDER_NAME;
pub use report::{Divergence, ThreadReport};
pub use schedule::STALL_TIMEOUT;
pub use tape::{
    FirstTurn, REPLAY_BODY_BYTES_MAX, ReplayError, RequestKind, Step, StepKind, StepSettings, TapeSettings,
};
