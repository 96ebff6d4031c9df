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
mod writing;

pub use anthropic::{MAX_OUTPUT_TOKENS_DEFAULT, VERSION as ANTHROPIC_VERSION};
pub use functions::NAME_CHARS_MAX;
pub(super) use responses::AnswerReader;
pub use responses::PARTS_MAX;
pub use stream::AnswerStream;
pub(super) use writing::Writing;
