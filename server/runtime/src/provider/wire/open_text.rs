//! Messages and reasoning that are still being streamed, as items of the Responses API.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::item::{Mark, ModelItem};
use crate::provider::ModelEvent;

/// Prefix of the ids of reasoning from Chat Completions.
pub(super) const CHAT_REASONING: &str = Mark::ChatReasoning.text();
/// Prefix of the ids of reasoning from the Messages API.
pub(super) const ANTHROPIC_REASONING: &str = Mark::AnthropicReasoning.text();

/// Returns whether an item is reasoning from another wire format, which the Responses API does not accept.
pub(super) fn is_of_another_wire(item: &Value) -> bool {
    let id = item["id"].as_str().unwrap_or_default();
    item["type"] == "reasoning" && (id.starts_with(CHAT_REASONING) || id.starts_with(ANTHROPIC_REASONING))
}

/// Returns false if it is clear without the value of an item that it is no reasoning from another wire format.
pub(super) fn may_be_of_another_wire(item: &ModelItem) -> bool {
    item.may_have(Mark::ChatReasoning) || item.may_have(Mark::AnthropicReasoning)
}

/// Kind of a streamed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// A message of the model.
    Message,
    /// Reasoning text.
    Reasoning,
    /// A summary of the reasoning by the provider.
    Summary,
}

/// A text that is being streamed. It becomes an item with its first character that is not white space: models send blank
/// texts before calls.
#[derive(Debug)]
pub(super) struct OpenText {
    pub(super) kind: TextKind,
    id: String,
    text: String,
    is_told: bool,
}

impl OpenText {
    /// Returns an empty text. `own_id` makes its id unique.
    pub(super) fn new(kind: TextKind, own_id: &str) -> Self {
        let prefix = match kind {
            TextKind::Message => "msg_",
            TextKind::Reasoning => CHAT_REASONING,
            TextKind::Summary => ANTHROPIC_REASONING,
        };
        Self { kind, id: format!("{prefix}{own_id}"), text: String::new(), is_told: false }
    }

    /// Appends to the text.
    pub(super) fn grow(&mut self, more: &str, heard: &mut VecDeque<ModelEvent>) {
        self.text.push_str(more);
        let is_blank = more.trim().is_empty();
        if more.is_empty() || (is_blank && !self.is_told) {
            return;
        }
        let mut delta = more.to_owned();
        if !self.is_told {
            self.is_told = true;
            delta.clone_from(&self.text);
            heard.push_back(ModelEvent::ItemAdded(match self.kind {
                TextKind::Message => {
                    json!({ "type": "message", "id": self.id, "role": "assistant", "content": [] })
                }
                TextKind::Reasoning | TextKind::Summary => {
                    json!({ "type": "reasoning", "id": self.id, "summary": [] })
                }
            }));
            if self.kind == TextKind::Summary {
                heard.push_back(ModelEvent::SummaryPart { item_id: self.id.clone(), index: 0 });
            }
        }
        let item_id = self.id.clone();
        heard.push_back(match self.kind {
            TextKind::Message => ModelEvent::Text { item_id, delta },
            TextKind::Reasoning => ModelEvent::Reasoning { item_id, index: 0, delta },
            TextKind::Summary => ModelEvent::Summary { item_id, index: 0, delta },
        });
    }

    /// Ends the text. A blank text becomes no item, unless it has `sealed` reasoning data of the provider.
    pub(super) fn close(self, sealed: Option<String>, heard: &mut VecDeque<ModelEvent>) {
        if !self.is_told && sealed.is_none() {
            return;
        }
        let Self { id, text, kind, .. } = self;
        let mut item = match kind {
            TextKind::Message => {
                let content = json!([{ "type": "output_text", "text": text }]);
                json!({ "type": "message", "id": id, "role": "assistant", "content": content })
            }
            TextKind::Reasoning => {
                let content = json!([{ "type": "reasoning_text", "text": text }]);
                json!({ "type": "reasoning", "id": id, "summary": [], "content": content })
            }
            TextKind::Summary if text.is_empty() => json!({ "type": "reasoning", "id": id, "summary": [] }),
            TextKind::Summary => {
                let summary = json!([{ "type": "summary_text", "text": text }]);
                json!({ "type": "reasoning", "id": id, "summary": summary })
            }
        };
        if let Some(sealed) = sealed {
            item["encrypted_content"] = json!(sealed);
        }
        heard.push_back(ModelEvent::ItemDone(item));
    }
}
