//! Items in the `item_completed` events of rollouts.
//!
//! These are the items of the protocol in another spelling: types start with a capital letter, paths are URLs, a
//! command is a list of words, and changes are grouped by file. Information that cannot be expressed in this way is in
//! additional members, which other readers ignore: the text of a command line (`command_line`), a list of changes that
//! contains a file twice (`change_list`), and the text of a review (`review`).

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use trace_protocol::item as wire;
use trace_protocol::item::{MediaSource, ThreadItem, UserInput};

use super::cap::capped;
use super::spelling::{camel, file_url, milliseconds, path_of, put, renamed, snake, span, text};

/// Converts an item to its form in rollouts, without its times.
pub(crate) fn stored(item: &ThreadItem) -> Value {
    let mut members = Map::new();
    let kind = match item {
        ThreadItem::UserMessage(item) => {
            put(&mut members, "client_id", item.client_id.clone());
            members.insert("content".into(), item.content.iter().map(stored_input).collect());
            "UserMessage"
        }
        ThreadItem::AgentMessage(item) => {
            members.insert("content".into(), json!([{"type": "Text", "text": item.text}]));
            put(&mut members, "phase", word(&item.phase));
            put(&mut members, "memory_citation", item.memory_citation.as_ref().map(snaked));
            put(&mut members, "delivery", word(&item.delivery));
            put(&mut members, "questions", item.questions.as_ref().map(snaked));
            put(&mut members, "moderation", item.moderation.as_ref().map(snaked));
            "AgentMessage"
        }
        ThreadItem::Reasoning(item) => {
            members.insert("summary_text".into(), json!(item.summary));
            members.insert("raw_content".into(), json!(item.content));
            "Reasoning"
        }
        ThreadItem::Plan(item) => {
            members.insert("text".into(), item.text.clone().into());
            "Plan"
        }
        ThreadItem::CommandExecution(item) => {
            stored_command(&mut members, item);
            "CommandExecution"
        }
        ThreadItem::FileChange(item) => {
            members.insert("changes".into(), stored_changes(&item.changes));
            let files: HashSet<&str> = item.changes.iter().map(|change| change.path.as_str()).collect();
            if files.len() < item.changes.len() {
                members.insert("change_list".into(), json!(item.changes));
            }
            put(&mut members, "status", word(&Some(item.status)).as_deref().map(snake));
            // Other readers require these members.
            members.insert("stdout".into(), "".into());
            members.insert("stderr".into(), "".into());
            "FileChange"
        }
        ThreadItem::McpToolCall(item) => {
            stored_mcp(&mut members, item);
            "McpToolCall"
        }
        ThreadItem::DynamicToolCall(item) => {
            put(&mut members, "namespace", item.namespace.clone());
            members.insert("tool".into(), item.tool.clone().into());
            members.insert("arguments".into(), item.arguments.clone());
            put(&mut members, "status", word(&Some(item.status)).as_deref().map(snake));
            put(&mut members, "content_items", item.content_items.as_ref().map(|items| json!(items)));
            put(&mut members, "success", item.success);
            put(&mut members, "duration", item.duration_ms.map(span));
            "DynamicToolCall"
        }
        ThreadItem::CollabAgentToolCall(item) => {
            stored_agent_call(&mut members, item);
            "CollabAgentToolCall"
        }
        ThreadItem::SubAgentActivity(item) => {
            put(&mut members, "kind", word(&Some(item.kind)));
            members.insert("agent_thread_id".into(), item.agent_thread_id.clone().into());
            members.insert("agent_path".into(), item.agent_path.clone().into());
            members.insert("model".into(), json!(item.model));
            members.insert("reasoning_effort".into(), json!(item.reasoning_effort));
            "SubAgentActivity"
        }
        ThreadItem::WebSearch(item) => {
            members.insert("query".into(), item.query.clone().into());
            // Other readers require an action. A search without one gets the action `other`, and `no_action` marks it.
            let action = item.action.as_ref().map_or_else(|| json!({"type": "other"}), stored_action);
            members.insert("action".into(), action);
            put(&mut members, "results", item.results.as_ref().map(|results| json!(results)));
            if item.action.is_none() {
                members.insert("no_action".into(), true.into());
            }
            "WebSearch"
        }
        ThreadItem::ImageView(item) => {
            members.insert("path".into(), file_url(&item.path).into());
            "ImageView"
        }
        ThreadItem::EnteredReviewMode(item) => {
            members.insert("target".into(), json!({"type": "custom", "instructions": item.review}));
            members.insert("user_facing_hint".into(), item.review.clone().into());
            "EnteredReviewMode"
        }
        ThreadItem::ExitedReviewMode(item) => {
            members.insert("review_output".into(), review_output(&item.review));
            members.insert("review".into(), item.review.clone().into());
            "ExitedReviewMode"
        }
        ThreadItem::ContextCompaction(_) => "ContextCompaction",
        // The agents of this server do not make these items. They keep the spelling of the protocol, and other readers
        // ignore them.
        ThreadItem::HookPrompt(_) => whole(&mut members, item, "HookPrompt"),
        ThreadItem::FunctionCallOutput(_) => whole(&mut members, item, "FunctionCallOutput"),
        ThreadItem::Sleep(_) => whole(&mut members, item, "Sleep"),
        ThreadItem::ImageGeneration(_) => whole(&mut members, item, "ImageGeneration"),
    };
    let mut object = Map::new();
    object.insert("type".into(), kind.into());
    object.insert("id".into(), item.id().into());
    object.append(&mut members);
    Value::Object(object)
}

