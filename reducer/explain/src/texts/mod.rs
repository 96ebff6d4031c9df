//! The texts of a session: what models saw and wrote, and what tools took and printed.
//!
//! The graph has most of them, and each item's once, however many requests repeat it. What it cuts or leaves in a payload
//! is read from that payload when somebody asks, one payload at a time and in parallel, and is not kept. Requests, which
//! are most of a bundle, are read only where nothing else has a text: one per thread and model for instructions and the
//! descriptions of tools, and those in which a long call first stood.

mod birth;
mod calls;
pub(crate) mod document;
mod place;
mod read;

pub use birth::Birth;
pub use calls::Calls;
pub use place::{Aspect, Place};
pub(crate) use read::place_of_item;
pub use read::{MAX_PAYLOAD_BYTES, Texts};
