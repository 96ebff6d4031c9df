//! Implements waiting for messages.

use std::time::Duration;

use serde_json::json;
use trace_recorder::format::{ExecutionStatus, ToolKind};
use trace_recorder::write::Json;

use super::arguments;
use super::refused::Refused;
use crate::agent::Agent;
use crate::item::{Item, ItemKind, WorkStatus};
use crate::tool::{ToolCall, ToolContext};

/// Default timeout of a wait.
pub const DEFAULT_WAIT_MS: i64 = 30_000;

/// Shortest timeout of a wait: polling in a loop costs more tokens than waiting.
pub const MIN_WAIT_MS: i64 = 10_000;

/// Longest timeout of a wait.
pub const MAX_WAIT_MS: i64 = 3_600_000;

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Mail,
    Input,
    Time,
    Stopped,
}

/// Waits until there is mail, the user says something, or the timeout passes.
pub(super) async fn wait(agent: &Agent, context: &ToolContext, call: &ToolCall) -> Result<String, Refused> {
    let arguments::Wait { timeout_ms } = arguments::read("wait_agent", &call.input)?;
    let asked = timeout_ms.unwrap_or(DEFAULT_WAIT_MS);
    if asked > MAX_WAIT_MS {
        return Err(Refused::LongWait { asked, limit: MAX_WAIT_MS });
    }
    let millis = asked.max(MIN_WAIT_MS);
    let shown = |status| ItemKind::AgentCall { tool: "wait".to_owned(), receivers: Vec::new(), prompt: None, status };
    let item = Item { id: call.id.clone(), kind: shown(WorkStatus::InProgress) };
    let item = context.agent.start_item(&context.turn, item);
    context.trace.start_runtime(
        ToolKind::WaitAgent,
        Json(&json!({
            "started_at_ms": context.agent.now_ms(),
            "sender_thread_id": agent.id(),
            "receiver_thread_ids": [],
            "call_id": call.id,
        })),
    );
    let end = until(agent, context, Duration::from_millis(millis.unsigned_abs())).await;
    let (status, execution) = match end {
        End::Stopped => (WorkStatus::Interrupted, ExecutionStatus::Cancelled),
        End::Mail | End::Input | End::Time => (WorkStatus::Completed, ExecutionStatus::Completed),
    };
    let report = json!({
        "sender_thread_id": agent.id(),
        "call_id": call.id,
        "completed_at_ms": context.agent.now_ms(),
        "statuses": {},
    });
    context.trace.end_runtime(execution, Json(&report));
    item.complete(shown(status));
    let message = match end {
        End::Mail => "Wait completed.",
        End::Input => "The wait ended early: the user said something.",
        End::Time => "Wait timed out.",
        End::Stopped => "The wait was stopped.",
    };
    let remark = if asked < MIN_WAIT_MS {
        format!("\n\n{asked} ms were asked for; the shortest wait is {MIN_WAIT_MS} ms.")
    } else {
        String::new()
    };
    Ok(json!({ "message": format!("{message}{remark}"), "timed_out": end == End::Time }).to_string())
}

async fn until(agent: &Agent, context: &ToolContext, time: Duration) -> End {
    let mut attention = agent.attention();
    let comes = async {
        loop {
            attention.borrow_and_update();
            if agent.has_mail() {
                return End::Mail;
            }
            if has_input(agent) {
                return End::Input;
            }
            if attention.changed().await.is_err() {
                // The agent owns the sender and still exists, so this cannot happen.
                return std::future::pending().await;
            }
        }
    };
    tokio::select! {
        biased;
        () = context.cancelled.cancelled() => End::Stopped,
        end = comes => end,
        () = tokio::time::sleep(time) => End::Time,
    }
}

/// Returns whether there is input of the user that the model has not seen.
fn has_input(agent: &Agent) -> bool {
    agent.core().state().turns.active.as_ref().is_some_and(|turn| !turn.inputs.is_empty())
}
