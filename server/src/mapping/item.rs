//! Converts items of the runtime to items of the protocol.
//!
//! The times of an item are those of its events, so the callers add them.

use std::path::Path;

use serde_json::Value;
use trace_protocol::item as wire;
use trace_protocol::item::{ThreadItem, UserInput};
use trace_runtime::ThreadId;
use trace_runtime::item::{
    Activity, CommandAction, CommandItem, CommandSource, FileChange, FileChangeKind, Input, Item, ItemKind, WorkStatus,
};

/// Converts an item of a thread, without its times.
pub(crate) fn to_wire(thread: &ThreadId, item: &Item) -> ThreadItem {
    let id = item.id.to_string();
    match &item.kind {
        ItemKind::UserMessage { client_id, content } => ThreadItem::UserMessage(wire::UserMessageItem {
            id,
            client_id: client_id.clone(),
            content: content.iter().map(input).collect(),
            ..Default::default()
        }),
        ItemKind::AgentMessage { text, phase } => ThreadItem::AgentMessage(wire::AgentMessageItem {
            id,
            text: text.clone(),
            phase: phase.as_deref().and_then(known_word),
            ..Default::default()
        }),
        ItemKind::Reasoning { summary, content } => ThreadItem::Reasoning(wire::ReasoningItem {
            id,
            summary: summary.clone(),
            content: content.clone(),
            ..Default::default()
        }),
        ItemKind::Command(item) => ThreadItem::CommandExecution(command(id, item)),
        ItemKind::FileChange { changes, status } => ThreadItem::FileChange(wire::FileChangeItem {
            id,
            changes: changes.iter().map(change).collect(),
            status: match status {
                WorkStatus::InProgress => wire::PatchApplyStatus::InProgress,
                WorkStatus::Completed => wire::PatchApplyStatus::Completed,
                WorkStatus::Declined => wire::PatchApplyStatus::Declined,
                // The protocol has no status for an interrupted patch.
                WorkStatus::Failed | WorkStatus::Interrupted => wire::PatchApplyStatus::Failed,
            },
            ..Default::default()
        }),
        ItemKind::McpCall { server, tool, arguments, read_only, result, error, status, duration_ms } => {
            ThreadItem::from(wire::McpToolCallItem {
                id,
                server: server.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                read_only_hint: *read_only,
                result: result.as_ref().map(mcp_result),
                error: error.clone().map(|message| wire::McpToolCallError { message }),
                status: match status {
                    WorkStatus::InProgress => wire::McpToolCallStatus::InProgress,
                    WorkStatus::Completed => wire::McpToolCallStatus::Completed,
                    WorkStatus::Failed | WorkStatus::Declined | WorkStatus::Interrupted => {
                        wire::McpToolCallStatus::Failed
                    }
                },
                duration_ms: duration_ms.map(signed),
                ..Default::default()
            })
        }
        ItemKind::DynamicCall { namespace, tool, arguments, content, success, status, duration_ms } => {
            ThreadItem::DynamicToolCall(wire::DynamicToolCallItem {
                id,
                namespace: namespace.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                content_items: content.as_ref().and_then(|content| serde_json::from_value(content.clone()).ok()),
                success: *success,
                status: match status {
                    WorkStatus::InProgress => wire::DynamicToolCallStatus::InProgress,
                    WorkStatus::Completed => wire::DynamicToolCallStatus::Completed,
                    WorkStatus::Failed | WorkStatus::Declined | WorkStatus::Interrupted => {
                        wire::DynamicToolCallStatus::Failed
                    }
                },
                duration_ms: duration_ms.map(signed),
                ..Default::default()
            })
        }
        ItemKind::AgentCall { tool, receivers, prompt, status } => {
            ThreadItem::CollabAgentToolCall(wire::CollabAgentToolCallItem {
                id,
                agents_states: Default::default(),
                receiver_thread_ids: receivers.iter().map(ToString::to_string).collect(),
                sender_thread_id: thread.to_string(),
                status: match status {
                    WorkStatus::InProgress => wire::CollabAgentToolCallStatus::InProgress,
                    WorkStatus::Completed => wire::CollabAgentToolCallStatus::Completed,
                    WorkStatus::Interrupted => wire::CollabAgentToolCallStatus::Interrupted,
                    WorkStatus::Failed | WorkStatus::Declined => wire::CollabAgentToolCallStatus::Failed,
                },
                // A tool that the protocol does not know is reported as the most similar one, which sends input to an
                // agent.
                tool: known_word(tool).unwrap_or(wire::CollabAgentTool::SendInput),
                started_at_ms: None,
                completed_at_ms: None,
                model: None,
                prompt: prompt.clone(),
                reasoning_effort: None,
            })
        }
        ItemKind::AgentActivity { activity, agent, path, model } => {
            ThreadItem::SubAgentActivity(wire::SubAgentActivityItem {
                id,
                agent_path: path.clone(),
                agent_thread_id: agent.to_string(),
                kind: match activity {
                    Activity::Started => wire::SubAgentActivityKind::Started,
                    Activity::Interacted => wire::SubAgentActivityKind::Interacted,
                    Activity::Interrupted => wire::SubAgentActivityKind::Interrupted,
                    Activity::Completed => wire::SubAgentActivityKind::Completed,
                },
                started_at_ms: None,
                completed_at_ms: None,
                model: model.clone(),
                reasoning_effort: None,
            })
        }
        ItemKind::WebSearch { query, action } => ThreadItem::WebSearch(wire::WebSearchItem {
            id,
            query: query.clone(),
            action: action.as_ref().map(search_action),
            ..Default::default()
        }),
        ItemKind::ImageView { path } => {
            ThreadItem::ImageView(wire::ImageViewItem { id, path: text(path), ..Default::default() })
        }
        ItemKind::EnteredReview { review } => ThreadItem::EnteredReviewMode(wire::EnteredReviewModeItem {
            id,
            review: review.clone(),
            ..Default::default()
        }),
        ItemKind::ExitedReview { review } => ThreadItem::ExitedReviewMode(wire::ExitedReviewModeItem {
            id,
            review: review.clone(),
            ..Default::default()
        }),
        ItemKind::ToolOutput { name, namespace, output } => {
            ThreadItem::FunctionCallOutput(wire::FunctionCallOutputItem {
                id,
                name: name.clone(),
                namespace: namespace.clone(),
                output: serde_json::from_value(output.clone())
                    .unwrap_or_else(|_| wire::FunctionCallOutputBody::Text(output.to_string())),
                started_at_ms: None,
                completed_at_ms: None,
            })
        }
        ItemKind::Compaction => ThreadItem::ContextCompaction(wire::ContextCompactionItem { id, ..Default::default() }),
    }
}

