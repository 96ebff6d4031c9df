//! Requests in the words of the wire that a provider speaks.

use std::borrow::Cow;

use serde_json::Value;

use super::{anthropic, chat, responses};
use crate::provider::config::{Thinking, Wire};

/// How requests are written.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::provider) struct Writing {
    pub(in crate::provider) wire: Wire,
    pub(in crate::provider) max_output_tokens: Option<u64>,
    pub(in crate::provider) thinking: Thinking,
}

impl Writing {
    /// Returns what is appended to a provider's address.
    pub(in crate::provider) fn path(self) -> &'static [&'static str] {
        match self.wire {
            Wire::Responses => &["responses"],
            Wire::Chat => &["chat", "completions"],
            Wire::Anthropic => &["messages"],
        }
    }

    /// Returns a request in the words of the wire.
    pub(in crate::provider) fn body(self, body: &Value) -> Cow<'_, Value> {
        match self.wire {
            Wire::Responses => responses::body(body, self.max_output_tokens),
            Wire::Chat => Cow::Owned(chat::body(body, self.max_output_tokens, self.thinking)),
            Wire::Anthropic => Cow::Owned(anthropic::body(body, self.max_output_tokens, self.thinking)),
        }
    }
}
