//! What is spoken with providers: requests out of the words of the Responses API, and answers back into them.
//!
//! The runtime, the stored threads and the recordings know one language, the items of the Responses API. A wire translates at
//! the very end, so a session is recorded alike whatever is spoken.

mod anthropic;
mod chat;
mod functions;
mod open_text;
mod reader;
mod responses;
mod stream;
mod transcript;

use std::borrow::Cow;

use serde_json::Value;

use super::config::{Thinking, Wire};
use functions::Functions;
use reader::Reader;

pub use anthropic::{MAX_OUTPUT_TOKENS_DEFAULT, VERSION as ANTHROPIC_VERSION};
pub use functions::NAME_CHARS_MAX;
pub(super) use responses::AnswerReader;
pub use responses::PARTS_MAX;
pub use stream::AnswerStream;

/// How requests are written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Writing {
    pub(super) wire: Wire,
    pub(super) max_output_tokens: Option<u64>,
    pub(super) thinking: Thinking,
}

impl Writing {
    /// Returns what is appended to a provider's address.
    pub(super) fn path(self) -> &'static [&'static str] {
        match self.wire {
            Wire::Responses => &["responses"],
            Wire::Chat => &["chat", "completions"],
            Wire::Anthropic => &["messages"],
        }
    }

    /// Returns a request in the words of the wire.
    pub(super) fn body(self, body: &Value) -> Cow<'_, Value> {
        match self.wire {
            Wire::Responses => responses::body(body, self.max_output_tokens),
            Wire::Chat => Cow::Owned(chat::body(body, self.max_output_tokens, self.thinking)),
            Wire::Anthropic => Cow::Owned(anthropic::body(body, self.max_output_tokens, self.thinking)),
        }
    }
}

/// Returns a reader at the beginning of the answer to a request. Ids that the wire does not give are made of `answer`.
fn reader(wire: Wire, request: &Value, request_id: Option<String>, answer: &str) -> Box<dyn Reader> {
    match wire {
        Wire::Responses => Box::new(AnswerReader::new(request_id)),
        Wire::Chat => Box::new(chat::ChunkReader::new(Functions::of(&request["tools"]), request_id, answer)),
        Wire::Anthropic => {
            Box::new(anthropic::MessageReader::new(Functions::of(&request["tools"]), request_id, answer))
        }
    }
}
