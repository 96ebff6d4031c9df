//! Translates requests to the wire format of a provider.

use std::sync::Arc;

use bytes::Bytes;

use super::{anthropic, chat, responses};
use crate::provider::RequestBody;
use crate::provider::config::{Thinking, Wire};

/// How requests are translated.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::provider) struct Writing {
    pub(in crate::provider) wire: Wire,
    pub(in crate::provider) max_output_tokens: Option<u64>,
    pub(in crate::provider) thinking: Thinking,
}

impl Writing {
    /// Returns the path segments that are appended to the base URL.
    pub(in crate::provider) fn path(self) -> &'static [&'static str] {
        match self.wire {
            Wire::Responses => &["responses"],
            Wire::Chat => &["chat", "completions"],
            Wire::Anthropic => &["messages"],
        }
    }

    /// Returns the text of a request in the wire format. Nothing is copied if that is the format of the Responses API.
    pub(in crate::provider) fn text(self, body: &RequestBody) -> Bytes {
        let translated = match self.wire {
            Wire::Responses => match responses::body(body, self.max_output_tokens) {
                Some(body) => body,
                None => return Bytes::from_owner(Arc::clone(body.text())),
            },
            Wire::Chat => chat::body(body.value(), self.max_output_tokens, self.thinking),
            Wire::Anthropic => anthropic::body(body.value(), self.max_output_tokens, self.thinking),
        };
        serde_json::to_vec(&translated).expect("a JSON value can be written").into()
    }
}
