//! Describes a session while it is recorded: what happens, event by event, and what each agent is doing now.
//!
//! A [`Narrator`] gets every [`Update`](trace_reducer::live::Update) of a live reduction and makes [`Happening`]s of
//! the ones that are of interest to a user. An update costs time in proportion to what it changed; the graph is not
//! searched.

mod happening;
mod narrator;
mod protocol;
mod status;

pub use happening::{Event, Happening, MAX_TEXT_CHARS, Tokens};
pub use narrator::Narrator;
pub use protocol::MAX_PROTOCOL_BYTES;
pub use status::{AgentNow, Status};
