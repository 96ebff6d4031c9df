//! The Messages wire format of Anthropic and compatible services.

mod answer;
mod body;

pub(super) use answer::MessageReader;
pub(super) use body::body;
pub use body::{MAX_OUTPUT_TOKENS_DEFAULT, VERSION};

/// Prefix of the stored form of redacted reasoning. The stored form of other reasoning is its signature, which has none of
/// these characters.
const REDACTED: &str = "redacted_thinking:";
