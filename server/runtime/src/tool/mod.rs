//! What an agent can do: the tools that a model is offered, and what they need.

mod ask;
mod call_order;
pub mod dynamic;
pub mod exec;
pub mod line;
mod options;
mod outcome;
pub mod patch;
pub mod plan;
pub(crate) mod regular;
mod standard;
pub mod user_input;
pub mod view_image;

pub use call_order::{CallOrder, Resource};
pub use options::ToolOptions;
pub use outcome::MAX_PREVIEW_CHARS;
pub use standard::standard;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ToolTrace;

use crate::agent::Agent;
use crate::id::{ItemId, TurnId};
use crate::settings::Settings;

/// What kind of thing a tool is for: what can be taken from an agent as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFamily {
    /// Commands.
    Shell,
    /// Files: patches and pictures.
    Files,
    /// Plans.
    Plan,
    /// Other agents.
    Agents,
    /// What belongs to one agent alone: those that it starts do not get it.
    Own,
    /// Anything else; it stays.
    Other,
}

/// Something that a model may call.
pub trait Tool: Send + Sync + 'static {
    /// Tells what kind of thing the tool is for.
    fn family(&self) -> ToolFamily {
        ToolFamily::Other
    }

    /// Returns what the model is told, in the words of the Responses API; nothing if the tool is not offered with
    /// these settings.
    fn specification(&self, settings: &Settings) -> Option<Value>;

    /// Returns what a request waits for before the tool can be offered as it is; nothing if it can be offered at once.
    fn ready(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Tells whether a call is for this tool.
    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool;

    /// Tells how the call is recorded: its kind and a short description.
    fn description(&self, call: &ToolCall) -> CallDescription;

    /// Tells when a call may begin, among those of one answer.
    fn order(&self, call: &ToolCall) -> CallOrder {
        let _ = call;
        CallOrder::Independent
    }

    /// Carries a call out. Calls of one answer run at the same time, as far as their [order](Self::order) lets them. When the turn's cancellation fires, the call ends
    /// soon, and what it began is stopped or goes on in the background. Bad arguments are an answer, not an error.
    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome>;
}

/// A call by a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id of the call, and of the item that shows it.
    pub id: ItemId,
    /// Namespace that the model named.
    pub namespace: Option<String>,
    /// Name that the model named.
    pub name: String,
    /// What the tool is called with.
    pub input: ToolInput,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// A JSON text; perhaps a broken one.
    Arguments(String),
    /// Free text.
    Text(String),
}

/// What a call works with.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The agent that calls: events, questions, background terminals, other agents.
    pub agent: Agent,
    /// The turn.
    pub turn: TurnId,
    /// The settings of the turn.
    pub settings: Arc<Settings>,
    /// Fires when the turn is interrupted.
    pub cancelled: CancellationToken,
    /// Records what the tool's runtime does.
    pub trace: ToolTrace,
}

/// How a call is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDescription {
    /// Kind of tool in the words of the bundle: `exec_command`, `apply_patch`, `spawn_agent`; `other` with a name.
    pub kind: String,
    /// Short label.
    pub label: String,
    /// Short preview of the input.
    pub input_preview: Option<String>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// What the model gets: a text, or a list of content parts.
    pub output: Value,
    /// Whether it worked.
    pub success: bool,
    /// Whether the turn goes on.
    pub then: Then,
}

/// Whether the turn goes on after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It does.
    Continue,
    /// A person stopped it.
    Interrupt,
}
