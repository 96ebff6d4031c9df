//! What the model saw: one request item by item, with origin and share of tokens, and what a compaction did to a history.
//!
//! A request is its items and what stands beside them: instructions, tools, parameters. The items are those of the graph;
//! what stands beside them, and the names of calls, are read from the one payload of the request. How many tokens each
//! part takes is an [estimate], scaled to the number that the provider reported for the whole.

pub mod answer;
mod beside;
mod compaction;
mod diff;
pub mod estimate;
mod find;
mod items;
mod kept;
mod origin;
mod parts;
mod request;
mod texts;

pub use answer::{Compacted, Context, Request};
pub use compaction::compaction;
pub use find::{
    ContextError, FoundCompaction, MAX_SUGGESTIONS, find_compaction, find_inference, last_of_session, last_of_turn,
};
pub use items::is_readable;
pub use request::{Against, request};
pub use texts::Texts;