fn whole(members: &mut Map<String, Value>, item: &ThreadItem, kind: &'static str) -> &'static str {
    if let Ok(item) = serde_json::to_value(item) {
        members.insert("message_item".into(), item);
    }
    kind
}

/// Returns the form of a review of which only the text is known.
pub(crate) fn review_output(review: &str) -> Value {
    json!({
        "findings": [],
        "overall_correctness": "",
        "overall_explanation": review,
        "overall_confidence_score": 0.0,
    })
}

fn stored_input(input: &UserInput) -> Value {
    match input {
        UserInput::Text { text, text_elements } => {
            json!({"type": "text", "text": text, "text_elements": snaked(text_elements)})
        }
        UserInput::Image { detail, source } => {
            let mut members = Map::from_iter([("type".to_owned(), Value::from("image"))]);
            put_source(&mut members, "image_url", source);
            put(&mut members, "detail", word(detail));
            Value::Object(members)
        }
        UserInput::LocalImage { path, detail } => {
            let mut members = Map::from_iter([("type".to_owned(), Value::from("local_image"))]);
            members.insert("path".into(), path.clone().into());
            put(&mut members, "detail", word(detail));
            Value::Object(members)
        }
        UserInput::Audio { source } => {
            let mut members = Map::from_iter([("type".to_owned(), Value::from("audio"))]);
            put_source(&mut members, "audio_url", source);
            Value::Object(members)
        }
        UserInput::LocalAudio { path } => json!({"type": "local_audio", "path": path}),
        UserInput::Skill { name, path } => json!({"type": "skill", "name": name, "path": path}),
        UserInput::Mention { name, path } => json!({"type": "mention", "name": name, "path": path}),
    }
}

/// Adds the source of an image or an audio recording.
fn put_source(members: &mut Map<String, Value>, url_name: &str, source: &MediaSource) {
    match source {
        MediaSource::Url { url } => put(members, url_name, Some(url.clone())),
        MediaSource::File { file_id } => put(members, "file_id", Some(file_id.clone())),
    }
}

fn read_source(value: &Value, url_name: &str) -> Option<MediaSource> {
    match text(value, url_name) {
        Some(url) => Some(MediaSource::Url { url }),
        None => Some(MediaSource::File { file_id: text(value, "file_id")? }),
    }
}

fn stored_command(members: &mut Map<String, Value>, item: &wire::CommandExecutionItem) {
    put(members, "process_id", item.process_id.clone());
    put(members, "plugin_id", item.plugin_id.clone());
    put(members, "script_path", item.script_path.clone());
    let words = shlex::split(&item.command).unwrap_or_else(|| vec![item.command.clone()]);
    if line_of(&words) != item.command {
        members.insert("command_line".into(), item.command.clone().into());
    }
    members.insert("command".into(), json!(words));
    members.insert("cwd".into(), file_url(&item.cwd).into());
    members.insert("parsed_cmd".into(), item.command_actions.iter().map(stored_command_action).collect());
    put(members, "source", word(&Some(item.source)).as_deref().map(snake));
    put(members, "status", word(&Some(item.status)).as_deref().map(snake));
    let output = item.aggregated_output.as_deref();
    put(members, "aggregated_output", output.map(|output| capped(output).unwrap_or_else(|| output.to_owned())));
    put(members, "exit_code", item.exit_code);
    put(members, "duration", item.duration_ms.map(span));
}

fn line_of(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

fn stored_command_action(action: &wire::CommandAction) -> Value {
    match action {
        wire::CommandAction::Read { command, name, path } => {
            json!({"type": "read", "cmd": command, "name": name, "path": path})
        }
        wire::CommandAction::ListFiles { command, path } => {
            json!({"type": "list_files", "cmd": command, "path": path})
        }
        wire::CommandAction::Search { command, path, query } => {
            json!({"type": "search", "cmd": command, "query": query, "path": path})
        }
        wire::CommandAction::Unknown { command } => json!({"type": "unknown", "cmd": command}),
    }
}

/// Converts changes of files to their form in rollouts.
pub(crate) fn stored_changes(changes: &[wire::FileUpdateChange]) -> Value {
    changes
        .iter()
        .map(|change| {
            let stored = match &change.kind {
                wire::PatchChangeKind::Add => json!({"type": "add", "content": change.diff}),
                wire::PatchChangeKind::Delete => json!({"type": "delete", "content": change.diff}),
                wire::PatchChangeKind::Update { move_path } => {
                    json!({"type": "update", "unified_diff": change.diff, "move_path": move_path})
                }
            };
            (change.path.clone(), stored)
        })
        .collect::<Map<_, _>>()
        .into()
}

fn stored_mcp(members: &mut Map<String, Value>, item: &wire::McpToolCallItem) {
    members.insert("server".into(), item.server.clone().into());
    members.insert("tool".into(), item.tool.clone().into());
    members.insert("arguments".into(), item.arguments.clone());
    put(members, "status", word(&Some(item.status)).as_deref().map(snake));
    put(members, "result", item.result.as_ref().map(mcp_result));
    put(members, "error", item.error.as_ref().map(|error| json!({"message": error.message})));
    put(members, "duration", item.duration_ms.map(span));
    put(members, "mcp_app_resource_uri", item.mcp_app_resource_uri.clone());
    put(members, "plugin_id", item.plugin_id.clone());
    put(members, "read_only_hint", item.read_only_hint);
    put(members, "app_context", item.app_context.as_ref().map(snaked));
    put(members, "mcp_app_ui", item.mcp_app_ui.as_ref().map(snaked));
}

/// Converts the result of an MCP tool to the spelling of MCP.
pub(crate) fn mcp_result(result: &wire::McpToolCallResult) -> Value {
    let mut members = Map::from_iter([("content".to_owned(), json!(result.content))]);
    put(&mut members, "structuredContent", result.structured_content.clone());
    put(&mut members, "_meta", result.meta.clone());
    Value::Object(members)
}

fn stored_agent_call(members: &mut Map<String, Value>, item: &wire::CollabAgentToolCallItem) {
    put(members, "tool", word(&Some(item.tool)).as_deref().map(snake));
    put(members, "status", word(&Some(item.status)).as_deref().map(snake));
    members.insert("sender_thread_id".into(), item.sender_thread_id.clone().into());
    members.insert("receiver_thread_ids".into(), json!(item.receiver_thread_ids));
    members.insert("receiver_agents".into(), json!([]));
    put(members, "prompt", item.prompt.clone());
    put(members, "model", item.model.clone());
    put(members, "reasoning_effort", item.reasoning_effort.clone());
    let states: Map<String, Value> = item
        .agents_states
        .iter()
        .map(|(thread, state)| {
            let status = word(&Some(state.status)).as_deref().map(snake);
            (thread.clone(), json!({"status": status, "message": state.message}))
        })
        .collect();
    members.insert("agents_states".into(), states.into());
}

/// Converts the action of a web search to its form in rollouts.
pub(crate) fn stored_action(action: &wire::WebSearchAction) -> Value {
    match action {
        wire::WebSearchAction::Search { queries, query } => {
            let mut members = Map::from_iter([("type".to_owned(), Value::from("search"))]);
            put(&mut members, "query", query.clone());
            put(&mut members, "queries", queries.clone());
            Value::Object(members)
        }
        wire::WebSearchAction::OpenPage { url } => json!({"type": "open_page", "url": url}),
        wire::WebSearchAction::FindInPage { pattern, url } => {
            json!({"type": "find_in_page", "url": url, "pattern": pattern})
        }
        wire::WebSearchAction::Other => json!({"type": "other"}),
    }
}

/// Reads an item. Returns `None` if its type is unknown or it lacks a required member.
pub(crate) fn read(value: &Value) -> Option<ThreadItem> {
    let id = text(value, "id")?;
    if let Some(item) = value.get("message_item") {
        return serde_json::from_value(item.clone()).ok();
    }
    Some(match value.get("type")?.as_str()? {
        "UserMessage" => ThreadItem::UserMessage(wire::UserMessageItem {
            id,
            client_id: text(value, "client_id"),
            content: list(value, "content").iter().filter_map(read_input).collect(),
            ..Default::default()
        }),
        "AgentMessage" => ThreadItem::AgentMessage(wire::AgentMessageItem {
            id,
            text: list(value, "content").iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            phase: known(value, "phase"),
            memory_citation: camelled(value, "memory_citation"),
            delivery: known(value, "delivery"),
            questions: camelled(value, "questions"),
            moderation: camelled(value, "moderation"),
            ..Default::default()
        }),
        "Reasoning" => ThreadItem::Reasoning(wire::ReasoningItem {
            id,
            summary: texts(value, "summary_text"),
            content: texts(value, "raw_content"),
            ..Default::default()
        }),
        "Plan" => ThreadItem::Plan(wire::PlanItem { id, text: text(value, "text")?, ..Default::default() }),
        "CommandExecution" => ThreadItem::CommandExecution(read_command(id, value)),
        "FileChange" => ThreadItem::FileChange(wire::FileChangeItem {
            id,
            changes: match value.get("change_list") {
                Some(changes) => serde_json::from_value(changes.clone()).ok()?,
                None => read_changes(value.get("changes")?),
            },
            // Only completed items are stored, so `Completed` is the default.
            status: camel_word(value, "status").unwrap_or(wire::PatchApplyStatus::Completed),
            ..Default::default()
        }),
        "McpToolCall" => ThreadItem::from(wire::McpToolCallItem {
            id,
            server: text(value, "server").unwrap_or_default(),
            tool: text(value, "tool")?,
            arguments: value.get("arguments").cloned().unwrap_or_default(),
            status: camel_word(value, "status").unwrap_or(wire::McpToolCallStatus::Completed),
            result: value.get("result").filter(|result| !result.is_null()).map(read_mcp_result),
            error: value.get("error").and_then(|error| {
                let message = text(error, "message").or_else(|| error.as_str().map(str::to_owned))?;
                Some(wire::McpToolCallError { message })
            }),
            duration_ms: value.get("duration").and_then(milliseconds),
            mcp_app_resource_uri: text(value, "mcp_app_resource_uri"),
            plugin_id: text(value, "plugin_id"),
            read_only_hint: value.get("read_only_hint").and_then(Value::as_bool),
            app_context: camelled(value, "app_context"),
            mcp_app_ui: camelled(value, "mcp_app_ui"),
            ..Default::default()
        }),
        "DynamicToolCall" => ThreadItem::DynamicToolCall(wire::DynamicToolCallItem {
            id,
            namespace: text(value, "namespace"),
            tool: text(value, "tool")?,
            arguments: value.get("arguments").cloned().unwrap_or_default(),
            status: camel_word(value, "status").unwrap_or(wire::DynamicToolCallStatus::Completed),
            content_items: value.get("content_items").and_then(|items| serde_json::from_value(items.clone()).ok()),
            success: value.get("success").and_then(Value::as_bool),
            duration_ms: value.get("duration").and_then(milliseconds),
            ..Default::default()
        }),
        "CollabAgentToolCall" => ThreadItem::CollabAgentToolCall(read_agent_call(id, value)?),
        "SubAgentActivity" => ThreadItem::SubAgentActivity(read_activity(id, value)?),
        "WebSearch" => ThreadItem::WebSearch(wire::WebSearchItem {
            id,
            query: text(value, "query").unwrap_or_default(),
            action: match value.get("no_action") {
                Some(_) => None,
                None => value.get("action").and_then(read_action),
            },
            results: value.get("results").and_then(Value::as_array).cloned(),
            ..Default::default()
        }),
        "ImageView" => ThreadItem::ImageView(wire::ImageViewItem {
            id,
            path: path_of(&text(value, "path")?),
            ..Default::default()
        }),
        "EnteredReviewMode" => ThreadItem::EnteredReviewMode(wire::EnteredReviewModeItem {
            id,
            review: read_target(value),
            ..Default::default()
        }),
        "ExitedReviewMode" => ThreadItem::ExitedReviewMode(wire::ExitedReviewModeItem {
            id,
            review: read_review(value),
            ..Default::default()
        }),
        "ContextCompaction" => ThreadItem::ContextCompaction(wire::ContextCompactionItem { id, ..Default::default() }),
        // Items that other programs have added are accepted if they have the shape that the protocol defines.
        kind => {
            let mut item = renamed(value, camel);
            *item.get_mut("type")? = camel(kind).into();
            serde_json::from_value(item).ok()?
        }
    })
}

fn read_input(value: &Value) -> Option<UserInput> {
    Some(match value.get("type")?.as_str()? {
        "text" => UserInput::Text {
            text: text(value, "text")?,
            text_elements: camelled(value, "text_elements").unwrap_or_default(),
        },
        "image" => UserInput::Image { source: read_source(value, "image_url")?, detail: known(value, "detail") },
        "local_image" => UserInput::LocalImage { path: path_of(&text(value, "path")?), detail: known(value, "detail") },
        "audio" => UserInput::Audio { source: read_source(value, "audio_url")? },
        "local_audio" => UserInput::LocalAudio { path: path_of(&text(value, "path")?) },
        "skill" => UserInput::Skill { name: text(value, "name")?, path: text(value, "path").unwrap_or_default() },
        "mention" => UserInput::Mention { name: text(value, "name")?, path: text(value, "path").unwrap_or_default() },
        _ => return None,
    })
}

/// Reads a command from an item, or from the short event for it.
pub(crate) fn read_command(id: String, value: &Value) -> wire::CommandExecutionItem {
    let exit_code = value.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    wire::CommandExecutionItem {
        id,
        command: text(value, "command_line").unwrap_or_else(|| line_of(&texts(value, "command"))),
        command_actions: list(value, "parsed_cmd").iter().filter_map(read_command_action).collect(),
        cwd: path_of(&text(value, "cwd").unwrap_or_default()),
        status: camel_word(value, "status").unwrap_or(match exit_code {
            Some(0) => wire::CommandExecutionStatus::Completed,
            _ => wire::CommandExecutionStatus::Failed,
        }),
        aggregated_output: text(value, "aggregated_output").filter(|output| !output.is_empty()),
        duration_ms: value.get("duration").and_then(milliseconds),
        exit_code,
        plugin_id: text(value, "plugin_id"),
        process_id: text(value, "process_id"),
        script_path: text(value, "script_path"),
        source: camel_word(value, "source").unwrap_or_default(),
        ..Default::default()
    }
}

fn read_command_action(value: &Value) -> Option<wire::CommandAction> {
    let command = text(value, "cmd").unwrap_or_default();
    Some(match value.get("type")?.as_str()? {
        "read" => wire::CommandAction::Read {
            command,
            name: text(value, "name").unwrap_or_default(),
            path: path_of(&text(value, "path").unwrap_or_default()),
        },
        "list_files" => wire::CommandAction::ListFiles { command, path: text(value, "path") },
        "search" => wire::CommandAction::Search { command, path: text(value, "path"), query: text(value, "query") },
        _ => wire::CommandAction::Unknown { command },
    })
}

pub(crate) fn read_changes(value: &Value) -> Vec<wire::FileUpdateChange> {
    let Some(changes) = value.as_object() else { return Vec::new() };
    changes
        .iter()
        .filter_map(|(path, change)| {
            let content = || text(change, "content").unwrap_or_default();
            let (kind, diff) = match change.get("type")?.as_str()? {
                "add" => (wire::PatchChangeKind::Add, content()),
                "delete" => (wire::PatchChangeKind::Delete, content()),
                "update" => (
                    wire::PatchChangeKind::Update { move_path: text(change, "move_path").map(|path| path_of(&path)) },
                    text(change, "unified_diff").unwrap_or_default(),
                ),
                _ => return None,
            };
            Some(wire::FileUpdateChange { diff, kind, path: path_of(path) })
        })
        .collect()
}

/// Reads the result of an MCP tool.
pub(crate) fn read_mcp_result(value: &Value) -> wire::McpToolCallResult {
    serde_json::from_value(value.clone())
        .unwrap_or_else(|_| wire::McpToolCallResult { content: vec![value.clone()], ..Default::default() })
}

fn read_agent_call(id: String, value: &Value) -> Option<wire::CollabAgentToolCallItem> {
    let states = value.get("agents_states").and_then(Value::as_object);
    Some(wire::CollabAgentToolCallItem {
        id,
        agents_states: states
            .into_iter()
            .flatten()
            .filter_map(|(thread, state)| {
                let status = camel_word(state, "status")?;
                Some((thread.clone(), wire::CollabAgentState { status, message: text(state, "message") }))
            })
            .collect(),
        receiver_thread_ids: texts(value, "receiver_thread_ids"),
        sender_thread_id: text(value, "sender_thread_id").unwrap_or_default(),
        status: camel_word(value, "status").unwrap_or(wire::CollabAgentToolCallStatus::Completed),
        tool: camel_word(value, "tool")?,
        started_at_ms: None,
        completed_at_ms: None,
        model: text(value, "model"),
        prompt: text(value, "prompt"),
        reasoning_effort: text(value, "reasoning_effort"),
    })
}

/// Reads an activity of another agent from an item, or from the short event for it.
pub(crate) fn read_activity(id: String, value: &Value) -> Option<wire::SubAgentActivityItem> {
    Some(wire::SubAgentActivityItem {
        id,
        agent_path: text(value, "agent_path").unwrap_or_default(),
        agent_thread_id: text(value, "agent_thread_id")?,
        kind: camel_word(value, "kind")?,
        started_at_ms: None,
        completed_at_ms: None,
        model: text(value, "model"),
        reasoning_effort: text(value, "reasoning_effort"),
    })
}

/// Reads the action of a web search.
pub(crate) fn read_action(value: &Value) -> Option<wire::WebSearchAction> {
    Some(match value.get("type")?.as_str()? {
        "search" => wire::WebSearchAction::Search {
            query: text(value, "query"),
            queries: value.get("queries").filter(|queries| queries.is_array()).map(|_| texts(value, "queries")),
        },
        "open_page" => wire::WebSearchAction::OpenPage { url: text(value, "url") },
        "find_in_page" => {
            wire::WebSearchAction::FindInPage { pattern: text(value, "pattern"), url: text(value, "url") }
        }
        _ => wire::WebSearchAction::Other,
    })
}

/// Reads the target of a review from an item, or from the short event for it.
pub(crate) fn read_target(value: &Value) -> String {
    let target = value.get("target");
    text(value, "user_facing_hint")
        .or_else(|| target.and_then(|target| text(target, "instructions")))
        .unwrap_or_default()
}

/// Reads the text of a review from an item, or from the short event for it.
pub(crate) fn read_review(value: &Value) -> String {
    let output = value.get("review_output");
    text(value, "review").or_else(|| output.and_then(|output| text(output, "overall_explanation"))).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    list(value, name).iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn known<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(value.get(name)?.clone()).ok()
}

fn camel_word<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(camel(value.get(name)?.as_str()?).into()).ok()
}

fn camelled<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Option<T> {
    serde_json::from_value(renamed(value.get(name)?, camel)).ok()
}

fn snaked(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).map(|value| renamed(&value, snake)).unwrap_or_default()
}

/// Returns the serialized variant of an enum without data.
fn word(value: &Option<impl serde::Serialize>) -> Option<String> {
    Some(serde_json::to_value(value.as_ref()?).ok()?.as_str()?.to_owned())
}
