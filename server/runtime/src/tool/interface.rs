//! The interface of tools, and the context of a call.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ToolTrace;

use super::agent::ToolAgent;
use super::call::{CallDescription, ToolCall, ToolOutcome};
use super::call_order::CallOrder;
use super::model::ModelAccess;
use crate::id::TurnId;
use crate::settings::Settings;

/// Family of a tool. An agent can be denied all tools of a family.
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
    /// Tools of one agent only: the agents that it spawns do not get them.
    Own,
    /// Any other tool. It cannot be denied.
    Other,
}

/// A tool that a model can call.
pub trait Tool: Send + Sync + 'static {
    /// Returns the family of the tool.
    fn family(&self) -> ToolFamily {
        ToolFamily::Other
    }

    /// Returns the specification for the model in the format of the Responses API; `None` if the tool is not offered with these
    /// settings.
    fn specification(&self, settings: &Settings) -> Option<Value>;

    /// Returns a future that a request waits for before the tool can be offered; `None` if it can be offered at once.
    fn ready(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Returns whether a call is for this tool.
    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool;

    /// Returns the description of a call for the recording.
    fn description(&self, call: &ToolCall) -> CallDescription;

    /// Returns when a call may start, relative to the other calls of its answer.
    fn order(&self, call: &ToolCall) -> CallOrder {
        let _ = call;
        CallOrder::Independent
    }

    /// Runs a call. Calls of one answer run at the same time, as far as their [order](Self::order) allows. When the turn is
    /// cancelled, the call ends soon, and what it started is stopped or continues in the background. Invalid arguments give an
    /// outcome for the model.
    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome>;
}

/// Context of a call.
#[derive(Clone)]
pub struct ToolContext {
    /// The calling agent: events, questions, background processes.
    pub agent: ToolAgent,
    /// Id of the turn.
    pub turn: TurnId,
    /// The settings of the turn.
    pub settings: Arc<Settings>,
    /// Is cancelled when the turn is interrupted.
    pub cancelled: CancellationToken,
    /// Records the work of the tool.
    pub trace: ToolTrace,
    /// The model of the turn, for questions outside of the conversation.
    pub model: ModelAccess,
    /// The next of the agent's tools that accepts the call, for a tool that intercepts calls of others.
    pub next: Option<Arc<dyn Tool>>,
}
