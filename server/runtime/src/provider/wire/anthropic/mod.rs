//! The Messages wire, as Anthropic and those who resemble it speak it.

mod answer;
mod body;

pub(super) use answer::MessageReader;
pub(super) use body::body;
pub use body::{MAX_OUTPUT_TOKENS_DEFAULT, VERSION};

/// Begins what is kept of reasoning that the provider shows nobody; what is kept of other reasoning is its signature, which
/// has no such letters.
const REDACTED: &str = "redacted_thinking:";
