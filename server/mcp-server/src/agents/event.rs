//! `codex/event`: what happens in a turn in the words of the Codex CLI's core, for clients that were written for its MCP server.

use serde_json::{Value, json};
use trace_protocol::ServerNotification;
use trace_protocol::item::{CommandExecutionItem, PatchApplyStatus, ThreadItem};

use super::changes::files;

/// Returns the events that a notification stands for. `message` is what the agent said last.
pub(super) fn events(told: &ServerNotification, message: &str) -> Vec<Value> {
    match told {
        ServerNotification::TurnStarted(told) => {
            vec![json!({"type": "task_started", "turn_id": told.turn.id})]
        }
        ServerNotification::TurnCompleted(told) => {
            use trace_protocol::turn::TurnStatus;

            match told.turn.status {
                TurnStatus::Completed => {
                    vec![json!({"type": "task_complete", "turn_id": told.turn.id, "last_agent_message": message})]
                }
                TurnStatus::Interrupted => {
                    vec![json!({"type": "turn_aborted", "turn_id": told.turn.id, "reason": "interrupted"})]
                }
                TurnStatus::Failed | TurnStatus::InProgress => Vec::new(),
            }
        }
        ServerNotification::Error(told) if told.will_retry => {
            vec![json!({"type": "stream_error", "message": told.error.message})]
        }
        ServerNotification::Error(told) => vec![json!({"type": "error", "message": told.error.message})],
        ServerNotification::Warning(told) => vec![json!({"type": "warning", "message": told.message})],
        ServerNotification::ItemAgentMessageDelta(told) => vec![json!({
            "type": "agent_message_content_delta",
            "thread_id": told.thread_id,
            "turn_id": told.turn_id,
            "item_id": told.item_id,
            "delta": told.delta,
        })],
        ServerNotification::TurnDiffUpdated(told) => vec![json!({"type": "turn_diff", "unified_diff": told.diff})],
        ServerNotification::ThreadTokenUsageUpdated(told) => {
            vec![json!({"type": "token_count", "info": told.token_usage})]
        }
        ServerNotification::ItemStarted(told) => {
            let mut events = vec![item_event("item_started", &told.thread_id, &told.turn_id, &told.item)];
            events.extend(begun(&told.item));
            events
        }
        ServerNotification::ItemCompleted(told) => {
            let mut events = vec![item_event("item_completed", &told.thread_id, &told.turn_id, &told.item)];
            events.extend(ended(&told.item));
            events
        }
        _ => Vec::new(),
    }
}

fn item_event(kind: &str, thread: &str, turn: &str, item: &ThreadItem) -> Value {
    json!({"type": kind, "thread_id": thread, "turn_id": turn, "item": item})
}

fn begun(item: &ThreadItem) -> Option<Value> {
    match item {
        ThreadItem::CommandExecution(item) => {
            let mut event = command("exec_command_begin", item);
            event["parsed_cmd"] = json!(item.command_actions);
            Some(event)
        }
        ThreadItem::FileChange(item) => Some(json!({
            "type": "patch_apply_begin",
            "call_id": item.id,
            "auto_approved": false,
            "changes": files(&item.changes),
        })),
        _ => None,
    }
}

fn ended(item: &ThreadItem) -> Option<Value> {
    match item {
        ThreadItem::UserMessage(item) => Some(json!({"type": "user_message", "message": text_of(&item.content)})),
        ThreadItem::AgentMessage(item) => Some(json!({"type": "agent_message", "message": item.text})),
        ThreadItem::Reasoning(item) => Some(json!({"type": "agent_reasoning", "text": item.summary.join("\n\n")})),
        ThreadItem::CommandExecution(item) => {
            let mut event = command("exec_command_end", item);
            let output = item.aggregated_output.as_deref().unwrap_or_default();
            event["aggregated_output"] = json!(output);
            event["formatted_output"] = json!(output);
            event["exit_code"] = json!(item.exit_code.unwrap_or(-1));
            event["duration_ms"] = json!(item.duration_ms);
            Some(event)
        }
        ThreadItem::FileChange(item) => Some(json!({
            "type": "patch_apply_end",
            "call_id": item.id,
            "success": item.status == PatchApplyStatus::Completed,
            "changes": files(&item.changes),
        })),
        _ => None,
    }
}

fn command(kind: &str, item: &CommandExecutionItem) -> Value {
    json!({
        "type": kind,
        "call_id": item.id,
        "command": shlex::split(&item.command).unwrap_or_else(|| vec![item.command.clone()]),
        "cwd": item.cwd,
    })
}

fn text_of(input: &[trace_protocol::item::UserInput]) -> String {
    let texts = input.iter().filter_map(|part| match part {
        trace_protocol::item::UserInput::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}
