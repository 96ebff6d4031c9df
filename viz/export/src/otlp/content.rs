//! The content of messages and tool calls, for users who ask for it.
//!
//! The conventions leave content out by default: it is the private part of a session, and most of its bytes.

use std::collections::HashMap;

use serde_json::{Value, json};
use trace_explain::label::tool_name;
use trace_reducer::model::{ConversationItem, InferenceCall, ItemIdx, ItemKind, Part, ToolCall, ToolIdx, Trace};

/// Whether content is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// Only names, ids, times, counts, and the messages of errors.
    #[default]
    LeftOut,
    /// Also messages, and the arguments and results of tools.
    Included,
}

/// Most bytes of one attribute with content. Of the messages to a model the last ones are kept. A longer text is
/// truncated.
pub const MAX_CONTENT_BYTES: usize = 32 << 10;
/// Most characters of one text in such an attribute.
const MAX_TEXT_CHARS: usize = 4096;

/// Finds the content of calls.
#[derive(Debug)]
pub(super) struct Contents<'t> {
    trace: &'t Trace,
    /// Tool calls by the items that made them.
    callers: HashMap<ItemIdx, ToolIdx>,
}

impl<'t> Contents<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let calls = trace.tools.iter().flat_map(|(tool, call)| call.call_items.iter().map(move |item| (*item, tool)));
        Self { trace, callers: calls.collect() }
    }

    /// Returns the messages that a model was given.
    pub(super) fn input(&self, call: &InferenceCall) -> Option<String> {
        self.messages(self.trace.lists.get(call.request_items))
    }

    /// Returns the messages that a model answered.
    pub(super) fn output(&self, call: &InferenceCall) -> Option<String> {
        self.messages(&call.response_items)
    }

    /// Returns the arguments of a tool call.
    pub(super) fn arguments(&self, call: &ToolCall) -> Option<String> {
        self.text_of(call.call_items.first())
    }

    /// Returns the result of a tool call as the model saw it.
    pub(super) fn result(&self, call: &ToolCall) -> Option<String> {
        self.text_of(call.output_items.first())
    }

    fn text_of(&self, item: Option<&ItemIdx>) -> Option<String> {
        let text = body(&self.trace.items[*item?]);
        (!text.is_empty()).then_some(text)
    }

    /// Returns the last messages that fit, as JSON.
    fn messages(&self, items: &[ItemIdx]) -> Option<String> {
        let mut messages = Vec::new();
        let mut bytes = 2;
        for item in items.iter().rev() {
            let Some(message) = self.message(*item) else { continue };
            let message = message.to_string();
            bytes += message.len() + 1;
            if bytes > MAX_CONTENT_BYTES {
                break;
            }
            messages.push(message);
        }
        messages.reverse();
        (!messages.is_empty()).then(|| format!("[{}]", messages.join(",")))
    }

    fn message(&self, index: ItemIdx) -> Option<Value> {
        let item = &self.trace.items[index];
        let content = body(item);
        let id = item.call_id.map(|id| self.trace.text(id));
        let part = match item.kind {
            ItemKind::Message => json!({ "type": "text", "content": content }),
            ItemKind::Reasoning => json!({ "type": "reasoning", "content": content }),
            ItemKind::FunctionCall | ItemKind::CustomToolCall => {
                let tool = self.callers.get(&index).map(|tool| tool_name(self.trace, &self.trace.tools[*tool]));
                json!({ "type": "tool_call", "id": id, "name": tool.unwrap_or_default(), "arguments": content })
            }
            ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput => {
                json!({ "type": "tool_call_response", "id": id, "response": content })
            }
            ItemKind::CompactionMarker => return None,
        };
        Some(json!({ "role": item.role.as_str(), "parts": [part] }))
    }
}

/// Returns the text of an item. Parts that only the provider can read and parts that are not text are left out.
fn body(item: &ConversationItem) -> String {
    let mut body = String::new();
    for part in item.parts.iter() {
        // A character has at most four bytes, so anything beyond would be truncated anyway.
        if body.len() > 4 * MAX_TEXT_CHARS {
            break;
        }
        let more = match part {
            Part::Text(text) | Part::Summary(text) | Part::Json { summary: text } => text,
            Part::Code { source, .. } => source,
            Part::Encoded { .. } | Part::PayloadRef { .. } => continue,
        };
        if !body.is_empty() {
            body.push('\n');
        }
        body.push_str(&trace_text::cut(more, MAX_TEXT_CHARS));
    }
    trace_text::cut(&body, MAX_TEXT_CHARS).into_owned()
}
