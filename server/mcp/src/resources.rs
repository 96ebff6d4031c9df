//! The tools with which models list and read the resources of all servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use trace_recorder::format::{ExecutionStatus, ToolKind};
use trace_recorder::write::Json;
use trace_runtime::item::{ItemKind, WorkStatus};
use trace_runtime::tool::{AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};
use trace_runtime::{Item, Settings};

use crate::connection::{Connection, all};
use crate::failure::shown;
use crate::outcome::{describe, failed};
use crate::output;
use crate::server_slot::{ServerSlot, TreeServers};

/// The server name under which calls to all servers are shown.
const EVERY_SERVER: &str = "trace";

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    List,
    ListTemplates,
    Read,
}

pub(crate) const ALL: [Operation; 3] = [Operation::List, Operation::ListTemplates, Operation::Read];

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::List => "list_mcp_resources",
            Self::ListTemplates => "list_mcp_resource_templates",
            Self::Read => "read_mcp_resource",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::List => "Lists what MCP servers have to read: files, schemas, documents.",
            Self::ListTemplates => "Lists patterns of addresses of what MCP servers have to read.",
            Self::Read => "Reads something that an MCP server has, by its address.",
        }
    }
}

/// A tool for resources.
pub(crate) struct ResourceTool {
    pub(crate) set: Arc<TreeServers>,
    pub(crate) operation: Operation,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    server: Option<String>,
    cursor: Option<String>,
    uri: Option<String>,
}

