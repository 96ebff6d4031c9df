//! Short events, which older clients write and read instead of whole items.
//!
//! A thread with the legacy history mode gets both: the whole item, and a short event if there is one for its type. The
//! event names the item (`item_id`), so that readers of whole items can skip it.

use serde_json::{Map, Value, json};
use trace_protocol::item as wire;
use trace_protocol::item::{MediaSource, ThreadItem, UserInput};
use trace_protocol::turn::TurnStatus;

use super::item as whole;
use super::spelling::{file_url, milliseconds, path_of, put, span, text};

/// Returns the short events of an item that has ended.
pub(crate) fn short(turn: &str, item: &ThreadItem) -> Vec<Value> {
    let id = item.id();
    let event = |kind: &str, members: Value| {
        let mut event = Map::from_iter([("type".to_owned(), Value::from(kind))]);
        if let Value::Object(mut members) = members {
            event.append(&mut members);
        }
        event.insert("item_id".into(), id.into());
        Value::Object(event)
    };
    match item {
        ThreadItem::UserMessage(item) => vec![event("user_message", short_message(item))],
        ThreadItem::AgentMessage(item) => {
            vec![event("agent_message", json!({"message": item.text, "phase": item.phase, "memory_citation": null}))]
        }
        ThreadItem::Reasoning(item) => {
            let summary = item.summary.iter().map(|text| event("agent_reasoning", json!({"text": text})));
            let content = item.content.iter().map(|text| event("agent_reasoning_raw_content", json!({"text": text})));
            summary.chain(content).collect()
        }
        ThreadItem::FileChange(item) => vec![event(
            "patch_apply_end",
            json!({
                "call_id": id,
                "turn_id": turn,
                "stdout": "",
                "stderr": "",
                "success": item.status == wire::PatchApplyStatus::Completed,
                "changes": whole::stored_changes(&item.changes),
                "status": item.status,
            }),
        )],
        ThreadItem::McpToolCall(item) => {
            let result = match (&item.result, &item.error) {
                (Some(result), None) => json!({"Ok": whole::mcp_result(result)}),
                (_, error) => json!({"Err": error.as_ref().map_or("", |error| error.message.as_str())}),
            };
            vec![event(
                "mcp_tool_call_end",
                json!({
                    "call_id": id,
                    "invocation": {"server": item.server, "tool": item.tool, "arguments": item.arguments},
                    "duration": span(item.duration_ms.unwrap_or(0)),
                    "result": result,
                }),
            )]
        }
        ThreadItem::WebSearch(item) => {
            let action = item.action.as_ref().map_or_else(|| json!({"type": "other"}), whole::stored_action);
            vec![event("web_search_end", json!({"call_id": id, "query": item.query, "action": action}))]
        }
        ThreadItem::ImageView(item) => {
            vec![event("view_image_tool_call", json!({"call_id": id, "path": file_url(&item.path)}))]
        }
        ThreadItem::EnteredReviewMode(item) => vec![event(
            "entered_review_mode",
            json!({
                "target": {"type": "custom", "instructions": item.review},
                "user_facing_hint": item.review,
                "turn_id": turn,
            }),
        )],
        ThreadItem::ExitedReviewMode(item) => vec![event(
            "exited_review_mode",
            json!({"turn_id": turn, "review_output": whole::review_output(&item.review)}),
        )],
        ThreadItem::ContextCompaction(_) => vec![event("context_compacted", json!({}))],
        // The other types have no short event, or clients read the whole item.
        _ => Vec::new(),
    }
}

fn short_message(item: &wire::UserMessageItem) -> Value {
    let (mut message, mut elements, mut images, mut files) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for input in &item.content {
        match input {
            UserInput::Text { text, text_elements } => {
                // In the event, the texts are joined, so the ranges of their elements have to be shifted.
                let offset = message.len() as u64;
                elements.extend(text_elements.iter().map(|element| {
                    let range = json!({
                        "start": element.byte_range.start.saturating_add(offset),
                        "end": element.byte_range.end.saturating_add(offset),
                    });
                    json!({"byte_range": range, "placeholder": element.placeholder})
                }));
                message.push_str(text);
            }
            UserInput::Image { source: MediaSource::Url { url }, .. } => images.push(url.clone()),
            UserInput::LocalImage { path, .. } => files.push(path.clone()),
            _ => {}
        }
    }
    let mut members = Map::new();
    put(&mut members, "client_id", item.client_id.clone());
    members.insert("message".into(), message.into());
    members.insert("images".into(), images.into());
    members.insert("local_images".into(), files.into());
    members.insert("text_elements".into(), elements.into());
    Value::Object(members)
}

/// The content of a short event.
#[derive(Debug, PartialEq)]
pub(crate) enum ShortEvent {
    /// A whole item.
    Item(Box<ThreadItem>),
    /// A part of a reasoning item: of the newest item if that is reasoning, or else of a new one.
    Reasoning {
        /// The id of the item, if the event names it.
        id: Option<String>,
        /// The part of the summary.
        summary: Option<String>,
        /// The part of the content.
        content: Option<String>,
    },
    /// An error of the turn, which has failed unless its end says otherwise.
    Error(Value),
}

/// Returns whether an event names its item.
pub(crate) fn names_item(value: &Value) -> bool {
    ["item_id", "call_id", "event_id"].iter().any(|name| text(value, name).is_some())
}