fn command(id: String, item: &CommandItem) -> wire::CommandExecutionItem {
    wire::CommandExecutionItem {
        id,
        command: item.command.clone(),
        command_actions: item.actions.iter().map(action).collect(),
        cwd: text(&item.cwd),
        status: match item.status {
            WorkStatus::InProgress => wire::CommandExecutionStatus::InProgress,
            WorkStatus::Completed => wire::CommandExecutionStatus::Completed,
            WorkStatus::Declined => wire::CommandExecutionStatus::Declined,
            // The protocol has no status for an interrupted command.
            WorkStatus::Failed | WorkStatus::Interrupted => wire::CommandExecutionStatus::Failed,
        },
        // In the protocol, empty output is `None`.
        aggregated_output: item.output.clone().filter(|output| !output.is_empty()),
        duration_ms: item.duration_ms.map(signed),
        exit_code: item.exit_code,
        process_id: item.process_id.clone(),
        source: match item.source {
            CommandSource::Agent => wire::CommandExecutionSource::Agent,
            CommandSource::UserShell => wire::CommandExecutionSource::UserShell,
            CommandSource::SessionStart => wire::CommandExecutionSource::UnifiedExecStartup,
            CommandSource::SessionInteraction => wire::CommandExecutionSource::UnifiedExecInteraction,
        },
        ..Default::default()
    }
}

