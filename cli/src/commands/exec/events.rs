//! The events of `trace exec`, and how notifications of the protocol become events.
//!
//! They are those of `codex exec --json`, which the TypeScript SDK of the Codex CLI reads. docs/exec.md has the table.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Value, json};
use trace_protocol::ServerNotification;
use trace_protocol::item::{
    CollabAgentStatus, CollabAgentTool, CollabAgentToolCallItem, CollabAgentToolCallStatus, CommandExecutionItem,
    CommandExecutionStatus, FileChangeItem, McpToolCallItem, McpToolCallStatus, PatchApplyStatus, PatchChangeKind,
    SubAgentActivityItem, SubAgentActivityKind, ThreadItem, WebSearchAction, WebSearchItem,
};
use trace_protocol::thread::TokenUsageBreakdown;
use trace_protocol::turn::{Turn, TurnPlanStep, TurnPlanStepStatus, TurnStatus};

/// The status of an item that has started.
const IN_PROGRESS: &str = "in_progress";

/// An event: one line of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
pub(super) enum ExecEvent {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "turn.started")]
    TurnStarted {},
    #[serde(rename = "item.started")]
    ItemStarted { item: ExecItem },
    #[serde(rename = "item.updated")]
    ItemUpdated { item: ExecItem },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: ExecItem },
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Usage },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Message },
    #[serde(rename = "error")]
    Error { message: String },
}

/// A text for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Message {
    message: String,
}

/// Tokens of a thread, those of earlier processes included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Usage {
    input_tokens: i64,
    cached_input_tokens: i64,
    cache_write_input_tokens: i64,
    output_tokens: i64,
    reasoning_output_tokens: i64,
}

impl From<&TokenUsageBreakdown> for Usage {
    fn from(tokens: &TokenUsageBreakdown) -> Self {
        Self {
            input_tokens: tokens.input_tokens,
            cached_input_tokens: tokens.cached_input_tokens,
            cache_write_input_tokens: tokens.cache_write_input_tokens,
            output_tokens: tokens.output_tokens,
            reasoning_output_tokens: tokens.reasoning_output_tokens,
        }
    }
}

