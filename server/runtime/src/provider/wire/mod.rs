//! Wire formats: translate requests from the format of the Responses API, and answers back into it.
//!
//! The runtime, the stored threads and the recordings use the items of the Responses API. A wire format translates at the
//! last moment, so sessions are recorded in the same way for all providers.

mod anthropic;
mod chat;
mod functions;
mod open_text;
mod reader;
mod responses;
mod stream;
mod transcript;
mod writing;

pub use anthropic::{MAX_OUTPUT_TOKENS_DEFAULT, VERSION as ANTHROPIC_VERSION};
pub use functions::NAME_CHARS_MAX;
pub(super) use responses::AnswerReader;
pub use responses::PARTS_MAX;
pub use stream::AnswerStream;
pub(super) use writing::Writing;
