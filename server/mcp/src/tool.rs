//! The tools of one server, as one namespace.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trace_runtime::Settings;
use trace_runtime::tool::{CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolOutcome};

use crate::call;
use crate::connection::OfferedTool;
use crate::outcome::describe;
use crate::server_slot::{ServerSlot, TreeServers};

/// Most bytes of a server's instructions for models.
pub const MAX_INSTRUCTIONS_BYTES: usize = 8 * 1024;

/// Most bytes of the description of a tool.
pub const MAX_DESCRIPTION_BYTES: usize = 8 * 1024;

/// A tool of a server.
pub(crate) struct ServerTool {
    /// Keeps the servers alive.
    pub(crate) set: Arc<TreeServers>,
    pub(crate) slot: Arc<ServerSlot>,
}

impl Tool for ServerTool {
    fn specification(&self, _settings: &Settings) -> Option<Value> {
        // A server that has ended is started again by the next call, so its tools stay on offer.
        let connection = self.slot.offered()?;
        let tools = connection.tools();
        if tools.is_empty() {
            return None;
        }
        let description = match connection.instructions() {
            Some(instructions) => cut(instructions, MAX_INSTRUCTIONS_BYTES),
            None => format!("Tools of the MCP server {}.", self.slot.config.name),
        };
        Some(json!({
            "type": "namespace",
            "name": self.slot.namespace,
            "description": description,
            "tools": tools.iter().map(specification).collect::<Vec<_>>(),
        }))
    }

    fn ready(&self) -> Option<BoxFuture<'static, ()>> {
        let slot = Arc::clone(&self.slot);
        self.slot.is_starting().then(|| slot_settled(slot).boxed())
    }

    fn is_called(&self, namespace: Option<&str>, _name: &str) -> bool {
        namespace == Some(&self.slot.namespace)
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe(call)
    }

    /// Calls may run in parallel only if the tool is marked as read-only.
    fn order(&self, call: &ToolCall) -> CallOrder {
        if self.slot.config.supports_parallel_tool_calls {
            return CallOrder::Independent;
        }
        let resource = Resource::Server(self.slot.namespace.clone());
        let only_reads = |tool: &OfferedTool| {
            let hints = tool.remote.annotations.as_ref();
            tool.name == call.name && hints.and_then(|hints| hints.read_only_hint) == Some(true)
        };
        let reads = self.slot.offered().is_some_and(|connection| connection.tools().iter().any(only_reads));
        if reads { CallOrder::Reads(resource) } else { CallOrder::Changes(resource) }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        // The call keeps the servers alive.
        let (set, slot) = (Arc::clone(&self.set), Arc::clone(&self.slot));
        async move {
            let outcome = call::call(&slot, &context, call).await;
            drop(set);
            outcome
        }
        .boxed()
    }
}

async fn slot_settled(slot: Arc<ServerSlot>) {
    slot.settled().await;
}

fn specification(tool: &OfferedTool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": cut(tool.remote.description.as_deref().unwrap_or_default(), MAX_DESCRIPTION_BYTES),
        "strict": false,
        "parameters": tool.parameters,
    })
}

/// Returns the beginning of a text, followed by the number of bytes that are left out.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}[... {} bytes left out ...]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_say_how_much_is_missing() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("aéc", 2), "a[... 3 bytes left out ...]");
    }

    #[test]
    fn a_tool_is_offered_with_its_name_here() {
        let remote =
            serde_json::from_value(json!({ "name": "a-b", "inputSchema": { "required": [] } })).expect("a tool");
        let parameters = json!({ "type": "object" });
        let shown = specification(&OfferedTool { name: "a_b".to_owned(), remote, parameters: parameters.clone() });
        let expected =
            json!({ "type": "function", "name": "a_b", "description": "", "strict": false, "parameters": parameters });
        assert_eq!(shown, expected);
    }
}
