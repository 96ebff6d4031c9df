//! What a turn is asked for with, and what became of it.

use serde_json::Value;

use crate::id::TurnId;
use crate::item::{Input, ToolOutput};
use crate::settings::SettingsChange;

/// A turn that is asked for.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// What another program says, in the place of a user.
    pub tool_output: Option<ToolOutput>,
    /// What the user says.
    pub input: Vec<Input>,
    /// Id that the client gave the message.
    pub client_id: Option<String>,
    /// Changes of settings; they stick. A turn that the input joins keeps its own.
    pub change: SettingsChange,
    /// JSON schema of what the agent says last, for this turn only.
    pub output_schema: Option<Value>,
    /// The turn that this one stems from, if not itself.
    pub root_turn: Option<TurnId>,
    /// Class of service at the provider, for this turn only.
    pub service_tier_for_turn: Option<String>,
}

/// What became of a turn that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Whether it is a new one.
    pub how: Start,
}

/// Whether a turn is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It is; it begins at once, or when the turn that runs has ended.
    New,
    /// It ran or waited already, and the input joined it.
    Joined,
}
