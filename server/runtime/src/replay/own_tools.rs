//! The tools that every session has, for comparing the tools of requests.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::tool::Tool;

/// The tools that every session has. Other tools come from its client, its goal or its MCP servers; a replay does not
/// have them, and answers their calls from the recording.
pub(super) struct OwnTools(Vec<Arc<dyn Tool>>);

impl fmt::Debug for OwnTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OwnTools").field(&self.0.len()).finish()
    }
}

impl OwnTools {
    pub(super) fn new(all: &[Arc<dyn Tool>]) -> Self {
        Self(all.to_vec())
    }

    /// Returns whether a tool specification of a request belongs to one of these tools. Tools that the provider runs count
    /// too.
    pub(super) fn has(&self, offer: &Value) -> bool {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_called = |namespace: Option<&str>, tool: &Value| {
            text(tool, "name").is_some_and(|name| self.0.iter().any(|own| own.is_called(namespace, &name)))
        };
        match (offer.get("tools").and_then(Value::as_array), offer.get("type").and_then(Value::as_str)) {
            (Some(tools), _) => tools.iter().any(|tool| is_called(text(offer, "name").as_deref(), tool)),
            (None, Some("function" | "custom")) => is_called(None, offer),
            (None, _) => true,
        }
    }
}
