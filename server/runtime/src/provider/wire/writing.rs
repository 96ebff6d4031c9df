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
        // A request may have a limit of its own, which the configured one only lowers.
        let own = body.get("max_output_tokens").as_u64();
        let max_output_tokens = own.into_iter().chain(self.max_output_tokens).min();
        let translated = match self.wire {
            Wire::Responses => match responses::body(body, max_output_tokens) {
                Some(body) => body,
                None => return Bytes::from_owner(Arc::clone(body.text())),
            },
            Wire::Chat => chat::body(body.value(), max_output_tokens, self.thinking),
            Wire::Anthropic => anthropic::body(body.value(), max_output_tokens, self.thinking),
        };
        serde_json::to_vec(&translated).expect("a JSON value can be written").into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_lower_limit_of_tokens_applies() {
        let limit = |wire, own: Option<u64>, configured| {
            let writing = Writing { wire, max_output_tokens: configured, thinking: Thinking::default() };
            let body = match own {
                Some(own) => json!({ "model": "m", "input": [], "max_output_tokens": own }),
                None => json!({ "model": "m", "input": [] }),
            };
            let body: Value = serde_json::from_slice(&writing.text(&RequestBody::from(body))).expect("JSON");
            body.get("max_output_tokens").or_else(|| body.get("max_tokens")).and_then(Value::as_u64)
        };
        for wire in [Wire::Responses, Wire::Chat, Wire::Anthropic] {
            assert_eq!(limit(wire, Some(5), Some(9)), Some(5), "{wire:?}");
            assert_eq!(limit(wire, Some(9), Some(5)), Some(5), "{wire:?}");
            assert_eq!(limit(wire, Some(7), None), Some(7), "{wire:?}");
            assert_eq!(limit(wire, None, Some(8)), Some(8), "{wire:?}");
        }
        assert_eq!(limit(Wire::Responses, None, None), None);
    }
}
