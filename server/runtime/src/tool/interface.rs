//! What a tool is, and what it gets with each call.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ToolTrace;

use super::agent::ToolAgent;
use super::call::{CallDescription, ToolCall, ToolOutcome};
use super::call_order::CallOrder;
use crate::id::TurnId;
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

/// What a call works with.
#[derive(Clone)]
pub struct ToolContext {
    /// The agent that calls: events, questions, background processes.
    pub agent: ToolAgent,
    /// The turn.
    pub turn: TurnId,
    /// The settings of the turn.
    pub settings: Arc<Settings>,
    /// Fires when the turn is interrupted.
    pub cancelled: CancellationToken,
    /// Records what the tool's runtime does.
    pub trace: ToolTrace,
    /// The next of the agent's tools that the call is for, for a tool that stands before others.
    pub next: Option<Arc<dyn Tool>>,
}
