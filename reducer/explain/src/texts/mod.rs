//! The texts of a session: what models read and wrote, and the inputs and outputs of tools.
//!
//! The graph has most of them, and each item only once, however many requests repeat it. What the graph has cut or left
//! out is read from its payload when it is needed, one payload at a time per worker and in parallel, and is not kept.
//! Requests make up most of a bundle, so they are read only for texts that are nowhere else: one request per thread and
//! model for instructions and descriptions of tools, and those in which a long call appeared first.

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