/// An item: something that the agent did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ExecItem {
    /// Its number in this process.
    id: String,
    #[serde(flatten)]
    details: Details,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Details {
    AgentMessage {
        text: String,
    },
    Reasoning {
        text: String,
    },
    CommandExecution {
        command: String,
        aggregated_output: String,
        exit_code: Option<i32>,
        status: &'static str,
    },
    FileChange {
        changes: Vec<ChangedFile>,
        status: &'static str,
    },
    McpToolCall {
        server: String,
        tool: String,
        arguments: Value,
        result: Option<McpResult>,
        error: Option<Message>,
        status: &'static str,
    },
    WebSearch {
        query: String,
        action: Value,
    },
    TodoList {
        items: Vec<Todo>,
    },
    CollabToolCall {
        tool: &'static str,
        sender_thread_id: String,
        receiver_thread_ids: Vec<String>,
        prompt: Option<String>,
        agents_states: BTreeMap<String, AgentState>,
        status: &'static str,
    },
    Error {
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ChangedFile {
    path: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct McpResult {
    content: Vec<Value>,
    structured_content: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Todo {
    text: String,
    completed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct AgentState {
    status: &'static str,
    message: Option<String>,
}

/// When an item is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// When it starts and when it completes.
    Twice,
    /// When it completes.
    Once,
}

/// Makes events of the notifications of one thread.
#[derive(Debug)]
pub(super) struct EventMapper {
    /// Whether spawned agents and messages to agents are printed.
    shows_agents: bool,
    /// Numbers of items that have started, by the ids of the protocol.
    started: HashMap<String, String>,
    next: usize,
    /// The plan, with the number of its item.
    plan: Option<ExecItem>,
    usage: Usage,
    /// The error of the turn, if it was printed.
    error: Option<String>,
}

impl EventMapper {
    /// Returns a mapper. `shows_agents` adds events for agents that are spawned, told something or interrupted.
    pub(super) fn new(shows_agents: bool) -> Self {
        Self { shows_agents, started: HashMap::new(), next: 0, plan: None, usage: Usage::default(), error: None }
    }

    /// Returns the events of a notification, in their order.
    pub(super) fn events(&mut self, notification: &ServerNotification) -> Vec<ExecEvent> {
        match notification {
            ServerNotification::TurnStarted(_) => vec![ExecEvent::TurnStarted {}],
            ServerNotification::ItemStarted(started) => {
                let details = self.details(&started.thread_id, &started.item);
                let details =
                    details.filter(|(_, shown)| *shown == Shown::Twice).and_then(|(details, _)| opening(details));
                let item = details.map(|details| self.item(started.item.id(), details));
                item.map(|item| ExecEvent::ItemStarted { item }).into_iter().collect()
            }
            ServerNotification::ItemCompleted(completed) => {
                let id = completed.item.id();
                let item =
                    self.details(&completed.thread_id, &completed.item).map(|(details, _)| self.item(id, details));
                self.started.remove(id);
                item.map(|item| ExecEvent::ItemCompleted { item }).into_iter().collect()
            }
            ServerNotification::TurnPlanUpdated(update) => vec![self.plan(&update.plan)],
            ServerNotification::Warning(warning) => {
                let details = Details::Error { message: warning.message.clone() };
                let item = ExecItem { id: self.number(), details };
                vec![ExecEvent::ItemCompleted { item }]
            }
            ServerNotification::Error(told) => {
                let message = match (told.will_retry, &told.error.additional_details) {
                    (true, Some(details)) => format!("{} ({details})", told.error.message),
                    _ => told.error.message.clone(),
                };
                if !told.will_retry {
                    self.error = Some(message.clone());
                }
                vec![ExecEvent::Error { message }]
            }
            ServerNotification::ThreadTokenUsageUpdated(update) => {
                self.usage = Usage::from(&update.token_usage.total);
                Vec::new()
            }
            ServerNotification::TurnCompleted(ended) => self.end(&ended.turn),
            _ => Vec::new(),
        }
    }

    /// Returns the events of the end of a turn.
    fn end(&mut self, turn: &Turn) -> Vec<ExecEvent> {
        let failed = match turn.status {
            TurnStatus::Completed => None,
            TurnStatus::Failed | TurnStatus::InProgress => Some("the turn failed"),
            TurnStatus::Interrupted => Some("the turn was interrupted"),
        };
        let error = failed.map(|usual| {
            let error = turn.error.as_ref().map(|error| error.message.clone());
            error.or_else(|| self.error.clone()).unwrap_or_else(|| usual.to_owned())
        });
        let mut events = Vec::new();
        if let Some(message) = error.as_ref().filter(|_| self.error.is_none()) {
            events.push(ExecEvent::Error { message: message.clone() });
        }
        events.extend(self.plan.take().map(|item| ExecEvent::ItemCompleted { item }));
        events.push(match error {
            None => ExecEvent::TurnCompleted { usage: self.usage },
            Some(message) => ExecEvent::TurnFailed { error: Message { message } },
        });
        events
    }

    /// Takes a new plan, and returns its event.
    fn plan(&mut self, steps: &[TurnPlanStep]) -> ExecEvent {
        let todo = |step: &TurnPlanStep| Todo {
            text: step.step.clone(),
            completed: step.status == TurnPlanStepStatus::Completed,
        };
        let details = Details::TodoList { items: steps.iter().map(todo).collect() };
        match &mut self.plan {
            Some(plan) => {
                plan.details = details;
                ExecEvent::ItemUpdated { item: plan.clone() }
            }
            None => {
                let item = ExecItem { id: self.number(), details };
                self.plan = Some(item.clone());
                ExecEvent::ItemStarted { item }
            }
        }
    }

    /// Returns an item with the number that it has, or with a new one.
    fn item(&mut self, id: &str, details: Details) -> ExecItem {
        let id = match self.started.get(id) {
            Some(number) => number.clone(),
            None => {
                let number = self.number();
                self.started.insert(id.to_owned(), number.clone());
                number
            }
        };
        ExecItem { id, details }
    }

    fn number(&mut self) -> String {
        let number = format!("item_{}", self.next);
        self.next += 1;
        number
    }

    /// Returns what is printed of an item, or `None` if it has no event.
    fn details(&self, thread: &str, item: &ThreadItem) -> Option<(Details, Shown)> {
        Some(match item {
            ThreadItem::AgentMessage(item) => (Details::AgentMessage { text: item.text.clone() }, Shown::Once),
            ThreadItem::Reasoning(item) => {
                let text = item.summary.join("\n\n");
                if text.is_empty() {
                    return None;
                }
                (Details::Reasoning { text }, Shown::Once)
            }
            ThreadItem::CommandExecution(item) => (command(item), Shown::Twice),
            ThreadItem::FileChange(item) => (file_change(item), Shown::Twice),
            ThreadItem::McpToolCall(item) => (mcp_call(item), Shown::Twice),
            ThreadItem::WebSearch(item) => (web_search(item), Shown::Twice),
            ThreadItem::CollabAgentToolCall(item) if self.shows_agents || item.tool == CollabAgentTool::Wait => {
                (agent_call(item), Shown::Twice)
            }
            ThreadItem::SubAgentActivity(item) if self.shows_agents => (agent_activity(thread, item)?, Shown::Twice),
            _ => return None,
        })
    }
}

/// Returns what is printed of an item that starts. What was refused never started; its end says so.
fn opening(details: Details) -> Option<Details> {
    match details {
        Details::CommandExecution { status, .. } | Details::FileChange { status, .. } if status != IN_PROGRESS => None,
        Details::CollabToolCall { tool, sender_thread_id, receiver_thread_ids, prompt, agents_states, .. } => {
            let status = IN_PROGRESS;
            Some(Details::CollabToolCall { tool, sender_thread_id, receiver_thread_ids, prompt, agents_states, status })
        }
        details => Some(details),
    }
}

fn command(item: &CommandExecutionItem) -> Details {
    Details::CommandExecution {
        command: item.command.clone(),
        aggregated_output: item.aggregated_output.clone().unwrap_or_default(),
        exit_code: item.exit_code,
        status: match item.status {
            CommandExecutionStatus::InProgress => IN_PROGRESS,
            CommandExecutionStatus::Completed => "completed",
            CommandExecutionStatus::Failed => "failed",
            CommandExecutionStatus::Declined => "declined",
        },
    }
}

fn file_change(item: &FileChangeItem) -> Details {
    let changed = item.changes.iter().map(|change| ChangedFile {
        path: change.path.clone(),
        kind: match change.kind {
            PatchChangeKind::Add => "add",
            PatchChangeKind::Delete => "delete",
            PatchChangeKind::Update { .. } => "update",
        },
    });
    Details::FileChange {
        changes: changed.collect(),
        status: match item.status {
            PatchApplyStatus::InProgress => IN_PROGRESS,
            PatchApplyStatus::Completed => "completed",
            PatchApplyStatus::Failed | PatchApplyStatus::Declined => "failed",
        },
    }
}

fn mcp_call(item: &McpToolCallItem) -> Details {
    let result = item.result.as_ref().map(|result| McpResult {
        content: result.content.clone(),
        structured_content: result.structured_content.clone(),
    });
    Details::McpToolCall {
        server: item.server.clone(),
        tool: item.tool.clone(),
        arguments: item.arguments.clone(),
        result,
        error: item.error.as_ref().map(|error| Message { message: error.message.clone() }),
        status: match item.status {
            McpToolCallStatus::InProgress => IN_PROGRESS,
            McpToolCallStatus::Completed => "completed",
            McpToolCallStatus::Failed => "failed",
        },
    }
}

fn web_search(item: &WebSearchItem) -> Details {
    let mut action = match &item.action {
        Some(WebSearchAction::Search { query, queries }) => {
            json!({ "type": "search", "query": query, "queries": queries })
        }
        Some(WebSearchAction::OpenPage { url }) => json!({ "type": "open_page", "url": url }),
        Some(WebSearchAction::FindInPage { url, pattern }) => {
            json!({ "type": "find_in_page", "url": url, "pattern": pattern })
        }
        Some(WebSearchAction::Other) | None => json!({ "type": "other" }),
    };
    if let Value::Object(members) = &mut action {
        members.retain(|_, value| !value.is_null());
    }
    Details::WebSearch { query: item.query.clone(), action }
}

fn agent_call(item: &CollabAgentToolCallItem) -> Details {
    let states = item.agents_states.iter().map(|(thread, state)| {
        let status = match state.status {
            CollabAgentStatus::PendingInit => "pending_init",
            CollabAgentStatus::Running => "running",
            CollabAgentStatus::Interrupted => "interrupted",
            CollabAgentStatus::Completed => "completed",
            CollabAgentStatus::Errored => "errored",
            CollabAgentStatus::Shutdown => "shutdown",
            CollabAgentStatus::NotFound => "not_found",
        };
        (thread.clone(), AgentState { status, message: state.message.clone() })
    });
    Details::CollabToolCall {
        tool: match item.tool {
            CollabAgentTool::SpawnAgent => "spawn_agent",
            CollabAgentTool::SendInput => "send_input",
            CollabAgentTool::ResumeAgent => "resume_agent",
            CollabAgentTool::Wait => "wait",
            CollabAgentTool::CloseAgent => "close_agent",
            CollabAgentTool::SendMessage => "send_message",
            CollabAgentTool::FollowupTask => "followup_task",
            CollabAgentTool::InterruptAgent => "interrupt_agent",
            CollabAgentTool::ListAgents => "list_agents",
        },
        sender_thread_id: item.sender_thread_id.clone(),
        receiver_thread_ids: item.receiver_thread_ids.clone(),
        prompt: item.prompt.clone(),
        agents_states: states.collect(),
        status: match item.status {
            CollabAgentToolCallStatus::InProgress => IN_PROGRESS,
            CollabAgentToolCallStatus::Completed => "completed",
            CollabAgentToolCallStatus::Failed | CollabAgentToolCallStatus::Interrupted => "failed",
        },
    }
}

/// Returns the call that caused an activity of an agent. What an agent did by itself was not called.
fn agent_activity(thread: &str, item: &SubAgentActivityItem) -> Option<Details> {
    let (tool, status) = match item.kind {
        SubAgentActivityKind::Started => ("spawn_agent", "running"),
        SubAgentActivityKind::Interacted => ("send_input", "running"),
        SubAgentActivityKind::Interrupted => ("interrupt_agent", "interrupted"),
        SubAgentActivityKind::Completed => return None,
    };
    let state = AgentState { status, message: Some(item.agent_path.clone()) };
    Some(Details::CollabToolCall {
        tool,
        sender_thread_id: thread.to_owned(),
        receiver_thread_ids: vec![item.agent_thread_id.clone()],
        prompt: None,
        agents_states: BTreeMap::from([(item.agent_thread_id.clone(), state)]),
        status: "completed",
    })
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "values are made where they are passed")]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the events of notifications, as they are printed.
    fn events(mapper: &mut EventMapper, notifications: &[(&str, Value)]) -> Vec<Value> {
        let told = notifications.iter().flat_map(|(method, params)| {
            let params = serde_json::value::to_raw_value(params).expect("JSON");
            let notification = ServerNotification::decode(method, Some(&params)).expect("valid").expect("known");
            mapper.events(&notification)
        });
        told.map(|event| serde_json::to_value(event).expect("JSON")).collect()
    }

    fn about(mut params: Value) -> Value {
        params["threadId"] = json!("t");
        params["turnId"] = json!("u");
        params
    }

    fn started(item: Value) -> (&'static str, Value) {
        ("item/started", about(json!({ "startedAtMs": 0, "item": item })))
    }

    fn completed(item: Value) -> (&'static str, Value) {
        ("item/completed", about(json!({ "completedAtMs": 0, "item": item })))
    }

    fn ended(status: &str, error: Value) -> (&'static str, Value) {
        let turn = json!({ "id": "u", "items": [], "status": status, "error": error });
        ("turn/completed", json!({ "threadId": "t", "turn": turn }))
    }

    fn plan(statuses: &[&str]) -> (&'static str, Value) {
        let steps: Vec<_> = statuses.iter().map(|status| json!({ "step": "look", "status": status })).collect();
        ("turn/plan/updated", about(json!({ "plan": steps })))
    }

    fn command(id: &str, status: &str, exit_code: Value) -> Value {
        json!({ "type": "commandExecution", "id": id, "command": "ls", "commandActions": [], "cwd": "/", "status": status,
                "exitCode": exit_code, "aggregatedOutput": null })
    }

    #[test]
    fn commands_that_overlap_keep_their_numbers() {
        let mut mapper = EventMapper::new(false);
        let found = events(
            &mut mapper,
            &[
                started(command("a", "inProgress", json!(null))),
                started(command("b", "inProgress", json!(null))),
                completed(command("b", "failed", json!(1))),
                completed(command("a", "completed", json!(0))),
                started(command("c", "declined", json!(null))),
                completed(command("c", "declined", json!(null))),
            ],
        );
        let told: Vec<_> = found
            .iter()
            .map(|event| (event["type"].as_str(), event["item"]["id"].as_str(), event["item"]["status"].as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (Some("item.started"), Some("item_0"), Some("in_progress")),
                (Some("item.started"), Some("item_1"), Some("in_progress")),
                (Some("item.completed"), Some("item_1"), Some("failed")),
                (Some("item.completed"), Some("item_0"), Some("completed")),
                (Some("item.completed"), Some("item_2"), Some("declined")),
            ]
        );
        assert_eq!(
            found[3]["item"],
            json!({ "id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": "", "exit_code": 0,
                    "status": "completed" })
        );
    }

    #[test]
    fn messages_and_reasoning_are_told_when_they_are_complete() {
        let mut mapper = EventMapper::new(false);
        let message = json!({ "type": "agentMessage", "id": "m", "text": "hello" });
        let reasoning = |summary: Value| json!({ "type": "reasoning", "id": "r", "summary": summary, "content": [] });
        let found = events(
            &mut mapper,
            &[
                started(reasoning(json!([]))),
                completed(reasoning(json!(["one", "two"]))),
                completed(reasoning(json!([]))),
                started(message.clone()),
                completed(message),
                completed(json!({ "type": "userMessage", "id": "x", "content": [] })),
            ],
        );
        assert_eq!(
            found,
            [
                json!({ "type": "item.completed", "item": { "id": "item_0", "type": "reasoning", "text": "one\n\ntwo" } }),
                json!({ "type": "item.completed", "item": { "id": "item_1", "type": "agent_message", "text": "hello" } }),
            ]
        );
    }

    #[test]
    fn a_plan_is_one_item_that_completes_with_the_turn() {
        for (status, last) in [("completed", "turn.completed"), ("interrupted", "turn.failed")] {
            let mut mapper = EventMapper::new(false);
            let found = events(
                &mut mapper,
                &[plan(&["inProgress"]), plan(&["completed", "pending"]), ended(status, json!(null))],
            );
            let kinds: Vec<_> = found.iter().map(|event| event["type"].as_str().expect("a type")).collect();
            let kinds: Vec<_> = kinds.into_iter().filter(|kind| *kind != "error").collect();
            assert_eq!(kinds, ["item.started", "item.updated", "item.completed", last]);
            let items = json!([{ "text": "look", "completed": true }, { "text": "look", "completed": false }]);
            let of_item = found.iter().rfind(|event| event["type"] == "item.completed").expect("it completes");
            assert_eq!(of_item["item"], json!({ "id": "item_0", "type": "todo_list", "items": items }));
        }
    }

    #[test]
    fn an_error_is_told_once_before_the_turn_fails() {
        let error = |message: &str, details: Value, will_retry: bool| {
            let error = json!({ "message": message, "additionalDetails": details });
            ("error", about(json!({ "error": error, "willRetry": will_retry })))
        };
        let failed = ended("failed", json!({ "message": "down" }));
        let mut mapper = EventMapper::new(false);
        let found = events(
            &mut mapper,
            &[
                error("Reconnecting... 1/2", json!("busy"), true),
                error("down", json!("HTTP 500"), false),
                failed.clone(),
            ],
        );
        assert_eq!(
            found,
            [
                json!({ "type": "error", "message": "Reconnecting... 1/2 (busy)" }),
                json!({ "type": "error", "message": "down" }),
                json!({ "type": "turn.failed", "error": { "message": "down" } }),
            ]
        );
        let alone = events(&mut EventMapper::new(false), &[failed]);
        assert_eq!(alone, found[1..]);
        let interrupted = events(&mut EventMapper::new(false), &[ended("interrupted", json!(null))]);
        assert_eq!(
            interrupted[1],
            json!({ "type": "turn.failed", "error": { "message": "the turn was interrupted" } })
        );
    }

    #[test]
    fn the_usage_is_that_of_the_thread() {
        let breakdown = |input: i64| {
            json!({ "inputTokens": input, "cachedInputTokens": 2, "cacheWriteInputTokens": 3, "outputTokens": 4,
                    "reasoningOutputTokens": 5, "totalTokens": 6 })
        };
        let usage = json!({ "last": breakdown(10), "total": breakdown(100), "modelContextWindow": null });
        let update = ("thread/tokenUsage/updated", about(json!({ "tokenUsage": usage })));
        let found = events(&mut EventMapper::new(false), &[update, ended("completed", json!(null))]);
        let usage = json!({ "input_tokens": 100, "cached_input_tokens": 2, "cache_write_input_tokens": 3,
                            "output_tokens": 4, "reasoning_output_tokens": 5 });
        assert_eq!(found, [json!({ "type": "turn.completed", "usage": usage })]);
    }

    #[test]
    fn actions_of_a_web_search_have_the_words_of_the_provider() {
        for (action, shown) in [
            (
                json!({ "type": "search", "query": "a", "queries": ["a", "b"] }),
                json!({ "type": "search", "query": "a", "queries": ["a", "b"] }),
            ),
            (json!({ "type": "openPage", "url": "u" }), json!({ "type": "open_page", "url": "u" })),
            (
                json!({ "type": "findInPage", "url": null, "pattern": "p" }),
                json!({ "type": "find_in_page", "pattern": "p" }),
            ),
            (json!(null), json!({ "type": "other" })),
        ] {
            let item = json!({ "type": "webSearch", "id": "w", "query": "a", "action": action });
            let found = events(&mut EventMapper::new(false), &[started(item)]);
            assert_eq!(
                found[0]["item"],
                json!({ "id": "item_0", "type": "web_search", "query": "a", "action": shown })
            );
        }
    }

    #[test]
    fn agents_are_told_of_on_request() {
        let call = |tool: &str| {
            json!({ "type": "collabAgentToolCall", "id": tool, "agentsStates": {}, "receiverThreadIds": [],
                    "senderThreadId": "t", "status": "completed", "tool": tool })
        };
        let activity = |kind: &str| json!({ "type": "subAgentActivity", "id": kind, "agentPath": "/root/kid", "agentThreadId": "k", "kind": kind });
        let told = [
            completed(activity("started")),
            completed(call("wait")),
            completed(call("closeAgent")),
            completed(activity("interacted")),
            completed(activity("interrupted")),
            completed(activity("completed")),
        ];
        let tools = |shows_agents| -> Vec<String> {
            let found = events(&mut EventMapper::new(shows_agents), &told);
            found.iter().map(|event| event["item"]["tool"].as_str().expect("a tool").to_owned()).collect()
        };
        assert_eq!(tools(false), ["wait"]);
        assert_eq!(tools(true), ["spawn_agent", "wait", "close_agent", "send_input", "interrupt_agent"]);
        let found = events(&mut EventMapper::new(true), &told[..1]);
        assert_eq!(
            found[0]["item"],
            json!({ "id": "item_0", "type": "collab_tool_call", "tool": "spawn_agent", "sender_thread_id": "t",
                    "receiver_thread_ids": ["k"], "prompt": null, "status": "completed",
                    "agents_states": { "k": { "status": "running", "message": "/root/kid" } } })
        );
    }
}
