//! Tells a session while it is recorded: what happens, line by line, and what everybody is doing now.
//!
//! A [`Narrator`] hears every [`Update`](trace_reducer::live::Update) of a live reduction and makes [`Happening`]s of
//! those that a person wants to see. What it costs is what an update changes; nothing looks through the graph.

mod happening;
mod narrator;
mod protocol;
mod status;

pub use happening::{Event, Happening, MAX_TEXT_CHARS, Tokens};
pub use narrator::Narrator;
pub use protocol::MAX_PROTOCOL_BYTES;
pub use status::{AgentNow, Status};
