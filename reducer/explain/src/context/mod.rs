//! What the model read: one request item by item, with origins and shares of tokens, and what a compaction did to a
//! history.
//!
//! A request consists of items, instructions, tools and parameters. The items are those of the graph; everything else,
//! and the names of the tools of calls, are read from the payload of the request. The tokens of each part are an
//! [estimate], scaled to the number that the provider reported for the whole request.

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