/// Converts the action that a command line was recognized as.
pub(crate) fn action(action: &CommandAction) -> wire::CommandAction {
    match action {
        CommandAction::Read { command, name, path } => {
            wire::CommandAction::Read { command: command.clone(), name: name.clone(), path: text(path) }
        }
        CommandAction::ListFiles { command, path } => {
            wire::CommandAction::ListFiles { command: command.clone(), path: path.clone() }
        }
        CommandAction::Search { command, query, path } => {
            wire::CommandAction::Search { command: command.clone(), query: query.clone(), path: path.clone() }
        }
        CommandAction::Unknown { command } => wire::CommandAction::Unknown { command: command.clone() },
    }
}

pub(crate) fn change(change: &FileChange) -> wire::FileUpdateChange {
    wire::FileUpdateChange {
        path: text(&change.path),
        diff: change.diff.clone(),
        kind: match &change.kind {
            FileChangeKind::Add => wire::PatchChangeKind::Add,
            FileChangeKind::Delete => wire::PatchChangeKind::Delete,
            FileChangeKind::Update { moved_to } => {
                wire::PatchChangeKind::Update { move_path: moved_to.as_deref().map(text) }
            }
        },
    }
}

fn input(input: &Input) -> UserInput {
    match input {
        Input::Text { text, elements } => UserInput::Text {
            text: text.clone(),
            text_elements: elements.iter().filter_map(|element| serde_json::from_value(element.clone()).ok()).collect(),
        },
        Input::Image { url, detail } => UserInput::Image {
            source: wire::MediaSource::Url { url: url.clone() },
            detail: detail.as_deref().and_then(known_word),
        },
        Input::LocalImage { path, detail } => {
            UserInput::LocalImage { path: text(path), detail: detail.as_deref().and_then(known_word) }
        }
        Input::Skill { name, path } => UserInput::Skill { name: name.clone(), path: text(path) },
        Input::Mention { name, path } => UserInput::Mention { name: name.clone(), path: path.clone() },
        // Such a part usually came from a client. One that no client could have sent becomes its JSON text.
        Input::Other(value) => serde_json::from_value(value.clone())
            .unwrap_or_else(|_| UserInput::Text { text: value.to_string(), text_elements: Vec::new() }),
    }
}

/// Converts the action of a web search. The words of the provider differ from those of the protocol only in their
/// spelling.
fn search_action(action: &Value) -> wire::WebSearchAction {
    let part = |name: &str| action.get(name).and_then(Value::as_str).map(str::to_owned);
    match action.get("type").and_then(Value::as_str) {
        Some("search") => wire::WebSearchAction::Search {
            query: part("query"),
            queries: action.get("queries").and_then(|queries| serde_json::from_value(queries.clone()).ok()),
        },
        Some("open_page" | "openPage") => wire::WebSearchAction::OpenPage { url: part("url") },
        Some("find_in_page" | "findInPage") => {
            wire::WebSearchAction::FindInPage { url: part("url"), pattern: part("pattern") }
        }
        _ => wire::WebSearchAction::Other,
    }
}

/// Converts the result of an MCP tool. If a result has no `content`, the whole result is taken as the content.
fn mcp_result(result: &Value) -> wire::McpToolCallResult {
    serde_json::from_value(result.clone()).unwrap_or_else(|_| wire::McpToolCallResult {
        content: vec![result.clone()],
        meta: None,
        structured_content: None,
    })
}

/// Parses a word as a variant of an enum. Returns `None` for an unknown word.
fn known_word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::from(word)).ok()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