/// Reads a short event. Returns `None` for another event, or if a required member is missing. An item without an id
/// gets the id `given`.
pub(crate) fn read(kind: &str, value: &Value, given: &str) -> Option<ShortEvent> {
    let named = || text(value, "item_id").unwrap_or_else(|| given.to_owned());
    let called = || text(value, "item_id").or_else(|| text(value, "call_id"));
    Some(ShortEvent::Item(Box::new(match kind {
        "user_message" => ThreadItem::UserMessage(wire::UserMessageItem {
            id: named(),
            client_id: text(value, "client_id"),
            content: read_message(value),
            ..Default::default()
        }),
        "agent_message" => ThreadItem::AgentMessage(wire::AgentMessageItem {
            id: named(),
            text: text(value, "message")?,
            phase: value.get("phase").and_then(|phase| serde_json::from_value(phase.clone()).ok()),
            ..Default::default()
        }),
        "agent_reasoning" => {
            return Some(ShortEvent::Reasoning {
                id: text(value, "item_id"),
                summary: Some(text(value, "text")?),
                content: None,
            });
        }
        "agent_reasoning_raw_content" => {
            return Some(ShortEvent::Reasoning {
                id: text(value, "item_id"),
                summary: None,
                content: Some(text(value, "text")?),
            });
        }
        "error" => return Some(ShortEvent::Error(value.clone())),
        "exec_command_end" => ThreadItem::CommandExecution(whole::read_command(called()?, value)),
        "patch_apply_end" => ThreadItem::FileChange(wire::FileChangeItem {
            id: called()?,
            changes: whole::read_changes(value.get("changes")?),
            status: match (text(value, "status").as_deref(), value.get("success").and_then(Value::as_bool)) {
                (Some("declined"), _) => wire::PatchApplyStatus::Declined,
                (Some("completed"), _) | (None, Some(true)) => wire::PatchApplyStatus::Completed,
                _ => wire::PatchApplyStatus::Failed,
            },
            ..Default::default()
        }),
        "mcp_tool_call_end" => read_mcp(called()?, value)?.into(),
        "dynamic_tool_call_response" => ThreadItem::DynamicToolCall(wire::DynamicToolCallItem {
            id: called()?,
            namespace: text(value, "namespace"),
            tool: text(value, "tool")?,
            arguments: value.get("arguments").cloned().unwrap_or_default(),
            status: match value.get("success").and_then(Value::as_bool) {
                Some(true) => wire::DynamicToolCallStatus::Completed,
                _ => wire::DynamicToolCallStatus::Failed,
            },
            content_items: value.get("content_items").and_then(|items| serde_json::from_value(items.clone()).ok()),
            success: value.get("success").and_then(Value::as_bool),
            duration_ms: value.get("duration").and_then(milliseconds),
            ..Default::default()
        }),
        "web_search_end" => ThreadItem::WebSearch(wire::WebSearchItem {
            id: called()?,
            query: text(value, "query").unwrap_or_default(),
            action: value.get("action").and_then(whole::read_action),
            ..Default::default()
        }),
        "view_image_tool_call" => ThreadItem::ImageView(wire::ImageViewItem {
            id: called()?,
            path: path_of(&text(value, "path")?),
            ..Default::default()
        }),
        "sub_agent_activity" => {
            let mut item = whole::read_activity(text(value, "event_id")?, value)?;
            item.completed_at_ms = value.get("occurred_at_ms").and_then(Value::as_i64);
            ThreadItem::SubAgentActivity(item)
        }
        "entered_review_mode" => ThreadItem::EnteredReviewMode(wire::EnteredReviewModeItem {
            id: named(),
            review: whole::read_target(value),
            ..Default::default()
        }),
        "exited_review_mode" => ThreadItem::ExitedReviewMode(wire::ExitedReviewModeItem {
            id: named(),
            review: whole::read_review(value),
            ..Default::default()
        }),
        "context_compacted" => {
            ThreadItem::ContextCompaction(wire::ContextCompactionItem { id: named(), ..Default::default() })
        }
        _ => return None,
    })))
}

/// Reads a user message in the old form: one text, and images.
pub(crate) fn read_message(value: &Value) -> Vec<UserInput> {
    let texts = |name: &str| {
        let list = value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        list.into_iter().filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let message = text(value, "message").unwrap_or_default();
    let elements =
        value.get("text_elements").map(|elements| super::spelling::renamed(elements, super::spelling::camel));
    let mut content = Vec::new();
    if !message.is_empty() {
        let text_elements = elements.and_then(|elements| serde_json::from_value(elements).ok()).unwrap_or_default();
        content.push(UserInput::Text { text: message, text_elements });
    }
    let picture = |url| UserInput::Image { source: MediaSource::Url { url }, detail: None };
    content.extend(texts("images").into_iter().map(picture));
    content.extend(
        texts("local_images").into_iter().map(|path| UserInput::LocalImage { path: path_of(&path), detail: None }),
    );
    content
}

fn read_mcp(id: String, value: &Value) -> Option<wire::McpToolCallItem> {
    let invocation = value.get("invocation")?;
    let result = value.get("result");
    let good = result.and_then(|result| result.get("Ok"));
    Some(wire::McpToolCallItem {
        id,
        server: text(invocation, "server")?,
        tool: text(invocation, "tool")?,
        arguments: invocation.get("arguments").cloned().unwrap_or_default(),
        status: match good {
            Some(_) => wire::McpToolCallStatus::Completed,
            None => wire::McpToolCallStatus::Failed,
        },
        result: good.map(whole::read_mcp_result),
        error: result.and_then(|result| text(result, "Err")).map(|message| wire::McpToolCallError { message }),
        duration_ms: value.get("duration").and_then(milliseconds),
        ..Default::default()
    })
}

/// Returns the status of a turn after an event, or `None` if the event does not end a turn.
pub(crate) fn end_status(kind: &str) -> Option<TurnStatus> {
    match kind {
        "task_complete" | "turn_complete" => Some(TurnStatus::Completed),
        "turn_aborted" => Some(TurnStatus::Interrupted),
        _ => None,
    }
}