impl Tool for ResourceTool {
    fn specification(&self, _settings: &Settings) -> Option<Value> {
        let has_resources =
            |slot: &Arc<ServerSlot>| slot.offered().is_some_and(|connection| connection.has_resources());
        if !self.set.slots.iter().any(has_resources) {
            return None;
        }
        let text = |description: &str| json!({ "type": "string", "description": description });
        let (properties, required) = match self.operation {
            Operation::List | Operation::ListTemplates => {
                let server = text("Name of the server; all if it is left out.");
                let cursor = text("Where to go on, as the call before said; it needs the server.");
                (json!({ "server": server, "cursor": cursor }), json!([]))
            }
            Operation::Read => {
                let uri = text("The address, as it is listed.");
                (json!({ "server": text("Name of the server."), "uri": uri }), json!(["server", "uri"]))
            }
        };
        Some(json!({
            "type": "function",
            "name": self.operation.name(),
            "description": self.operation.description(),
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == self.operation.name()
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe(call)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let (set, operation) = (Arc::clone(&self.set), self.operation);
        async move { run(&set, operation, &context, &call).await }.boxed()
    }
}

async fn run(set: &TreeServers, operation: Operation, context: &ToolContext, call: &ToolCall) -> ToolOutcome {
    let (arguments, shown) = match read(operation, call) {
        Ok(arguments) => arguments,
        Err(why) => return failed(why),
    };
    let slots: Vec<&Arc<ServerSlot>> = match &arguments.server {
        None => set.slots.iter().collect(),
        Some(name) => set.slots.iter().filter(|slot| slot.config.name == *name).collect(),
    };
    if let (Some(name), true) = (&arguments.server, slots.is_empty()) {
        let known: Vec<_> = set.slots.iter().map(|slot| slot.config.name.as_str()).collect();
        return failed(format!("there is no MCP server `{name}`; there are: {}", known.join(", ")));
    }
    let begun = Instant::now();
    let server = arguments.server.clone().unwrap_or_else(|| EVERY_SERVER.to_owned());
    let item = |result, error, status: WorkStatus| ItemKind::McpCall {
        server: server.clone(),
        tool: operation.name().to_owned(),
        arguments: shown.clone(),
        read_only: Some(true),
        result,
        error,
        status,
        duration_ms: (status != WorkStatus::InProgress)
            .then(|| u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)),
    };
    let open = context
        .agent
        .start_item(&context.turn, Item { id: call.id.clone(), kind: item(None, None, WorkStatus::InProgress) });
    let invocation = json!({ "server": server, "tool": operation.name(), "arguments": shown });
    let report =
        json!({ "call_id": call.id, "turn_id": context.turn, "invocation": invocation, "read_only_hint": true });
    let kind = ToolKind::Mcp { server: server.as_str().into(), tool: operation.name().into() };
    context.trace.start_runtime(kind, Json(&report));
    let answer = tokio::select! {
        biased;
        () = context.cancelled.cancelled() => Err((WorkStatus::Interrupted, "aborted by the user".to_owned())),
        answer = answer(operation, &slots, &arguments) => answer.map_err(|why| (WorkStatus::Failed, why)),
    };
    match answer {
        Ok(answer) => {
            let text = answer.to_string();
            let output = output::bounded(&text);
            let result = json!({ "content": [{ "type": "text", "text": text }] });
            context.trace.end_runtime(ExecutionStatus::Completed, Json(&json!({ "result": { "Ok": result } })));
            open.complete(item(Some(result), None, WorkStatus::Completed));
            ToolOutcome { output: Value::String(output), success: true, then: AfterCall::Continue }
        }
        Err((status, why)) => {
            let recorded = match status {
                WorkStatus::Interrupted => ExecutionStatus::Cancelled,
                _ => ExecutionStatus::Failed,
            };
            context.trace.end_runtime(recorded, Json(&json!({ "result": { "Err": why } })));
            open.complete(item(None, Some(why.clone()), status));
            failed(why)
        }
    }
}

fn read(operation: Operation, call: &ToolCall) -> Result<(Arguments, Value), String> {
    let text = match &call.input {
        ToolInput::Arguments(text) if text.trim().is_empty() => "{}",
        ToolInput::Arguments(text) => text,
        ToolInput::Text(_) => return Err(format!("{} takes JSON arguments", call.name)),
    };
    let parsed = |error: serde_json::Error| format!("failed to parse function arguments: {error}");
    let shown: Value = serde_json::from_str(text).map_err(parsed)?;
    let arguments = Arguments::deserialize(&shown).map_err(parsed)?;
    match operation {
        Operation::Read if arguments.server.is_none() || arguments.uri.is_none() => {
            Err(format!("{} needs `server` and `uri`", operation.name()))
        }
        Operation::List | Operation::ListTemplates if arguments.cursor.is_some() && arguments.server.is_none() => {
            Err("a `cursor` belongs to one server: name it".to_owned())
        }
        _ => Ok((arguments, shown)),
    }
}

/// Returns the output for the model, or an error message.
async fn answer(operation: Operation, slots: &[&Arc<ServerSlot>], arguments: &Arguments) -> Result<Value, String> {
    let member = if operation == Operation::List { "resources" } else { "resourceTemplates" };
    let Some(server) = &arguments.server else {
        return Ok(json!({ member: of_all(operation, slots).await }));
    };
    let slot = slots.first().ok_or_else(|| format!("there is no MCP server `{server}`"))?;
    let connection = slot.available().await?;
    let time_limit = slot.config.tool_timeout;
    let asked = async {
        let failed = |error| shown(&error);
        match operation {
            Operation::Read => {
                let uri = arguments.uri.as_deref().unwrap_or_default();
                let contents = connection.read_resource(uri).await.map_err(failed)?;
                Ok(json!({ "server": server, "uri": uri, "contents": contents }))
            }
            Operation::List | Operation::ListTemplates => {
                let (items, next) = page(operation, &connection, arguments.cursor.clone()).await?;
                let mut answer = json!({ "server": server, member: marked(server, items) });
                if let Some(next) = next {
                    answer["nextCursor"] = json!(next);
                }
                Ok(answer)
            }
        }
    };
    timeout(time_limit, asked).await.unwrap_or_else(|_| {
        Err(format!("the MCP server {server} did not answer within {} s", time_limit.as_secs_f64()))
    })
}

async fn page(
    operation: Operation,
    connection: &Connection,
    cursor: Option<String>,
) -> Result<(Vec<Value>, Option<String>), String> {
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    match operation {
        Operation::ListTemplates => {
            let (items, next) = connection.templates_page(cursor).await.map_err(|error| shown(&error))?;
            Ok((items.iter().map(|item| json(serde_json::to_value(item))).collect(), next))
        }
        Operation::List | Operation::Read => {
            let (items, next) = connection.resources_page(cursor).await.map_err(|error| shown(&error))?;
            Ok((items.iter().map(|item| json(serde_json::to_value(item))).collect(), next))
        }
    }
}

/// Returns the entries of all servers. A server that does not answer is treated as empty.
async fn of_all(operation: Operation, slots: &[&Arc<ServerSlot>]) -> Vec<Value> {
    let mut found = BTreeMap::new();
    for slot in slots {
        let Ok(connection) = slot.connection() else { continue };
        if !connection.has_resources() {
            continue;
        }
        let asked = async {
            let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
            match operation {
                Operation::ListTemplates => {
                    let items = all(|cursor| connection.templates_page(cursor)).await;
                    items.map(|items| items.iter().map(|item| json(serde_json::to_value(item))).collect::<Vec<_>>())
                }
                Operation::List | Operation::Read => {
                    let items = all(|cursor| connection.resources_page(cursor)).await;
                    items.map(|items| items.iter().map(|item| json(serde_json::to_value(item))).collect::<Vec<_>>())
                }
            }
        };
        match timeout(slot.config.tool_timeout, asked).await {
            Ok(Ok(items)) => {
                found.insert(slot.config.name.clone(), items);
            }
            Ok(Err(error)) => {
                tracing::warn!(server = %slot.config.name, error = %shown(&error), "no list of resources");
            }
            Err(_) => tracing::warn!(server = %slot.config.name, "no list of resources: no answer"),
        }
    }
    found.into_iter().flat_map(|(server, items)| marked(&server, items)).collect()
}

/// Adds the name of the server to each entry.
fn marked(server: &str, items: Vec<Value>) -> Vec<Value> {
    let mark = |mut item: Value| {
        if let Some(members) = item.as_object_mut() {
            members.insert("server".to_owned(), json!(server));
        }
        item
    };
    items.into_iter().map(mark).collect()
}
