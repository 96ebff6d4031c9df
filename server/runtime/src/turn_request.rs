//! A request for a turn, and its result.

use serde_json::Value;

use crate::id::TurnId;
use crate::item::{Input, ToolOutput};
use crate::settings::SettingsChange;

/// A request for a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    /// The output of another program, in addition to the input of the user.
    pub tool_output: Option<ToolOutput>,
    /// Input of the user.
    pub input: Vec<Input>,
    /// Id that the client gave to the message.
    pub client_id: Option<String>,
    /// Changes of the settings for this turn and later ones. If the input joins a running turn, that turn keeps its settings.
    pub change: SettingsChange,
    /// JSON schema of the last message, for this turn only.
    pub output_schema: Option<Value>,
    /// The turn of the root agent from which this one stems; `None` for the turn itself.
    pub root_turn: Option<TurnId>,
    /// Service tier of the provider, for this turn only.
    pub service_tier_for_turn: Option<String>,
}

/// The turn that handles a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTurn {
    /// Id of the turn.
    pub turn: TurnId,
    /// Whether the turn is new.
    pub how: Start,
}

/// Whether a request created a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A new turn starts, at once or after the running one.
    New,
    /// The input joined a turn that was running or planned.
    Joined,
}
